"""What pairing remembers of a page's content: enough for every detector, little enough to keep.

A crawl holds one profile for each page, in memory and in its journal, while texts go to disk.
Words, images and links are kept as hashes of four bytes. Of a page with very many of them those
with the smallest hashes are kept: the same words on both pages, so that shares stay what they
were.
"""

import re
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Final, Self
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
LEAST_WORD = 3
HASH: Final = "I"
"""The type of an array of hashes."""

KIND_CODES: dict[ParagraphKind, int] = {"title": -2, "heading": -3, "listitem": -4}
"""How ILSP-FC writes the kinds of paragraphs into a fingerprint."""
TOPIC_CODE = -5
"""What it puts before a paragraph with terms of the topic."""

_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_MARKS = re.compile(r"[!?.。！？؟]")  # noqa: RUF001 - the marks of other scripts
_SAME_MARK = str.maketrans("。！？؟", ".!??")  # noqa: RUF001

Hashes = bytes
"""Sorted distinct hashes, four bytes each."""


@dataclass(slots=True, frozen=True)
class Profile:
    """The content of a page in numbers; boilerplate and foreign paragraphs are left out.

    `size` are the bytes of the whole page, 0 where they are not known. `names` are words
    with a capital letter in them, and numbers: what is most likely written alike in both
    languages.
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
    """What a sentence model of the user's makes of the text, see `embeddings.py`."""

    def pack(self) -> bytes:
        """The profile as the journal keeps it."""
        packed: bytes = msgpack.packb(_in_order(self), unicode_errors="surrogatepass")
        return packed

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """The profile that `pack` made this of; one of an older journal has no vector."""
        return cls(*msgpack.unpackb(packed, unicode_errors="surrogatepass", use_list=False))


_in_order = attrgetter(*(each.name for each in fields(Profile)))

Embedder = Callable[[Document], bytes]
"""What makes the vector of a document."""


def profile_of(document: Document, embedder: Embedder | None = None) -> Profile:
    """The profile of a page's content, with a vector if there is something that makes one."""
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
    )


def fingerprint(paragraphs: Iterable[Paragraph]) -> tuple[int, ...]:
    """Kinds and lengths of paragraphs in a row, as ILSP-FC writes the structure of a page."""
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


def hashes(texts: Iterable[str], most: int) -> Hashes:
    """The hashes of some texts, at most so many: those with the smallest hashes."""
    found = sorted({_hash(text) for text in texts})
    return array(HASH, found[:most]).tobytes()


def word_hash(text: str) -> int | None:
    """The hash by which a profile knows a word; None for what no profile takes for one word."""
    if len(text) < LEAST_WORD or text[0].isdigit() or not _TOKEN.fullmatch(text):
        return None
    return _hash(text.lower())


def members(packed: Hashes) -> frozenset[int]:
    """The hashes of a profile, to be compared with those of another."""
    return frozenset(memoryview(packed).cast(HASH))


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _sorted_out(tokens: list[str]) -> tuple[set[str], set[str], set[str]]:
    """The words, the names and the numbers among the tokens of a text."""
    numbers = {token for token in tokens if token[0].isdigit()}
    written = {token for token in tokens if len(token) >= LEAST_WORD} - numbers
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
