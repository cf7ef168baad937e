"""What is known about the parts of a site, and how much of it to believe.

Every figure is a chain of shares, from the whole site down to a directory: each one starts from its
parent's and is pulled towards its own pages as they come in. So a section of which one page was
seen differs a little from its site, and one of which fifty were seen speaks for itself.
"""

from collections.abc import Iterable, Sequence

from bilingual_crawler.scoring.adaptive.numbering import PAIR, Vector, widened
from bilingual_crawler.scoring.adaptive.weights import WEIGHTS

MOVED = 0.1
"""The relative change of a figure after which waiting URLs are judged again."""


class LanguageSection:
    """The actual languages of a section's pages."""

    __slots__ = ("counts", "groups", "name", "told", "version")

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.counts = [0] * size
        self.version = 0
        self.groups: list[Group] = []
        self.told: Sequence[float] = ()

    def add(self, language: int) -> None:
        """Count a page by the number of its language."""
        self.counts[language] += 1
        self.version += 1

    def widen(self, size: int) -> None:
        """Make room for languages that the site has shown."""
        while len(self.counts) < size:
            self.counts.insert(-1, 0)
        self.version += 1
        self.told = ()

    def has_moved(self) -> bool:
        """Return True if the figures have changed enough to be reported again."""
        total = sum(self.counts) + 1
        return _moved(self, [count / total for count in self.counts])


class YieldSection:
    """How many pages of a section have a translation, a kept promise of one, new text."""

    __slots__ = ("fresh", "groups", "kept", "lone", "name", "paired", "sides", "told", "version")

    def __init__(self, name: str, languages: int) -> None:
        self.name = name
        self.paired = [0.0, 0.0]
        self.lone = [0.0, 0.0]
        self.sides = [[0.0, 0.0] for _ in range(languages)]
        """The same as `lone`, for each of the languages."""
        self.kept = [0.0, 0.0]
        self.fresh = [0.0, 0.0]
        self.version = 0
        self.groups: list[Group] = []
        self.told: Sequence[float] = ()

    def add(self, counter: list[float], amount: float, weight: float = 1.0) -> None:
        """Count a page, or with weight 0 correct the count of one."""
        counter[0] += amount
        counter[1] += weight
        self.version += 1

    def widen(self, languages: int) -> None:
        """Make room for languages that the site has shown."""
        self.sides += [[0.0, 0.0] for _ in range(languages - len(self.sides))]
        self.told = ()

    def has_moved(self) -> bool:
        """Return True if the figures have changed enough to be reported again."""
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
    """The URLs that are in the same sections: one set of figures serves them all.

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
        self.kept = WEIGHTS.kept_at_first
        """The share of promised translations that really existed."""
        self.fresh = WEIGHTS.fresh_at_first
        """The share of text that was not seen before."""
        self._version = -1

    def refresh(self) -> None:
        """Compute the figures again, if anything has changed."""
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
        self._sides: dict[int, tuple[float, float]] = {}
        self._together = _chain([each.paired for each in self.yields[1:]], WEIGHTS.yield_prior)
        slope, base = _chain([each.kept for each in self.yields], WEIGHTS.kept_prior)
        self.kept = base + slope * WEIGHTS.kept_at_first
        slope, base = _chain([each.fresh for each in self.yields], WEIGHTS.fresh_prior)
        self.fresh = base + slope * WEIGHTS.fresh_at_first

    @property
    def size(self) -> int:
        """The length of a vector of languages."""
        return len(self.languages[-1].counts)

    @property
    def open_to_guesses(self) -> float:
        """The weight left for a first guess of the language, from 1 to 0."""
        return self._languages[0]

    def language(self, prior: Vector) -> Vector:
        """Return the probability of each language, for a URL with this prior."""
        slope, known = self._languages
        if len(known) == len(prior) == PAIR:
            first, second, other = known
            return first + slope * prior[0], second + slope * prior[1], other + slope * prior[2]
        prior = widened(prior, len(known))
        return tuple([each + slope * at_first for each, at_first in zip(known, prior, strict=True)])

    def alone(self, prior: float, language: int) -> float:
        """Return the share of pages with a translation among those that came without a sign of one.

        Where one language is translated and the other not always, each has its own share.
        """
        slope, base = self._alone
        side = self._sides.get(language)
        if side is None:
            counters = [each.sides[language] for each in self.yields]
            side = self._sides[language] = _chain(counters, WEIGHTS.side_prior)
        side_slope, side_base = side
        return side_base + side_slope * (base + slope * prior)

    def together(self, prior: float) -> float:
        """Return the share of pages with a translation, given the site's share `prior`."""
        slope, base = self._together
        return base + slope * prior


def _languages(sections: Sequence[LanguageSection]) -> tuple[float, Vector]:
    """Return the weight left for a prior, and what the sections add to it.

    A section counts by how clear it is: half Basque and half Spanish says nothing.
    """
    if len(sections[-1].counts) != PAIR:
        return _many_languages(sections)
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
        old = WEIGHTS.language_prior / (weight + WEIGHTS.language_prior)
        new = (1 - old) / total
        slope *= old
        first = first * old + counts[0] * new
        second = second * old + counts[1] * new
        other = other * old + counts[2] * new
    return slope, (first, second, other)


def _many_languages(sections: Sequence[LanguageSection]) -> tuple[float, Vector]:
    """Return the same for more than two languages."""
    slope, known = 1.0, [0.0] * len(sections[-1].counts)
    for section in sections:
        counts = section.counts
        total = sum(counts)
        clear = 2 * max(counts) / total - 1 if total else 0.0
        if clear <= 0:
            continue
        weight = total * clear * clear
        old = WEIGHTS.language_prior / (weight + WEIGHTS.language_prior)
        new = (1 - old) / total
        slope *= old
        known = [each * old + count * new for each, count in zip(known, counts, strict=True)]
    return slope, tuple(known)


def _chain(counters: Iterable[Sequence[float]], prior: float) -> tuple[float, float]:
    """Return the share at the end of a chain, as slope and intercept of its start."""
    slope, base = 1.0, 0.0
    for amount, weight in counters:
        if weight:
            slope *= prior / (weight + prior)
            base = (amount + prior * base) / (weight + prior)
    return slope, base


def _alone(sections: Sequence[YieldSection]) -> tuple[float, float]:
    """Return the same for pages without a sign of a translation; the others count a little too."""
    slope, base = 1.0, 0.0
    for section in sections:
        amount = section.lone[0] + WEIGHTS.others * (section.paired[0] - section.lone[0])
        weight = section.lone[1] + WEIGHTS.others * (section.paired[1] - section.lone[1])
        if weight:
            slope *= WEIGHTS.yield_prior / (weight + WEIGHTS.yield_prior)
            base = (amount + WEIGHTS.yield_prior * base) / (weight + WEIGHTS.yield_prior)
    return slope, base
