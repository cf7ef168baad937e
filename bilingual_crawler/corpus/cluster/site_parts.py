"""How a site that is too large for one task is split: what may be translations stays together.

Each page has keys: its address without language tokens, and those of the pages that it declares or
that its language switch leads to. Pages with a key in common are joined (union-find), and joined
pages go to one part. Keys that too many pages share, such as the home page in each menu, join
nothing.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.language_tokens import url_key

MOST_CLAIMS = 50
"""Declared translations of a page that count."""
MOST_SHARING = 50
"""Pages that a key may join: more than the languages of a page, fewer than the pages of a menu."""


def keys_of(url: str, claimed: Sequence[str], tokens: frozenset[str]) -> list[int]:
    """Return the keys of a page, its own first; claims on other sites do not count."""
    site = site_of(host_of(url))
    inside = [each for each in claimed[:MOST_CLAIMS] if site_of(host_of(each)) == site]
    return list(dict.fromkeys(_number(url_key(each, tokens).key) for each in (url, *inside)))


def _number(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "big")


def parts_of(pages: Sequence[Sequence[int]], parts: int) -> list[int]:
    """Return the part of each page, given the keys of all pages of a site."""
    sharing = Counter(key for keys in pages for key in set(keys))
    parent: dict[int, int] = {}

    def root(key: int) -> int:
        while parent.setdefault(key, key) != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for own, *others in pages:
        for other in others:
            if max(sharing[own], sharing[other]) <= MOST_SHARING:
                low, high = sorted((root(own), root(other)))
                parent[high] = low
    return [root(keys[0]) % parts for keys in pages]
