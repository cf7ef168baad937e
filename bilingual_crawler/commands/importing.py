"""`scrapy import`: a TMX file as a folder that export, cleaning and the web page can read.

The module has another name than the command because `import` is a Python keyword.
"""

import argparse
from pathlib import Path

from bilingual_crawler.commands.base import BaseCommand, one_argument, print_lines, read_pair

DETAILS = """\
FILE is TMX of any version, plain or gzipped, in UTF-8 or UTF-16. What scrapy export wrote comes
back unchanged; from files of other tools come texts, languages, and URLs and scores where there
are any. Codes inside a text (bpt, ept, ph, it, ut) are left out, en-GB counts as English, and the
first text of a language in a unit counts. Entities are not expanded, nothing is fetched.

Without --langs the languages are those of the first unit that has two.

  scrapy import memory.tmx
  scrapy import memory.tmx.gz --langs spa-eus --out crawls/memory
"""


class ImportCommand(BaseCommand):
    """Imports a TMX file and prints the account of its units."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "FILE.tmx [--out DIR] [--langs spa-eus]"
    summary = "Import a translation memory (TMX) as a crawl folder"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Import")
        group.add_argument(
            "--out", metavar="DIR", help="the new folder (default: crawls/NAME of the file)"
        )
        group.add_argument("--langs", metavar="PAIR", help="the two languages, such as spa-eus")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Import, and print the account."""
        from bilingual_crawler.export.tmx import import_tmx, place_of
        from bilingual_crawler.reporting.bars import share_bar

        file = Path(one_argument(args, "a TMX file"))
        languages = read_pair(opts.langs) if opts.langs else None
        folder = place_of(file, opts.out)
        with share_bar("import") as watch:
            account, languages = import_tmx(file, folder, languages, watch)
        print_lines(account.lines(f"{folder} ({languages})"))
