"""The search index of a crawl folder: one SQLite file that can be rebuilt at any time.

It holds the sentence pairs with a full-text index, the document pairs with their evidence, and
the place of each document in its file. Only `Indexer` writes to it; readers see the last commit
and never wait.

The files of a crawl are read while they are still being written, from any place on. A crawl appends
to them, one gzip member per checkpoint; other programs write one long member. A line or member that
is not complete yet is left for the next time.
"""

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol
from urllib.parse import quote

from bilingual_crawler.documents.serialise import key_of
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.input_files import MAX_LINE
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, pair_id
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.web.search.query import TOKENIZER, index_columns

CHUNK = 1 << 18
TOO_LONG = b"\n"
"""What a line is replaced with that would take too much memory: it cannot be read either."""
GZIP = 31
"""zlib's code for a stream with a gzip header."""

INDEX = "search.sqlite"
FORMAT = 3
MAPPED_BYTES = 1 << 30

SCHEMA = {
    "sources": """
CREATE TABLE sources (
    name TEXT PRIMARY KEY, offset INTEGER NOT NULL, line INTEGER NOT NULL, read INTEGER NOT NULL,
    digest BLOB NOT NULL, bad INTEGER NOT NULL
) WITHOUT ROWID;
""",
    "pairs": """
CREATE TABLE pairs (
    id INTEGER PRIMARY KEY, pair TEXT NOT NULL UNIQUE,
    url1 TEXT NOT NULL, url2 TEXT NOT NULL,
    lang1 TEXT NOT NULL, lang2 TEXT NOT NULL, site TEXT NOT NULL,
    score REAL NOT NULL, evidence TEXT NOT NULL,
    UNIQUE (url1, lang1, lang2), UNIQUE (url2, lang1, lang2)
);
CREATE INDEX pairs_by_site ON pairs (site);
""",
    "documents": """
CREATE TABLE documents (
    url TEXT PRIMARY KEY, language TEXT NOT NULL, title TEXT NOT NULL,
    offset INTEGER NOT NULL, line INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX documents_by_language ON documents (language);
""",
    "sentences": f"""
CREATE TABLE aligned (
    id INTEGER PRIMARY KEY, pair TEXT NOT NULL UNIQUE, url1 TEXT NOT NULL, url2 TEXT NOT NULL,
    lang1 TEXT NOT NULL, lang2 TEXT NOT NULL
);
CREATE TABLE sentences (
    id INTEGER PRIMARY KEY, aligned INTEGER NOT NULL, at INTEGER NOT NULL,
    text1 TEXT NOT NULL, text2 TEXT NOT NULL,
    beads TEXT NOT NULL, kind TEXT NOT NULL, score REAL NOT NULL, dropped TEXT NOT NULL
);
CREATE UNIQUE INDEX sentences_by_place ON sentences (aligned, at);
CREATE INDEX sentences_dropped ON sentences (id) WHERE dropped != '';
CREATE VIRTUAL TABLE words USING fts5(
    text1, text2, chars1, chars2, content='', prefix='2 3', tokenize="{TOKENIZER}"
);
""",
}
"""The tables of each part of the index; a part is rebuilt when its file was replaced."""

INSERT_PAIR = (
    "INSERT OR REPLACE INTO pairs (pair, url1, url2, lang1, lang2, site, score, evidence)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
TABLES = {
    "pairs": ("pairs",),
    "documents": ("documents",),
    "sentences": ("aligned", "sentences", "words"),
}


class LinePlace(NamedTuple):
    """The place of a line: the offset of its gzip member (or of itself), and its number there."""

    offset: int = 0
    line: int = 0


class IndexedLine(NamedTuple):
    """A complete line, its place, and the place of the next one."""

    text: bytes
    at: LinePlace
    after: LinePlace


class DamagedFileError(Exception):
    """A file that is not what its name promises; the message says where."""


def lines_from(file: BinaryIO, path: Path, start: LinePlace) -> Iterator[IndexedLine]:
    """Yield every complete line from `start` on."""
    return gzip_lines(file, start) if path.suffix == ".gz" else plain_lines(file, start)


def plain_lines(file: BinaryIO, start: LinePlace) -> Iterator[IndexedLine]:
    """Yield every complete line of an uncompressed file."""
    offset = file.seek(start.offset)
    length = 0
    while text := file.readline(MAX_LINE):
        length += len(text)
        if text.endswith(b"\n"):
            after = offset + length
            is_whole = length == len(text)
            yield IndexedLine(text if is_whole else TOO_LONG, LinePlace(offset), LinePlace(after))
            offset, length = after, 0


def gzip_lines(file: BinaryIO, start: LinePlace) -> Iterator[IndexedLine]:
    """Yield every complete line of a compressed file, even if its last member is incomplete."""
    member, number, rest = start.offset, 0, b""
    at = LinePlace(member, 0)
    for begins, data in _members(file, start.offset):
        if begins != member:
            member, number = begins, 0
            if not rest:
                at = LinePlace(member, 0)
        *complete, last = data.split(b"\n")
        for text in complete:
            after = LinePlace(member, number + 1)
            if at >= start:
                is_whole = len(rest) + len(text) < MAX_LINE
                yield IndexedLine(rest + text + b"\n" if is_whole else TOO_LONG, at, after)
            at, rest, number = after, b"", number + 1
        rest += last[: MAX_LINE - len(rest)]


def line_blocks(file: BinaryIO, longest: int) -> Iterator[bytes]:
    """Yield all complete lines of a compressed file, many at a time.

    Lines that are longer than `longest` by more than a piece of data are empty.
    """
    rest = b""
    for _, data in _members(file, 0):
        end = data.rfind(b"\n") + 1
        if end:
            is_whole = len(rest) <= longest
            yield rest + data[:end] if is_whole else data[data.index(b"\n") : end]
            rest = b""
        rest = (rest + data[end:])[: longest + 1]


def _members(file: BinaryIO, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of unpacked data, each with the offset of its member."""
    file.seek(offset)
    begins, read = offset, offset
    unpacker = zlib.decompressobj(GZIP)
    waiting = b""
    while True:
        packed = waiting or file.read(CHUNK)
        if not packed:
            return
        read += 0 if waiting else len(packed)
        waiting = b""
        try:
            data = unpacker.decompress(packed, CHUNK * 4)
        except zlib.error as error:
            raise DamagedFileError(
                f"it is not readable as gzip from byte {begins:,} on ({error})"
            ) from None
        yield begins, data
        if unpacker.eof:
            waiting = unpacker.unused_data
            begins = read - len(waiting)
            unpacker = zlib.decompressobj(GZIP)
        else:
            waiting = unpacker.unconsumed_tail


def line_at(path: Path, place: LinePlace) -> bytes | None:
    """Return the line at a place; None if the file has changed."""
    try:
        with path.open("rb") as file:
            found = next(lines_from(file, path, place), None)
    except (OSError, DamagedFileError):
        return None
    return found.text if found is not None and found.at == place else None


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open the index; start an empty one if it is missing, damaged or of another version."""
    try:
        return _open_to_write(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
            raise
    remove(path)
    return _open_to_write(path)


def _open_to_write(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, FORMAT):
            connection.close()
            remove(path)
            return _open_to_write(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -64000")
        if version == 0:
            statements = "".join(SCHEMA.values())
            connection.executescript(f"BEGIN; {statements} PRAGMA user_version = {FORMAT}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def remove(path: Path) -> None:
    """Delete the index; it will be rebuilt."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def clear(connection: sqlite3.Connection, part: str) -> None:
    """Empty a part of the index, inside the transaction that fills it again."""
    for table in TABLES[part]:
        connection.execute(f"DROP TABLE {table}")
    for statement in SCHEMA[part].split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("DELETE FROM sources WHERE name = ?", (part,))


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the index for reading; all queries see the same state."""
    address = f"file:{quote(str(path))}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only = 1")
        connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()


class IndexPart(Protocol):
    """A part of the index, and the file it is built from."""

    name: str
    file: str

    def insert(self, connection: sqlite3.Connection, lines: Sequence[IndexedLine]) -> int:
        """Index the lines. Return how many could not be read."""


class Pairs:
    """Document pairs; a later pair of a page in two languages replaces the earlier one."""

    name = "pairs"
    file = PAIRS

    def insert(self, connection: sqlite3.Connection, lines: Sequence[IndexedLine]) -> int:
        """Index the lines. Return how many could not be read."""
        rows, bad = [], 0
        for line in lines:
            try:
                found = _record(line.text)
                url1, url2 = str(found["url1"]), str(found["url2"])
                languages = str(found["lang1"]), str(found["lang2"])
                evidence = json.dumps(list(found["evidence"]), ensure_ascii=False)
                score = float(found["score"])
            except (ValueError, KeyError, TypeError):
                bad += 1
                continue
            site = site_of(host_of(url1))
            rows.append((pair_id(url1, url2), url1, url2, *languages, site, score, evidence))
        connection.executemany(INSERT_PAIR, rows)
        return bad


class Documents:
    """The place of each document in its file, and its title."""

    name = "documents"
    file = DOCUMENTS

    def insert(self, connection: sqlite3.Connection, lines: Sequence[IndexedLine]) -> int:
        """Index the lines. Return how many could not be read."""
        rows, bad = [], 0
        for line in lines:
            try:
                found = _record(line.text)
                url, title = key_of(found), str(found.get("title") or "")
            except (ValueError, KeyError, TypeError):
                bad += 1
                continue
            rows.append((url, str(found.get("language") or ""), title, *line.at))
        connection.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", rows)
        return bad


class Sentences:
    """Sentence pairs, and the full-text index of both sides."""

    name = "sentences"
    file = SENTENCES

    def insert(self, connection: sqlite3.Connection, lines: Sequence[IndexedLine]) -> int:
        """Index the lines. Return how many could not be read.

        A pair that is there already (because the alignment was repeated) is left unchanged:
        rows cannot be removed from the full-text index.
        """
        read = [self._read(line.text) for line in lines]
        good = [each for each in read if each is not None]
        self._note_documents(connection, good)
        known = self._known_documents(connection, good)
        (last,) = connection.execute("SELECT COALESCE(MAX(id), 0) FROM sentences").fetchone()
        rows: list[tuple[Any, ...]] = []
        words: list[tuple[Any, ...]] = []
        here: set[tuple[int, int]] = set()
        for each in good:
            place = (known[each.pair], each.at)
            if place in here or self._is_there(connection, place):
                continue
            here.add(place)
            last += 1
            (text1, chars1), (text2, chars2) = (
                index_columns(each.text1),
                index_columns(each.text2),
            )
            facts = (each.beads, each.kind, each.score, each.dropped)
            rows.append((last, *place, each.text1, each.text2, *facts))
            words.append((last, text1, text2, chars1, chars2))
        connection.executemany("INSERT INTO sentences VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.executemany(
            "INSERT INTO words (rowid, text1, text2, chars1, chars2) VALUES (?, ?, ?, ?, ?)", words
        )
        return len(read) - len(good)

    def _read(self, text: bytes) -> SentencePair | None:
        try:
            pair = SentencePair.from_dict(_record(text))
        except (ValueError, TypeError):
            return None
        texts = (pair.pair, pair.url1, pair.url2, pair.lang1, pair.lang2, pair.text1, pair.text2)
        rest = (pair.beads, pair.kind, pair.dropped)
        numbers = isinstance(pair.at, int) and isinstance(pair.score, (int, float))
        return pair if numbers and all(isinstance(each, str) for each in texts + rest) else None

    def _note_documents(
        self, connection: sqlite3.Connection, pairs: Sequence[SentencePair]
    ) -> None:
        documents = {each.pair: each for each in pairs}
        connection.executemany(
            "INSERT OR IGNORE INTO aligned (pair, url1, url2, lang1, lang2) VALUES (?, ?, ?, ?, ?)",
            [
                (each.pair, each.url1, each.url2, each.lang1, each.lang2)
                for each in documents.values()
            ],
        )

    def _known_documents(
        self, connection: sqlite3.Connection, pairs: Sequence[SentencePair]
    ) -> dict[str, int]:
        ask = "SELECT id FROM aligned WHERE pair = ?"
        names = dict.fromkeys(each.pair for each in pairs)
        return {name: connection.execute(ask, (name,)).fetchone()[0] for name in names}

    def _is_there(self, connection: sqlite3.Connection, place: tuple[int, int]) -> bool:
        ask = "SELECT 1 FROM sentences WHERE aligned = ? AND at = ?"
        return connection.execute(ask, place).fetchone() is not None


PARTS: tuple[IndexPart, ...] = (Pairs(), Sentences(), Documents())


def _record(line: bytes) -> dict[str, Any]:
    """Parse a line of JSON; unpaired surrogates, which cannot be stored, become question marks."""
    text = line.decode("utf-8", "replace")
    found = json.loads(text)
    if "\\ud" in text.lower():
        found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    if not isinstance(found, dict):
        raise TypeError("a line is an object")
    return found
