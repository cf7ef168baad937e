"""Split and sample rows by registered domain: a site is for training or measuring, never both.

A table may have its own split; a hash of the domain decides the rest, so that a domain is in the
same part in every table, run and model.
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from bilingual_crawler.lab.labels import LabelledUrl

TRAIN, DEV, TEST, KEPT_OUT = "train", "dev", "test", "sites"
_STRICTEST = (KEPT_OUT, TEST, DEV, TRAIN)


class _Row(Protocol):
    @property
    def domain(self) -> str: ...
    @property
    def split(self) -> str: ...


RowT = TypeVar("RowT", bound=_Row)


def share_of(domain: str, seed: int = 0) -> float:
    """Return a number in [0, 1) that is always the same for a domain."""
    digest = hashlib.blake2b(f"{seed} {domain}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def split_domains(
    rows: Iterable[_Row], *, dev: float = 0.1, test: float = 0.1, seed: int = 0
) -> dict[str, str]:
    """Return the part of every domain.

    What the tables say is kept; if they differ, the strictest counts. Domains that they call
    `train` still give `test` its share, since some data must remain unseen. If no table says
    anything, `dev` gets its share too.
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
    """Return the rows whose domain is in one part."""
    return [row for row in rows if sides.get(row.domain) == name]


def cap(rows: Iterable[LabelledUrl], most: int, *, seed: int = 0) -> list[LabelledUrl]:
    """Return at most `most` rows per language, taken from its domains in turn.

    Otherwise a large site would fill the share of its language and teach its own name.
    """
    by_language: defaultdict[str, defaultdict[str, list[LabelledUrl]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        by_language[row.language][row.domain].append(row)
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    kept: list[LabelledUrl] = []
    for language in sorted(by_language):
        kept += _in_turn(by_language[language], most, rng)
    return kept


def _in_turn(
    domains: dict[str, list[LabelledUrl]], most: int, rng: random.Random
) -> list[LabelledUrl]:
    piles = [domains[name] for name in sorted(domains)]
    for pile in piles:
        rng.shuffle(pile)
    rng.shuffle(piles)
    kept: list[LabelledUrl] = []
    depth = 0
    while piles and len(kept) < most:
        kept += [pile[depth] for pile in piles][: most - len(kept)]
        depth += 1
        piles = [pile for pile in piles if len(pile) > depth]
    return kept
