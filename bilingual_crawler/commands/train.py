"""`scrapy train`: trains a model, with a progress bar."""

import argparse
import importlib
from pathlib import Path
from typing import Any

from bilingual_crawler.commands import train_small
from bilingual_crawler.commands.base import BaseCommand, require_packages
from bilingual_crawler.errors import ConfigurationError

TASKS = ("url2lang", "parallel")
POSITIVE = ("epochs", "batch", "lr", "length", "epoch_size", "vocabulary", "cap", "patience")
PAIRS = "pairs"
LINKS = "links"
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
--base xlm-roberta-base, or the folder of a downloaded model, is fine-tuned; use a GPU.

OUT then holds model.onnx (int8, what a crawl loads), model.fp32.onnx, tokenizer.json,
config.json with the labels, README.md with data, splits and figures, and checkpoint.pt.
To resume a run that was killed, repeat the command with --resume.

  scrapy train url2lang --data urls.tsv.gz --base compact --out models/url2lang
  scrapy train parallel --data pairs.tsv.gz --base xlm-roberta-base --out parallel --batch 64
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
        group.add_argument("--base", default="compact", help="compact, a hub name, or a folder")
        group.add_argument("--out", type=Path, metavar="DIR", help="folder for the model")
        group.add_argument("--epochs", type=int, help="maximum number of epochs (50; compact 8)")
        group.add_argument("--batch", type=int, help="examples per step (32; compact 256)")
        group.add_argument("--lr", type=float, help="learning rate (1e-5; compact 1.5e-3)")
        group.add_argument("--length", type=int, help="tokens per input")
        group.add_argument("--epoch-size", type=int, help="examples per epoch (compact only)")
        group.add_argument("--vocabulary", type=int, help="size of a compact model's vocabulary")
        group.add_argument(
            "--cap", type=int, default=600_000, help="maximum number of URLs per language (600,000)"
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
        require_packages("Training", NEEDED)
        from rich.console import Console

        from bilingual_crawler.lab.training import recipe
        from bilingual_crawler.reporting.bars import TrainingBar

        console = Console(stderr=True)
        module = importlib.import_module(f"bilingual_crawler.lab.training.{task}")
        options = recipe.TrainingOptions(
            data=tuple(opts.data),
            weak=tuple(opts.weak),
            extra=tuple(opts.extra),
            dev=tuple(opts.dev),
            phrases=tuple(opts.phrases),
            out=opts.out,
            base=opts.base,
            epochs=opts.epochs,
            batch=opts.batch,
            rate=opts.lr,
            length=opts.length,
            epoch_size=opts.epoch_size,
            vocabulary=opts.vocabulary,
            cap=opts.cap,
            patience=opts.patience,
            threads=opts.threads,
            seed=opts.seed,
            resume=opts.resume,
            skip_test=opts.skip_test,
        )
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
        if not opts.data or opts.out is None:
            raise ConfigurationError(
                "Training needs tables and a place for the model.",
                f"Write scrapy train {args[0]} --data FILE --out DIR.",
            )
        return args[0]
