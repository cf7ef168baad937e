"""The adaptive scorer in crawls for more than two languages."""

from math import prod

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Link
from bilingual_crawler.languages import parse_parallel
from bilingual_crawler.pairing.pair import DocumentPair, Evidence
from bilingual_crawler.scoring.adaptive.scorer import AdaptiveScorer
from bilingual_crawler.scoring.scorer import NothingYet
from tests.support.adaptive import SITE, fetch, page

pytestmark = pytest.mark.usefixtures("without_rules")


def scorer_for(langs):
    return AdaptiveScorer(parse_parallel(langs), NothingYet(), Config())


def pair(first, second, *codes):
    return DocumentPair(SITE + first, SITE + second, codes, (Evidence("test", 0.9, "says so"),))


def test_a_version_in_a_third_language_is_worth_nearly_as_much_as_the_second_one():
    scorer = scorer_for("eng-fra-deu")
    versions = {"fr": "/fr/a", "de": "/de/a"}
    before = fetch(scorer, page("/en/a", "eng", "/fr/a", "/de/a", "/en/b", alternates=versions))
    fetch(scorer, page("/fr/a", "fra"), pair("/en/a", "/fr/a", "eng", "fra"))
    after = fetch(scorer, page("/en/", "eng", "/de/a", "/en/b"))
    assert before["/fr/a"] == pytest.approx(before["/de/a"])
    assert after["/de/a"] > 0.8 * before["/de/a"] > after["/en/b"]


def test_a_page_in_a_language_that_its_versions_have_already_is_worth_less_than_a_new_one():
    scorer = scorer_for("eng-fra-deu")
    fetch(scorer, page("/en/a", "eng"))
    fetch(scorer, page("/fr/other", "fra"), pair("/en/a", "/fr/other", "eng", "fra"))
    scores = fetch(scorer, page("/", "eng", "/fr/a", "/de/a"))
    assert scores["/de/a"] > 1.5 * scores["/fr/a"]


def test_a_page_that_opens_many_versions_is_worth_more_than_one_that_opens_two():
    scorer = scorer_for("eng-fra-deu-spa")
    scores = fetch(scorer, page("/", "ita", "/fr/b", "/de/b", "/fr/a", "/de/a", "/es/a", "/en/a"))
    assert scores["/en/a"] > 1.1 * scores["/de/b"]


def test_links_in_a_language_that_is_not_wanted_stand_behind():
    scorer = scorer_for("eng-fra-deu")
    fetch(scorer, page("/en/a", "eng", alternates={"fr": "/fr/a"}))
    scores = fetch(scorer, page("/en/", "eng", "/de/a", "/ru/a"))
    assert scores["/de/a"] > 5 * scores["/ru/a"]


def test_the_rules_of_a_site_are_learned_for_every_two_languages_and_probed():
    scorer = scorer_for("eng-fra-deu")
    for number in range(4):
        urls = {code: f"/d/{number}0aa?v={at}" for at, code in enumerate(("eng", "fra", "deu"))}
        fetch(scorer, page(urls["eng"], "eng"))
        fetch(scorer, page(urls["fra"], "fra"), pair(urls["eng"], urls["fra"], "eng", "fra"))
        fetch(
            scorer,
            page(urls["deu"], "deu"),
            pair(urls["eng"], urls["deu"], "eng", "deu"),
            pair(urls["fra"], urls["deu"], "fra", "deu"),
        )
    scorer.proposals()
    fetch(scorer, page("/d/new0bb?v=1", "fra"))
    probed = {each.url.removeprefix(SITE) for each in scorer.proposals()}
    assert probed == {"/d/new0bb?v=0", "/d/new0bb?v=2"}


def test_an_open_set_learns_which_languages_a_site_has():
    scorer = scorer_for("all")
    fetch(scorer, page("/", "ita", alternates={"fr": "/fr/", "eu": "/eu/"}, depth=0))
    scores = fetch(scorer, page("/fr/", "fra", "/eu/", "/fr/b"))
    assert scores["/eu/"] > 1.5 * scores["/fr/b"]
    (site,) = scorer._sites.values()
    assert site.numbers.codes == ("ita", "fra", "eus")


@pytest.mark.parametrize("langs", ["eng-fra-deu", "eng-*", "all"])
def test_what_was_learned_of_many_languages_survives(langs):
    before, after = scorer_for(langs), scorer_for(langs)
    fetch(before, page("/en/a", "eng", "/fr/a", alternates={"fr": "/fr/a", "de": "/de/a"}))
    fetch(before, page("/fr/a", "fra", "/en/a"), pair("/en/a", "/fr/a", "eng", "fra"))
    fetch(before, page("/ru/", "rus", "/ru/a"))
    after.restore(before.state())
    links = page("/en/z", "eng", "/de/a", "/fr/a", "/fr/z", "/de/z", "/ru/z")
    assert fetch(after, links) == fetch(before, links)


@pytest.mark.parametrize("langs", ["eng-fra-deu", "eng-*", "all"])
def test_the_factors_of_an_explanation_multiply_to_the_score(langs):
    scorer = scorer_for(langs)
    fetch(scorer, page("/en/a", "eng", alternates={"fr": "/fr/a", "de": "/de/a"}))
    fetch(scorer, page("/fr/a", "fra"), pair("/en/a", "/fr/a", "eng", "fra"))
    document = page("/en/", "eng")
    for path in ("/de/a", "/fr/b", "/de/b", "/en/b", "/x"):
        score, factors = scorer.explain(document, Link(SITE + path))
        assert prod(each.value for each in factors) == pytest.approx(score)
