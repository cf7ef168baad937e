"""What whole crawls report."""

import re

import pytest

from demo.content import expected_pairs
from tests.support.crawling import crawl, finish, kill, start
from tests.support.crawling import report as read_report
from tests.support.processes import wait_until
from tests.support.servers import serve_demo

FORECAST = re.compile(r"forecast ([\d,]+)-([\d,]+) pairs in about ([\d,]+) pages")


def ended(report):
    return {reason: each["count"] for reason, each in report["urls_ended"].items()}


@pytest.mark.crawl
def test_the_report_of_a_crawl_accounts_for_every_url(tmp_path):
    with serve_demo() as site:
        printed = crawl(site.url, tmp_path / "crawl")
        expected = expected_pairs(site.url)
    report = read_report(tmp_path / "crawl")
    assert report["state"] == "finished"
    assert sum(ended(report).values()) == report["urls_known"]
    assert report["urls_waiting"] == 0
    assert ended(report)["stored"] >= sum(report["documents"].values())
    assert report["pairs"] >= len(expected)
    assert report["pairs_per_100_pages"] == round(100 * report["pairs"] / report["pages"], 2)
    assert sum(report["off_language"].values()) == ended(report)["off_language"]
    assert report["opt_outs"]["robots_txt"] == 2
    assert report["bytes"] > 10_000
    assert report["seeds_from"] == "-a seeds"
    assert report["settings"]["DOWNLOAD_DELAY"] == 0
    assert report["explanation"] == []
    assert "Summary of the crawl" in printed


@pytest.mark.crawl
def test_a_running_crawl_forecasts_its_yield_and_ends_with_the_truth(tmp_path):
    folder, log = tmp_path / "crawl", tmp_path / "log"
    settings = {
        "BILINGUAL_PROGRESS": "plain",
        "BILINGUAL_PROGRESS_SECONDS": 0.1,
        "LOG_FILE": log,
    }
    with serve_demo() as site:
        site.hold(after=60)
        process = start(site.url, folder, settings=settings)
        forecast = wait_until(lambda: log.exists() and FORECAST.search(log.read_text()), process)
        site.release()
        finish(process)
    low, high, pages = (int(number.replace(",", "")) for number in forecast.groups())
    found = read_report(folder)
    assert low < high
    assert pages > 24
    assert found["forecast"]["pairs"] == [found["pairs"]] * 3
    assert found["forecast"]["pages"] == [found["pages"]] * 3


@pytest.mark.crawl
def test_the_forecast_ends_at_the_budget_of_a_site(tmp_path):
    with serve_demo() as site:
        crawl(site.url, tmp_path / "crawl", settings={"BILINGUAL_SITE_PAGES": 40})
    found = read_report(tmp_path / "crawl")
    assert found["urls_over_budget"] > 0
    assert found["forecast"]["pages"] == [found["pages"]] * 3


@pytest.mark.crawl
def test_a_killed_crawl_has_a_report_and_the_next_run_counts_on(tmp_path):
    folder, often = tmp_path / "crawl", {"BILINGUAL_CHECKPOINT_SECONDS": 0.1}
    with serve_demo() as site:
        process = start(site.url, folder, settings=often)
        site.wait_for_requests(30, process)
        wait_until((folder / "crawl.json").exists, process)
        kill(process)
        site.release()
        assert read_report(folder)["state"] == "running"
        crawl(site.url, folder)
        crawl(site.url, tmp_path / "whole")
    resumed, whole = read_report(folder), read_report(tmp_path / "whole")
    assert resumed["runs"] == 2
    assert resumed["state"] == "finished"
    assert sum(ended(resumed).values()) == resumed["urls_known"]
    assert sum(resumed["off_language"].values()) == ended(resumed)["off_language"]
    assert (
        resumed["pages"] + resumed["urls_failed"] + ended(resumed)["redirected"]
        == (resumed["urls_known"])
    )
    assert resumed["pairs"] == whole["pairs"]
    assert 0.8 * whole["links_seen"] < resumed["links_seen"] < 1.2 * whole["links_seen"]


@pytest.mark.crawl
def test_a_finished_crawl_that_is_begun_again_says_that_nothing_is_left(tmp_path):
    with serve_demo() as site:
        crawl(site.url, tmp_path)
        before = read_report(tmp_path)
        printed = crawl(site.url, tmp_path)
    after = read_report(tmp_path)
    assert "This crawl is finished: nothing is left to fetch." in printed
    same = before.keys() - {"updated", "seconds", "runs"}
    assert {name: before[name] for name in same} == {name: after[name] for name in same}


@pytest.mark.crawl
def test_a_crawl_of_a_dead_site_says_why_it_has_no_pairs(tmp_path):
    printed = crawl("http://127.0.0.1:1/", tmp_path, settings={"RETRY_TIMES": 0})
    report = read_report(tmp_path)
    assert report["state"] == "finished"
    assert report["explanation"][0] == (
        "Nothing was fetched from the seed: The connection to the server failed."
    )
    assert report["explanation"][0] in printed


@pytest.mark.crawl
def test_a_crawl_that_was_stopped_early_says_how_to_go_on(tmp_path):
    with serve_demo() as site:
        printed = crawl(site.url, tmp_path, settings={"CLOSESPIDER_PAGECOUNT": 5})
    report = read_report(tmp_path)
    assert (report["state"], report["stopped_by"]) == ("stopped", "closespider_pagecount")
    assert report["best_waiting"]
    assert "It has fetched CLOSESPIDER_PAGECOUNT pages. To resume:" in printed
    command = printed[printed.index("To resume:\n") :].splitlines()[1].strip()
    assert command.startswith("scrapy crawl bilingual -a langs=spa-eus")
    assert f"output={tmp_path}" in command
