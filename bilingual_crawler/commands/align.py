"""`scrapy align`: sentence pairs from the document pairs of a crawl."""

import argparse
from pathlib import Path

from bilingual_crawler.commands.base import BaseCommand, add_langs_option, one_argument, read_wanted

DETAILS = """\
Reads pairs.jsonl and documents.jsonl.gz in the folder of a crawl, splits the content of each
document into sentences, aligns the two documents of each pair, cleans the sentence pairs, and
writes sentences.jsonl.gz there. If the crawl is still running, what it has written so far is
aligned. The same folder gives the same file.

The first pass uses lengths, paragraphs, numbers, addresses, names and similar words. The second
pass also uses a lexicon, learned from what the first was sure of in the whole crawl.

Of more than two languages every pair of two is aligned, each with a lexicon of its own.

No sentence pair is deleted: `dropped` names the cleaning rule that a pair broke.

  scrapy align crawls/spa-eus
  scrapy align crawls/spa-eus --out spa-eus.jsonl.gz --json
  scrapy align crawls/spa-eus --embeddings models/labse
  scrapy align crawls/spa-eus --language-models spa=news.es.txt.gz,eus=news.eu.txt.gz
  scrapy align crawls/spa-eus-eng --langs eus-eng

--embeddings takes a folder with model.onnx and tokenizer.json, or the name of a model of
sentence-transformers; its vectors of sentences with the same meaning must be close.

--language-models adds the rule "unlikely": a side is less likely than nearly all sentences of its
length, by a model of characters. "own" learns from the crawl itself; eng=FILE,spa=FILE from texts
of yours, one or more sentences per line (.gz too). Most of what it drops is good text about
something rare: use it where a clean corpus matters more than a large one.

JSON is one line: document_pairs, sentences1, sentences2 (of each side), sentence_pairs, kept,
dropped (count per rule), lexicon_entries (count per language pair), unreadable_lines,
too_large_documents (left out), is_unfinished (a file ends in the middle of a line), seconds, file.
"""


class AlignCommand(BaseCommand):
    """Aligns, and prints counts."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "CRAWL_DIR [--out FILE] [options]"
    summary = "Align the sentences of a crawl's document pairs"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Alignment")
        group.add_argument(
            "--out",
            type=Path,
            metavar="FILE",
            help="output (default: CRAWL_DIR/sentences.jsonl.gz)",
        )
        group.add_argument(
            "--embeddings",
            default="",
            metavar="MODEL",
            help="a sentence embedding model to use as well",
        )
        group.add_argument(
            "--language-models",
            metavar="own|LANG=FILE",
            help="also drop sentences that are unlikely in their language",
        )
        add_langs_option(group, "document pairs")
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Align, and print."""
        from bilingual_crawler.alignment.language_models import LanguageModelFiles
        from bilingual_crawler.reporting import alignment as report
        from bilingual_crawler.store.folder import require_pairs

        folder = Path(one_argument(args, "the folder of one crawl"))
        require_pairs(folder, "scrapy align")
        chosen = opts.language_models
        report.align_with_bar(
            folder,
            opts.out,
            opts.embeddings,
            as_json=opts.json,
            langs=read_wanted(opts.langs),
            models=None if chosen is None else LanguageModelFiles.parse(chosen),
        )
