"""The journals of several folders joined, and the choice of what is kept of their pages.

Every table of a journal is in the order of its key, so joining is merging sorted streams: each
row comes once, and they are never all in memory. Where folders disagree, the rows alone decide:
how the pages were spread over the workers makes no difference.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from bilingual_crawler.corpus.keep_rule import KeepRule
from bilingual_crawler.corpus.merging.parts import CrawlPart, PartPage
from bilingual_crawler.documents.dedup import split_hashes
from bilingual_crawler.documents.document import DocumentKey
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import Languages, LanguageSet
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.pairing.pair import DocumentPair, PairingPage
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids
from bilingual_crawler.store.folder import ENDED_SITES, SITEMAPS_OF

Row = tuple[Any, ...]
STARTED = "started"
_CERTAINTY = {State.QUEUED: 0, State.LEASED: 0, State.FAILED: 1, State.DONE: 2}


def joined_pages(parts: Sequence[CrawlPart]) -> Iterator[tuple[PartPage, int]]:
    """Yield every page with the number of folders that have it; of copies, the longest text."""
    by_url = attrgetter("url")
    for _, same in groupby(merge(*(part.pages() for part in parts), key=by_url), key=by_url):
        copies = list(same)
        best = copies[0] if len(copies) == 1 else max(copies, key=attrgetter("fullness"))
        yield best, len(copies)


def joined_aliases(parts: Sequence[CrawlPart]) -> Iterator[Row]:
    """Yield (source, target) of every redirect; of several targets, the alphabetically first."""
    return _joined(parts, "aliases", "source", min)


def joined_declarations(parts: Sequence[CrawlPart]) -> Iterator[Row]:
    """Yield (URL, target, language) of everything that sitemaps declare."""
    order = "url, target, language"
    for row, _ in groupby(merge(*(part.rows("declarations", order) for part in parts))):
        yield row


def joined_urls(parts: Sequence[CrawlPart]) -> Iterator[Row]:
    """Yield the rows of the frontiers; what one worker has done is done."""
    return _joined(parts, "urls", "fingerprint", lambda rows: max(rows, key=_done_first))


def summed_tally(parts: Iterable[CrawlPart]) -> Counter[str]:
    """Return the sums of all workers together."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(dict(part.rows("tally")))
    return total


def _joined(
    parts: Sequence[CrawlPart], table: str, key: str, choose: Callable[[list[Row]], Row]
) -> Iterator[Row]:
    """Yield the rows of a table in the order of its key, which is its first column."""
    first = itemgetter(0)
    for _, same in groupby(merge(*(part.rows(table, key) for part in parts), key=first), first):
        yield choose(list(same))


def _done_first(row: Row) -> tuple[Any, ...]:
    _, state, priority, sequence, *_, outcome = row
    return _CERTAINTY[State(state)], outcome == Outcome.STORED, outcome or "", priority, -sequence


def joined_facts(parts: Sequence[CrawlPart]) -> dict[str, str]:
    """Return the single facts of all workers as those of one crawl.

    That is when it began, which sitemaps were read, and which sites are finished. The yield
    curve is left out: it follows the order in which one worker fetched.
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


class Choice:
    """What is kept of the pages of all workers: the rule of a crawl, over all of them at once.

    A crawl decides while pages come in, and prefers the first of two that are alike. A merge
    takes all pages in the order of their URLs, so the same pages give the same corpus however
    they were spread over the workers and whenever they were fetched.

    Aliases and declarations come first, then pages; `finish` before asking anything.
    """

    def __init__(
        self,
        pair_of: Callable[[str], Languages],
        duplicate_share: float = 0.8,
        aids: PairingAids = NO_AIDS,
    ) -> None:
        self._pair_of = pair_of
        self._off_topic: set[str] = set()
        self._aliases: list[tuple[str, str]] = []
        self._rule = KeepRule(
            pair_of, duplicate_share, aids, self._off_topic, lambda: self._aliases
        )
        self._nodes: dict[str, str] = {}
        self._duplicates: set[str] = set()
        self._kept: set[str] = set()
        self._owners: dict[str, int] = {}
        self.repeated = 0
        """Pages that more than one worker has fetched."""

    def alias(self, source: str, target: str) -> None:
        """Learn that one URL leads to another; call this before adding pages."""
        self._aliases.append((source, target))

    def declare(self, rows: Iterable[Row]) -> None:
        """Learn what sitemaps say; the rows of one URL must be adjacent."""
        for url, group in groupby(rows, key=lambda row: str(row[0])):
            named = tuple((target, language) for _, target, language in group)
            self._rule.matcher(url).declare([(url, named)])

    def add(self, found: PartPage, copies: int) -> None:
        """Take in a page that `copies` folders have."""
        url, pair = found.url, self._pair_of(found.url)
        if found.language not in pair:
            raise ConfigurationError(
                f"{url} is in {found.language}, but its site is wanted in {pair}. If the crawl "
                "had per-site settings (-a sites=FILE), give them here with --sites FILE."
            )
        if copies > 1:
            self.repeated += 1
            self._owners[url] = found.part
        if found.is_off_topic:
            self._off_topic.add(url)
        node = self._nodes[url] = self._rule.node_of(url, found.signature)
        if node == url:
            decision = self._rule.duplicates.add(url, split_hashes(found.hashes))
            self._duplicates.update(decision.supersedes)
            if decision.duplicate_of is not None:
                self._duplicates.add(url)
        self._rule.matcher(url).hold(PairingPage.unpack(url, found.language, found.page), node)

    def finish(self) -> None:
        """Settle pairs and documents, now that every page is there."""
        for matcher in self._rule.matchers:
            matcher.finish()
        for url, node in self._nodes.items():
            if url == node:
                kept = self._rule.kept_url(node, is_duplicate=node in self._duplicates)
                if kept is not None:
                    self._kept.add(kept)

    @property
    def pairs(self) -> list[DocumentPair]:
        """The pairs, in the order of their URLs."""
        return sorted(self._rule.pairs(), key=lambda pair: (pair.first, pair.second))

    @property
    def language_set(self) -> LanguageSet | None:
        """The languages of the crawls, or of a site, if they are more than two."""
        return self._rule.language_set

    @property
    def refused(self) -> list[DocumentPair]:
        """The counterparts without translated content, in the order of their URLs."""
        return sorted(self._rule.refused(), key=lambda pair: (pair.first, pair.second))

    @property
    def off_topic(self) -> list[str]:
        """The pages that are not about the topic of the crawl, in the order of their URLs."""
        return sorted(self._off_topic)

    def __iter__(self) -> Iterator[str]:
        """Yield every page."""
        return iter(self._nodes)

    def node_of(self, url: str) -> str:
        """Return the first page with the same text."""
        return self._nodes[url]

    def is_duplicate(self, url: str) -> bool:
        """Return whether a longer page has nearly the same text."""
        return url in self._duplicates

    def is_kept(self, url: str) -> bool:
        """Return whether a page is in the corpus."""
        return url in self._kept

    def page_counts(self) -> tuple[int, int]:
        """Return the numbers of pages with and without a document that is kept."""
        kept = {DocumentKey.parse(key).url for key in self._kept}
        return len(kept), len({DocumentKey.parse(key).url for key in self._nodes}) - len(kept)

    def is_owner(self, url: str, part: int) -> bool:
        """Return whether the copy in this folder is the one that was chosen."""
        return self._owners.get(url, part) == part
