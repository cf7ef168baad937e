"""Ties of the adaptive scorer through redirects, and against a wrong partner."""

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.scoring.adaptive.page import Tie
from bilingual_crawler.scoring.adaptive.scorer import AdaptiveScorer
from bilingual_crawler.scoring.scorer import NothingYet
from tests.support.adaptive import PAIR, SITE, adaptive, fetch, page, pair

pytestmark = pytest.mark.usefixtures("without_rules")


def test_a_switch_to_an_alias_is_a_tie_to_the_page_that_it_leads_to():
    scorer = adaptive()
    fetch(scorer, page("/en/beer", "eng", ("/fr/biere", "Français")))
    before = fetch(scorer, page("/en/list", "eng", "/fr/biere/"))["/fr/biere/"]
    scorer.redirected(f"{SITE}/fr/biere", f"{SITE}/fr/biere/")
    after = dict(scorer.changes())[f"{SITE}/fr/biere/"]
    assert after > 1.2 * before
    assert after > 0.6


def test_after_two_redirects_an_alias_is_its_page_before_it_is_fetched():
    scorer = adaptive()
    for name in "xy":
        scorer.redirected(f"{SITE}/fr/{name}", f"{SITE}/fr/{name}/")
    fetch(scorer, page("/en/beer/", "eng", ("/fr/biere", "Français")))
    assert fetch(scorer, page("/en/list/", "eng", "/fr/biere/"))["/fr/biere/"] > 0.6


def test_a_redirect_that_is_told_twice_makes_no_habit():
    scorer = adaptive()
    for _ in range(2):
        scorer.redirected(f"{SITE}/fr/x", f"{SITE}/fr/x/")
    fetch(scorer, page("/en/beer/", "eng", ("/fr/biere", "Français")))
    assert fetch(scorer, page("/en/list/", "eng", "/fr/biere/"))["/fr/biere/"] < 0.6


def test_an_alias_of_a_fetched_page_is_worth_nothing():
    scorer = adaptive()
    fetch(scorer, page("/fr/biere/", "fra"))
    scorer.redirected(f"{SITE}/fr/biere", f"{SITE}/fr/biere/")
    assert fetch(scorer, page("/en/beer/", "eng", ("/fr/biere", "Français")))["/fr/biere"] < 1e-5


def test_a_page_that_declares_itself_under_an_alias_is_no_copy():
    scorer = adaptive()
    scores = fetch(
        scorer,
        page("/en/a/", "eng", "/fr/b/", alternates={"en": "/en/a", "fr": "/fr/b/"}),
    )
    assert scores["/fr/b/"] > 0.6


def test_redirects_and_habits_survive_a_restart():
    scorer = adaptive()
    for name in "xy":
        scorer.redirected(f"{SITE}/fr/{name}", f"{SITE}/fr/{name}/")
    fetch(scorer, page("/en/beer/", "eng", ("/fr/biere", "Français")))
    again = adaptive()
    again.restore(scorer.state())
    assert fetch(again, page("/en/list/", "eng", "/fr/biere/"))["/fr/biere/"] > 0.6


def test_a_wrong_early_pair_does_not_make_the_stated_translation_worthless():
    scorer = adaptive()
    fetch(scorer, page("/fr/cidre", "fra"))
    beer = page("/en/beer", "eng", ("/fr/biere", "Français"))
    assert fetch(scorer, beer, pair("/en/beer", "/fr/cidre"))["/fr/biere"] > 0.5


def test_the_target_of_a_redirect_is_judged_again_where_it_waits():
    scorer = adaptive()
    fetch(scorer, page("/en/", "eng", "/fr/biere", "/en/beer/"))
    scorer.redirected(f"{SITE}/fr/biere", f"{SITE}/fr/biere/")
    scorer.changes()
    fetch(scorer, page("/en/beer/", "eng", ("/fr/biere/", "Français")))
    assert dict(scorer.changes()).get(f"{SITE}/fr/biere/", 1.0) > 0.5


def test_one_spelling_stands_for_the_others_where_the_frontier_knows_it():
    scorer = adaptive()
    first = fetch(scorer, page("/en/", "eng", "/fr/biere", "/fr/cidre"))
    for name in "xy":
        scorer.redirected(f"{SITE}/fr/{name}", f"{SITE}/fr/{name}/")
    fetch(scorer, page("/en/beer/", "eng", alternates={"fr": "/fr/biere/"}))
    changed = dict(scorer.changes())
    assert f"{SITE}/fr/biere/" not in changed
    assert changed[f"{SITE}/fr/biere"] > first["/fr/biere"]


def test_a_switch_to_a_spelling_that_the_site_leaves_behind_is_one_to_the_spelling_it_uses():
    scorer = adaptive()
    fetch(scorer, page("/en/", "eng", "/fr/biere", "/fr/biere/"))
    for name in "xy":
        scorer.redirected(f"{SITE}/fr/{name}", f"{SITE}/fr/{name}/")
    assert dict(scorer.changes())[f"{SITE}/fr/biere"] < 1e-5
    fetch(scorer, page("/en/beer/", "eng", ("/fr/biere", "Français")))
    assert fetch(scorer, page("/en/list/", "eng", "/fr/biere/"))["/fr/biere/"] > 0.5


class WordsOfTheCrawl(NothingYet):
    """A crawl that has learned the words of two addresses."""

    def slugs_agree(self, first, second):
        return 1.0 if first.endswith("wort-xq") and second.endswith("mout-zk") else None


def test_a_slug_that_the_crawl_can_translate_is_tied_to_its_page():
    scores = {}
    for crawl in (NothingYet(), WordsOfTheCrawl()):
        scorer = AdaptiveScorer(PAIR, crawl, Config())
        links = ["/fr/mout-zk", "/fr/qqq-ww"]
        scores[type(crawl)] = fetch(scorer, page("/en/wort-xq", "eng", *links))
    plain, taught = scores[NothingYet], scores[WordsOfTheCrawl]
    assert taught["/fr/mout-zk"] > 1.2 * plain["/fr/mout-zk"]
    assert taught["/fr/mout-zk"] > 1.2 * taught["/fr/qqq-ww"]


def ties_of(scorer, path):
    ties = scorer._site(SITE).memory.get(SITE + path).ties
    return {mate.url.removeprefix(SITE) for mate in ties}


def test_names_that_are_alike_in_two_languages_are_a_tie():
    scorer = adaptive()
    fetch(scorer, page("/en/", "eng", "/en/collaborators/", "/en/finances/", "/en/history/"))
    fetch(scorer, page("/fr/", "fra", "/fr/collaborateurs/", "/fr/nouvelles/"))
    assert ties_of(scorer, "/fr/collaborateurs/") == {"/en/collaborators/"}
    assert not ties_of(scorer, "/fr/nouvelles/")


def test_of_two_names_that_are_equally_alike_none_is_a_tie():
    scorer = adaptive()
    fetch(scorer, page("/en/", "eng", "/en/guided-tour-a/", "/en/guided-tour-b/"))
    fetch(scorer, page("/fr/", "fra", "/fr/guided-tours/"))
    assert not ties_of(scorer, "/fr/guided-tours/")


def test_names_with_different_numbers_are_no_tie():
    scorer = adaptive()
    fetch(scorer, page("/en/", "eng", "/en/information-2019/"))
    fetch(scorer, page("/fr/", "fra", "/fr/informations-2020/", "/fr/informations-2019/"))
    assert not ties_of(scorer, "/fr/informations-2020/")
    assert ties_of(scorer, "/fr/informations-2019/") == {"/en/information-2019/"}


def test_names_in_one_language_are_no_tie():
    scorer = adaptive()
    fetch(scorer, page("/en/", "eng", "/en/collaboration/", "/en/collaborations/"))
    assert not ties_of(scorer, "/en/collaboration/")


def test_a_declared_address_that_does_not_exist_says_nothing_about_the_language_switch():
    def value(*, fails):
        scorer = adaptive()
        for name in "abcd":
            switch = (f"/fr/{name}", "Français")
            fetch(scorer, page(f"/en/{name}", "eng", switch, alternates={"fr": f"/fra/{name}"}))
            if fails:
                scorer.failed(f"{SITE}/fra/{name}", "http_404")
        return fetch(scorer, page("/en/e", "eng", ("/fr/e", "Français")))["/fr/e"]

    assert value(fails=True) == pytest.approx(value(fails=False), rel=0.05)


def test_a_declared_address_that_does_not_exist_speaks_against_the_next_declaration():
    def value(*, fails):
        scorer = adaptive()
        for name in "abcd":
            fetch(scorer, page(f"/en/{name}", "eng", alternates={"fr": f"/fra/{name}"}))
            if fails:
                scorer.failed(f"{SITE}/fra/{name}", "http_404")
        document = page("/en/e", "eng", "/fra/e", alternates={"fr": "/fra/e"})
        return fetch(scorer, document)["/fra/e"]

    assert value(fails=True) < 0.5 * value(fails=False)


def test_the_second_address_of_a_page_whose_pair_is_complete_speaks_against_no_tie():
    scorer = adaptive()
    fetch(scorer, page("/en/about-us", "eng"))
    fetch(scorer, page("/fr/about-us", "fra"), pair("/en/about-us", "/fr/about-us"))
    counts = scorer._site(SITE + "/").evidence.ties[Tie.KEY]
    assert counts == [1.0, 1.0]
    fetch(scorer, page("/fr-fr/about-us", "fra"))
    right, seen = counts
    assert right == 1.0
    assert seen == 2.0  # it speaks against its tie to the other French address alone
