"""The user's bilingual word list: plain TSV, or the source of an Apertium dictionary.

Only hashes of words are kept, as in the profiles of pages, sixteen bytes per entry: a list may have
millions. It is kept in both directions, so it does not matter which language comes first. A phrase
of several words is skipped, because its words are not translations of each other; so is a word that
is the same in both languages, because the evidence of shared words has it already.

Two pages are compared by how many words of each have a translation on the other, beyond what chance
would give among the pages of the site.
"""

import logging
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.known_pages import KnownPage
from bilingual_crawler.pairing.profile import MOST_WORDS, members, word_hash
from bilingual_crawler.store.input_files import Content, bounded_lines, open_unpacked

logger = logging.getLogger(__name__)

LEAST_CELLS = 2
LONGEST_LINE = 1 << 20
_HIGH, _LOW = 32, 0xFFFF_FFFF
_UNREAD = frozenset({"pardef", "re"})
"""Parts of an Apertium dictionary that are pieces of words, or patterns."""

Words = NDArray[np.uint32]
Entry = tuple[str, str]


class WordList:
    """Which words are translations of which, by hash."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        both_ways = array("Q")
        for one, other in entries:
            first, second = word_hash(one), word_hash(other)
            if first is not None and second is not None and first != second:
                both_ways.append(first << _HIGH | second)
                both_ways.append(second << _HIGH | first)
        pairs = np.unique(np.frombuffer(both_ways, np.uint64)) if both_ways else np.zeros(0, "u8")
        self._words = (pairs >> _HIGH).astype(np.uint32)
        self._translations = (pairs & _LOW).astype(np.uint32)

    def __len__(self) -> int:
        """Return the number of entries, each counted once."""
        return len(self._words) // 2

    def translations(self, words: Words) -> tuple[NDArray[np.intp], Words]:
        """Return all translations of some words, and for each the index of its word."""
        starts = np.searchsorted(self._words, words, "left")
        counts = np.searchsorted(self._words, words, "right") - starts
        owners = np.repeat(np.arange(len(words)), counts)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        return owners, self._translations[np.repeat(starts, counts) + within]

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file, gzipped or not; its content decides how.

        TSV lines without two words are skipped, and counted in a warning.
        """
        file = Path(path).expanduser()
        try:
            with open_unpacked(file) as content:
                found = cls(_entries(content, file))
        except (OSError, EOFError, zlib.error, etree.XMLSyntaxError) as error:
            raise ConfigurationError(
                f"The word list {file} cannot be read: {error}.",
                "Give a file with one word<TAB>word per line, or an Apertium pair's .dix file.",
            ) from None
        if not found:
            raise ConfigurationError(
                f"The word list {file} has no two words that are translations of each other:"
                " write one word<TAB>word per line, or give the .dix file of an Apertium pair."
            )
        logger.info("The word list %s has %d entries of single words.", file, len(found))
        return found


def _entries(content: Content, file: Path) -> Iterator[Entry]:
    is_xml = content.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    content.seek(0)
    return _of_apertium(content) if is_xml else _of_lines(content, file)


def _of_lines(content: Content, file: Path) -> Iterator[Entry]:
    passed_over = 0
    for found in bounded_lines(content, LONGEST_LINE):
        line = found or b"too long"
        text = line.decode("utf-8-sig", "replace").strip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        cells = text.split("\t")
        if len(cells) < LEAST_CELLS:
            passed_over += 1
        else:
            yield cells[0].strip(), cells[1].strip()
    if passed_over:
        logger.warning("%s: %d lines without a tab were skipped.", file, passed_over)


def _of_apertium(content: Content) -> Iterator[Entry]:
    """Yield the entries of a .dix file, one in memory at a time; nothing outside it is read."""
    reader = etree.iterparse(
        content,
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    depth_unread = 0
    for event, element in reader:
        if element.tag in _UNREAD:
            depth_unread += 1 if event == "start" else -1
        if event == "end" and element.tag == "e":
            if not depth_unread and element.get("i") != "yes":
                yield _side(element, "p/l"), _side(element, "p/r")
            _forget(element)


def _side(entry: etree._Element, path: str) -> str:
    """Return the words of one side of an entry; `<b/>` makes it a phrase."""
    written = []
    for side in entry.iterfind(path):
        for part in side.iter():
            if part.tag in {"b", "j"}:
                written.append(" ")
            if isinstance(part.tag, str):
                written.append(part.text or "")
            if part is not side:
                written.append(part.tail or "")
    return "".join(written).strip()


def _forget(element: etree._Element) -> None:
    element.clear()
    parent = element.getparent()
    while parent is not None and parent[0] is not element:
        del parent[0]


LEAST_KNOWN = 10
"""The fewest words with an entry, on both pages together, to say anything."""
DOUBT = 5
"""Unfound words that are added, so that a few words beyond chance mean little."""
NEARLY_ALL = 0.99
REMEMBERED = 2_000


class Agreement(NamedTuple):
    """How many words of two pages have an entry, and how many of these a translation there."""

    known: int
    found: int
    beyond_chance: float


class _Looked(NamedTuple):
    """The translations of a page's words: whose, on how many pages, of how many."""

    owners: NDArray[np.intp]
    targets: Words
    counts: NDArray[np.float64]
    pages: int


class Dictionary:
    """How many words of two pages are translations of each other, beyond chance.

    Of each page's words that the list knows, some have a translation on the other page. Two pages
    of one site share many by chance: the words of its menu and its topic. The expected number
    follows from how many other pages of the site in that language have a translation of the word.
    The agreement is Cohen's kappa: what was found beyond the expected, as a share of what could
    have been found beyond it; 0 is chance, 1 is every word of a long page.
    """

    def __init__(self, words: WordList) -> None:
        self._list = words
        self._counts: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        self._pages: Counter[tuple[str, str]] = Counter()
        self._looked: dict[tuple[str, str, str], _Looked] = {}

    def add(self, page: KnownPage) -> None:
        """Add the words of a page."""
        place = page.site, page.page.language
        self._pages[place] += 1
        self._counts[place].update(members(page.page.profile.vocabulary))

    def measure(self, place: tuple[str, str], pages: Iterable[KnownPage]) -> None:
        """Count the words of these pages as all there is of a site and language."""
        self._counts[place], self._pages[place] = Counter(), 0
        for page in pages:
            self.add(page)
        self.forget()

    def forget(self) -> None:
        """Recount what is common."""
        self._looked.clear()

    def compare(self, first: KnownPage, second: KnownPage) -> Agreement | None:
        """Return how two pages agree; None where the list knows too few of their words."""
        known = found = 0
        expected = 0.0
        for page, other in ((first, second), (second, first)):
            sums = self._one_way(page, other)
            known, found, expected = known + sums[0], found + sums[1], expected + sums[2]
        if known < LEAST_KNOWN:
            return None
        beyond = (found - expected) / (max(known - expected, 0.0) + DOUBT)
        return Agreement(known, found, max(-1.0, beyond))

    def _one_way(self, page: KnownPage, other: KnownPage) -> tuple[int, int, float]:
        """Count a page's words with an entry, those translated on the other page, and by chance."""
        words = _words(other)
        looked = self._look_up(page, other)
        owners, targets, counts = looked.owners, looked.targets, looked.counts
        if len(words) >= MOST_WORDS:
            # Of a long page only the smallest hashes are known: others cannot be asked for.
            seen = targets <= words[-1]
            owners, targets, counts = owners[seen], targets[seen], counts[seen]
        if not len(owners) or not len(words):
            return 0, 0, 0.0
        at = np.minimum(np.searchsorted(words, targets), len(words) - 1)
        is_there = words[at] == targets
        elsewhere = np.maximum(counts - is_there, 0.0) / max(1, looked.pages - 1)
        known = np.bincount(owners) > 0
        missing = np.bincount(owners, np.log1p(-np.minimum(elsewhere, NEARLY_ALL)))
        expected = -np.expm1(missing).sum()
        found = np.bincount(owners, is_there) > 0
        return int(known.sum()), int(found.sum()), float(expected)

    def _look_up(self, page: KnownPage, other: KnownPage) -> _Looked:
        place = other.site, other.page.language
        key = page.page.url, *place
        looked = self._looked.get(key)
        if looked is None:
            if len(self._looked) >= REMEMBERED:
                self._looked.clear()
            owners, targets = self._list.translations(_words(page))
            counted = self._counts[place]
            counts = np.fromiter((counted[each] for each in targets.tolist()), np.float64)
            looked = self._looked[key] = _Looked(owners, targets, counts, self._pages[place])
        return looked


def _words(page: KnownPage) -> Words:
    return np.frombuffer(page.page.profile.vocabulary, np.uint32)
