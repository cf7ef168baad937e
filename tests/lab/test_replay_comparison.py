"""How far scorers go from breadth-first to the oracle, over several sites."""

import pytest

from bilingual_crawler.lab.replay import comparison
from bilingual_crawler.lab.replay.measure import Measured


def result(site, pages=10, **aucs):
    """A site with the AUC of each scorer, which has half of the pairs after 100 x (1 - AUC)."""
    scorers = {
        name: {"auc": auc, **dict.fromkeys(NAMES, round(100 * (1 - auc)))}
        for name, auc in aucs.items()
    }
    return Measured(
        site=site, langs="eus-spa", seeds=(), strip=True, pages=pages, pairs=2, listed=2,
        scorers=scorers, curves={}, orders={},
    )  # fmt: skip


NAMES = ("downloads_to_50", "downloads_to_80", "downloads_to_95")
WIDE = result("wide", breadth_first=0.2, rules=0.4, clever=0.5, oracle=0.8)
NARROW = result("narrow", breadth_first=0.5, rules=0.6, clever=0.4, oracle=0.52)
SITES = [WIDE, NARROW]


def test_the_share_of_the_way_is_that_of_mean_aucs():
    """The gains of the two sites are 0.5 and -5: their mean would say that it is useless."""
    assert comparison.share_of_the_way(SITES, "clever") == pytest.approx(0.1 / 0.31, abs=1e-6)
    assert comparison.share_of_the_way(SITES, "breadth_first") == 0
    assert comparison.share_of_the_way(SITES, "oracle") == 1


def test_without_an_oracle_there_is_no_share_of_the_way():
    assert comparison.share_of_the_way([result("a", clever=0.5)], "clever") is None
    assert comparison.share_of_the_way([], "clever") is None
    assert comparison.relative_downloads([result("a", clever=0.5)], "clever", 50) is None


def test_downloads_are_relative_to_those_of_the_oracle_on_the_same_site():
    three = [*SITES, result("third", clever=0.5, oracle=0.9)]
    assert comparison.relative_downloads(three, "clever", 80) == pytest.approx(50 / 20)


def test_a_crawl_that_never_has_its_pairs_counts_as_one_that_fetches_every_page():
    site = result("gone", pages=90, clever=0.5, oracle=0.7)
    site.scorers["clever"]["downloads_to_95"] = None
    assert comparison.relative_downloads([site], "clever", 95) == 3


def test_sites_where_a_scorer_is_behind_the_better_simple_one_are_named_worst_first():
    cases = comparison.behind(
        [WIDE, NARROW, result("odd", breadth_first=0.9, rules=0, clever=0.8)], "clever"
    )
    assert [(case.site, case.by) for case in cases] == [("narrow", 0.2), ("odd", 0.1)]


def test_without_rules_a_scorer_is_compared_with_breadth_first_alone():
    cases = comparison.behind([result("odd", breadth_first=0.9, clever=0.8)], "clever")
    assert [(case.site, case.by) for case in cases] == [("odd", 0.1)]


def test_the_tables_have_a_line_per_site_and_per_scorer():
    table = comparison.table(SITES, ["rules", "clever"])
    assert "| wide | eus-spa | 10 | 2 | 0.200 | 0.400 | 0.500 | 0.800 |" in table
    assert "| **mean** | 2 pairs | | | 0.350 | 0.500 | 0.450 | 0.660 |" in table
    assert "| clever | 0.450 | 0.32 | " in comparison.summary(SITES, ["rules", "clever"])
