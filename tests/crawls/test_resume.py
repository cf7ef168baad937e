"""A crawl that is stopped anywhere goes on, and ends as if it had never been stopped."""

import random
import signal

import pytest

from demo import content
from tests.support.crawling import crawl, documents, finish, kill, pairs, report, start
from tests.support.servers import serve_demo

pytestmark = pytest.mark.crawl
PAGES = 60
KILLS = 12


def ended_as_if_never_stopped(server, output):
    stored = [document["url"] for document in documents(output)]
    groups = content.storable_pages(server.url, PAGES)
    assert [group for group in groups if len(group & set(stored)) != 1] == []
    assert len(stored) == len(groups)
    found = [(pair["url1"], pair["url2"]) for pair in pairs(output)]
    assert len(found) == len(set(found))
    expected = content.expected_pairs(server.url, PAGES)
    assert expected <= set(found)
    assert set(found) <= expected | set(content.optional_pairs(server.url))
    assert report(output)["state"] == "finished"


def test_a_crawl_survives_kills_at_random_moments(tmp_path):
    rng = random.Random(20261116)
    output = tmp_path / "out"
    settings = {"BILINGUAL_CHECKPOINT_SECONDS": 0.1}
    with serve_demo(pages=PAGES) as server:
        for _ in range(KILLS):
            crawler = start(server.url, output, settings=settings)
            server.wait_for_requests(rng.randint(1, 30), crawler)
            kill(crawler)
        server.release()
        crawl(server.url, output, settings=settings)
        ended_as_if_never_stopped(server, output)
    assert "http_404" in str(report(output)), "why a page failed is known after kills too"


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_crawl_that_is_asked_to_stop_goes_on_later(tmp_path, stop):
    output = tmp_path / "out"
    with serve_demo(pages=PAGES) as server:
        crawler = start(server.url, output)
        server.wait_for_requests(60, crawler)
        crawler.send_signal(stop)
        server.release()
        printed = finish(crawler)
        assert str(output) in printed
        asked = server.paths()
        assert 0 < len(documents(output)) < len(content.storable_pages(server.url, PAGES))
        assert report(output)["state"] != "finished"
        crawl(server.url, output)
        ended_as_if_never_stopped(server, output)
        later = server.paths()[len(asked) :]
        again = len(later) - len(set(later) - set(asked))
        assert again <= 3, "a clean stop fetches nothing twice but retries and site files"


def test_a_crawl_in_use_is_not_entered_twice(tmp_path):
    with serve_demo(pages=PAGES) as server:
        crawler = start(server.url, tmp_path / "out")
        server.wait_for_requests(5, crawler)
        printed = crawl(server.url, tmp_path / "out", status=2)
        assert "Another crawl is running" in printed
        assert crawler.poll() is None
