"""crawl.json: sums over all runs, what waits, and how to go on."""

import json
import math
import sqlite3
from pathlib import Path

import pytest
from scrapy.settings import Settings

from bilingual_crawler.config.settings import Config
from bilingual_crawler.frontier.memory import MemoryFrontier
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.reporting.counts import Counts, announced
from bilingual_crawler.reporting.report import changed_settings, figures, versions, write_report
from bilingual_crawler.reporting.summary import resume_command
from bilingual_crawler.reporting.tally import RUNS, Tally, under
from bilingual_crawler.store.journal import Journal

LANGS = LanguagePair.parse("spa-eus")


def counts(**values):
    return Counts(langs=LANGS, **values)


def test_sums_go_on_where_the_last_run_stopped(tmp_path):
    for _ in range(2):
        journal = Journal(tmp_path / "crawl.sqlite")
        tally = Tally(journal, lambda: {"bilingual/pages": 5, "scheduler/enqueued": 3})
        journal.checkpoint(wait=True)
        journal.checkpoint(wait=True)
        journal.close()
    totals = tally.totals()
    assert totals["bilingual/pages"] == 10
    assert totals[RUNS] == 2
    assert "scheduler/enqueued" not in totals


def test_a_kill_undoes_what_was_counted_after_the_last_checkpoint(tmp_path):
    stats = {"bilingual/pages": 5}
    journal = Journal(tmp_path / "crawl.sqlite")
    Tally(journal, lambda: stats)
    journal.checkpoint(wait=True)
    stats["bilingual/pages"] = 9
    with sqlite3.connect(tmp_path / "crawl.sqlite") as other:
        rows = dict(other.execute("SELECT name, amount FROM tally"))
    other.close()
    journal.close()
    assert rows["bilingual/pages"] == 5


def test_sums_in_a_table_of_hosts_are_kept_by_host(tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    tally = Tally(journal, lambda: {"bilingual/optouts/hosts": {"a.org": {"noai": 2}}})
    assert under(tally.totals(), "bilingual/optouts/hosts/") == {"a.org/noai": 2}
    journal.close()


# What is waiting


def test_the_best_waiting_urls_are_those_that_come_out_first():
    frontier = MemoryFrontier()
    for number in range(300):
        frontier.push(
            number, f"http://h{number % 7}.org/{number}", f"h{number % 7}.org", number % 50
        )
    for number in range(0, 300, 9):
        frontier.raise_priority(number, 60.0 + number)
    best = [entry.fingerprint for entry in frontier.top(40)]
    assert best == [frontier.pop(0.0).fingerprint for _ in range(40)]


def test_hosts_whose_budget_is_spent_have_no_best_url():
    frontier = MemoryFrontier(lambda host, _active, now: None if host == "spent.org" else now)
    frontier.push(1, "http://spent.org/", "spent.org", 5.0)
    frontier.push(2, "http://open.org/", "open.org", 1.0)
    frontier.pop(0.0)
    frontier.push(3, "http://open.org/next", "open.org", 1.0)
    assert [entry.fingerprint for entry in frontier.top(5)] == [3]


def test_waiting_urls_are_counted_by_the_language_they_announce():
    frontier = MemoryFrontier()
    for number, url in enumerate(["http://a.org/eu/x", "http://a.org/eu/y", "http://a.org/es/x"]):
        frontier.push(number, url, "a.org", 1.0)
    languages = announced(frontier)
    assert (languages["eus"], languages["spa"]) == (2, 1)


# crawl.json


def test_a_waiting_seed_does_not_break_the_json(tmp_path):
    frontier = MemoryFrontier()
    frontier.push(1, "http://a.org/", "a.org", math.inf)
    report = figures(counts(waiting=1), frontier.top(5))
    write_report(tmp_path / "crawl.json", report, durable=True)
    read = json.loads((tmp_path / "crawl.json").read_text(encoding="utf-8"))
    assert read["best_waiting"] == [{"url": "http://a.org/", "score": None}]


def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "crawl.json"
    write_report(path, {"pages": 1}, durable=False)
    with pytest.raises(TypeError):
        write_report(path, {"pages": object()}, durable=False)
    assert json.loads(path.read_text(encoding="utf-8")) == {"pages": 1}


def test_reasons_stand_in_the_report_with_their_sentence():
    report = figures(counts(outcomes={"robots_txt": 2}, links_refused={"offsite": 3}), [])
    assert report["urls_ended"]["robots_txt"] == {
        "count": 2,
        "meaning": "robots.txt forbids the page.",
    }
    assert report["links_refused"]["offsite"]["count"] == 3


def test_only_settings_that_differ_are_reported_and_in_their_own_type():
    settings = Settings({"DOWNLOAD_DELAY": "0.05", "COOKIES_ENABLED": "False"})
    changed = changed_settings(Config(site_pages=50), settings)
    assert changed["BILINGUAL_SITE_PAGES"] == 50
    assert changed["DOWNLOAD_DELAY"] == 0.05
    assert "COOKIES_ENABLED" not in changed
    assert "BILINGUAL_CONTENT_TYPES" not in changed


def test_versions_name_everything_that_bears_on_the_result():
    found = versions()
    assert set(found) == {
        "bilingual-crawler", "python", "scrapy", "twisted", "lxml", "pycld2", "libxml2",
    }  # fmt: skip
    assert "unknown" not in found.values()


# How to go on


@pytest.mark.parametrize(
    "argv",
    [
        ["/bin/python", "/bin/scrapy", "crawl", "bilingual", "-a", "langs=spa-eus"],
        ["python", "-m", "scrapy", "crawl", "bilingual", "-a", "langs=spa-eus"],
    ],
)
def test_the_command_to_go_on_has_the_folder_that_was_chosen(argv):
    expected = "scrapy crawl bilingual -a langs=spa-eus -a output=crawls/x"
    assert resume_command(argv, Path("crawls/x")) == expected


@pytest.mark.parametrize("option", [["-a", "output=my crawl"], ["-aoutput=my crawl"]])
def test_the_command_to_go_on_repeats_a_folder_that_was_given(option):
    argv = ["python", "scrapy", "crawl", "bilingual", *option]
    assert resume_command(argv, Path("my crawl")).count("output=") == 1


def test_the_command_to_go_on_keeps_secrets():
    argv = ["python", "scrapy", "crawl", "bilingual", "-s", "PROXY_PASSWORD=hush"]
    assert "hush" not in resume_command(argv, Path("x"))


def test_a_crawl_that_a_program_began_has_no_command():
    assert resume_command(["python", "-m", "scrapyd.runner", "crawl", "x"], Path("x")) is None


def test_the_command_to_resume_has_nothing_that_a_program_added():
    argv = ["python", "-m", "scrapy", "crawl", "bilingual", "-a", "_run=0d8b", "-a", "output=x"]
    assert resume_command(argv, Path("x")) == "scrapy crawl bilingual -a output=x"
    assert resume_command(["python", "crawl"], Path("x")) is None
