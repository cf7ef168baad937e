"""The pair detector of PPLocator (Vieira and Moreira 2012): similar URLs, then a decision tree.

PPLocator puts the URLs of each site on a list per language, by their tokens, and compares each with
the most similar URL of the other list. An index of rare pieces keeps that near-linear.

The tree uses four features: ratio of word counts, ratio of sizes in bytes, edit distance between
the HTML tags, and the share of words that both pages have (mostly names). It needs no dictionary
and no language identifier. About 110 labelled candidates train it.

Two things differ from the paper, so that one tree serves all sites and language pairs: ratios are
of the smaller to the larger (which language is longer depends on the pair), and the edit distance
is divided by the length of the longer page (two pages of a hundred tags that differ in ten are not
like two of a thousand).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from heapq import nlargest
from itertools import chain, islice
from typing import Literal, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import Evidence, PairingPage
from bilingual_crawler.pairing.profile import MOST_WORDS, Profile, passing, ratio, shared_words
from bilingual_crawler.pairing.small_models import DecisionTree
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.language_tokens import announced_languages

ALIKE = 0.85
"""The least Levenshtein similarity of two URLs that may be a pair."""
LONGEST_COMPARED = 500
"""Characters of a URL that are compared."""

_NOISE = re.compile(r"^https?://|\b(?:www|index|http)\b\.?|/$")
_PIECE = 4
_MOST_LISTED = 300
"""The most URLs to look at in the index: those under the rarest pieces."""
_MOST_COMPARED = 32
"""The most URLs to compare letter by letter: those that share most pieces."""

Side = Literal["first", "second", "unknown"]


class AlikeUrls(NamedTuple):
    """A URL of the first language and the most similar one of the second."""

    first: str
    second: str
    similarity: float


def normalised(url: str) -> str:
    """Return a URL without what says nothing about its page: scheme, www, index."""
    return _NOISE.sub("", url.lower())


def side_of(url: str, pair: LanguagePair) -> Side | None:
    """Return the list that a URL is on; None if it has a third language's token."""
    named = announced_languages(url)
    ours = named & frozenset(pair.codes)
    if named and not ours:
        return None
    if len(ours) != 1:
        return "unknown"
    return "first" if pair.first.code in ours else "second"


def compared_with(side: Side, lists: Mapping[Side, Sized]) -> Side | None:
    """Return the other language's list; the unknown URLs if it is empty."""
    sides: tuple[Side, Side] = ("first", "second")
    filled = [each for each in sides if lists[each]]
    if side == "unknown":
        return filled[0] if len(filled) == 1 else None
    others = [each for each in filled if each != side]
    return others[0] if others else "unknown"


def similarity(one: str, other: str) -> float:
    """Return the Levenshtein similarity of two normalised URLs; 0 where it is below `ALIKE`."""
    return Levenshtein.normalized_similarity(
        one[:LONGEST_COMPARED], other[:LONGEST_COMPARED], score_cutoff=ALIKE
    )


def most_alike(name: str, others: Sequence[str]) -> tuple[str, float] | None:
    """Return the most similar normalised URL, if it is similar enough."""
    found = process.extractOne(
        name, others, scorer=Levenshtein.normalized_similarity, score_cutoff=ALIKE
    )
    return None if found is None else (found[0], found[1])


def candidates(urls: Iterable[str], pair: LanguagePair) -> Iterator[AlikeUrls]:
    """Yield every URL of each site's first list with the most similar one of its second.

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
        """Return the texts that have most of the rare pieces of a text, and about its length."""
        listed = [self._listed[piece] for piece in _pieces(text) if piece in self._listed]
        listed.sort(key=len)
        votes = Counter(islice(chain.from_iterable(listed), _MOST_LISTED))
        length, texts = len(text), self._texts

        def promise(number: int) -> int:
            return votes[number] - abs(length - len(texts[number]))

        return [texts[number] for number in nlargest(_MOST_COMPARED, votes, key=promise)]


def _pieces(text: str) -> dict[str, None]:
    """Return the distinct pieces in order, so that every run compares the same."""
    count = max(1, min(len(text), LONGEST_COMPARED) - _PIECE + 1)
    return dict.fromkeys(text[at : at + _PIECE] for at in range(count))


MOST_TAGS = 800
"""Tags of a page that are compared."""
MOST_DISTANCE = 0.6
"""Pages with more differing tags count as entirely different, which is faster to find out."""

PageFeatures = tuple[float, float, float, float]


def judge_urls(first: PairingPage, second: PairingPage, pair: LanguagePair) -> Evidence | None:
    """Return evidence if the URLs are on the two lists and nearly the same.

    None where neither URL has a token: such a pair is on no list. Whether each is the other's most
    similar URL is for the matcher to decide.
    """
    sides = side_of(first.url, pair), side_of(second.url, pair)
    if sides == ("unknown", "unknown"):
        return None
    if sides[0] in (None, "second") or sides[1] in (None, "first"):
        return Evidence("url_similarity", 0.0, "a URL has the token of another language")
    alike = similarity(normalised(first.url), normalised(second.url))
    why = f"URLs {alike:.0%} the same" if alike else f"URLs less than {ALIKE:.0%} the same"
    return Evidence("url_similarity", passing(alike, ALIKE), why)


def judge_pages(first: PairingPage, second: PairingPage, tree: DecisionTree) -> Evidence | None:
    """Return the tree's answer for two pages; None where one has no text."""
    if not first.profile.words or not second.profile.words:
        return None
    features = page_features(first.profile, second.profile)
    words, _, distance, shared = features
    why = f"words {words:.0%}, tags {1 - distance:.0%}, shared words {shared:.0%}"
    return Evidence("pplocator", tree.score(features), why)


def page_features(one: Profile, other: Profile) -> PageFeatures:
    """Return ratio of words, ratio of bytes, distance of tags, and share of common words.

    Where the size of a page is unknown, the length of its text is used.
    """
    known = one.size > 0 and other.size > 0
    return (
        ratio(one.words, other.words),
        ratio(one.size, other.size) if known else ratio(one.characters, other.characters),
        _distance(one.tags[:MOST_TAGS], other.tags[:MOST_TAGS]),
        shared_words(one.vocabulary, other.vocabulary, MOST_WORDS),
    )


_distance = partial(Levenshtein.normalized_distance, score_cutoff=MOST_DISTANCE)
