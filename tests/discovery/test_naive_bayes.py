"""The classifier of discovery, against figures worked out by hand."""

import math

import pytest

from bilingual_crawler.discovery.learner import Calibration, NaiveBayes


def taught(**options):
    """Two relevant links with three words, three irrelevant ones with five."""
    bayes = NaiveBayes(**options)
    bayes.learn(["anchor:hotel", "host:es"], True)
    bayes.learn(["anchor:hotel"], True)
    bayes.learn(["anchor:news", "host:com"], False)
    bayes.learn(["anchor:hotel", "host:com"], False)
    bayes.learn(["anchor:news"], False)
    return bayes


def test_a_word_says_how_much_oftener_it_stands_beside_relevant_links():
    # "hotel" is 3 of 8 words; with a weight of 8 that is 3 words more in each class:
    # (2 + 3) / (3 + 8) among relevant links, (1 + 3) / (5 + 8) among the others.
    assert taught(weight=8).says("anchor:hotel") == pytest.approx(math.log((5 / 11) / (4 / 13)))


def test_the_same_word_in_another_context_is_another_word():
    assert taught().says("url:hotel") == 0.0


def test_the_odds_are_those_of_the_classes_times_those_of_the_words():
    bayes = taught(weight=8)
    # "host:es" is 1 of 8: (1 + 1) / 11 against (0 + 1) / 13; two relevant links, three others.
    expected = math.log(2 / 3) + math.log((5 / 11) / (4 / 13)) + math.log((2 / 11) / (1 / 13))
    assert bayes.log_odds(["anchor:hotel", "host:es", "anchor:unheard"]) == pytest.approx(expected)


def log_probability(bayes, words):
    return Calibration().log_probability(bayes.log_odds(words))


def test_a_probability_is_the_odds_in_another_form():
    bayes = taught(weight=8)
    odds = math.exp(bayes.log_odds(["anchor:hotel"]))
    assert math.exp(log_probability(bayes, ["anchor:hotel"])) == pytest.approx(odds / (1 + odds))


def test_links_that_are_all_but_certain_still_have_an_order():
    bayes = NaiveBayes(weight=0.001)
    for number in range(40):
        bayes.learn([f"w{number}"], True)
        bayes.learn(["other"], False)
    many = [f"w{number}" for number in range(40)]
    assert log_probability(bayes, many) > log_probability(bayes, many[:39])


def test_a_word_seen_once_beside_an_irrelevant_link_does_not_speak_for_relevance():
    bayes = NaiveBayes()
    for number in range(1000):
        bayes.learn([f"a{number}", "common"], False)
    for number in range(20):
        bayes.learn([f"b{number}", "common"], True)
    assert bayes.says("a7") < 0 < bayes.says("b7")
    assert abs(bayes.says("common")) < 0.1


@pytest.mark.parametrize("relevant", [True, False])
def test_nothing_is_likely_before_both_kinds_were_seen(relevant):
    bayes = NaiveBayes()
    bayes.learn(["anchor:hotel"], relevant)
    assert bayes.log_odds(["anchor:hotel"]) == 0.0


def test_the_strongest_words_come_first():
    words = [word for word, _ in taught().strongest(2)]
    assert words == ["host:es", "anchor:hotel"]


def test_memory_is_bounded_and_what_is_frequent_stays():
    bayes = NaiveBayes(most_words=100)
    for number in range(1000):
        bayes.learn([f"rare{number}", "frequent"], number % 2 == 0)
    assert sum(map(len, bayes._counts)) <= 100
    assert bayes._counts[0]["frequent"] == bayes._counts[1]["frequent"] == 500
    assert bayes._totals == [sum(counts.values()) for counts in bayes._counts]
