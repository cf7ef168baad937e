"""Almeida's validation: five comparisons, a minimum for each, a weighted mean."""

import pytest
from hypothesis import given, settings

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.almeida import (
    Validation,
    file_type,
    judge,
    normalised_name,
    shared_matches,
    text_similarity,
)
from tests.support.pairing import SITE, packed, page, pages

PAIR = LanguagePair.parse("por-eng")
TOKENS = PAIR.first.tokens | PAIR.second.tokens


@pytest.mark.parametrize("name", ["Index_pt.html", "index-en.htm", "pt.index.php", "index.html.en"])
def test_names_of_one_page_are_normalised_alike(name):
    assert normalised_name(name, TOKENS) == "index"


def test_only_letters_are_left_of_a_name():
    assert normalised_name("Página-12_b.php", TOKENS) == "páginab"


@pytest.mark.parametrize(
    ("one", "other", "similarity"),
    [
        ("wwwuminio", "wwwdiuminho", 1 - 4 / 20),  # d, i and h inserted, i moved: i deleted
        ("abc", "abc", 1.0),
        ("abc", "xyz", 0.0),
        ("ab", "b", 1 - 1 / 3),
        ("", "", 1.0),
    ],
)
def test_similarity_counts_insertions_and_deletions(one, other, similarity):
    assert text_similarity(one, other) == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/f1.htm", "html"),
        ("/f1", "html"),
        ("/", "html"),
        ("/v2.0", "html"),
        ("/core.html.en", "html"),
        ("/f1.pdf", "pdf"),
        ("/f1.xpto", None),
    ],
)
def test_types_are_told_by_the_ending(path, kind):
    assert file_type(SITE + path, TOKENS) == kind


def test_matches_in_both_files_are_counted():
    assert shared_matches(packed("a", "b", "c"), packed("b")) == 0.5
    assert shared_matches(b"", b"") == 1.0


def judged(one, other, **options):
    first, second = page("/casa_pt.html", "por", **one), page("/casa_en.html", "eng", **other)
    return judge(first, second, TOKENS, {"html": Validation(**options)})


def test_the_mean_of_a_case_computed_by_hand():
    found = judged(
        {"characters": 80, "punctuation": "..?", "links": packed("a", "b"), "images": packed("i")},
        {"characters": 100, "punctuation": "...", "links": packed("b", "c"), "images": packed("i")},
    )  # size 80%, name 100%, punctuation 1 - 2/6, links 50%, images 100%: 79.3% on average
    mean = (0.8 + 1 + 2 / 3 + 0.5 + 1) / 5
    assert found.score == pytest.approx(0.5 + 0.5 * (mean - 0.75) / 0.25)
    assert found.why == "size 80%, name 100%, punctuation 67%, links 50%, images 100%"


def test_a_pair_is_accepted_from_seventy_five_percent_on():
    assert judged({"characters": 50}, {"characters": 100}).score == 0.5
    assert judged({"characters": 51}, {"characters": 100}, accept=0.76).score < 0.5


def test_a_size_below_its_minimum_ends_the_validation():
    found = judged({"characters": 49}, {"characters": 100})
    assert found.score < 0.5
    assert found.why == "size 49%, below 50%"


def test_weights_and_minimums_can_be_set():
    one = {"characters": 60, "punctuation": "!"}
    other = {"characters": 100, "punctuation": "."}
    assert judged(one, other).score < 0.5
    assert judged(one, other, weights={"name": 1.0}).score == 1.0
    assert judged(one, other, weights={"name": 1.0}, minimums={"punctuation": 0.1}).score < 0.5


@pytest.mark.parametrize(("first", "second"), [("/a.txt", "/a.pdf"), ("/a.xpto", "/a.xpto")])
def test_files_of_other_or_unknown_types_are_no_pair(first, second):
    one, other = (page(path, characters=9) for path in (first, second))
    assert judge(one, other, TOKENS).score == 0.0


def test_a_page_without_text_is_not_judged():
    assert judge(page(), page(characters=9), TOKENS) is None


@settings(max_examples=60)
@given(pages, pages)
def test_no_pages_are_too_strange_to_be_judged(one, other):
    found = judge(one, other, TOKENS)
    assert found is None or 0.0 <= found.score <= 1.0
