"""`scrapy import`: a translation memory as a folder that export, cleaning and web page read.

The module is not called as the command is, because `import` is a word of Python.
"""

import argparse
from pathlib import Path

from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.commands.corpus_options import one_argument, print_account, progress_bar
from bilingual_crawler.errors import ConfigurationError

DETAILS = """\
FILE is TMX of any version, plain or gzipped, in UTF-8 or UTF-16. What scrapy export wrote comes
back as it was; of other tools' files texts, languages, and URLs and scores where they are
found. Codes inside a text (bpt, ept, ph, it, ut) are left out, en-GB counts as English, and the
first text of a language in a unit counts. Entities are not expanded, nothing is fetched.

Without --langs the languages are those of the first unit that has two.

  scrapy import memory.tmx
  scrapy import memory.tmx.gz --langs spa-eus --out crawls/memory
"""


class ImportCommand(BaseCommand):
    """Reads the options, imports, tells what became of the units."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "FILE.tmx [--out DIR] [--langs spa-eus]"
    summary = "Make a folder with sentence pairs of a translation memory (TMX)"
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
        """Import, and tell."""
        from bilingual_crawler.export import importing as run
        from bilingual_crawler.languages import LanguagePair

        file = Path(one_argument(args, "a TMX file"))
        try:
            languages = LanguagePair.parse(opts.langs) if opts.langs else None
        except ValueError as error:
            raise ConfigurationError(f"--langs: {error}") from error
        folder = run.place_of(file, opts.out)
        with progress_bar("import") as watch:
            account, languages = run.import_tmx(file, folder, languages, watch)
        print_account(account, f"{folder} ({languages})")
