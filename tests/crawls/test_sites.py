"""Politeness as the server sees it, and the settings of single sites."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread

import pytest

from tests.support.crawling import crawl, documents, report
from tests.support.servers import serve_demo

pytestmark = pytest.mark.crawl
LATE = 0.1
"""Seconds by which a busy server may note a request too late: the next seems closer to it."""


@pytest.mark.alone
def test_the_delay_is_kept_between_any_two_requests(tmp_path):
    settings = {
        "DOWNLOAD_DELAY": 0.6,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
        "CLOSESPIDER_PAGECOUNT": 8,
    }
    with serve_demo() as server:
        crawl(server.url, tmp_path / "out", settings=settings)
        times = [entry["time"] for entry in server.log()]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) > 6
    assert min(gaps) > 0.6 - LATE


@pytest.mark.alone
@pytest.mark.parametrize("moment", ["request_reached_downloader", "bytes_received"])
def test_the_delay_is_kept_though_requests_are_held_up_on_their_way(tmp_path, moment):
    settings = {
        "DOWNLOAD_DELAY": 0.6,
        "CLOSESPIDER_PAGECOUNT": 8,
        "EXTENSIONS": '{"tests.support.held_up.HeldUp": 0}',
        "HELD_UP_AT": moment,
    }
    with serve_demo() as server:
        crawl(server.url, tmp_path / "out", settings=settings)
        times = [entry["time"] for entry in server.log()]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) > 6
    assert min(gaps) > 0.6 - LATE


def test_a_delay_does_not_make_the_crawl_wait_for_nothing(tmp_path):
    """The engine looks only every five seconds by itself; the frontier wakes it."""
    with serve_demo() as server:
        settings = {"DOWNLOAD_DELAY": 0.2, "CLOSESPIDER_PAGECOUNT": 20}
        crawl(server.url, tmp_path / "out", settings=settings)
        times = [entry["time"] for entry in server.log()]
    assert times[19] - times[0] < 19 * 5 / 2


def test_a_site_has_its_own_delay_budget_and_patterns(tmp_path):
    file = tmp_path / "sites.toml"
    file.write_text(
        '["*"]\ndelay = 5.0\n\n["127.0.0.1"]\ndelay = 0.0\npages = 12\nexclude = ["/eu/"]\n'
    )
    with serve_demo() as server:
        crawl(server.url, tmp_path / "out", arguments={"sites": file})
        asked = server.paths()
    assert not [path for path in asked if path.startswith("/eu/")]
    assert 10 <= len(asked) <= 16
    assert report(tmp_path / "out")["state"] == "finished"


def test_a_larger_budget_goes_on_where_the_smaller_ended(tmp_path):
    with serve_demo() as server:
        crawl(server.url, tmp_path / "out", settings={"BILINGUAL_SITE_PAGES": 10})
        few = len(documents(tmp_path / "out"))
        crawl(server.url, tmp_path / "out")
        assert few < len(documents(tmp_path / "out"))


def test_a_site_may_have_its_own_languages(tmp_path):
    file = tmp_path / "sites.toml"
    file.write_text('["127.0.0.1"]\nlanguages = "eng-spa"\n')
    with serve_demo() as server:
        crawl(server.url, tmp_path / "out", arguments={"sites": file})
    languages = {document["language"] for document in documents(tmp_path / "out")}
    assert languages == {"eng", "spa"}


def test_mistakes_in_the_file_are_told_with_their_lines(tmp_path):
    file = tmp_path / "sites.toml"
    file.write_text('["*"]\ndelay = "fast"\n\n["a.example"]\ncolour = "red"\n')
    arguments = {"sites": file}
    printed = crawl("https://a.example/", tmp_path / "out", arguments=arguments, status=2)
    assert "line 2" in printed
    assert "line 5" in printed
    assert "Traceback" not in printed


class NoRobots(BaseHTTPRequestHandler):
    """A server that cannot say what its robots.txt allows."""

    def do_GET(self):
        self.send_response(503 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_host_that_fails_before_it_is_asked_does_not_hold_up_the_crawl(tmp_path):
    settings = {"DOWNLOAD_DELAY": 0.1, "BILINGUAL_RETRY_DELAY": 0.05}
    with ThreadingHTTPServer(("127.0.0.1", 0), NoRobots) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        crawl(f"http://127.0.0.1:{port}/", tmp_path / "out", settings=settings)
        server.shutdown()
    assert report(tmp_path / "out")["urls_ended"].keys() == {"robots_unavailable"}


def test_private_addresses_are_refused_unless_allowed(tmp_path):
    with serve_demo() as server:
        crawl(server.url, tmp_path / "out", settings={"BILINGUAL_ALLOW_PRIVATE": 0})
        assert server.paths() == []
        assert "private_address" in str(report(tmp_path / "out"))
        crawl(server.url, tmp_path / "out")
    assert documents(tmp_path / "out"), "a seed that failed is tried again by the next run"
