"""`python -m demo`, as `make demo` runs it."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.reporting.test_progress import on_a_terminal
from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.processes import HANG, wait_until

pytestmark = pytest.mark.crawl


def demo(folder, *options):
    return [sys.executable, "-m", "demo", "--output", str(folder), *options]


def site_of(printed):
    """The address that the demo says the site is at."""
    return next(word for word in printed.split() if word.startswith("http://")).rstrip(";")


def is_served(url):
    try:
        with urllib.request.urlopen(url, timeout=HANG):
            return True
    except urllib.error.URLError:
        return False


def test_the_demo_shows_its_command_the_pairs_with_reasons_and_the_files(tmp_path):
    done = subprocess.run(
        demo(tmp_path / "crawl"), cwd=ROOT, check=False, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    text = done.stdout
    assert done.returncode == 0, text
    assert "$ scrapy crawl bilingual \\\n    -a langs=spa-eus" in text
    assert "score   pair, and why" in text
    assert f"{site_of(text)}es/museo\n" in text
    assert "url_key 0.90: URLs differ only in the tokens" in text
    assert "alternates 0.95: each page names the other as its translation" in text
    assert f"Files in {tmp_path / 'crawl'}" in text
    assert "pairs that this site is known to have were found, and none is wrong." in text
    assert "\x1b" not in text
    assert not is_served(site_of(text))


def test_the_demo_on_a_terminal_is_live_and_ends_with_the_table(tmp_path):
    shown = on_a_terminal(demo(tmp_path / "crawl"))
    live, end = shown[: shown.rindex("\x1b[?25h")], shown[shown.rindex("\x1b[?25h") :]
    assert "last pair" in live
    assert "pair, and why" in end
    assert "none is wrong" in end
    assert "last pair" not in end


def test_the_demo_fails_and_names_the_pairs_when_some_are_missing(tmp_path, monkeypatch):
    from demo import __main__ as command  # noqa: PLC0415 - a module that is made to be run

    found = {("http://a/es", "http://a/eu"), ("http://a/es/x", "http://a/eu/y")}
    expected = {("http://a/es", "http://a/eu"), ("http://a/es/2", "http://a/eu/2")}
    lines: list[str] = []
    monkeypatch.setattr("builtins.print", lines.append)
    assert command._verdict(found, expected, set()) == 1
    assert lines == [
        "\nMissing: http://a/es/2\n         http://a/eu/2",
        "\nWrong: http://a/es/x\n       http://a/eu/y",
        "\n1 of 2 pairs found, 1 wrong.",
    ]


def test_the_demo_fails_when_the_crawl_does(tmp_path):
    (tmp_path / "notes.txt").write_text("not a crawl")
    done = subprocess.run(demo(tmp_path), cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "contains something other than a crawl" in done.stderr
    assert "The crawl failed with exit status 2." in done.stdout


def test_the_server_goes_when_the_demo_is_terminated(tmp_path):
    process = processes.start(
        demo(tmp_path / "crawl", "--pages", "500"), cwd=ROOT, text=True, bufsize=1,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = site_of(process.stdout.readline())
    wait_until((tmp_path / "crawl" / "crawl.json").exists)
    assert is_served(url)
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=HANG)
    assert process.returncode == 128 + signal.SIGTERM
    assert not is_served(url)
