"""Learns which words translate which from the pairs that a crawl is sure of, while it runs.

The texts of recent pages are kept, packed, until their pairs are found. Each time the pairs have
doubled, a thread learns a lexicon from all of them (`alignment/word_links.py`), and a fixed
number of pages later pairing begins to use it: so a crawl with the same order of pages has the
same lexicon at the same moment. The lexicon is saved in the folder of the crawl, and the next run
adds to it.

A lexicon could teach itself its own errors. So it learns only from pairs that are sure without it,
parts of them are held out in turn, and it is used only while it beats chance on these. A site
teaches a bounded number of pages, so that none can drown the others.
"""

import threading
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from sys import intern
from typing import NamedTuple

import msgpack

from bilingual_crawler.alignment.word_links import Unit, blocks_of, learn, units_of, words_of
from bilingual_crawler.documents.document import Document
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.lexicon import (
    UNTESTED,
    LexiconTest,
    TranslationLexicon,
    sum_of,
)
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import PackedPair
from bilingual_crawler.urls.hosts import host_of, site_of

SURE = 0.9
"""The least probability of a pair to learn from."""
SURE_WITH_LEXICON = 0.995
"""The same if the lexicon had a say: a pair that would have at least `SURE` without it."""
MOST_TEXT_BYTES = 1 << 24
"""Packed texts that are kept."""
MOST_PAIRS_OF_SITE = 100
MOST_UNITS = 6_000
"""Texts that correspond; with so many, more change little."""
LEAST_PAIRS = 6
GROWTH = 2.0
LAST_GROWTH = 1.25
"""At the end there is a lesson if the pairs have grown by more than this since the last one."""
COLLECT_EVERY = 250
"""Pages between two looks for new pairs, before their texts are forgotten."""
COLLECT_GROWTH = 1 / 16
"""The least share of new pages between two looks, so that all looks together take linear time."""
ADOPT_AFTER = 25
"""Pages between the begin of a lesson and the use of its result."""
FOLDS = 4
"""Parts of the pairs; each in turn is held out, and tests what the others teach."""
ENOUGH_TO_TEST = 40
"""With so many pairs one part is held out, and not all in turn."""

Texts = tuple[bytes, bytes]
"""The packed texts of the two pages of a pair."""
Links = tuple[dict[str, set[str]], dict[str, set[str]]]
Standing = Callable[[], Iterable[PackedPair]]
"""Returns the pairs at this moment."""


class PageTexts:
    """The texts of recent pages, packed; the oldest are forgotten first."""

    def __init__(self, most_bytes: int = MOST_TEXT_BYTES) -> None:
        self._most = most_bytes
        self._packed: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._newest: Document | None = None

    def add(self, document: Document) -> None:
        """Keep the text of a page, without boilerplate."""
        if document is self._newest:  # another learner has just added it
            return
        self._newest = document
        blocks = blocks_of(document.main_paragraphs)
        packed = zlib.compress(msgpack.packb(blocks, unicode_errors="surrogatepass"), 1)
        self._bytes += len(packed) - len(self._packed.pop(document.key, b""))
        self._packed[document.key] = packed
        while self._bytes > self._most:
            self._bytes -= len(self._packed.popitem(last=False)[1])

    def get(self, url: str) -> bytes | None:
        """Return the packed text of a page."""
        return self._packed.get(url)


def _sum(*lexicons: TranslationLexicon | None) -> TranslationLexicon | None:
    return sum_of(each for each in lexicons if each is not None)


def _trusted(*lexicons: TranslationLexicon | None) -> TranslationLexicon | None:
    lexicon = _sum(*lexicons)
    return lexicon if lexicon is not None and lexicon.is_trusted else None


def _blocks(packed: bytes) -> list[tuple[str, str]]:
    found = msgpack.unpackb(zlib.decompress(packed), unicode_errors="surrogatepass", use_list=False)
    return list(found)


class LexiconLearner:
    """Learns the words of two languages."""

    def __init__(
        self,
        pair: LanguagePair,
        given: TranslationLexicon | None = None,
        earlier: TranslationLexicon | None = None,
        texts: PageTexts | None = None,
    ) -> None:
        """Begin with a lexicon of the user, and with what earlier runs of this crawl learned.

        Only the latter becomes a part of what is saved. Learners of several pairs may share the
        texts of pages.
        """
        self._codes = pair.codes
        self._given = given
        self._earlier = earlier
        self._texts = PageTexts() if texts is None else texts
        self._pages = self._collected_at = 0
        self._collected: dict[Urls, Texts] = {}
        """The packed texts of the pairs to learn from."""
        self._of_site: Counter[str] = Counter()
        self._learned_from = 0
        self._lesson: Future[TranslationLexicon | None] | None = None
        self._adopt_at = 0
        self._is_full = False
        self._last: tuple[AbstractSet[Urls], TranslationLexicon | None] = (
            set(),
            _trusted(given, earlier),
        )
        """The pairs of the last lesson, and its result."""

    def read(self, document: Document) -> None:
        """Keep the text of a page, if pairs of its site are still wanted."""
        self._pages += 1
        if not self._is_full and self._of_site[_site(document.url)] < MOST_PAIRS_OF_SITE:
            self._texts.add(document)

    def step(
        self, standing: Standing, save: Callable[[TranslationLexicon], None]
    ) -> tuple[TranslationLexicon | None] | None:
        """Go on after a page; return the lexicon to use from now on, if that changes.

        `save` is called on another thread.
        """
        if self._lesson is None:
            if self._is_full:
                return None
            if self._pages >= self._collected_at + self._pages_between_looks:
                self._collect(standing())
                if self._is_due:
                    self._begin(save)
        elif self._pages >= self._adopt_at:
            lesson, self._lesson = self._lesson, None
            return (lesson.result(),)
        return None

    def finish(
        self, standing: Standing, save: Callable[[TranslationLexicon], None]
    ) -> TranslationLexicon | None:
        """Learn from all pairs, now that every page is there; return the lexicon to use."""
        if self._lesson is not None:
            self._lesson.result()
            self._lesson = None
        self._collect(standing())
        if not self._is_full and len(self._collected) > LAST_GROWTH * len(self._last[0]):
            pairs = dict(self._collected)
            self._last = pairs.keys(), self._learn(pairs, save)
        return self._last[1]

    @property
    def _pages_between_looks(self) -> float:
        """Few at the first pages of a crawl, where every lesson counts."""
        least = COLLECT_EVERY if self._learned_from else ADOPT_AFTER
        return max(least, COLLECT_GROWTH * self._collected_at)

    @property
    def _is_due(self) -> bool:
        return len(self._collected) >= max(LEAST_PAIRS, GROWTH * self._learned_from)

    def _begin(self, save: Callable[[TranslationLexicon], None]) -> None:
        self._learned_from = len(self._collected)
        self._adopt_at = self._pages + ADOPT_AFTER
        self._lesson = lesson = Future[TranslationLexicon | None]()
        pairs = dict(self._collected)

        def run() -> None:
            try:
                lesson.set_result(self._learn(pairs, save))
                self._last = pairs.keys(), lesson.result()
            except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
                lesson.set_exception(error)

        threading.Thread(target=run, name="lexicon", daemon=True).start()

    def _collect(self, standing: Iterable[PackedPair]) -> None:
        """Take the texts of pairs that are sure, and give up pairs that are no more."""
        self._collected_at = self._pages
        known, self._collected = self._collected, {}
        self._of_site.clear()
        for pair in standing:
            least = SURE_WITH_LEXICON if "lexicon" in pair.detectors else SURE
            if (pair.probability or 0.0) < least:
                continue
            urls, site = (pair.first, pair.second), _site(pair.first)
            texts = known.get(urls) or self._texts_of(urls)
            if texts is not None and self._of_site[site] < MOST_PAIRS_OF_SITE:
                self._of_site[site] += 1
                self._collected[urls] = texts

    def _texts_of(self, urls: Urls) -> Texts | None:
        first, second = map(self._texts.get, urls)
        return None if first is None or second is None else (first, second)

    def _learn(
        self, pairs: Mapping[Urls, Texts], save: Callable[[TranslationLexicon], None]
    ) -> TranslationLexicon | None:
        """Return the lexicon to use; None if there is none, or it does not beat chance."""
        lessons = list(self._lessons(pairs))
        given = self._given
        if given is not None:
            given = given.tested(given.test.shortened() + tested(given, pairs, pairs))
            given = given if given.is_trusted else None
        own = _sum(self._earlier, self._taught(lessons))
        if own is not None:
            test = UNTESTED if self._earlier is None else self._earlier.test.shortened()
            for fold in range(FOLDS if len(pairs) < ENOUGH_TO_TEST else 1):
                held_out = [urls for urls in pairs if fold_of(urls) == fold]
                others = self._taught([each for each in lessons if fold_of(each.urls) != fold])
                test += tested(_sum(given, self._earlier, others), pairs, held_out)
            own = own.tested(test)
            save(own)
        return _trusted(given, own if own is not None and own.is_trusted else None)

    def _lessons(self, pairs: Mapping[Urls, Texts]) -> Iterator["LexiconLesson"]:
        """Yield what corresponds in the texts of each pair."""
        count = 0
        for urls in sorted(pairs, key=_mixed):
            if count >= MOST_UNITS:
                self._is_full = True
                return
            found = units_of(*map(_blocks, pairs[urls]))
            count += len(found)
            if found:
                yield LexiconLesson(
                    urls, [(_interned(one), _interned(other)) for one, other in found]
                )

    def _taught(self, lessons: Sequence["LexiconLesson"]) -> TranslationLexicon | None:
        units = [unit for lesson in lessons for unit in lesson.units]
        return learn(self._codes, units, len(lessons)) if units else None


class LexiconLesson(NamedTuple):
    """What a pair of pages teaches."""

    urls: Urls
    units: list[Unit]


def tested(
    lexicon: TranslationLexicon | None, pairs: Mapping[Urls, Texts], held_out: Iterable[Urls]
) -> LexiconTest:
    """Compare pairs that were held out with wrong ones, made of two pages of their sites."""
    if lexicon is None:
        return UNTESTED
    links: Links = ({}, {})
    for each in lexicon.entries():
        links[0].setdefault(each.first, set()).add(each.second)
        links[1].setdefault(each.second, set()).add(each.first)
    next_on_site = _next_on_site(pairs)
    count = won = 0
    for urls in held_out:
        other = next_on_site.get(urls)
        if other is not None:
            first, second = map(_words, pairs[urls])
            wrong = _words(pairs[other][1])
            count += 1
            won += _agreement(first, second, links) > _agreement(first, wrong, links)
    return LexiconTest(count, won)


def fold_of(urls: Urls) -> int:
    """Return with which others a pair is held out; it is always the same."""
    return _mixed(urls)[0] % FOLDS


def _mixed(urls: Urls) -> tuple[int, Urls]:
    """Return the key of an order that mixes the sites, and is always the same."""
    return zlib.crc32("\n".join(urls).encode("utf-8", "surrogatepass")), urls


def _next_on_site(pairs: Iterable[Urls]) -> dict[Urls, Urls]:
    """Return for each pair another one of its site."""
    sites: dict[str, list[Urls]] = {}
    for urls in sorted(pairs, key=lambda urls: zlib.crc32(urls[1].encode("utf-8", "replace"))):
        sites.setdefault(_site(urls[0]), []).append(urls)
    return {
        urls: members[(at + 1) % len(members)]
        for members in sites.values()
        if len(members) > 1
        for at, urls in enumerate(members)
    }


def _agreement(first: set[str], second: set[str], links: Links) -> float:
    """Return the share of known words of both texts with a translation in the other."""
    known = found = 0
    for words, others, translations in ((first, second, links[0]), (second, first, links[1])):
        for word in words:
            if word in translations:
                known += 1
                found += not translations[word].isdisjoint(others)
    return found / known if known else 0.0


def _words(packed: bytes) -> set[str]:
    return {word for _, text in _blocks(packed) for word in words_of(text)}


def _interned(words: Iterable[str]) -> list[str]:
    return list(map(intern, words))


def _site(url: str) -> str:
    return site_of(host_of(url))
