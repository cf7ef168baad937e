"""What all commands have in common: they work in any folder, and their help is worth reading.

It is no command itself: commands are found by their entry points, not in this folder.
"""

import argparse
import re
import sys
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from bilingual_crawler.errors import USAGE_STATUS, ConfigurationError
from bilingual_crawler.suggestions import hint, nearest

_OPTION = re.compile(r"^ +(?:-\w[^-\n]*, )?(--[a-z][\w-]*)", re.MULTILINE)

PROGRAM = "bilingual-crawler"
"""The console script: the commands of Scrapy and ours, in any folder, without a project file."""


def program() -> str:
    """The program as the user typed it: `scrapy`, or the console script of this package."""
    return PROGRAM if Path(sys.argv[0]).stem == PROGRAM else "scrapy"


def in_own_words(parser: argparse.ArgumentParser, details: str) -> None:
    """Put `details` below the options, as they are written; name the program that was typed."""
    parser.epilog = details.replace("scrapy ", f"{program()} ")
    if parser.usage:
        parser.usage = parser.usage.replace("scrapy ", f"{program()} ", 1)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


class BaseCommand(ScrapyCommand):
    """A command of this package; `details` stands below the options, as it is written."""

    requires_project = False
    requires_crawler_process = False
    usage: ClassVar[str]
    """The arguments, for the usage line."""
    summary: ClassVar[str]
    """One line for the list of commands."""
    details: ClassVar[str] = ""

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return self.usage

    def short_desc(self) -> str:
        """One line for the list of commands."""
        return self.summary

    def long_desc(self) -> str:
        """What `--help` says first."""
        return f"{self.summary}."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare Scrapy's own options; ours come after them."""
        super().add_options(parser)
        in_own_words(parser, self.details)
        self._parser = parser

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse options that there are not: Scrapy hands them over as if they were arguments."""
        super().process_options(args, opts)
        for given in args:
            if given.startswith("-") and given != "-":
                name = given.partition("=")[0]
                near = nearest(name, _OPTION.findall(self._parser.format_help()))
                suggestion = hint(near, "")
                raise UsageError(f"unknown option {name}{suggestion and f'; {suggestion}'}")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command; what cannot be run ends with a message and exit status 2."""
        try:
            self.execute(args, opts)
        except ConfigurationError as error:
            sys.stderr.write(f"{error}\n")
            raise SystemExit(USAGE_STATUS) from error

    @abstractmethod
    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what the command is for."""
