"""PPLocator: URLs nearly the same, then four features and a decision tree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pplocator import (
    ALIKE,
    candidates,
    judge_pages,
    judge_urls,
    most_alike,
    normalised,
    page_features,
    side_of,
)
from bilingual_crawler.pairing.profile import Profile, passing, shared_words
from bilingual_crawler.pairing.small_models import DecisionTree, PairClassifiers, Split, shipped
from tests.support.pairing import SITE, packed, page, pages

PAIR = LanguagePair.parse("spa-eus")


def found(*paths):
    return {(each.first, each.second) for each in candidates([SITE + path for path in paths], PAIR)}


def urls(*paths):
    return tuple(SITE + path for path in paths)


def test_what_says_nothing_of_a_page_is_dropped_from_its_url():
    assert normalised("http://www.Site.org/pt/promocoes.php") == "site.org/pt/promocoes.php"
    assert normalised("https://site.org/eu/index.html") == "site.org/eu/html"


@pytest.mark.parametrize(
    ("path", "side"),
    [("/es/a", "first"), ("/a_eus.htm", "second"), ("/a", "unknown"), ("/fr/a", None)],
)
def test_a_url_is_listed_by_its_token(path, side):
    assert side_of(SITE + path, PAIR) == side


def test_urls_of_the_two_lists_are_compared_where_both_are_filled():
    assert found("/es/agenda", "/eu/agenda", "/agenda") == {urls("/es/agenda", "/eu/agenda")}


def test_unknown_urls_take_the_place_of_an_empty_list():
    assert found("/eu/agenda", "/agenda") == {urls("/agenda", "/eu/agenda")}


def test_a_site_without_tokens_is_dropped():
    assert found("/agenda", "/agendas") == set()


def test_urls_with_the_token_of_a_third_language_are_discarded():
    assert found("/es/agenda", "/fr/agenda") == set()


def test_the_most_similar_url_is_taken_from_eighty_five_percent_on():
    assert found("/es/agenda-2024", "/eu/agenda-2023", "/eu/agenda-2024") == {
        urls("/es/agenda-2024", "/eu/agenda-2024")
    }
    assert found("/es/agenda", "/eu/something-else-altogether") == set()


def test_sites_are_not_compared_with_each_other():
    two = ["https://one.example/es/agenda", "https://two.example/eu/agenda"]
    assert list(candidates(two, PAIR)) == []


@settings(max_examples=40)
@given(
    st.lists(st.tuples(*[st.sampled_from(["kale", "plaza", "berri", "12", "7"])] * 3), max_size=40)
)
def test_the_index_finds_what_comparing_all_with_all_finds(parts):
    names = [f"/{'es' if n % 2 else 'eu'}/{'-'.join(each)}" for n, each in enumerate(parts)]
    second = [normalised(SITE + name) for name in names if name.startswith("/eu")]
    if not second:
        return
    best = {each.first: each.similarity for each in candidates(urls(*names), PAIR)}
    for name in names:
        if name.startswith("/es"):
            full = most_alike(normalised(SITE + name), second)
            assert (full and full[1]) == best.get(SITE + name)


@given(st.lists(st.text(max_size=30), max_size=10))
def test_any_texts_may_be_given_for_urls(texts):
    for each in candidates(texts, PAIR):
        assert ALIKE <= each.similarity <= 1.0


def test_features_of_a_case_computed_by_hand():
    one = Profile(size=1_000, words=80, tags="hbhdd", vocabulary=packed("a", "b", "c"))
    other = Profile(size=800, words=100, tags="hbddd", vocabulary=packed("b", "c", "d", "e", "f"))
    assert page_features(one, other) == (0.8, 0.8, pytest.approx(0.2), pytest.approx(2 / 6))


def test_the_text_stands_for_a_size_that_is_not_known():
    one, other = Profile(characters=50), Profile(size=800, characters=100)
    assert page_features(one, other)[1] == 0.5


def test_sets_that_were_cut_are_compared_where_both_were_kept():
    whole = [f"word{n}" for n in range(100)]
    cut = sorted(whole, key=lambda text: packed(text)[::-1])[:50]
    assert shared_words(packed(*cut), packed(*whole), 50) == 1.0
    assert shared_words(packed(*cut), packed(*whole), 101) == 0.5


def test_a_tree_asks_its_questions():
    tree = DecisionTree(Split(2, 0.3, Split(0, 0.5, 0.1, 0.9), 0.2))
    alike = {"words": 90, "tags": "abc"}
    assert judge_pages(page(words=100, tags="abc"), page(**alike), tree).score == 0.9
    assert judge_pages(page(words=10, tags="abc"), page(**alike), tree).score == 0.1
    assert judge_pages(page(words=100, tags="xyz"), page(**alike), tree).score == 0.2


def test_a_page_without_text_is_not_judged():
    assert judge_pages(page(), page(words=3), shipped().pplocator) is None


@pytest.mark.parametrize(
    ("first", "second", "accepted"),
    [
        ("/es/agenda", "/eu/agenda", True),
        ("/agenda", "/eu/agenda", True),
        ("/eu/agenda", "/es/agenda", False),
        ("/es/agenda", "/fr/agenda", False),
        ("/es/agenda", "/eu/berriak-eta-oharrak", False),
    ],
)
def test_urls_are_judged_by_list_and_likeness(first, second, accepted):
    evidence = judge_urls(page(first), page(second, "eus"), PAIR)
    assert (evidence.score >= 0.5) is accepted


def test_urls_without_tokens_are_not_judged():
    assert judge_urls(page("/a"), page("/b"), PAIR) is None


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_score_passes_exactly_where_its_value_does(value, threshold):
    assert 0.0 <= passing(value, threshold) <= 1.0
    assert (passing(value, threshold) >= 0.5) == (value >= threshold)


@settings(max_examples=60)
@given(pages, pages)
def test_no_pages_are_too_strange_to_be_judged(one, other):
    for found in (judge_urls(one, other, PAIR), judge_pages(one, other, shipped().pplocator)):
        assert found is None or 0.0 <= found.score <= 1.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"structure": [[1]], "pplocator": 0}',
        '{"structure": [[[1, 0], 2.0]], "pplocator": 0}',
        '{"structure": [[[0, 0, -1], 2.0]], "pplocator": 0}',
        '{"structure": [[[0, 0, 0], 2.0]], "pplocator": [4, 0.5, 0, 1]}',
        "[" * 9_999,
    ],
)
def test_a_file_that_holds_no_classifiers_is_told_of(text):
    with pytest.raises(ConfigurationError, match=r"my\.json does not hold"):
        PairClassifiers.loads(text, "my.json")
