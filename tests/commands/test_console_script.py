"""`bilingual-crawler`, the program that needs no project around it."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from bilingual_crawler import __version__
from bilingual_crawler.commands.main import GROUPS
from bilingual_crawler.reporting.summary import resume_command


def typed(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", "bilingual_crawler", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "100"},
    )


def test_the_overview_lists_every_command_of_the_package(tmp_path):
    ours = {
        each.name
        for each in entry_points(group="scrapy.commands")
        if each.value.startswith("bilingual_crawler.")
    }
    assert {name for names in GROUPS.values() for name in names} == ours | {"crawl"}
    done = typed("--help", cwd=tmp_path)
    assert done.returncode == 0
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")}
    assert ours | {"crawl"} <= listed
    assert typed(cwd=tmp_path).stdout == done.stdout


def test_the_version_names_what_it_runs_on(tmp_path):
    done = typed("--version", cwd=tmp_path)
    assert done.stdout.startswith(f"bilingual-crawler {__version__} (Scrapy ")


def test_an_unknown_command_is_refused_with_the_way_to_the_list(tmp_path):
    done = typed("paris", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("There is no command paris")


def test_the_help_of_a_command_names_the_program_that_was_typed(tmp_path):
    help_ = typed("pairs", "--help", cwd=tmp_path).stdout
    assert help_.startswith("usage: bilingual-crawler pairs INPUT...")
    assert "scrapy pairs" not in help_


def test_crawl_harvests_unless_another_spider_is_named(tmp_path):
    help_ = typed("crawl", "--help", cwd=tmp_path).stdout
    assert "-a langs=spa-eus       the two languages" in help_
    done = typed("crawl", "-a", "langs=spa-xyz", cwd=tmp_path)
    assert done.returncode == 2
    assert "-a langs=spa-xyz" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_and_options(tmp_path, shell):
    script = typed("completion", shell, cwd=tmp_path)
    assert script.returncode == 0, script.stderr
    for word in ("detect-site", "--strip-alternates", "discovery"):
        assert word in script.stdout


def test_a_completion_script_is_one_that_bash_can_run(tmp_path):
    (tmp_path / "script").write_text(typed("completion", "bash", cwd=tmp_path).stdout)
    program = (
        "source ./script; COMP_WORDS=(bilingual-crawler det); COMP_CWORD=1;"
        " _shtab_bilingual_crawler; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["detect-site"]


def test_an_unknown_shell_is_refused_with_those_that_there_are(tmp_path):
    done = typed("completion", "fish-and-chips", cwd=tmp_path)
    assert done.returncode == 1
    assert "bash" in done.stderr


@pytest.mark.parametrize(
    "begun",
    [["/venv/bin/bilingual-crawler"], ["-m", "bilingual_crawler"]],
)
def test_a_stopped_crawl_is_resumed_with_the_program_that_began_it(tmp_path, begun):
    argv = ["python", *begun, "crawl", "-a", "langs=spa-eus"]
    assert resume_command(argv, tmp_path) == (
        f"bilingual-crawler crawl -a langs=spa-eus -a output={tmp_path}"
    )
