"""How common words, numbers, images and links are on a site: what all pages share says nothing."""

from collections import Counter
from math import log

from bilingual_crawler.pairing.profile import Profile, members

KINDS = ("vocabulary", "numbers", "images", "links")


class SiteStatistics:
    """On how many pages of a site each thing is found."""

    def __init__(self) -> None:
        self.pages = 0
        self._counts: dict[str, Counter[int]] = {kind: Counter() for kind in KINDS}

    def add(self, profile: Profile) -> None:
        """Count the things of one more page."""
        self.pages += 1
        for kind in KINDS:
            self._counts[kind].update(members(getattr(profile, kind)))

    def counts(self, kind: str) -> Counter[int]:
        """The pages with each thing of a kind."""
        return self._counts[kind]

    def weight_of(self, kind: str, things: frozenset[int]) -> float:
        """What some things weigh: the logarithm of how rare each is, added up."""
        counts, pages = self._counts[kind], self.pages + 1
        return log(pages) * len(things) - sum(log(counts[thing] or 1) for thing in things)
