"""`scrapy rebuild`: a corpus from its stand-off form and the pages."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, fetch_pages, print_lines, quiet

if TYPE_CHECKING:
    from scrapy.http import Response

    from bilingual_crawler.documents.document import Document
    from bilingual_crawler.languages import ParallelLanguages

DETAILS = """\
A corpus that may not be published can be shared as scrapy export --to standoff: addresses,
positions and hashes without any text. This command makes its sentence pairs again from the pages:
WARC files, directories with them, or folders of crawls.

The pages are read by our own extraction. A text is taken if its hash is right, at its old position
or elsewhere on its page. What has drifted is counted, and listed by page in drift.tsv. DIR is a
folder that scrapy export, audit and serve read.

  scrapy rebuild standoff.jsonl.gz crawls/spa-eus/crawl-*.warc.gz --out crawls/again
  scrapy rebuild standoff.jsonl crawls/spa-eus --out crawls/again
  scrapy rebuild standoff.jsonl --web --out crawls/again -s BILINGUAL_CONTACT=ADDRESS

--web fetches the pages that no source has, each once, with the manners of a crawl: robots.txt,
delays, opt-outs, your contact. Pages that opt out now are not read. drift.tsv says why a page is
missing.
"""


class RebuildCommand(BaseCommand):
    """Rebuilds a corpus, and prints what has drifted."""

    usage = "STANDOFF.jsonl [WARC|CRAWL_DIR ...] [--web] --out DIR"
    summary = "Make a corpus from its stand-off form and the pages"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Rebuilding")
        group.add_argument("--out", type=Path, metavar="DIR", help="the new folder")
        group.add_argument("--web", action="store_true", help="fetch the pages that no source has")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Rebuild, and print the account."""
        from bilingual_crawler.export.rebuilding import rebuild
        from bilingual_crawler.reporting.bars import share_bar

        if len(args) < (1 if opts.web else 2):
            raise UsageError(
                "name the stand-off file, and then WARC files or folders of crawls, or --web"
            )
        if opts.out is None:
            raise UsageError("name the new folder: --out DIR")
        with share_bar("rebuilding") as watch:
            fetch = self._fetch if opts.web else None
            rebuilt = rebuild(Path(args[0]), args[1:], opts.out, watch, fetch)
        print_lines(rebuilt.lines(f"{opts.out} ({rebuilt.languages})"))

    def _fetch(
        self,
        urls: "list[str]",
        languages: "ParallelLanguages",
        arrived: "Callable[[str, Document], None]",
        missed: "Callable[[str, str], None]",
    ) -> None:
        """Fetch pages from the web, as a crawl would."""

        def take(asked: str, _response: "Response", document: "Document") -> tuple[str, ...]:
            arrived(asked, document)
            return ()

        assert self.settings is not None
        fetch_pages(quiet(self.settings), urls, languages, take, missed)
