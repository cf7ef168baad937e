"""The URLs of a site in lists by language, and which of two lists are nearly the same.

This is the URL half of PPLocator (Vieira and Moreira 2012), for the crawler that decides
what to fetch and for the detector that pairs what was fetched. The paper compares every URL
of one list with every URL of the other. Here a URL is compared with those that share its
rarest pieces of four letters: as in a text search, from an inverted index, so that the work
grows with the URLs and not with their square.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from heapq import nlargest
from itertools import chain, islice
from typing import Literal, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.urls.announced import announced_languages
from bilingual_crawler.urls.hosts import host_of, site_of

ALIKE = 0.85
"""The Levenshtein similarity from which two URLs may be a pair."""
LONGEST_COMPARED = 500
"""Letters of a URL that are compared."""

_NOISE = re.compile(r"^https?://|\b(?:www|index|http)\b\.?|/$")
_PIECE = 4
_MOST_LISTED = 300
"""URLs that are looked at in the index: those under the rarest pieces."""
_MOST_COMPARED = 32
"""URLs that are compared letter by letter: those that share most of the pieces."""

Side = Literal["first", "second", "unknown"]


class AlikeUrls(NamedTuple):
    """A URL of the first language and the one most like it of the second."""

    first: str
    second: str
    similarity: float


def normalised(url: str) -> str:
    """A URL without what says nothing of its page: scheme, www, index."""
    return _NOISE.sub("", url.lower())


def side_of(url: str, pair: LanguagePair) -> Side | None:
    """The list of a URL; None for one with a third language's token."""
    named = announced_languages(url)
    ours = named & frozenset(pair.codes)
    if named and not ours:
        return None
    if len(ours) != 1:
        return "unknown"
    return "first" if pair.first.code in ours else "second"


def compared_with(side: Side, lists: Mapping[Side, Sized]) -> Side | None:
    """The other language's list; the unknown URLs in the place of one that is empty."""
    sides: tuple[Side, Side] = ("first", "second")
    filled = [each for each in sides if lists[each]]
    if side == "unknown":
        return filled[0] if len(filled) == 1 else None
    others = [each for each in filled if each != side]
    return others[0] if others else "unknown"


def similarity(one: str, other: str) -> float:
    """The Levenshtein similarity of two normalised URLs; 0 where it is below `ALIKE`."""
    return Levenshtein.normalized_similarity(
        one[:LONGEST_COMPARED], other[:LONGEST_COMPARED], score_cutoff=ALIKE
    )


def most_alike(name: str, others: Sequence[str]) -> tuple[str, float] | None:
    """The normalised URL that is most like this one, if it is enough so."""
    found = process.extractOne(
        name, others, scorer=Levenshtein.normalized_similarity, score_cutoff=ALIKE
    )
    return None if found is None else (found[0], found[1])


def candidates(urls: Iterable[str], pair: LanguagePair) -> Iterator[AlikeUrls]:
    """Every URL of a site's first list with the most similar one of its second, site by site.

    A site without a token of either language is left out, as in the paper.
    """
    sites: defaultdict[str, dict[Side, dict[str, str]]] = defaultdict(
        lambda: {"first": {}, "second": {}, "unknown": {}}
    )
    for url in urls:
        side = side_of(url, pair)
        if side is not None:
            sites[site_of(host_of(url))][side].setdefault(normalised(url), url)
    for lists in sites.values():
        if not lists["first"] and not lists["second"]:
            continue
        first, second = (lists[side] or lists["unknown"] for side in ("first", "second"))
        index = PieceIndex(second)
        for name, url in first.items():
            if found := most_alike(name[:LONGEST_COMPARED], index.near(name)):
                yield AlikeUrls(url, second[found[0]], found[1])


class PieceIndex:
    """Finds the texts that share the rarest pieces with another text."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [text for text in texts if len(text) <= LONGEST_COMPARED]
        self._listed: defaultdict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._texts):
            for piece in _pieces(text):
                self._listed[piece].append(number)

    def near(self, text: str) -> list[str]:
        """The texts that have most of the rare pieces of a text, and about its length."""
        listed = [self._listed[piece] for piece in _pieces(text) if piece in self._listed]
        listed.sort(key=len)
        votes = Counter(islice(chain.from_iterable(listed), _MOST_LISTED))
        length, texts = len(text), self._texts

        def promise(number: int) -> int:
            return votes[number] - abs(length - len(texts[number]))

        return [texts[number] for number in nlargest(_MOST_COMPARED, votes, key=promise)]


def _pieces(text: str) -> dict[str, None]:
    """The different pieces in their order, so that every run compares the same."""
    count = max(1, min(len(text), LONGEST_COMPARED) - _PIECE + 1)
    return dict.fromkeys(text[at : at + _PIECE] for at in range(count))
