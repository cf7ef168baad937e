"""Prints what is known about URL models, for people and programs."""

import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from rich.console import Console

from bilingual_crawler.reporting.terminal import DIM, STRONG, WARN, grid, plain, shown
from bilingual_crawler.scoring.models import (
    CONFIG,
    GRAPH,
    TOKENIZER,
    UNKNOWN,
    ModelPlace,
    Task,
    read_config,
)

CARD = "README.md"
MEGABYTE = 1_000_000
WIDTH = 100
LONGEST_CARD = 100_000
HEADLINES = ("test_macro_f1", "dev_macro_f1", "agreement_int8")
"""The figure that a list shows: the first one that a model has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """A model folder in the words of its config.json; `problem` says why it cannot be used."""

    task: Task
    where: str
    owner: str = ""
    used: bool = False
    base: str = ""
    preprocessing: str = ""
    max_length: int = 0
    labels: tuple[str, ...] = ()
    bytes: int = 0
    figures: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def languages(self) -> int:
        """The number of languages that it can tell apart."""
        return len(set(self.labels) - {UNKNOWN})


def summarise(place: ModelPlace, task: Task, *, used: bool = False) -> ModelSummary:
    """Read the small files of a model folder; what is wrong with it becomes its problem."""
    folder = place.folder
    known: dict[str, Any] = {"task": task, "where": str(folder), "owner": place.owner, "used": used}
    missing = [each for each in (GRAPH, TOKENIZER, CONFIG) if not folder.joinpath(each).is_file()]
    if missing:
        return ModelSummary(**known, problem=f"it has no {' and no '.join(missing)}")
    try:
        config = read_config(folder.joinpath(CONFIG).read_bytes(), task)
        size = sum(_size(folder.joinpath(each)) for each in (GRAPH, TOKENIZER, CONFIG))
    except (OSError, ValueError) as error:
        return ModelSummary(**known, problem=str(error))
    return ModelSummary(
        **known,
        base=config.base,
        preprocessing=config.preprocessing,
        max_length=config.max_length,
        labels=config.labels,
        bytes=size,
        figures=config.figures if isinstance(config.figures, dict) else {},
    )


def show_list(models: Sequence[ModelSummary], *, as_json: bool) -> None:
    """Print one line per model; those that a crawl here would use are marked."""
    if as_json:
        for each in models:
            _line(_as_dict(each))
        return
    head = ("", "task", "from", "languages", "MB", "base", "figure", "folder")
    rows = [
        (
            shown("used" if each.used else "", STRONG),
            shown(each.task),
            shown(each.owner),
            shown(f"{each.languages}" if each.labels else "-"),
            shown(f"{each.bytes / MEGABYTE:,.1f}" if each.bytes else "-"),
            shown(each.base or "-"),
            shown(each.problem, WARN) if each.problem else shown(_headline(each.figures), DIM),
            shown(each.where),
        )
        for each in models
    ]
    titles = tuple(shown(title, DIM) for title in head)
    _console().print(grid([titles, *rows], right=frozenset({3, 4})))


def show_model(model: ModelSummary, card: str, *, cost: float | None, as_json: bool) -> None:
    """Print everything about one model; `cost` is in milliseconds per new link."""
    if as_json:
        timed = {} if cost is None else {"milliseconds_per_link": round(cost, 4)}
        _line(_as_dict(model) | timed | {"card": card})
        return
    facts = {
        "task": model.task,
        "folder": model.where,
        "base": model.base or "-",
        "preprocessing": model.preprocessing,
        "length": f"{model.max_length} tokens",
        "size": f"{model.bytes / MEGABYTE:,.1f} MB",
        **({"labels": f"{len(model.labels)}: {' '.join(model.labels)}"} if model.labels else {}),
        **{name.replace("_", " "): f"{value}" for name, value in model.figures.items()},
    }
    if model.problem:
        facts["problem"] = model.problem
    if cost is not None:
        facts["cost"] = f"{cost:.3g} ms of one core per new link, {1000 / cost:,.0f} links/s"
    indent = max(map(len, facts)) + 2
    lines = [line for name, value in facts.items() for line in _wrapped(name, value, indent)]
    sys.stdout.writelines(f"{plain(line)}\n" for line in [*lines, "", *card.splitlines()])


def _wrapped(name: str, value: str, indent: int) -> list[str]:
    return textwrap.wrap(
        value,
        WIDTH,
        initial_indent=name.ljust(indent),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _size(file: Traversable) -> int:
    return file.stat().st_size if isinstance(file, Path) else len(file.read_bytes())


def read_card(folder: Traversable) -> str:
    """Return the text of a model card; "" if there is none."""
    try:
        return folder.joinpath(CARD).read_bytes()[:LONGEST_CARD].decode(errors="replace")
    except OSError:
        return ""


def _headline(figures: Mapping[str, Any]) -> str:
    name = next((each for each in HEADLINES if isinstance(figures.get(each), float)), "")
    return f"{name.replace('_', ' ')} {figures[name]:.4f}" if name else ""


def _as_dict(model: ModelSummary) -> dict[str, Any]:
    found = asdict(model) | {"languages": model.languages if model.labels else None}
    return found | {"labels": list(model.labels)}


def _console() -> Console:
    """Return a console that cuts long lines only on a terminal."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 10_000
    return console


def _line(value: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
