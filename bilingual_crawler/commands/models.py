"""`scrapy models`: which URL models there are, and how to get the published ones."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import (
    TASKS,
    BaseCommand,
    Task,
    one_or_more,
    piped_output,
    require_packages,
)
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilingual_crawler.scoring.models import ModelPlace

ACTIONS = ("list", "show", "convert")
AUTHORS = "transducens"
LENGTH = 256
NEEDED = ("torch", "transformers", "tokenizers", "onnx", "onnxruntime")
DETAILS = """\
  list     the models that a crawl here would find: of the settings (BILINGUAL_MODELS), of the
           package, and of the project; those that it would use are marked
  show     labels, preprocessing, length, size, figures and card of a model folder, or of the model
           that a crawl here would use for a task (url2lang, parallel); with --time also what a new
           link costs
  convert  turns a published XLM-R classifier of URLs, from the Hugging Face hub or from a folder,
           into a model folder

convert writes model.onnx (int8, what a crawl loads), model.fp32.onnx, tokenizer.json, config.json
and README.md into OUT. It compares both graphs with the checkpoint on made-up addresses, and
README.md has the result. Languages become ISO 639-3 codes. The weights may be model.safetensors or
pytorch_model.bin; no code of a checkpoint is run. It needs the extra train, and for
xlm-roberta-base 8 GB of memory.

--preprocessing says how URLs are split for the model, now and in every crawl:

  transducens           as the model cards of SBFC's authors: letters, digits, underscores and runs
                        of other signs, slashes among them
  transducens-no-slash  the same with a blank for each slash
  sbfc                  as the models of scrapy train: every sign alone

The model of each task that a crawl uses is in a subfolder of BILINGUAL_MODELS:

  scrapy models convert Transducens/xlm-roberta-base-url2lang --out published/url2lang
  scrapy models convert Transducens/xlm-roberta-base-parallel-urls-classifier \\
      --out published/parallel
  scrapy models show published/url2lang --time
  scrapy crawl bilingual -a langs=spa-eus -s BILINGUAL_MODELS=published
  scrapy models list -s BILINGUAL_MODELS=published

JSON is one object per line for list and one object for the others. Models have task, where, owner
(settings, package, project), used, base, preprocessing, max_length, labels, languages, bytes,
figures, problem; show adds card and milliseconds_per_link.
"""


class ModelsCommand(BaseCommand):
    """Lists, shows and converts URL models."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "list | show FOLDER|TASK | convert HUB_NAME|FOLDER --out DIR [options]"
    summary = "List the URL models, show one, or convert a published one"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Models")
        group.add_argument("--json", action="store_true", help="print JSON, for programs")
        group.add_argument("--time", action="store_true", help="show: measure the cost per link")
        group.add_argument("--out", type=Path, metavar="DIR", help="convert: folder for the model")
        group.add_argument(
            "--task", choices=TASKS, default="", help="convert: its task (by its outputs)"
        )
        group.add_argument(
            "--preprocessing",
            default=AUTHORS,
            metavar="NAME",
            help=f"convert: how URLs are split ({AUTHORS})",
        )
        group.add_argument(
            "--length",
            type=one_or_more,
            default=LENGTH,
            metavar="N",
            help=f"convert: maximum number of tokens ({LENGTH})",
        )
        group.add_argument(
            "--labels",
            type=Path,
            metavar="FILE",
            help="convert: languages of the outputs, one per line (those of config.json)",
        )
        group.add_argument(
            "--tokenizer",
            default="",
            metavar="NAME",
            help="convert: model or folder with the tokenizer (the checkpoint)",
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what the first argument says."""
        action, *rest = args or [""]
        if action not in ACTIONS:
            raise UsageError(f"start with one of {', '.join(ACTIONS)}")
        if len(rest) != (action != "list"):
            what = {"list": "nothing after list", "show": "one folder, or url2lang or parallel"}
            raise UsageError(f"name {what.get(action, 'one checkpoint: a hub name or a folder')}")
        with piped_output():
            if action == "list":
                self._list(opts)
            elif action == "show":
                self._show(rest[0], opts)
            else:
                _convert(rest[0], opts)

    def _list(self, opts: argparse.Namespace) -> None:
        from bilingual_crawler.reporting.model_text import show_list, summarise

        models = [
            summarise(place, task, used=number == 0)
            for task in self._tasks()
            for number, place in enumerate(self._places(task))
        ]
        if not models:
            raise ConfigurationError("There is no model here.", "scrapy train --help makes some.")
        show_list(models, as_json=opts.json)

    def _show(self, name: str, opts: argparse.Namespace) -> None:
        from bilingual_crawler.reporting.model_text import read_card, show_model, summarise

        for place, task in self._named(name):
            model = summarise(place, task)
            cost = None
            if opts.time and not model.problem:
                from bilingual_crawler.lab.evaluation.classification import model_cost

                cost = model_cost(place.folder, task).milliseconds
            show_model(model, read_card(place.folder), cost=cost, as_json=opts.json)

    def _named(self, name: str) -> "Iterator[tuple[ModelPlace, Task]]":
        """Yield the model of a task, or of a folder, or both models of a folder that has two."""
        from bilingual_crawler.scoring.models import CONFIG, ModelPlace, find_model, task_of

        if name in TASKS:
            task = cast("Task", name)
            places = self._places(task)
            yield (places[0] if places else ModelPlace("package", find_model(task))), task
            return
        folder = Path(name).expanduser()
        inner = [folder / each for each in TASKS if (folder / each / CONFIG).is_file()]
        for each in [folder] if (folder / CONFIG).is_file() else inner or [folder]:
            yield ModelPlace("", each), task_of(each)

    def _places(self, task: Task) -> "list[ModelPlace]":
        from bilingual_crawler.scoring.models import model_places

        folder = self.config().models
        return model_places(task, folder and f"{folder}/{task}")

    @staticmethod
    def _tasks() -> tuple[Task, ...]:
        return cast("tuple[Task, ...]", TASKS)


def _convert(source: str, opts: argparse.Namespace) -> None:
    if opts.out is None:
        raise UsageError("name the folder for the model: --out DIR")
    require_packages("Converting a model", NEEDED)
    from rich.console import Console

    from bilingual_crawler.lab.training.convert import ConversionOptions, convert

    console = Console(stderr=True, highlight=False, markup=False)
    options = ConversionOptions(
        source=source,
        out=opts.out,
        task=opts.task,
        preprocessing=opts.preprocessing,
        length=opts.length,
        tokenizer=opts.tokenizer,
        labels=_labels(opts.labels),
    )
    with console.status("Importing torch") as status:
        figures = convert(options, status.update)
    if opts.json:
        sys.stdout.write(json.dumps({"out": str(opts.out), **figures}) + "\n")
    else:
        sys.stdout.writelines(f"{name}\t{value:g}\n" for name, value in figures.items())
    console.print(f"The model is in {opts.out}; {opts.out / 'README.md'} says what was checked.")


def _labels(file: Path | None) -> tuple[str, ...]:
    if file is None:
        return ()
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigurationError(f"Cannot read {file}: {reason}.") from error
    return tuple(line.strip() for line in lines if line.strip())
