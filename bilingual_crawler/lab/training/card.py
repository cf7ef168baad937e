"""The model card: what a model was made from, what it reaches, what it has not seen."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from bilingual_crawler import __version__

TITLES = {"url2lang": "Language of a page from its URL", "parallel": "Translations from two URLs"}


class _Options(Protocol):
    @property
    def base(self) -> str: ...
    @property
    def seed(self) -> int: ...


def model_card(
    task: str,
    options: _Options,
    facts: Mapping[str, str],
    figures: Mapping[str, float],
    history: Sequence[Mapping[str, float]],
) -> str:
    """A page of Markdown."""
    lines = [
        f"# {TITLES.get(task, task)}",
        "",
        f"Task `{task}`, base `{options.base}`, seed {options.seed}.",
        f"Made with bilingual-crawler {__version__}.",
        "`model.onnx` is what runs (int8); the int8 graph is what the figures are of.",
        "",
        "## Data",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        "Sites are split by registered domain: no domain is both learned from and measured on.",
        "The test part is measured once, after the weights were chosen on the dev part.",
        "",
        "## Figures",
        "",
        "| figure | value |",
        "|---|---|",
        *(f"| {name.replace('_', ' ')} | {value:.4f} |" for name, value in figures.items()),
        "",
        "## Epochs",
        "",
        "| epoch | loss | dev macro F1 |",
        "|---|---|---|",
        *(
            f"| {each['epoch']:.0f} | {each['loss']:.3f} | {each['dev_macro_f1']:.4f} |"
            for each in history
        ),
        "",
        "## What it has not seen",
        "",
        "Page contents, anchors, and the sites of the dev and test parts.",
        "Languages with few URLs in the data are guessed from codes and top-level domains.",
        "",
    ]
    return "\n".join(lines)
