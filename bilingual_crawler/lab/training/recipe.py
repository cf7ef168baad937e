"""What both URL models share: options, fitting, export, and the model card."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn

from bilingual_crawler import __version__
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.training.compact import train_tokenizer
from bilingual_crawler.lab.training.examples import Examples, described
from bilingual_crawler.lab.training.export import (
    FULL_MODEL,
    MODEL,
    agreement,
    export,
    run_graph,
    write_folder,
)
from bilingual_crawler.lab.training.loop import Fit, FitProgress, Measure, Schedule
from bilingual_crawler.scoring.announcements import PLACES
from bilingual_crawler.scoring.encode import FURTHER, UrlEncoder
from bilingual_crawler.scoring.pair_features import FEATURES

COMPACT = "compact"
CHECKPOINT = "checkpoint.pt"
SAMPLE = 2_000
Show = Callable[[FitProgress, Schedule], None]


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """The options of a training run; `None` leaves the choice to the recipe.

    `data` are tables for training and measuring, `weak` the same at half weight, `extra` tables
    for training only (synthetic URLs; for pairs, URLs of sites). `dev` is a table to measure on
    instead of a share of the domains of `data`. From `phrases`, translated phrases, a compact
    model for pairs learns words first. `links` say which pages link to which: the links of a page
    that links to its translation are negatives.

    `readers` is a finished `url2lang` model, of which only the judge is fitted anew.

    `domain_cap`, `any_page` and `made_pairs` are for a pretrained base: the paper has none of them.
    """

    data: tuple[Path, ...]
    out: Path
    base: str = COMPACT
    weak: tuple[Path, ...] = ()
    extra: tuple[Path, ...] = ()
    dev: tuple[Path, ...] = ()
    phrases: tuple[Path, ...] = ()
    links: tuple[Path, ...] = ()
    epochs: int | None = None
    batch: int | None = None
    rate: float | None = None
    length: int | None = None
    epoch_size: int | None = None
    vocabulary: int | None = None
    cap: int = 600_000
    domain_cap: int = 0
    any_page: int = 0
    made_pairs: int = 0
    reinit: int = 1
    patience: int = 5
    threads: int = 0
    seed: int = 0
    resume: bool = False
    skip_test: bool = False
    everything: bool = False
    figures: Path | None = None
    readers: Path | None = None


@dataclass(slots=True)
class PreparedTraining:
    """A model with its data, ready for fitting."""

    task: str
    model: nn.Module
    encoder: UrlEncoder
    train: Examples
    dev: Examples
    test: Examples
    measure: Measure
    figures: Callable[[Any, Examples], dict[str, float]]
    further: Mapping[str, Examples] = field(default_factory=dict)
    tune: Callable[[Fit, Examples], None] | None = None
    labels: list[str] | None = None
    facts: dict[str, str] = field(default_factory=dict)


def schedule_of(options: TrainingOptions) -> Schedule:
    """Return SBFC's schedule for a pretrained base; a faster, finite one for a compact model."""
    small = options.base == COMPACT
    return Schedule(
        epochs=options.epochs or (8 if small else 50),
        batch=options.batch or (256 if small else 32),
        rate=options.rate or (1.5e-3 if small else 1e-5),
        decay="cosine" if small else "inverse_sqrt",
        smoothing=0.05 if small else 0.0,
        epoch_size=options.epoch_size or 0,
        patience=options.patience,
        seed=options.seed,
    )


def carry_out(prepared: PreparedTraining, options: TrainingOptions, show: Show) -> dict[str, float]:
    """Fit, export, compare the graphs, measure and write the folder; return the figures."""
    if options.threads:
        torch.set_num_threads(options.threads)
    schedule = schedule_of(options)
    fit = Fit(
        prepared.model,
        schedule,
        prepared.measure,
        options.out / CHECKPOINT,
        lambda progress: show(progress, schedule),
    )
    if options.resume:
        fit.resume()
    progress = fit.run(prepared.train, prepared.dev)
    if prepared.tune is not None:
        prepared.tune(fit, prepared.dev)
    figures = {**figures_of_unseen_sites(options), **_written(prepared, options)}
    card = model_card(prepared.task, options, prepared.facts, figures, progress.history)
    write_folder(options.out, prepared.encoder.tokenizer, _config(prepared, options, figures), card)
    return figures


def figures_of_unseen_sites(options: TrainingOptions) -> dict[str, float]:
    """Return what the same recipe reached in cross-validation, for a model without a test part."""
    if options.figures is None:
        return {}
    try:
        found = json.loads(options.figures.read_text("utf-8"))["unseen_sites"]
        return {f"unseen_sites_{name}": round(float(value), 4) for name, value in found.items()}
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise ConfigurationError(
            f"{options.figures} has no figures of a cross-validation ({error!r}).",
            "Make them with --folds; they are in cross-validation.json.",
        ) from None


def _written(prepared: PreparedTraining, options: TrainingOptions) -> dict[str, float]:
    first, _, _ = next(prepared.dev.batches(np.arange(min(2, len(prepared.dev))), 2))
    names = ("input_ids", "attention_mask", "ngrams", "features", *FURTHER)
    inputs = {name: first[name] for name in names if name in first}
    export(prepared.model, inputs, options.out)
    sample = prepared.dev.some(SAMPLE)
    full = run_graph(options.out / FULL_MODEL, sample)
    small = run_graph(options.out / MODEL, sample)
    torch_says = Fit(
        prepared.model, Schedule(), prepared.measure, options.out / CHECKPOINT
    ).predict(sample)
    figures = {
        "agreement_fp32": agreement(torch_says, full),
        "agreement_int8": agreement(torch_says, small),
    }
    parts = {"dev": prepared.dev, "test": prepared.test, **prepared.further}
    for name, examples in parts.items():
        if len(examples) and not (options.skip_test and name.startswith("test")):
            found = prepared.figures(run_graph(options.out / MODEL, examples), examples)
            figures |= {f"{name}_{key}": value for key, value in found.items()}
    return {key: round(value, 4) for key, value in figures.items()}


def _config(
    prepared: PreparedTraining, options: TrainingOptions, figures: dict[str, float]
) -> dict[str, Any]:
    labels = {} if prepared.labels is None else {"labels": prepared.labels}
    return {
        "task": prepared.task,
        **labels,
        "max_length": prepared.encoder.max_length,
        "base": options.base,
        "ngrams": described(prepared.encoder.ngrams),
        **_described_words(prepared.encoder),
        "features": len(FEATURES) if prepared.encoder.compares else None,
        **_described_host(prepared.encoder),
        "figures": figures,
    }


def _described_words(encoder: UrlEncoder) -> dict[str, Any]:
    return {"word_ngrams": encoder.word_ngrams} if encoder.word_ngrams else {}


def _described_host(encoder: UrlEncoder) -> dict[str, Any]:
    if encoder.announced is None:
        return {}
    return {
        "host_ngrams": described(encoder.announced.host),
        "words": encoder.announced.words,
        "places": len(PLACES),
    }


def can_resume(options: TrainingOptions) -> bool:
    """Return True if there is a run to resume."""
    return options.resume and (options.out / CHECKPOINT).exists()


def own_tokenizer(
    options: TrainingOptions, texts: Iterable[str], vocabulary: int, *, digits: bool
) -> Tokenizer:
    """Return the tokenizer of the resumed run, as the checkpoint needs its ids, or train one."""
    path = options.out / "tokenizer.json"
    if can_resume(options) and path.exists():
        return Tokenizer.from_file(str(path))
    tokenizer = train_tokenizer(texts, options.vocabulary or vocabulary, digits=digits)
    options.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))
    return tokenizer


TITLES = {"url2lang": "Language of a page from its URL", "parallel": "Translations from two URLs"}


def model_card(
    task: str,
    options: TrainingOptions,
    facts: Mapping[str, str],
    figures: Mapping[str, float],
    history: Sequence[Mapping[str, float]],
) -> str:
    """Return the model card, in Markdown."""
    lines = [
        f"# {TITLES.get(task, task)}",
        "",
        f"Task `{task}`, base `{options.base}`, seed {options.seed}.",
        f"Made with bilingual-crawler {__version__}.",
        "`model.onnx` is the graph that crawls run (int8); the figures are those of this graph.",
        "",
        "## Data",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        *_protocol(options),
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
        "Page contents and anchors."
        if options.everything
        else "Page contents, anchors, and the sites of the dev and test parts.",
        "Languages with few URLs in the data are guessed from codes and top-level domains.",
        "",
    ]
    return "\n".join(lines)


def _protocol(options: TrainingOptions) -> list[str]:
    """Return what the figures are of."""
    if options.readers is not None:
        return [
            "The readers learned from all sites but those of dev. The judge was fitted to these",
            "when the readers were finished, so that dev figures flatter it. Figures of unseen",
            "sites are of the same sites, dealt into folds: a judge without a fold answers for it.",
            "Agreement was measured when the readers were trained.",
        ]
    if options.everything:
        return [
            "The model learned from all sites but those of dev, on which its answers are weighed",
            "and calibrated, so that dev figures flatter it. Figures of unseen sites are those of",
            "the same recipe in cross-validation by registered domain: each fold",
            "is answered for by a model without it.",
        ]
    return [
        "Sites are split by registered domain: no domain is used for both training and measuring.",
        "The test part is measured once, after the weights were chosen on the dev part.",
    ]
