"""Parts of a corpus for training, development and test that have no site in common.

Pages of one site share menus, phrases and translators, so a model that was tested on a site it was
trained on looks better than it is. A pair of two sites ties them together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from bilingual_crawler.urls.hosts import host_of, site_of

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")
HELD_OUT = 0.1
"""The share of sentence pairs that the test part should have, and the validation part too."""


class SiteGroups:
    """Sites that are in one part together, because pairs join them, and their sizes."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._sizes: Counter[str] = Counter()

    def add(self, url1: str, url2: str) -> None:
        """Count a pair."""
        first, second = (self._root(_site(url)) for url in (url1, url2))
        self._parent[max(first, second)] = min(first, second)
        self._sizes[_site(url1)] += 1

    def groups(self) -> Mapping[tuple[str, ...], int]:
        """Return the sites of each group with their pairs."""
        members: defaultdict[str, list[str]] = defaultdict(list)
        for site in sorted(self._parent):
            members[self._root(site)].append(site)
        return {tuple(each): sum(map(self._sizes.__getitem__, each)) for each in members.values()}

    def _root(self, site: str) -> str:
        parent = self._parent.setdefault(site, site)
        while parent != site:
            site, parent = parent, self._parent[parent]
        return site


class SiteSplit:
    """The part of each site."""

    def __init__(self, groups: Mapping[tuple[str, ...], int], held_out: float = HELD_OUT) -> None:
        chosen = _choose(groups, held_out)
        self.parts = {site: part for sites, part in chosen.items() for site in sites}

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> "SiteSplit":
        """Split the sites of pairs of URLs."""
        groups = SiteGroups()
        for url1, url2 in pairs:
            groups.add(url1, url2)
        return cls(groups.groups())

    def part_of(self, url: str) -> str:
        """Return the part that the pairs of a page are in."""
        return self.parts[_site(url)]

    def sites(self, part: str) -> list[str]:
        """Return the sites of a part."""
        return [site for site, own in self.parts.items() if own == part]


def _choose(groups: Mapping[tuple[str, ...], int], held_out: float) -> dict[tuple[str, ...], str]:
    """Return the part of each group; the same groups always give the same parts.

    Groups come in the order of a hash. One that is much larger than what is sought is passed over;
    if that leaves nothing, the smallest is taken. The last group stays for training.
    """
    wanted = held_out * sum(groups.values())
    chosen = dict.fromkeys(groups, TRAIN)
    left = sorted(groups, key=_digest)
    for part in (TEST, VALIDATION):
        size = 0
        for sites in list(left):
            if len(left) > 1 and size < wanted and size + groups[sites] <= 2 * wanted:
                chosen[sites] = part
                left.remove(sites)
                size += groups[sites]
        if not size and len(left) > 1:
            smallest = min(left, key=lambda sites: (groups[sites], sites))
            chosen[smallest] = part
            left.remove(smallest)
    return chosen


def _digest(sites: tuple[str, ...]) -> bytes:
    return blake2b("\n".join(sites).encode("utf-8", "replace"), digest_size=8).digest()


def _site(url: str) -> str:
    return site_of(host_of(url))
