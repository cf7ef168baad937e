"""How lines of the files of a crawl become rows of the index."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Protocol

from bilingual_crawler.documents.serialise import key_of
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, pair_id
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.web.search.folding import index_columns
from bilingual_crawler.web.search.lines import IndexedLine

INSERT_PAIR = (
    "INSERT OR REPLACE INTO pairs (pair, url1, url2, lang1, lang2, site, score, evidence)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class IndexPart(Protocol):
    """A part of the index and the file it is made of."""

    name: str
    file: str

    def insert(self, connection: sqlite3.Connection, lines: Sequence[IndexedLine]) -> int:
        """Index the lines; how many could not be read is told."""


class Pairs:
    """Document pairs; a later pair of the same page replaces the earlier one."""

    name = "pairs"
    file = PAIRS

    def insert(self, connection: sqlite3.Connection, lines: Sequence[IndexedLine]) -> int:
        """Index the lines; how many could not be read is told."""
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
    """Where each document stands, and its title."""

    name = "documents"
    file = DOCUMENTS

    def insert(self, connection: sqlite3.Connection, lines: Sequence[IndexedLine]) -> int:
        """Index the lines; how many could not be read is told."""
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
    """Sentence pairs and the full-text index of both sides."""

    name = "sentences"
    file = SENTENCES

    def insert(self, connection: sqlite3.Connection, lines: Sequence[IndexedLine]) -> int:
        """Index the lines; how many could not be read is told.

        A pair that is there already (an alignment that was made again) is left as it was:
        the full-text index has no way back.
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
    """A line of JSON; half a surrogate pair, which no file can hold, becomes a question mark."""
    text = line.decode("utf-8", "replace")
    found = json.loads(text)
    if "\\ud" in text.lower():
        found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    if not isinstance(found, dict):
        raise TypeError("a line is an object")
    return found
