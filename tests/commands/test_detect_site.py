"""`scrapy detect-site`, as it is typed, over real HTTP."""

import json
import os
import sys

import pytest

from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.fetching import HTML, NOT_FOUND, Site
from tests.support.recordings import page, to
from tests.support.servers import serve_demo

FAST = {"BILINGUAL_ALLOW_PRIVATE": 1, "DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": 0}


def detect(url, *words, cwd=ROOT, settings=FAST):
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    return processes.run(
        [sys.executable, "-m", "scrapy", "detect-site", url, *words, *given],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"NO_COLOR": "1"},
    )


def test_the_demo_site_is_bilingual_and_the_command_says_why(tmp_path):
    with serve_demo() as server:
        run = detect(server.url, "--langs", "spa-eus", cwd=tmp_path)
        asked = server.paths()
    assert run.returncode == 0, run.stderr
    first, *reasons = run.stdout.splitlines()
    assert "is bilingual (spa-eus)" in first
    assert "2 downloads" in first
    assert any("start at" in line and "/eu/ (eus)" in line for line in reasons)

    assert [path for path in asked if not path.endswith(".json")] == ["/", "/eu/"]
    assert "INFO" not in run.stderr


def test_without_languages_the_command_says_which_ones_a_site_has(tmp_path):
    with serve_demo() as server:
        run = detect(server.url, "--json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert set(found["languages"]) == {"spa", "eus", "eng"}
    basque = found["languages"]["eus"]
    assert basque["name"] == "Basque"
    assert basque["pages"] >= 2
    assert basque["declared"] >= basque["pages"]
    assert basque["start"] == f"{server.url.rstrip('/')}/eu/"
    assert sum(each["share"] for each in found["languages"].values()) == pytest.approx(1, abs=0.01)
    assert found["downloads"] == 10


@pytest.fixture(scope="module")
def monolingual():
    """A site in Spanish whose robots.txt hides a part and whose switch leads into it."""
    robots = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /eu/\n")
    switch = '<a href="/eu/">Euskara</a> '
    answers = {
        "/": (200, HTML, page("es", 1, to("/1", "/2"))),
        "/switch": (200, HTML, page("es", 2, switch)),
        "/reserved": (200, {**HTML, "tdm-reservation": "1"}, page("es", 3)),
        "/sitemap.xml": NOT_FOUND,
        "/robots.txt": robots,
    }
    with Site(answers) as site:
        yield site


def test_a_site_in_one_language_is_not_bilingual(monolingual):
    run = detect(monolingual.url, "--langs", "spa-eus", "--json")
    assert run.returncode == 3, run.stderr
    verdict = json.loads(run.stdout)
    assert verdict["bilingual"] == "no"
    assert verdict["languages"] == {"spa": 1.0}
    assert verdict["evidence"][0]["word"] == "no_link"
    assert verdict["downloads"] == 2
    assert not run.stderr


def test_a_switch_that_robots_txt_forbids_is_not_followed_and_leaves_it_open(monolingual):
    run = detect(f"{monolingual.url}/switch", "--langs", "spa-eus")
    assert run.returncode == 4, run.stderr
    assert "robots_txt" in run.stdout
    assert "/eu/" not in monolingual.asked


def test_a_page_that_reserves_its_text_is_not_read(monolingual):
    run = detect(f"{monolingual.url}/reserved", "--langs", "spa-eus", "--budget", "1")
    assert run.returncode == 4, run.stderr
    assert "tdm_reserved" in run.stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["ftp://example.org", "--langs", "spa-eus"], 2, "only http:// and https://"),
        (["https://example.org", "--langs", "spa-spa"], 2, "two different languages"),
        (["example.org", "example.com"], 2, "name the URL of one site"),
        (["https://example.org", "--langs", "spa-eus", "--likelihood", "2"], 2, "from 0 to 1"),
    ],
)
def test_mistakes_are_told_in_sentences(words, status, said):
    run = detect(*words, settings={})
    assert run.returncode == status
    assert said in run.stdout + run.stderr
    assert "Traceback" not in run.stderr
