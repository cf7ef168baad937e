"""The single values in the journals of workers, as those of one crawl."""

from collections.abc import Sequence

from bilingual_crawler.corpus.merging.part import CrawlPart
from bilingual_crawler.store.folder import ENDED_SITES, SITEMAPS_OF

STARTED = "started"


def joined_facts(parts: Sequence[CrawlPart]) -> dict[str, str]:
    """When it began, which sitemaps were read, and of which sites nothing more is wanted.

    The yield curve is left out: it tells in which order one worker fetched.
    """
    facts = [part.facts for part in parts]
    joined = {name: "yes" for each in facts for name in each if name.startswith(SITEMAPS_OF)}
    began = [each[STARTED] for each in facts if each.get(STARTED)]
    if began:
        joined[STARTED] = min(began)
    ended = {site for each in facts for site in each.get(ENDED_SITES, "").split()}
    if ended:
        joined[ENDED_SITES] = " ".join(sorted(ended))
    return joined
