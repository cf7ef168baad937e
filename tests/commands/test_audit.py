"""`scrapy audit`, driven by keys as a person types them."""

import os
import pty
import subprocess
import sys
from functools import partial

import pytest

from bilingual_crawler.corpus.audit import read_answers, read_result
from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.export import sentence, write_sentences
from tests.support.processes import HANG, wait_until

TEXT1, TEXT2 = "Frase número {}.", "{}. esaldia."
HOSTILE = "\x1b]0;owned\x07[bold]"


@pytest.fixture
def folder(tmp_path):
    rows = [sentence(at, TEXT1.format(at), TEXT2.format(at), score=0.9) for at in range(90)]
    return write_sentences(tmp_path / "crawl", rows)


def audit(folder, keys, *options):
    return processes.run(
        [sys.executable, "-m", "scrapy", "audit", folder, *options],
        input="".join(f"{key}\n" for key in keys), cwd=ROOT,
        capture_output=True, text=True,
        env=os.environ | {"COLUMNS": "100"},
    )  # fmt: skip


def has_answers(folder, number):
    return len(read_answers(folder)) == number


def test_both_texts_are_shown_and_the_answers_are_kept(folder):
    done = audit(folder, "pwbsq")
    assert done.returncode == 0, done.stderr
    assert "Frase número" in done.stderr
    assert "esaldia." in done.stderr
    assert "score" not in done.stderr  # it would sway the reader
    assert sorted(read_answers(folder).values()) == ["borderline", "parallel", "skipped", "wrong"]
    assert "Verdicts: 1 parallel, 1 borderline, 1 wrong." in done.stdout
    assert "The audit is not finished." in done.stdout


def test_it_goes_on_where_it_was_left(folder):
    audit(folder, "ppq")
    first = read_answers(folder)
    audit(folder, "wq")
    both = read_answers(folder)
    assert len(both) == 3
    assert both | first == both


def test_an_answer_can_be_taken_back(folder):
    audit(folder, "wuup")
    assert list(read_answers(folder).values()) == ["parallel"]


def test_it_ends_when_the_interval_is_narrow_enough(folder):
    done = audit(folder, "p" * 90)
    assert len(read_answers(folder)) < 90
    assert "The audit is not finished." not in done.stdout
    assert "**precision 1.00 ± " in done.stdout
    assert read_result(folder)["is_enough"]


def test_the_report_asks_nothing(folder):
    audit(folder, "pq")
    done = audit(folder, "", "--report")
    assert "Verdicts: 1 parallel" in done.stdout
    assert len(read_answers(folder)) == 1


def test_a_folder_without_sentences_is_told_how_to_get_them(tmp_path):
    done = audit(tmp_path, "q")
    assert done.returncode == 2
    assert "run scrapy align" in done.stderr


def test_texts_of_strangers_cannot_write_to_the_terminal(tmp_path):
    folder = write_sentences(tmp_path / "crawl", [sentence(0, HOSTILE, HOSTILE)])
    done = audit(folder, "q")
    assert "\x1b" not in done.stderr
    assert "[bold]" in done.stderr


def test_on_a_terminal_a_key_is_enough(folder):
    """No line end is typed: each key is an answer at once."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "scrapy", "audit", folder], cwd=ROOT,
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        os.close(theirs)
        for number, key in enumerate((b"p", b"w"), 1):
            os.write(ours, key)
            wait_until(partial(has_answers, folder, number))
        os.write(ours, b"q")
        process.communicate(timeout=HANG)
    os.close(ours)
    assert process.returncode == 0
    assert list(read_answers(folder).values()) == ["parallel", "wrong"]
