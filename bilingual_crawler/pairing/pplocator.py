"""The pair detector of PPLocator (Vieira and Moreira 2012): alike URLs, then a decision tree.

The tree sees four features: ratio of word counts, ratio of sizes in bytes, edit distance
between the HTML tags, and the proportion of words that both pages share (names, mostly).
No dictionary and no language identifier is needed. About 110 labelled candidates train it.

Two things differ from the paper, so that one tree serves all sites and pairs of languages:
ratios are of the smaller to the larger (which language is the longer one is a matter of
the pair), and the edit distance is divided by the longer page (two pages of a hundred tags
that differ in ten are not like two of a thousand).
"""

from functools import partial

from rapidfuzz.distance import Levenshtein

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import Evidence, PairingPage
from bilingual_crawler.pairing.profile import MOST_WORDS, Profile
from bilingual_crawler.pairing.similarity import passing, ratio, shared_words
from bilingual_crawler.pairing.small_models import DecisionTree
from bilingual_crawler.pairing.url_lists import ALIKE, normalised, side_of, similarity

MOST_TAGS = 800
"""Tags of a page that are compared."""
MOST_DISTANCE = 0.6
"""Tags that differ more are all as different as can be, and found out sooner."""

PageFeatures = tuple[float, float, float, float]


def judge_urls(first: PairingPage, second: PairingPage, pair: LanguagePair) -> Evidence | None:
    """Whether the URLs are on the two lists and nearly the same.

    None where neither URL has a token: such a pair is on no list. Whether each is the other's
    most similar URL is for the matcher to say.
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
    """What the tree says of the two pages; None where one has no text."""
    if not first.profile.words or not second.profile.words:
        return None
    features = page_features(first.profile, second.profile)
    words, _, distance, shared = features
    why = f"words {words:.0%}, tags {1 - distance:.0%}, shared words {shared:.0%}"
    return Evidence("pplocator", tree.score(features), why)


def page_features(one: Profile, other: Profile) -> PageFeatures:
    """Ratio of words, ratio of bytes, distance of tags, proportion of shared words.

    Where the size of a page is not known, its text stands for it.
    """
    known = one.size > 0 and other.size > 0
    return (
        ratio(one.words, other.words),
        ratio(one.size, other.size) if known else ratio(one.characters, other.characters),
        _distance(one.tags[:MOST_TAGS], other.tags[:MOST_TAGS]),
        shared_words(one.vocabulary, other.vocabulary, MOST_WORDS),
    )


_distance = partial(Levenshtein.normalized_distance, score_cutoff=MOST_DISTANCE)
