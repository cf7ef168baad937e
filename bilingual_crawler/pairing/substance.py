"""Whether two counterparts hold translated content, or only a translated frame around it.

Sites serve a page under every language's address long before it is translated: a name and a table,
a placeholder, the same list of publications on both sides, a text that stayed in the other
language. URLs, switches and hreflang say that such pages are counterparts, and they are; but nobody
can learn from them. So a second, small model asks what is left of two pages after what they share
with the other pages of their site and with each other.

Paragraphs are compared by their hashes. How often a paragraph occurs is counted over the pages of
one language on one site, copies of a page once.
"""

from collections import defaultdict
from math import log, log1p
from typing import Final, NamedTuple

from bilingual_crawler.pairing.known_pages import KnownPage
from bilingual_crawler.pairing.profile import Block, Profile, blocks_of, members
from bilingual_crawler.store.compact import CompactMap

FEATURES: Final = (
    "own_text",
    "own_share",
    "own_lengths",
    "text_lengths",
    "new_words",
    "new_word_share",
    "foreign_share",
)
"""What the model sees of two pages; all but lengths and foreign text speak for a pair."""
AGAINST: Final = frozenset(("own_lengths", "text_lengths", "foreign_share"))
SMALL = 50
"""Added to sizes, so that the ratio of two short texts means little."""
FEW_WORDS = 5


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
        for block in blocks:
            self._counts[block.hash] = self._counts.get(block.hash) + 1

    def shares(self, block: int) -> int:
        """Return on how many pages a paragraph occurs, at least one."""
        return max(1, self._counts.get(block))

    def rarity(self, block: int) -> float:
        """Return 1 for a paragraph of one page, 0 for one of all pages, as logarithms go."""
        pages = max(3, self.pages)
        return max(0.0, log(pages / self.shares(block)) / log(pages))


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
    blocks: list[Block], others: frozenset[int], section: SectionStatistics
) -> PageText:
    """Measure the content of a page beside the paragraphs of another."""
    total = foreign = text = own = weighed = 0.0
    for block in blocks:
        rare = block.size * section.rarity(block.hash)
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
    translated_share: float
    """How much of the shorter text is in its own language and not the same words, 0 to 1."""


class Sections:
    """The statistics of all sections."""

    def __init__(self) -> None:
        self._sections: defaultdict[tuple[str, str], SectionStatistics] = defaultdict(
            SectionStatistics
        )

    def add(self, page: KnownPage) -> None:
        """Count the paragraphs of a page."""
        self._sections[page.site, page.page.language].add(page.page.profile)

    def clear(self) -> None:
        """Forget all counts."""
        self._sections.clear()

    def compare(self, first: KnownPage, second: KnownPage) -> Substance | None:
        """Return the substance of two pages; None if an old journal does not know it."""
        one, other = first.page.profile, second.page.profile
        if not _is_measured(one) or not _is_measured(other):
            return None
        blocks, other_blocks = blocks_of(one.blocks), blocks_of(other.blocks)
        hashes = frozenset(block.hash for block in blocks)
        other_hashes = frozenset(block.hash for block in other_blocks)
        mine = text_beside(
            blocks, other_hashes, self._sections[first.site, first.page.language]
        )
        theirs = text_beside(
            other_blocks, hashes, self._sections[second.site, second.page.language]
        )
        words, other_words = members(one.vocabulary), members(other.vocabulary)
        shared = len(words & other_words)
        new, other_new = len(words) - shared, len(other_words) - shared
        word_share = min(new / (len(words) + FEW_WORDS), other_new / (len(other_words) + FEW_WORDS))
        features = (
            log1p(min(mine.own, theirs.own)),
            min(each.own / (each.weighed + 1) for each in (mine, theirs)),
            _apart(mine.own, theirs.own),
            _apart(mine.total, theirs.total),
            log1p(min(new, other_new)),
            word_share,
            max(each.foreign / (each.total + SMALL) for each in (mine, theirs)),
        )
        shorter = min(mine, theirs, key=lambda each: each.total)
        size, new_size = (
            (len(words), new) if shorter is mine else (len(other_words), other_new)
        )
        share = shorter.text / max(1.0, shorter.total)
        return Substance(features, round(min(share, new_size / max(1, size)), 3))


def _is_measured(profile: Profile) -> bool:
    """Return False for a page with words whose paragraphs an older version did not keep."""
    return bool(profile.blocks) or not profile.words


def _apart(one: float, other: float) -> float:
    return abs(log((one + SMALL) / (other + SMALL)))
