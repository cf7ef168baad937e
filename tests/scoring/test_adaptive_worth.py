"""What a page is worth to the adaptive scorer: how much of a pair, and after how many downloads."""

import math

import pytest

from tests.support.adaptive import adaptive, fetch, page, pair

pytestmark = pytest.mark.usefixtures("without_rules")


def mixed(path, language, share, *links):
    """A page of which only a share is in its own language."""
    document = page(path, language, *links)
    document.language_shares = [(language, share), ("deu", 100 - share)]
    return document


def test_the_counterpart_of_a_page_in_mixed_languages_is_worth_less():
    whole = fetch(adaptive(), mixed("/en/a", "eng", 95, "/fr/a"))
    scorer = adaptive()
    document = mixed("/en/a", "eng", 45, "/fr/a")
    half = fetch(scorer, document)
    assert half["/fr/a"] < 0.5 * whole["/fr/a"]
    score, factors = scorer.explain(document, document.links[0])
    assert "text of the counterpart" in [each.name for each in factors]
    assert math.isclose(score, math.prod(each.value for each in factors))


def test_a_part_of_a_site_whose_pairs_are_in_mixed_languages_sinks():
    scorer = adaptive()
    for number in range(4):
        for part, share in (("clean", 99), ("mixed", 45)):
            english, french = (f"/{code}/{part}/{number}" for code in ("en", "fr"))
            fetch(scorer, mixed(english, "eng", share, french))
            fetch(scorer, mixed(french, "fra", share, english), pair(english, french))
    links = [f"/{code}/{part}/new" for part in ("mixed", "clean") for code in ("en", "fr")]
    scores = fetch(scorer, page("/en/", "eng", *links))
    assert scores["/en/clean/new"] > 1.5 * scores["/en/mixed/new"]


def test_of_two_pages_that_open_a_pair_the_one_whose_language_is_less_certain_comes_first():
    scorer = adaptive()
    for number in range(6):
        fetch(scorer, page(f"/en/{number}", "eng"))
        language = "fra" if number % 3 else "eng"  # what is not translated is there in English
        fetch(scorer, page(f"/fr/{number}", language))
    scores = fetch(scorer, page("/", "eng", "/en/new", "/fr/new"))
    assert scores["/fr/new"] > scores["/en/new"]


def test_the_language_that_is_always_translated_comes_before_the_one_that_is_not():
    scorer = adaptive()
    for number in range(5):
        fetch(scorer, page(f"/en/news/only-{number}", "eng"))
        french, english = f"/fr/news/bonjour-{number}", f"/en/news/hello-{number}"
        fetch(scorer, page(french, "fra", (english, "English")))
        fetch(scorer, page(english, "eng", (french, "Français")), pair(english, french))
    scores = fetch(scorer, page("/", "eng", "/en/news/another-one", "/fr/news/encore-une"))
    assert scores["/fr/news/encore-une"] > 1.3 * scores["/en/news/another-one"]
    again = adaptive()
    again.restore(scorer.state())
    document = page("/en/later", "eng", "/en/news/some-other", "/fr/news/une-autre")
    assert again.score(document, document.links) == scorer.score(document, document.links)


@pytest.mark.parametrize("name", ["feed/", "feed", "rss.xml", "wp-login.php?action=lost"])
def test_an_address_that_serves_programs_is_worth_little(name):
    scores = fetch(adaptive(), page("/", "eng", f"/fr/a/{name}", "/fr/a/feeding-time/"))
    assert scores[f"/fr/a/{name}"] < 0.2 * scores["/fr/a/feeding-time/"]


def test_ties_that_pairing_never_confirms_are_worth_less():
    def value_after(kept):
        scorer = adaptive()
        for number in range(4):
            english, french = (f"/{code}/a/{number}" for code in ("en", "fr"))
            fetch(scorer, page(english, "eng", (french, "Français")))
            pairs = [pair(english, french)] if kept else []
            fetch(scorer, page(french, "fra", (english, "English")), *pairs)
        return fetch(scorer, page("/en/a/new", "eng", ("/fr/a/new", "Français")))["/fr/a/new"]

    assert value_after(kept=False) < 0.5 * value_after(kept=True)


def test_a_crawl_learns_which_texts_have_no_translation():
    short, long = ["A few words about one thing."], ["One more publication of many. " * 200]
    scorer = adaptive()
    for number in range(5):
        for part, text in (("brief", short), ("list", long)):
            english, french = (f"/{code}/{part}-{number}" for code in ("en", "fr"))
            fetch(scorer, page(english, "eng", text=text))
            pairs = [pair(english, french)] if text is short else []
            fetch(scorer, page(french, "fra", text=text), *pairs)
    brief = fetch(scorer, page("/en/new-brief", "eng", "/fr/new-brief", text=short))
    again = adaptive()
    again.restore(scorer.state())
    document = page("/en/new-list", "eng", "/fr/new-list", text=long)
    whole = fetch(scorer, document)
    assert whole["/fr/new-list"] < 0.8 * brief["/fr/new-brief"]
    score, factors = scorer.explain(document, document.links[0])
    assert "text of the counterpart" in [each.name for each in factors]
    assert math.isclose(score, math.prod(each.value for each in factors))
    assert fetch(again, document) == whole
