"""What one event did to the pairs of a crawl."""

from typing import Generic, TypeVar

from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.packed_pair import PackedPair
from bilingual_crawler.pairing.pair import DocumentPair

Pair = TypeVar("Pair", DocumentPair, PackedPair)


class Changes(Generic[Pair]):
    """Pairs found and lost; what was found and lost again is left out."""

    def __init__(self) -> None:
        self.found: dict[Urls, Pair] = {}
        self.lost: dict[Urls, Pair] = {}
        self.better_explained = False

    @property
    def urls(self) -> set[str]:
        """Every page that gained or lost a partner."""
        return {url for pair in (*self.found, *self.lost) for url in pair}

    def add(self, pair: Pair) -> None:
        """Note a new pair."""
        key = (pair.first, pair.second)
        known = self.lost.pop(key, None)
        if known is None:
            self.found[key] = pair
        elif known != pair:
            self.better_explained = True

    def drop(self, pair: Pair) -> None:
        """Note a pair that was given up."""
        key = (pair.first, pair.second)
        if self.found.pop(key, None) is None:
            self.lost[key] = pair
