"""What a crawl finds out reaches the scorer, in time, and is known again after a restart."""

import json
import logging
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.scoring.scorekeeper import Failed, PairNews, Scorekeeper, restored
from bilingual_crawler.scoring.scorer import LinkScorer, NothingYet, Proposal
from tests.support.crawling import kill, start
from tests.support.processes import wait_until
from tests.support.scoring import HandMade, Page, crawl_site
from tests.support.servers import serve_demo

PAIR = LanguagePair.parse("spa-eus")
SITE_FILES = 2
"""robots.txt and tdmrep.json, which Scrapy counts among the pages."""
PAGE = Document("https://x.example/es/a", language="spa")
TWO = DocumentPair("https://x.example/es/a", "https://x.example/eu/a", ("spa", "eus"), ())


def path(name):
    return f"tests.crawl.test_scoring_feedback.{name}"


def short(url):
    return "/" + url.split("/", 3)[3]


class Diary(LinkScorer):
    """Records all news, in order."""

    entries: list[tuple[str, ...]]

    def __init__(self, pair, crawl, config):
        super().__init__(pair, crawl, config)
        type(self).entries = []

    def arrived(self, document):
        self.entries.append(("arrived", short(document.url)))

    def found(self, pair, kept):
        self.entries.append(("found" if kept else "lost", short(pair.first), short(pair.second)))

    def failed(self, url, reason):
        self.entries.append(("failed", short(url), reason))

    def score(self, document, links):
        self.entries.append(("scored", short(document.url)))
        return [0.5 for _ in links]

    def proposals(self):
        return [Proposal("https://x.example/eu/a", 1.0, 1, "swap")]

    def changes(self):
        return [("https://x.example/es/b", 0.1)]


def keeper(save_seconds=0.0):
    return Scorekeeper(Diary(PAIR, NothingYet(), Config()), save_seconds)


def test_news_are_told_after_the_page_and_before_its_links_are_scored():
    scores = keeper()
    scores.tell(PairNews(TWO, kept=True))
    scores.tell(Failed("https://x.example/eu/x", "http_404"))
    verdict = scores.judge(PAGE, [Link("https://x.example/es/b")], scores.take_news())
    assert Diary.entries == [
        ("arrived", "/es/a"),
        ("found", "/es/a", "/eu/a"),
        ("failed", "/eu/x", "http_404"),
        ("scored", "/es/a"),
    ]
    assert verdict.scores == [0.5]
    assert [each.url for each in verdict.proposals] == ["https://x.example/eu/a"]
    assert verdict.changes == [("https://x.example/es/b", 0.1)]
    assert scores.take_news() == []


def test_a_page_without_links_to_score_is_told_all_the_same():
    keeper().judge(PAGE, [], [])
    assert Diary.entries == [("arrived", "/es/a")]


SITE = {
    "/": Page("spa", ["/es/a", "/eu/a", "/gone", "/es/b"]),
    "/es/a": Page("spa"),
    "/eu/a": Page("eus"),
    "/es/b": Page("spa"),
}


def test_a_pair_reaches_the_scorer_with_the_page_that_completes_it(tmp_path):
    with HandMade(SITE) as site:
        crawl_site(site, tmp_path / "out", path("Diary"))
    told = Diary.entries
    assert told.index(("found", "/es/a", "/eu/a")) == told.index(("arrived", "/eu/a")) + 1
    assert ("failed", "/gone", "http_404") in told


def test_a_pair_that_gives_way_to_a_better_one_is_told_too(tmp_path):
    better = {
        "/": Page("spa", ["/es/a", "/eu/a", "/eu/z", "/es/b"]),
        "/es/a": Page("spa", alternates={"eu": "/eu/z", "es": "/es/a"}),
        "/eu/z": Page("eus", alternates={"es": "/es/a", "eu": "/eu/z"}),
    }
    with HandMade(SITE | better) as site:
        crawl_site(site, tmp_path / "out", path("Diary"))
    told = [entry for entry in Diary.entries if entry[0] in ("found", "lost")]
    assert told == [
        ("found", "/es/a", "/eu/a"),
        ("found", "/es/a", "/eu/z"),
        ("lost", "/es/a", "/eu/a"),
    ]


class Asking(LinkScorer):
    """Asks the crawl about other pages than the one it sees."""

    answers: dict[tuple[str, str], object]

    def __init__(self, pair, crawl, config):
        super().__init__(pair, crawl, config)
        type(self).answers = {}

    def score(self, document, links):
        return [0.5 for _ in links]

    def arrived(self, document):
        home = document.url.removesuffix(short(document.url))
        for url in ("/es/a", "/eu/a", "/en/c", "/es/b", "/never"):
            crawl, full = self.crawl, home + url
            self.answers[short(document.url), url] = (
                crawl.state_of(full),
                crawl.language_of(full),
                crawl.partner_of(full) and short(crawl.partner_of(full)),
            )


ASKED = {
    "/": Page("spa", ["/es/a", "/eu/a", "/en/c", "/es/b"]),
    "/es/a": Page("spa"),
    "/eu/a": Page("eus"),
    "/en/c": Page("eng"),
    "/es/b": Page("spa", ["/es/last"]),
    "/es/last": Page("spa"),
}


def test_a_scorer_can_ask_what_became_of_any_url(tmp_path):
    with HandMade(ASKED) as site:
        crawl_site(site, tmp_path / "out", path("Asking"))
    answers = Asking.answers
    assert answers["/es/b", "/es/a"] == (State.DONE, "spa", "/eu/a")
    assert answers["/es/b", "/eu/a"] == (State.DONE, "eus", "/es/a")
    assert answers["/es/b", "/en/c"] == (State.DONE, "eng", None)
    assert answers["/es/b", "/es/b"] == (State.LEASED, "spa", None)
    assert answers["/es/a", "/es/b"] == (State.QUEUED, None, None)
    assert answers["/es/b", "/never"] == (None, None, None)


def test_what_a_scorer_can_ask_survives_a_restart(tmp_path):
    with HandMade(ASKED) as site:
        crawl_site(site, tmp_path / "out", path("Asking"), CLOSESPIDER_PAGECOUNT=SITE_FILES + 5)
        second = crawl_site(site, tmp_path / "out", path("Asking"))
    assert second.asked == ["/es/last"]
    assert Asking.answers["/es/last", "/en/c"] == (State.DONE, "eng", None)
    assert Asking.answers["/es/last", "/eu/a"] == (State.DONE, "eus", "/es/a")


class Learning(LinkScorer):
    """Counts pages and pairs: the least that one can learn."""

    latest: "Learning"

    def __init__(self, pair, crawl, config):
        super().__init__(pair, crawl, config)
        self.learned: dict[str, Any] = {"pages": [], "pairs": 0, "runs": 1}
        type(self).latest = self

    def arrived(self, document):
        self.learned["pages"].append(short(document.url))

    def found(self, pair, kept):
        self.learned["pairs"] += 1

    def score(self, document, links):
        return [0.5 for _ in links]

    def state(self):
        return json.dumps(self.learned).encode()

    def restore(self, state):
        self.learned = json.loads(state)
        self.learned["runs"] += 1


def test_what_was_learned_survives_a_stop(tmp_path):
    with HandMade(ASKED) as site:
        crawl_site(site, tmp_path / "out", path("Learning"), CLOSESPIDER_PAGECOUNT=SITE_FILES + 3)
        crawl_site(site, tmp_path / "out", path("Learning"))
    learned = Learning.latest.learned
    assert (learned["runs"], learned["pairs"]) == (2, 1)
    assert sorted(learned["pages"]) == sorted(ASKED)


def test_another_scorer_does_not_get_what_one_learned(tmp_path):
    with HandMade(ASKED) as site:
        crawl_site(site, tmp_path / "out", path("Learning"), CLOSESPIDER_PAGECOUNT=SITE_FILES + 3)
        crawl_site(site, tmp_path / "out", "breadth_first", CLOSESPIDER_PAGECOUNT=SITE_FILES + 1)
        crawl_site(site, tmp_path / "out", path("Learning"))
    assert Learning.latest.learned["runs"] == 2


def has_learned(output):
    """Return True once a checkpoint holds what the scorer learned."""
    with closing(sqlite3.connect(output / "crawl.sqlite")) as journal:
        return journal.execute("SELECT count(*) FROM learned").fetchone()[0] > 0


@pytest.mark.crawl
def test_what_was_learned_survives_a_kill(tmp_path):
    settings = {"BILINGUAL_CHECKPOINT_SECONDS": 0.1}
    arguments = {"scorer": path("Learning")}
    with serve_demo(pages=40) as server:
        crawler = start(server.url, tmp_path / "out", arguments=arguments, settings=settings)
        server.wait_for_requests(60, crawler)
        wait_until(lambda: has_learned(tmp_path / "out"), crawler)
        kill(crawler)
        server.release()
        site = type("Served", (), {"url": server.url.rstrip("/"), "pages_asked": []})
        crawl_site(site, tmp_path / "out", path("Learning"))
    learned = Learning.latest.learned
    assert learned["runs"] == 2
    again = len(learned["pages"]) - len(set(learned["pages"]))
    assert again <= 10, "only what was under way at the kill is fetched twice"
    assert len(set(learned["pages"])) > 80


def test_what_cannot_be_read_is_learned_anew_and_said(caplog):
    with caplog.at_level(logging.WARNING):
        scorer = restored(
            lambda pair: Learning(pair, NothingYet(), Config()), PAIR, b"\x00 not json"
        )
    assert isinstance(scorer, Learning)
    assert scorer.learned["runs"] == 1
    assert "starts from scratch" in caplog.text


def test_what_is_costly_to_write_down_is_written_rarely(monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr("bilingual_crawler.scoring.scorekeeper.time.monotonic", lambda: next(clock))
    learning = Learning(PAIR, NothingYet(), Config())
    scores = Scorekeeper(learning, 0.0)
    scores.judge(PAGE, [], [])
    assert scores.take_state() is not None
    for _ in range(20):
        scores.judge(PAGE, [], [])
        assert scores.take_state() is None
    scores.finish()
    assert json.loads(scores.take_state())["pages"] == ["/es/a"] * 21
