"""`scrapy export`: the corpus of a crawl in the format that another program reads."""

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import (
    BaseCommand,
    add_langs_option,
    number_between,
    one_argument,
    print_lines,
    read_wanted,
)

DETAILS = """\
Formats of sentence pairs (scrapy align makes them):

  tmx          translation memory, TMX 1.4b
  tsv          a table: src_url, trg_url, src_text, trg_text, score, ...
  jsonl        one JSON object per line
  parquet      Parquet with a typed schema (pip install 'bilingual-crawler[parquet]')
  moses        a folder: two plain texts with the same number of lines, and their ids
  cwb          a folder: vertical text, registry and alignment for the Corpus Workbench
  huggingface  a folder: Parquet by site split, translation column, dataset card
  opusfilter   a folder: parallel texts as for moses, and a configuration for OpusFilter

  delta        a folder: what is new, changed or gone since an earlier crawl (--since DIR), or
               since before the crawl was revisited
  standoff     addresses, positions and hashes without text, for scrapy rebuild

Formats of sentences in more than two languages, from the same sentence pairs:

  multilingual-tmx  translation memory with all languages in one unit
  multiparallel     JSON lines of sentences linked in three or more languages

Formats of words, learned from the sentence pairs:

  tbx          terminology (TBX 2)
  glossary     a table: word, translation, comment

Formats of documents (a crawl makes them):

  documents    both complete texts of each pair with sentences and links (JSONL, or --out X.parquet)
  xml          a folder: annotated XML of ILSP-FC, one file per document and per pair
  pml          a folder: paragraphs of the paired documents, one file per language

A format of your own is a class: --to package.module.Class, or the name that an installed package
gives it (entry-point group bilingual_crawler.exporters). --list shows all formats.

Only good sentence pairs are exported. --dropped adds those that cleaning dropped, with the reason,
to tsv, jsonl and parquet. An earlier export is replaced when the new one is complete.
Names that end in .gz are compressed (tmx, tsv, jsonl).

A datasheet beside each export says what is in it: sites, dates, licences, personal data, filters,
and the precision if a sample was read (scrapy audit). --anonymise masks e-mail addresses, telephone
numbers and bank accounts as [EMAIL], [PHONE] and [IBAN].

  scrapy export crawls/example --to tmx
  scrapy export crawls/example --to tsv --dropped --out all.tsv.gz
  scrapy export crawls/example --to parquet --min-score 0.5 --out example.parquet
  scrapy export crawls/example --to xml --topic topic.tsv
  scrapy export crawls/example --to cwb --tagger lemma
  scrapy export crawls/spa-eus-eng --to moses --langs eus-eng

--tagger lemma adds base forms in some fifty languages; others get no column (pip install
'bilingual-crawler[lemmas]'). A tagger of your own, for parts of speech, is a class as in the docs.
"""


class ExportCommand(BaseCommand):
    """Exports a corpus and prints the account of its rows."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "CRAWL_DIR --to FORMAT [--out FILE|DIR] [options]"
    summary = "Write the corpus of a crawl as TMX, TSV, Parquet and other formats"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Export")
        group.add_argument("--to", metavar="FORMAT", help="see below")
        group.add_argument("--list", action="store_true", help="list all formats, and stop")
        group.add_argument(
            "--out", metavar="PATH", help="file or folder (default: inside CRAWL_DIR/export)"
        )
        group.add_argument(
            "--min-score",
            type=number_between(0, 1, "a score: write a number from 0 to 1"),
            metavar="X",
            help="only sentence pairs with at least X, from 0 to 1",
        )
        add_langs_option(group, "pairs")
        group.add_argument(
            "--dropped", action="store_true", help="also what cleaning dropped, with the reason"
        )
        group.add_argument(
            "--anonymise",
            action="store_true",
            help="mask e-mail addresses, telephone numbers and bank accounts",
        )
        group.add_argument(
            "--since",
            type=Path,
            metavar="DIR",
            help="delta: the folder of the earlier crawl (needless if it was revisited)",
        )
        group.add_argument(
            "--tagger",
            metavar="NAME",
            default="",
            help="cwb: columns for each token; lemma, or package.module.Class",
        )
        group.add_argument(
            "--topic", type=Path, metavar="FILE", help="xml: mark these terms, not the crawl's"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Export, and print the account."""
        from bilingual_crawler.config.topic_definition import read_terms
        from bilingual_crawler.export import exporters
        from bilingual_crawler.export.source import Selection
        from bilingual_crawler.reporting.bars import share_bar
        from bilingual_crawler.topics import Topic

        if opts.list:
            listed = dict(exporters.listed_exporters())
            width = max(map(len, listed))
            print_lines(f"{name:<{width}}  {about}" for name, about in listed.items())
            return
        folder = Path(one_argument(args, "the folder of a crawl"))
        if not opts.to:
            raise UsageError("choose a format, such as --to tmx; --list shows them all")
        exporter = exporters.find_exporter(opts.to)
        target = exporters.place_of(folder, exporter, opts.out)
        with share_bar(exporter.name) as watch:
            account = exporters.export(
                folder,
                exporter,
                target,
                selection=Selection(
                    opts.dropped,
                    opts.min_score,
                    opts.anonymise,
                    opts.since,
                    langs=read_wanted(opts.langs),
                    tagger=opts.tagger,
                ),
                watch=watch,
                topic=Topic(() if opts.topic is None else read_terms(opts.topic)),
            )
        print_lines(account.lines(str(target)))
