"""A server that means harm is survived, and the good pages on it are harvested."""

import os
import sqlite3
from contextlib import closing

import pytest

from tests import hostile
from tests.crawls import crawl, pairs, report, start
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
        peak = megabytes_of(start(server.url, tmp_path / "out", settings=settings))
        found = {(pair["url1"], pair["url2"]) for pair in pairs(tmp_path / "out")}
        assert set(hostile.good_pairs(server.url)) <= found
    outcomes = str(report(tmp_path / "out"))
    for reason in ("too_large", "timeout", "not_html"):
        assert reason in outcomes
    assert peak < 1000


def megabytes_of(process):
    """The most memory that a crawl had, when it has ended well."""
    with process.stdout:
        printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, printed
    return usage.ru_maxrss / 1024


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
