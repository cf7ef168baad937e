"""`scrapy train pairs`: the small classifiers of pairing, on a user's own labels."""

import argparse
import sys
from pathlib import Path

from bilingual_crawler.commands.pairs import read_pair
from bilingual_crawler.errors import ConfigurationError

DETAILS = """\
pairs learns from your own labels when two documents are translations. Rows have two URLs and
1 or 0; --input names where the pages are (WARC files, directories, folders of crawls, as for
scrapy pairs). About 110 labelled pairs are enough. Figures are of a 10-fold cross-validation.

  scrapy train pairs --labelled labels.tsv --input site.warc.gz --langs eng-fra --out mine.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what this kind of training needs."""
    group = parser.add_argument_group("Training of pairs")
    group.add_argument("--labelled", metavar="FILE", help="pairs: rows of URL, URL, 1 or 0")
    group.add_argument(
        "--input", nargs="+", default=[], metavar="INPUT", help="pairs: where the pages are"
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
    if Path(opts.out).is_dir():
        raise ConfigurationError(f"{opts.out} is a folder: write --out {opts.out}/pairs.json.")
    try:
        import sklearn  # noqa: F401, PLC0415 - only to see that it is there
    except ImportError:
        raise ConfigurationError(
            "Training needs scikit-learn, which is not installed.",
            "Install it with pip install 'bilingual-crawler[train,cpu]'.",
        ) from None
    _train(opts)


def _train(opts: argparse.Namespace) -> None:
    from rich.console import Console  # noqa: PLC0415 - see options.py

    from bilingual_crawler.corpus.sources.inputs import size_of  # noqa: PLC0415 - see options.py
    from bilingual_crawler.corpus.sources.reading import Reading  # noqa: PLC0415 - see options.py
    from bilingual_crawler.evaluation.reading import Skipped  # noqa: PLC0415 - see options.py
    from bilingual_crawler.reporting.reading_bar import ReadingBar  # noqa: PLC0415 - see options.py
    from bilingual_crawler.reporting.terminal import plain  # noqa: PLC0415 - see options.py
    from bilingual_crawler.training.pair_labels import check, gather, read_labels  # noqa: PLC0415 - see options.py
    from bilingual_crawler.training.pairs import fit  # noqa: PLC0415 - see options.py

    console = Console(stderr=True, highlight=False, markup=False)
    skipped = Skipped()
    labels = read_labels(opts.labelled, skipped)
    bar = ReadingBar(console, map(size_of, opts.input))
    with bar:
        reading = Reading(read_pair(opts.langs), progress=bar.read)
        examples = gather(labels, opts.input, reading, bar.found)
    if skipped.count:
        console.print(f"{opts.labelled}: {skipped}.", soft_wrap=True)
    if examples.missing:
        shown = plain(examples.missing[0])
        console.print(
            f"{len(examples.missing):,} labelled pages are in none of the inputs, first {shown}",
            soft_wrap=True,
        )
    check(examples)
    Path(opts.out).parent.mkdir(parents=True, exist_ok=True)
    figures = fit(examples.found, Path(opts.out))
    lines = {"pairs": len(examples.found), "translations": examples.positive, **figures}
    for name, value in lines.items():
        text = f"{value:.4f}" if isinstance(value, float) else str(value)
        sys.stdout.write(f"{name}\t{text}\n")
    console.print(f"The model is in {opts.out}.", soft_wrap=True)
