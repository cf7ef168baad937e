"""What a search for bilingual sites tells of itself, and its sites as seeds."""

import json

import pytest

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.reporting.counts import Counts, FoundSites
from bilingual_crawler.reporting.progress import Progress, progress_line
from bilingual_crawler.reporting.report import explain, figures
from bilingual_crawler.reporting.summary import Ending, summary_text

LANGS = LanguagePair.parse("eng-spa")
SITES = FoundSites(bilingual=3, other=17, unreachable=2, waiting=5, downloads=30)


def counts(sites, **values):
    return Counts(langs=LANGS, sites=sites, harvests=False, **values)


def test_progress_tells_of_sites_and_what_they_cost():
    line = progress_line(Progress(langs=LANGS, pages=33, sites=SITES, harvests=False))
    assert "3 of 20 sites bilingual (1.5 downloads per site)" in line
    assert "pairs" not in line


def test_progress_of_both_at_once_tells_of_both():
    line = progress_line(Progress(langs=LANGS, pages=33, pairs=4, sites=SITES))
    assert "3 of 20 sites bilingual" in line
    assert "4 pairs" in line


def test_the_report_has_the_sites_if_there_was_a_search():
    assert figures(counts(SITES), [])["sites"] == {
        "bilingual": 3,
        "examined": 20,
        "unreachable": 2,
        "waiting": 5,
        "downloads": 30,
        "downloads_a_site": 1.5,
    }
    assert "sites" not in figures(Counts(langs=LANGS), [])


def ending(tmp_path, figures, **values):
    return Ending(
        counts=figures, pairs=[], folder=tmp_path, seconds=65, finished=True, stopped_why="",
        explanation=explain(figures), **values,
    )  # fmt: skip


def test_the_summary_begins_with_the_sites(tmp_path):
    text = summary_text(ending(tmp_path, counts(SITES, pages=40), nothing_new=True))
    assert "This crawl is finished" in text
    assert "3 bilingual sites of English and Spanish among 20 examined, in 40 pages" in text
    assert "documents" not in text
    assert "Why" not in text


def test_a_search_that_found_nothing_says_why(tmp_path):
    nothing = counts(FoundSites(other=12, unreachable=1, downloads=20), pages=20)
    assert explain(nothing)[:2] == [
        "12 sites were examined, and none has both English and Spanish pages.",
        "1 site gave no page.",
    ]
    assert "Why there are no bilingual sites" in summary_text(ending(tmp_path, nothing))


def test_a_search_whose_seeds_cannot_be_had_says_that_first():
    nothing = counts(FoundSites(unreachable=1), seeds=1, seed_outcomes={"dns": 1}, failed=1)
    assert explain(nothing)[0].startswith("Nothing was fetched from the seed")


def line(site, answer="yes", **entries):
    return json.dumps({"site": site, "bilingual": answer, "entry_pages": entries}) + "\n"


def plan(tmp_path, text, **arguments):
    (tmp_path / "sites.jsonl").write_text(text)
    return CrawlPlan.from_arguments(
        langs="eng-spa",
        seeds_file=tmp_path / "sites.jsonl",
        output=tmp_path / "out",
        **arguments,
    )


def test_the_entry_pages_of_bilingual_sites_are_seeds(tmp_path):
    found = line("a.org", eng="http://a.org/en", spa="http://a.org/") + line("b.org", "no")
    half_written = '{"site": "c.org", "bili'
    assert plan(tmp_path, found + half_written).seeds == ("http://a.org/en", "http://a.org/")


@pytest.mark.parametrize("bad", ["[1]\n", "{}\n", '{"bilingual": "yes", "entry_pages": 3}\n'])
def test_a_line_that_is_no_site_is_named(tmp_path, bad):
    with pytest.raises(ConfigurationError, match="line 2: this is not a site"):
        plan(
            tmp_path, line("a.org", eng="http://a.org/") + bad + line("b.org", spa="http://b.org/")
        )


def test_whether_to_discover_is_said_with_1_or_0(tmp_path):
    found = line("a.org", eng="http://a.org/")
    assert plan(tmp_path, found, discover="1").discover
    assert not plan(tmp_path, found).discover
    with pytest.raises(ConfigurationError, match="-a discover=perhaps must be true or false"):
        plan(tmp_path, found, discover="perhaps")
