"""What the commands share: help that is worth reading, and options that several of them have.

Scrapy imports every command of every package whenever it starts, so the modules of this folder
import nothing heavy at the top: what a command works with is imported when it runs. This module
is not a command itself: commands are found by their entry points, not in this folder.
"""

import argparse
import gc
import os
import re
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, cast, get_args

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES

from bilingual_crawler.errors import ConfigurationError, exit_on_configuration_error
from bilingual_crawler.suggestions import hint, nearest

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from bilingual_crawler.config.settings import Config
    from bilingual_crawler.crawl.polite_spider import Arrived, Missed
    from bilingual_crawler.languages import LanguagePair, ParallelLanguages

PROGRAM = "bilingual-crawler"
"""The console script: Scrapy's commands and ours, in any folder, without a project file."""
Task = Literal["url2lang", "parallel"]
TASKS: tuple[str, ...] = get_args(Task)
MOST_YOUNG, MOST_MIDDLE, MOST_OLD = 20_000, 10, 10
"""How many objects Python lets pile up before it looks for cycles among them: by default 700.

A page makes thousands of objects, nearly all of which are freed without that; looking for cycles
took a tenth of a crawl's processor time."""
_OPTION = re.compile(r"^ +(?:-\w[^-\n]*, )?(--[a-z][\w-]*)", re.MULTILINE)


def program() -> str:
    """Return the program that the user typed: `scrapy`, or our console script."""
    return PROGRAM if Path(sys.argv[0]).stem == PROGRAM else "scrapy"


def look_for_cycles_less() -> None:
    """Let Python's garbage collector run more seldom, for a process that reads many pages."""
    gc.set_threshold(MOST_YOUNG, MOST_MIDDLE, MOST_OLD)


def set_details(parser: argparse.ArgumentParser, details: str) -> None:
    """Show `details` below the options, unwrapped, with the name of the program as typed."""
    parser.epilog = details.replace("scrapy ", f"{program()} ")
    if parser.usage:
        parser.usage = parser.usage.replace("scrapy ", f"{program()} ", 1)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


class BaseCommand(ScrapyCommand):
    """A command of this package."""

    requires_project = False
    requires_crawler_process = False
    usage: ClassVar[str]
    """The arguments, for the usage line."""
    summary: ClassVar[str]
    """One line for the list of commands."""
    details: ClassVar[str] = ""
    """What `--help` shows below the options."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return self.usage

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return self.summary

    def long_desc(self) -> str:
        """Return what `--help` says first."""
        return f"{self.summary}."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare Scrapy's own options; ours come after them."""
        super().add_options(parser)
        set_details(parser, self.details)
        self._parser = parser

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse unknown options, which Scrapy passes on as if they were arguments."""
        super().process_options(args, opts)
        for given in args:
            if given.startswith("-") and given != "-":
                name = given.partition("=")[0]
                near = nearest(name, _OPTION.findall(self._parser.format_help()))
                suggestion = hint(near, "")
                raise UsageError(f"unknown option {name}{suggestion and f'; {suggestion}'}")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command; a ConfigurationError ends it with a message and exit status 2."""
        look_for_cycles_less()
        with exit_on_configuration_error(always=True):
            self.execute(args, opts)

    @abstractmethod
    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what the command is for."""

    def config(self) -> "Config":
        """Return the settings of this package."""
        from bilingual_crawler.config.settings import Config

        assert self.settings is not None
        return Config.from_settings(self.settings)


def one_argument(args: list[str], what: str) -> str:
    """Return the only argument; `what` says what it should be."""
    if len(args) != 1:
        raise UsageError(f"name {what}")
    return args[0]


def read_pair(text: str) -> "LanguagePair":
    """Return the two languages of --langs."""
    from bilingual_crawler.languages import LanguagePair

    try:
        return LanguagePair.parse(text)
    except ValueError as error:
        raise ConfigurationError(f"--langs {text}: {error}") from error


def add_langs_option(group: "argparse._ArgumentGroup", what: str) -> None:
    """Declare --langs, for the folder of a crawl for more than two languages."""
    group.add_argument(
        "--langs",
        metavar="LANGS",
        default="",
        help=f"only {what} of these languages: spa-eus, or every two of spa-eus-eng, or eng-*",
    )


def read_wanted(text: str) -> "ParallelLanguages | None":
    """Return the languages of --langs; None, for all, if it was not given."""
    return read_languages(text) if text else None


def read_languages(text: str) -> "ParallelLanguages":
    """Return the two or more languages of --langs."""
    from bilingual_crawler.languages import parse_parallel

    try:
        return parse_parallel(text)
    except ValueError as error:
        raise ConfigurationError(f"--langs {text}: {error}") from error


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Declare which URL model is used, and what it runs on."""
    group = parser.add_argument_group("Model")
    group.add_argument(
        "--model", metavar="DIR", default="", help="model folder (default: the built-in model)"
    )
    group.add_argument(
        "--provider", choices=("cpu", "cuda"), default="cpu", help="what it runs on (cpu)"
    )
    group.add_argument(
        "--threads", type=one_or_more, default=1, metavar="N", help="number of threads (1)"
    )


def take_task(args: list[str]) -> tuple[Task, list[str]]:
    """Return the task, and the arguments after it."""
    if not args or args[0] not in TASKS:
        raise UsageError(f"name the model first: {' or '.join(TASKS)}")
    return cast("Task", args[0]), args[1:]


def require_packages(purpose: str, names: Iterable[str]) -> None:
    """Refuse to go on without the packages of an extra; `purpose` is what needs them."""
    for name in names:
        try:
            import_module(name)
        except ImportError:
            raise ConfigurationError(
                f"{purpose} needs {name}, which is not installed.",
                "Install it with pip install 'bilingual-crawler[train,cpu]'.",
            ) from None


def one_or_more(text: str) -> int:
    """Parse a whole number above zero, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def zero_or_more(text: str) -> int:
    """Parse a whole number, for argparse."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def number_between(low: float, high: float, what: str) -> Callable[[str], float]:
    """Return a parser of numbers from `low` to `high`, for argparse."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return value

    return parse


def quiet(settings: "Settings") -> "Settings":
    """Return settings that log only warnings, unless the user asks for more."""
    if (settings.getpriority("LOG_LEVEL") or 0) < SETTINGS_PRIORITIES["cmdline"]:
        settings.set("LOG_LEVEL", "WARNING", priority="cmdline")
    return settings


def fetch_pages(
    settings: "Settings",
    urls: Iterable[str],
    languages: "ParallelLanguages",
    arrived: "Arrived",
    missed: "Missed",
) -> None:
    """Fetch pages with the manners of a crawl; a process can do so once."""
    from scrapy.crawler import CrawlerProcess

    from bilingual_crawler.crawl.polite_spider import PagesSpider

    process = CrawlerProcess(settings)
    process.crawl(PagesSpider, languages=languages, urls=urls, arrived=arrived, missed=missed)
    process.start()


@contextmanager
def piped_output() -> Iterator[None]:
    """Flush standard output at the end; stop quietly if the reader of a pipe has gone."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_lines(lines: Iterable[str]) -> None:
    """Print lines that may hold untrusted text."""
    from bilingual_crawler.reporting.terminal import plain

    sys.stdout.writelines(f"{plain(line)}\n" for line in lines)
