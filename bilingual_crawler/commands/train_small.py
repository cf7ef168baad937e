"""`scrapy train pairs` and `links`: small models in one file, from a user's own labels."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bilingual_crawler.commands.base import read_pair
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.durable import replacing

if TYPE_CHECKING:
    from rich.console import Console

    from bilingual_crawler.corpus.pair_search import PairSearch
    from bilingual_crawler.lab.labels import SkippedLines
    from bilingual_crawler.lab.training.links import LabelledLink
    from bilingual_crawler.lab.training.pairs import WeighedPairs


MIN_SITES = 4
"""With fewer sites, leaving one out leaves too little to learn from."""
PAIRS_DETAILS = """\
pairs learns from your own labels whether two documents are translations. Rows have two URLs and
1 or 0; --input names the pages (WARC files, directories, crawl folders, as for scrapy pairs).
About 110 labelled pairs are enough: they adjust the weights of the built-in model, and train the
small classifiers of ILSP-FC and PPLocator. Figures are from a 10-fold cross-validation; those
that end in _before are for the built-in model.

  scrapy train pairs --labelled labels.tsv --input site.warc.gz --langs eng-fra --out mine.json
"""
LINKS_DETAILS = """\
links learns which links lead to another language of a site. --input names WARC files of at least
four recorded sites; next to each NAME.warc.gz is NAME.gold.tsv with the known pairs: URL, URL,
language, language. Figures are for sites that were left out of the training, at a likelihood of
0.8.

  scrapy train links --input sites/*.warc.gz --out links.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options for training on pages."""
    group = parser.add_argument_group("Training of pairs")
    group.add_argument("--labelled", metavar="FILE", help="pairs: rows of URL, URL, 1 or 0")
    group.add_argument(
        "--input", nargs="+", default=[], metavar="INPUT", help="pairs, links: the pages"
    )
    group.add_argument("--langs", metavar="PAIR", help="pairs: the two languages (eng-fra)")


def train_pairs(opts: argparse.Namespace) -> None:
    """Read the labels and their pages, fit, and print the figures."""
    if not (opts.labelled and opts.input and opts.langs and opts.out):
        raise ConfigurationError(
            "Training of pairs needs labels, their pages, the languages and a place for the model.",
            "Write scrapy train pairs --labelled FILE --input INPUT... --langs eng-fra"
            " --out FILE.json.",
        )
    check_training(opts.out, "pairs.json")
    _train_pairs(opts)


def _train_pairs(opts: argparse.Namespace) -> None:
    from rich.console import Console

    from bilingual_crawler.lab.labels import SkippedLines
    from bilingual_crawler.lab.training import pairs
    from bilingual_crawler.pairing.model import load_pair_model

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    skipped = SkippedLines()
    labels = pairs.read_labels(opts.labelled, skipped)
    examples = pairs.gather(labels, _search(opts, console))
    _report(console, opts.labelled, skipped, examples)
    pairs.check(examples)
    model, figures = pairs.learn(examples, load_pair_model())
    write_model(opts.out, model.to_json())
    lines = {"pairs": len(examples.pairs), "translations": examples.positive, **figures}
    for name, value in lines.items():
        text = f"{value:.4f}" if isinstance(value, float) else str(value)
        sys.stdout.write(f"{name}\t{text}\n")
    console.print(f"The model is in {opts.out}: crawl with -s BILINGUAL_PAIR_MODEL={opts.out}")


def _search(opts: argparse.Namespace, console: "Console") -> "PairSearch":
    """Read everything, because the features of a pair depend on the rest of its site."""
    from bilingual_crawler.config.settings import Config
    from bilingual_crawler.corpus.keep_rule import pairing_aids
    from bilingual_crawler.corpus.pair_search import PairSearch
    from bilingual_crawler.corpus.sources.inputs import (
        documents_from,
        size_of,
    )
    from bilingual_crawler.corpus.sources.reading import SourceReading
    from bilingual_crawler.reporting.bars import ReadingBar

    bar = ReadingBar(console, map(size_of, opts.input))
    with bar:
        pair = read_pair(opts.langs)
        reading = SourceReading(pair, progress=bar.read)
        search = PairSearch(
            pair,
            skips=reading.skips,
            keep_pages=True,
            aids=pairing_aids(Config()),
        )
        for source in opts.input:
            for found in documents_from(source, reading):
                search.take(found)
                bar.found(search.pages.total(), 0)
        search.finish()
    return search


def _report(
    console: "Console", source: str, skipped: "SkippedLines", examples: "WeighedPairs"
) -> None:
    """Report which labels cannot be used."""
    from bilingual_crawler.reporting.terminal import plain

    if skipped.count:
        console.print(f"{source}: {skipped}.")
    if examples.missing:
        shown = plain(examples.missing[0])
        console.print(
            f"{len(examples.missing):,} labelled pages are in none of the inputs, first {shown}"
        )


def train_links(opts: argparse.Namespace) -> None:
    """Read the sites, measure with each left out, fit on all, and write."""
    if not (opts.input and opts.out):
        raise ConfigurationError(
            "Training of the link predictor needs recorded sites and a place for the model.",
            "Write scrapy train links --input sites/*.warc.gz --out FILE.json.",
        )
    if len(set(opts.input)) < MIN_SITES:
        raise ConfigurationError(
            f"--input names {len(set(opts.input))} sites: name {MIN_SITES} or more, so that what"
            " is learned from some can be measured on others."
        )
    check_training(opts.out, "links.json")
    _train_links(opts)


def _train_links(opts: argparse.Namespace) -> None:
    from rich.console import Console

    from bilingual_crawler.discovery.site_detector import LIKELIHOOD
    from bilingual_crawler.lab.training import links

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    labelled = _read(opts.input, console)
    with console.status("Training with each site left out"):
        predictors = dict(links.left_out(labelled))
        as_they_are = [link for link in labelled if link.variant == 0]
        at = links.THRESHOLDS.index(LIKELIHOOD)
        figures = links.measure(predictors, as_they_are)[at]
    about = {
        "sites": len(predictors),
        "links": len(as_they_are),
        "right": sum(link.is_right for link in as_they_are),
        "precision": round(figures.precision, 4),
        "recall": round(figures.recall, 4),
        "f": round(figures.f, 4),
    }
    with console.status("Training on all sites"):
        predictor = links.fit(labelled, about)
    write_model(opts.out, predictor.to_json())
    sys.stdout.writelines(f"{name}\t{value}\n" for name, value in about.items())
    console.print(
        f"The predictor is in {opts.out}: crawl with -s BILINGUAL_LINK_PREDICTOR={opts.out}"
    )


def _read(inputs: list[str], console: "Console") -> list["LabelledLink"]:
    from bilingual_crawler.lab.training.links import LabelledSite

    labelled: list[LabelledLink] = []
    for name in dict.fromkeys(inputs):
        with console.status(f"Reading {name}"):
            labelled += LabelledSite(Path(name)).labelled()
    right = {link.site for link in labelled if link.is_right}
    if len(right) < MIN_SITES:
        raise ConfigurationError(
            f"Only {len(right)} of the sites have links to another language in their pages:"
            f" {MIN_SITES} are needed."
        )
    return labelled


def check_training(out: str, example: str) -> None:
    """Raise an error if the model could not be written, or scikit-learn is missing."""
    if Path(out).is_dir():
        raise ConfigurationError(f"{out} is a folder: write --out {out}/{example}.")
    try:
        import sklearn  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise ConfigurationError(
            "Training needs scikit-learn, which is not installed.",
            "Install it with pip install 'bilingual-crawler[train,cpu]'.",
        ) from None


def write_model(out: str, text: str) -> None:
    """Write a model; create its folder if there is none."""
    path = Path(out)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as fresh:
            fresh.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from error
