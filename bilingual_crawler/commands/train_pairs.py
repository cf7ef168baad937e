"""`scrapy train pairs`: the small classifiers of pairing, on a user's own labels."""

import argparse
import sys
from typing import TYPE_CHECKING

from bilingual_crawler.commands.model_file import check_training, write_model
from bilingual_crawler.commands.pairs import aids_of, read_pair
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console

    from bilingual_crawler.corpus.pair_search import PairSearch
    from bilingual_crawler.lab.labels import SkippedLines
    from bilingual_crawler.lab.training.pair_labels import WeighedPairs

DETAILS = """\
pairs learns from your own labels when two documents are translations. Rows have two URLs and
1 or 0; --input names where the pages are (WARC files, directories, folders of crawls, as for
scrapy pairs). About 110 labelled pairs are enough: they move the weights of the project's own
model, and train the small classifiers of ILSP-FC and PPLocator. Figures are of a 10-fold
cross-validation; those that end in _before are of the project's own model.

  scrapy train pairs --labelled labels.tsv --input site.warc.gz --langs eng-fra --out mine.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what this kind of training needs."""
    group = parser.add_argument_group("Training of pairs")
    group.add_argument("--labelled", metavar="FILE", help="pairs: rows of URL, URL, 1 or 0")
    group.add_argument(
        "--input", nargs="+", default=[], metavar="INPUT", help="pairs, links: where the pages are"
    )
    group.add_argument("--langs", metavar="PAIR", help="pairs: the two languages (eng-fra)")


def train_pairs(opts: argparse.Namespace) -> None:
    """Read the labels and their pages, fit, and print what the models reach."""
    if not (opts.labelled and opts.input and opts.langs and opts.out):
        raise ConfigurationError(
            "Training of pairs needs labels, their pages, the languages and a place for the model.",
            "Write scrapy train pairs --labelled FILE --input INPUT... --langs eng-fra"
            " --out FILE.json.",
        )
    check_training(opts.out, "pairs.json")
    _train(opts)


def _train(opts: argparse.Namespace) -> None:
    from rich.console import Console

    from bilingual_crawler.lab.labels import SkippedLines
    from bilingual_crawler.lab.training import pair_labels
    from bilingual_crawler.pairing.model import load_pair_model

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    skipped = SkippedLines()
    labels = pair_labels.read_labels(opts.labelled, skipped)
    examples = pair_labels.gather(labels, _search(opts, console))
    _tell(console, opts.labelled, skipped, examples)
    pair_labels.check(examples)
    model, figures = pair_labels.learn(examples, load_pair_model())
    write_model(opts.out, model.to_json())
    lines = {"pairs": len(examples.pairs), "translations": examples.positive, **figures}
    for name, value in lines.items():
        text = f"{value:.4f}" if isinstance(value, float) else str(value)
        sys.stdout.write(f"{name}\t{text}\n")
    console.print(f"The model is in {opts.out}: crawl with -s BILINGUAL_PAIR_MODEL={opts.out}")


def _search(opts: argparse.Namespace, console: "Console") -> "PairSearch":
    """Read everything, since the numbers of a pair depend on the rest of its site."""
    from bilingual_crawler.config.settings import Config
    from bilingual_crawler.corpus.pair_search import PairSearch
    from bilingual_crawler.corpus.sources.inputs import (
        documents_from,
        size_of,
    )
    from bilingual_crawler.corpus.sources.reading import SourceReading
    from bilingual_crawler.reporting.reading_bar import ReadingBar

    bar = ReadingBar(console, map(size_of, opts.input))
    with bar:
        pair = read_pair(opts.langs)
        reading = SourceReading(pair, progress=bar.read)
        search = PairSearch(
            pair,
            skips=reading.skips,
            keep_pages=True,
            aids=aids_of(Config()),
        )
        for source in opts.input:
            for found in documents_from(source, reading):
                search.take(found)
                bar.found(search.pages.total(), 0)
        search.finish()
    return search


def _tell(
    console: "Console", source: str, skipped: "SkippedLines", examples: "WeighedPairs"
) -> None:
    """What of the labels cannot be used."""
    from bilingual_crawler.reporting.terminal import plain

    if skipped.count:
        console.print(f"{source}: {skipped}.")
    if examples.missing:
        shown = plain(examples.missing[0])
        console.print(
            f"{len(examples.missing):,} labelled pages are in none of the inputs, first {shown}"
        )
