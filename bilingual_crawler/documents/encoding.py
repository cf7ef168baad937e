"""From bytes to plain text: decodes pages, by their declared encoding and by their bytes.

Declarations are often wrong in one of two recognisable ways: text that is valid UTF-8 is UTF-8
whatever it is called, and text that is not valid UTF-8 may be called so. In the second case, and if
nothing is declared, the usual encoding of the page's language is used, as in browsers; a page in
none of the wanted languages may be decoded wrongly.

The text is then cleaned: it has one kind of space, no invisible characters, and composed letters
(NFC). Typographic spaces differ between the languages of a page (French sets a narrow no-break
space before a colon) and between two copies of one text; nothing later should see that.
"""

import codecs
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
)

from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.languages.normal_forms import normalize

DEFAULT = "cp1252"
MOST_REPAIRS = 10_000

_ESCAPED = frozenset(("iso2022_jp", "hz"))  # all ASCII, so also valid UTF-8
_ENCODINGS = frozenset(
    (
        *("utf-8", "cp866", "cp874", "mac-roman", "koi8-r", "koi8-u", *_ESCAPED),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso8859-{part}" for part in (*range(2, 9), 10, 13, 14, 15, 16)),
        *("gb18030", "big5hkscs", "euc_jp", "cp932", "cp949"),
    )
)
_USUAL_LATIN = {
    **dict.fromkeys(("ces", "hrv", "slk", "bos", "ron", "sqi"), ("cp1250",)),
    **dict.fromkeys(("hun", "pol", "slv"), ("iso8859-2",)),
    **dict.fromkeys(("est", "lav", "lit"), ("cp1257",)),
    **dict.fromkeys(("tur", "aze", "kur"), ("cp1254",)),
    "vie": ("cp1258",),
    "mlt": ("iso8859-3",),
}
_USUAL_OTHER = {
    **dict.fromkeys(("bel", "bul", "kaz", "kir", "mkd", "mon", "rus", "srp"), ("cp1251",)),
    **dict.fromkeys(("tat", "tgk", "ukr"), ("cp1251",)),
    **dict.fromkeys(("ara", "fas", "urd"), ("cp1256",)),
    "ell": ("iso8859-7",),
    "heb": ("cp1255",),
    "tha": ("cp874",),
    "jpn": ("euc_jp", "cp932"),
    "kor": ("cp949",),
    "zho": ("gb18030",),
}
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r"))
_HIGH = bytes(range(0x80, 0x100))
_HIGH_RUN = re.compile(rb"[\x80-\xff]{3,}")
_LANG = re.compile(rb"<html\b[^>]{0,500}?\slang\s*=\s*[\"']?([A-Za-z_-]{2,20})", re.IGNORECASE)

_CONTROL_CODES = (*range(0x20), *range(0x7F, 0xA0))
_NONCHARACTERS = (
    *range(0xFDD0, 0xFDF0),
    *(plane + end for plane in range(0, 0x110000, 0x10000) for end in (0xFFFE, 0xFFFF)),
)
_WIDTHLESS = (
    0x00AD,  # soft hyphen
    0x2060,  # word joiner
    0xFEFF,  # zero width no-break space, also a byte order mark gone astray
    0xFFFC,  # object replacement
)
_TABLE: dict[int, str | None] = {
    **dict.fromkeys((*_CONTROL_CODES, *range(0xD800, 0xE000), *_NONCHARACTERS, *_WIDTHLESS)),
    0x200B: " ",  # zero width space: a boundary of words that does not show
}
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")


class Decoded(NamedTuple):
    """The bytes of a page as UTF-8, without control characters."""

    utf8: bytes
    encoding: str
    declared: str | None


def decode(body: bytes, content_type: str = "", languages: Iterable[str] = ()) -> Decoded:
    """Decode the bytes of a page; `languages` are the tags or codes of its likely languages."""
    declared = _declared(body, content_type)
    encoding, mark = read_bom(body)
    if encoding is None:
        encoding = _real(body, declared, languages)
    elif mark is not None:
        body = body[len(mark) :]
    if encoding != "utf-8" or not _is_utf8(body):
        body = _text(body, encoding).encode("utf-8", "replace")
    return Decoded(body.translate(None, _CONTROLS), encoding, declared[0] if declared else None)


def _declared(body: bytes, content_type: str) -> list[str]:
    """Return the encodings that the header and then the page declare, if they are known."""
    names = []
    with suppress(ValueError, LookupError):
        names.append(http_content_type_encoding(content_type))
    with suppress(ValueError, LookupError):
        names.append(html_body_declared_encoding(body))
    return [name for name in names if name and (name in _ENCODINGS or name.startswith("utf-"))]


def _real(body: bytes, declared: list[str], languages: Iterable[str]) -> str:
    """Return the encoding whose text makes sense."""
    legacy = [name for name in declared if not name.startswith("utf-")]
    wide = _wide(body)
    if wide:
        return wide
    for name in legacy:
        if name in _ESCAPED and (b"\x1b" in body or b"~{" in body):
            return name
    if body.isascii():
        return legacy[0] if legacy else "utf-8"
    if _is_utf8(body) or _is_nearly_utf8(body):
        return "utf-8"
    candidates = legacy or _usual(body, languages)
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda name: _text(body, name).count("\ufffd"))


def _wide(body: bytes) -> str:
    """Detect UTF-16 without a byte order mark, by the zeros between its letters."""
    start = body[:256]
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) * 4 < len(start) or not start:
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_nearly_utf8(body: bytes) -> bool:
    """Return True if the non-ASCII bytes are UTF-8, apart from a few in another encoding."""
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = len(text) - bad - len(body.translate(None, _HIGH))
    return good >= 2 * bad


def _usual(body: bytes, languages: Iterable[str]) -> list[str]:
    """Return the usual encodings for the languages of a page and for the script of its bytes.

    Non-ASCII letters are isolated in Latin script and come in runs in all others.
    """
    runs = sum(map(len, _HIGH_RUN.findall(body)))
    other = 2 * runs > len(body) - len(body.translate(None, _HIGH))
    usual = _USUAL_OTHER if other else _USUAL_LATIN
    for tag in (*(found.decode() for found in _LANG.findall(body[:2000])), *languages):
        language = language_of_tag(tag)
        if language is not None and language.code in usual:
            return list(usual[language.code])
        if language is not None and not other:
            return [DEFAULT]
    return [DEFAULT]


def _text(body: bytes, encoding: str) -> str:
    if encoding == "utf-8":
        strays = body.decode("utf-8", "replace").count("\ufffd")
        return body.decode("utf-8", _STRAYS if strays <= MOST_REPAIRS else "replace")
    return body.decode(encoding, "replace")


def _read_strays(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode(DEFAULT, "replace"), error.end


_STRAYS = "bilingual_crawler_strays"
codecs.register_error(_STRAYS, _read_strays)


def clean(text: str) -> str:
    """Return a text as a reader would type it.

    Everything that `str.split` takes for white space becomes one plain space, which covers
    no-break, narrow no-break, three-per-em and their kind. Joiners that spell words (in
    Persian, Hindi or emoji) stay. Of marks in a row the first 30 stay.
    """
    text = " ".join(text.split())
    if not text.isprintable():
        text = " ".join(text.translate(_TABLE).split())
    return normalize("NFC", text)


def split_paragraphs(text: str, *, lines: bool = False) -> list[str]:
    """Return the paragraphs of a text without markup, which are separated by blank lines.

    With `lines` each line is a paragraph: many programs write texts without blank lines.
    """
    parts = text.splitlines() if lines else _BLANK_LINE.split(text)
    return [paragraph for paragraph in map(clean, parts) if paragraph]
