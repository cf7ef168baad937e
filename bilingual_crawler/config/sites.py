"""Rules for single sites: the file of `-a sites=FILE`, read and checked once, looked up by host.

Every problem in the file is reported with its line.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from bilingual_crawler.config.checks import read_utf8
from bilingual_crawler.config.site_keys import (
    KEYS,
    SCRAPY_NAMES,
    SPELLINGS,
    SiteRules,
    UnfitError,
    shown,
)
from bilingual_crawler.config.toml_lines import TomlLines, line_of_syntax_error
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.suggestions import hint, nearest
from bilingual_crawler.urls.hosts import normal_host, normal_name

_HOSTS_REMEMBERED = 1 << 16

ALL_SITES = "*"


class Sites:
    """The rules of all sites, by host.

    A name applies to its host and all hosts below it, `*` to all hosts. Every name is merged
    with the shorter ones once, here, so that finding the rules of a host is a look-up.
    """

    def __init__(self, rules: Mapping[str, SiteRules] | None = None) -> None:
        given = dict(rules or {})
        self.names = tuple(given)
        self._everywhere = given.pop(ALL_SITES, SiteRules())
        self._merged: dict[str, SiteRules] = {}
        for name in sorted(given, key=lambda name: name.count(".")):
            self._merged[name] = self._nearest(name).overlaid(given[name])
        self._all = (self._everywhere, *self._merged.values())
        self._rules_for = lru_cache(maxsize=_HOSTS_REMEMBERED)(self._find)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a file of rules; a ConfigurationError reports all problems with their lines."""
        return cls(read_sites(Path(path)))

    def rules_for(self, host: str) -> SiteRules:
        """Return the rules for a host, with or without port, in any spelling."""
        return self._rules_for(host)

    def said(self, key: str) -> frozenset[Any]:
        """Return all values that any site has for a key."""
        return frozenset(getattr(rules, key) for rules in self._all) - {None}

    def _find(self, host: str) -> SiteRules:
        return self._nearest(normal_host(host) or "")

    def _nearest(self, host: str) -> SiteRules:
        while host:
            if host in self._merged:
                return self._merged[host]
            host = host.partition(".")[2]
        return self._everywhere


def read_sites(path: Path) -> dict[str, SiteRules]:
    """Return the rules of every site in a file, by host name, in the order of the file."""
    text = read_utf8(path, f"The file of -a sites={path}")
    reader = _Reader(text, path)
    rules = reader.read(_parse(text, path))
    if reader.problems:
        raise ConfigurationError(*reader.sentences())
    return rules


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigurationError(f"{path}: brackets are nested too deeply.") from None
    except ValueError as error:
        line = line_of_syntax_error(text, str(error))
        what = re.sub(r" \(at [^()]*\)$", "", str(error))
        if "'\\'" in what:
            what += "; patterns are best written in single quotes, such as '\\?sid='"
        elif what.startswith(("Cannot overwrite", "Cannot declare")):
            what = "a name is given twice"
        raise ConfigurationError(f"{path}, line {line}: this is not TOML: {what}.") from None


class _Reader:
    """Reads tables, and collects problems instead of stopping at the first."""

    def __init__(self, text: str, path: Path) -> None:
        self._text = text
        self._path = path
        self.problems: list[tuple[int, str]] = []

    @cached_property
    def _lines(self) -> TomlLines:
        return TomlLines(self._text)

    def sentences(self) -> Iterator[str]:
        """Yield the problems in the order of the file."""
        for line, text in sorted(self.problems, key=lambda problem: problem[0]):
            yield f"{self._path}, line {line}: {text}{'' if text.endswith('?') else '.'}"

    def read(self, data: dict[str, Any]) -> dict[str, SiteRules]:
        """Return the rules of all tables that have no problem."""
        rules: dict[str, SiteRules] = {}
        written: dict[str, str] = {}
        for name, table in data.items():
            if not isinstance(table, dict):
                self._complain(_not_a_table(name, table), name)
                continue
            for path, inner in _unquoted((name,), table):
                self._complain(f'a name with dots needs quotes: write ["{".".join(path)}"]', *path)
                self._rules(path, inner)
            if _has_only_tables(table):
                continue
            host = self._host(name, written)
            found = self._rules((name,), table)
            if host is not None:
                written[host] = name
                rules[host] = found
        return rules

    def _complain(self, text: str, *path: str, element: int | None = None) -> None:
        self.problems.append((self._lines.line_of(*path, element=element), text))

    def _host(self, name: str, written: dict[str, str]) -> str | None:
        """Return the host that a table is about; None if it is invalid or already in `written`."""
        host = name if name == ALL_SITES else normal_name(name)
        if host is None:
            self._complain(_not_a_host(name), name)
        elif host in written:
            first = f"{shown(written[host])} on line {self._lines.line_of(written[host])}"
            self._complain(f"{shown(name)} is the same site as {first}; merge the two", name)
            return None
        return host

    def _rules(self, site: tuple[str, ...], table: dict[str, Any]) -> SiteRules:
        values: dict[str, Any] = {}
        written: dict[str, str] = {}
        for spelling, value in table.items():
            name = SCRAPY_NAMES.get(spelling, spelling)
            if _is_table(spelling, value):
                continue
            if name not in KEYS:
                self._complain(_unknown(spelling), *site, spelling)
                continue
            if name in written:
                other = f"{written[name]} (line {self._lines.line_of(*site, written[name])})"
                self._complain(f"{spelling} and {other} are the same; keep one", *site, spelling)
                continue
            written[name] = spelling
            try:
                values[name] = KEYS[name].read(value)
            except UnfitError as error:
                for each in error.complaints:
                    text = f"{spelling} {each.text}"
                    self._complain(text, *site, spelling, element=each.element)
        return SiteRules(**values)


def _is_table(key: str, value: Any) -> bool:
    """Return True if a value in a site's table is a table of its own, not just a wrong value."""
    return isinstance(value, dict) and key not in SPELLINGS


def _has_only_tables(table: dict[str, Any]) -> bool:
    return bool(table) and all(_is_table(key, value) for key, value in table.items())


def _unquoted(
    path: tuple[str, ...], table: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the tables in a site's table, which `[example.org]` without quotes leads to."""
    for key, value in table.items():
        if _is_table(key, value):
            if not _has_only_tables(value):
                yield (*path, key), value
            yield from _unquoted((*path, key), value)


def _unknown(spelling: str) -> str:
    meant = hint(nearest(spelling, SPELLINGS)[:1], f"the keys are {', '.join(KEYS)}")
    return f"there is no key {spelling}: {meant}"


def _not_a_table(name: str, value: Any) -> str:
    if name in SPELLINGS:
        return f'{name} is above the first table: write ["*"] over it, for all sites'
    if isinstance(value, list):
        return f'a site is a table in single brackets: write ["{name}"]'
    return f'{name} must be a table: write ["{name}"] and its keys below, not {shown(value)}'


def _not_a_host(name: str) -> str:
    """Say what to write instead of a URL, a wildcard or a host with its port."""
    bare = re.sub(r"^[a-z]+://|[/?#].*$", "", name.strip().lower()).removeprefix("*.")
    host = normal_host(bare)
    if host:
        return f'{shown(name)} is not a host name: write ["{host}"], which covers all below it'
    return f'{shown(name)} is not a host name, such as "example.org", or "*" for all sites'
