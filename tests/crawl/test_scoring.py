"""Scoring inside a real crawl: what is asked when, on which thread, and what comes of it."""

import math
import threading

import pytest
from scrapy.utils.defer import deferred_from_coro

from bilingual_crawler.crawl.scoring import ProbeBudget
from bilingual_crawler.scoring.scorer import REFUSED, LinkScorer, Proposal
from bilingual_crawler.store.folder import CrawlFolder
from tests.support.crawling import documents, report
from tests.support.fetching import HTML, running_reactor
from tests.support.processes import HANG
from tests.support.scoring import HandMade, Page, begin, crawl_site

SITE = {
    "/": Page("spa", ["/es/a", "/es/b", "/en/c"]),
    "/es/a": Page("spa", ["/es/b", "/es/d", "/"]),
    "/es/b": Page("spa", ["/es/a", "/es/d", "/en/c"]),
    "/en/c": Page("eng", ["/es/e"]),
    "/es/d": Page("spa"),
    "/es/e": Page("spa"),
}


def path(name):
    return f"tests.crawl.test_scoring.{name}"


def paths(links):
    return [link.url.partition("/")[2].partition("/")[2].partition("/")[2] for link in links]


class Watched(LinkScorer):
    """Remembers how it was called; later links first, so that its order is no accident."""

    sees_context = False
    calls: list[list[str]]
    threads: set[threading.Thread]

    def __init__(self, pair, crawl, config):
        super().__init__(pair, crawl, config)
        type(self).calls, type(self).threads = [], set()

    def score(self, document, links):
        self.threads.add(threading.current_thread())
        self.calls.append(paths(links))
        return [float(number) for number, _ in enumerate(links)]


class InContext(Watched):
    sees_context = True


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_url_that_is_judged_by_itself_is_judged_once(tmp_path, concurrency):
    with HandMade(SITE) as site:
        outcome = crawl_site(
            site,
            tmp_path / "out",
            path("Watched"),
            CONCURRENT_REQUESTS_PER_DOMAIN=concurrency,
        )
    judged = [url for call in Watched.calls for url in call]
    assert sorted(judged) == ["en/c", "es/a", "es/b", "es/d", "es/e"]
    assert Watched.calls[0] == ["es/a", "es/b", "en/c"]
    assert outcome["links/scored"] == 5
    assert outcome["links/seen"] == 10


def test_a_waiting_url_is_judged_again_where_context_counts(tmp_path):
    with HandMade(SITE) as site:
        outcome = crawl_site(site, tmp_path / "out", path("InContext"))
    assert outcome.asked == ["/", "/en/c", "/es/b", "/es/d", "/es/a", "/es/e"]
    assert InContext.calls[2] == ["es/a", "es/d"]


def test_scores_are_made_on_one_thread_beside_the_event_loop(tmp_path):
    with HandMade(SITE) as site:
        crawl_site(site, tmp_path / "out", path("Watched"))
    (thread,) = Watched.threads
    assert thread.name.startswith("PoolThread-background")
    thread.join(HANG)
    assert not thread.is_alive()


class Failing(Watched):
    """Cannot judge the links of one page."""

    def score(self, document, links):
        if document.url.endswith("/es/a"):
            raise RuntimeError("the model fell over")
        return super().score(document, links)


class Nonsense(Watched):
    def score(self, document, links):
        scores = super().score(document, links)
        return [math.nan for _ in scores] if document.url.endswith("/es/a") else scores


class TooFew(Watched):
    def score(self, document, links):
        return super().score(document, links)[document.url.endswith("/es/a") :]


@pytest.mark.parametrize(
    ("name", "error"), [("Failing", "RuntimeError"), ("Nonsense", "ValueError")]
)
def test_a_scorer_that_fails_is_an_error_of_the_page(tmp_path, name, error):
    with HandMade(SITE | {"/es/a": Page("spa", ["/es/z"]), "/es/z": Page("spa")}) as site:
        outcome = crawl_site(site, tmp_path / "out", path(name))
    assert outcome.stats[f"spider_exceptions/{error}"] == 1
    assert outcome["urls/error_in_callback"] == 1
    assert "/es/z" not in outcome.asked
    assert "/es/d" in outcome.asked
    assert f"{site.url}/es/a" in {document["url"] for document in documents(tmp_path / "out")}
    assert report(tmp_path / "out")["state"] == "finished"


def test_a_score_missing_for_a_link_is_an_error_too(tmp_path):
    with HandMade(SITE | {"/es/a": Page("spa", ["/es/z"])}) as site:
        outcome = crawl_site(site, tmp_path / "out", path("TooFew"))
    assert outcome.stats["spider_exceptions/ValueError"] == 1


class Choosy(Watched):
    def score(self, document, links):
        return [REFUSED if "/en/" in link.url else 1.0 for link in links]


def test_a_link_may_be_refused(tmp_path):
    with HandMade(SITE) as site:
        outcome = crawl_site(site, tmp_path / "out", path("Choosy"))
    assert outcome.asked == ["/", "/es/a", "/es/b", "/es/d"]
    assert outcome["links/refused/scorer"] == 2


class OnlyAtHome(Watched):
    off_language = 0.0
    pages: list[tuple[str, str]]


@pytest.mark.parametrize(("name", "follows"), [("OnlyAtHome", False), ("Watched", True)])
def test_a_scorer_may_decide_on_pages_in_other_languages(tmp_path, name, follows):
    with HandMade(SITE) as site:
        outcome = crawl_site(site, tmp_path / "out", path(name))
    assert ("/es/e" in outcome.asked) is follows


class Guessing(Watched):
    """Thinks of Basque pages that nobody links to."""

    told: list[tuple[str, str]]
    guesses: tuple[str, ...] = (
        "/eu/a",
        "/eu/missing",
        "/es/b",
        "/files/x.zip",
        "/eu/b",
        "/eu/too-many",
    )

    def __init__(self, pair, crawl, config):
        super().__init__(pair, crawl, config)
        type(self).told = []
        self._home = ""

    def arrived(self, document):
        if document.depth == 0:
            self._home = document.url.removesuffix("/")

    def failed(self, url, reason):
        self.told.append((url.removeprefix(self._home), reason))

    def proposals(self):
        urls, self.guesses = self.guesses, ()
        return [Proposal(self._home + url, 9.0, 1, "a guess") for url in urls]


def test_guesses_of_a_scorer_are_tried_within_a_budget(tmp_path):
    basque = {f"/eu/{name}": Page("eus") for name in "ab"}
    with HandMade(SITE | basque) as site:
        outcome = crawl_site(site, tmp_path / "out", path("Guessing"), BILINGUAL_PROBES=3)
    assert outcome.asked[:4] == ["/", "/eu/a", "/eu/missing", "/eu/b"]
    assert (outcome["probes/sent"], outcome["probes/found"], outcome["probes/missed"]) == (3, 2, 1)
    assert outcome["probes/refused/known"] == 1
    assert outcome["probes/refused/not_html_ending"] == 1
    assert outcome["probes/refused/budget"] == 1
    assert outcome["urls/probe_missed"] == 1
    assert Guessing.told == [("/eu/missing", "probe_missed")]


def test_the_budget_of_guesses_is_one_for_all_runs_and_each_site(tmp_path):
    taken = []
    for _ in range(2):
        folder = CrawlFolder(tmp_path, "spa-eus")
        budget = ProbeBudget(folder.facts, 3)
        taken += [budget.take("https://www.a.org/x"), budget.take("https://eu.a.org/y")]
        taken.append(budget.take("https://b.org/"))
        folder.close()
    assert taken == [True, True, True, True, False, True]


def test_a_guess_is_not_tried_twice(tmp_path):
    with HandMade(SITE) as site:
        site.answers["/eu/a"] = (503, HTML, b"<p>later")
        outcome = crawl_site(site, tmp_path / "out", path("Guessing"))
    assert outcome.asked.count("/eu/a") == 1
    assert ("/eu/a", "http_503") in Guessing.told


def test_a_guess_that_is_sent_elsewhere_is_told(tmp_path):
    with HandMade(SITE) as site:
        site.answers["/eu/a"] = (302, HTML | {"Location": "/"}, b"")
        outcome = crawl_site(site, tmp_path / "out", path("Guessing"))
    assert ("/eu/a", "redirected") in Guessing.told
    assert outcome["probes/found"] == 0


class Reordering(Watched):
    """Changes its mind when it has seen one page: what was last comes first."""

    def arrived(self, document):
        self._now = document.url

    def score(self, document, links):
        return [1.0 - 0.1 * number for number, _ in enumerate(links)]

    def changes(self):
        if not self._now.endswith("/es/a"):
            return []
        home = self._now.removesuffix("es/a")
        return [(home + "es/b", 0.01), (home + "en/c", 5.0), (home, 9.0), (home + "es/a", 9.0)]


def test_waiting_urls_move_up_and_down_as_a_scorer_says(tmp_path):
    with HandMade(SITE) as site:
        outcome = crawl_site(site, tmp_path / "out", path("Reordering"))
    assert outcome.asked == ["/", "/es/a", "/en/c", "/es/d", "/es/e", "/es/b"]
    assert (outcome["links/raised"], outcome["links/lowered"]) == (1, 1)


class Slow(Watched):
    """Takes its time over the second page."""

    begun: threading.Event
    stopping: threading.Event

    def score(self, document, links):
        if document.depth:
            type(self).begun.set()
            type(self).stopping.wait(HANG)
        return super().score(document, links)


def test_a_crawl_stops_cleanly_while_a_score_is_under_way(tmp_path):
    Slow.begun, Slow.stopping = threading.Event(), threading.Event()
    with HandMade(SITE) as site:
        crawler, run = begin(site, tmp_path / "out", path("Slow"))
        thread = threading.Thread(target=run)
        thread.start()
        assert Slow.begun.wait(HANG)
        reactor = running_reactor()
        reactor.callFromThread(lambda: deferred_from_coro(crawler.stop_async()))
        reactor.callFromThread(Slow.stopping.set)
        thread.join(HANG)
        assert not thread.is_alive()
        first = site.pages_asked
        assert first == ["/", "/en/c"]
        rest = crawl_site(site, tmp_path / "out", path("Watched")).asked
    assert sorted([*first, *rest]) == sorted(SITE)


def test_pages_that_forbid_their_links_are_told_and_not_followed(tmp_path):
    with HandMade(SITE) as site:
        status, headers, body = site.answers["/es/a"]
        nofollow = body.replace(b"<head>", b'<head><meta name="robots" content="nofollow">')
        site.answers["/es/a"] = (status, headers, nofollow)
        outcome = crawl_site(site, tmp_path / "out", path("Arrivals"))
    assert ("/es/a", "spa") in Arrivals.pages
    assert outcome["optouts/nofollow"] == 1


class Arrivals(Watched):
    """Looks only at what comes."""

    off_language = 0.0
    pages: list[tuple[str, str]]

    def __init__(self, pair, crawl, config):
        super().__init__(pair, crawl, config)
        type(self).pages = []

    def arrived(self, document):
        self.pages.append(("/" + document.url.split("/", 3)[3], document.language))


def test_pages_in_other_languages_are_told_though_they_are_not_followed(tmp_path):
    with HandMade(SITE) as site:
        crawl_site(site, tmp_path / "out", path("Arrivals"))
    assert ("/en/c", "eng") in Arrivals.pages
    assert "/es/e" not in dict(Arrivals.pages)
