"""URLs as the models read them: the same words in training, evaluation and crawling.

SBFC feeds a URL to XLM-R without its protocol, decoded, and split into runs of letters, runs of
digits, and single underscores and special characters. The models that its authors publish were
trained on another split, so a model names its own (`PREPROCESSINGS`). Links are untrusted input, so
nothing here raises, and no URL costs more than a long one.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.languages.normal_forms import normalize

LONGEST = 4096
"""Characters of a URL that are read."""
HEAD, TAIL = 640, 384
"""What is kept of a longer one once it is decoded; languages are named at both ends."""

_PROTOCOL = re.compile(r"\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_ESCAPES = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_HOST = re.compile(r"[^/?#]*")
_PUNYCODE = re.compile(r"xn--([a-z0-9-]{1,59})", re.IGNORECASE)
_ASCII_PARTS = re.compile(r"[A-Za-z]+|[0-9]+|[!-/:-@\[-`{-~]")
_SILENT = "\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff"
"""Control, format and private characters and lone surrogates: they separate parts."""
_DECODINGS = 2
_AUTHORS_PARTS = re.compile(r"[0-9]+|[^\W0-9_]+|_+|[^\w\s]+|\s+")
_SURROGATE = re.compile("[\ud800-\udfff]")

_LETTER, _MARK = 1, 2
_TABLE = 1 << 17
_AT_ONCE = 256
_BASE, _MIX = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93

Ids = NDArray[np.int64]


def prepare(url: str) -> str:
    """Return the parts of a URL with single blanks between them.

    Letters keep their case; the tokenizer decides whether it matters.
    """
    text = _decoded(url)
    parts = _ASCII_PARTS if text.isascii() else _all_parts()
    return " ".join(parts.findall(text))


def prepare_as_authors(url: str) -> str:
    """Return the parts of a URL as the published models of SBFC's authors read them.

    Their model cards split where letters, ASCII digits, underscores and other signs meet, keep runs
    of signs together (`/?`, `--`, `...`), decode escapes once, and drop slashes at the end. A blank
    in a URL is a part of its own, so three blanks are written for it.
    """
    return _authors_parts(url, "/")


def prepare_without_slashes(url: str) -> str:
    """Return the same, but with a blank for each slash, as an option of the authors' programs."""
    return _authors_parts(url, " ")


def _authors_parts(url: str, slash: str) -> str:
    before, protocol, _ = url.partition("://")
    begin = len(before) + len(protocol) if protocol else 0
    text = url.rstrip("/")[begin : begin + LONGEST]
    text = unquote(text, errors="backslashreplace").replace("/", slash)
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    return " ".join(_AUTHORS_PARTS.findall(" ".join(text.split())))


class Preprocessing(NamedTuple):
    """How a model was taught to read URLs."""

    prepare: Callable[[str], str]
    keeps_ends: bool
    """A long URL loses its middle; otherwise everything after the last token that fits."""


SBFC = "sbfc"
AUTHORS = "transducens"
PREPROCESSINGS: Mapping[str, Preprocessing] = {
    SBFC: Preprocessing(prepare, keeps_ends=True),
    AUTHORS: Preprocessing(prepare_as_authors, keeps_ends=False),
    f"{AUTHORS}-no-slash": Preprocessing(prepare_without_slashes, keeps_ends=False),
}
"""By the name in `config.json`; a model without one was trained on `SBFC`."""


def _decoded(url: str) -> str:
    text = url[:LONGEST]
    if protocol := _PROTOCOL.match(text):
        text = text[protocol.end() :]
    if "xn--" in text or "XN--" in text:
        text = _HOST.sub(_decode_host, text, count=1)
    if "&" in text:
        text = _ENTITY.sub(_decode_entity, text)
    for _ in range(_DECODINGS):  # links are often escaped twice
        if "%" not in text:
            break
        text = _ESCAPES.sub(_decode_escapes, text)
    text = normalize("NFC", text)
    if len(text) > HEAD + TAIL:
        text = text[:HEAD] + text[-TAIL:]
    return text


def _decode_host(host: re.Match[str]) -> str:
    return _PUNYCODE.sub(_decode_label, host.group())


def _decode_label(label: re.Match[str]) -> str:
    try:
        return label[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return label.group()


def _decode_entity(entity: re.Match[str]) -> str:
    """Decode entities that end properly: `?a=1&section=2` contains none."""
    return html.unescape(entity.group())


def _decode_escapes(escapes: re.Match[str]) -> str:
    data = bytes.fromhex(escapes.group().replace("%", ""))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


@cache
def _all_parts() -> re.Pattern[str]:
    """Return the same split for every script: vowel signs and accents belong to their word."""
    marks = "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in _runs(_categories() == _MARK))
    return re.compile(rf"(?:[^\W\d_]|[{marks}])+|\d+|[^\w\s{_SILENT}{marks}]|_")


def ngram_table(urls: Sequence[str], sizes: Sequence[int], buckets: int, most: int) -> Ids:
    """Return the n-grams of many URLs, one row per URL: the first `most` in order, then zeros.

    An n-gram lies within a word, and the characters on both sides of the word are its boundary
    marks, so that `/es/`, `.es/` and `=es` are three different things. Whole words count too. The
    hash is arithmetic on code points: the same everywhere and always.
    """
    table = np.zeros((len(urls), most), dtype=np.int64)
    for begin in range(0, len(urls), _AT_ONCE):
        _fill(table[begin : begin + _AT_ONCE], urls[begin : begin + _AT_ONCE], sizes, buckets)
    return table


def _fill(table: Ids, urls: Sequence[str], sizes: Sequence[int], buckets: int) -> None:
    texts = [f"\x02{_decoded(url).lower()}\x03" for url in urls]
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    owners = np.repeat(np.arange(len(urls)), [len(text) for text in texts])
    found = _ids_by_place(codes, sizes, buckets)
    places, _ = np.nonzero(found)
    ids = found[found > 0]
    _, first = np.unique(owners[places] * np.int64(buckets) + ids, return_index=True)
    first.sort()
    rows, ids = owners[places][first], ids[first]
    ranks = np.arange(len(rows)) - np.searchsorted(rows, rows)
    kept = ranks < table.shape[1]
    table[rows[kept], ranks[kept]] = ids[kept]


def _ids_by_place(codes: NDArray[np.uint32], sizes: Sequence[int], buckets: int) -> Ids:
    """Return one row per character: the n-grams that begin there by size, then the word; else 0."""
    count = len(codes)
    letters = _categories()[np.minimum(codes, _TABLE - 1)] > 0
    # Prefix sums of (code + 1) x base^place give the hash of any stretch by one subtraction.
    powers, inverses = _powers(1 << (count - 1).bit_length())
    sums = np.zeros(count + 1, dtype=np.uint64)
    np.cumsum((codes + np.uint64(1)) * powers[:count], out=sums[1:])
    inner = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(~letters, out=inner[1:])
    found = np.zeros((count, len(sizes) + 1), dtype=np.int64)
    for column, size in enumerate(sizes):
        begin = np.arange(max(0, count - size + 1))
        # Only the outermost characters may be marks, and not all of them.
        within = inner[begin + size - 1] == inner[begin + 1] if size > 1 else letters[begin]
        some = inner[begin + size] - inner[begin] < size
        begin = begin[within & some]
        found[begin, column] = _bucket(sums, inverses, begin, begin + size, buckets)
    begin = np.flatnonzero(~letters[:-1] & letters[1:])
    end = np.flatnonzero(letters[:-1] & ~letters[1:]) + 2
    longer = end - begin > max(sizes, default=0)
    begin, end = begin[longer], end[longer]
    found[begin, -1] = _bucket(sums, inverses, begin, end, buckets)
    return found


def _bucket(
    sums: NDArray[np.uint64],
    inverses: NDArray[np.uint64],
    begin: Ids,
    end: Ids,
    buckets: int,
) -> Ids:
    hashes = (sums[end] - sums[begin]) * inverses[begin]
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(_MIX)
    hashes ^= hashes >> np.uint64(29)
    return (hashes % np.uint64(buckets - 1)).astype(np.int64) + 1


@lru_cache(maxsize=32)
def _powers(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the powers of the base and of its inverse, modulo 2^64."""
    powers = np.full(count, _BASE, dtype=np.uint64)
    inverses = np.full(count, pow(_BASE, -1, 1 << 64), dtype=np.uint64)
    powers[0] = inverses[0] = 1
    return np.cumprod(powers), np.cumprod(inverses)


@cache
def _categories() -> NDArray[np.int8]:
    """Return the class of each character: 1 a letter, 2 a mark on one, 0 anything else.

    Beyond the table there are only rare ideographs; they count as its last entry.
    """
    kinds = {"L": _LETTER, "M": _MARK}
    each = (kinds.get(unicodedata.category(chr(code))[0], 0) for code in range(_TABLE - 1))
    return np.array([*each, _LETTER], dtype=np.int8)


def _runs(inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and last index of each run of true values."""
    edges = np.flatnonzero(np.diff(inside.astype(np.int8), prepend=0, append=0))
    return [(int(first), int(end) - 1) for first, end in zip(edges[::2], edges[1::2], strict=True)]
