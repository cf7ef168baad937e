"""Whole crawls that keep what they fetch."""

import subprocess
import sys
from collections import Counter

import pytest

from demo.site.pages import QUIRKS, REFRESHES
from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.servers import serve_demo
from tests.support.warc import (
    urls_in,
)

OPTED_OUT = {"/es/poemas", "/eu/cuentos", "/es/mapa"}
FAILS_ONCE = {path for path, quirk in QUIRKS.items() if quirk.fails_once}
OF_THE_SITE = {"/robots.txt", "/.well-known/tdmrep.json"}


def crawl_command(server, output):
    """A crawl of the sample site that keeps everything."""
    options = ["BILINGUAL_WARC=1", "BILINGUAL_ALLOW_PRIVATE=1", "BILINGUAL_RETRY_DELAY=0"]
    options += ["DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=0", "BILINGUAL_CHECKPOINT_SECONDS=0.05"]
    arguments = ["-a", "langs=spa-eus", "-a", f"seeds={server.url}", "-a", f"output={output}"]
    arguments += [part for option in options for part in ("-s", option)]
    return [sys.executable, "-m", "scrapy", "crawl", "bilingual", *arguments]


def paths_kept(server, output):
    return Counter("/" + url.removeprefix(server.url) for url in urls_in(output))


@pytest.mark.crawl
def test_a_crawl_keeps_every_answer_except_of_pages_that_opted_out(tmp_path):
    with serve_demo() as server:
        processes.run(crawl_command(server, tmp_path), cwd=ROOT, check=True, capture_output=True)
        asked = Counter(entry["path"] for entry in server.log())
    left_out = asked - paths_kept(server, tmp_path)
    assert OPTED_OUT <= left_out.keys() <= OPTED_OUT | REFRESHES.keys()
    assert asked - left_out == paths_kept(server, tmp_path)
    assert paths_kept(server, tmp_path).keys() >= OF_THE_SITE


@pytest.mark.crawl
def test_a_crawl_that_was_killed_and_resumed_keeps_every_page_once(tmp_path):
    with serve_demo(pages=100) as server:
        command = crawl_command(server, tmp_path)
        with processes.started(command, cwd=ROOT, stderr=subprocess.DEVNULL) as killed:
            server.wait_for_requests(100, killed)
        server.release()
        processes.run(command, cwd=ROOT, check=True, capture_output=True)
        asked = server.paths()
    assert asked.count("/.well-known/tdmrep.json") == 2
    kept = paths_kept(server, tmp_path)
    pages = Counter({path: n for path, n in kept.items() if path not in OF_THE_SITE | FAILS_ONCE})
    assert set(pages) == set(asked) - OPTED_OUT - REFRESHES.keys() - OF_THE_SITE - FAILS_ONCE
    assert set(pages.values()) == {1}
