"""`scrapy train`: make a model from tables, with a progress bar."""

import argparse
import importlib
import time
from pathlib import Path
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bilingual_crawler.commands import train_links, train_pairs
from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.errors import ConfigurationError

TASKS = ("url2lang", "parallel")
POSITIVE = ("epochs", "batch", "lr", "length", "epoch_size", "vocabulary", "cap", "patience")
PAIRS = "pairs"
LINKS = "links"
NEEDED = ("torch", "transformers", "tokenizers", "onnx", "onnxruntime")

DETAILS = """\
url2lang learns the language of a page from its URL. Tables have the columns url and lang,
tab- or comma-separated, plain or .gz; a header line may name the columns domain and split.

parallel learns whether two URLs are translations of each other. Tables have two URLs and
their two languages, or two URLs and 0 or 1. Other pairs of the same sites are made into
negatives.

Sites are split by registered domain: a share of them is kept to choose the weights on (dev)
and to measure once at the end (test), unless a column split or --dev says which. Rows whose
split is "sites" are never used.

--base compact trains a small model from nothing, in minutes to an hour without a GPU.
--base xlm-roberta-base, or the folder of a downloaded model, is fine-tuned; take a GPU.

OUT then holds model.onnx (int8, what a crawl loads), model.fp32.onnx, tokenizer.json,
config.json with the labels, README.md with data, splits and figures, and checkpoint.pt.
A run that was killed goes on with the same command and --resume.

  scrapy train url2lang --data urls.tsv.gz --base compact --out models/url2lang
  scrapy train parallel --data pairs.tsv.gz --base xlm-roberta-base --out parallel --batch 64
"""


class TrainCommand(BaseCommand):
    """Reads the options, runs the recipe, prints the figures."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = (
        "url2lang|parallel --data FILE... | pairs --labelled FILE --input INPUT..."
        " | links --input WARC... [options]"
    )
    summary = "Train a model: the language of a URL, or whether two pages are translations"
    details = f"{DETAILS}\n{train_pairs.DETAILS}\n{train_links.DETAILS}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        files: dict[str, Any] = {"nargs": "+", "type": Path, "metavar": "FILE", "default": []}
        group = parser.add_argument_group("Training")
        group.add_argument("--data", **files, help="tables to learn from and be measured on")
        group.add_argument("--weak", **files, help="the same, less trusted: half the weight")
        group.add_argument(
            "--extra",
            **files,
            help="url2lang: URLs to learn from only; parallel: other URLs of sites",
        )
        group.add_argument("--dev", **files, help="measure on this table, not on a share of --data")
        group.add_argument(
            "--phrases",
            **files,
            help="parallel: rows of language, English phrase, translation, to learn words from",
        )
        group.add_argument("--base", default="compact", help="compact, a hub name, or a folder")
        group.add_argument("--out", type=Path, metavar="DIR", help="folder of the finished model")
        group.add_argument("--epochs", type=int, help="at most (50; compact 8)")
        group.add_argument("--batch", type=int, help="examples a step (32; compact 256)")
        group.add_argument("--lr", type=float, help="learning rate (1e-5; compact 1.5e-3)")
        group.add_argument("--length", type=int, help="tokens of an input")
        group.add_argument("--epoch-size", type=int, help="examples an epoch (compact only)")
        group.add_argument("--vocabulary", type=int, help="size of a compact model's vocabulary")
        group.add_argument("--cap", type=int, default=600_000, help="URLs a language (600,000)")
        group.add_argument("--patience", type=int, default=5, help="epochs without gain (5)")
        group.add_argument("--threads", type=int, default=0, help="processor threads (all)")
        group.add_argument("--seed", type=int, default=0, help="of everything random (0)")
        group.add_argument(
            "--skip-test", action="store_true", help="leave the test part for a later run"
        )
        group.add_argument("--resume", action="store_true", help="go on from OUT/checkpoint.pt")
        train_pairs.add_options(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Train, and say where the model is and what it reaches."""
        if args == [PAIRS]:
            train_pairs.train_pairs(opts)
            return
        if args == [LINKS]:
            train_links.train_links(opts)
            return
        task = self._task(args, opts)
        console = Console(stderr=True)
        _check_packages()
        from bilingual_crawler.lab.training import recipe

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
                f"There is no option {unknown[0]}; scrapy train --help tells which there are."
            )
        if len(args) != 1 or args[0] not in TASKS:
            raise ConfigurationError(
                "Say which model: scrapy train url2lang or scrapy train parallel (of URLs), or"
                " scrapy train pairs (of documents) or scrapy train links (of links)."
            )
        for name in POSITIVE:
            if (number := getattr(opts, name)) is not None and number <= 0:
                option = name.replace("_", "-")
                raise ConfigurationError(f"--{option} must be above zero, and is {number}.")
        if not opts.data or opts.out is None:
            raise ConfigurationError(
                "Training needs tables and a place for the model.",
                f"Write scrapy train {args[0]} --data FILE --out DIR.",
            )
        return args[0]


def _check_packages() -> None:
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError:
            raise ConfigurationError(
                f"Training needs {name}, which is not installed.",
                "Install it with pip install 'bilingual-crawler[train,cpu]'.",
            ) from None


class TrainingBar:
    """Loss, dev macro F1 and time left of a fit, on the terminal."""

    def __init__(self, console: Console) -> None:
        self._bar = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]:.3f}  dev macro F1 {task.fields[score]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]} left"),
            console=console,
        )
        self._task = self._bar.add_task("", epoch="1", loss=0.0, score="-", left="?")
        self._start = time.monotonic()
        self._first: int | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, progress: Any, schedule: Any) -> None:
        """Bring the bar up to date; a resumed run is timed from where it went on."""
        if self._first is None:
            self._first = progress.done - 1
        total = max(1, progress.steps) * schedule.epochs
        done = max(1, progress.done - self._first)
        left = (time.monotonic() - self._start) / done * max(0, total - progress.done)
        self._bar.update(
            self._task,
            total=total,
            completed=progress.done,
            epoch=f"{min(progress.epoch + 1, schedule.epochs)}/{schedule.epochs}",
            loss=progress.loss,
            score="-" if progress.best < 0 else f"{progress.score:.4f} (best {progress.best:.4f})",
            left=f"at most {left / 60:.0f} min",
        )
