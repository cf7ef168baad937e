"""Programs that tests fork have all that a program has which is started anew."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.support import forked, processes
from tests.support.processes import HANG

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="prctl is of Linux")

COMMAND = """
import json, os, sys
from scrapy.commands import ScrapyCommand


class Command(ScrapyCommand):
    def short_desc(self):
        return "tell about this process"

    def run(self, args, opts):
        if args[0] == "raise":
            raise ValueError(args[1])
        if args[0] == "interrupt":
            os.kill(os.getpid(), 2)
        if args[0] == "wait":
            print("waits", flush=True)
            sys.stdin.read()
        sys.stderr.write("said to stderr")
        about = {"argv": sys.argv[1:], "folder": os.getcwd(), "path": sys.path[0]}
        about |= {"variable": os.environ.get("ONLY_HERE"), "tests": "tests" in sys.modules}
        about |= {"leads": os.getsid(0) == os.getpid(), "parent": os.getppid()}
        about |= {"hash": hash("a text"), "files": sorted(map(int, os.listdir("/proc/self/fd")))}
        about |= {"typed": sys.stdin.read(), "stdout": sys.stdout.encoding}
        print(json.dumps(about))
        self.exitcode = 7
"""
"""A command of a project, which tells about its process."""


@pytest.fixture
def project(tmp_path):
    """A Scrapy project with one command."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = told.settings\n")
    package = tmp_path / "told"
    (package / "orders").mkdir(parents=True)
    for name in ("__init__.py", "orders/__init__.py"):
        (package / name).write_text("")
    (package / "settings.py").write_text("COMMANDS_MODULE = 'told.orders'\nLOG_ENABLED = False\n")
    (package / "orders" / "tell.py").write_text(COMMAND)
    return tmp_path


def tell(project, *words, **options):
    command = [sys.executable, "-m", "scrapy", "tell", *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return processes.start(command, cwd=project, text=True, **pipes, **options)


def told(project):
    """What a program says about itself, and how it ends."""
    process = tell(project, "all", "a b", env=os.environ | {"ONLY_HERE": "x"})
    printed, complaints = process.communicate("typed", timeout=HANG)
    return type(process), json.loads(printed), complaints, process.returncode


def test_a_forked_program_has_what_a_new_one_has(project, monkeypatch):
    kind, forked_one, *rest = told(project)
    assert kind is forked.Forked
    monkeypatch.setenv("TESTS_FORK", "0")
    kind, new_one, *new_rest = told(project)
    assert kind is subprocess.Popen
    assert rest == new_rest == ["said to stderr", 7]
    assert forked_one.pop("hash") != new_one.pop("hash")
    assert forked_one == new_one
    assert new_one["argv"] == ["all", "a b"]  # Scrapy takes the first away
    assert new_one["variable"] == "x"
    assert new_one["parent"] == os.getpid()


def test_one_after_the_other_has_another_seed_for_hashes(project):
    (_, first, *_), (_, second, *_) = told(project), told(project)
    assert first["hash"] != second["hash"]


def test_an_exception_ends_it_with_a_traceback(project):
    process = tell(project, "raise", "on purpose")
    printed, complaints = process.communicate(timeout=HANG)
    assert (printed, process.returncode) == ("", 1)
    assert complaints.startswith("Traceback (most recent call last):")
    assert complaints.endswith("ValueError: on purpose\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it(project, number):
    process = tell(project, "wait")
    assert process.stdout.readline() == "waits\n"
    process.send_signal(number)
    assert process.wait(HANG) == -number


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
    reason="Ctrl-C is ignored here, as in every program that a shell starts in the background",
)
def test_ctrl_c_ends_it_as_it_ends_every_program(project):
    process = tell(project, "interrupt")
    _, complaints = process.communicate(timeout=HANG)
    assert process.returncode == -signal.SIGINT
    assert complaints.endswith("KeyboardInterrupt\n")


def test_a_program_that_wants_settings_of_the_interpreter_is_started_anew(project):
    process = tell(project, "wait", env=os.environ | {"PYTHONHASHSEED": "7"})
    assert type(process) is subprocess.Popen
