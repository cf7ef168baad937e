"""A server that means harm is survived, and the good pages on it are harvested."""

import resource
import sqlite3
from contextlib import closing

import pytest

from tests import hostile
from tests.crawls import crawl, pairs, report
from tests.servers import serve_hostile

pytestmark = pytest.mark.crawl


def test_a_crawl_survives_every_attack_and_finds_the_good_pairs(tmp_path):
    settings = {
        "DOWNLOAD_TIMEOUT": 3,
        "DOWNLOAD_MAXSIZE": 1_000_000,
        "RETRY_TIMES": 0,
        "BILINGUAL_SITE_PAGES": 300,
    }
    with serve_hostile() as server:
        crawl(server.url, tmp_path / "out", settings=settings, timeout=180)
        found = {(pair["url1"], pair["url2"]) for pair in pairs(tmp_path / "out")}
        assert set(hostile.good_pairs(server.url)) <= found
    outcomes = str(report(tmp_path / "out"))
    for reason in ("too_large", "timeout", "not_html"):
        assert reason in outcomes
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    assert peak < 1000, f"{peak:.0f} MB"


def test_nothing_outside_is_contacted_by_redirects(tmp_path):
    """The hostile server sends to private hosts and files; none is followed."""
    with serve_hostile() as server:
        crawl(
            server.url,
            tmp_path / "out",
            settings={"DOWNLOAD_TIMEOUT": 2, "RETRY_TIMES": 0, "BILINGUAL_SITE_PAGES": 100},
            timeout=180,
        )
    with closing(sqlite3.connect(tmp_path / "out" / "crawl.sqlite")) as journal:
        hosts = journal.execute("SELECT DISTINCT host FROM urls").fetchall()
    assert hosts == [("127.0.0.1",)]
