"""Whether two counterparts hold translated content, or only a translated frame around it.

Sites serve a page under every language's address long before it is translated: a name and a table,
a placeholder, the same list of publications on both sides, a text that stayed in the other
language. URLs, switches and hreflang say that such pages are counterparts, and they are; but nobody
can learn from them. So a second, small model asks what is left of two pages after what they share
with the other pages of their site and with each other.

Paragraphs are compared by their hashes. How often a paragraph occurs is counted over the pages of
one language on one site, copies of a page once.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from math import log, log1p
from typing import Any, Final, NamedTuple

from bilingual_crawler.pairing.known_pages import KnownPage
from bilingual_crawler.pairing.profile import ParagraphMark, Profile, blocks_of, members
from bilingual_crawler.store.compact import CompactMap

FEATURES: Final = ("own_text", "untranslated", "text_lengths", "foreign_share")
"""What the model sees of two pages: the first speaks for a pair, the others against one."""
ACCEPT_CONTENT = 0.6
"""The least probability; chosen on the recorded sites, for as many wrong pairs as lost ones."""
_LEAST_ODDS = log(ACCEPT_CONTENT / (1 - ACCEPT_CONTENT))
FILE = "substance.json"
HALF = 0.5
"""Of the text of a pair at least this share is translated."""
MUCH_FOREIGN, VERY_UNEQUAL, LITTLE_LEFT, _LITTLE_TEXT = 0.3, 1.0, 0.15, log1p(40)
"""Where a reason begins: they only choose the words for what the model has refused."""
ENOUGH_TEXT = 4.0
"""The logarithm of the letters from which on more text says nothing: about one sentence."""
SMALL = 50
"""Added to sizes, so that the ratio of two short texts means little."""


class SectionStatistics:
    """On how many pages of one language on one site each paragraph occurs."""

    __slots__ = ("_counts", "_seen", "pages")

    def __init__(self) -> None:
        self.pages = 0
        self._counts = CompactMap()
        self._seen = CompactMap()

    def add(self, profile: Profile) -> None:
        """Count the paragraphs of one more page, unless it is a copy of one that was counted."""
        blocks = blocks_of(profile.blocks)
        longest = blocks[0].hash if blocks else 0
        name = hash((profile.title.lower(), longest)) & _MASK
        if self._seen.get(name):
            return
        self._seen[name] = 1
        self.pages += 1
        self._counts.count_up(block.hash for block in blocks)

    def rarities(self, blocks: Iterable[ParagraphMark]) -> list[float]:
        """Return 1 for a paragraph of one page, 0 for one of all pages, as logarithms go."""
        pages = max(3, self.pages)
        most = log(pages)
        return [
            max(0.0, log(pages / (shares or 1)) / most)
            for shares in self._counts.get_all([block.hash for block in blocks])
        ]


_MASK = (1 << 63) - 1


class PageText(NamedTuple):
    """How much text a page has, and how much of it is not in another page."""

    total: float
    """All of the content, whatever its language."""
    foreign: float
    """What is in another language than the page."""
    text: float
    """What is in the language of the page and not on the other page."""
    own: float
    """The same, each paragraph weighed by how rare it is in its section."""
    weighed: float
    """All of the content, weighed in the same way."""


def text_beside(
    blocks: list[ParagraphMark], others: frozenset[int], section: SectionStatistics
) -> PageText:
    """Measure the content of a page beside the paragraphs of another."""
    total = foreign = text = own = weighed = 0.0
    for block, rarity in zip(blocks, section.rarities(blocks), strict=True):
        rare = block.size * rarity
        total += block.size
        weighed += rare
        if block.foreign:
            foreign += block.size
        elif block.hash not in others:
            text += block.size
            own += rare
    return PageText(total, foreign, text, own, weighed)


class Substance(NamedTuple):
    """What two pages hold beside frames and copies."""

    features: tuple[float, ...]
    """In the order of `FEATURES`."""
    translated_share: float
    """How much of the shorter text is in its own language and not the same words, 0 to 1."""

    def why_refused(self, model: "SubstanceModel") -> str:
        """Return the reason why the two are no pair; "" if they are."""
        if model.odds(self.features) >= _LEAST_ODDS:
            return ""
        own, untranslated, lengths, foreign = self.features
        reasons = {
            "much of one page is in another language than the page": foreign >= MUCH_FOREIGN,
            "most of the text is the same on both pages": self.translated_share < HALF,
            "hardly any text that is translated and not on other pages too": own < _LITTLE_TEXT,
            "most of what is not on other pages is the same on both": untranslated > LITTLE_LEFT,
            "one text is several times as long as the other": lengths > VERY_UNEQUAL,
        }
        said = (reason for reason, holds in reasons.items() if holds)
        return next(said, "too little of the text is translated")


class SubstanceModel(NamedTuple):
    """A logistic regression on the features, with the signs that they must have."""

    bias: float
    weights: tuple[float, ...]
    about: dict[str, Any]

    def odds(self, features: Sequence[float]) -> float:
        """Return the log-odds that two counterparts are a pair."""
        return self.bias + sum(w * x for w, x in zip(self.weights, features, strict=True))

    def to_json(self) -> str:
        """Return the model as JSON."""
        weights = {name: round(w, 5) for name, w in zip(FEATURES, self.weights, strict=True)}
        fields = {"about": self.about, "bias": round(self.bias, 5), "weights": weights}
        return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"


@cache
def substance_model() -> SubstanceModel:
    """Return the shipped model."""
    fields = json.loads(files("bilingual_crawler").joinpath("data", FILE).read_text("utf-8"))
    weights = tuple(float(fields["weights"][name]) for name in FEATURES)
    return SubstanceModel(float(fields["bias"]), weights, dict(fields["about"]))


class Sections:
    """The statistics of all sections."""

    def __init__(self) -> None:
        self._sections: defaultdict[tuple[str, str], SectionStatistics] = defaultdict(
            SectionStatistics
        )

    def add(self, page: KnownPage) -> None:
        """Count the paragraphs of a page."""
        self._sections[page.site, page.page.language].add(page.page.profile)

    def recount(self, pages: Iterable[KnownPage]) -> None:
        """Count all pages again; which of several copies is counted depends on their order."""
        self._sections.clear()
        for page in pages:
            self.add(page)

    def of(self, page: KnownPage) -> SectionStatistics:
        """Return the statistics of the section of a page."""
        return self._sections[page.site, page.page.language]

    def compare(self, first: KnownPage, second: KnownPage) -> Substance | None:
        """Return the substance of two pages; None if an old journal does not know it."""
        one, other = first.page.profile, second.page.profile
        if not _is_measured(one) or not _is_measured(other):
            return None
        blocks, other_blocks = blocks_of(one.blocks), blocks_of(other.blocks)
        hashes = frozenset(block.hash for block in blocks)
        other_hashes = frozenset(block.hash for block in other_blocks)
        mine = text_beside(blocks, other_hashes, self.of(first))
        theirs = text_beside(other_blocks, hashes, self.of(second))
        own_share = min(each.own / (each.weighed + 1) for each in (mine, theirs))
        features = (
            min(ENOUGH_TEXT, log1p(min(mine.own, theirs.own))),
            max(0.0, HALF - own_share),
            abs(log((mine.total + SMALL) / (theirs.total + SMALL))),
            max(each.foreign / (each.total + SMALL) for each in (mine, theirs)),
        )
        return Substance(features, _translated_share(first, second, mine, theirs))


def _translated_share(
    first: KnownPage, second: KnownPage, mine: PageText, theirs: PageText
) -> float:
    """Return the share that only the shorter text has: of paragraphs, or of words if it is less."""
    shorter, longer, text = (first, second, mine)
    if theirs.total < mine.total:
        shorter, longer, text = second, first, theirs
    words = members(shorter.page.profile.vocabulary)
    others = members(longer.page.profile.vocabulary)
    new = len(words - others) / max(1, len(words))
    return round(min(new, text.text / max(1.0, text.total)), 3)


def _is_measured(profile: Profile) -> bool:
    """Return False for a URL without a page, or a page from a journal of an older version."""
    return bool(profile.blocks) or bool(profile.size and not profile.words)
