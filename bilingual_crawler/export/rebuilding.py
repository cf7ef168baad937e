"""A corpus made again from its stand-off form and the pages.

The pages are in WARC files or folders of crawls, or are fetched again.

The pages go through our own extraction, or come from documents.jsonl.gz. A text is looked for at
its position first, and then anywhere on its page; its hash says whether it is the same. What is
not found is counted and listed: the page has changed, or is not in the sources.

Pages come in any order and stand-off files may be large, so the texts that are wanted are in a
temporary SQLite database, by page.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from bilingual_crawler import __version__
from bilingual_crawler.alignment.documents import write_sentences
from bilingual_crawler.alignment.splitting import sentences
from bilingual_crawler.alignment.two_passes import UNSPACED
from bilingual_crawler.corpus.sources.inputs import documents_from
from bilingual_crawler.corpus.sources.reading import Alias, SourceReading
from bilingual_crawler.documents.document import Document, DocumentKey
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.source import Account, check
from bilingual_crawler.export.standoff import HASHES, KEPT, text_hash
from bilingual_crawler.export.whole_documents import page_segments
from bilingual_crawler.languages import (
    Language,
    LanguagePair,
    LanguageSet,
    ParallelLanguages,
    find_language,
)
from bilingual_crawler.languages.sets import LEAST_OF_SET, MOST_LANGUAGES
from bilingual_crawler.outcomes import outcome_sentence
from bilingual_crawler.store.durable import replacing_folder, text_file, write_about
from bilingual_crawler.store.folder import REPORT
from bilingual_crawler.store.input_files import Watch, read_json_lines
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair

DRIFT = "drift.tsv"
FORMAT = 1
_SCHEMA = """
CREATE TABLE rows (number INTEGER PRIMARY KEY, fields TEXT);
CREATE TABLE sides (
    url TEXT, number INTEGER, side INTEGER, paragraph INTEGER, sentence INTEGER, size INTEGER,
    hash TEXT, language TEXT, text TEXT, fate TEXT, PRIMARY KEY (number, side)
) WITHOUT ROWID;
"""
_LONGEST_BEAD = 20


class TextFate(StrEnum):
    """What became of a text since it was exported."""

    IN_PLACE = "in place"
    MOVED = "elsewhere on its page"
    CHANGED = "no longer on its page"
    MISSING = "on a page that is not in the sources"


@dataclass(slots=True)
class Rebuilt:
    """The result of rebuilding a corpus."""

    languages: ParallelLanguages
    account: Account = field(default_factory=Account)
    fates: Counter[TextFate] = field(default_factory=Counter)
    """Texts by what became of them."""
    pages: int = 0
    """Pages of the sources that the corpus needs."""
    missed: dict[str, str] = field(default_factory=dict)
    """Pages that could not be fetched, and why."""

    def lines(self, target: str) -> list[str]:
        """Return the result for a person."""
        lines = self.account.lines(target)
        lines.append(f"{self.fates.total():,} texts, by where they are now:")
        lines += [f"  {self.fates[fate]:,} {fate}" for fate in TextFate if self.fates[fate]]
        if self.missed:
            lines.append(f"{len(self.missed):,} pages could not be fetched:")
            for reason, count in Counter(self.missed.values()).most_common():
                lines.append(f"  {count:,} {reason}: {outcome_sentence(reason)}")
        return lines


Fetch = Callable[
    [list[str], ParallelLanguages, Callable[[str, Document], None], Callable[[str, str], None]],
    None,
]
"""Fetches addresses: calls the one function with each page, the other with why there is none."""


def rebuild(
    standoff: Path,
    sources: Iterable[str],
    target: Path,
    watch: Watch = lambda _share: None,
    fetch: Fetch | None = None,
) -> Rebuilt:
    """Make a folder with the sentence pairs of a stand-off file whose texts are in the sources.

    `fetch` gets the pages that are in none of them from elsewhere.
    """
    if not standoff.is_file():
        raise ConfigurationError(f"There is no file {standoff}: name one that --to standoff made.")
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.executescript(_SCHEMA)
        database.execute("BEGIN")
        account = Account()
        languages = _read_rows(standoff, database, account, watch)
        rebuilt = Rebuilt(languages, account)
        database.execute("CREATE INDEX of_page ON sides (url)")
        reading = SourceReading(languages)
        for source in sources:
            for found in documents_from(source, reading):
                if isinstance(found, Document):
                    rebuilt.pages += _take_page(database, found, languages)
                elif isinstance(found, Alias):
                    continue  # a pair names the address that answered
        if fetch is not None:
            _fetch_rest(database, rebuilt, fetch)
        _judge(database, rebuilt)
        with replacing_folder(target) as path:
            count = write_sentences(path / SENTENCES, _rebuilt_rows(database))
            account.written["sentence pairs"] += count
            _write_drift(database, path / DRIFT, rebuilt)
            _write_report(path / REPORT, rebuilt)
            write_about(path, {"format": "rebuilt", "made_by": f"bilingual-crawler {__version__}"})
    return rebuilt


def _fetch_rest(database: sqlite3.Connection, rebuilt: Rebuilt, fetch: Fetch) -> None:
    """Fetch the pages that no source had.

    A page that has moved is taken for the one at its old address: its texts say what they are.
    """
    wanted: dict[str, list[str]] = {}
    for (key,) in database.execute("SELECT DISTINCT url FROM sides WHERE fate IS NULL"):
        address = DocumentKey.parse(key).url
        if address.startswith(("http://", "https://")):
            wanted.setdefault(address, []).append(key)

    def arrived(asked: str, found: Document) -> None:
        found.url = asked
        rebuilt.pages += _take_page(database, found, rebuilt.languages)

    def missed(asked: str, reason: str) -> None:
        rebuilt.missed |= dict.fromkeys(wanted[asked], reason)

    fetch(list(wanted), rebuilt.languages, arrived, missed)


def _read_rows(
    file: Path, database: sqlite3.Connection, account: Account, watch: Watch
) -> ParallelLanguages:
    """Put the lines into the database; return their languages in the order they come in."""
    languages: dict[Language, None] = {}
    for number, (place, fields) in enumerate(read_json_lines(file, account.damage, watch)):
        try:
            row, sides = _sides_of(number, fields)
            both = LanguagePair(*map(find_language, (row.lang1, row.lang2)))
        except (KeyError, TypeError, ValueError):
            account.damage.add(place, "not a line of --to standoff")
            continue
        languages |= dict.fromkeys(both)
        told = json.dumps({name: getattr(row, name) for name in KEPT})
        database.execute("INSERT INTO rows VALUES (?, ?)", (number, told))
        database.executemany("INSERT INTO sides VALUES (?,?,?,?,?,?,?,?,NULL,NULL)", sides)
    if not languages:
        raise ConfigurationError(
            f"{file} has no sentence pair: name a file that scrapy export --to standoff made."
        )
    if len(languages) > MOST_LANGUAGES:
        return LanguageSet((), is_open=True)
    return LanguagePair(*languages) if len(languages) < LEAST_OF_SET else LanguageSet((*languages,))


def _sides_of(number: int, fields: dict[str, Any]) -> tuple[SentencePair, list[tuple[Any, ...]]]:
    """Return a line as a sentence pair without texts, and what to look for on both pages."""
    hashes = [fields.pop(name) for name in HASHES]
    row = SentencePair(text1="", text2="", **fields)
    check(row)
    sizes = list(map(int, row.beads.split("-")))
    if len(sizes) != len(HASHES) or not 0 < min(sizes) <= max(sizes) <= _LONGEST_BEAD:
        raise ValueError("not beads")
    if not all(isinstance(each, str) for each in hashes):
        raise TypeError("not a hash")
    sides = (
        (row.url1, row.paragraph1, row.sentence1, row.lang1),
        (row.url2, row.paragraph2, row.sentence2, row.lang2),
    )
    return row, [
        (url, number, side, paragraph, sentence, sizes[side - 1], hashes[side - 1], language)
        for side, (url, paragraph, sentence, language) in enumerate(sides, 1)
    ]


def _take_page(database: sqlite3.Connection, found: Document, languages: ParallelLanguages) -> int:
    """Look for the texts that should be on a page; return 1 if there are any."""
    parts = None if found.variant else split_mixed(found, languages)
    taken = 0
    for document in (found, *(parts or ())):
        wanted = database.execute(
            "SELECT number, side, paragraph, sentence, size, hash, language FROM sides"
            " WHERE url = ? AND text IS NULL",
            (document.key,),
        ).fetchall()
        if not wanted:
            continue
        taken = 1
        texts = _PageTexts(document)
        database.executemany(
            "UPDATE sides SET text = ?, fate = ? WHERE number = ? AND side = ?",
            [(*texts.find(*where), number, side) for number, side, *where in wanted],
        )
    return taken


class _PageTexts:
    """The texts of a page, to be found by position or by hash."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._segments, self._content = page_segments(document)
        self._at = {(each.paragraph, each.number): n for n, each in enumerate(self._segments)}
        self._by_hash: dict[tuple[int, str], dict[str, str]] = {}

    def find(
        self, paragraph: int, sentence: int, size: int, wanted: str, language: str
    ) -> tuple[str | None, TextFate]:
        """Return the text with a hash, and where it was found."""
        space = "" if language in UNSPACED else " "
        first = self._at.get((paragraph, sentence))
        if first is not None:
            text = self._text(first, size, space)
            if text_hash(text) == wanted:
                return text, TextFate.IN_PLACE
        key = size, space
        if key not in self._by_hash:
            texts = list(self._texts(size, space))
            self._by_hash[key] = {text_hash(text): text for text in texts}
        found = self._by_hash[key].get(wanted)
        if found is None:
            return None, TextFate.CHANGED
        return found, TextFate.MOVED if paragraph >= 0 else TextFate.IN_PLACE

    def _texts(self, size: int, space: str) -> Iterator[str]:
        """Yield every text of so many sentences, the title and the description."""
        yield self._document.title
        yield from sentences(self._document.description, self._document.language or "")
        for first in range(len(self._segments)):
            yield self._text(first, size, space)
        if size == 2:  # noqa: PLR2004 - a bead of two labels may have known ones in between
            around = self._segments[self._content :]
            for first, one in enumerate(around):
                for two in around[first + 2 : first + _LONGEST_BEAD]:
                    yield f"{one.text}{space}{two.text}"

    def _text(self, first: int, size: int, space: str) -> str:
        return space.join(each.text for each in self._segments[first : first + size])


def _judge(database: sqlite3.Connection, rebuilt: Rebuilt) -> None:
    """Count what became of the texts, and the pairs that lack one."""
    database.execute("UPDATE sides SET fate = ? WHERE fate IS NULL", (TextFate.MISSING,))
    for fate, count in database.execute("SELECT fate, count(*) FROM sides GROUP BY fate"):
        rebuilt.fates[TextFate(fate)] = count
    lacking = database.execute(
        "SELECT worst, count(*) FROM (SELECT max(CASE fate WHEN ? THEN 2 WHEN ? THEN 1 ELSE 0 END)"
        " AS worst FROM sides GROUP BY number) WHERE worst > 0 GROUP BY worst",
        (TextFate.MISSING, TextFate.CHANGED),
    )
    for worst, count in lacking:
        fate = TextFate.MISSING if worst > 1 else TextFate.CHANGED
        rebuilt.account.left_out[f"a text is {fate}"] = count


def _rebuilt_rows(database: sqlite3.Connection) -> Iterator[SentencePair]:
    found = database.execute(
        "SELECT fields, one.text, two.text FROM rows"
        " JOIN sides one ON one.number = rows.number AND one.side = 1 AND one.text IS NOT NULL"
        " JOIN sides two ON two.number = rows.number AND two.side = 2 AND two.text IS NOT NULL"
        " ORDER BY rows.number"
    )
    for fields, text1, text2 in found:
        yield SentencePair(**json.loads(fields), text1=text1, text2=text2)


def _write_drift(database: sqlite3.Connection, file: Path, rebuilt: Rebuilt) -> None:
    """List the pages from which a text is missing or has moved, with how many."""
    fates = (TextFate.MISSING, TextFate.CHANGED, TextFate.MOVED)
    with text_file(file) as lines:
        lines.write("url\ttexts\twhat\n")
        for url, count, fate in database.execute(
            "SELECT url, count(*), fate FROM sides WHERE fate IN (?, ?, ?)"
            " GROUP BY url, fate ORDER BY url, fate",
            fates,
        ):
            reason = rebuilt.missed.get(url)
            what = fate if reason is None else f"{fate} ({reason})"
            lines.write(f"{' '.join(url.split())}\t{count}\t{what}\n")


def _write_report(file: Path, rebuilt: Rebuilt) -> None:
    languages = rebuilt.languages
    report: dict[str, Any] = {
        "format": FORMAT,
        "langs": str(languages),
        "languages": [{"code": each.code, "name": each.name} for each in languages],
        "state": "finished",
        "stopped_by": "rebuild",
        "stopped_why": "The corpus was made again from its stand-off form.",
        "rebuild": rebuilt.account.to_dict()
        | {"texts": {str(fate): count for fate, count in rebuilt.fates.items()}}
        | {"pages_not_fetched": dict(Counter(rebuilt.missed.values()))},
    }
    with text_file(file) as text:
        json.dump(report, text, ensure_ascii=False, indent=2)
        text.write("\n")
