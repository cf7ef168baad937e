"""A crawl that is stopped anywhere goes on, and ends as if it had never been stopped."""

import random
import signal

import pytest

from demo import content
from tests.crawls import crawl, documents, pairs, report, start, wait_until_asked
from tests.servers import serve_demo

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
    kills = 0
    with serve_demo(pages=PAGES, delay=0.02) as server:
        while kills < KILLS:
            crawler = start(server.url, output, settings=settings)
            running = wait_until_asked(server, crawler, rng.randint(1, 30))
            crawler.send_signal(signal.SIGKILL)
            crawler.communicate()
            assert running, "the site is too small for so many kills"
            kills += 1
        crawl(server.url, output, settings=settings)
        ended_as_if_never_stopped(server, output)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_crawl_that_is_asked_to_stop_goes_on_later(tmp_path, stop):
    output = tmp_path / "out"
    with serve_demo(pages=PAGES, delay=0.02) as server:
        crawler = start(server.url, output)
        assert wait_until_asked(server, crawler, 40)
        crawler.send_signal(stop)
        printed, _ = crawler.communicate(timeout=30)
        assert crawler.returncode == 0, printed
        assert str(output) in printed
        asked = len(server.paths())
        assert 0 < len(documents(output)) < len(content.storable_pages(server.url, PAGES))
        assert report(output)["state"] != "finished"
        crawl(server.url, output)
        ended_as_if_never_stopped(server, output)
        again = (
            len(server.paths())
            - asked
            - len(set(server.paths()[asked:]) - set(server.paths()[:asked]))
        )
        assert again <= 3, "a clean stop fetches nothing twice but retries and site files"


def test_the_reason_a_page_failed_survives_too(tmp_path):
    output = tmp_path / "out"
    with serve_demo(pages=PAGES, delay=0.02) as server:
        crawler = start(server.url, output)
        assert wait_until_asked(server, crawler, 60)
        crawler.send_signal(signal.SIGKILL)
        crawler.communicate()
        crawl(server.url, output)
    assert "http_404" in str(report(output))


def test_a_crawl_in_use_is_not_entered_twice(tmp_path):
    with serve_demo(pages=PAGES, delay=0.05) as server:
        crawler = start(server.url, tmp_path / "out")
        assert wait_until_asked(server, crawler, 5)
        printed = crawl(server.url, tmp_path / "out", status=2)
        assert "Another crawl is running" in printed
        crawler.kill()
        crawler.communicate()
