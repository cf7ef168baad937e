"""Prepare the fine-tuning of a pretrained base as SBFC does it, at its scale.

The tables have tens of millions of rows, so they are read as streams: URLs go to a temporary file
and are encoded when they are drawn. Nothing of the recipe for compact models applies: no cap per
site, no weights, no made URLs or pairs, and no negatives but those of the paper, unless asked for.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.metrics import f1, macro_f1
from bilingual_crawler.lab.labels import (
    LabelledPair,
    LabelledUrl,
    SkippedLines,
    read_pairs,
    read_urls,
)
from bilingual_crawler.lab.training.augment import made_pairs, numbered_pairs, translated_pairs
from bilingual_crawler.lab.training.examples import Examples, StreamedExamples, UrlStore
from bilingual_crawler.lab.training.export import decisions
from bilingual_crawler.lab.training.negatives import (
    DomainUrls,
    any_other_pages,
    synthetic_negatives,
)
from bilingual_crawler.lab.training.page_links import PageLinks
from bilingual_crawler.lab.training.recipe import PreparedTraining, TrainingOptions
from bilingual_crawler.lab.training.split import DEV, KEPT_OUT, TEST, TRAIN, split_domains
from bilingual_crawler.scoring.encode import UrlEncoder
from bilingual_crawler.scoring.models import UNKNOWN

ADVICE = (
    "Write a model name of the Hugging Face hub, such as xlm-roberta-base, where there is a "
    "network; or the folder of a downloaded one, with its tokenizer.json; or compact."
)


class PretrainedModel(nn.Module):
    """A sequence classifier of transformers with the interface of the compact model."""

    def __init__(self, base: str, outputs: int, *, fresh_layers: int = 1) -> None:
        super().__init__()
        try:
            self.transformer: Any = AutoModelForSequenceClassification.from_pretrained(
                base,
                num_labels=outputs,
                attn_implementation="eager",
                ignore_mismatched_sizes=True,
            )
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"Cannot load the base model {base!r}: {str(error).splitlines()[0]}", ADVICE
            ) from None
        reinitialise_top(self.transformer, fresh_layers)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the logits of a batch."""
        return cast(
            "Tensor", self.transformer(input_ids=input_ids, attention_mask=attention_mask).logits
        )


def reinitialise_top(model: Any, layers: int) -> None:
    """Reset the top layers, which know only the pretraining task (SBFC resets one)."""
    encoder = list(model.base_model.encoder.layer)
    if layers > len(encoder):
        raise ConfigurationError(
            f"The base model has {len(encoder)} layers, of which {layers} cannot be reset.",
            f"Write --reinit with a number from 0 to {len(encoder)}.",
        )
    for layer in encoder[len(encoder) - layers :]:
        for module in layer.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, model.config.initializer_range)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.LayerNorm):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)


def tokenizer_of(base: str) -> Tokenizer:
    """Return the fast tokenizer of a pretrained model as a `tokenizers` object."""
    own = Path(base) / "tokenizer.json"
    if own.is_file():
        return Tokenizer.from_file(str(own))
    try:
        return cast("Tokenizer", AutoTokenizer.from_pretrained(base).backend_tokenizer)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"Cannot load the tokenizer of {base!r}: {str(error).splitlines()[0]}",
            ADVICE,
        ) from None


URL_LENGTH, PAIR_LENGTH = 128, 256
PARTS = (TRAIN, DEV, TEST)
Tell = Callable[[str], None]


@dataclass(slots=True)
class StreamedPart:
    """The rows of one part of the data: URLs or pairs in files, with their classes."""

    columns: tuple[UrlStore, ...]
    targets: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, target: int, *urls: str) -> None:
        """Add a row."""
        for column, url in zip(self.columns, urls, strict=True):
            column.append(url)
        self.targets.append(target)

    def renumber(self, classes: Sequence[int]) -> None:
        """Give every row the class that stands in the place of its present one."""
        if self.targets:
            targets = np.frombuffer(self.targets, dtype=np.int64)
            targets[:] = np.array(classes, dtype=np.int64)[targets]

    def examples(
        self, encoder: UrlEncoder, places: NDArray[np.int64] | None = None
    ) -> StreamedExamples:
        """Return the rows, or some of them, to learn from or to measure on."""
        targets = np.frombuffer(self.targets, dtype=np.int64) if self.targets else np.zeros(0, int)
        return StreamedExamples(
            [],
            targets if places is None else targets[places],
            columns=self.columns,
            encoder=encoder,
            places=places,
        )


def prepare_url2lang(options: TrainingOptions, tell: Tell = lambda _: None) -> PreparedTraining:
    """Read the tables twice, for the split and for the rows; keep at most `cap` per language."""
    skipped = SkippedLines()
    tell("Reading the tables: domains")
    sides = split_domains(_url_rows(options, SkippedLines()))
    if options.dev:
        sides = _measured_elsewhere(sides, {row.domain for row in read_urls(options.dev)})
    tell("Reading the tables: URLs")
    parts, labels = _url_parts(options, sides, skipped)
    if len(labels) <= 2 or not parts[DEV].targets:  # noqa: PLR2004 - two languages and unknown
        raise ConfigurationError(
            "There is too little to learn from: tables need two languages or more, and some "
            "domains must be left to measure on.",
            "Give more tables with --data, or a table to measure on with --dev.",
        )
    encoder = UrlEncoder(tokenizer_of(options.base), options.length or URL_LENGTH)
    chosen = _capped(parts[TRAIN].targets, options.cap, options.seed)
    train = parts[TRAIN].examples(encoder, chosen)
    dev, test = (_with_classes(parts[name].examples(encoder), len(labels)) for name in (DEV, TEST))
    return PreparedTraining(
        task="url2lang",
        model=_model(options, len(labels)),
        encoder=encoder,
        train=train,
        dev=dev,
        test=test,
        measure=partial(_language_score, classes=dev.measured),
        figures=_language_figures,
        labels=labels,
        facts=_facts(options, skipped)
        | {
            "learned from": f"{len(train):,} URLs, at most {options.cap:,} per language",
            "dev": f"{len(dev):,} URLs",
            "test": f"{len(test):,} URLs",
            "labels": f"{len(labels) - 1} languages and unknown",
        },
    )


def _url_parts(
    options: TrainingOptions, sides: Mapping[str, str], skipped: SkippedLines
) -> tuple[dict[str, StreamedPart], list[str]]:
    """Return the rows of each part, and the labels: the languages of the training part."""
    parts = {name: StreamedPart((UrlStore(),)) for name in PARTS}
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    learned = set()
    seen: Counter[tuple[str, str]] = Counter()
    for row in _url_rows(options, skipped):
        side = sides[row.domain]
        if side == KEPT_OUT or (options.dev and side != TRAIN):
            continue
        if side == TRAIN:
            learned.add(row.language)
            if options.domain_cap:
                seen[row.domain, row.language] += 1
                if seen[row.domain, row.language] > options.domain_cap:
                    continue
        parts[side].add(numbers[row.language], row.url)
    for row in read_urls(options.dev):
        parts[DEV].add(numbers[row.language], row.url)
    for row in read_urls(options.extra, skipped=skipped):
        if row.language in learned:
            parts[TRAIN].add(numbers[row.language], row.url)
    labels = [*sorted(learned - {UNKNOWN}), UNKNOWN]
    places = {label: place for place, label in enumerate(labels)}
    for part in parts.values():
        part.renumber([places.get(code, len(labels) - 1) for code in numbers])
    return parts, labels


def _url_rows(options: TrainingOptions, skipped: SkippedLines) -> Iterator[LabelledUrl]:
    return read_urls([*options.data, *options.weak], skipped=skipped)


def _measured_elsewhere(sides: dict[str, str], measured: set[str]) -> dict[str, str]:
    """Return the parts if a table of its own is measured on: all other domains are learned from."""
    return {
        domain: DEV if domain in measured else side if side == KEPT_OUT else TRAIN
        for domain, side in sides.items()
    }


def _capped(targets: "array[int]", most: int, seed: int) -> NDArray[np.int64] | None:
    """Return at most `most` rows of each class, drawn at random; None if all are few enough."""
    every = np.frombuffer(targets, dtype=np.int64)
    counts = np.bincount(every)
    if counts.max() <= most:
        return None
    rng = np.random.default_rng(seed)
    kept = [
        rows if len(rows) <= most else rng.choice(rows, most, replace=False)
        for rows in (np.flatnonzero(every == each) for each in range(len(counts)))
    ]
    return np.sort(np.concatenate(kept))


def _with_classes(examples: StreamedExamples, outputs: int) -> StreamedExamples:
    """Return examples that are measured on all languages in them, except unknown."""
    examples.measured = tuple(
        each for each in np.unique(examples.targets).tolist() if each < outputs - 1
    )
    return examples


def _language_score(
    logits: NDArray[np.float32], targets: NDArray[np.int64], classes: tuple[int, ...]
) -> float:
    return macro_f1(decisions(logits), targets, classes)


def _language_figures(logits: NDArray[np.float32], examples: Examples) -> dict[str, float]:
    found, targets = decisions(logits), examples.targets
    return {
        "macro_f1": macro_f1(found, targets, examples.measured),
        "languages": len(examples.measured),
        "accuracy": float((found == targets).mean()),
        "worst_f1": min(
            (f1(found == each, targets == each) for each in examples.measured), default=0.0
        ),
    }


class PairStore:
    """All rows of tables of pairs, in files, until the negatives of their sites are made."""

    def __init__(self) -> None:
        self._part = StreamedPart((UrlStore(), UrlStore()))
        self._codes: dict[str, int] = {}
        self._domains: dict[str, int] = {}
        self._languages = (array("l"), array("l"))
        self._sites = array("l")

    def add(self, pair: LabelledPair) -> None:
        """Add a row."""
        self._part.add(int(pair.parallel), pair.first, pair.second)
        self._sites.append(self._domains.setdefault(pair.domain, len(self._domains)))
        for column, code in zip(
            self._languages, (pair.first_language, pair.second_language), strict=True
        ):
            column.append(self._codes.setdefault(code, len(self._codes)))

    def sites(self) -> Iterator[tuple[str, list[LabelledPair]]]:
        """Yield the domains with their rows, one after the other."""
        sites = np.array(self._sites, dtype=np.int64)
        order = np.argsort(sites, kind="stable")
        ends = np.searchsorted(sites[order], np.arange(len(self._domains) + 1))
        codes = list(self._codes)
        for number, domain in enumerate(self._domains):
            rows = order[ends[number] : ends[number + 1]]
            firsts, seconds = (column.take(rows) for column in self._part.columns)
            yield (
                domain,
                [
                    LabelledPair(
                        first,
                        second,
                        bool(self._part.targets[row]),
                        codes[self._languages[0][row]],
                        codes[self._languages[1][row]],
                        domain,
                    )
                    for first, second, row in zip(firsts, seconds, rows.tolist(), strict=True)
                ],
            )


def prepare_parallel(options: TrainingOptions, tell: Tell = lambda _: None) -> PreparedTraining:
    """Read the tables, and make the negatives of one site after the other."""
    skipped = SkippedLines()
    tell("Reading the tables: pairs")
    given = list(read_pairs(options.dev, skipped=skipped))
    store = PairStore()
    sides = split_domains(_stored(_pair_rows(options, skipped), store))
    if given:
        measured = {pair.domain for pair in given}
        sides = _measured_elsewhere(sides, measured) | dict.fromkeys(measured, DEV)
        for pair in given:
            store.add(pair)
    others: defaultdict[str, list[str]] = defaultdict(list)
    for row in read_urls(options.extra, skipped=skipped):
        others[row.domain].append(row.url)
    links = PageLinks(options.links, skipped=skipped, tell=tell)
    tell("Making negatives")
    parts, kinds = _pair_parts(store, sides, others, links, options)
    if not (sum(parts[TRAIN].targets) and sum(parts[DEV].targets)):
        raise ConfigurationError(
            "There are too few sites: some must be learned from and others measured on.",
            "Give more tables with --data, or a table to measure on with --dev.",
        )
    encoder = UrlEncoder(tokenizer_of(options.base), options.length or PAIR_LENGTH)
    return PreparedTraining(
        task="parallel",
        model=_model(options, 1),
        encoder=encoder,
        train=parts[TRAIN].examples(encoder),
        dev=parts[DEV].examples(encoder),
        test=parts[TEST].examples(encoder),
        measure=lambda logits, targets: _pair_figures(logits, targets)["macro_f1"],
        figures=lambda logits, examples: _pair_figures(logits, examples.targets),
        facts=_facts(options, skipped)
        | {name: _summary(part) for name, part in parts.items()}
        | {"rows": ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())},
    )


def _pair_parts(
    store: PairStore,
    sides: Mapping[str, str],
    others: Mapping[str, list[str]],
    links: PageLinks,
    options: TrainingOptions,
) -> tuple[dict[str, StreamedPart], Counter[str]]:
    """Return the rows of each part, and how many there are of each kind."""
    parts = {name: StreamedPart((UrlStore(), UrlStore())) for name in PARTS}
    kinds: Counter[str] = Counter()
    for domain, rows in store.sites():
        side = sides.get(domain, KEPT_OUT)
        if side == KEPT_OUT:
            continue
        for kind, pair in _site_rows(domain, rows, others.get(domain, ()), links, options):
            parts[side].add(int(pair.parallel), pair.first, pair.second)
            kinds[kind] += 1
    if options.made_pairs:
        learned = {name: urls for name, urls in others.items() if sides.get(name, TRAIN) == TRAIN}
        for parallel, first, second in _made(learned, options):
            parts[TRAIN].add(int(parallel), first, second)
            kinds["made"] += 1
    return parts, kinds


def _summary(part: StreamedPart) -> str:
    pairs = sum(part.targets)
    return f"{pairs:,} pairs, {len(part.targets) - pairs:,} negatives"


def _pair_rows(options: TrainingOptions, skipped: SkippedLines) -> Iterator[LabelledPair]:
    return read_pairs([*options.data, *options.weak], skipped=skipped)


def _stored(pairs: Iterable[LabelledPair], store: PairStore) -> Iterator[LabelledPair]:
    """Yield pairs on their way to the store, so that one reading is enough."""
    for pair in pairs:
        store.add(pair)
        yield pair


def _site_rows(
    domain: str,
    rows: list[LabelledPair],
    others: Sequence[str],
    links: PageLinks,
    options: TrainingOptions,
) -> Iterator[tuple[str, LabelledPair]]:
    """Yield the pairs of a site and its negatives, each with its kind."""
    rng = Random(f"{options.seed} {domain}")  # noqa: S311 - a sample, not a secret
    if options.domain_cap:
        rng.shuffle(rows)
    site = DomainUrls(rows, others)
    if options.domain_cap:
        site.pairs = site.pairs[: options.domain_cap]
    yield from (("pairs", pair) for pair in site.pairs)
    for pair in rows:
        if not pair.parallel and not site.parallel(pair.first, pair.second):
            yield "listed", pair
    for pair in synthetic_negatives(site, seed=rng.randrange(1 << 30)):
        yield "synthetic", pair
    for pair in dict.fromkeys(links.negatives(domain, site)):
        yield "links", pair
    for pair in any_other_pages(site, options.any_page, rng):
        yield "any page", pair


def _made(urls: dict[str, list[str]], options: TrainingOptions) -> Iterator[tuple[bool, str, str]]:
    rng = Random(options.seed)  # noqa: S311 - a sample, not a secret
    count = options.made_pairs
    for make in (made_pairs, translated_pairs, numbered_pairs):
        pairs, negatives = make(urls, count, rng)
        yield from ((True, *pair) for pair in pairs)
        yield from ((False, *pair) for pair in negatives)


def _pair_figures(logits: NDArray[np.float32], targets: NDArray[np.int64]) -> dict[str, float]:
    found, wanted = decisions(logits) == 1, targets == 1
    positive, negative = f1(found, wanted), f1(~found, ~wanted)
    return {
        "macro_f1": (positive + negative) / 2,
        "positive_f1": positive,
        "negative_f1": negative,
    }


def _model(options: TrainingOptions, outputs: int) -> Any:
    torch.manual_seed(options.seed)
    return PretrainedModel(options.base, outputs, fresh_layers=options.reinit)


def _facts(options: TrainingOptions, skipped: SkippedLines) -> dict[str, str]:
    tables = [*options.data, *options.weak, *options.extra, *options.links]
    return {
        "tables": ", ".join(path.name for path in tables),
        "top layers reset": str(options.reinit),
        "lines skipped": str(dict(skipped.reasons) or "none"),
    }
