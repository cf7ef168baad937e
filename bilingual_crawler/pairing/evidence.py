"""Why two pages are a pair, in words: what each detector alone says about them.

A score of at least 0.5 means that the detector alone would accept the pair. The probability of a
pair is computed from the numbers behind these scores, not from the scores.
"""

from collections.abc import Iterator
from statistics import StatisticsError, correlation

from bilingual_crawler.documents.document import DocumentKey
from bilingual_crawler.pairing.claims import MutualClaims
from bilingual_crawler.pairing.comparison import NUMBERS
from bilingual_crawler.pairing.known_pages import KnownPage
from bilingual_crawler.pairing.pair import Evidence
from bilingual_crawler.pairing.profile import Profile

SAME_PAGE = 0.99
BOTH_CLAIM, ONE_CLAIMS, CLAIM_OTHERS = 0.95, 0.4, 0.05
BOTH_SWITCH, ONE_SWITCHES, SWITCH_TO_HUB = 0.9, 0.7, 0.4
MOST_CLAIMANTS = 3
BOTH_TOKENS, ONE_TOKEN, NO_TOKEN, WRONG_TOKEN = 0.9, 0.8, 0.3, 0.3
ALIKE = 0.85
LEAST_PARAGRAPHS = 5

_AT = {name: at for at, name in enumerate(NUMBERS)}


def same_page(first: KnownPage, second: KnownPage) -> Evidence | None:
    """Return evidence if both are documents of one URL, in one language each."""
    if DocumentKey.url_of(first.page.url) == DocumentKey.url_of(second.page.url):
        return Evidence("same_page", SAME_PAGE, "both are versions of one page")
    return None


def declared(said: MutualClaims, *, files: bool = False) -> Evidence | None:
    """Return what the pages, or a sitemap, declare about each other.

    Of `files` the places of links on two paired pages are named in the same way.
    """
    if said.sides:
        both = said.sides == 2  # noqa: PLR2004 - both
        why = f"{'each' if both else 'one'} page names the other as its"
        if said.by_map:
            why = f"the site's map names {'each' if both else 'one'} as the other's"
            if files:
                why = (
                    "by their places on two paired pages, or in the site's map, each is the other's"
                )
        return Evidence("alternates", BOTH_CLAIM if both else ONE_CLAIMS, f"{why} translation")
    if said.others:
        return Evidence("alternates", CLAIM_OTHERS, "the pages name others as their translations")
    return None


def switched(said: MutualClaims) -> Evidence | None:
    """Return where the language switches of the pages lead."""
    if not said.sides:
        return None
    if said.claimants > MOST_CLAIMANTS:
        why = f"a language switch leads from one to the other, as from {said.claimants} pages"
        return Evidence("switches", SWITCH_TO_HUB, why)
    if said.sides == 2:  # noqa: PLR2004 - both
        return Evidence("switches", BOTH_SWITCH, "the language switch of each leads to the other")
    return Evidence("switches", ONE_SWITCHES, "a language switch leads from one to the other")


def same_key(first: KnownPage, second: KnownPage) -> Evidence | None:
    """Return evidence if the URLs differ only in language tokens, and whether these fit."""
    if first.key.key != second.key.key:
        return None
    fits = (first.fit, second.fit)
    if -1 in fits:
        why = "URLs differ in tokens that contradict the text"
        return Evidence("url_key", WRONG_TOKEN, why)
    found = [repr(" ".join(each.key.tokens)) for each in (first, second) if each.key.tokens]
    shown = " and ".join(found)
    if fits == (1, 1):
        return Evidence("url_key", BOTH_TOKENS, f"URLs differ only in the tokens {shown}")
    if 1 in fits:
        return Evidence("url_key", ONE_TOKEN, f"URLs differ only in the token {shown}")
    return Evidence("url_key", NO_TOKEN, "URLs differ only in spelling")


def by_numbers(numbers: list[float]) -> Iterator[Evidence]:
    """Yield the evidence of plain numbers: the URL model, numbers, names, links and sizes."""
    if not numbers[_AT["no_url_model"]]:
        chance = numbers[_AT["url_model"]]
        why = f"the model of parallel URLs gives {chance:.2f}"
        yield Evidence("url_model", round(chance, 3), why)
    for kind in ("numbers", "links"):
        if not numbers[_AT[f"no_{kind}"]]:
            share = numbers[_AT[f"{kind}_weighed"]]
            yield Evidence(kind, _round(share), f"{share:.0%} of the {kind} are on both, by rarity")
    if not numbers[_AT["no_words"]]:
        share = numbers[_AT["words_contained"]]
        yield Evidence("words", _round(share), f"{share:.0%} of the words are on both, by rarity")
    if not numbers[_AT["no_punctuation"]]:
        alike = numbers[_AT["punctuation"]]
        yield Evidence("punctuation", _round(alike), f"the marks . ! ? are {alike:.0%} alike")


def lengths(one: Profile, other: Profile) -> Iterator[Evidence]:
    """Yield evidence from whether long paragraphs match long ones and short ones short ones."""
    mine = [each for each in one.fingerprint if each > 0]
    theirs = [each for each in other.fingerprint if each > 0]
    short, long = sorted((len(mine), len(theirs)))
    if short < LEAST_PARAGRAPHS:
        return
    try:
        along = max(0.0, correlation(mine[:short], theirs[:short]))
    except StatisticsError:  # all of one length
        return
    score = along * short / long
    why = f"{short} and {long} paragraphs whose lengths correlate by {along:.2f}"
    yield Evidence("lengths", _round(score), why)


def _round(score: float) -> float:
    return round(min(1.0, max(0.0, score)), 3)
