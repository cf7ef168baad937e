"""Who links to a site: sources of backlinks, each behind the same question."""

from bilingual_crawler.discovery.backlinks.sources import SourceSpec, read_sources

__all__ = ["SourceSpec", "read_sources"]
