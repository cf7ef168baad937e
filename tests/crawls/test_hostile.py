"""A server that means harm is survived, and the good pages on it are harvested."""

import contextlib
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import hostile
from tests.support.crawling import crawl, pairs, report, start
from tests.support.processes import HANG
from tests.support.servers import serve_hostile

pytestmark = pytest.mark.crawl


def test_a_crawl_survives_every_attack_and_finds_the_good_pairs(tmp_path):
    settings = {
        "DOWNLOAD_TIMEOUT": 10,
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
    assert 100 < peak < 1000


def megabytes_of(process):
    """The most memory that a crawl had, when it has ended well.

    What the kernel tells of an ended child also counts the memory of the one that started it.
    """
    peak = 0
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(process.communicate, timeout=HANG)
        while not ending.done():
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{process.pid}/status").read_text()
                peak = max([peak, *map(int, re.findall(r"VmHWM:\s*(\d+) kB", status))])
            time.sleep(0.02)
    assert process.returncode == 0, ending.result()[0]
    return peak / 1024


def test_nothing_outside_is_contacted_by_redirects(tmp_path):
    """The hostile server sends to private hosts and files; none is followed."""
    with serve_hostile() as server:
        crawl(
            server.url,
            tmp_path / "out",
            settings={"DOWNLOAD_TIMEOUT": 2, "RETRY_TIMES": 0, "BILINGUAL_SITE_PAGES": 100},
        )
    with closing(sqlite3.connect(tmp_path / "out" / "crawl.sqlite")) as journal:
        hosts = journal.execute("SELECT DISTINCT host FROM urls").fetchall()
    assert hosts == [("127.0.0.1",)]
