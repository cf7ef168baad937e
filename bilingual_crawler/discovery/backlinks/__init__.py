"""Who links to a site: sources of backlinks, each behind the same question."""

from bilingual_crawler.config.backlink_sources import SourceSpec, read_sources

__all__ = ["SourceSpec", "read_sources"]
