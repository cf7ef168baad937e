"""The documents and pairs of a crawl: what is kept, what it replaces, what it completes.

Of pages with the same text one is kept, and of near-duplicates the longer one, with one
exception: a near-duplicate that has a translation of its own is a document of its own.
(On recorded real sites the plain rule, applied before pairing, lost four in ten of the
pairs: pages that differ in a title and a table are near-duplicates in each language.) So
pairing sees every page, and decides with the duplicates which of them are in the corpus.

In a crawl with a topic a page is kept if it is on topic, or if the page that it is paired with
is: terms are seldom as complete in one language as in the other, and half a pair is of no use.
A pair of which neither page is on topic is none of this corpus.

Everything here can be rebuilt from the journal: a row a page with what duplicates and
pairing need to know, so that a resumed crawl goes on as if it had never stopped.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from urllib.parse import urlsplit

from bilingual_crawler.corpus.declarations import Declarations
from bilingual_crawler.corpus.off_topic import is_wanted, off_topic_pages, wanted_url
from bilingual_crawler.corpus.pages import PageFacts, Pages
from bilingual_crawler.documents.dedup import (
    DuplicateIndex,
    paragraph_hashes,
    split_hashes,
    text_signature,
)
from bilingual_crawler.documents.document import Document, DocumentKey
from bilingual_crawler.documents.serialise import document_to_dict, key_of
from bilingual_crawler.languages import Languages
from bilingual_crawler.pairing.matcher import Declaration, Matcher
from bilingual_crawler.pairing.no_pairs import NoPairs, new_matcher
from bilingual_crawler.pairing.pair import Changes, DocumentPair, PackedPair, PairingPage
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS, PAIRS_TSV, CrawlFolder
from bilingual_crawler.store.input_files import open_text

UNTIDY_DOCUMENTS, UNTIDY_PAIRS = "untidy documents", "untidy pairs"


class Corpus:
    """What the crawl has harvested so far."""

    def __init__(
        self,
        folder: CrawlFolder,
        pair_of: Callable[[str], Languages],
        duplicate_share: float = 0.8,
        on_pair: Callable[[DocumentPair, bool], None] = lambda _pair, _kept: None,
        *,
        aids: PairingAids = NO_AIDS,
    ) -> None:
        self._folder = folder
        self._pair_of = pair_of
        self._on_pair = on_pair
        self._aids = aids
        self._duplicates = DuplicateIndex(duplicate_share)
        self._matchers: dict[str, Matcher | NoPairs] = {}
        self._pages = Pages(folder.journal)
        self._declarations = Declarations(folder.journal)
        self._off_topic = off_topic_pages(folder.journal)
        self._same_text: dict[bytes, str] = {}
        self._load()
        self._pair_count = len(self.standing())

    @property
    def documents(self) -> Counter[str]:
        """How many documents there are of each language."""
        return +self._pages.kept

    @property
    def pairs(self) -> list[DocumentPair]:
        """Every pair, as things stand."""
        return list(self.iter_pairs())

    def iter_pairs(self) -> Iterator[DocumentPair]:
        """The same one after the other: with their evidence they take much memory."""
        found = (matcher.iter_pairs() for matcher in self._matchers.values())
        return filter(self._is_wanted, chain.from_iterable(found))

    def standing(self) -> list[PackedPair]:
        """Every pair as it is kept, for those who do not ask why."""
        found = (matcher.standing() for matcher in self._matchers.values())
        return list(filter(self._is_wanted, chain.from_iterable(found)))

    @property
    def pair_count(self) -> int:
        """How many pairs there are."""
        return self._pair_count

    def partner_of(self, url: str) -> str | None:
        """The page that one is paired with now; safe to ask from another thread."""
        url = self._pages.aliases.get(url) or url
        matcher = self._matchers.get(str(self._pair_of(url)))
        return None if matcher is None else matcher.partner_of(url)

    def add(self, document: Document) -> bool:
        """Take in a page; whether it is kept as a document is told.

        A page that is known already (a killed crawl fetches some again) changes nothing.
        """
        url, language = document.key, document.language or ""
        if url in self._pages:
            return self._pages.is_kept(url)
        signature = text_signature(document)
        node = self._same_text.setdefault(signature, url)
        is_duplicate = False
        hashes: list[bytes] = []
        if node == url:
            hashes = paragraph_hashes(document)
            verdict = self._duplicates.add(url, hashes)
            is_duplicate = verdict.duplicate_of is not None
            for shorter in verdict.supersedes:
                self._pages.mark_duplicate(shorter)
                self._review(shorter)
        line = json.dumps(document_to_dict(document), ensure_ascii=False) + "\n"
        packed = b"".join(hashes)
        page = self._aids.page_of(document)
        facts = PageFacts(url, node, language, signature, packed, page.pack())
        self._pages.add(facts, line, duplicate=is_duplicate)
        if document.topic is not None and not document.topic.on_topic:
            self._off_topic.add(url)
        self._apply(self._matcher(url).add(page, node))
        self._review(node)
        return self._pages.is_kept(url)

    def alias(self, source: str, target: str) -> None:
        """Remember that `source` is another name of the page at `target`."""
        if self._pages.add_alias(source, target):
            for matcher in self._matchers.values():
                self._apply(matcher.alias(source, target))

    def pages_of(self, netloc: str) -> list[tuple[str, str]]:
        """The pages of a host that are the only one at their address: URL and language."""
        return [
            (url, language)
            for url, language in self._pages.languages()
            if urlsplit(url).netloc == netloc and not DocumentKey.parse(url).variant
        ]

    def declare(self, claims: Iterable[Declaration]) -> None:
        """Learn what a sitemap says of pages, as far as it concerns the languages wanted."""
        wanted: defaultdict[str, list[Declaration]] = defaultdict(list)
        for url, alternates in claims:
            pair = self._pair_of(url)
            if named := tuple(each for each in alternates if each[1] in pair):
                wanted[str(pair)].append((url, named))
        for declared in wanted.values():
            self._declarations.add(declared)
            self._apply(self._matcher(declared[0][0]).declare(declared))

    def tidy(self, check: Callable[[], None] = lambda: None) -> None:
        """Settle all pairs, now that every page is there, and leave in the files what holds.

        `check` is called all along and may raise an exception, which comes out here: then
        nothing that changed meanwhile may reach the journal, and a later run does it all.
        """
        for matcher in self._matchers.values():
            self._apply(matcher.finish(check))
        facts = self._folder.facts
        if facts.get(UNTIDY_DOCUMENTS) == "yes":
            kept = _checked(self._kept_lines(), check)
            self._folder.rewrite(DOCUMENTS, kept, UNTIDY_DOCUMENTS)
        if facts.get(UNTIDY_PAIRS) == "yes":
            lines = _checked(map(json_line, self.iter_pairs()), check)
            self._folder.rewrite(PAIRS, lines)
            self._folder.rewrite(PAIRS_TSV, map(tsv_line, self.iter_pairs()), UNTIDY_PAIRS)

    def _review(self, node: str) -> None:
        """Keep of the pages with one text the one that is paired, or else the first.

        What is not paired is not kept at all if it is a near-duplicate or off topic.
        """
        wanted = wanted_url(node, self._matcher(node), self._off_topic)
        if wanted is None and not self._pages.is_duplicate(node) and node not in self._off_topic:
            wanted = node
        kept = self._pages.kept_of(node)
        if kept == wanted:
            return
        if kept is not None:
            self._pages.drop(kept)
            self._folder.facts[UNTIDY_DOCUMENTS] = "yes"
        if wanted is not None and (line := self._pages.keep(wanted)) is not None:
            self._folder.journal.append(DOCUMENTS, line)

    def _is_wanted(self, pair: DocumentPair | PackedPair) -> bool:
        return is_wanted(pair, self._off_topic)

    def _kept_lines(self) -> Iterator[str]:
        """The lines of the file that still hold; the others are put aside."""
        with open_text(self._folder.path / DOCUMENTS) as lines:
            for line in lines:
                url = key_of(json.loads(line))
                if self._pages.is_kept(url):
                    yield line
                else:
                    self._pages.put_aside(url, line)

    def _matcher(self, url: str) -> Matcher | NoPairs:
        languages = self._pair_of(url)
        matcher = self._matchers.get(str(languages))
        if matcher is None:
            matcher = self._matchers[str(languages)] = new_matcher(languages, self._aids)
            for source, target in self._pages.aliases.items():
                matcher.alias(source, target)
        return matcher

    def _apply(self, changes: Changes[DocumentPair]) -> None:
        for pair in filter(self._is_wanted, changes.found.values()):
            self._folder.journal.append(PAIRS, json_line(pair))
            self._folder.journal.append(PAIRS_TSV, tsv_line(pair))
            self._pair_count += 1
            self._on_pair(pair, True)
        for pair in filter(self._is_wanted, changes.lost.values()):
            self._pair_count -= 1
            self._on_pair(pair, False)
        if changes.lost or changes.better_explained:
            self._folder.facts[UNTIDY_PAIRS] = "yes"
        for node in {self._pages.node_of(url) for url in changes.urls}:
            self._review(node)

    def _load(self) -> None:
        pages: defaultdict[str, list[tuple[PairingPage, str]]] = defaultdict(list)
        for facts, is_duplicate in self._pages.load():
            if facts.node == facts.url:
                self._same_text[facts.signature] = facts.url
                if not is_duplicate:
                    self._duplicates.restore(facts.url, split_hashes(facts.hashes))
            page = PairingPage.unpack(facts.url, facts.language, facts.page)
            pages[str(self._pair_of(facts.url))].append((page, facts.node))
        for declared in self._declarations.load():
            self._matcher(declared[0]).declare([declared])
        for known in pages.values():
            self._matcher(known[0][0].url).restore(known)
            self._folder.facts[UNTIDY_PAIRS] = "yes"  # settled better than in the file, perhaps
            for node in {node for _, node in known}:
                self._review(node)


def _checked(lines: Iterable[str], check: Callable[[], None]) -> Iterator[str]:
    for line in lines:
        check()
        yield line


def json_line(pair: DocumentPair) -> str:
    """A pair as a line of pairs.jsonl."""
    return json.dumps(pair.to_dict(), ensure_ascii=False) + "\n"


def tsv_line(pair: DocumentPair) -> str:
    """A pair as a line of pairs.tsv."""
    return f"{pair.first}\t{pair.second}\n"
