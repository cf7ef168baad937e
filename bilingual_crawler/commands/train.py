"""`scrapy train`: trains a model, with a progress bar."""

import argparse
import importlib
from pathlib import Path
from typing import Any

from bilingual_crawler.commands import train_small
from bilingual_crawler.commands.base import BaseCommand, require_packages, zero_or_more
from bilingual_crawler.errors import ConfigurationError

COMPACT = "compact"
FEWEST_FOLDS = 2
TASKS = ("url2lang", "parallel")
POSITIVE = ("epochs", "batch", "lr", "length", "epoch_size", "vocabulary", "cap", "patience")
PAIRS = "pairs"
LINKS = "links"
MOST_RESET = 5
"""The paper tried 0 to 5 layers."""
OF_A_BASE = {
    "--domain-cap": "maximum number of URLs per language, or of pairs, of a domain (0: all)",
    "--any-page": "parallel: negatives per pair with any other page of its site (0)",
    "--made-pairs": "parallel: pairs of each kind made from the URLs of --extra (0)",
}
NEEDED = ("torch", "transformers", "tokenizers", "onnx", "onnxruntime")

DETAILS = """\
url2lang learns the language of a page from its URL. Tables have the columns url and lang,
tab- or comma-separated, plain or .gz; a header line may name the columns domain and split.

parallel learns whether two URLs are translations of each other. Tables have two URLs and their
two languages, or two URLs and 0 or 1. Other pairs of the same sites serve as negatives.

Sites are split by registered domain: some are set aside to choose the weights (dev) and to
measure once at the end (test), unless a column split or --dev says which. Rows whose split is
"sites" are never used.

--base compact trains a small model from scratch, in minutes to an hour without a GPU.
--base xlm-roberta-base, or the folder of a downloaded model, is fine-tuned as in the paper, with
its negatives and nothing else; use a GPU. The tables are read as streams, and may have tens of
millions of rows. --reinit 0 to 5 resets the top layers first.

--links gives tables of links (page, linked page, its language) or recorded sites: if a page links
to its translation, its other links are negatives.

--compare-negatives trains nothing to keep: it compares the ways to make negatives, each mix by
cross-validation over ten folds of the sites, with a linear model on comparisons of two URLs, and
writes negatives.tsv and negatives.md, the paper's Table A.5 for these tables. --domain-cap is then
the number of pairs per site (40). --resume keeps the mixes that are in the table.

OUT then holds model.onnx (int8, what a crawl loads), model.fp32.onnx, tokenizer.json,
config.json with the labels, README.md with data, splits and figures, and checkpoint.pt.
To resume a run that was killed, repeat the command with --resume.

  scrapy train url2lang --data urls.tsv.gz --base compact --out models/url2lang
  scrapy train parallel --data pairs.tsv.gz --base xlm-roberta-base --out parallel --batch 64
  scrapy train parallel --data pairs.tsv.gz --out mixes --compare-negatives all
"""


class TrainCommand(BaseCommand):
    """Trains, and prints the figures."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = (
        "url2lang|parallel --data FILE... | pairs --labelled FILE --input INPUT..."
        " | links --input WARC... [options]"
    )
    summary = "Train a model: the language of a URL, or whether two pages are translations"
    details = f"{DETAILS}\n{train_small.PAIRS_DETAILS}\n{train_small.LINKS_DETAILS}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        files: dict[str, Any] = {"nargs": "+", "type": Path, "metavar": "FILE", "default": []}
        group = parser.add_argument_group("Training")
        group.add_argument("--data", **files, help="tables to learn from and to measure on")
        group.add_argument("--weak", **files, help="less trusted tables: half the weight")
        group.add_argument(
            "--extra",
            **files,
            help="url2lang: URLs only to learn from; parallel: other URLs of the sites",
        )
        group.add_argument("--dev", **files, help="measure on this table, not on a part of --data")
        group.add_argument(
            "--phrases",
            **files,
            help="parallel: rows of language, English phrase, translation",
        )
        group.add_argument(
            "--links",
            **files,
            help="parallel: which pages link to which (page, link, language), or WARC files",
        )
        group.add_argument("--base", default=COMPACT, help="compact, a hub name, or a folder")
        group.add_argument("--out", type=Path, metavar="DIR", help="folder for the model")
        group.add_argument(
            "--folds",
            type=zero_or_more,
            default=0,
            metavar="N",
            help="cross-validate on N folds of the sites, instead of training one model",
        )
        group.add_argument(
            "--everything",
            action="store_true",
            help="learn from all sites, those for measuring too, as a shipped model does",
        )
        group.add_argument(
            "--figures",
            type=Path,
            metavar="FILE",
            help="cross-validation.json of --folds, for the card of a model of --everything",
        )
        group.add_argument(
            "--readers",
            type=Path,
            metavar="DIR",
            help="url2lang: a finished model of --everything, of which only the judge is fitted",
        )
        group.add_argument("--epochs", type=int, help="maximum number of epochs (50; compact 8)")
        group.add_argument("--batch", type=int, help="examples per step (32; compact 256)")
        group.add_argument("--lr", type=float, help="learning rate (1e-5; compact 1.5e-3)")
        group.add_argument("--length", type=int, help="tokens per input")
        group.add_argument("--epoch-size", type=int, help="examples per epoch (compact only)")
        group.add_argument("--vocabulary", type=int, help="size of a compact model's vocabulary")
        group.add_argument(
            "--cap", type=int, default=600_000, help="maximum number of URLs per language (600,000)"
        )
        for option, text in OF_A_BASE.items():
            group.add_argument(option, type=zero_or_more, default=0, help=f"with --base: {text}")
        group.add_argument(
            "--reinit",
            type=int,
            choices=range(MOST_RESET + 1),
            default=1,
            help="with --base: top layers to reset before fine-tuning (1)",
        )
        group.add_argument(
            "--patience", type=int, default=5, help="stop after this many epochs without gain (5)"
        )
        group.add_argument("--threads", type=int, default=0, help="processor threads (all)")
        group.add_argument("--seed", type=int, default=0, help="random seed (0)")
        group.add_argument(
            "--skip-test", action="store_true", help="do not measure on the test part"
        )
        group.add_argument("--resume", action="store_true", help="resume from OUT/checkpoint.pt")
        group.add_argument(
            "--compare-negatives",
            nargs="*",
            metavar="MIX",
            help="parallel: compare mixes of negatives (all, or such as 1+2+4) instead of training",
        )
        train_small.add_options(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Train, and print the figures."""
        if args == [PAIRS]:
            train_small.train_pairs(opts)
            return
        if args == [LINKS]:
            train_small.train_links(opts)
            return
        task = self._task(args, opts)
        if opts.compare_negatives is not None:
            _compare_negatives(task, opts)
            return
        require_packages("Training", NEEDED)
        from rich.console import Console

        from bilingual_crawler.lab.training import recipe
        from bilingual_crawler.reporting.bars import TrainingBar

        console = Console(stderr=True)
        name = task if opts.base == COMPACT else "fine_tuning"
        module = importlib.import_module(f"bilingual_crawler.lab.training.{name}")
        options = recipe.TrainingOptions(
            data=tuple(opts.data),
            weak=tuple(opts.weak),
            extra=tuple(opts.extra),
            dev=tuple(opts.dev),
            phrases=tuple(opts.phrases),
            links=tuple(opts.links),
            out=opts.out,
            base=opts.base,
            epochs=opts.epochs,
            batch=opts.batch,
            rate=opts.lr,
            length=opts.length,
            epoch_size=opts.epoch_size,
            vocabulary=opts.vocabulary,
            cap=opts.cap,
            domain_cap=opts.domain_cap,
            any_page=opts.any_page,
            made_pairs=opts.made_pairs,
            reinit=opts.reinit,
            patience=opts.patience,
            threads=opts.threads,
            seed=opts.seed,
            resume=opts.resume,
            skip_test=opts.skip_test,
            everything=opts.everything,
            figures=opts.figures,
            readers=opts.readers,
        )
        if opts.readers is not None:
            _refit(task, options, opts.folds, console)
            return
        if opts.folds:
            _cross_validate(task, options, opts.folds, console)
            return
        with console.status("Reading and encoding the tables") as status:
            prepared = getattr(module, f"prepare_{task}")(options, status.update)
        with TrainingBar(console) as bar:
            figures = recipe.carry_out(prepared, options, bar.show)
        for name, value in figures.items():
            print(f"{name}\t{value:.4f}")  # noqa: T201 - the answer, for pipelines
        console.print(f"The model is in {opts.out}.")

    def _task(self, args: list[str], opts: argparse.Namespace) -> str:
        if unknown := [each for each in args if each.startswith("-")]:
            raise ConfigurationError(
                f"There is no option {unknown[0]}; scrapy train --help lists them."
            )
        if len(args) != 1 or args[0] not in TASKS:
            raise ConfigurationError(
                "Name the model: scrapy train url2lang or parallel (URLs), pairs (documents) or"
                " links (links)."
            )
        for name in POSITIVE:
            if (number := getattr(opts, name)) is not None and number <= 0:
                option = name.replace("_", "-")
                raise ConfigurationError(f"--{option} must be above zero, but is {number}.")
        if opts.base == COMPACT and opts.compare_negatives is None:
            for option in OF_A_BASE:
                if getattr(opts, option.strip("-").replace("-", "_")):
                    raise ConfigurationError(
                        f"{option} is for fine-tuning a pretrained model; a compact one has its own"
                        " recipe.",
                        f"Add --base, or leave out {option}.",
                    )
        if not opts.data or opts.out is None:
            raise ConfigurationError(
                "Training needs tables and a place for the model.",
                f"Write scrapy train {args[0]} --data FILE --out DIR.",
            )
        return args[0]


def _cross_validate(task: str, options: Any, folds: int, console: Any) -> None:
    """Train a model per fold of the sites, and print the table of figures."""
    if options.base != COMPACT or folds < FEWEST_FOLDS:
        raise ConfigurationError(f"--folds is for compact models, and {FEWEST_FOLDS} or more.")
    from bilingual_crawler.reporting.bars import TrainingBar

    if task == "url2lang":
        from bilingual_crawler.lab.training.cross_validation import cross_validate
    else:
        from bilingual_crawler.lab.training.pair_folds import (
            cross_validate_pairs as cross_validate,
        )
    with TrainingBar(console) as bar:
        text = cross_validate(options, folds, bar.show, console.print)
    print(text)  # noqa: T201 - the answer


def _refit(task: str, options: Any, folds: int, console: Any) -> None:
    """Fit the judge of a finished model, or cross-validate it; print the figures."""
    if task != "url2lang" or options.base != COMPACT:
        raise ConfigurationError("--readers is for compact models of scrapy train url2lang.")
    if not (folds or options.everything):
        raise ConfigurationError(
            "--readers fits the judge to all sites that the readers have not seen.",
            "Add --everything to write the model, or --folds to cross-validate the judge.",
        )
    if folds and folds < FEWEST_FOLDS:
        raise ConfigurationError(f"--folds must be {FEWEST_FOLDS} or more.")
    from bilingual_crawler.lab.training.refit import cross_validate_judge, refit

    if options.threads:
        import torch

        torch.set_num_threads(options.threads)
    with console.status("Reading the tables") as status:
        if folds:
            print(cross_validate_judge(options, folds, status.update))  # noqa: T201 - the answer
            return
        figures = refit(options, status.update)
    for name, value in figures.items():
        print(f"{name}\t{value:.4f}")  # noqa: T201 - the answer, for pipelines
    console.print(f"The model is in {options.out}.")


def _compare_negatives(task: str, opts: argparse.Namespace) -> None:
    """Compare mixes of negatives by cross-validation, and print the table."""
    if task != "parallel":
        raise ConfigurationError("--compare-negatives is for scrapy train parallel.")
    require_packages("Comparing negatives", ["sklearn"])
    from rich.console import Console

    from bilingual_crawler.lab.labels import read_pairs
    from bilingual_crawler.lab.training import negative_mixes
    from bilingual_crawler.lab.training.page_links import PageLinks

    console = Console(stderr=True)
    with console.status("Reading the tables") as status:
        negative_mixes.compare(
            read_pairs([*opts.data, *opts.weak]),
            opts.compare_negatives,
            opts.out,
            links=PageLinks(opts.links, tell=status.update),
            most=opts.domain_cap or negative_mixes.PAIRS_PER_SITE,
            resume=opts.resume,
            seed=opts.seed,
            tell=status.update,
        )
    print((opts.out / negative_mixes.TEXT).read_text("utf-8"), end="")  # noqa: T201 - the answer
    console.print(f"The table is in {opts.out / negative_mixes.TABLE}.")
