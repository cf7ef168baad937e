"""A URL of a site as the scorer knows it, and its ties to the URLs it may be translated by."""

from enum import IntEnum

from bilingual_crawler.scoring.adaptive.sections import Group, Vector
from bilingual_crawler.scoring.adaptive.traits import Traits


class Fate(IntEnum):
    """What became of a URL."""

    WAITING = 0
    FETCHED = 1
    GONE = 2


class Tie(IntEnum):
    """Why two URLs may be translations of each other, the best reasons last."""

    SLUG = 0
    MODEL = 1
    KEY = 2
    RULE = 3
    SWITCH = 4
    DECLARED = 5


class Certainty(IntEnum):
    """Where the first guess of a URL's language comes from, the best sources last."""

    NONE = 0
    PARENT = 1
    MODEL = 2
    TOKEN = 3
    ANCHOR = 4
    DECLARED = 5


class Known:
    """One URL: waiting, fetched or gone. Compared by identity; a site has one a URL."""

    __slots__ = (
        "certainty",
        "claims",
        "depth",
        "fate",
        "group",
        "hunch",
        "is_copy",
        "language",
        "learned",
        "lone",
        "parent",
        "partner",
        "prior",
        "priority",
        "promise",
        "purity",
        "slot",
        "switched_from",
        "switches",
        "ties",
        "traits",
        "url",
    )

    def __init__(self, url: str, traits: Traits, group: Group, depth: int) -> None:
        self.url = url
        self.traits = traits
        self.group = group
        self.depth = depth
        self.fate = Fate.WAITING
        self.language = 2
        self.prior: Vector = (0.4, 0.4, 0.2)
        self.certainty = Certainty.NONE
        self.hunch: int | None = None
        """The language that the URL model thinks likeliest, if it was asked."""
        self.priority: float | None = None
        self.ties: dict[Known, Tie] = {}
        self.partner: Known | None = None
        self.promise: float | None = None
        self.purity = 1.0
        """What it counts in a pair: less if much of its text is in another language."""
        self.claims = False
        self.is_copy = False
        """Whether it says that its own language is at another address: it is not translated."""
        self.learned = False
        self.lone = False
        """Whether nothing spoke of a translation before it was fetched."""
        self.switches: dict[Known, int] = {}
        """Where its language switch leads to, and the language that it names."""
        self.switched_from = [0, 0, 0]
        """How many pages of each language switch to it."""
        self.parent = 2
        self.slot = ""

    @property
    def is_fetched(self) -> bool:
        """Whether its page is there, in one of the two languages and no copy of another."""
        is_wanted = self.language != 2 and not self.is_copy  # noqa: PLR2004 - neither
        return self.fate is Fate.FETCHED and is_wanted

    @property
    def languages(self) -> Vector:
        """How likely its page is in the first language, the second, or another."""
        self.group.refresh()
        if self.fate is Fate.FETCHED:
            return _CERTAIN[self.language]
        return self.group.language(self.prior)

    def lean_to(self, language: int, share: float) -> None:
        """Think a language likelier, by the chance that this is a translation into it."""
        if self.certainty <= Certainty.MODEL:
            kept = [each * (1.0 - share) for each in self.prior]
            kept[language] += share
            self.prior = kept[0], kept[1], kept[2]

    def guess(self, prior: Vector, certainty: Certainty) -> bool:
        """Take a first guess of the language from a better source; tell if it was better."""
        if certainty <= self.certainty:
            return False
        self.prior, self.certainty = prior, certainty
        return True


_CERTAIN: tuple[Vector, Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
