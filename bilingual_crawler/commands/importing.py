"""`scrapy import`: other people's corpora as a folder that the other commands can read.

The module has another name than the command because `import` is a Python keyword.
"""

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, print_lines, program, read_pair

DETAILS = """\
A FILE may be, plain or gzipped,

  tmx      TMX of any version, in UTF-8 or UTF-16. Codes inside a text (bpt, ept, ph, it, ut) are
           left out, and the first text of a language in a unit counts
  tsv, csv a table, with a header or --columns. Without either, two columns are the texts (a number
           after them is the score), and two URLs first are those of the texts, as Bitextor writes
  jsonl    one JSON object per line, with fields as in our own exports, {"en": ..., "fr": ...}, or
           {"translation": {"en": ..., "fr": ...}}
  parquet  the same fields, or columns (pip install 'bilingual-crawler[parquet]')
  moses    two files with a line per sentence, named together: corpus.en corpus.fr

or a folder: of a crawl that is aligned, of an earlier import, of a Moses export, of a CWB export
(vertical texts, registry/ and sentences.align), or with Parquet files. Several become one corpus.
What scrapy export wrote comes back unchanged; from files of other tools come texts, languages, and
URLs and scores where there are any. en-GB counts as English.
Rows that cannot be read are counted, and the first is named.

Without --langs the languages are those of the first row that names two; tables often name none.

  scrapy import memory.tmx
  scrapy import memory.tmx.gz --langs spa-eus --out crawls/memory
  scrapy import pairs.tsv --columns text1,text2,-,score --langs eng-fra
  scrapy import corpus.en corpus.fr --clean --out crawls/cleaned

--clean applies the cleaning rules of scrapy align: no pair is deleted, `dropped` names the rule.
"""


class ImportCommand(BaseCommand):
    """Imports a TMX file and prints the account of its units."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "FILE... [--out DIR] [--langs spa-eus] [options]"
    summary = "Import TMX, TSV, JSON lines, Parquet, Moses or CWB as a crawl folder"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Import")
        group.add_argument(
            "--out", metavar="DIR", help="the new folder (default: crawls/NAME of the first file)"
        )
        group.add_argument("--langs", metavar="PAIR", help="the two languages, such as spa-eus")
        group.add_argument(
            "--from", dest="format", metavar="FORMAT", default="", help="the format (default: seen)"
        )
        group.add_argument(
            "--columns", metavar="A,B", default="", help="what the columns of a table hold"
        )
        group.add_argument(
            "--clean", action="store_true", help="mark what the cleaning rules would drop"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Import, and print the account."""
        from bilingual_crawler.export.imports import FORMATS, ImportTask, import_corpus, place_of
        from bilingual_crawler.reporting.bars import share_bar

        if not args:
            raise UsageError("name the files, such as memory.tmx")
        if opts.format and opts.format not in FORMATS:
            raise UsageError(f"--from is one of {', '.join(FORMATS)}")
        inputs = tuple(map(Path, args))
        folder = place_of(inputs[0], opts.out)
        task = ImportTask(
            inputs=inputs,
            folder=folder,
            languages=read_pair(opts.langs) if opts.langs else None,
            format=opts.format,
            columns=tuple(name for each in opts.columns.split(",") if (name := each.strip())),
            clean=opts.clean,
        )
        with share_bar("import") as watch:
            account, languages = import_corpus(task, watch)
        print_lines(account.lines(f"{folder} ({languages})"))
        name = program()
        print_lines([f"Next: {name} serve {folder}, or {name} export {folder} --to FORMAT."])
