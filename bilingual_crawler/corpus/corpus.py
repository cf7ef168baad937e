"""The documents and pairs of a crawl: what is kept, what it replaces, what it completes.

`keep_rule` decides what is kept. Everything here can be rebuilt from the journal, which has one
row per page with what duplicates and pairing need to know: a resumed crawl goes on as if it had
never stopped.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from bilingual_crawler.corpus.clusters import write_clusters
from bilingual_crawler.corpus.file_links import FileLinks
from bilingual_crawler.corpus.keep_rule import KeepRule
from bilingual_crawler.corpus.lexicon_keeper import LexiconKeeper
from bilingual_crawler.corpus.pages import Declarations, PageFacts, Pages, off_topic_pages
from bilingual_crawler.corpus.renewals import Renewals
from bilingual_crawler.documents.dedup import paragraph_hashes, split_hashes, text_signature
from bilingual_crawler.documents.document import Document, DocumentKey
from bilingual_crawler.documents.serialise import document_to_dict, key_of
from bilingual_crawler.languages import Languages
from bilingual_crawler.pairing.matcher import Declaration, Matcher
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import Changes, DocumentPair, PackedPair, PairingPage
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import (
    DOCUMENTS,
    PAIRS,
    PAIRS_REFUSED,
    PAIRS_TSV,
    CrawlFolder,
)
from bilingual_crawler.store.input_files import open_text

UNTIDY_DOCUMENTS, UNTIDY_PAIRS = "untidy documents", "untidy pairs"
"""Facts in the journal: a file has lines that no longer hold."""


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
        lexicons: LexiconKeeper | None = None,
        reads_files: bool = False,
    ) -> None:
        self._folder = folder
        self._pair_of = pair_of
        self._on_pair = on_pair
        self._lexicons = LexiconKeeper(learns=False) if lexicons is None else lexicons
        self._aids = aids if lexicons is None else lexicons.aids(aids)
        self._duplicate_share = duplicate_share
        self._declarations = Declarations(folder.journal)
        self._file_links = FileLinks(folder.journal) if reads_files else None
        self._renewals = Renewals(folder.journal)
        self._read_journal()

    def _read_journal(self) -> None:
        """Build everything that the journal has."""
        journal = self._folder.journal
        self._pages = Pages(journal)
        self._off_topic = off_topic_pages(journal)
        self._rule = KeepRule(
            self._pair_of,
            self._duplicate_share,
            self._aids,
            self._off_topic,
            self._pages.aliases.items,
        )
        self._load()
        self._pair_count = len(self.standing())

    @property
    def documents(self) -> Counter[str]:
        """The number of documents per language."""
        return +self._pages.kept

    def page_counts(self) -> tuple[int, int]:
        """Return the numbers of pages with and without a document that is kept."""
        return self._pages.counts()

    @property
    def pairs(self) -> list[DocumentPair]:
        """Every pair at this moment."""
        return list(self.iter_pairs())

    def iter_pairs(self) -> Iterator[DocumentPair]:
        """Yield the pairs one by one: with their evidence they take much memory."""
        return self._rule.pairs()

    def standing(self) -> list[PackedPair]:
        """Return every pair in its packed form, without the reasons."""
        return list(self._rule.standing())

    @property
    def pair_count(self) -> int:
        """The number of pairs."""
        return self._pair_count

    @property
    def refused_count(self) -> int:
        """The number of counterparts that are no pairs, for want of translated content."""
        return self._rule.refused_count

    def partner_of(self, url: str) -> str | None:
        """Return the page that `url` is paired with now; safe to call from another thread."""
        return self._rule.partner_of(self._pages.aliases.get(url) or url)

    def partners_of(self, url: str) -> list[str]:
        """Return the pages that `url` is paired with now; safe to call from another thread."""
        return self._rule.partners_of(self._pages.aliases.get(url) or url)

    def slugs_agree(self, first: str, second: str) -> float | None:
        """Return the share of words in two addresses that translate each other, if known.

        The address in the first language comes first. Safe to call from another thread.
        """
        return self._rule.slugs_agree(first, second)

    def add(self, document: Document, *, again: bool = False) -> bool:
        """Take in a page. Return whether it is kept as a document.

        A page that is known already (a killed crawl fetches some again) changes nothing. If it is
        visited `again`, it takes the place of the old one when the corpus is tidied.
        """
        url, language = document.key, document.language or ""
        if url in self._pages:
            if again:
                self._renew(document)
            return self._pages.is_kept(url)
        signature = text_signature(document)
        node = self._rule.node_of(url, signature)
        is_duplicate = False
        hashes: list[bytes] = []
        if node == url:
            hashes = paragraph_hashes(document)
            decision = self._rule.duplicates.add(url, hashes)
            is_duplicate = decision.duplicate_of is not None
            for shorter in decision.supersedes:
                self._pages.mark_duplicate(shorter)
                self._review(shorter)
        if self._file_links is not None:
            self._file_links.add(document)
        packed = b"".join(hashes)
        page = self._aids.page_of(document)
        facts = PageFacts(url, node, language, signature, packed, page.pack())
        self._pages.add(facts, _document_line(document), duplicate=is_duplicate)
        if document.topic is not None and not document.topic.on_topic:
            self._off_topic.add(url)
        self._apply(self._rule.matcher(url).add(page, node))
        self._review(node)
        self._teach(document)
        return self._pages.is_kept(url)

    def _renew(self, document: Document) -> None:
        """Remember what a page is now."""
        signature = text_signature(document)
        packed = b"".join(paragraph_hashes(document))
        page = self._aids.page_of(document).pack()
        url, language = document.key, document.language or ""
        facts = PageFacts(url, url, language, signature, packed, page)
        off_topic = document.topic is not None and not document.topic.on_topic
        self._renewals.renew(facts, _document_line(document), off_topic=off_topic)

    def remove(self, key: str) -> None:
        """Take a page out, once the corpus is tidied, because it is gone."""
        if key in self._pages:
            self._renewals.remove(key)

    def keys_of(self, url: str) -> list[str]:
        """Return the keys of the documents that were read at an address."""
        return self._pages.keys_of(url)

    def _teach(self, document: Document) -> None:
        """Let a page add to the lexicon of its languages."""
        languages, matcher = self._pair_of(document.url), self._rule.matcher(document.key)
        self._lexicons.read(document, languages)
        if isinstance(matcher, Matcher):
            for news in self._lexicons.step(languages, matcher.standing_of):
                matcher.use_lexicon(*news)

    def alias(self, source: str, target: str) -> None:
        """Remember that `source` is another name of the page at `target`."""
        if self._pages.add_alias(source, target):
            for matcher in self._rule.matchers:
                self._apply(matcher.alias(source, target))

    def pages_of(self, netloc: str) -> list[tuple[str, str]]:
        """Return URL and language of the pages of a host that are the only one at their URL."""
        return [
            (url, language)
            for url, language in self._pages.languages()
            if urlsplit(url).netloc == netloc and not DocumentKey.parse(url).variant
        ]

    def declare(self, claims: Iterable[Declaration]) -> None:
        """Learn what a sitemap says about pages, as far as it concerns the wanted languages."""
        wanted: defaultdict[str, list[Declaration]] = defaultdict(list)
        for url, alternates in claims:
            pair = self._pair_of(url)
            if named := tuple(each for each in alternates if each[1] in pair):
                wanted[str(pair)].append((url, named))
        for declared in wanted.values():
            self._declarations.add(declared)
            self._apply(self._rule.matcher(declared[0][0]).declare(declared))

    def tidy(self, check: Callable[[], None] = lambda: None) -> None:
        """Settle all pairs, now that every page is there, and remove stale lines from the files.

        Files that paired pages link to from the same place are compared first.

        `check` is called throughout and may raise an exception, which is passed on. Nothing
        that changed until then may reach the journal; a later run does it all again.
        """
        if self._renewals:
            self._settle()
        if self._file_links is not None:
            self.declare(list(self._file_links.claims(self.iter_pairs)))
        for matcher in self._rule.matchers:
            if self._lexicons.learns and isinstance(matcher, Matcher):
                for news in self._lexicons.finish(matcher.languages, matcher.standing_of):
                    matcher.use_lexicon(*news)
            self._apply(matcher.finish(check))
        facts = self._folder.facts
        if facts.get(UNTIDY_DOCUMENTS) == "yes":
            kept = _checked(self._kept_lines(), check)
            self._folder.rewrite(DOCUMENTS, kept, UNTIDY_DOCUMENTS)
        if facts.get(UNTIDY_PAIRS) == "yes":
            place = self._places_in_file().get
            lines = _checked(map(json_line, self._rule.pairs(place)), check)
            self._folder.rewrite(PAIRS, lines)
            self._folder.rewrite(PAIRS_TSV, map(tsv_line, self._rule.pairs(place)), UNTIDY_PAIRS)
        write_refused(self._folder.path / PAIRS_REFUSED, _checked(self._refused_lines(), check))
        write_clusters(self._folder.path, self._rule.pairs(), self._rule.language_set)

    def _settle(self) -> None:
        """Put what revisits found in the place of the old pages, and start from the journal."""
        facts = self._folder.facts
        facts[UNTIDY_DOCUMENTS] = facts[UNTIDY_PAIRS] = "yes"
        self._renewals.settle(self._duplicate_share)
        for old in (self._pages, self._pages.aliases, self._off_topic):
            self._folder.journal.detach(old)
        self._read_journal()

    def _places_in_file(self) -> dict[Urls, int]:
        """Return the places of the pairs in their file, which those that stand keep."""
        with open_text(self._folder.path / PAIRS_TSV) as lines:
            urls = (line.rstrip("\n").partition("\t") for line in lines)
            return {(first, second): place for place, (first, _, second) in enumerate(urls)}

    def _refused_lines(self) -> Iterator[str]:
        return map(json_line, self._rule.refused())

    def _review(self, node: str) -> None:
        """Make the corpus agree with the rule about the pages with the text of `node`."""
        wanted = self._rule.kept_url(node, is_duplicate=self._pages.is_duplicate(node))
        kept = self._pages.kept_of(node)
        if kept == wanted:
            return
        if kept is not None:
            self._pages.drop(kept)
            self._folder.facts[UNTIDY_DOCUMENTS] = "yes"
        if wanted is not None and (line := self._pages.keep(wanted)) is not None:
            self._folder.journal.append(DOCUMENTS, line)

    def _kept_lines(self) -> Iterator[str]:
        """Yield the lines of the file that still hold; set the others aside."""
        stale = self._renewals.stale_lines()
        with open_text(self._folder.path / DOCUMENTS) as lines:
            for line in lines:
                url = key_of(json.loads(line))
                if stale[url]:
                    stale[url] -= 1
                elif self._pages.is_kept(url):
                    yield line
                else:
                    self._pages.set_aside(url, line)
        self._renewals.forget_stale_lines()

    def _apply(self, changes: Changes[DocumentPair]) -> None:
        for pair in filter(self._rule.is_wanted, changes.found.values()):
            self._folder.journal.append(PAIRS, json_line(pair))
            self._folder.journal.append(PAIRS_TSV, tsv_line(pair))
            self._pair_count += 1
            self._on_pair(pair, True)
        for pair in filter(self._rule.is_wanted, changes.lost.values()):
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
                self._rule.node_of(facts.url, facts.signature)
                if not is_duplicate:
                    self._rule.duplicates.restore(facts.url, split_hashes(facts.hashes))
            page = PairingPage.unpack(facts.url, facts.language, facts.page)
            pages[str(self._pair_of(facts.url))].append((page, facts.node))
        for declared in self._declarations.load():
            self._rule.matcher(declared[0]).declare([declared])
        for known in pages.values():
            self._rule.matcher(known[0][0].url).restore(known)
            self._folder.facts[UNTIDY_PAIRS] = "yes"  # the file may have worse explanations
            for node in {node for _, node in known}:
                self._review(node)


def _document_line(document: Document) -> str:
    return json.dumps(document_to_dict(document), ensure_ascii=False) + "\n"


def write_refused(path: Path, lines: Iterable[str]) -> None:
    """Write the pairs that were refused; without any there is no file."""
    some = iter(lines)
    first = next(some, None)
    if first is None:
        path.unlink(missing_ok=True)
        return
    with replacing(path) as fresh, fresh.open("x", encoding="utf-8") as file:
        file.write(first)
        file.writelines(some)


def _checked(lines: Iterable[str], check: Callable[[], None]) -> Iterator[str]:
    for line in lines:
        check()
        yield line


def json_line(pair: DocumentPair) -> str:
    """Return a pair as a line of pairs.jsonl."""
    return json.dumps(pair.to_dict(), ensure_ascii=False) + "\n"


def tsv_line(pair: DocumentPair) -> str:
    """Return a pair as a line of pairs.tsv."""
    return f"{pair.first}\t{pair.second}\n"
