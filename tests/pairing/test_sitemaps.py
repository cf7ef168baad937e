"""What a sitemap declares of pages counts as what they declare, whenever it comes."""

from itertools import permutations

import pytest

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage

PAIR = LanguagePair.parse("spa-eus")
SITE = "https://www.udala.example"
SPANISH, BASQUE = f"{SITE}/agenda-de-verano", f"{SITE}/udako-egitaraua"
PAGES = (PairingPage(SPANISH, "spa"), PairingPage(BASQUE, "eus"))
MAP = ((SPANISH, ((BASQUE, "eus"),)), (BASQUE, ((SPANISH, "spa"), (f"{SITE}/x", "fra"))))


def take(matcher, *steps):
    """Pages, aliases and sitemaps, in order; what the last of them changed."""
    for step in steps:
        if isinstance(step, PairingPage):
            changes = matcher.add(step)
        elif isinstance(step[0], str):
            changes = matcher.alias(*step)
        else:
            changes = matcher.declare(step)
    return changes


def said(*steps):
    """The pairs, with what is said of their declarations, when everything is weighed."""
    matcher = Matcher(PAIR)
    take(matcher, *steps)
    matcher.finish()
    return {
        (pair.first, pair.second): (item.score, item.why)
        for pair in matcher.pairs
        for item in pair.evidence
        if item.detector == "alternates"
    }


@pytest.mark.parametrize("steps", list(permutations([*PAGES, MAP])))
def test_pages_with_nothing_else_in_common_are_paired_at_once(steps):
    matcher = Matcher(PAIR)
    changes = take(matcher, *steps)
    (pair,) = changes.found.values()
    assert (pair.first, pair.second) == (SPANISH, BASQUE)
    (item,) = [each for each in pair.evidence if each.detector == "alternates"]
    assert item.score >= 0.5
    assert item.why == "the site's map names each as the other's translation"


def test_without_the_sitemap_there_is_no_pair():
    assert said(*PAGES) == {}


def test_what_a_page_says_itself_and_the_sitemap_too_counts_once():
    own = PairingPage(SPANISH, "spa", ((BASQUE, "eus"),))
    ((score, why),) = said(own, PAGES[1], MAP).values()
    assert why == "each page names the other as its translation"
    assert said(own, PAGES[1], MAP, MAP) == said(MAP, PAGES[1], own)
    assert score == 0.95


@pytest.mark.parametrize("late", [True, False])
def test_a_sitemap_may_use_the_old_names_of_pages(late):
    old = ((f"{SITE}/1", ((f"{SITE}/2", "eus"),)), (f"{SITE}/2", ((f"{SITE}/1", "spa"),)))
    moved = [(f"{SITE}/1", SPANISH), (f"{SITE}/2", f"{SITE}/3"), (f"{SITE}/3", BASQUE)]
    steps = [old, *PAGES, *moved] if late else [*moved, *PAGES, old]
    assert set(said(*steps)) == {(SPANISH, BASQUE)}


def test_a_page_under_its_own_url_has_its_claims_before_one_that_calls_itself_so():
    copy = PairingPage(f"{SITE}/a-copy", "spa", names=(SPANISH,))
    results = [said(*steps) for steps in permutations([copy, *PAGES, MAP])]
    assert all(result == results[0] for result in results)
    assert set(results[0]) == {(SPANISH, BASQUE)}


def test_the_detector_may_be_left_unasked():
    matcher = Matcher(PAIR, ["url_key"])
    take(matcher, *PAGES, MAP)
    matcher.finish()
    assert matcher.pairs == []
