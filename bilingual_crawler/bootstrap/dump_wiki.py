"""An edition of Wikipedia read from its dump files, each of them a fixed number of times.

Files are found by name and read with their damage reported. The graph of categories goes into a
file of its own on disk, because walking it is random access; of the articles only those of the
topic are kept. So memory grows with the topic and not with the Wikipedia, and time with the files.

The tables are those of MediaWiki: `page`, `categorylinks` (with `cl_to`, the title of the category,
or since 1.45 with `cl_target_id`, a row of `linktarget`), `langlinks`, `externallinks` (with
`el_to`, or since 1.41 with `el_to_domain_index` and `el_to_path`) and, if present, `page_props`,
which marks hidden categories and disambiguation pages. Dumps without the table of external links
have them in the text of articles.
"""

import bz2
import re
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from lxml import etree

from bilingual_crawler.bootstrap.external_links import url_of_index
from bilingual_crawler.bootstrap.harvest import (
    Article,
    Membership,
    first_upper,
    wiki_code,
    with_spaces,
)
from bilingual_crawler.bootstrap.sql_dump import (
    PACKED_BADLY,
    BrokenOffError,
    DumpDamage,
    MissingColumnError,
    Value,
    column_names,
    rows,
)
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import Language
from bilingual_crawler.store.input_files import Content, unpacked

ENDINGS = ("", ".gz", ".bz2")
MOST_TOLD = 5

Watch = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and the total."""

_URL = re.compile(r"https?://(?:(?!'')[^\s\[\]<>\"{}|])+")
_TRAILING = ".,;:!?)"
MOST_LINKS = 500
"""The most links per article."""


@dataclass(slots=True)
class Damages:
    """What could not be read in the files, to be reported at the end."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Count a damage, and keep the first few in words."""
        self.count += 1
        if len(self.first) < MOST_TOLD:
            self.first.append(text)


class DumpFiles:
    """The files of one edition, such as `enwiki-20260101-page.sql.gz`."""

    def __init__(self, place: Path, wiki: str, damages: Damages, watch: Watch) -> None:
        self.place = place
        self.wiki = f"{wiki.replace('-', '_')}wiki"
        self._damages = damages
        self._watch = watch

    def find(self, table: str) -> Path | None:
        """Return the file of a table, the newest if there are several."""
        return self._newest([f"-{table}.sql{ending}" for ending in ENDINGS])

    def find_pages(self) -> Path | None:
        """Return the file with the text of all articles."""
        kinds = ("pages-articles.xml", "pages-articles-multistream.xml")
        return self._newest([f"-{kind}{ending}" for kind in kinds for ending in ENDINGS])

    def _newest(self, endings: Sequence[str]) -> Path | None:
        found = [
            file
            for file in self.place.iterdir()
            if file.name.startswith(f"{self.wiki}-") and file.name.endswith(tuple(endings))
        ]
        return max(found, key=lambda file: file.name, default=None)

    def need(self, table: str) -> Path:
        """Return the file of a table that is indispensable."""
        found = self.find(table)
        if found is None:
            raise ConfigurationError(
                f"{self.place} has no file {self.wiki}-DATE-{table}.sql.gz: "
                f"download it from https://dumps.wikimedia.org/{self.wiki}/, or ask the server: "
                "leave --wikipedia out."
            )
        return found

    def columns(self, table: str) -> list[str]:
        """Return the columns of a table."""
        with self.unpacked(self.need(table)) as stream:
            return column_names(stream)

    def rows(self, table: str, *columns: str) -> Iterator[tuple[Value, ...]]:
        """Yield the wanted columns of every readable row of a table.

        Where a file ends early or is damaged, that is counted and reported with its place.
        """
        file = self.need(table)

        def damaged(damage: DumpDamage) -> None:
            self._damages.add(
                f"{file} is damaged at byte {damage.byte:,} (unpacked), after row {damage.row:,}"
            )

        with self.unpacked(file) as stream:
            try:
                yield from rows(stream, columns, damaged)
            except MissingColumnError as error:
                has = f"it has {', '.join(error.found)}" if error.found else "it names no columns"
                raise ConfigurationError(
                    f"{file} is not MediaWiki's table {table}: {has}, but no {error.column}."
                ) from None
            except BrokenOffError as error:
                self._damages.add(f"{file} ends early, after row {error.row:,}: {error.__cause__}")

    @contextmanager
    def unpacked(self, file: Path) -> Iterator["Unpacked"]:
        """Open a file for reading, unpacked, with progress reports."""
        try:
            raw = file.open("rb")
        except OSError as error:
            raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
        with raw:
            size = file.stat().st_size
            with bz2.BZ2File(raw) if file.suffix == ".bz2" else unpacked(raw) as stream:
                yield Unpacked(stream, lambda: self._watch(file.name, raw.tell(), size))

    def damaged(self, text: str) -> None:
        """Count a damage that the caller found."""
        self._damages.add(text)


class Unpacked:
    """The bytes of a file, with every read reported."""

    def __init__(self, stream: Content | bz2.BZ2File, tell: Callable[[], None]) -> None:
        self._stream = stream
        self._tell = tell

    def read(self, size: int = -1, /) -> bytes:
        """Read up to `size` bytes."""
        self._tell()
        return self._stream.read(size)

    def read1(self, size: int = -1, /) -> bytes:
        """Read some bytes, at most `size`; none at the end."""
        self._tell()
        return self._stream.read1(size)


def links_in_text(wikitext: str) -> list[str]:
    """Return the web addresses in the source of an article, each once."""
    found = (match.rstrip(_TRAILING) for match in _URL.findall(wikitext))
    return list(dict.fromkeys(found))[:MOST_LINKS]


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Read up to `size` bytes."""


def article_links(stream: Readable, titles: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield title and links of the wanted articles, in the order of the file.

    Entities are not expanded and nothing is loaded from elsewhere. Elements are dropped as soon as
    they were read, so that a file of any size takes the memory of its longest article.
    """
    context = etree.iterparse(
        stream, events=("end",), tag="{*}page", resolve_entities=False, no_network=True,
        load_dtd=False, huge_tree=True,
    )  # fmt: skip
    page: Any
    for _, page in context:
        title = page.findtext("{*}title") or ""
        if page.findtext("{*}ns") == "0" and title in titles:
            yield title, links_in_text(page.findtext("{*}revision/{*}text") or "")
        page.clear()
        while (before := page.getprevious()) is not None:
            page.getparent().remove(before)


ARTICLES, CATEGORIES = b"0", b"14"
MOST_LIKE = 5
_SCHEMA = """
CREATE TABLE category (page INTEGER PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE target (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE edge (parent TEXT NOT NULL, child INTEGER NOT NULL);
CREATE TABLE hidden (page INTEGER PRIMARY KEY);
"""
_INDEXES = """
CREATE INDEX category_title ON category (title);
CREATE INDEX target_title ON target (title);
CREATE INDEX edge_parent ON edge (parent);
"""


class DumpWiki:
    """Answers from the dump files of one edition in a folder."""

    def __init__(self, files: DumpFiles, language: Language) -> None:
        self.language = language
        self.name = f"{files.place}/{files.wiki}"
        self._files = files
        self._folder = tempfile.TemporaryDirectory(prefix="bootstrap-")
        self._graph: sqlite3.Connection | None = None
        self._page_of: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._graph is not None:
            self._graph.close()
        self._folder.cleanup()

    def find_category(self, name: str) -> str | None:
        """Return the title of a category as the wiki writes it; None if it does not exist."""
        title = first_upper(with_spaces(name))
        found = self._read("SELECT title FROM category WHERE title = ?", title)
        return next(found, (None,))[0]

    def like(self, name: str) -> list[str]:
        """Return a few categories with similar titles."""
        from rapidfuzz import process  # noqa: PLC0415 - only a mistake pays for its import

        titles = (title for (title,) in self._read("SELECT title FROM category"))
        best = process.extract(first_upper(name), titles, limit=MOST_LIKE, score_cutoff=70)
        return [title for title, _, _ in best]

    def subcategories(self, categories: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield category and subcategory, for all subcategories of some categories."""
        for category in categories:
            found = self._read(
                "SELECT DISTINCT category.title FROM edge JOIN category ON page = child"
                " WHERE parent = ? AND child NOT IN (SELECT page FROM hidden)"
                " ORDER BY category.title",
                self._key(category),
            )
            yield from ((category, title) for (title,) in found)

    def members(self, categories: Collection[str]) -> Iterator[Membership]:
        """Yield the articles in some categories, once per category."""
        wanted = {self._key(title): title for title in categories}
        found: dict[int, list[str]] = {}
        for page, kind, key in self._category_links():
            if kind == b"page" and (category := wanted.get(self._readable(key))):
                found.setdefault(_number(page), []).append(category)
        for page, space, title, redirect in self._pages():
            if space == ARTICLES and redirect != b"1" and (number := _number(page)) in found:
                article = _title(title)
                self._page_of[article] = number
                yield from (Membership(category, article) for category in found[number])

    def articles(self, titles: Collection[str], other: Language | None) -> Iterator[Article]:
        """Yield the articles with these titles; with translations, if `other` is a language."""
        self._find_pages(titles)
        articles = {
            self._page_of[title]: Article(title) for title in titles if title in self._page_of
        }
        if other is not None:
            code = wiki_code(other).encode()
            for page, language, title in self._files.rows(
                "langlinks", "ll_from", "ll_lang", "ll_title"
            ):
                if language == code and (article := articles.get(_number(page))):
                    article.translation = _title(title)
        self._add_links(articles)
        for page, name in self._properties():
            if name == b"disambiguation" and (article := articles.get(_number(page))):
                article.is_disambiguation = True
        yield from articles.values()

    def _add_links(self, articles: dict[int, Article]) -> None:
        """Add external links from their table, or else from the text of the articles."""
        if self._files.find("externallinks") is None and (file := self._files.find_pages()):
            self._add_links_of_text(articles, file)
            return
        split = "el_to_path" in self._files.columns("externallinks")
        columns = ("el_to_domain_index", "el_to_path") if split else ("el_to", "el_to")
        for page, start, rest in self._files.rows("externallinks", "el_from", *columns):
            if article := articles.get(_number(page)):
                first = _text(start)
                article.links.append(url_of_index(first, _text(rest)) if split else first)

    def _add_links_of_text(self, articles: dict[int, Article], file: Path) -> None:
        by_title = {article.title: article for article in articles.values()}
        with self._files.unpacked(file) as stream:
            try:
                for title, links in article_links(stream, by_title.keys()):
                    by_title[title].links.extend(links)
            except (etree.XMLSyntaxError, *PACKED_BADLY) as error:
                self._files.damaged(f"{file} ends early: {error}")

    def _find_pages(self, titles: Collection[str]) -> None:
        """Find the ids of pages of which only the titles are known."""
        missing = {title for title in titles if title not in self._page_of}
        if not missing:
            return
        for page, space, raw, _ in self._pages():
            if space == ARTICLES and (title := _title(raw)) in missing:
                self._page_of[title] = _number(page)

    def _pages(self) -> Iterator[tuple[Value, ...]]:
        columns = ("page_id", "page_namespace", "page_title", "page_is_redirect")
        return self._files.rows("page", *columns)

    def _category_links(self) -> Iterator[tuple[Value, ...]]:
        columns = ("cl_from", "cl_type", "cl_target_id|cl_to")
        return self._files.rows("categorylinks", *columns)

    def _properties(self) -> Iterator[tuple[Value, ...]]:
        if self._files.find("page_props") is None:
            return iter(())
        return self._files.rows("page_props", "pp_page", "pp_propname")

    def _key(self, title: str) -> str:
        """Return how links refer to a category: by its title, or the id of its target."""
        found = self._read("SELECT id FROM target WHERE title = ?", title)
        return str(next(found, (title,))[0])

    def _readable(self, key: Value) -> str:
        return _text(key) if self._by_number else _title(key)

    def _read(self, sql: str, *values: object) -> Iterator[tuple[str]]:
        if self._graph is None:
            self._graph = self._build()
        return iter(self._graph.execute(sql, values).fetchall())

    def _build(self) -> sqlite3.Connection:
        """Write the graph of categories to a file: their titles, and which is below which."""
        graph = sqlite3.connect(Path(self._folder.name) / "graph.sqlite", isolation_level=None)
        graph.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        graph.execute("BEGIN")
        self._by_number = "cl_target_id" in self._files.columns("categorylinks")
        titles = (
            (_number(page), _title(title))
            for page, space, title, _ in self._pages()
            if space == CATEGORIES
        )
        graph.executemany("INSERT OR IGNORE INTO category VALUES (?, ?)", titles)
        if self._by_number:
            targets = (
                (_number(target), _title(title))
                for target, space, title in self._files.rows(
                    "linktarget", "lt_id", "lt_namespace", "lt_title"
                )
                if space == CATEGORIES
            )
            graph.executemany("INSERT OR IGNORE INTO target VALUES (?, ?)", targets)
        links = (
            (self._readable(key), _number(page))
            for page, kind, key in self._category_links()
            if kind == b"subcat"
        )
        graph.executemany("INSERT INTO edge VALUES (?, ?)", links)
        hidden = ((_number(page),) for page, name in self._properties() if name == b"hiddencat")
        graph.executemany("INSERT OR IGNORE INTO hidden VALUES (?)", hidden)
        graph.execute("COMMIT")
        graph.executescript(_INDEXES)
        return graph


def _text(value: Value) -> str:
    return (value or b"").decode("utf-8", "replace")


def _title(value: Value) -> str:
    return with_spaces(_text(value))


def _number(value: Value) -> int:
    """Return a number in a row; -1, which no page has, for anything else."""
    return int(value) if value is not None and value.isdigit() else -1
