"""The command `scrapy frontier` on the folder of a crawl."""

import gzip

import pytest

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.store.folder import CrawlFolder
from tests.support.typed_commands import TypedFrontier
from tests.support.web_folders import SITE, LiveCrawl, small_crawl

HOST = "www.example.org"


@pytest.fixture
def scrapy(capsys):
    return TypedFrontier(capsys)


@pytest.fixture
def crawl(tmp_path):
    """A crawl with four pages stored, one off language, one failed, two waiting."""
    return small_crawl(tmp_path / "crawl", aligned=False)


def test_status_counts_urls_by_state_and_outcome(scrapy, crawl):
    (status,) = scrapy.answers("status", crawl)
    states = {name: status[name] for name in ("waiting", "in_flight", "done", "failed", "hosts")}
    assert states == {"waiting": 2, "in_flight": None, "done": 5, "failed": 1, "hosts": 3}
    assert status["outcomes"] == {"stored": 4, "dns": 1, "off_language": 1}
    assert status["is_running"] is False
    printed = scrapy("status", crawl)[1]
    assert "no crawl is running" in printed
    assert "The name of the host has no address." in printed


def test_a_running_crawl_is_seen_and_not_disturbed(scrapy, tmp_path):
    crawl = LiveCrawl(tmp_path)
    crawl.queue(f"{SITE}/uno", 0.5)
    crawl.save()
    (status,) = scrapy.answers("status", tmp_path)
    assert (status["is_running"], status["waiting"]) == (True, 1)
    crawl.queue(f"{SITE}/dos", 0.25)
    crawl.save()
    assert len(scrapy.answers("top", tmp_path)) == 2
    message, _ = scrapy("requeue", tmp_path, "--all")
    assert "Another crawl is running" in message
    crawl.close()


def test_top_shows_the_best_waiting_urls_first(scrapy, crawl):
    best = scrapy.answers("top", crawl)
    assert [(each["url"], each["score"]) for each in best] == [
        (f"{SITE}/es/next", 0.75),
        ("javascript:window.pwned=1", 0.5),
    ]
    assert {each["state"] for each in best} == {"waiting"}
    assert len(scrapy.answers("top", crawl, "-n", 1)) == 1
    assert f"0.75  {HOST}" in scrapy("top", crawl)[1]


def test_hosts_are_listed_with_their_counts(scrapy, crawl):
    hosts = {each["host"]: each for each in scrapy.answers("hosts", crawl)}
    assert (hosts[HOST]["waiting"], hosts[HOST]["done"], hosts[HOST]["failed"]) == (1, 5, 0)
    assert hosts["broken.example"]["failed"] == 1
    assert hosts[HOST]["next_allowed"] is None
    assert HOST in scrapy("hosts", crawl)[1]


def test_export_has_every_url_with_its_state(scrapy, crawl, tmp_path):
    rows = scrapy.answers("export", crawl)
    assert len(rows) == 8
    failed = next(each for each in rows if each["state"] == "failed")
    assert (failed["url"], failed["outcome"]) == ("https://broken.example/", "dns")
    table = tmp_path / "urls.tsv.gz"
    assert scrapy("export", crawl, "--to", "tsv", "--out", table)[0] == 0
    with gzip.open(table, "rt") as lines:
        head, *body = (line.rstrip("\n").split("\t") for line in lines)
    assert head[:3] == ["state", "score", "outcome"]
    assert len(body) == 8


def failing_crawl(path):
    folder = CrawlFolder(path, "spa-eus")
    frontier = JournaledFrontier(folder.journal)
    for number, (url, host, outcome) in enumerate(
        (
            ("https://a.example/1", "a.example", "timeout"),
            ("https://a.example/2", "a.example", "http_404"),
            ("https://b.example/1", "b.example", "timeout"),
        )
    ):
        frontier.push(number, url, host, 1.0 + number)
        frontier.pop(10**9)
        frontier.end(number, State.FAILED, outcome)
    folder.facts["finished"] = "yes"
    folder.close()
    return path


def waiting_after(path):
    """Return the queue of a resumed crawl."""
    folder = CrawlFolder(path, "spa-eus")
    was_finished, frontier = folder.was_finished, JournaledFrontier(folder.journal)
    urls = {entry.url: entry.attempts for entry in frontier.queued()}
    folder.close()
    return was_finished, urls


def test_failed_urls_of_an_outcome_and_a_host_wait_again(scrapy, tmp_path):
    folder = failing_crawl(tmp_path / "crawl")
    command = ("requeue", folder, "--outcome", "timeout", "--host", "a.example")
    assert scrapy.answers(*command) == [{"requeued": 1}]
    assert waiting_after(folder) == (False, {"https://a.example/1": 0})


def test_failed_urls_can_be_chosen_by_what_is_in_them(scrapy, tmp_path):
    folder = failing_crawl(tmp_path / "crawl")
    assert scrapy.answers("requeue", folder, "--match", r"/1$") == [{"requeued": 2}]
    assert scrapy.answers("requeue", folder, "--all") == [{"requeued": 1}]
    assert scrapy.answers("requeue", folder, "--all") == [{"requeued": 0}]
    assert len(waiting_after(folder)[1]) == 3


def test_a_requeue_without_a_choice_changes_nothing(scrapy, tmp_path):
    folder = failing_crawl(tmp_path / "crawl")
    status, printed = scrapy("requeue", folder)
    assert status == 2
    assert "say what to requeue" in printed
    assert scrapy("requeue", folder, "--all", "--host", "a.example")[0] == 2
    assert waiting_after(folder) == (True, {})


def test_mistakes_are_told_in_sentences(scrapy, crawl, tmp_path):
    assert "There is no crawl in" in scrapy("status", tmp_path)[0]
    assert "start with one of" in scrapy("stat", crawl)[1]
    assert "name one place" in scrapy("status")[1]
    assert "--match ( is not" in scrapy("requeue", crawl, "--match", "(")[1]
    huge = "a{99999999999999}"
    assert f"--match {huge} is too complicated" in scrapy("requeue", crawl, "--match", huge)[1]
    assert "has one worker" in scrapy("requeue", crawl, "--worker", "x")[0]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "crawl.sqlite").write_text("this is no database, though it is long")
    assert "cannot be read" in scrapy("status", tmp_path / "broken")[0]
