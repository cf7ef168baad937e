"""What is kept of the pages of all workers: the rules of a crawl, over all of them at once.

A crawl decides while pages come in, and of two that are alike it prefers the first. A merge has
all of them, and takes them in the order of their URLs: so the same pages give the same corpus,
however they were spread over the workers and whenever they were fetched.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from bilingual_crawler.corpus.merging.joined import Row
from bilingual_crawler.corpus.merging.part import PartPage
from bilingual_crawler.corpus.off_topic import is_wanted, wanted_url
from bilingual_crawler.documents.dedup import DuplicateIndex, split_hashes
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import Languages
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.no_pairs import NoPairs, new_matcher
from bilingual_crawler.pairing.pair import DocumentPair, PairingPage
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids


class Choice:
    """Takes redirects and what sitemaps say, then pages; `finish` before anything is asked."""

    def __init__(
        self,
        pair_of: Callable[[str], Languages],
        duplicate_share: float = 0.8,
        aids: PairingAids = NO_AIDS,
    ) -> None:
        self._pair_of = pair_of
        self._aids = aids
        self._index = DuplicateIndex(duplicate_share)
        self._matchers: dict[str, Matcher | NoPairs] = {}
        self._off_topic: set[str] = set()
        self._aliases: list[tuple[str, str]] = []
        self._first: dict[bytes, str] = {}
        self._nodes: dict[str, str] = {}
        self._duplicates: set[str] = set()
        self._kept: dict[str, str] = {}
        self._owners: dict[str, int] = {}
        self.repeated = 0
        """Pages that more than one worker has fetched."""

    def alias(self, source: str, target: str) -> None:
        """Learn that a URL leads to another; before there is any page."""
        self._aliases.append((source, target))

    def declare(self, rows: Iterable[Row]) -> None:
        """Learn what sitemaps say, the rows of a URL one after the other."""
        for url, group in groupby(rows, key=lambda row: str(row[0])):
            named = tuple((target, language) for _, target, language in group)
            self._matcher(url).declare([(url, named)])

    def add(self, found: PartPage, copies: int) -> None:
        """Take in a page that so many folders have."""
        url, pair = found.url, self._pair_of(found.url)
        if found.language not in pair:
            raise ConfigurationError(
                f"{url} is in {found.language}, and wanted of its site are {pair}: if the crawl "
                "was given settings of single sites (-a sites=FILE), name them here with "
                "--sites FILE."
            )
        if copies > 1:
            self.repeated += 1
            self._owners[url] = found.part
        if found.is_off_topic:
            self._off_topic.add(url)
        node = self._first.setdefault(found.signature, url)
        self._nodes[url] = node
        if node == url:
            verdict = self._index.add(url, split_hashes(found.hashes))
            self._duplicates.update(verdict.supersedes)
            if verdict.duplicate_of is not None:
                self._duplicates.add(url)
        self._matcher(url).hold(PairingPage.unpack(url, found.language, found.page), node)

    def finish(self) -> None:
        """Settle pairs and documents, now that every page is there."""
        for matcher in self._matchers.values():
            matcher.finish()
        for url, node in self._nodes.items():
            if url == node:
                wanted = wanted_url(node, self._matcher(node), self._off_topic)
                if wanted is None and node not in self._duplicates and node not in self._off_topic:
                    wanted = node
                if wanted is not None:
                    self._kept[node] = wanted

    @property
    def pairs(self) -> list[DocumentPair]:
        """The pairs, in the order of their URLs."""
        found = [
            pair
            for matcher in self._matchers.values()
            for pair in matcher.pairs
            if is_wanted(pair, self._off_topic)
        ]
        return sorted(found, key=lambda pair: (pair.first, pair.second))

    @property
    def off_topic(self) -> list[str]:
        """The pages that are not about the topic of the crawl, in the order of their URLs."""
        return sorted(self._off_topic)

    def __iter__(self) -> Iterator[str]:
        """Every page."""
        return iter(self._nodes)

    def node_of(self, url: str) -> str:
        """The first page with the same text."""
        return self._nodes[url]

    def is_duplicate(self, url: str) -> bool:
        """Whether a longer page has nearly the same text."""
        return url in self._duplicates

    def is_kept(self, url: str) -> bool:
        """Whether a page is in the corpus."""
        return self._kept.get(self._nodes[url]) == url

    def is_owner(self, url: str, part: int) -> bool:
        """Whether the page of this folder is the one that was chosen."""
        return self._owners.get(url, part) == part

    def _matcher(self, url: str) -> Matcher | NoPairs:
        languages = self._pair_of(url)
        matcher = self._matchers.get(str(languages))
        if matcher is None:
            matcher = self._matchers[str(languages)] = new_matcher(languages, self._aids)
            for source, target in self._aliases:
                matcher.alias(source, target)
        return matcher
