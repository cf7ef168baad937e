"""The commands of the tutorial are run and print what it shows; so is the program of the README."""

import json
import re
import shlex
import sys

import pytest

from tests.support import processes
from tests.support.crawling import ROOT

pytestmark = pytest.mark.crawl

PAGE = (ROOT / "docs" / "tutorial" / "first-corpus.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FOLDER = "crawls/walk"


def block_with(text):
    (found,) = [block for block in BLOCKS if text in block]
    return found


class Walk:
    """The crawl of the page, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.summary = self.run(block_with("python -m demo").strip()).stderr

    def run(self, command):
        words = shlex.split(command.replace(FOLDER, str(self.folder)))
        program = {"python": [sys.executable], "scrapy": [sys.executable, "-m", "scrapy"]}
        done = processes.run(
            [*program[words[0]], *words[1:]], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    return Walk(tmp_path_factory.mktemp("walk") / "crawl")


def without_time(line):
    return re.sub(r", \d+:\d\d$", "", line)


def test_the_crawl_ends_as_the_page_shows(walk):
    for line in block_with("pairs of Spanish and Basque documents").splitlines():
        assert line == "..." or without_time(line) in walk.summary


def test_a_pair_is_as_the_page_describes_it(walk):
    first, *_ = (walk.folder / "pairs.jsonl").read_text("utf-8").splitlines()
    assert {"url1", "url2", "lang1", "lang2", "score", "evidence"} <= json.loads(first).keys()


def test_alignment_and_export_print_and_write_what_the_page_shows(walk):
    command, *expected = block_with("$ scrapy align").splitlines()
    printed = [line.rstrip() for line in walk.run(command.removeprefix("$ ")).stdout.splitlines()]
    assert printed[: len(expected)] == expected
    walk.run(block_with("scrapy export").strip())
    memory = (walk.folder / "export" / "sentences.tmx").read_text("utf-8")
    for segment in re.findall(r"<seg>.*?</seg>", PAGE):
        assert segment in memory


def test_the_program_of_the_readme_reads_the_crawl(walk, tmp_path, monkeypatch, capsys):
    (tmp_path / "crawls").mkdir()
    (tmp_path / "crawls" / "example").symlink_to(walk.folder)
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text("utf-8")
    (program,) = re.findall(r"```python\n((?:(?!```).)*read_crawl.*?)```", readme, re.DOTALL)
    exec(compile(program, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "/es/museo" in printed
    assert "Historia de Harizlarre\tHarizlarreko historia" in printed
