"""`scrapy evaluate`: measures a URL model on labelled data, next to plain rules."""

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, add_model_options, take_task

DETAILS = """\
Data is tab-separated, plain or gzipped, from a file or from standard input (-):

  url2lang    URL, language (any code or name); more columns are ignored
  parallel    URL, URL, 0 or 1, and, if known, their two languages
  --gold      URL, URL: pairs that are translations, one language per column

Lines that cannot be read are skipped and reported. Tables of pairs may have a header line with the
columns url1, url2, label, lang1 and lang2; without label, all pairs are translations.

The model is compared with rules that need no model. For languages: codes and names in parameter
values, directories, public suffix and subdomain, in this order. For pairs: two URLs that are
equal once their language tokens are removed. Macro figures are means over the classes that occur
in the data; languages that the model does not know count as wrong.

url2lang also shows the most frequent confusions; --confusion writes all of them as a table: side
(model or rules), language, answer, rows, share of the language. parallel also shows macro F1 per
language pair if the languages are known. --negatives adds pairs that are no translations, made from
those in the table as the paper makes them.

--one-to-one pairs the URLs of each site in the gold list, most likely first, each URL once, and
reports the recall. --candidates gives all URLs of the sites, as in WMT16 and in the paper, with
their languages if known; otherwise tokens in the URL or url2lang decide. Without --candidates, only
the URLs of the gold list are candidates, which is far easier. Soft recall also counts a gold pair
if one of its URLs got a near-duplicate of the right partner: one that --duplicates names (URL,
URL), or that equals it except for language tokens. Every combination is scored: 1,000 URLs on each
side of a site are a million pairs, and take minutes.

  scrapy evaluate url2lang urls.tsv.gz
  scrapy evaluate url2lang urls.tsv.gz --model models/mine --well-covered --json
  scrapy evaluate url2lang urls.tsv.gz --confusion confusions.tsv
  scrapy evaluate parallel pairs.tsv
  scrapy evaluate parallel translations.tsv.gz --negatives
  scrapy evaluate parallel --gold gold.tsv --one-to-one --json
  scrapy evaluate parallel --gold gold.tsv --one-to-one --candidates urls.txt.gz --langs eng-fra

JSON is one line: macro_f1, macro_precision, macro_recall, accuracy, unknown_share, positive_f1,
language_pairs, recall, soft_recall, the same with the prefix baseline_ for the rules, and
urls_per_second (for pairs: pairs per second), as far as they apply.
"""


OF_PAIRS = ("gold", "one_to_one", "candidates", "duplicates", "url2lang", "langs", "negatives")


class EvaluateCommand(BaseCommand):
    """Measures model and rules, and prints a table or JSON."""

    usage = "url2lang|parallel DATA [options]"
    summary = "Measure a URL model on labelled data, next to plain rules"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        add_model_options(parser)
        group = parser.add_argument_group("Evaluation")
        group.add_argument("--gold", metavar="FILE", help="parallel: pairs that are translations")
        group.add_argument(
            "--one-to-one", action="store_true", help="parallel: pair the URLs of each gold site"
        )
        group.add_argument(
            "--candidates", metavar="FILE", help="parallel: all URLs of the gold sites"
        )
        group.add_argument(
            "--duplicates", metavar="FILE", help="parallel: pairs of URLs with nearly equal texts"
        )
        group.add_argument(
            "--url2lang",
            metavar="DIR",
            default="",
            help="parallel: the model for the languages of --candidates",
        )
        group.add_argument(
            "--langs", metavar="PAIR", help="parallel: strip the tokens of this pair only (eng-fra)"
        )
        group.add_argument(
            "--well-covered",
            action="store_true",
            help="url2lang: only languages with at least 100 URLs from 10 sites",
        )
        group.add_argument(
            "--confusion",
            type=Path,
            metavar="FILE",
            help="url2lang: write which languages are taken for which",
        )
        group.add_argument(
            "--negatives",
            action="store_true",
            help="parallel: add made pairs that are no translations",
        )
        group.add_argument(
            "--baseline", action="store_true", help="measure only the rules if there is no model"
        )
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Measure, and print."""
        from bilingual_crawler.lab.evaluation import report

        task, rest = take_task(args)
        if opts.gold is not None:
            rest.append(opts.gold)
        if len(rest) != 1:
            raise UsageError("name one data file")
        if task == "url2lang":
            if any(getattr(opts, name) for name in OF_PAIRS):
                options = ", ".join(f"--{name.replace('_', '-')}" for name in OF_PAIRS)
                raise UsageError(f"{options} are for parallel")
            report.evaluate_languages(rest[0], opts)
        elif opts.confusion is not None:
            raise UsageError("--confusion is for url2lang")
        elif opts.gold is not None or opts.one_to_one or opts.candidates is not None:
            report.evaluate_alignment(rest[0], opts)
        else:
            report.evaluate_pairs(rest[0], opts)
