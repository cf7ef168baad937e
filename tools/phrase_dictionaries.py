"""Readers of bilingual dictionaries with English on one side, like those in `phrase_readers`."""

import gzip
import json
import re
from collections.abc import Iterator

from tools.phrase_readers import Files, Phrase, language_code

_HEADWORD_END = re.compile(r"\s*(?:/.*|<.*)$")
_SENSE = re.compile(r"^\s*\d+\.\s+")
_TO = re.compile(r"^\s*(?:\([^()]*\)\s*)*to ")
_ASIDE = re.compile(r"^\s*(?:\(|Note:|Synonym|see:|$)")


def dictionaries(files: Files) -> Iterator[Phrase]:
    """Yield the words of dictd dictionaries named `*-xxx-yyy`, one side of which is English."""
    for path, content in files.items():
        name = re.search(r"-([a-z]{3})-([a-z]{3})\.dict\.dz$", path)
        index = files.get(path.removesuffix("dict.dz") + "index")
        if not name or not index or "eng" not in name.groups():
            continue
        code = language_code(name[1] if name[2] == "eng" else name[2])
        if not code:
            continue
        for word, meaning in _entries(gzip.decompress(content), index):
            english, other = (meaning, word) if name[2] == "eng" else (word, meaning)
            yield Phrase(code, _TO.sub("", english), other)


def _entries(text: bytes, index: bytes) -> Iterator[tuple[str, str]]:
    places = {tuple(line.split("\t")[-2:]) for line in index.decode(errors="replace").splitlines()}
    for start, length in sorted(places):
        if start and length:
            begin = _number(start)
            entry = text[begin : begin + _number(length)].decode(errors="replace").splitlines()
            if not entry or entry[0].startswith("00-database"):
                continue
            words = _HEADWORD_END.sub("", entry[0]).split(", ")
            for meaning in _meanings(entry[1:]):
                yield from ((word, meaning) for word in words)


def _meanings(lines: list[str]) -> Iterator[str]:
    """Yield the translations of an entry, without the explanations below them."""
    senses = [line for line in lines if _SENSE.match(line)]
    senses = senses or [line for line in lines if not _ASIDE.match(line)][:1]
    for sense in senses:
        yield from re.split(r"\s*[,;、]\s+", _SENSE.sub("", sense))


_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _number(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value * 64 + _DIGITS.find(digit)
    return value


def japanese_english(files: Files) -> Iterator[Phrase]:
    """Yield the words of EDICT, with "word [reading] /(part of speech) meaning/..." per line."""
    for path, content in files.items():
        if path.endswith("/edict"):
            for line in content.decode("euc-jp", errors="replace").splitlines():
                word, *meanings = line.split("/")
                for meaning in meanings:
                    if not meaning.startswith("Ent"):
                        yield Phrase("jpn", _TO.sub("", meaning), word.split(" ")[0])


def chinese_english(files: Files) -> Iterator[Phrase]:
    """Yield the words of CC-CEDICT, in characters and in Latin letters as in URLs."""
    for path, content in files.items():
        if path.endswith("data/all.js"):
            text = content.decode(errors="replace")
            words = json.loads(text[text.index("{") : text.rindex("}") + 1])["all"]
            for traditional, simplified, pinyin, meanings, *_ in words:
                latin = re.sub(r"[\d ]", "", pinyin.replace("u:", "u")).lower()
                for meaning in re.split("[;/]", " ".join(_strings(meanings))):
                    for word in {traditional, simplified, latin}:
                        yield Phrase("zho", _TO.sub("", meaning), word)


def _strings(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else [f"{text};" for text in value]
