"""Prepare the training of a compact `url2lang`: tables of URLs and languages to a model."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.metrics import f1, macro_f1, well_covered
from bilingual_crawler.lab.labels import LabelledUrl, SkippedLines, read_urls
from bilingual_crawler.lab.training.augment import (
    coded,
    home_pages,
    suffixes_by_language,
    without_name,
)
from bilingual_crawler.lab.training.compact import CompactModel, Shape
from bilingual_crawler.lab.training.examples import Examples, encode_urls
from bilingual_crawler.lab.training.export import decisions
from bilingual_crawler.lab.training.linear import fit_linear, token_statistics
from bilingual_crawler.lab.training.loop import Fit
from bilingual_crawler.lab.training.recipe import (
    PreparedTraining,
    TrainingOptions,
    can_resume,
    own_tokenizer,
)
from bilingual_crawler.lab.training.split import (
    DEV,
    KEPT_OUT,
    TEST,
    TRAIN,
    cap,
    part,
    split_domains,
)
from bilingual_crawler.scoring.encode import Arrays, Ngrams, UrlEncoder
from bilingual_crawler.scoring.models import UNKNOWN
from bilingual_crawler.scoring.preprocess import prepare
from bilingual_crawler.urls.language_tokens import announced_languages

NGRAMS = Ngrams((3, 4, 5), 65_536, 256)
LENGTH = 32
VOCABULARY = 16_000
WEAK, SYNTHETIC = 0.5, 0.2
DOMAIN_CAP = 150
FEWEST_URLS, FEWEST_DOMAINS, MANY_URLS = 8, 5, 25
MEASURED = {"urls": 20, "sites": 5}
"""The URLs and sites that a language needs to be measured."""
TEMPERATURE = 0.6
"""How frequent languages are sampled: 1 as in the data, 0 all languages equally."""
CODED, HOME_PAGES = 300, 60
TOKENIZER_TEXTS = 120_000
HIDDEN_NGRAMS = 0.1
TEMPERATURES = tuple(0.5 * 1.15**step for step in range(26))
SHARES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
RARE = -0.2
"""Exponent of a language's number of URLs in their weight for the linear part."""


def prepare_url2lang(
    options: TrainingOptions, _tell: Callable[[str], None] = lambda _: None
) -> PreparedTraining:
    """Read tables, split, sample, encode, and build the model."""
    skipped = SkippedLines()
    rows = [
        *read_urls(options.data, skipped=skipped),
        *read_urls(options.weak, weight=WEAK, skipped=skipped),
    ]
    train, dev, test = _parts(rows, list(read_urls(options.dev)))
    labels = labels_of(train)
    if len(labels) <= 2 or not dev:  # noqa: PLR2004 - two languages and unknown
        raise ConfigurationError(
            "There is too little to learn from: a language needs "
            f"{MANY_URLS} URLs, or {FEWEST_URLS} on {FEWEST_DOMAINS} domains, and some domains "
            "must be left to measure on.",
            "Give more tables with --data, or a table to measure on with --dev.",
        )
    learned = cap(thinned(train, options.seed), options.cap, seed=options.seed)
    extra = list(read_urls(options.extra, weight=SYNTHETIC))
    made = _made(learned, labels, options.seed)
    rows = [*learned, *(row for row in extra if row.language in labels), *made]
    encoder = _encoder(options, rows)
    numbers = {label: number for number, label in enumerate(labels)}
    measured = _classes(dev, numbers)
    examples = _training(encoder, rows, numbers)
    model = _model(options, encoder, len(labels))
    if not can_resume(options):
        _set_linear(model, examples, rows, options)
        model.start_from(token_statistics(examples, len(labels)))
    return PreparedTraining(
        task="url2lang",
        model=model,
        encoder=encoder,
        train=examples,
        dev=_measuring(encoder, dev, numbers),
        test=_measuring(encoder, test, numbers),
        measure=lambda logits, targets: macro_f1(decisions(logits), targets, measured),
        figures=_figures,
        tune=choose_share,
        labels=labels,
        facts={
            "tables": ", ".join(
                path.name for path in [*options.data, *options.weak, *options.extra]
            ),
            "learned from": _summary(learned),
            "synthetic": f"{len(extra):,} from tables, {len(made):,} with a code or domain put in",
            "dev": _summary(dev),
            "test": _summary(test),
            "labels": f"{len(labels) - 1} languages and unknown",
            "dev macro F1 over": ", ".join(labels[each] for each in measured),
            "test macro F1 over": ", ".join(labels[each] for each in _classes(test, numbers)),
            "lines skipped": str(dict(skipped.reasons) or "none"),
        },
    )


def _parts(
    rows: list[LabelledUrl], given: list[LabelledUrl]
) -> tuple[list[LabelledUrl], list[LabelledUrl], list[LabelledUrl]]:
    sides = split_domains(rows)
    if not given:
        return part(rows, sides, TRAIN), part(rows, sides, DEV), part(rows, sides, TEST)
    measured = {row.domain for row in given}
    kept = [row for row in rows if row.domain not in measured and sides[row.domain] != KEPT_OUT]
    return kept, given, []


def labels_of(rows: Iterable[LabelledUrl]) -> list[str]:
    """Return the languages with enough URLs to be learned, and `unknown` for the rest."""
    count: Counter[str] = Counter()
    domains: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        count[row.language] += 1
        domains[row.language].add(row.domain)
    known = (
        language
        for language, urls in count.items()
        if language != UNKNOWN
        and (
            urls >= MANY_URLS or (urls >= FEWEST_URLS and len(domains[language]) >= FEWEST_DOMAINS)
        )
    )
    return [*sorted(known), UNKNOWN]


def thinned(rows: Sequence[LabelledUrl], seed: int) -> list[LabelledUrl]:
    """Return at most `DOMAIN_CAP` URLs per language and domain: more would teach nothing new."""
    rows = list(rows)
    random.Random(seed).shuffle(rows)  # noqa: S311 - a sample, not a secret
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for row in rows:
        seen[row.domain, row.language] += 1
        if seen[row.domain, row.language] <= DOMAIN_CAP:
            kept.append(row)
    return kept


def _made(rows: Sequence[LabelledUrl], labels: Sequence[str], seed: int) -> list[LabelledUrl]:
    """Make URLs whose only sign of a language is an added code, or their domain."""
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    plain = [row.url for row in rows if not announced_languages(row.url)]
    names = [row.domain.partition(".")[0] for row in rows]
    count = Counter(row.language for row in rows)
    suffixes = suffixes_by_language(((row.url, row.language) for row in rows), labels[:-1])
    made = []
    for label in labels[:-1]:
        wanted = max(CODED // 5, min(CODED, 2 * CODED - count[label] // 3))
        urls = [
            *coded(label, plain, wanted, rng),
            *home_pages(suffixes[label], names, HOME_PAGES, rng),
        ]
        made += [LabelledUrl(url, label, "", TRAIN, WEAK) for url in urls]
    return made


def _encoder(options: TrainingOptions, rows: Sequence[LabelledUrl]) -> UrlEncoder:
    drawn = random.Random(options.seed).sample(rows, min(len(rows), TOKENIZER_TEXTS))  # noqa: S311
    texts = (prepare(without_name(row.url, row.domain)) for row in drawn)
    tokenizer = own_tokenizer(options, texts, VOCABULARY, digits=False)
    return UrlEncoder(tokenizer, options.length or LENGTH, NGRAMS)


def _model(options: TrainingOptions, encoder: UrlEncoder, outputs: int) -> CompactModel:
    torch.manual_seed(options.seed)
    vocabulary = encoder.tokenizer.get_vocab_size()
    return CompactModel(
        Shape(
            outputs=outputs,
            vocabulary=vocabulary,
            length=encoder.max_length,
            buckets=NGRAMS.buckets,
            linear=True,
        )
    )


def _training(
    encoder: UrlEncoder,
    rows: Sequence[LabelledUrl],
    numbers: dict[str, int],
) -> Examples:
    targets = _targets(rows, numbers)
    plain = encode_urls(encoder, [row.url for row in rows])
    nameless = encode_urls(encoder, [without_name(row.url, row.domain) for row in rows])
    count = np.bincount(targets, minlength=len(numbers)).astype(np.float64)
    weights = np.array([row.weight for row in rows]) * count[targets] ** (TEMPERATURE - 1)
    return Examples([plain, nameless], targets, weights, HIDDEN_NGRAMS)


def _measuring(
    encoder: UrlEncoder, rows: Sequence[LabelledUrl], numbers: dict[str, int]
) -> Examples:
    encoded: Arrays = encode_urls(encoder, [row.url for row in rows])
    return Examples([encoded], _targets(rows, numbers), measured=_classes(rows, numbers))


def _classes(rows: Sequence[LabelledUrl], numbers: dict[str, int]) -> tuple[int, ...]:
    """Return the languages with enough URLs and domains in the rows; all if none has."""
    found = tuple(
        numbers[each] for each in sorted(well_covered(rows, **MEASURED)) if each in numbers
    )
    return found or tuple(range(len(numbers) - 1))


def _targets(rows: Sequence[LabelledUrl], numbers: dict[str, int]) -> NDArray[np.int64]:
    unknown = numbers[UNKNOWN]
    return np.array([numbers.get(row.language, unknown) for row in rows], dtype=np.int64)


def _figures(logits: NDArray[np.float32], examples: Examples) -> dict[str, float]:
    found, targets = decisions(logits), examples.targets
    return {
        "macro_f1": macro_f1(found, targets, examples.measured),
        "languages": len(examples.measured),
        "accuracy": float((found == targets).mean()),
        "worst_f1": min(f1(found == each, targets == each) for each in examples.measured),
    }


def _summary(rows: Sequence[LabelledUrl]) -> str:
    return f"{len(rows):,} URLs of {len({row.domain for row in rows}):,} domains"


def _set_linear(
    model: CompactModel, examples: Examples, rows: Sequence[LabelledUrl], options: TrainingOptions
) -> None:
    """Fit the linear part to the rows, with and without the names of their domains."""
    assert model.linear is not None
    count = np.maximum(np.bincount(examples.targets, minlength=model.shape.outputs), 1)
    rare = np.clip((count / 1_000) ** RARE, 0.7, 2.0)[examples.targets]
    weights = np.array([row.weight for row in rows]) * rare
    fitted = fit_linear(
        np.concatenate([variant["ngrams"] for variant in examples.variants]),
        np.concatenate([examples.targets] * len(examples.variants)),
        np.concatenate([weights] * len(examples.variants)),
        buckets=NGRAMS.buckets,
        outputs=model.shape.outputs,
        seed=options.seed,
        threads=options.threads or 1,
    )
    model.linear.set(fitted)
    model.linear.share.fill_(0)  # the transformer is fitted and judged on its own


def choose_share(fit: Fit, dev: Examples) -> None:
    """Choose the share of the linear part in the sum, and the temperature of the sum.

    The share is the best one on dev. The sum of two models is too confident, and a crawl multiplies
    probabilities, so the temperature is the one with the highest likelihood on dev.
    """
    model = fit.model
    assert isinstance(model, CompactModel)
    assert model.linear is not None
    found = {}
    for share in SHARES:
        model.linear.share.fill_(share)
        found[share] = fit.measure(fit.predict(dev), dev.targets)
    model.linear.share.fill_(max(SHARES, key=lambda share: found[share]))
    logits = fit.predict(dev)
    best = min(TEMPERATURES, key=lambda each: surprise(logits / each, dev.targets))
    model.linear.temperature.fill_(best)


def surprise(logits: NDArray[np.float32], targets: NDArray[np.int64]) -> float:
    """Return the mean negative log-likelihood of the targets."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    likelihoods = shifted[np.arange(len(targets)), targets] - np.log(np.exp(shifted).sum(axis=1))
    return -float(likelihoods.mean())
