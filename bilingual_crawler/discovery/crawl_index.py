"""Sites with text in two languages, from a columnar index of Common Crawl.

The index is a table in Parquet files with a row per capture (cc-index-table). DuckDB reads the few
columns that are needed, in two passes: the first counts pages per site and language, the second
takes the URLs of the most promising sites, until no other site can have more pairs than those.
Their paths are compared as in Common Crawl's own query for translated paths, which follows Resnik
and Smith (2003), but with all language tokens that pairing knows.

Of a large site only a sample is compared. It is drawn by the last part of the path, so that
translations with equal names are drawn together.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.urls.language_tokens import url_key

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_URLS = 2_000
"""URLs of a site that are compared."""
CANDIDATES = 10
"""Sites whose URLs are compared, for each one that is wanted."""
REST_SHARE = 0.1
"""Pairs to be expected per page without a partner by its path, in the rarer language. A guess: it
keeps sites with translated addresses in the list, below those whose paths pair."""
REQUIRED = ("url", "content_languages", "fetch_status")
SITE_COLUMNS = ("url_host_private_domain", "url_host_registered_domain", "url_host_name")
REMOTE = ("s3://", "s3a://", "gs://", "http://", "https://")
_LONGEST_URL = 4_000
_USABLE = re.compile(r"https?://[^\s\x00-\x1f\x7f-\x9f]+")
"""A URL that can stand in a list of seeds, which has one per line."""


@dataclass(slots=True)
class IndexedSite:
    """A site of the index: its pages, and those that pair by their paths."""

    site: str
    pages: tuple[int, int]
    """Pages in each of the two languages."""
    step: int = 1
    """One in so many pages was compared."""
    matched: int = 0
    """Pairs of compared pages whose paths differ only in language tokens."""
    patterns: Counter[str] = field(default_factory=Counter)
    """How the paths of pairs differ, such as "es/eu"."""
    home: str = ""

    @property
    def path_pairs(self) -> int:
        """The pairs by path in the whole site, estimated from its sample."""
        return min(self.matched * self.step, *self.pages)

    @property
    def expected(self) -> float:
        """The pairs that can be expected of the site."""
        return self.path_pairs + REST_SHARE * (min(self.pages) - self.path_pairs)

    def to_dict(self, pair: LanguagePair) -> dict[str, Any]:
        """Return it for a line of JSON."""
        return {
            "site": self.site,
            "home": self.home,
            "expected_pairs": round(self.expected, 1),
            "path_pairs": self.path_pairs,
            "patterns": dict(self.patterns.most_common(3)),
            "languages": dict(zip(pair.codes, self.pages, strict=True)),
        }

    def seed_line(self, pair: LanguagePair) -> str:
        """Return it as a line of a list of seeds."""
        counts = [f"{self.path_pairs:,} pairs by path"] if self.matched else []
        counts += [f"{self.patterns.most_common(1)[0][0]}"] if self.patterns else []
        counts += [f"{n:,} pages in {code}" for code, n in zip(pair.codes, self.pages, strict=True)]
        return f"{self.home}  # {', '.join(counts)}"


class CrawlIndex:
    """An index in Parquet files: a file, a folder with the files below it, or a remote address."""

    def __init__(self, source: str, threads: int | None = None) -> None:
        self._connection = _connect(source, threads)
        self._source = _files_of(source)
        self._columns = self._read_columns()

    def sites(
        self, pair: LanguagePair, limit: int, left_out: Collection[str] = ()
    ) -> list[IndexedSite]:
        """Return the sites with most pairs to be expected, the best first."""
        import duckdb  # noqa: PLC0415 - an extra

        try:
            return self._sites(pair, limit, left_out)
        except duckdb.Error as error:
            raise ConfigurationError(
                f"The index is damaged, or has columns of other types: {_first_line(error)}."
            ) from None

    def _sites(
        self, pair: LanguagePair, limit: int, left_out: Collection[str]
    ) -> list[IndexedSite]:
        found = [
            site
            for site in self._candidates(pair, CANDIDATES * limit + len(left_out))
            if site.site not in left_out
        ]
        tokens = tuple(language.tokens for language in pair)
        best: list[float] = []
        for place, pages in groupby(self._urls(pair, found), itemgetter(0)):
            site = found[place]
            if len(best) == limit and best[0] > min(site.pages):
                break  # no site from here on can have as many pairs
            paths = _SeenPaths(tokens)
            for _, url, code in pages:
                paths.add(url, pair.codes.index(code))
            site.home, site.matched, site.patterns = paths.home, len(paths.pairs), paths.patterns
            (heappush if len(best) < limit else heappushpop)(best, site.expected)
        ranked = sorted(found, key=lambda site: (-site.expected, site.site))
        return [site for site in ranked if site.home][:limit]

    def rows(self) -> int:
        """Return the number of captures in the index."""
        found = self._connection.execute(f"SELECT count(*) FROM {_TABLE}", [self._source])  # noqa: S608 - our own text
        return int(found.fetchall()[0][0])

    def _read_columns(self) -> frozenset[str]:
        import duckdb  # noqa: PLC0415 - an extra

        try:
            found = self._connection.execute(
                f"DESCRIBE SELECT * FROM {_TABLE}",  # noqa: S608 - our own text
                [self._source],
            )
            columns = frozenset(str(row[0]) for row in found.fetchall())
        except duckdb.Error as error:
            raise ConfigurationError(
                f"The index cannot be read: {_first_line(error)}. Name Parquet files"
                " of a columnar index of Common Crawl, a folder with them, or an address."
            ) from None
        missing = [name for name in REQUIRED if name not in columns]
        if missing or not columns.intersection(SITE_COLUMNS):
            raise ConfigurationError(
                f"The table lacks the column {', '.join(missing) or SITE_COLUMNS[1]}: is it a"
                " columnar index of Common Crawl (cc-index/table/cc-main/warc/)?"
            )
        return columns

    def _where(self, pair: LanguagePair) -> str:
        """Return the condition on rows: pages that were fetched, mostly in one of the languages."""
        firsts = " OR ".join(f"starts_with(content_languages, '{code}')" for code in pair.codes)
        subset = " AND subset = 'warc'" if "subset" in self._columns else ""
        return f"fetch_status = 200{subset} AND ({firsts})"

    @property
    def _site(self) -> str:
        there = [name for name in SITE_COLUMNS if name in self._columns]
        return f"coalesce({', '.join(there)})"

    def _candidates(self, pair: LanguagePair, limit: int) -> Iterator[IndexedSite]:
        """Yield the sites with most pages in the rarer language."""
        one, other = pair.codes
        found = self._connection.execute(
            f"""
            SELECT {self._site} AS site,
                   count(*) FILTER (starts_with(content_languages, '{one}')) AS one,
                   count(*) FILTER (starts_with(content_languages, '{other}')) AS other
            FROM {_TABLE} WHERE {self._where(pair)}
            GROUP BY site HAVING one > 0 AND other > 0 AND site IS NOT NULL
            ORDER BY least(one, other) DESC, site LIMIT {int(limit)}
            """,  # noqa: S608 - names of columns and codes of languages
            [self._source],
        )
        for site, first, second in found.fetchall():
            step = max(1, math.ceil((first + second) / MOST_URLS))
            yield IndexedSite(str(site), (int(first), int(second)), step)

    def _urls(
        self, pair: LanguagePair, sites: Sequence[IndexedSite]
    ) -> Iterator[tuple[int, str, str]]:
        """Yield the pages to compare: the place of their site in the list, URL and language."""
        self._connection.execute(  # lists, because a registered table would import pandas
            "CREATE OR REPLACE TEMP TABLE wanted AS SELECT unnest(?::VARCHAR[]) AS site,"
            " unnest(?::BIGINT[]) AS step, unnest(?::BIGINT[]) AS place",
            [[each.site for each in sites], [each.step for each in sites], list(range(len(sites)))],
        )
        found = self._connection.execute(
            f"""
            SELECT place, url, content_languages[1:3]
            FROM (SELECT {self._site} AS site, url, content_languages FROM {_TABLE}
                  WHERE {self._where(pair)}) AS pages
            JOIN wanted USING (site)
            WHERE step = 1
               OR hash(lower(regexp_extract(url, '([^/?]*)/?(?:[?].*)?$', 1))) % step = 0
            ORDER BY place
            """,  # noqa: S608 - names of columns and codes of languages
            [self._source],
        )
        while rows := found.fetchmany(10_000):
            for place, url, code in rows:
                if isinstance(url, str) and len(url) <= _LONGEST_URL and _USABLE.fullmatch(url):
                    yield place, url, code


_TABLE = "read_parquet(?, hive_partitioning = true, union_by_name = true)"


class _SeenPaths:
    """The compared pages of one site, by their URLs without language tokens."""

    def __init__(self, tokens: Sequence[frozenset[str]]) -> None:
        self._own = tokens
        self._all = frozenset().union(*tokens)
        self._sides: dict[str, list[str | None]] = {}
        self._hosts: Counter[str] = Counter()
        self.pairs: set[str] = set()
        self.patterns: Counter[str] = Counter()

    @property
    def home(self) -> str:
        """The home page of the host with most pages; of equally many, the first by name."""
        return min(self._hosts, key=lambda host: (-self._hosts[host], host)) + "/"

    def add(self, url: str, side: int) -> None:
        """Note a page in a language. A token of the other language does not announce its text."""
        scheme, _, rest = url.partition("://")
        self._hosts[f"{scheme}://{rest.partition('/')[0].partition('?')[0]}"] += 1
        key = url_key(url, self._all)
        if len(self._hosts) > MOST_URLS or key.key in self.pairs:
            return
        if key.tokens and not self._own[side].intersection(key.tokens):
            return
        sides = self._sides.setdefault(key.key, [None, None])
        sides[side] = "-".join(sorted(set(key.tokens)))
        one, other = sides
        if one is not None and other is not None and one != other:
            self.pairs.add(key.key)
            self.patterns[f"{one or 'none'}/{other or 'none'}"] += 1


def _connect(source: str, threads: int | None) -> "DuckDBPyConnection":
    try:
        import duckdb  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            "--common-crawl needs DuckDB: pip install 'bilingual-crawler[archive]'."
        ) from None
    connection = duckdb.connect(config={"threads": threads} if threads else {})
    connection.execute("SET enable_progress_bar = false")
    if source.startswith(REMOTE):
        try:
            connection.execute("INSTALL httpfs")
            connection.execute("LOAD httpfs")
        except duckdb.Error as error:
            raise ConfigurationError(
                f"DuckDB has no extension for {source.partition('://')[0]} addresses here:"
                f" {_first_line(error)}. Download the index, and name its folder."
            ) from None
    return connection


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]


def _files_of(source: str) -> str:
    """Return what DuckDB is to read: all Parquet files below a folder."""
    if source.startswith(REMOTE):
        address = source.replace("s3a://", "s3://", 1)
        is_file = address.endswith(".parquet") or "*" in address
        return address if is_file else f"{address.rstrip('/')}/**/*.parquet"
    path = Path(source)
    if path.is_dir():
        return f"{path}/**/*.parquet"
    if not path.is_file() and "*" not in source:
        raise ConfigurationError(
            f"There is no index {source}: name Parquet files of a columnar index of Common Crawl,"
            " or a folder with them."
        )
    return source
