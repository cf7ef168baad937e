"""What pairing remembers of a page's content: enough for every detector, small enough to keep.

A crawl holds one profile per page, in memory and in its journal, while texts go to disk. Words,
images and links are kept as four-byte hashes. Of a page with very many of them, those with the
smallest hashes are kept: the same words on both pages, so that shares stay the same.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from struct import Struct
from typing import Final, NamedTuple, Self
from urllib.parse import unquote, urlsplit
from zlib import crc32

import msgpack

from bilingual_crawler.documents.document import Document, Paragraph, ParagraphKind
from bilingual_crawler.urls.hosts import host_of

MOST_WORDS = 500
MOST_NAMES = 128
MOST_NUMBERS = 200
MOST_IMAGES = 64
MOST_LINKS = 64
LONGEST_FINGERPRINT = 600
LONGEST_PUNCTUATION = 1_000
LONGEST_TITLE = 200
MOST_BLOCKS = 150
LARGEST_BLOCK = 32_767
DENSE = 2
"""What a Chinese, Japanese or Korean character counts more than a letter."""
LEAST_WORD = 3
HASH: Final = "I"
"""The type of an array of hashes."""

KIND_CODES: dict[ParagraphKind, int] = {"title": -2, "heading": -3, "listitem": -4}
"""The codes of paragraph kinds in a fingerprint, as ILSP-FC writes them."""
TOPIC_CODE = -5
"""The code before a paragraph with terms of the topic."""

_BLOCK = Struct("<IH")
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARKS = re.compile(r"[!?.。！？؟]")  # noqa: RUF001 - the marks of other scripts
_SAME_MARK = str.maketrans("。！？؟", ".!??")  # noqa: RUF001

Hashes = bytes
"""Sorted distinct hashes, four bytes each."""


@dataclass(slots=True, frozen=True)
class Profile:
    """The content of a page in numbers, without boilerplate and paragraphs in other languages.

    `size` is the bytes of the whole page, 0 if unknown. `names` are words with a capital letter,
    and numbers: what is most likely written the same in both languages.
    """

    size: int = 0
    characters: int = 0
    words: int = 0
    paragraphs: int = 0
    fingerprint: tuple[int, ...] = ()
    """Kinds and lengths of the paragraphs, as in ILSP-FC: [-2, 28, 145, -4, 9, ...]."""
    tags: str = ""
    punctuation: str = ""
    title: str = ""
    vocabulary: Hashes = b""
    names: Hashes = field(default=b"", repr=False)
    numbers: Hashes = field(default=b"", repr=False)
    images: Hashes = field(default=b"", repr=False)
    """File names of images, without their folders."""
    links: Hashes = field(default=b"", repr=False)
    """Addresses on other hosts."""
    vector: bytes = field(default=b"", repr=False)
    """The vector of the text by the user's sentence model, see `embeddings.py`."""
    blocks: bytes = field(default=b"", repr=False)
    """Of each paragraph its hash (four bytes) and its size (two), see `substance.py`."""

    def pack(self) -> bytes:
        """Return the profile as the journal keeps it."""
        packed: bytes = msgpack.packb(_in_order(self), unicode_errors="surrogatepass")
        return packed

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """Return the profile that `pack` packed; one from an older journal has fewer fields."""
        return cls(*msgpack.unpackb(packed, unicode_errors="surrogatepass", use_list=False))


_in_order = attrgetter(*(each.name for each in fields(Profile)))

Embedder = Callable[[Document], bytes]
"""Makes the vector of a document."""


def profile_of(document: Document, embedder: Embedder | None = None) -> Profile:
    """Return the profile of a page's content, with a vector if there is an embedder."""
    paragraphs = document.main_paragraphs
    text = "\n".join(paragraph.text for paragraph in paragraphs)
    tokens = _TOKEN.findall(text)
    words, names, numbers = _sorted_out(tokens)
    host = host_of(document.url)
    return Profile(
        size=document.size,
        characters=len(text),
        words=len(tokens),
        paragraphs=len(paragraphs),
        fingerprint=fingerprint(paragraphs),
        tags=document.tags,
        punctuation="".join(_MARKS.findall(text))[:LONGEST_PUNCTUATION].translate(_SAME_MARK),
        title=_title(document, paragraphs)[:LONGEST_TITLE],
        vocabulary=hashes(words, MOST_WORDS),
        names=hashes(names | numbers, MOST_NAMES),
        numbers=hashes(numbers, MOST_NUMBERS),
        images=hashes((name for each in document.images if (name := _file(each.src))), MOST_IMAGES),
        links=hashes(
            (each.url for each in document.links if host_of(each.url) != host), MOST_LINKS
        ),
        vector=embedder(document) if embedder else b"",
        blocks=_packed_blocks(document),
    )


def fingerprint(paragraphs: Iterable[Paragraph]) -> tuple[int, ...]:
    """Return the kinds and lengths of paragraphs, as ILSP-FC writes the structure of a page."""
    numbers: list[int] = []
    for paragraph in paragraphs:
        if paragraph.kind in KIND_CODES:
            numbers.append(KIND_CODES[paragraph.kind])
        if paragraph.topic:
            numbers.append(TOPIC_CODE)
        numbers.append(len(paragraph.text))
        if len(numbers) >= LONGEST_FINGERPRINT:
            break
    return tuple(numbers[:LONGEST_FINGERPRINT])


def size_of(text: str) -> int:
    """Return how much a text says: its letters and digits, more for dense scripts."""
    return _size_of(text, _TOKEN.findall(text))


def _size_of(text: str, tokens: list[str]) -> int:
    dense = 0 if text.isascii() else len(_DENSE.findall(text))
    return sum(map(len, tokens)) + DENSE * dense


def _in_lower_case(text: str, tokens: list[str]) -> str:
    """Return the tokens of a text in lower case, with spaces between, given its tokens.

    Two capitals have a small letter that depends on what is beside them, or is no letter alone.
    """
    if "İ" in text or "Σ" in text:
        tokens = _TOKEN.findall(text.lower())
    return " ".join(tokens).lower()


class ParagraphMark(NamedTuple):
    """A paragraph as a profile keeps it."""

    hash: int
    size: int
    foreign: bool
    """True if it is in another language than the page."""


def _packed_blocks(document: Document) -> bytes:
    """Pack the paragraphs of the content, the longest first; in their text only words count."""
    sizes: dict[int, int] = {}
    for paragraph in document.paragraphs:
        if paragraph.boilerplate:
            continue
        text = paragraph.text
        tokens = _TOKEN.findall(text)
        if tokens:
            foreign = paragraph.language not in (None, document.language)
            size = min(LARGEST_BLOCK, _size_of(text, tokens))
            sizes.setdefault(_hash(_in_lower_case(text, tokens)), 2 * size + foreign)
    kept = sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:MOST_BLOCKS]
    return b"".join(_BLOCK.pack(*each) for each in kept)


def block_hash(text: str) -> int:
    """Return the hash that a paragraph with this text has in profiles."""
    return _hash(" ".join(_TOKEN.findall(text.lower())))


def blocks_of(packed: bytes) -> list[ParagraphMark]:
    """Return the paragraphs in a profile, the longest first."""
    return [
        ParagraphMark(text, size >> 1, bool(size & 1)) for text, size in _BLOCK.iter_unpack(packed)
    ]


def hashes(texts: Iterable[str], most: int) -> Hashes:
    """Return the `most` smallest hashes of some texts."""
    texts = list(texts)
    try:
        found = {crc32(text.encode()) for text in texts}
    except UnicodeEncodeError:
        found = {_hash(text) for text in texts}
    return array(HASH, sorted(found)[:most]).tobytes()


def word_hash(text: str) -> int | None:
    """Return a word's hash in profiles; None if no profile would take the text for one word."""
    if len(text) < LEAST_WORD or text[0].isdigit() or not _TOKEN.fullmatch(text):
        return None
    return _hash(text.lower())


def members(packed: Hashes) -> frozenset[int]:
    """Return the hashes in a profile as a set."""
    return frozenset(memoryview(packed).cast(HASH))


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _sorted_out(tokens: list[str]) -> tuple[set[str], set[str], set[str]]:
    """Return the words, the names and the numbers among the tokens of a text."""
    found = set(tokens)
    numbers = {token for token in found if token[0].isdigit()}
    written = {token for token in found if len(token) >= LEAST_WORD} - numbers
    names = {token.lower() for token in written if not token.islower()}
    return {token.lower() for token in written}, names, numbers


def _title(document: Document, paragraphs: list[Paragraph]) -> str:
    heading = next((each.text for each in paragraphs if each.kind == "title"), "")
    return heading or document.title


def _file(source: str) -> str:
    try:
        return unquote(urlsplit(source).path).rsplit("/", 1)[-1].lower()
    except ValueError:
        return ""


def ratio(one: float, other: float) -> float:
    """Return the smaller size as a share of the larger; two empty sizes are equal."""
    larger = max(one, other)
    return min(one, other) / larger if larger > 0 else 1.0


def passing(value: float, threshold: float) -> float:
    """Return a score that is at least 0.5 exactly where the value reaches the threshold.

    0 stays 0 and 1 stays 1 (with a threshold of 0 everything passes). The rules of the seed systems
    say yes or no; this keeps how clearly they said it.
    """
    if value >= threshold:
        return 0.5 + 0.5 * min(1.0, (value - threshold) / (1.0 - threshold or 1.0))
    return 0.5 * (max(0.0, value) / threshold)


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """Return the shared members as a share of all; two empty sets share nothing."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def shared_words(one: Hashes, other: Hashes, most: int) -> float:
    """Return the Jaccard similarity of two sets of which only the `most` smallest hashes are kept.

    Where a set was cut, only hashes that could have been kept on both sides are compared.
    """
    sides = [memoryview(each).cast(HASH) for each in (one, other)]
    ends = [side[-1] for side in sides if len(side) >= most]
    if ends:
        sides = [side[: bisect_right(side, min(ends))] for side in sides]
    return jaccard(frozenset(sides[0]), frozenset(sides[1]))
