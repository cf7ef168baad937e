"""The statistical translation system that benchmarks train on harvested corpora."""

import pytest

from bilingual_crawler.lab.evaluation.phrase_translation import (
    NULL,
    PhraseTranslator,
    links_of,
    phrases_of,
    word_shares,
)

PAIRS = [
    (["the", "house"], ["la", "casa"]),
    (["the", "white", "house"], ["la", "casa", "blanca"]),
    (["the", "white", "door"], ["la", "puerta", "blanca"]),
    (["the", "door"], ["la", "puerta"]),
    (["a", "house"], ["una", "casa"]),
]


def test_the_words_of_two_sentences_find_each_other():
    pairs = [(["a"], ["x"]), (["a", "b"], ["x", "y"])]
    shares = word_shares(pairs)
    assert shares["a", "x"] > 0.6 > shares["a", "y"]
    assert shares["b", "x"] < shares["b", "y"]
    for given in ("a", "b", NULL):
        assert sum(shares.get((given, word), 0) for word in "xy") == pytest.approx(1)


def test_phrases_are_those_that_no_link_leads_out_of():
    first, second = ["the", "white", "house"], ["la", "casa", "blanca"]
    found = set(phrases_of(first, second, {(0, 0), (1, 2), (2, 1)}))
    assert found == {
        (("the",), ("la",)),
        (("white",), ("blanca",)),
        (("house",), ("casa",)),
        (("white", "house"), ("casa", "blanca")),
        (("the", "white", "house"), ("la", "casa", "blanca")),
    }


def test_words_are_linked_where_both_directions_agree():
    forth = word_shares(PAIRS)
    back = word_shares([(second, first) for first, second in PAIRS])
    assert links_of(*PAIRS[1], forth, back) == {(0, 0), (1, 2), (2, 1)}


def test_a_new_sentence_is_put_together_from_phrases_and_unknown_words_are_copied():
    system = PhraseTranslator(PAIRS)
    assert system.translate(["a", "white", "house"]) == ["una", "casa", "blanca"]
    assert system.translate(["a", "Zzz"]) == ["una", "Zzz"]
    assert system.translate([]) == []
