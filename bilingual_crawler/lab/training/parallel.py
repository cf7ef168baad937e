"""Prepare the training of a compact `parallel`: tables of translated URLs to a model."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.metrics import f1
from bilingual_crawler.lab.labels import (
    LabelledPair,
    LabelledUrl,
    SkippedLines,
    read_pairs,
    read_urls,
)
from bilingual_crawler.lab.training.augment import made_pairs, numbered_pairs, translated_pairs
from bilingual_crawler.lab.training.compact import CompactModel, Shape, token_kinds
from bilingual_crawler.lab.training.examples import Examples, encode_pairs, with_other_words
from bilingual_crawler.lab.training.export import decisions
from bilingual_crawler.lab.training.lexicon import fit_lexicon, read_phrases
from bilingual_crawler.lab.training.loop import Fit
from bilingual_crawler.lab.training.negatives import (
    DomainUrls,
    any_other_pages,
    monolingual,
    sibling_match,
    synthetic_negatives,
)
from bilingual_crawler.lab.training.page_links import PageLinks
from bilingual_crawler.lab.training.recipe import (
    PreparedTraining,
    TrainingOptions,
    own_tokenizer,
)
from bilingual_crawler.lab.training.split import (
    DEV,
    KEPT_OUT,
    TEST,
    TRAIN,
    part,
    share_of,
    split_domains,
)
from bilingual_crawler.scoring.encode import Ngrams, UrlEncoder
from bilingual_crawler.scoring.pair_features import url_parts
from bilingual_crawler.scoring.preprocess import prepare

WORDS, WORD_NGRAMS = 8, 20
"""The words of a URL that are compared with those of the other, and the n-grams of each."""
NGRAMS = Ngrams((2, 3, 4), 65_536, 2 * WORDS * WORD_NGRAMS)
LENGTH = 40
WIDTH = 40
LEXICON = "lexicon.pt"
VOCABULARY = 8_000
DOMAIN_CAP, MEASURED_CAP, LANGUAGE_CAP = 120, 40, 10
"""The most pairs of a site to learn from and to measure on, and of a language pair to measure."""
RANDOM_NEGATIVES = 5
NEGATIVES = {"random": 5.0, "mixed": 1.5, "siblings": 1.5, "listed": 1.0}
"""The total weight of the negatives of each kind, per pair."""
AGAINST = {"any": ("random",), "hard": ("mixed", "siblings", "listed")}
"""The kinds of negatives that pairs are measured against."""
CALIBRATING = 0.12
"""The share of the sites that is left to calibrate a model that learns from all others."""
POSITIVES = 1.5
MADE = 15_000
MADE_SHARE, MADE_NEGATIVES = 1.0, 1.8
TOKENIZER_TEXTS = 20_000
HIDDEN_NGRAMS = 0.2
LARGE_SITE = -0.4
"""Exponent of a site's size in the weight of its rows: large sites do not dominate."""
LISTED_DEV = 0.3
TRUST = 2.0
"""Added to the answer for URLs that are equal but for language tokens.

Negatives of that kind are left out, so how sure it is cannot be learned.
"""
SCALES = tuple(np.geomspace(0.2, 5, 65).tolist())
"""The factors that are tried to calibrate the answers."""


class Row(NamedTuple):
    """Two URLs, whether they are a pair, and their weight; negatives also have a kind."""

    first: str
    second: str
    parallel: bool
    weight: float
    kind: str = ""
    domain: str = ""
    language_pair: str = ""


class PairTables(NamedTuple):
    """The pairs of a training run by what they are for, and the other URLs of their sites."""

    train: list[LabelledPair]
    dev: list[LabelledPair]
    test: list[LabelledPair]
    urls: Mapping[str, Sequence[str]]


def prepare_parallel(
    options: TrainingOptions, tell: Callable[[str], None] = lambda _: None
) -> PreparedTraining:
    """Read tables, split by domain, make negatives per site, encode, and build the model."""
    skipped = SkippedLines()
    pairs, urls = read_tables(options, skipped)
    given = list(read_pairs(options.dev, skipped=skipped))
    sides = _sides(pairs, urls, given, everything=options.everything)
    tables = PairTables(
        part(pairs, sides, TRAIN),
        part([*pairs, *given], sides, DEV),
        part(pairs, sides, TEST),
        {
            domain: [row.url for row in found]
            for domain, found in urls.items()
            if sides.get(domain) != KEPT_OUT
        },
    )
    prepared = prepared_from(tables, options, tell)
    prepared.facts["tables"] = ", ".join(
        path.name for path in [*options.data, *options.weak, *options.extra, *options.phrases]
    )
    prepared.facts["lines skipped"] = str(dict(skipped.reasons) or "none")
    return prepared


def read_tables(
    options: TrainingOptions, skipped: SkippedLines
) -> tuple[list[LabelledPair], dict[str, list[LabelledUrl]]]:
    """Return all labelled pairs, and the other URLs by domain."""
    pairs = [*read_pairs(options.data, skipped=skipped), *read_pairs(options.weak, skipped=skipped)]
    pairs += PageLinks(options.links, skipped=skipped).negatives_of(pairs)
    urls: defaultdict[str, list[LabelledUrl]] = defaultdict(list)
    for row in read_urls(options.extra, skipped=skipped):
        urls[row.domain].append(row)
    return pairs, urls


def prepared_from(
    tables: PairTables, options: TrainingOptions, tell: Callable[[str], None] = lambda _: None
) -> PreparedTraining:
    """Make negatives, encode and build the model for given pairs."""
    train = site_rows(tables.train, tables.urls, seed=options.seed, most=DOMAIN_CAP)
    dev = site_rows(thinned_pairs(tables.dev, options.seed), tables.urls, seed=options.seed)
    test = site_rows(thinned_pairs(tables.test, options.seed), tables.urls, seed=options.seed)
    if not (any(row.parallel for row in train) and any(row.parallel for row in dev)):
        raise ConfigurationError(
            "There are too few sites: some must be learned from and others measured on.",
            "Give more tables with --data, or a table to measure on with --dev.",
        )
    real = len(train)
    train += _made(train, _learned_urls(tables), options.seed)
    encoder = _encoder(options, train)
    learned = _examples(encoder, train, learn=True)
    learned.real = real
    parts = {
        f"{side}_{name}": _examples(encoder, against(rows, *kinds))
        for side, rows in (("dev", dev), ("test", test))
        for name, kinds in AGAINST.items()
    }
    return PreparedTraining(
        task="parallel",
        model=_model(options, encoder, learned, tell),
        encoder=encoder,
        train=learned,
        dev=_examples(encoder, against(dev, *NEGATIVES)),
        test=_examples(encoder, against(test, *NEGATIVES)),
        further=parts,
        tune=partial(_tune, parts=[parts[f"dev_{name}"] for name in AGAINST]),
        measure=lambda logits, targets: _figures(logits, targets)["macro_f1"],
        figures=lambda logits, examples: _figures(logits, examples.targets),
        facts={
            "learned from": _summary(train) + ", including synthetic ones",
            "dev": _summary(dev),
            "test": _summary(test),
            "negatives": "random match and most similar (in one and two languages), token "
            "removal, other pages of the same directory, any other page of the site; made pairs: "
            "codes put into URLs of other sites",
        },
    )


def _learned_urls(tables: PairTables) -> dict[str, Sequence[str]]:
    """Return the URLs of all sites that are not measured on, from which pairs are made."""
    measured = {pair.domain for pair in (*tables.dev, *tables.test)}
    return {domain: urls for domain, urls in tables.urls.items() if domain not in measured}


def _sides(
    pairs: Sequence[LabelledPair],
    urls: Mapping[str, Sequence[LabelledUrl]],
    given: Sequence[LabelledPair],
    *,
    everything: bool,
) -> dict[str, str]:
    """Return the part of every domain; a site without a given split may go to dev."""
    sides = split_domains([*pairs, *(row for rows in urls.values() for row in rows)])
    if given:
        measured = {pair.domain for pair in given}
        return {
            domain: DEV if domain in measured else side if side == KEPT_OUT else TRAIN
            for domain, side in sides.items()
        } | dict.fromkeys(measured, DEV)
    if everything:
        return {domain: DEV if calibrates(domain) else TRAIN for domain in sides}
    undecided = {pair.domain for pair in pairs if not pair.split}
    for domain in undecided:
        if sides[domain] == TRAIN and share_of(domain, 7) < LISTED_DEV:
            sides[domain] = DEV
    return sides


def calibrates(domain: str) -> bool:
    """Return True if a site is left to choose the weights and calibrate, when all are used."""
    return share_of(domain, 11) < CALIBRATING


def thinned_pairs(pairs: Sequence[LabelledPair], seed: int) -> list[LabelledPair]:
    """Return the pairs to measure on: a few per site and language pair, however large it is."""
    pairs = list(pairs)
    random.Random(seed).shuffle(pairs)  # noqa: S311 - a sample, not a secret
    languages: Counter[tuple[str, str, bool]] = Counter()
    sites: Counter[tuple[str, bool]] = Counter()
    kept = []
    for pair in pairs:
        language, site = (
            (pair.domain, pair.language_pair, pair.parallel),
            (pair.domain, pair.parallel),
        )
        times = 1 if pair.parallel else RANDOM_NEGATIVES
        if languages[language] < times * LANGUAGE_CAP and sites[site] < times * MEASURED_CAP:
            languages[language] += 1
            sites[site] += 1
            kept.append(pair)
    return kept


def site_rows(
    pairs: Iterable[LabelledPair],
    urls: Mapping[str, Sequence[str]],
    *,
    seed: int,
    most: int = MEASURED_CAP,
) -> list[Row]:
    """Return pairs with their negatives, site by site."""
    sites: defaultdict[str, list[LabelledPair]] = defaultdict(list)
    for pair in pairs:
        sites[pair.domain].append(pair)
    rows: list[Row] = []
    for domain in sorted(sites):
        rng = random.Random(f"{seed} {domain}")  # noqa: S311 - a sample, not a secret
        rows += _site_rows(sites[domain], urls.get(domain, ()), most, rng)
    return rows


def _site_rows(
    pairs: list[LabelledPair], urls: Sequence[str], most: int, rng: random.Random
) -> list[Row]:
    rng.shuffle(pairs)
    site = DomainUrls(pairs, urls)
    site.pairs = site.pairs[:most]
    count = max(1, len(site.pairs))
    weight = POSITIVES * count**LARGE_SITE
    rows = [_row(pair, weight) for pair in site.pairs]
    rows += [row._replace(first=row.second, second=row.first) for row in rows]
    listed = [pair for pair in pairs if not pair.parallel][: most * RANDOM_NEGATIVES]
    negatives = {
        "mixed": list(synthetic_negatives(site, seed=rng.randrange(1 << 30))),
        "random": list(any_other_pages(site, RANDOM_NEGATIVES, rng)),
        "siblings": _siblings(site, rng),
        "listed": [pair for pair in listed if not site.parallel(pair.first, pair.second)],
    }
    for kind, found in negatives.items():
        sure = [pair for pair in found if not _equal_but_for_language(pair)]
        each = NEGATIVES[kind] * count ** (1 + LARGE_SITE) / max(1, len(sure))
        rows += [_row(pair, each, kind) for pair in sure]
    return rows


def _row(pair: LabelledPair, weight: float, kind: str = "") -> Row:
    return Row(
        pair.first, pair.second, pair.parallel, weight, kind, pair.domain, pair.language_pair
    )


def _siblings(site: DomainUrls, rng: random.Random) -> list[LabelledPair]:
    """Return other articles of the same section, in two languages and in one."""
    made = [
        sibling_match(each, site, rng)
        for pair in site.pairs
        for each in (pair, pair, monolingual(pair, rng))
    ]
    return [pair for pair in made if pair is not None]


def _equal_but_for_language(pair: LabelledPair) -> bool:
    """Return True if a negative is most likely a pair that the tables lack."""
    one, two = url_parts(pair.first).key, url_parts(pair.second).key
    return one.key == two.key and one.tokens != two.tokens


def against(rows: Sequence[Row], *kinds: str) -> list[Row]:
    """Return the pairs, each in one order, and the negatives of some kinds."""
    pairs = {frozenset(row[:2]): row for row in rows if row.parallel}
    return [*pairs.values(), *(row for row in rows if row.kind in kinds)]


def _made(rows: Sequence[Row], learned: Mapping[str, Sequence[str]], seed: int) -> list[Row]:
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    kinds = [
        made_pairs(learned, MADE, rng),
        translated_pairs(learned, MADE, rng),
        numbered_pairs(learned, MADE // 3, rng),
    ]
    whole = sum(row.weight for row in rows if row.parallel)
    made: list[Row] = []
    for place, parallel, share in ((0, True, MADE_SHARE), (1, False, MADE_NEGATIVES)):
        found = [pair for kind in kinds for pair in kind[place]]
        made += [Row(*pair, parallel, share * whole / max(1, len(found))) for pair in found]
    return made


def _encoder(options: TrainingOptions, rows: Sequence[Row]) -> UrlEncoder:
    every = sorted({url for row in rows for url in row[:2]})
    drawn = random.Random(options.seed).sample(every, min(len(every), TOKENIZER_TEXTS))  # noqa: S311
    tokenizer = own_tokenizer(options, map(prepare, drawn), VOCABULARY, digits=True)
    return UrlEncoder(
        tokenizer, options.length or LENGTH, NGRAMS, compares=True, word_ngrams=WORD_NGRAMS
    )


def _model(
    options: TrainingOptions, encoder: UrlEncoder, train: Examples, tell: Callable[[str], None]
) -> CompactModel:
    torch.manual_seed(options.seed)
    model = CompactModel(
        Shape(
            outputs=1,
            vocabulary=encoder.tokenizer.get_vocab_size(),
            layers=1,
            length=encoder.max_length,
            buckets=NGRAMS.buckets,
            width=WIDTH,
            word_ngrams=WORD_NGRAMS,
            pair=True,
        )
    )
    assert model.comparison is not None
    model.comparison.know(token_kinds(encoder.tokenizer), train.variants[0]["features"])
    if options.phrases:
        model.comparison.lexicon.load_state_dict(lexicon_of(options, tell))
    return model


def lexicon_of(options: TrainingOptions, tell: Callable[[str], None]) -> dict[str, torch.Tensor]:
    """Return the vectors of words, learned once per folder, since it takes minutes."""
    path = options.out / LEXICON
    if options.resume and path.exists():
        found: dict[str, torch.Tensor] = torch.load(path)
        return found
    phrases = read_phrases(options.phrases)
    if not len(phrases.shares):
        raise ConfigurationError(
            "The tables of phrases have no usable row.",
            "A row is: language, English phrase, translation, separated by tabs.",
        )

    def show(step: int, steps: int, loss: float) -> None:
        tell(f"Learning words from phrases: step {step:,} of {steps:,}, loss {loss:.2f}")

    learned = fit_lexicon(phrases, NGRAMS, WIDTH, seed=options.seed, show=show).state_dict()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(learned, path)
    return learned


def _examples(encoder: UrlEncoder, rows: Sequence[Row], *, learn: bool = False) -> Examples:
    arrays = encode_pairs(encoder, [row[:2] for row in rows])
    targets = np.array([row.parallel for row in rows], dtype=np.int64)
    if not learn:
        return Examples([arrays], targets)
    other = with_other_words(arrays, encoder.tokenizer, np.random.default_rng(0))
    weights = np.array([row.weight for row in rows])
    return Examples([arrays, other], targets, weights, HIDDEN_NGRAMS)


def _figures(logits: NDArray[np.float32], targets: NDArray[np.int64]) -> dict[str, float]:
    found, wanted = decisions(logits) == 1, targets == 1
    positive, negative = f1(found, wanted), f1(~found, ~wanted)
    return {
        "macro_f1": (positive + negative) / 2,
        "positive_f1": positive,
        "negative_f1": negative,
    }


def _tune(fit: Fit, _dev: Examples, parts: Sequence[Examples]) -> None:
    """Calibrate the output on sites that were not learned from.

    First it is shifted so that 0.5 splits the pairs best from each kind of negatives, then scaled
    so that its answers are as likely as they say. The cut lies halfway between two answers, never
    on one, so that a graph with other rounding makes the same decisions.
    """
    predictions = [(fit.predict(examples), examples.targets) for examples in parts]
    cut = _best_cut(predictions)
    scale = min(SCALES, key=lambda scale: _log_loss(predictions, cut, scale))
    model = fit.model
    assert isinstance(model, CompactModel)
    assert model.comparison is not None
    with torch.no_grad():
        model.comparison.last.bias.sub_(cut)
        for layer in (model.comparison.last, model.transformer.classifier.out_proj):
            layer.weight.mul_(scale)
            layer.bias.mul_(scale)
    model.trust = TRUST


Predictions = Sequence[tuple[NDArray[np.float32], NDArray[np.int64]]]


def _best_cut(predictions: Predictions) -> float:
    answers = np.unique(np.concatenate([logits.ravel() for logits, _ in predictions]).round(2))
    middles = (answers[1:] + answers[:-1]) / 2
    wanted = np.quantile(predictions[0][0], np.linspace(0.5, 0.99, 99))
    places = np.searchsorted(middles, wanted).clip(0, max(0, len(middles) - 1))
    cuts = middles[np.unique(places)] if len(middles) else wanted

    def worth(cut: float) -> float:
        return sum(_figures(logits - cut, targets)["macro_f1"] for logits, targets in predictions)

    return float(max(cuts, key=worth))


def _log_loss(predictions: Predictions, cut: float, scale: float) -> float:
    losses = [
        np.logaddexp(0, np.where(targets == 1, -1, 1) * scale * (logits[:, 0] - cut)).mean()
        for logits, targets in predictions
    ]
    return float(sum(losses))


def _summary(rows: Sequence[Row]) -> str:
    count = sum(row.parallel for row in rows)
    return f"{count:,} pairs and {len(rows) - count:,} negatives"
