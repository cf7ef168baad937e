"""What a learned lexicon says about pages, and which pages it brings together."""

import random

import pytest

from bilingual_crawler.documents.document import Alternate
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing import lexicon_evidence
from bilingual_crawler.pairing.lexicon import UNTESTED
from bilingual_crawler.pairing.lexicon_evidence import LearnedWords
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


def tied_pages(how):
    """Pages with the words of the others, which also name each other or differ in one token."""
    for number in range(PAGES):
        spanish, basque = (
            (f"{SITE}/es/{number}", f"{SITE}/eu/{number}")
            if how == "url_key"
            else (f"{SITE}/a{number * 7 % 12}", f"{SITE}/b{number * 5 % 12}")
        )
        named = ([Alternate(basque, "eu", "eus")], [Alternate(spanish, "es", "spa")])
        for url, language, claims in zip((spanish, basque), ("spa", "eus"), named, strict=True):
            alternates = claims if how == "alternates" else []
            yield page_of(text_page(url, language, numbers_of(number), alternates=alternates))


def lopsided_pages():
    """Pages with rare words in common, of which one is many times as long as the other."""
    for number in range(PAGES):
        for language, paragraphs in (("spa", 8), ("eus", 60)):
            words = numbers_of(number, paragraphs=paragraphs)
            yield page_of(text_page(f"{SITE}/{number}{language}", language, words))


@pytest.fixture
def asked(monkeypatch):
    """The pages that the lexicon was asked about, one by one and in twos."""
    calls: dict[str, list[tuple]] = {"partners": [], "compare": []}
    for name, method in (
        ("partners", LearnedWords.partners),
        ("compare", LearnedWords.compare),
    ):

        def noted(self, *pages, name=name, method=method):
            calls[name].append(pages)
            return method(self, *pages)

        monkeypatch.setattr(LearnedWords, name, noted)
    return calls


@pytest.mark.parametrize("how", ["alternates", "url_key"])
def test_pages_that_are_tied_already_are_looked_up_by_their_words_only_in_the_end(how, asked):
    matcher = Matcher(PAIR, aids=PairingAids(lexicons=(KNOWN,)))
    pages = list(tied_pages(how))
    for each in pages:
        matcher.add(each)
    before = len(asked["partners"])
    assert before <= (0 if how == "alternates" else PAGES)  # the first of two has the only URL
    matcher.finish()
    assert len(asked["partners"]) - before == len(pages)
    assert len(matcher.pairs) == PAGES


def test_pages_that_nothing_ties_are_looked_up_by_their_words_at_once(asked):
    matcher = Matcher(PAIR, aids=PairingAids(lexicons=(KNOWN,)))
    for each in site_pages():
        matcher.add(each)
    assert len(asked["partners"]) >= 2 * PAGES


def test_the_lexicon_is_not_asked_about_pages_that_it_could_not_save(asked, monkeypatch):
    pages = [*tied_pages("alternates"), *lopsided_pages()]
    matcher = matched(KNOWN, pages)
    usual = {frozenset(page.page.url for page in two) for two in asked["compare"]}
    assert {frozenset(pair) for pair in found(matcher)} <= usual
    monkeypatch.setattr(lexicon_evidence, "HOPELESS_ODDS", float("-inf"))
    matched(KNOWN, pages)
    every = {frozenset(page.page.url for page in two) for two in asked["compare"]}
    assert len(usual) < len(every)


@pytest.mark.parametrize("how", ["alternates", "url_key", "words", "lopsided"])
def test_asking_about_every_two_pages_would_give_the_same_pairs(how, monkeypatch):
    pages = list(site_pages() if how == "words" else tied_pages(how.replace("lopsided", "url_key")))
    pages += lopsided_pages() if how == "lopsided" else ()

    def described():
        pairs = matched(KNOWN, pages).pairs
        return {(each.first, each.second): each.probability for each in pairs}

    usual = described()
    monkeypatch.setattr(lexicon_evidence, "HOPELESS_ODDS", float("-inf"))
    monkeypatch.setattr(lexicon_evidence, "CERTAIN_ODDS", float("inf"))
    assert usual == described()
    assert len(usual) == PAGES


def test_a_pair_is_explained_by_the_lexicon_only_if_it_had_a_say():
    matcher = Matcher(PAIR, aids=PairingAids(lexicons=(KNOWN,)))
    changes = [matcher.add(each) for each in tied_pages("alternates")]
    at_first = [pair for each in changes for pair in each.found.values()]
    matcher.finish()

    def says(pair):
        return any(each.detector == "lexicon" for each in pair.evidence)

    assert all(map(says, matcher.pairs))
    assert not any(map(says, at_first))
    assert all(pair.probability > 0.995 for pair in at_first)
