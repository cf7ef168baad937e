"""Read translated phrases out of software packages: catalogues, tables of names, dictionaries.

A reader takes the files of one package (path to content) and yields `Phrase`s as they are there;
`clean` makes plain words of them or rejects them. Files that cannot be read are skipped: a package
holds thousands of files, and not every one is what its name says.
"""

import html
import io
import json
import re
import struct
import subprocess
import tarfile
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from bilingual_crawler.languages import all_languages, language_of_tag

MOST_WORDS = 8
LONGEST = 80  # characters; and
LONGEST_UNSPACED = 24  # of a phrase without spaces, such as a Japanese or a Thai one
LARGEST_FILE = 60_000_000

_PROPERTY = re.compile(r"^([\w.-]+)\s*=[ \t]*(.+)$", re.MULTILINE)

Files = Mapping[str, bytes]
Texts = dict[tuple[str, ...], str]


class Phrase(NamedTuple):
    """An English phrase and its translation into a language (an ISO 639-3 code)."""

    language: str
    english: str
    translation: str


_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_ACCELERATOR = re.compile(r"\s*\([&_~]\w\)|&(?=\w)|~|(?<![^\W_])_(?=\w)|(?<=\w)_(?=\w)")
_BRACKETED = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]")  # noqa: RUF001 - as they are written
_PLACEHOLDER = (
    r"(?:%\(\w+\)[sdif]|%\d*\$?[-\d.]*l?[sdifucn]\b|%\d+|%[A-Z]\b|\$\{?\w+\}?|\{\{?[^{}]*\}?\})"
)
_AT_THE_EDGE = re.compile(rf"^\W*{_PLACEHOLDER}|{_PLACEHOLDER}\W*$")
_IDENTIFIER = re.compile(r"[a-z0-9]+_[a-z0-9]+")
_EDGES = re.compile(r"^[\W_]+|[^\w\u0300-\u036f\u0900-\u0dff\u0e00-\u109f\u1780-\u17ff]+$")
# Soft hyphens, marks of direction, and the stress and vowel marks of dictionaries alone.
_UNWRITTEN = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
    "|(?<=[\u0400-\u04ff])[\u0300\u0301]|[\u0591-\u05bd\u05c1\u05c2\u064b-\u0652\u0640]"
)
_CODE = re.compile(
    r"[\\(){}<>=@#$%^*|_`\[\]\x00-\x1f\ufffd]|//|www\.|^/|\w[.,]\w|\w::?\w|[a-z][A-Z][a-z]|--"
)


@lru_cache(1 << 18)
def clean(text: str) -> str | None:
    """Return a phrase as plain words; None if it is code, a sentence or not words at all.

    Markup, accelerator keys, remarks in brackets, surrounding punctuation, and placeholders before
    or after the phrase are removed; a phrase with a placeholder inside is rejected.
    """
    if len(text) > 2 * LONGEST or "\n" in text:
        return None
    if not text.replace(" ", "").isalpha():
        text = html.unescape(_TAG.sub(" ", text))
        if text.count("_") > 1 or _IDENTIFIER.fullmatch(text):
            return None
        text = _BRACKETED.sub(" ", _AT_THE_EDGE.sub(" ", _ACCELERATOR.sub("", text)))
        text = _EDGES.sub("", " ".join(text.split()))
    text = _UNWRITTEN.sub("", unicodedata.normalize("NFC", text)).replace("\u2019", "'").strip()
    words = text.count(" ") + 1
    longest = LONGEST if text.isascii() or words > 1 else LONGEST_UNSPACED
    if not 0 < len(text) <= longest or words > MOST_WORDS or _CODE.search(text):
        return None
    letters = sum(map(str.isalpha, text))
    return text if letters * 3 > len(text) and (letters > 1 or not text.isascii()) else None


def cleaned(phrase: Phrase) -> Phrase | None:
    """Return a phrase with both sides clean; None if one is not, or if both are the same."""
    english, translation = clean(phrase.english), clean(phrase.translation)
    if not english or not translation or not english.isascii():
        return None
    if english.casefold() == translation.casefold():
        return None
    return Phrase(phrase.language, english, translation)


def unpacked(archive: Path, wanted: re.Pattern[str]) -> dict[str, bytes]:
    """Return the files of a package whose paths match."""
    if archive.suffix == ".deb":
        command = ("dpkg-deb", "--fsys-tarfile", str(archive))
        tar = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout  # noqa: S603 - our own command
        return _untarred(io.BytesIO(tar), wanted)
    content = io.BytesIO(archive.read_bytes())
    return _untarred(content, wanted) if archive.suffix == ".tgz" else _unzipped(content, wanted)


def _untarred(content: io.BytesIO, wanted: re.Pattern[str]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=content) as tar:
        for member in tar:
            if member.size <= LARGEST_FILE and wanted.search(member.name) and member.isreg():
                file = tar.extractfile(member)
                files[member.name] = file.read() if file else b""
    return files


def _unzipped(content: io.BytesIO, wanted: re.Pattern[str]) -> dict[str, bytes]:
    with zipfile.ZipFile(content) as archive:
        return {
            info.filename: archive.read(info)
            for info in archive.infolist()
            if info.file_size <= LARGEST_FILE and wanted.search(info.filename)
        }


@cache
def language_code(tag: str) -> str | None:
    """Return the ISO 639-3 code of a locale such as "pt_BR" or "sr@latin", or None.

    Only languages of the table count: `css` and `min` are languages too, but not in a path.
    """
    if not re.fullmatch(r"[a-zA-Z]{2,3}([-_@.][A-Za-z0-9-]+)*", tag):
        return None
    language = language_of_tag(re.split("[@.]", tag)[0])
    return language.code if language in all_languages() else None


_LOCALE_AT_END = re.compile(r"(?:^|[-_.])([a-z]{2,3}(?:[-_](?:[A-Z]{2}|[A-Z][a-z]{3}|\d{3}))?)$")


def localised(path: str) -> tuple[str, str] | None:
    """Return the locale in a path, and the path without it, equal for all translations of a file.

    If a path names several, the file name counts first, then its folders from the innermost
    outwards; the folder above `LC_MESSAGES` always names one.
    """
    *folders, name = PurePosixPath(path).parts
    stem, suffix = name.partition(".")[::2] if name.count(".") == 1 else name.rsplit(".", 1)
    if "LC_MESSAGES" in folders:
        place = folders.index("LC_MESSAGES") - 1
        return folders[place], "/".join((*folders[:place], "*", *folders[place + 1 :], name))
    end = _LOCALE_AT_END.search(stem)
    if end and language_code(end[1]):
        return end[1], "/".join((*folders, f"{stem[: end.start(1)]}*.{suffix}"))
    for place in reversed(range(len(folders))):
        if language_code(folders[place]):
            return folders[place], "/".join((*folders[:place], "*", *folders[place + 1 :], name))
    return None


def catalogues(files: Files) -> Iterator[Phrase]:
    """Yield the phrases of gettext catalogues, `.mo` and `.po`.

    Where the messages are keys instead of English, the English is in a comment or in the English
    catalogue.
    """
    english: dict[str, Texts] = defaultdict(dict)
    others = []
    for path, content in files.items():
        place = localised(path) if path.endswith((".mo", ".po")) else None
        if not place or (path.endswith(".po") and not _is_needed(path, files)):
            continue
        code = language_code(place[0])
        if code == "eng":
            english[place[1]].update(((key,), text) for key, _, text in _messages(path, content))
        elif code:
            others.append((code, place[1], path, content))
    for code, group, path, content in others:
        for key, source, text in _messages(path, content):
            yield Phrase(code, english[group].get((key,)) or source, text)


def _is_needed(path: str, files: Files) -> bool:
    """Return True if a `.po` has no `.mo`, which is quicker to read, or has the English of keys."""
    return path[:-3] + ".mo" not in files or b'\n#. Default: "' in files[path]


def _messages(path: str, content: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield the key, the English and the translation of every message of a catalogue."""
    try:
        catalogue = (read_po if path.endswith(".po") else read_mo)(io.BytesIO(content))
    except (ValueError, LookupError, OSError, TypeError, AttributeError, struct.error):
        return
    for message in catalogue:
        if not message.id or message.fuzzy:
            continue
        keys = message.id if isinstance(message.id, list | tuple) else (message.id,)
        texts = message.string if isinstance(message.string, list | tuple) else (message.string,)
        default = re.search('^Default: "(.+)"$', " ".join(message.auto_comments))
        for key, text in {(keys[0], texts[0]), (keys[-1], texts[-1])}:
            if key and text:
                yield key, default[1] if default else key, text


def tables(files: Files) -> Iterator[Phrase]:
    """Yield the phrases of key-value files that exist in English and in other languages."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for path in files:
        if path.endswith(tuple(_KEYED)) and (place := localised(path)):
            groups[place[1]][place[0].replace("_", "-").lower()] = path
    for group in groups.values():
        source = next((group[tag] for tag in ("en", "en-us", "en-gb") if tag in group), None)
        if not source:
            continue
        english = _texts(source, files)
        for tag, path in group.items():
            code = language_code(tag)
            if not code or code == "eng":
                continue
            for key, text in _texts(path, files).items():
                if key in english:
                    yield Phrase(code, english[key], text)


def _texts(path: str, files: Files) -> Texts:
    """Return the texts of a file by key; the name of the locale among the keys is ignored."""
    place = localised(path)
    try:
        texts = _KEYED[PurePosixPath(path).suffix](files[path].decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return {
        tuple(part for part in key if not place or part != place[0]): text
        for key, text in texts.items()
    }


def _json_texts(text: str) -> Texts:
    return dict(_leaves(json.loads(text), ()))


def _leaves(value: Any, key: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts in JSON by key; of lists, whose order may differ, only single ones."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in {"identity", "@metadata"}:
                yield from _leaves(inner, (*key, name))
    elif isinstance(value, list) and len(value) == 1:
        yield from _leaves(value[0], key)


def _property_texts(text: str) -> Texts:
    return {(key,): value for key, value in _PROPERTY.findall(text)}


_KEYED = {
    ".json": _json_texts,
    ".properties": _property_texts,
}
