"""How likely two tied URLs are translations: what the site's own habits say.

Every kind of tie starts with the reliability that it has on most sites, and earns its own on this
one: each time both pages are there, the tie was right (two languages) or wrong.
"""

from functools import lru_cache

from bilingual_crawler.documents.document import Document
from bilingual_crawler.scoring.adaptive.page import Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.sections import Vector

AT_FIRST = {
    Tie.SLUG: 0.4,
    Tie.MODEL: 0.7,
    Tie.KEY: 0.8,
    Tie.RULE: 0.8,
    Tie.SWITCH: 0.85,
    Tie.DECLARED: 0.95,
}
TIE_PRIOR = 3.0
SILENCE_PRIOR = 2.0
MUTUAL = 0.95
CONTRADICTION = 0.85
"""How much is lost when a page of a site with good language switches names no such tie."""
NEITHER = 2
MIXED, PURE = 40, 60
"""Percentages of a page in its own language: half a translation, and one that counts fully."""
LEAST_PURITY = 0.3


class SiteEvidence:
    """What one site has shown about its ties and its language switches."""

    def __init__(self) -> None:
        self.ties = {tie: [0.0, 0.0] for tie in Tie}
        self.paired = [0, 0]
        """Ties of two fetched pages that pairing can see: those that are pairs, and all."""
        self.switching = [0, 0, 0]
        """Pages whose switch leads to a page of their own, pages with a switch, all pages."""

    def reliability(self, tie: Tie) -> float:
        """Return the expected share of right ties of a kind on this site."""
        right, seen = self.ties[tie]
        return (right + TIE_PRIOR * AT_FIRST[tie]) / (seen + TIE_PRIOR)

    def settled(self, one: KnownUrl, other: KnownUrl, tie: Tie) -> float:
        """Record what pairing says about a tie whose pages are there; return how right it was."""
        is_pair = one.partner is other
        right = 1.0 if is_pair else is_alive(one, other) * self.in_silence(one, other, tie)
        if _is_seen(one, other, tie):
            self.paired[0] += is_pair
            self.paired[1] += 1
        return right

    def in_silence(self, one: KnownUrl, other: KnownUrl, tie: Tie) -> float:
        """Return how likely two tied pages are translations though pairing has not paired them.

        The more such ties turn out to be pairs, the more it means if one does not.
        """
        if not _is_seen(one, other, tie):
            return 1.0
        paired, seen = self.paired
        return 1.0 - paired / (seen + SILENCE_PRIOR)

    def judge(self, tie: Tie, *, right: float) -> None:
        """Record that a tie of this kind was right or wrong."""
        counts = self.ties[tie]
        counts[0] += right
        counts[1] += 1

    def saw(self, page: KnownUrl) -> None:
        """Record what a fetched page says about its translation."""
        self.switching[0] += page.claims
        self.switching[1] += page.claims or bool(page.switches)
        self.switching[2] += 1

    def strength(self, one: KnownUrl, other: KnownUrl, tie: Tie) -> float:
        """Return how likely two tied URLs are translations, apart from their languages."""
        share = self.reliability(tie)
        if tie is Tie.SWITCH:
            if one in other.switches and other in one.switches:
                return max(share, MUTUAL)
            return share / max(_shared(one, other), _shared(other, one))
        if tie is not Tie.DECLARED:
            doubt = max(self._doubt(one, other), self._doubt(other, one))
            return share * (1.0 - CONTRADICTION * doubt)
        return share

    def _doubt(self, page: KnownUrl, mate: KnownUrl) -> float:
        """Return the doubt if a page does not name `mate` as its translation.

        A page with a switch that leads elsewhere, or a page without one on a site where the others
        have them, says that it has no translation; unless switches always lead home.
        """
        if not page.is_fetched or (mate.fate is Fate.FETCHED and mate.language == page.language):
            return 0.0
        own, switching, pages = self.switching
        if page.claims or any(wanted != page.language for wanted in page.switches.values()):
            return min(1.0, (own + 2.0) / (switching + 2.5))
        return min(1.0, (own + 0.5) / (pages + 2.0))


def is_alive(page: KnownUrl, mate: KnownUrl) -> bool:
    """Return True if two tied URLs, of which `page` is fetched, can still be a pair."""
    if page.partner not in {None, mate} or mate.partner not in {None, page}:
        return False
    if page.is_copy or mate.is_copy:
        return False
    if mate.fate is Fate.FETCHED:
        return NEITHER not in (page.language, mate.language) and page.language != mate.language
    return mate.fate is Fate.WAITING


def purity_of(document: Document) -> float:
    """Return the worth of a page in a pair, by the share of its text in its own language."""
    share = dict(document.language_shares).get(document.language or "", 100)
    return min(1.0, max(LEAST_PURITY, (share - MIXED) / (PURE - MIXED)))


def _is_seen(one: KnownUrl, other: KnownUrl, tie: Tie) -> bool:
    """Return True if pairing sees what ties two pages: a declaration, or the same key."""
    return tie is Tie.DECLARED or one.key == other.key


def _shared(page: KnownUrl, mate: KnownUrl) -> int:
    """Return how many pages of `mate`'s language share its switch target `page`."""
    return max(1, page.switched_from[mate.language]) if mate.fate is Fate.FETCHED else 1


@lru_cache(maxsize=1 << 10)
def leaning(codes: frozenset[str], pair: tuple[str, str], sure: float) -> Vector:
    """Return a first guess that a page is in one of these languages, with some doubt.

    A token that may mean a language of the pair, among others, is taken to mean it.
    """
    hits = [pair[0] in codes, pair[1] in codes]
    hits.append(not any(hits))
    spread, rest = sum(hits), len(hits) - sum(hits)
    first, second, other = (sure / spread if hit else (1.0 - sure) / rest for hit in hits)
    return first, second, other
