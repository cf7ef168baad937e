"""`bilingual-crawler`: every command, in any folder, without a Scrapy project.

`scrapy crawl` needs a `scrapy.cfg`, which a plain installation does not have. This console
script names the settings of the package itself and calls Scrapy's command line, so both programs
have the same commands with the same options.
"""

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import scrapy
import shtab
from scrapy.cmdline import execute
from scrapy.commands import ScrapyCommand
from scrapy.utils.project import ENVVAR, get_project_settings

from bilingual_crawler import __version__
from bilingual_crawler.commands import crawl
from bilingual_crawler.commands.base import PROGRAM, piped_output

SETTINGS_MODULE = "bilingual_crawler.settings"
GROUPS = {
    "Crawl": ("crawl", "detect-site", "seeds", "bootstrap", "topic", "languages"),
    "Corpus": (
        "corpus",
        "pairs",
        "align",
        "lexicon",
        "audit",
        "export",
        "rebuild",
        "import",
        "merge",
        "serve",
    ),
    "Models": ("classify", "score", "evaluate", "replay", "compare", "train", "models"),
    "Many machines": ("frontier",),
}
SCRAPYS = ("fetch", "list", "settings", "shell", "version", "view")
"""Commands of Scrapy that are useful here; the others work too."""
COMPLETION = "completion"
COMPLETION_HELP = f"""\
usage: {PROGRAM} {COMPLETION} {{{",".join(shtab.SUPPORTED_SHELLS)}}}

Print a script that completes commands and options with the Tab key, for example:

  {PROGRAM} {COMPLETION} bash > ~/.local/share/bash-completion/completions/{PROGRAM}
  {PROGRAM} {COMPLETION} zsh > ~/.zfunc/_{PROGRAM}
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; what is not ours goes to Scrapy's command line."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    os.environ.setdefault(ENVVAR, SETTINGS_MODULE)
    sys.argv = [PROGRAM, *words]
    match words:
        case [] | ["-h" | "--help" | "help"]:
            with piped_output():
                print(overview())  # noqa: T201 - what a command prints
        case ["-V" | "--version"]:
            print(version())  # noqa: T201 - what a command prints
        case [first, *rest] if first == COMPLETION:
            _print_completion(rest)
        case [first, *_] if not (first.startswith("-") or _is_command(first)):
            sys.exit(f"There is no command {first}: `{PROGRAM} --help` lists them.")
        case _:
            execute(sys.argv)


def version() -> str:
    """Return the versions that a bug report should name."""
    return f"{PROGRAM} {__version__} (Scrapy {scrapy.__version__}, {_python()})"


def _python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}"


def overview() -> str:
    """Return what `--help` prints: the commands by purpose, each with its summary."""
    commands = _commands()
    lines = [
        f"usage: {PROGRAM} COMMAND [options]",
        "",
        "Harvest parallel documents from the web, most promising links first.",
    ]
    for title, names in (GROUPS | {"Scrapy": SCRAPYS}).items():
        lines += ["", f"{title}:"]
        lines += [f"  {name:<13} {commands[name].short_desc()}" for name in names]
    lines += [
        "",
        f"{PROGRAM} COMMAND --help explains a command and shows examples. Start with:",
        "",
        f"  {PROGRAM} crawl -a langs=spa-eus",
        "",
        f"Also: --version, and {COMPLETION} SHELL, which prints a script for tab completion.",
    ]
    return "\n".join(lines)


def _commands() -> dict[str, ScrapyCommand]:
    """Return our commands, those of other packages, and the useful ones of Scrapy, by name."""
    scrapys = {name: import_module(f"scrapy.commands.{name}").Command() for name in SCRAPYS}
    installed = {each.name: each.load()() for each in entry_points(group="scrapy.commands")}
    return {**scrapys, **installed, "crawl": crawl.CrawlCommand()}


def _is_command(name: str) -> bool:
    ours = name in entry_points(group="scrapy.commands").names
    return ours or (name.isidentifier() and find_spec(f"scrapy.commands.{name}") is not None)


def _print_completion(words: list[str]) -> None:
    match words:
        case [shell] if shell in shtab.SUPPORTED_SHELLS:
            print(shtab.complete(_whole_parser(), shell))  # noqa: T201 - what a command prints
        case ["-h" | "--help"]:
            print(COMPLETION_HELP)  # noqa: T201 - what a command prints
        case _:
            sys.exit(COMPLETION_HELP)


def _whole_parser() -> argparse.ArgumentParser:
    """Return all commands in one parser, from which the completion script is made."""
    parser = argparse.ArgumentParser(prog=PROGRAM)
    parser.add_argument("-V", "--version", action="store_true", help="print the versions")
    commands = parser.add_subparsers()
    settings = get_project_settings()
    for name, command in sorted(_commands().items()):
        each = commands.add_parser(name, help=command.short_desc(), conflict_handler="resolve")
        command.settings = settings
        command.add_options(each)
        for action in each._actions:  # noqa: SLF001 - argparse has no public list of them
            if action.type is Path or action.metavar in {"FILE", "DIR", "FOLDER"}:
                _complete_with_files(action)
        if name == "crawl":
            each.add_argument("spider", nargs="?", choices=("bilingual", "discovery"))
        else:
            _complete_with_files(each.add_argument("arguments", nargs="*"))
    commands.add_parser(COMPLETION, help="print a completion script").add_argument(
        "shell", choices=shtab.SUPPORTED_SHELLS
    )
    return parser


def _complete_with_files(action: Any) -> None:
    action.complete = shtab.FILE
