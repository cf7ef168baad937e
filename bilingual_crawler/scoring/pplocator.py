"""The intra-site crawler of PPLocator: everything near the home page, then only likely pairs.

The first n - 1 levels of a site are fetched breadth-first. The URLs on the pages of level n - 1 are
fetched only if they look like one side of a pair: URLs are sorted by their language tokens into
first language, second language and unknown (those of a third language are left out), and a URL of
one list needs a nearly identical URL on the other. If one of the languages has no tokens at all,
the unknown URLs take its place.

The paper compares once all URLs are known. A crawl learns them one by one, so a URL that was passed
over comes back when a similar one turns up.
"""

import json
from collections.abc import Sequence

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pplocator import (
    Side,
    compared_with,
    most_alike,
    normalised,
    side_of,
)
from bilingual_crawler.scoring.scorer import REFUSED, CrawlSoFar, Factor, LinkScorer, Proposal
from bilingual_crawler.urls.hosts import host_of, site_of

MOST_COMPARED = 1_000
"""The most URLs of a list that are compared: on a larger site the latest."""

Lists = dict[Side, dict[str, str]]
"""The URLs of a site by their normalised form."""


class PPLocatorScorer(LinkScorer):
    """Breadth-first to the last level but one; on the last, likely pairs; nothing deeper."""

    sees_context = False
    off_language = 1.0

    def __init__(self, pair: LanguagePair, crawl: CrawlSoFar, config: Config) -> None:
        super().__init__(pair, crawl, config)
        self._levels = config.pplocator_levels
        self._sites: dict[str, Lists] = {}
        self._passed_over: dict[str, int] = {}
        self._back: list[Proposal] = []

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return the score of breadth-first, or a refusal."""
        level = document.depth + 2
        if level > self._levels:
            return [REFUSED] * len(links)
        new = [link.url for link in links if self._collect(link.url)]
        if self._passed_over:
            for url in new:
                self._call_back(self._likeness(url))
        if level < self._levels:
            return [_score(document)] * len(links)
        return [self._score_at_last(document, link.url) for link in links]

    def _score_at_last(self, document: Document, url: str) -> float:
        if self._likeness(url) is not None:
            return _score(document)
        self._passed_over[normalised(url)] = document.depth + 1
        return REFUSED

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the level, and on the last one the most similar URL."""
        level = document.depth + 2
        likeness = self._likeness(link.url)
        factors = [Factor("level", level, f"of {self._levels} (BILINGUAL_PPLOCATOR_LEVELS)")]
        if level == self._levels:
            side = side_of(link.url, self.pair) or "a third language"
            why = f"nearly the same as {likeness}" if likeness else "unlike any on the other list"
            factors.append(Factor("candidate", float(likeness is not None), f"{side}: {why}"))
        follow = level < self._levels or (level == self._levels and likeness is not None)
        return (_score(document) if follow else REFUSED), factors

    def arrived(self, document: Document) -> None:
        """Count seeds, to which nothing may link, among the URLs of the site."""
        self._collect(document.url)

    def proposals(self) -> list[Proposal]:
        """Return URLs that were passed over until a similar one turned up."""
        back, self._back = self._back, []
        return back

    def state(self) -> bytes:
        """Return the lists."""
        return json.dumps([self._sites, self._passed_over]).encode()

    def restore(self, state: bytes) -> None:
        """Go on with the lists."""
        self._sites, self._passed_over = json.loads(state)

    def _collect(self, url: str) -> bool:
        """Add a URL to its list; return True if it is new there."""
        side, name = side_of(url, self.pair), normalised(url)
        urls = {} if side is None else self._lists(url)[side]
        if side is None or name in urls:
            return False
        urls[name] = url
        if len(urls) > MOST_COMPARED:
            oldest = next(iter(urls))
            del urls[oldest]
            self._passed_over.pop(oldest, None)
        return True

    def _lists(self, url: str) -> Lists:
        site = site_of(host_of(url))
        return self._sites.setdefault(site, {"first": {}, "second": {}, "unknown": {}})

    def _likeness(self, url: str) -> str | None:
        """Return the most similar URL of the other list, if it is similar enough."""
        side, lists = side_of(url, self.pair), self._lists(url)
        other = None if side is None else compared_with(side, lists)
        if other is None:
            return None
        found = most_alike(normalised(url), list(lists[other]))
        return None if found is None else lists[other][found[0]]

    def _call_back(self, likeness: str | None) -> None:
        """Fetch what was passed over before a similar URL was known."""
        depth = None if likeness is None else self._passed_over.pop(normalised(likeness), None)
        if likeness is not None and depth is not None:
            why = "a nearly identical URL was found"
            self._back.append(Proposal(likeness, 1.0 / (1.0 + depth), depth, why, linked=True))


def _score(document: Document) -> float:
    return 1.0 / (2.0 + document.depth)
