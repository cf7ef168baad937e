"""A wheel in an empty environment, used from an empty folder, as by a user without a clone."""

import re
import subprocess
import sys
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

from demo.content import expected_pairs
from tests.support import processes
from tests.support.crawling import FAST, pairs
from tests.support.processes import HANG
from tests.support.projects import ROOT, built_wheel
from tests.support.servers import serve_demo

pytestmark = [
    pytest.mark.crawl,
    pytest.mark.skipif(find_spec("uv") is None, reason="needs uv: pip install '.[dev]'"),
]
LIMIT = 2 * HANG


class Installed:
    """The programs of an environment, run from a folder with nothing of ours around it."""

    def __init__(self, environment: Path, folder: Path) -> None:
        self.programs = environment / "bin"
        self.folder = folder
        self.env = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(folder), "NO_COLOR": "1"}

    def run(self, *words: object) -> str:
        done = subprocess.run(
            list(map(str, words)),
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=self.env,
            timeout=LIMIT,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, *words: object) -> subprocess.Popen[str]:
        return processes.start(
            list(map(str, words)), stdout=subprocess.PIPE, text=True, cwd=self.folder, env=self.env
        )


def uv(*words: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "uv", "--quiet", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel with its plain dependencies: no extra, nothing editable."""
    place = tmp_path_factory.mktemp("installed")
    wheel = built_wheel(place / "build")
    uv("venv", "--python", sys.executable, place / "venv")
    python = place / "venv" / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    uv("pip", "install", "--python", python, "--constraint", constraints, wheel)
    (place / "work").mkdir()
    return Installed(place / "venv", place / "work")


@pytest.fixture(scope="module")
def crawled(installed):
    """The sample site, crawled by the console script with its default scorer."""
    settings = FAST | {"BILINGUAL_WARC": 1}
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    with serve_demo() as server:
        printed = installed.run(
            *("bilingual-crawler", "crawl", "-a", "langs=spa-eus", "-a", "output=crawl"),
            *("-a", f"seeds={server.url}", *given),
        )
        return printed, expected_pairs(server.url)


def test_a_plain_installation_has_no_runtime_for_models_and_crawls_by_rules(installed, crawled):
    printed, expected = crawled
    assert printed.count("Links are ranked by rules, without the URL models") == 1
    assert "pip install 'bilingual-crawler[cpu]'" in printed
    found = {(pair["url1"], pair["url2"]) for pair in pairs(installed.folder / "crawl")}
    assert expected <= found


def test_the_models_are_in_the_wheel(installed):
    program = (
        "from importlib.resources import files; folder = files('bilingual_crawler') / 'models';"
        " print(*(task.joinpath('model.onnx').is_file() for task in folder.iterdir()))"
    )
    assert installed.run("python", "-c", program).split() == ["True", "True"]


def test_what_was_fetched_can_be_paired_again(installed, crawled):
    _, expected = crawled
    archives = sorted((installed.folder / "crawl").glob("*.warc.gz"))
    installed.run(
        *("bilingual-crawler", "pairs", *archives, "--langs", "spa-eus", "--out", "paired")
    )
    found = {(pair["url1"], pair["url2"]) for pair in pairs(installed.folder / "paired")}
    assert expected <= found


def test_the_corpus_is_aligned_exported_and_shown(installed, crawled):
    installed.run("bilingual-crawler", "align", "crawl")
    installed.run("bilingual-crawler", "export", "crawl", "--to", "tmx", "--out", "memory.tmx")
    assert "<tuv" in (installed.folder / "memory.tmx").read_text()
    serve = installed.start("bilingual-crawler", "serve", "crawl", "--port", "0", "--no-browser")
    try:
        address = re.search(r"http://\S+", serve.stdout.readline())[0]
        with urllib.request.urlopen(address, timeout=LIMIT) as answer:
            assert "crawl" in answer.read().decode()
    finally:
        serve.terminate()
        serve.communicate()


def test_scrapy_itself_has_the_commands_and_crawls_where_the_settings_are_named(installed):
    assert "detect-site" in installed.run("scrapy", "--help")
    installed.run("env", "SCRAPY_SETTINGS_MODULE=bilingual_crawler.settings", "scrapy", "list")
