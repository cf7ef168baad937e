"""The tool that runs all tests on a busy machine."""

import subprocess
import sys

from tests.support.crawling import ROOT
from tests.support.processes import HANG


def steady(*words):
    return subprocess.run(
        [sys.executable, "-m", "tools.steady", *words],
        cwd=ROOT, capture_output=True, text=True, timeout=HANG, check=False,
    )  # fmt: skip


def test_every_run_has_a_line_with_its_counts():
    done = steady("--runs", "2", "--loops", "1", sys.executable, "-c", "print('= 3 passed =')")
    assert done.returncode == 0, done.stdout + done.stderr
    first, second, end = done.stdout.splitlines()
    assert first.startswith("run 1 of 2: passed in ")
    assert second.endswith(" s (3 passed)")
    assert end == "All 2 runs passed beside 1 busy loops."


def test_the_first_run_that_fails_ends_it_and_is_shown():
    done = steady("--loops", "1", sys.executable, "-c", "raise SystemExit('what went wrong')")
    assert done.returncode == 1
    assert done.stdout.startswith("run 1 of 5: failed in ")
    assert done.stdout.endswith("what went wrong\n")
