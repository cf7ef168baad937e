"""Builds the index of the concordance: a DuckDB file with sentence pairs, postings and words.

It reads `sentences.jsonl.gz` with the search's tolerant reader, hands it to DuckDB in large pieces
of JSON, and does everything that costs per word in SQL. SQLite's full-text index takes three times
as long, and neither it nor tantivy counts collocations (docs/experiments/benchmarks.md).

An index is never changed. It is built beside the current one and replaces it when it is complete.
"""

import json
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bilingual_crawler.store.durable import put_in_place
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.urls.hosts import site_of
from bilingual_crawler.web.concordance.word_forms import (
    LONGEST_WORD,
    MOST_STEMMED,
    FormMaker,
    is_unspaced_in_sql,
    words_in_sql,
)
from bilingual_crawler.web.search.index import DamagedFileError, line_blocks
from bilingual_crawler.web.search.query import fold

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PIECE, PIECE_BYTES = "piece", 1 << 27
"""The file in which JSON is handed over, and its size."""
LONGEST_LINE = 1 << 20
LONGEST_TEXT = 20_000
"""Characters of a sentence; longer ones are left out, as are lines that cannot be read."""
MEMORY, THREADS = "500MB", 2
TEMPORARY = "concordance-new-"
"""The beginning of the names of folders in which an index is built."""

FIELDS = {
    "pair": "VARCHAR", "at": "INTEGER", "url1": "VARCHAR", "url2": "VARCHAR",
    "lang1": "VARCHAR", "lang2": "VARCHAR", "text1": "VARCHAR", "text2": "VARCHAR",
    "kind": "VARCHAR", "score": "FLOAT", "dropped": "VARCHAR", "fetched1": "VARCHAR",
}  # fmt: skip

SCHEMA = """
CREATE TABLE info (name VARCHAR, value VARCHAR);
CREATE TABLE found_documents (
    doc INTEGER, pair VARCHAR, url1 VARCHAR, url2 VARCHAR, lang1 VARCHAR, lang2 VARCHAR,
    host VARCHAR, day DATE
);
CREATE TABLE sentences (
    id INTEGER, doc INTEGER, place INTEGER, text1 VARCHAR, text2 VARCHAR, kind VARCHAR, score FLOAT
);
CREATE TABLE postings1 (wid BIGINT, id INTEGER, place SMALLINT);
CREATE TABLE postings2 (wid BIGINT, id INTEGER, place SMALLINT);
CREATE TEMP TABLE counts1 (wid BIGINT, word VARCHAR, number BIGINT);
CREATE TEMP TABLE counts2 (wid BIGINT, word VARCHAR, number BIGINT);
"""
READ = """
CREATE OR REPLACE TEMP TABLE piece AS
SELECT * REPLACE (COALESCE(score, 1) AS score, COALESCE(kind, '') AS kind),
    {before} + row_number() OVER () AS id
FROM read_json(?, format = 'newline_delimited', columns = {columns}, ignore_errors = true,
    maximum_object_size = {longest})
WHERE text1 IS NOT NULL AND text2 IS NOT NULL AND pair IS NOT NULL AND "at" IS NOT NULL
    AND url1 IS NOT NULL AND url2 IS NOT NULL AND lang1 IS NOT NULL AND lang2 IS NOT NULL
    AND length(text1) <= {text} AND length(text2) <= {text}
"""
ADD_DOCUMENTS = r"""
INSERT INTO found_documents
SELECT (SELECT COALESCE(MAX(doc), 0) FROM found_documents) + row_number() OVER (ORDER BY first),
    pair, url1, url2, lang1, lang2,
    lower(regexp_extract(url1, '^https?://(?:[^/?#]*@)?([^/?#:]+)', 1)),
    TRY_CAST(left(fetched1, 10) AS DATE)
FROM (
    SELECT pair, min(id) AS first, any_value(url1) AS url1, any_value(url2) AS url2,
        any_value(lang1) AS lang1, any_value(lang2) AS lang2, max(fetched1) AS fetched1
    FROM piece GROUP BY pair
) WHERE pair NOT IN (SELECT pair FROM found_documents)
"""
ADD_SENTENCES = """
INSERT INTO sentences
SELECT p.id, d.doc, p."at", p.text1, p.text2, p.kind, p.score
FROM piece p JOIN found_documents d ON d.pair = p.pair
"""
TOKENS = """
CREATE OR REPLACE TEMP TABLE tokens AS SELECT id, {words} AS found FROM piece
"""
WORD_NUMBER = "(hash(word) >> 1)::BIGINT"
"""The number of a word, known at once; the odds that any two of ten million share one are 5e-6."""
ADD_POSTINGS = f"""
INSERT INTO postings{{side}}
SELECT {WORD_NUMBER}, id, place FROM (
    SELECT id, unnest(found) AS word, generate_subscripts(found, 1)::SMALLINT AS place FROM tokens
) ORDER BY ALL
"""
"""The postings of a piece are sorted, those of the whole are not: a word is looked up in some forty
places instead of one, which takes less time than the page, and the great sort is saved."""
NEW_COUNTS = f"""
CREATE OR REPLACE TEMP TABLE new_counts AS
SELECT {WORD_NUMBER} AS wid, any_value(word) AS word, count(*) AS number
FROM (SELECT unnest(found) AS word FROM tokens) GROUP BY hash(word)
"""
ANY_UNSPACED = f"SELECT 1 FROM new_counts WHERE {is_unspaced_in_sql('word')} LIMIT 1"
COUNTS = """
CREATE OR REPLACE TEMP TABLE counts AS
SELECT wid, any_value(word) AS word, sum(number)::BIGINT AS number
FROM counts{side} GROUP BY wid ORDER BY 3 DESC, 2
"""
WORDS = f"""
CREATE TABLE words{{side}} AS
SELECT *, (sum(sentences) OVER (PARTITION BY stem))::BIGINT AS stem_sentences
FROM (
    SELECT c.wid, left(c.word, {LONGEST_WORD}) AS word, c.number, n.sentences,
        left(COALESCE(f.plain, c.word), {LONGEST_WORD}) AS plain,
        left(COALESCE(f.lemma, c.word), {LONGEST_WORD}) AS lemma,
        left(COALESCE(f.stem, c.word), {LONGEST_WORD}) AS stem
    FROM counts c LEFT JOIN forms f USING (word) JOIN (
        SELECT wid, count(*) FILTER (before IS DISTINCT FROM place_of) AS sentences
        FROM (
            SELECT wid, place_of, lag(place_of) OVER () AS before
            FROM (SELECT wid, xor(wid, id::BIGINT << 31) AS place_of FROM postings{{side}})
        ) GROUP BY 1
    ) n USING (wid)
) ORDER BY number DESC, word
"""
SITES = """
CREATE TABLE documents AS
SELECT d.* EXCLUDE (host), COALESCE(h.site, d.host) AS site
FROM found_documents d LEFT JOIN hosts h USING (host) ORDER BY doc;
DROP TABLE found_documents;
"""


SOME_WORDS = f"SELECT word, row_number() OVER () <= {MOST_STEMMED} FROM counts"
FORMS = ("word", "plain", "lemma", "stem")
ROWS = 10_000
READ_SHARE = 0.5


class StoppedError(Exception):
    """The building was stopped before it was complete."""


Report = Callable[[float], None]
Settings = dict[str, str | bool | int | float | list[str]]
"""Of DuckDB."""


@dataclass(slots=True)
class ConcordanceBuilder:
    """Builds one index; another thread can stop it at any time."""

    folder: Path
    report: Report
    """Called with the share that is done, from 0 to 1."""
    bad: int = 0
    """Lines that could not be read."""
    lines: int = 0
    """Lines that were read."""
    problem: str = ""
    """Why the file could not be read to its end."""
    _unspaced: set[str] = field(default_factory=set)
    """The sides that have text in scripts without spaces."""
    _connection: "DuckDBPyConnection | None" = None
    _stop: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """End the building as soon as possible."""
        self._stop.set()
        if self._connection is not None:
            self._connection.interrupt()

    def build(self, target: Path) -> None:
        """Build an index from the sentence pairs of the folder, and put it at `target`."""
        import duckdb  # noqa: PLC0415 - an extra

        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=self.folder) as made:
            place = Path(made)
            new = place / target.name
            settings: Settings = {
                "memory_limit": MEMORY,
                "threads": THREADS,
                "temp_directory": made,
            }
            self._connection = duckdb.connect(new, config=settings)
            try:
                self._fill(self._connection, place)
            except duckdb.Error:
                if self._stop.is_set():
                    raise StoppedError from None
                raise
            finally:
                self._connection.close()
            put_in_place(new, target, durable=False)  # it can be built again

    def _fill(self, connection: "DuckDBPyConnection", place: Path) -> None:
        connection.execute(SCHEMA)
        source = self.folder / SENTENCES
        size = max(1, source.stat().st_size)
        with source.open("rb") as file:
            lines = self._lines(file)
            while number := _write_piece(lines, place / PIECE):
                self._add(connection, place / PIECE, number)
                self._say(READ_SHARE * file.tell() / size)
        self._add_sites(connection, place)
        for side, share in (("1", 0.6), ("2", 0.8)):
            connection.execute(COUNTS.format(side=side))
            self._say(share)
            self._add_forms(connection, place, side)
            connection.execute(WORDS.format(side=side))
            self._say(share + 0.15)
        connection.execute("INSERT INTO info VALUES ('bad', ?)", (str(self.bad),))
        connection.execute("CHECKPOINT")

    def _lines(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield all complete lines before a damaged place."""
        try:
            yield from line_blocks(file, LONGEST_LINE)
        except DamagedFileError as error:
            self.problem = f"{SENTENCES} is damaged: {error}"

    def _say(self, share: float) -> None:
        if self._stop.is_set():
            raise StoppedError
        self.report(share)

    def _add(self, connection: "DuckDBPyConnection", piece: Path, lines: int) -> None:
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in FIELDS.items())
        read = READ.format(
            before=self.lines, columns=f"{{{columns}}}", longest=LONGEST_LINE, text=LONGEST_TEXT
        )
        connection.execute(read, (str(piece),))
        (good,) = connection.execute("SELECT count(*) FROM piece").fetchone() or (0,)
        self.bad += lines - good
        connection.execute("DELETE FROM piece WHERE dropped <> ''")
        connection.execute(ADD_DOCUMENTS)
        connection.execute(ADD_SENTENCES)
        for side in "12":
            self._split(connection, side)
            connection.execute(ADD_POSTINGS.format(side=side))
            connection.execute(f"INSERT INTO counts{side} FROM new_counts")
        self.lines += lines

    def _split(self, connection: "DuckDBPyConnection", side: str) -> None:
        """Split the texts of a side into words, and count these.

        Whether a script has no spaces is asked of the words, which are fewer than the texts.
        """
        is_spaced = side not in self._unspaced
        words = words_in_sql(f"text{side}", all_spaced=is_spaced)
        connection.execute(TOKENS.format(words=words))
        connection.execute(NEW_COUNTS)
        if is_spaced and connection.execute(ANY_UNSPACED).fetchone() is not None:
            self._unspaced.add(side)
            self._split(connection, side)

    def _add_sites(self, connection: "DuckDBPyConnection", place: Path) -> None:
        hosts = connection.execute("SELECT DISTINCT host FROM found_documents").fetchall()
        rows = ({"host": host, "site": site_of(host)} for (host,) in hosts if host)
        _load(connection, place, "hosts", ("host", "site"), rows)
        connection.execute(SITES)
        connection.execute("DROP TABLE hosts")

    def _add_forms(self, connection: "DuckDBPyConnection", place: Path, side: str) -> None:
        language = main_language(connection, side)
        maker = FormMaker(language)
        connection.execute(
            "INSERT INTO info VALUES (?, ?), (?, ?), (?, ?)",
            (f"language{side}", language, f"lemmas{side}", str(int(maker.has_lemmas)),
             f"stems{side}", str(int(maker.has_stems))),
        )  # fmt: skip
        _load(connection, place, "forms", FORMS, _forms(connection, maker))


def _write_piece(blocks: Iterator[bytes], piece: Path) -> int:
    """Write the next lines to a file. Return how many there were."""
    number = size = 0
    with piece.open("wb") as out:
        for block in blocks:
            out.write(block)
            number += block.count(b"\n")
            size += len(block)
            if size >= PIECE_BYTES:
                break
    return number


def main_language(connection: "DuckDBPyConnection", side: str) -> str:
    """Return the code of the language that most documents of a side have."""
    row = connection.execute(
        f"SELECT lang{side} FROM documents GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
    ).fetchone()
    return str(row[0]) if row else ""


def _forms(connection: "DuckDBPyConnection", maker: FormMaker) -> Iterator[dict[str, str | None]]:
    """Yield the forms of all words that need some."""
    found = connection.execute(SOME_WORDS)
    while rows := found.fetchmany(ROWS):
        for word, is_frequent in rows:
            if is_frequent:
                yield {"word": word, **maker.forms(word)._asdict()}
            else:
                plain, lemma = fold(word), maker.lemma(word)
                if plain != word or lemma != word:
                    yield {"word": word, "plain": plain, "lemma": lemma}


def _load(
    connection: "DuckDBPyConnection",
    place: Path,
    table: str,
    columns: Iterable[str],
    rows: Iterable[Mapping[str, str | None]],
) -> None:
    """Make a table of text columns: DuckDB reads a file much faster than it takes values."""
    file = place / "rows"
    with file.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")
    kinds = ", ".join(f"'{name}': 'VARCHAR'" for name in columns)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT *"
        f" FROM read_json(?, format = 'newline_delimited', columns = {{{kinds}}})",
        (str(file),),
    )
