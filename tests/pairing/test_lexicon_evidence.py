"""What a learned lexicon says about pages, and which pages it brings together."""

import random

import pytest

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.lexicon import UNTESTED
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import page_of
from bilingual_crawler.pairing.resources import PairingAids
from tests.support.lexicon import SITE, lexicon_of, numbers_of, text_page

PAIR = LanguagePair.parse("spa-eus")
KNOWN = lexicon_of(range(400))
PAGES = 12


def site_pages():
    """Pages that nothing ties together but the meaning of their words."""
    for number in range(PAGES):
        for language, name in (("spa", f"a{number * 7 % 12}"), ("eus", f"b{number * 5 % 12}")):
            yield page_of(text_page(f"{SITE}/{name}", language, numbers_of(number)))


TRUE = {(f"{SITE}/a{n * 7 % 12}", f"{SITE}/b{n * 5 % 12}") for n in range(PAGES)}


def matched(lexicon, pages=None, detectors=None):
    aids = PairingAids(lexicons=() if lexicon is None else (lexicon,))
    matcher = Matcher(PAIR, detectors, aids)
    for each in site_pages() if pages is None else pages:
        matcher.add(each)
    matcher.finish()
    return matcher


def found(matcher):
    return {(pair.first, pair.second) for pair in matcher.pairs}


def test_pages_that_only_words_tie_together_are_found_with_a_lexicon():
    assert found(matched(None)) == set()
    assert found(matched(KNOWN)) == TRUE


def test_the_lexicon_may_be_in_the_other_order_of_languages():
    assert found(matched(KNOWN.swapped())) == TRUE


def test_a_lexicon_that_has_not_beaten_chance_says_nothing():
    assert found(matched(KNOWN.tested(UNTESTED))) == set()


def test_a_lexicon_of_other_languages_says_nothing():
    assert found(matched(lexicon_of(range(400), ("deu", "eng")))) == set()


def test_without_its_detector_the_lexicon_is_not_asked():
    assert found(matched(KNOWN, detectors=["words", "lengths"])) == set()


def test_the_evidence_says_how_many_words_were_found():
    pair = matched(KNOWN).pairs[0]
    (said,) = (each for each in pair.evidence if each.detector == "lexicon")
    assert said.score > 0.9
    assert "words that earlier pairs taught have their translation on the other page" in said.why


def test_the_pairs_do_not_depend_on_the_order_in_which_pages_came():
    pages = list(site_pages())
    expected = {each.to_dict()["score"]: None for each in matched(KNOWN).pairs}
    for seed in range(3):
        random.Random(seed).shuffle(pages)
        again = matched(KNOWN, pages)
        assert found(again) == TRUE
        assert {each.to_dict()["score"]: None for each in again.pairs}.keys() == expected.keys()


def test_a_lexicon_that_comes_while_pages_come_is_used_for_all_in_the_end():
    matcher = Matcher(PAIR)
    pages = list(site_pages())
    for each in pages[:12]:
        matcher.add(each)
    matcher.use_lexicon(KNOWN)
    for each in pages[12:]:
        matcher.add(each)
    matcher.finish()
    assert found(matcher) == TRUE
    matcher.use_lexicon(None)
    matcher.finish()
    assert found(matcher) == set()


@pytest.mark.parametrize("pages", [60])
def test_words_bring_a_page_together_with_few_others_only(pages):
    matcher = Matcher(PAIR, aids=PairingAids(lexicons=(KNOWN,)))
    for number in range(pages):
        for language, letter in (("spa", "a"), ("eus", "b")):
            page = text_page(f"{SITE}/{letter}{number * 7 % pages}x", language, numbers_of(number))
            matcher.hold(page_of(page))
    matcher.finish()
    assert matcher.candidate_count <= 2 * 4 * pages


def test_pages_without_text_are_not_compared_by_words():
    empty = [page_of(text_page(f"{SITE}/{n}", n[:3], [])) for n in ("spa1", "eus1")]
    assert found(matched(KNOWN, empty)) == set()
