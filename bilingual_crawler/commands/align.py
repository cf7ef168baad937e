"""`scrapy align`: the sentence pairs of a crawl's document pairs."""

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand

DETAILS = """\
Reads pairs.jsonl and documents.jsonl.gz of a crawl's folder, splits the content of each document
into sentences, aligns the two documents of each pair, cleans the sentence pairs, and writes
sentences.jsonl.gz there. The crawl may be over or still running: then what it has written so
far is aligned. The same folder gives the same file.

The first pass looks at lengths, paragraphs, numbers, addresses, names and words that are alike.
The second one also has a lexicon, learned from what the first was sure of in the whole crawl.

No sentence pair is deleted: `dropped` names the rule that a pair broke.

  scrapy align crawls/spa-eus
  scrapy align crawls/spa-eus --out spa-eus.jsonl.gz --json
  scrapy align crawls/spa-eus --embeddings models/labse

--embeddings takes a folder with model.onnx and tokenizer.json, or a model of the library
sentence-transformers; sentences that mean the same must have vectors that are near each other.

JSON is one line: document_pairs, sentences1, sentences2 (of each side), sentence_pairs, kept,
dropped (a number a rule), lexicon_entries (a number a language pair), unreadable_lines,
too_large_documents (left out), is_unfinished (a file ends in the middle of a line), seconds, file.
"""


class AlignCommand(BaseCommand):
    """Reads the options, aligns, prints counts."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "CRAWL_DIR [--out FILE] [options]"
    summary = "Align the sentences of a crawl's document pairs"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Alignment")
        group.add_argument(
            "--out", type=Path, metavar="FILE", help="CRAWL_DIR/sentences.jsonl.gz by default"
        )
        group.add_argument(
            "--embeddings", default="", metavar="MODEL", help="a model of sentences to ask as well"
        )
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Align, and print."""
        from bilingual_crawler.reporting import alignment as report
        from bilingual_crawler.store.folder import require_pairs

        if len(args) != 1:
            raise UsageError("name the folder of one crawl")
        require_pairs(Path(args[0]), "scrapy align")
        report.align_with_bar(Path(args[0]), opts.out, opts.embeddings, as_json=opts.json)
