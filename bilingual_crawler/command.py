"""What all commands have in common: they work in any folder, and their help is worth reading.

This stands beside the folder of the commands, because Scrapy takes every class in it for one.
"""

import argparse
from typing import ClassVar

from scrapy.commands import ScrapyCommand


class Command(ScrapyCommand):
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
        parser.epilog = self.details
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
