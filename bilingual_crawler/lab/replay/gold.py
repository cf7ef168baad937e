"""Gold pairs, which are known to be true: from a list, or from what the site itself claims."""

import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bilingual_crawler.corpus.sources.inputs import file_url
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay.curve import Pair
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import ParallelLanguages, language_code
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.store.input_files import open_unpacked
from bilingual_crawler.store.warc_reader import OK
from bilingual_crawler.urls.resolver import UrlResolver

ALTERNATES = "alternates"
"""What to write instead of a file name for the site's own hreflang."""
ENDING = ".gold.tsv"
COPIES = ".also.tsv"
"""The ending of a list of copies beside it: two URLs per line, the copy and the page it copies."""
LARGEST = 100_000_000
"""Bytes of a list, unpacked."""
_URLS, _WITH_LANGUAGES = 2, 4


class GoldLine(NamedTuple):
    """Two URLs that are translations; languages are ISO 639-3, "" where none are given."""

    first: str
    second: str
    languages: tuple[str, str] = ("", "")


def read_gold(path: Path) -> list[GoldLine]:
    """Read a list with two URLs per line, or two URLs and two languages, separated by tabs.

    Paths of existing files stand for their `file:` URLs.
    """
    lines = []
    for text in _text(path).splitlines():
        fields = [field.strip() for field in text.split("\t")]
        if len(fields) not in {_URLS, _WITH_LANGUAGES}:
            continue
        first, second = map(_url, fields[:2])
        if first is None or second is None:
            continue
        codes = [language_code(field) or field.lower() for field in fields[2:]] or ["", ""]
        lines.append(GoldLine(first, second, (codes[0], codes[1])))
    if not lines:
        raise ConfigurationError(
            f"{path} has no gold pair in it: write two URLs per line with a tab between,"
            " and after them, if you like, their two languages."
        )
    return lines


def read_copies(path: Path) -> list[Pair]:
    """Read the list of copies beside a gold list, if there is one: each copy and its original."""
    beside = path.with_name(path.name.removesuffix(ENDING) + COPIES)
    if not path.name.endswith(ENDING) or not beside.exists():
        return []
    rows = (text.split("\t") for text in _text(beside).splitlines())
    urls = (tuple(_url(field.strip()) for field in row[:_URLS]) for row in rows)
    return [(each[0], each[1]) for each in urls if len(each) == _URLS and each[0] and each[1]]


def largest_pairs(lines: Iterable[GoldLine]) -> list[str]:
    """Return the language pairs of a list, the one with most lines first."""
    counts = Counter("-".join(sorted(line.languages)) for line in lines if all(line.languages))
    return sorted(counts, key=lambda langs: (-counts[langs], langs))


def of_languages(lines: Iterable[GoldLine], languages: ParallelLanguages) -> list[Pair]:
    """Return the pairs of two of the languages; lines without languages always count."""
    chosen = (
        line
        for line in lines
        if not any(line.languages)
        or (len(set(line.languages)) > 1 and all(map(languages.__contains__, line.languages)))
    )
    return list(dict.fromkeys((line.first, line.second) for line in chosen))


def claimed_pairs(site: RecordedSite, pair: ParallelLanguages) -> list[Pair]:
    """Return the pages that name each other as translations and are in the right languages."""
    matcher = Matcher(pair, ["alternates"])
    for source, target in site.recording.aliases():
        matcher.alias(source, target)
    for url in site.recording.pages:
        answer = site.answer(url)
        if answer is None or answer.status != OK:
            continue
        document = site.document(url, answer)
        if document.language is None or document.language not in pair:
            continue
        alternates = tuple(
            (each.url, each.language) for each in document.alternates if each.language
        )
        names = (document.canonical,) if document.canonical else ()
        matcher.add(PairingPage(url, document.language, alternates, names))
    return [(found.first, found.second) for found in matcher.pairs]


def _url(text: str) -> str | None:
    if "://" not in text:
        return file_url(Path(text)) if text and Path(text).is_file() else None
    return UrlResolver(text).resolve(text)


def _text(path: Path) -> str:
    try:
        with open_unpacked(path) as packed:
            content = packed.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"The gold list {path} cannot be read: {reason}.") from error
    if len(content) > LARGEST:
        raise ConfigurationError(f"The gold list {path} has more than {LARGEST:,} bytes, unpacked.")
    return content.decode("utf-8-sig", "replace")
