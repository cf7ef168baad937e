"""The fuzzer: a short search of every target, and that it finds what it looks for."""

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.crawling import ROOT
from tools.fuzz import child
from tools.fuzz.inputs import Grammar, make_input
from tools.fuzz.search import Search
from tools.fuzz.targets import TARGETS, Target

SEED = 20261118
INPUTS = 100
PATIENCE = 600  # seconds; a search ends by its number of inputs


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_search_finds_nothing(name):
    search = Search(name, SEED, PATIENCE, INPUTS)
    assert [(each.number, each.problem) for each in search.findings()] == []
    assert search.tried == INPUTS


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_are_made_of_their_seed_alone_and_differ(name):
    grammar = TARGETS[name].grammar
    some = [make_input(grammar, f"1 {name} {number}") for number in range(30)]
    assert some == [make_input(grammar, f"1 {name} {number}") for number in range(30)]
    assert len(set(some)) > 20


def test_what_a_reader_documents_is_no_finding():
    grammar = Grammar((b"x",))
    assert child.check(Target(_raises, grammar, (KeyError,)), b"x") == ""
    assert child.check(Target(_raises, grammar), b"x").startswith("KeyError: 'x' (test_fuzz.py")


def test_what_is_slow_twice_is_a_finding():
    assert "of processor time" in child.check(Target(_busy, Grammar((b"x",))), b"x")


def test_a_check_leaves_no_limit_behind():
    """With one left, whoever checks an input in its own process is killed some time later."""
    before = resource.getrlimit(resource.RLIMIT_CPU)
    child.check(Target(_raises, Grammar((b"x",))), b"x")
    assert resource.getrlimit(resource.RLIMIT_CPU) == before


HARM = """
import sys, tools.fuzz.targets as targets
from tools.fuzz.inputs import Grammar
def harm(data):
    if len(data) > 50:
        {harm}
targets.TARGETS["harm"] = targets.Target(harm, Grammar((b"a b",)))
from pathlib import Path
from tools.fuzz import child
child.KILL_SECONDS = 2
child.main("harm", 1, first=int(sys.argv[1]), last=500, seconds=600, folder=Path(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        ("raise OSError('no')", "OSError: no"),
        ("bytearray(3_000_000_000)", "MemoryError"),
        ("while True: pass", None),
        ("import os; os.abort()", None),
    ],
)
def test_inputs_that_do_harm_are_known_even_if_they_end_the_process(tmp_path, harm, says):
    code = HARM.format(harm=harm)
    ended = subprocess.run(
        [sys.executable, "-c", code, "0", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if says:
        assert says in ended.stdout
    else:
        assert ended.returncode < 0
        assert len((tmp_path / child.CURRENT).read_bytes()) > 8 + 50


def test_a_finding_is_written_and_can_be_run_again(tmp_path):
    harmless = tmp_path / "input"
    harmless.write_bytes(b"https://www.example.org/")
    command = [sys.executable, "-m", "tools.fuzz", "--target", "urls", "--replay", str(harmless)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "urls: nothing is wrong with this input\n")


def test_the_names_of_findings_tell_where_they_come_from(tmp_path):
    search = Search("urls", 7, 1, 1)
    (tmp_path / child.CURRENT).write_bytes((41).to_bytes(8, "big") + b"data")
    finding = search._last(tmp_path, -9)
    assert (finding.number, finding.problem) == (41, "ends the process (SIGKILL)")
    file = finding.write(tmp_path / "findings")
    assert (file.name, file.read_bytes()) == ("urls-7-41.input", b"data")
    assert search.tried == 42


def test_the_generators_keep_to_their_size():
    grammar = Grammar((b"<a>b</a>",), largest=1000)
    sizes = [len(make_input(grammar, str(number))) for number in range(300)]
    assert max(sizes) == 1000
    assert min(sizes) < 10


def _raises(data):
    raise KeyError(data.decode())


def _busy(_data):
    until = time.process_time() + child.SECONDS + 0.1
    while time.process_time() < until:
        Path("x").with_suffix(".y")
