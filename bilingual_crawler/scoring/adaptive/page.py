"""A URL of a site as the scorer knows it, its ties to possible translations, and switches."""

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from bilingual_crawler.documents.document import Link
from bilingual_crawler.scoring.adaptive.numbering import (
    NEITHER,
    Vector,
    certain,
    likeliest,
    widened,
)
from bilingual_crawler.scoring.adaptive.sections import Group
from bilingual_crawler.scoring.adaptive.texts import UNKNOWN, TextWorth


class Fate(IntEnum):
    """The fate of a URL."""

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
    """The source of the first guess of a URL's language, the best sources last."""

    NONE = 0
    PARENT = 1
    MODEL = 2
    TOKEN = 3
    ANCHOR = 4
    DECLARED = 5


NO_TEXT = TextWorth(UNKNOWN, 1.0)
_FEED = re.compile(
    r"/(?:feed|rss|atom|wp-login\.php|xmlrpc\.php|wp-json|(?:feed|rss|atom|index)\.(?:xml|rss|atom))/?"
    r"(?:\?[^/]*)?$",
    re.IGNORECASE,
)


class KnownUrl:
    """One URL: waiting, fetched or gone. Compared by identity; a site has one per URL.

    There are very many of them, each with one or two ties. A dictionary of one entry takes 232
    bytes and a tuple 56; so ties, switches and partners are tuples of alternating keys and values,
    and callers get a dictionary made on request.
    """

    __slots__ = (
        "_partners",
        "_switched_from",
        "_switches",
        "_ties",
        "asked",
        "certainty",
        "claims",
        "depth",
        "fate",
        "group",
        "hunch",
        "is_copy",
        "is_feed",
        "key",
        "language",
        "language_class",
        "learned",
        "lone",
        "parent",
        "prior",
        "priority",
        "promise",
        "rule",
        "slot",
        "text",
        "url",
    )

    def __init__(
        self, url: str, key: str, language_class: str, group: Group, *, depth: int, prior: Vector
    ) -> None:
        self.url = url
        self.key = key
        """Its URL without language tokens."""
        self.language_class = language_class
        """Its host and language tokens: URLs that differ in it may be translations."""
        self.group = group
        self.depth = depth
        self.fate = Fate.WAITING
        self.language = NEITHER
        self.prior = prior
        self.certainty = Certainty.NONE
        self.hunch: int | None = None
        """The most likely language according to the URL model, if it was asked."""
        self.priority: float | None = None
        self.asked = ""
        """The spelling under which it waits, if a link or a redirect gave another one."""
        self._ties: tuple[Any, ...] = ()
        self._partners: tuple[Any, ...] = ()
        self.promise: float | None = None
        self.text = NO_TEXT
        """The kind of its text, and what that is worth at first."""
        self.is_feed = _FEED.search(url) is not None
        """True if its address is one that serves programs, and no reader."""
        self.rule = -1
        """The best that `rules` say of a link to it, as a number of `RULES`; -1 for none."""
        self.claims = False
        self.is_copy = False
        """True if it says that its own language is at another address: it is not translated."""
        self.learned = 0
        """The sides of partners that have shown how URLs of this site differ, a bit for each."""
        self.lone = False
        """True if nothing promised a translation before it was fetched."""
        self._switches: tuple[Any, ...] = ()
        self._switched_from: tuple[int, ...] = ()
        self.parent = NEITHER
        self.slot = ""

    @property
    def ties(self) -> Mapping["KnownUrl", Tie]:
        """Its possible translations, and why."""
        return _as_dict(self._ties)

    def tie_to(self, other: "KnownUrl", tie: Tie) -> None:
        """Tie it to another URL."""
        self._ties = _with(self._ties, other, tie)

    @property
    def switches(self) -> Mapping["KnownUrl", int]:
        """Where its language switch leads, and the language that it names."""
        return _as_dict(self._switches)

    def switch_to(self, other: "KnownUrl", language: int) -> None:
        """Record where its language switch leads."""
        self._switches = _with(self._switches, other, language)

    def switched_from(self, language: int) -> int:
        """Return how many pages of a language switch to it."""
        return next((number for each, number in self.switching if each == language), 0)

    @property
    def switching(self) -> Iterable[tuple[int, int]]:
        """The languages whose pages switch to it, with their number."""
        return zip(self._switched_from[::2], self._switched_from[1::2], strict=True)

    def note_switch_from(self, language: int, more: int = 1) -> None:
        """Record that more pages of a language switch to it."""
        number = self.switched_from(language) + more
        self._switched_from = _with(self._switched_from, language, number)

    @property
    def partners(self) -> tuple["KnownUrl", ...]:
        """The pages that pairing takes for its translations."""
        return self._partners[1::2]

    @property
    def sides(self) -> Mapping[int, "KnownUrl"]:
        """Its partners by their side."""
        return _as_dict(self._partners)

    def partner_at(self, side: int) -> "KnownUrl | None":
        """Return the page that pairing takes for its translation on one side."""
        for at in range(0, len(self._partners), 2):
            if self._partners[at] == side:
                partner: KnownUrl = self._partners[at + 1]
                return partner
        return None

    def pair_with(self, side: int, other: "KnownUrl") -> None:
        """Record a partner, in the place of an earlier one on the same side."""
        self._partners = _with(self._partners, side, other)

    def part_from(self, other: "KnownUrl") -> None:
        """Forget a partner."""
        kept = ((side, each) for side, each in self.sides.items() if each is not other)
        self._partners = tuple(part for both in kept for part in both)

    @property
    def is_fetched(self) -> bool:
        """True if its page is there, in a wanted language and not a copy of another."""
        is_wanted = self.language != NEITHER and not self.is_copy
        return self.fate is Fate.FETCHED and is_wanted

    @property
    def seems(self) -> int:
        """The number of its language, if it is fetched, and otherwise of the likeliest one."""
        return self.language if self.fate is Fate.FETCHED else likeliest(self.prior)

    @property
    def languages(self) -> Vector:
        """The probabilities that its page is in each of the languages, or in another."""
        self.group.refresh()
        if self.fate is Fate.FETCHED:
            return certain(self.language, self.group.size)
        return self.group.language(self.prior)

    def lean_to(self, language: int, share: float) -> None:
        """Make a language more likely, by the chance that this is a translation into it."""
        if self.certainty <= Certainty.MODEL:
            prior = widened(self.prior, self.group.size)
            kept = [each * (1.0 - share) for each in prior]
            kept[language] += share
            self.prior = tuple(kept)

    def guess(self, prior: Vector | None, certainty: Certainty) -> bool:
        """Set the first guess of the language; return True if its source was better."""
        if prior is None or certainty <= self.certainty:
            return False
        self.prior, self.certainty = prior, certainty
        return True


def _as_dict(items: tuple[Any, ...]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


def _with(items: tuple[Any, ...], key: object, value: object) -> tuple[Any, ...]:
    """Return the same with a key added, or with another value for it."""
    for at in range(0, len(items), 2):
        if items[at] == key:
            return (*items[: at + 1], value, *items[at + 2 :])
    return (*items, key, value)


LONGEST_SLOT = 60
MOST_SLOTS = 2_000
LEAST_CROSSINGS = 2
SURE = 0.6


class Switches:
    """The links of one site that change the language.

    A link that says "Euskara" or "EU", or shows the file `eu.png`, names a language
    (`documents/switches.py`). What names none ("Other language", a globe) is learned: a slot, that
    is the words or the image of a link, that has repeatedly led from one language to the other is a
    switch as well.
    """

    def __init__(self) -> None:
        self.slots: dict[str, list[int]] = {}

    def crosses(self, slot: str) -> float:
        """Return how often a slot led from one language to the other; 0 if too seldom."""
        crossed, followed = self.slots.get(slot, (0, 0))
        return crossed / followed if crossed >= LEAST_CROSSINGS else 0.0

    def learn(self, slot: str, *, crossed: bool) -> None:
        """Record where a link led."""
        known = self.slots.get(slot)
        if known is None:
            if not slot or len(self.slots) >= MOST_SLOTS:
                return
            known = self.slots[slot] = [0, 0]
        known[0] += crossed
        known[1] += 1


def slot_of(link: Link) -> str:
    """Return what a link looks like on every page that has it."""
    return (link.anchor or link.image_alt or link.image_src)[:LONGEST_SLOT]
