"""`scrapy train links`: the link predictor, on recorded sites of the user's own."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bilingual_crawler.commands.model_file import check_training, write_model
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console

    from bilingual_crawler.lab.training.link_labels import LabelledLink

LEAST_SITES = 4
"""Fewer sites cannot be left out of each other's training and teach anything."""

DETAILS = """\
links learns which links lead to another language of a site. --input names WARC files of recorded
sites, four at least; beside each NAME.warc.gz stands NAME.gold.tsv with the pairs that are known:
URL, URL, language, language. Figures are of sites that were left out of the training, at a
likelihood of 0.8.

  scrapy train links --input sites/*.warc.gz --out links.json
"""


def train_links(opts: argparse.Namespace) -> None:
    """Read the sites, measure with each left out, fit on all, and write."""
    if not (opts.input and opts.out):
        raise ConfigurationError(
            "Training of the link predictor needs recorded sites and a place for the model.",
            "Write scrapy train links --input sites/*.warc.gz --out FILE.json.",
        )
    if len(set(opts.input)) < LEAST_SITES:
        raise ConfigurationError(
            f"--input names {len(set(opts.input))} sites: name {LEAST_SITES} or more, so that what"
            " is learned from some can be measured on others."
        )
    check_training(opts.out, "links.json")
    _train(opts)


def _train(opts: argparse.Namespace) -> None:
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
    from bilingual_crawler.lab.training.link_labels import LabelledSite

    labelled: list[LabelledLink] = []
    for name in dict.fromkeys(inputs):
        with console.status(f"Reading {name}"):
            labelled += LabelledSite(Path(name)).labelled()
    right = {link.site for link in labelled if link.is_right}
    if len(right) < LEAST_SITES:
        raise ConfigurationError(
            f"Only {len(right)} of the sites have links to another language in their pages:"
            f" {LEAST_SITES} are needed."
        )
    return labelled
