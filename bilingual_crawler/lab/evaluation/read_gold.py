"""Gold lists whose pages a person has read: what is right, what is wrong, what is in doubt.

Beside NAME.gold.tsv there may be NAME.also.tsv (a copy of a page, and the page it is a copy of;
either counts), NAME.uncertain.tsv (pairs that are not judged) and NAME.wrong.tsv (pairs that were
refused). READ.tsv names the language pairs of which nearly every pair is listed. URLs are compared
in their canonical form, however a list spells them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.urls.fingerprint import canonical_url

READ = "READ.tsv"
_WITH_LANGUAGES = 4

Both = frozenset[str]
"""The canonical forms of two URLs."""


class ReadFigures(NamedTuple):
    """How pairs were judged; the sum of two is that of their pairs."""

    right: int = 0
    wrong: int = 0
    """Refused by the reader, or against a gold pair of one of its pages."""
    repeated: int = 0
    """A gold pair again, under the addresses of copies."""
    missed: int = 0
    unjudged: int = 0

    @property
    def precision(self) -> float | None:
        """The share of right pairs among the judged ones; a repeated one is not right."""
        judged = self.right + self.wrong + self.repeated
        return self.right / judged if judged else None

    @property
    def recall(self) -> float | None:
        """The share of gold pairs that were found."""
        known = self.right + self.missed
        return self.right / known if known else None

    def plus(self, other: "ReadFigures") -> "ReadFigures":
        """Return the figures of both."""
        return ReadFigures(*(a + b for a, b in zip(self, other, strict=True)))


class Judgement(NamedTuple):
    """What became of every pair that was found, and which gold pairs were not."""

    verdicts: dict[tuple[str, str], str]
    """"right", "wrong", "repeated", "uncertain" or "unlisted"."""
    missed: list[tuple[str, str]]

    @property
    def figures(self) -> ReadFigures:
        """Return the counts."""
        said = Counter(self.verdicts.values())
        unjudged = said["uncertain"] + said["unlisted"]
        return ReadFigures(
            said["right"], said["wrong"], said["repeated"], len(self.missed), unjudged
        )


@dataclass(slots=True)
class ReadGold:
    """What is known about the pairs of a site in two languages."""

    is_read: bool = False
    right: dict[Both, tuple[str, str]] = field(default_factory=dict)
    uncertain: set[Both] = field(default_factory=set)
    wrong: set[Both] = field(default_factory=set)
    copies: dict[str, str] = field(default_factory=dict)
    """The page that a copy counts as, by canonical URLs."""
    partner: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path, site: str, pair: LanguagePair) -> Self:
        """Read the lists of a site."""
        gold = cls(pair in read_language_pairs(folder).get(site, ()))
        for copy, original in _rows(folder / f"{site}.also.tsv", 2):
            gold.copies[canonical_url(copy)] = canonical_url(original)
        wanted = sorted(pair.codes)
        for name, take in (("gold", None), ("uncertain", gold.uncertain), ("wrong", gold.wrong)):
            for one, other, *languages in _rows(folder / f"{site}.{name}.tsv", _WITH_LANGUAGES):
                if sorted(languages[:2]) != wanted:
                    continue
                both = gold.key(one, other)
                if take is None:
                    gold.right[both] = one, other
                else:
                    take.add(both)
        for both in gold.right:
            one, other = sorted(both) if len(both) > 1 else (*both, *both)
            gold.partner[one], gold.partner[other] = other, one
        return gold

    @staticmethod
    def language_pairs(path: Path) -> list[tuple[str, int]]:
        """Return the language pairs of a gold list with their counts, the largest first."""
        counts = Counter(
            "-".join(sorted(languages[:2])) for _, _, *languages in _rows(path, _WITH_LANGUAGES)
        )
        return sorted(counts.items(), key=lambda each: (-each[1], each[0]))

    def name(self, url: str) -> str:
        """Return the page that a URL counts as."""
        name = canonical_url(url)
        return self.copies.get(name, name)

    def key(self, one: str, other: str) -> Both:
        """Return two pages as the lists know them."""
        return frozenset((self.name(one), self.name(other)))

    def label(self, one: str, other: str) -> str:
        """Return "right", "wrong", "uncertain", or "unlisted" for two pages that are in no list."""
        both = self.key(one, other)
        if both in self.right:
            return "right"
        if both in self.uncertain:
            return "uncertain"
        is_wrong = both in self.wrong or self.knows((one, other))
        return "wrong" if is_wrong else "unlisted"

    def knows(self, urls: Iterable[str]) -> bool:
        """Return True if one of the pages is in a gold pair."""
        return any(self.name(url) in self.partner for url in urls)

    def judge(self, pairs: Iterable[tuple[str, str]]) -> Judgement:
        """Judge the pairs that were found."""
        verdicts: dict[tuple[str, str], str] = {}
        found: set[Both] = set()
        for one, other in pairs:
            label, both = self.label(one, other), self.key(one, other)
            verdicts[one, other] = "repeated" if label == "right" and both in found else label
            found.add(both)
        return Judgement(verdicts, [urls for both, urls in self.right.items() if both not in found])


def read_language_pairs(folder: Path) -> dict[str, list[LanguagePair]]:
    """Return the language pairs of each site that were read."""
    found: defaultdict[str, list[LanguagePair]] = defaultdict(list)
    for site, langs in _rows(folder / READ, 2):
        found[site].append(LanguagePair.parse(langs))
    return dict(found)


def _rows(path: Path, fields: int) -> list[list[str]]:
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [row for line in lines if len(row := line.split("\t")) >= fields]
