"""Collections in memory that the journal keeps, each in a table of its own.

They are read once, when they are made; every change is part of the next checkpoint. For a part
of the crawl that is more than a collection, see `JournalSource`.
"""

from collections.abc import Callable, ItemsView, Iterable
from typing import Any, Generic, TypeVar

from bilingual_crawler.store.journal import Journal, Statement

K = TypeVar("K")
V = TypeVar("V")


class JournaledSet:
    """A set of texts that only grows. `schema` creates the table, which has one column."""

    def __init__(self, journal: Journal, table: str, schema: str) -> None:
        journal.define(schema)
        self._table = table
        self._items = {str(item) for (item,) in journal.read(f"SELECT * FROM {table}")}  # noqa: S608
        self._new: list[str] = []
        journal.attach(self)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def add(self, item: str) -> None:
        """Add an item, if it is new."""
        if item not in self._items:
            self._items.add(item)
            self._new.append(item)

    def changes(self) -> Iterable[Statement]:
        """Return the new items, for the journal."""
        new, self._new = self._new, []
        return [(_insert(self._table, 1), [(item,) for item in new])]


class JournaledDict(Generic[K, V]):
    """A dictionary without deletion. `schema` creates the table, whose first column is the key.

    `encode` turns a value into its other columns, `decode` turns these into the value. The journal
    may come from someone else, so `key` and `decode` make sure of the types.
    """

    def __init__(
        self,
        journal: Journal,
        table: str,
        schema: str,
        *,
        key: Callable[[Any], K],
        encode: Callable[[V], tuple[Any, ...]] = lambda value: (value,),
        decode: Callable[..., V],
    ) -> None:
        journal.define(schema)
        self._table = table
        self._encode = encode
        rows = journal.read(f"SELECT * FROM {table}")  # noqa: S608 - our own word
        self._values: dict[K, V] = {key(first): decode(*rest) for first, *rest in rows}
        self._changed: set[K] = set()
        journal.attach(self)

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        return self._values.get(key)

    def items(self) -> ItemsView[K, V]:
        """Return all keys with their values."""
        return self._values.items()

    def __setitem__(self, key: K, value: V) -> None:
        if self._values.get(key) != value:
            self._values[key] = value
            self._changed.add(key)

    def changes(self) -> Iterable[Statement]:
        """Return the changed items, for the journal."""
        rows = [(key, *self._encode(self._values[key])) for key in self._changed]
        self._changed.clear()
        return [(_insert(self._table, len(rows[0])), rows)] if rows else []


class Facts:
    """Single values about the crawl, by name; the journal itself creates their table."""

    def __init__(self, journal: Journal) -> None:
        self._values = JournaledDict(journal, "facts", "", key=str, decode=str)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._values[name] = value

    def get(self, name: str, default: str = "") -> str:
        """Return a value, or `default` if there is none yet."""
        value = self._values.get(name)
        return default if value is None else value


class JournaledRows:
    """Rows on their way to the journal, of which nothing is kept in memory."""

    def __init__(self, journal: Journal) -> None:
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        journal.attach(self)

    def add(self, sql: str, *rows: tuple[Any, ...]) -> None:
        """Have `sql` executed with each of `rows` at the next checkpoint."""
        self._rows.setdefault(sql, []).extend(rows)

    def changes(self) -> Iterable[Statement]:
        """Return the rows since the last call, for the journal."""
        rows, self._rows = self._rows, {}
        return list(rows.items())


def _insert(table: str, columns: int) -> str:
    return f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608
