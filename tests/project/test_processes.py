"""Processes that tests start are ended, and tests that leave one behind fail."""

import os
import subprocess
import sys

import psutil
import pytest

from tests.support.crawling import ROOT
from tests.support.processes import HANG, MARK

FAILS = """
from pathlib import Path
from tests.support import processes

def test_it():
    program = "sleep 900 & echo $! > child; wait"
    process = processes.start(["sh", "-c", program])
    Path("started").write_text(str(process.pid))
    processes.wait_until(lambda: Path("child").exists() and Path("child").read_text().strip())
    assert False, "on purpose"
"""
LEAVES = """
import subprocess
from pathlib import Path

def test_it():
    Path("started").write_text(str(subprocess.Popen(["sleep", "900"]).pid))
"""
ORPHANS = """
import subprocess

def test_it():
    subprocess.run("sleep 900 >/dev/null 2>&1 & echo $! > started", shell=True, check=True)
"""


def run(folder, program):
    """Run a file of tests with what all tests have; what it printed, and who is alive."""
    (folder / "test_it.py").write_text(program)
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "--rootdir", folder, "test_it.py"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    alive = [name for name in ("started", "child") if is_alive(folder / name)]
    return done, alive


def is_alive(file):
    if not file.exists():
        return False
    try:
        return psutil.Process(int(file.read_text())).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_test_that_fails_leaves_nothing_running(tmp_path):
    done, alive = run(tmp_path, FAILS)
    assert "1 failed" in done.stdout
    assert "on purpose" in done.stdout
    assert alive == []


@pytest.mark.parametrize("program", [LEAVES, ORPHANS], ids=["child", "orphan"])
def test_a_run_that_leaves_a_process_behind_fails_and_ends_it(tmp_path, program):
    done, alive = run(tmp_path, program)
    assert done.returncode == 1
    assert "rocesses were left behind" in done.stdout
    assert "sleep 900" in done.stdout
    assert alive == []
