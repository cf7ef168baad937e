"""What a comparison counts and keeps: hand-computed deciles, plans, and which sites are summed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.comparison.arms import ORDER, downloads_of, read_order, write_order
from bilingual_crawler.lab.comparison.judge import ArmFigures, deciles_of, together
from bilingual_crawler.lab.comparison.plan import (
    PLAN,
    ComparedSite,
    ComparisonPlan,
    sites_of_recordings,
    sites_of_seeds,
)
from bilingual_crawler.lab.comparison.report import complete_sites, json_lines, plot, sums
from bilingual_crawler.languages import LanguagePair
from tests.support.recordings import SITE, exchange, redirect, write_warc

PAIRS = {("a", "b"): 10, ("c", "d"): 3}


def test_an_arm_has_a_pair_and_its_sentences_once_it_has_both_pages():
    figures = deciles_of(["a", "x", "b", "c", "y", "z", "d", "x", "x", "x"], PAIRS)
    assert figures.documents == (0, 0, 1, 1, 1, 1, 2, 2, 2, 2)
    assert figures.sentences == (0, 0, 10, 10, 10, 10, 13, 13, 13, 13)


def test_deciles_of_few_downloads_repeat_and_end_with_all():
    assert deciles_of(["a", "b", "c"], PAIRS).documents == (0, 0, 0, 1, 1, 1, 1, 1, 1, 1)
    assert deciles_of([], PAIRS) == ArmFigures(0, (0,) * 10, (0,) * 10)


def test_two_spellings_of_an_address_are_one_page():
    order = [f"{SITE}/es?b=1&a=2#top", f"{SITE}/eu"]
    assert deciles_of(order, {(f"{SITE}/eu", f"{SITE}/es?a=2&b=1"): 1}).documents[-1] == 1


@given(st.lists(st.sampled_from("abcdxy")))
def test_figures_never_fall_and_end_with_what_was_fetched(order):
    figures = deciles_of(order, PAIRS)
    for values in (figures.documents, figures.sentences):
        assert sorted(values) == list(values)
    there = [pair for pair in PAIRS if set(pair) <= set(order)]
    assert figures.documents[-1] == len(there)
    assert figures.sentences[-1] == sum(PAIRS[pair] for pair in there)


FIRST = ArmFigures(10, tuple(range(10)), tuple(range(0, 100, 10)))
SECOND = ArmFigures(5, (1,) * 10, (2,) * 10)


def test_sites_are_summed_decile_by_decile():
    both = together([FIRST, SECOND])
    assert both.downloads == 15
    assert both.documents == tuple(range(1, 11))
    assert both.sentences == tuple(range(2, 102, 10))


def test_a_site_on_which_an_arm_is_missing_is_not_summed(tmp_path):
    arms = ("smart", "language")
    figures = {"one": {"smart": FIRST, "language": SECOND}, "two": {"smart": FIRST}}
    assert list(complete_sites(figures, arms)) == ["one"]
    assert sums(figures, arms) == {"smart": FIRST, "language": SECOND}
    *_, last = map(json.loads, json_lines(figures, arms))
    assert (last["site"], last["sites"]) == ("all", ["one"])
    assert last["arms"]["smart"]["documents"] == list(FIRST.documents)
    plot(figures, arms, tmp_path / "figures.png")
    assert (tmp_path / "figures.png").read_bytes().startswith(b"\x89PNG")


def test_downloads_are_pages_in_the_order_they_came(tmp_path):
    file = write_warc(
        tmp_path / "crawl-00000.warc.gz",
        [
            exchange(f"{SITE}/robots.txt", b"User-agent: *"),
            exchange(f"{SITE}/b", b"<p>b"),
            redirect(f"{SITE}/c", "/a"),
            exchange(f"{SITE}/style.css", b"p {}", headers=((b"Content-Type", b"text/css"),)),
            exchange(f"{SITE}/gone", b"gone", status=404),
            exchange(f"{SITE}/a", b"<p>a"),
        ],
    )
    assert downloads_of([file]) == [f"{SITE}/b", f"{SITE}/a"]


def test_the_downloads_of_an_arm_are_kept_as_they_are(tmp_path):
    assert read_order(tmp_path) == []
    write_order(tmp_path, [f"{SITE}/é", f"{SITE}/b"])
    assert read_order(tmp_path) == [f"{SITE}/é", f"{SITE}/b"]
    assert (tmp_path / ORDER).is_file()


@pytest.fixture
def plan(tmp_path):
    sites = sites_of_seeds(
        ("https://www.example.org/es", "https://example.org/eu", "http://[::1]:80/")
    )
    return ComparisonPlan(
        LanguagePair.parse("spa-eus"), ("smart", "language"), sites, tmp_path / "out", pages=50
    )


def test_seeds_of_one_site_are_crawled_together_under_a_name_for_files(plan):
    assert [(site.name, len(site.seeds)) for site in plan.sites] == [("example.org", 2), ("__1", 1)]


def test_the_same_plan_goes_on_and_may_have_more_sites(plan):
    plan.claim_folder()
    plan.claim_folder()
    more = replace(plan, sites=(*plan.sites, ComparedSite("b.example", ("https://b.example/",))))
    more.claim_folder()
    assert "b.example" in json.loads((plan.out / PLAN).read_text())["sites"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"pages": 60}, "other pages"),
        ({"arms": ("smart",), "hours": 1.0}, "other arms, hours"),
        ({"sites": (ComparedSite("example.org", (f"{SITE}/x",)),)}, "seeds of example.org"),
    ],
)
def test_another_plan_is_refused(plan, change, named):
    plan.claim_folder()
    with pytest.raises(ConfigurationError, match=named):
        replace(plan, **change).claim_folder()


@pytest.mark.parametrize("content", ["[]", "{", '{"sites": 3}'])
def test_a_folder_of_something_else_is_refused(plan, content):
    plan.out.mkdir()
    (plan.out / PLAN).write_text(content)
    with pytest.raises(ConfigurationError, match="is not the plan of a comparison"):
        plan.claim_folder()
    (plan.out / PLAN).rename(plan.out / "other.json")
    with pytest.raises(ConfigurationError, match="something other than a comparison"):
        plan.claim_folder()


def test_recordings_must_be_there_and_have_different_names(tmp_path):
    first, second = tmp_path / "site.warc.gz", tmp_path / "more" / "site.warc.gz"
    with pytest.raises(ConfigurationError, match="There is no recording"):
        sites_of_recordings((first,))
    with pytest.raises(ConfigurationError, match="Two recordings have the name site"):
        sites_of_recordings((first, second))
    first.write_bytes(b"")
    assert sites_of_recordings((Path(first),)) == (ComparedSite("site", recording=first),)
