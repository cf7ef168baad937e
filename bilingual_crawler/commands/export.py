"""`scrapy export`: the corpus of a crawl in the format that somebody else reads."""

import argparse
import math
from pathlib import Path

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.commands.corpus_options import one_argument, print_account, progress_bar

DETAILS = """\
Of sentence pairs (scrapy align makes them):

  tmx      translation memory, TMX 1.4b
  tsv      a table: src_url, trg_url, src_text, trg_text, score, ...
  jsonl    a JSON object a line
  parquet  Parquet with a typed schema (pip install 'bilingual-crawler[parquet]')
  moses    a folder: two plain texts with the same number of lines, and their ids
  cwb      a folder: vertical text, registry and alignment for the Corpus Workbench

Of documents (a crawl makes them):

  xml      a folder: annotated XML of ILSP-FC, a file a document and one a pair
  pml      a folder: paragraphs of the paired documents, a file a language

Only good sentence pairs go out. --dropped adds those that cleaning dropped, with the reason,
to tsv, jsonl and parquet. The output takes the place of an earlier one when it is complete.
Names that end in .gz are packed (tmx, tsv, jsonl).

  scrapy export crawls/example --to tmx
  scrapy export crawls/example --to tsv --dropped --out all.tsv.gz
  scrapy export crawls/example --to parquet --min-score 0.5 --out example.parquet
  scrapy export crawls/example --to xml --topic topic.tsv
"""


class ExportCommand(BaseCommand):
    """Reads the options, exports, tells what became of the rows."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "CRAWL_DIR --to FORMAT [--out FILE|DIR] [options]"
    summary = "Write the corpus of a crawl as TMX, TSV, Parquet and other formats"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Export")
        group.add_argument("--to", metavar="FORMAT", help="see below")
        group.add_argument(
            "--out", metavar="PATH", help="file or folder (default: inside CRAWL_DIR/export)"
        )
        group.add_argument(
            "--min-score", type=float, metavar="X", help="only sentence pairs of this score or more"
        )
        group.add_argument(
            "--dropped", action="store_true", help="also what cleaning dropped, with the reason"
        )
        group.add_argument(
            "--topic", type=Path, metavar="FILE", help="xml: mark these terms, not the crawl's"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Export, and tell."""
        from bilingual_crawler.config.topic_definition import read_terms
        from bilingual_crawler.export import run
        from bilingual_crawler.export.formats import find_format
        from bilingual_crawler.export.source import Selection
        from bilingual_crawler.topics.topic import Topic

        folder = Path(one_argument(args, "the folder of a crawl"))
        if not opts.to:
            raise UsageError("say which format: --to tmx, or see --help")
        if opts.min_score is not None and not math.isfinite(opts.min_score):
            raise UsageError("--min-score must be a number")
        form = find_format(opts.to)
        target = run.place_of(folder, form, opts.out)
        with progress_bar(form.name) as watch:
            account = run.export(
                folder,
                form,
                target,
                selection=Selection(opts.dropped, opts.min_score),
                watch=watch,
                topic=Topic(() if opts.topic is None else read_terms(opts.topic)),
            )
        print_account(account, str(target))
