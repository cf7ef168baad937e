"""`scrapy rebuild`: a corpus from its stand-off form and the pages."""

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, print_lines

DETAILS = """\
A corpus that may not be published can be shared as scrapy export --to standoff: addresses,
positions and hashes without any text. This command makes its sentence pairs again from the pages:
WARC files, directories with them, or folders of crawls.

The pages are read by our own extraction. A text is taken if its hash is right, at its old position
or elsewhere on its page. What has drifted is counted, and listed by page in drift.tsv. DIR is a
folder that scrapy export, audit and serve read.

  scrapy rebuild standoff.jsonl.gz crawls/spa-eus/crawl-*.warc.gz --out crawls/again
  scrapy rebuild standoff.jsonl crawls/spa-eus --out crawls/again
"""


class RebuildCommand(BaseCommand):
    """Rebuilds a corpus, and prints what has drifted."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "STANDOFF.jsonl WARC|CRAWL_DIR [...] --out DIR"
    summary = "Make a corpus from its stand-off form and the pages"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Rebuilding")
        group.add_argument("--out", type=Path, metavar="DIR", help="the new folder")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Rebuild, and print the account."""
        from bilingual_crawler.export.rebuilding import rebuild
        from bilingual_crawler.reporting.bars import share_bar

        if len(args) < 2:  # noqa: PLR2004 - the file and one source
            raise UsageError("name the stand-off file, and then WARC files or folders of crawls")
        if opts.out is None:
            raise UsageError("name the new folder: --out DIR")
        with share_bar("rebuilding") as watch:
            rebuilt = rebuild(Path(args[0]), args[1:], opts.out, watch)
        print_lines(rebuilt.lines(f"{opts.out} ({rebuilt.languages})"))
