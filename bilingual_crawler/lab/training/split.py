"""Splits by registered domain: a site is learned from or measured on, never both.

A table may bring its own split; the rest is decided by a hash of the domain, so that the
same domain falls on the same side in every table, run and model.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from bilingual_crawler.urls.hosts import host_of, site_of

TRAIN, DEV, TEST, KEPT_OUT = "train", "dev", "test", "sites"
_STRICTEST = (KEPT_OUT, TEST, DEV, TRAIN)


class _Row(Protocol):
    @property
    def domain(self) -> str: ...
    @property
    def split(self) -> str: ...


RowT = TypeVar("RowT", bound=_Row)


def registered_domain(url: str) -> str:
    """The domain somebody registered (`site.co.uk`), or the whole host if there is none.

    Subdomains of hosting services (`somebody.github.io`) are sites of their own.
    """
    return site_of(host_of(url if "//" in url else f"//{url}"))


def share_of(domain: str, seed: int = 0) -> float:
    """A number in [0, 1) that is always the same for a domain."""
    digest = hashlib.blake2b(f"{seed} {domain}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def split_domains(
    rows: Iterable[_Row], *, dev: float = 0.1, test: float = 0.1, seed: int = 0
) -> dict[str, str]:
    """The side of every domain.

    What the tables say is kept, the strictest of what several say; domains that they call
    `train` still give `test` its share, since a part must be left that nobody has seen.
    Where no table says anything, `dev` gets its share too.
    """
    said: dict[str, str] = {}
    for row in rows:
        before = said.get(row.domain, "")
        if row.split in _STRICTEST and (
            before not in _STRICTEST or _STRICTEST.index(row.split) < _STRICTEST.index(before)
        ):
            said[row.domain] = row.split
        else:
            said.setdefault(row.domain, "")
    given = any(split in (DEV, TEST) for split in said.values())
    return {
        domain: split
        if split not in ("", TRAIN)
        else _drawn(domain, 0 if given else dev, test, seed)
        for domain, split in said.items()
    }


def _drawn(domain: str, dev: float, test: float, seed: int) -> str:
    share = share_of(domain, seed)
    if share < test:
        return TEST
    return DEV if share < test + dev else TRAIN


def part(rows: Iterable[RowT], sides: Mapping[str, str], name: str) -> list[RowT]:
    """The rows whose domain is on one side."""
    return [row for row in rows if sides.get(row.domain) == name]
