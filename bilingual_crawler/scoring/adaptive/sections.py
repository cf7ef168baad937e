"""What is known of the parts of a site, and how much of it to believe.

Every figure is a chain of shares, from the whole site down to a directory: each one starts
from what its parent says and is pulled towards its own pages as they come in. So a section
of which one page was seen differs a little from its site, and one of which fifty were seen
speaks for itself.
"""

from collections.abc import Iterable, Sequence

LANGUAGE_PRIOR = 1.5
YIELD_PRIOR = 2.0
SIDE_PRIOR = 4.0
KEPT_PRIOR = 1.5
FRESH_PRIOR = 2.0
"""How many pages the word of the parent is worth, for each of the figures."""

OTHERS = 0.25
"""What a page that came with a sign of a translation tells about one without."""

KEPT_AT_FIRST, FRESH_AT_FIRST = 0.95, 0.8
"""What is thought of a site of which nothing is known."""

MOVED = 0.1
"""By which share a figure must change before waiting URLs are judged again."""

Vector = tuple[float, float, float]
"""Something for the first language, the second, and all others."""


class LanguageSection:
    """In which languages the pages of a section really are."""

    __slots__ = ("counts", "groups", "name", "told", "version")

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts = [0, 0, 0]
        self.version = 0
        self.groups: list[Group] = []
        self.told: Sequence[float] = ()

    def add(self, language: int) -> None:
        """Count a page: 0 and 1 are the two languages, 2 is any other."""
        self.counts[language] += 1
        self.version += 1

    def has_moved(self) -> bool:
        """Whether the figures have changed enough to be told again."""
        total = sum(self.counts) + 1
        return _moved(self, [count / total for count in self.counts])


class YieldSection:
    """How many pages of a section have a translation, a kept promise of one, new text."""

    __slots__ = ("fresh", "groups", "kept", "lone", "name", "paired", "sides", "told", "version")

    def __init__(self, name: str) -> None:
        self.name = name
        self.paired = [0.0, 0.0]
        self.lone = [0.0, 0.0]
        self.sides = [[0.0, 0.0], [0.0, 0.0]]
        """The same as `lone`, for each of the two languages."""
        self.kept = [0.0, 0.0]
        self.fresh = [0.0, 0.0]
        self.version = 0
        self.groups: list[Group] = []
        self.told: Sequence[float] = ()

    def add(self, counter: list[float], amount: float, weight: float = 1.0) -> None:
        """Count a page, or with weight 0 correct what was counted of one."""
        counter[0] += amount
        counter[1] += weight
        self.version += 1

    def has_moved(self) -> bool:
        """Whether the figures have changed enough to be told again."""
        counters = (self.paired, self.lone, *self.sides, self.kept, self.fresh)
        return _moved(self, [(amount + 1) / (weight + 2) for amount, weight in counters])


def _moved(section: LanguageSection | YieldSection, now: list[float]) -> bool:
    told = section.told
    if told and all(
        abs(new - old) <= MOVED * max(new, old, MOVED) for new, old in zip(now, told, strict=True)
    ):
        return False
    section.told = now
    return True


class Group:
    """The URLs that stand in the same sections: one set of figures serves them all.

    `refresh` must have been called since the sections last changed.
    """

    __slots__ = (
        "_alone", "_languages", "_sides", "_together", "_version", "fresh", "kept", "languages",
        "yields",
    )  # fmt: skip

    def __init__(
        self, languages: tuple[LanguageSection, ...], yields: tuple[YieldSection, ...]
    ) -> None:
        self.languages = languages
        self.yields = yields
        self.kept = KEPT_AT_FIRST
        """The share of promised translations that were really there."""
        self.fresh = FRESH_AT_FIRST
        """The share of text that was not seen before."""
        self._version = -1

    def refresh(self) -> None:
        """Work out the figures anew, if anything has changed."""
        version = 0
        for language in self.languages:
            version += language.version
        for section in self.yields:
            version += section.version
        if version == self._version:
            return
        self._version = version
        self._languages = _languages(self.languages)
        self._alone = _alone(self.yields)
        self._sides = tuple(
            _chain([each.sides[side] for each in self.yields], SIDE_PRIOR) for side in (0, 1)
        )
        self._together = _chain([each.paired for each in self.yields[1:]], YIELD_PRIOR)
        slope, base = _chain([each.kept for each in self.yields], KEPT_PRIOR)
        self.kept = base + slope * KEPT_AT_FIRST
        slope, base = _chain([each.fresh for each in self.yields], FRESH_PRIOR)
        self.fresh = base + slope * FRESH_AT_FIRST

    @property
    def open_to_guesses(self) -> float:
        """What is left of a first guess of the language, from 1 to 0."""
        return self._languages[0]

    def language(self, prior: Vector) -> Vector:
        """How likely each language is, for a URL of which `prior` was thought."""
        slope, (first, second, other) = self._languages
        return first + slope * prior[0], second + slope * prior[1], other + slope * prior[2]

    def alone(self, prior: float, language: int) -> float:
        """The share of pages with a translation, of those that came without a sign of one.

        Where one language is translated and the other not always, each has its own share.
        """
        slope, base = self._alone
        side_slope, side_base = self._sides[language]
        return side_base + side_slope * (base + slope * prior)

    def together(self, prior: float) -> float:
        """The share of pages with a translation, below the site; `prior` speaks for that."""
        slope, base = self._together
        return base + slope * prior


def _languages(sections: Sequence[LanguageSection]) -> tuple[float, Vector]:
    """What is left of a prior, and what the sections add to it.

    A section counts by how clear it is: half Basque and half Spanish says nothing.
    """
    slope, first, second, other = 1.0, 0.0, 0.0, 0.0
    for section in sections:
        counts = section.counts
        total = counts[0] + counts[1] + counts[2]
        if not total:
            continue
        clear = 2 * max(counts) / total - 1
        if clear <= 0:
            continue
        weight = total * clear * clear
        old = LANGUAGE_PRIOR / (weight + LANGUAGE_PRIOR)
        new = (1 - old) / total
        slope *= old
        first = first * old + counts[0] * new
        second = second * old + counts[1] * new
        other = other * old + counts[2] * new
    return slope, (first, second, other)


def _chain(counters: Iterable[Sequence[float]], prior: float) -> tuple[float, float]:
    """The share at the end of a chain as slope and base of what it began with."""
    slope, base = 1.0, 0.0
    for amount, weight in counters:
        if weight:
            slope *= prior / (weight + prior)
            base = (amount + prior * base) / (weight + prior)
    return slope, base


def _alone(sections: Sequence[YieldSection]) -> tuple[float, float]:
    """The same for pages without a sign of a translation; the others count a little too."""
    slope, base = 1.0, 0.0
    for section in sections:
        amount = section.lone[0] + OTHERS * (section.paired[0] - section.lone[0])
        weight = section.lone[1] + OTHERS * (section.paired[1] - section.lone[1])
        if weight:
            slope *= YIELD_PRIOR / (weight + YIELD_PRIOR)
            base = (amount + YIELD_PRIOR * base) / (weight + YIELD_PRIOR)
    return slope, base
