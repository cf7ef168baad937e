"""How pairs of documents are judged by a gold list that is not complete."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.document import Unwanted
from bilingual_crawler.lab.evaluation.document_pairs import Judge, PairFigures, alone, misses
from bilingual_crawler.pairing.one_to_one import greedy_choice
from bilingual_crawler.pairing.pair import DocumentPair, Evidence


def pair(first, second, **scores):
    evidence = tuple(Evidence(name, score, "so") for name, score in scores.items())
    return DocumentPair(first, second, ("eng", "fra"), evidence)


def test_pairs_are_right_wrong_or_unjudged():
    judge = Judge([("a", "A"), ("b", "B"), ("c", "C")])
    figures = judge.figures([("a", "A"), ("B", "b"), ("c", "X"), ("y", "Y")])
    assert figures == PairFigures(gold=3, found=4, correct=2, wrong=1)
    assert figures.unjudged == 1
    assert figures.precision == pytest.approx(2 / 3)
    assert figures.recall == pytest.approx(2 / 3)
    assert figures.f1 == pytest.approx(2 / 3)


def test_a_pair_of_two_gold_pages_that_do_not_belong_together_is_one_error():
    figures = Judge([("a", "A"), ("b", "B")]).figures([("a", "B")])
    assert (figures.correct, figures.wrong, figures.f1) == (0, 1, 0.0)


def test_without_judged_pairs_there_is_no_precision():
    figures = Judge([("a", "A")]).figures([("x", "X")])
    assert figures.to_dict()["precision"] is None
    assert (figures.recall, figures.f1) == (0.0, 0.0)


def test_a_row_that_stands_twice_counts_once():
    assert len(Judge([("a", "A"), ("A", "a")]).gold) == 1


NAMES = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(NAMES, NAMES)), st.lists(st.tuples(NAMES, NAMES)))
def test_every_pair_is_counted_as_one_of_three(gold, found):
    figures = Judge(gold).figures(found)
    assert min(figures.correct, figures.wrong, figures.unjudged) >= 0
    assert 0 <= figures.recall <= 1
    assert 0 <= figures.f1 <= 1


@given(st.lists(st.tuples(st.floats(0, 1), NAMES, NAMES.map(str.upper))))
def test_a_greedy_choice_takes_each_page_once_and_the_best_of_all(scored):
    chosen = greedy_choice(scored)
    firsts, seconds = [first for first, _ in chosen], [second for _, second in chosen]
    assert len(set(firsts)) == len(firsts)
    assert len(set(seconds)) == len(seconds)
    for score, first, second in scored:
        better = [s for s, f, t in scored if (f, t) in chosen and (f == first or t == second)]
        assert max(better) >= score


def test_a_detector_alone_takes_what_it_is_sure_of_best_first():
    candidates = [
        pair("a", "A", url=0.9, images=0.4),
        pair("a", "B", url=0.95),
        pair("b", "B", url=0.6, images=0.7),
        pair("c", "C", images=0.3),
    ]
    found = alone(candidates, ["url", "images", "silent"])
    assert found == {"url": [("a", "B")], "images": [("b", "B")], "silent": []}


class Read:
    """The pages of a run, by the first letter of their names."""

    def language_of(self, url):
        return {"e": "eng", "f": "fra"}.get(url[0])

    def why_unused(self, url):
        if url[0] == "d":
            return Unwanted("off_language", "the page is in neither language but in deu")
        return Unwanted("no_text", "no text on the page but menus") if url[0] == "n" else None


@pytest.mark.parametrize(
    ("gold", "reason", "detail"),
    [
        (("e1", "x"), "page not in the input", "x"),
        (("d1", "f1"), "page in another language", "deu"),
        (("e1", "n"), "page without text", "menus"),
        (("e1", "e2"), "both pages in one language", "eng"),
        (("e1", "f1"), "never a candidate", ""),
        (("e2", "f2"), "probability too low", "0.30 (url 0.30: so)"),
        (("e3", "f3"), "lost to another partner", "e3 has f4 at 0.90, this pair has 0.80"),
    ],
)
def test_a_miss_has_its_reason(gold, reason, detail):
    found = [pair("e3", "f4", url=0.9)]
    weighed = [*found, pair("e2", "f2", url=0.3), pair("e3", "f3", url=0.8)]
    (miss,) = misses(Judge([gold]), found, weighed, Read())
    assert {miss.first, miss.second} == set(gold)
    assert miss.reason == reason
    assert detail in miss.detail


def test_what_was_found_is_no_miss():
    found = [pair("e1", "f1", url=0.9)]
    assert misses(Judge([("f1", "e1")]), found, found, Read()) == []
