"""Prepare the training of `url2lang`: tables of URLs and languages to examples and model.

Sites, not URLs, are what can be learned from: a site's URLs are capped and share a weight, and the
frequent languages are drawn less often than they occur. Of the sites for training, some are kept
from the readers of the compact model and left to its judge.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.metrics import f1, macro_f1, well_covered
from bilingual_crawler.lab.labels import LabelledUrl, SkippedLines, read_urls
from bilingual_crawler.lab.training.augment import (
    code_anywhere,
    coded,
    codes_of,
    home_pages,
    suffixes_by_language,
    without_name,
)
from bilingual_crawler.lab.training.compact_url2lang import (
    CompactUrl2Lang,
    LanguageShape,
    fit_judge,
)
from bilingual_crawler.lab.training.examples import Examples, encode_urls
from bilingual_crawler.lab.training.export import decisions
from bilingual_crawler.lab.training.linear import (
    LinearModel,
    fit_linear,
    joined_ids,
    token_statistics,
)
from bilingual_crawler.lab.training.loop import Fit
from bilingual_crawler.lab.training.recipe import (
    PreparedTraining,
    TrainingOptions,
    can_resume,
    own_tokenizer,
)
from bilingual_crawler.lab.training.split import (
    DEV,
    TEST,
    TRAIN,
    cap,
    part,
    share_of,
    split_domains,
)
from bilingual_crawler.languages import all_languages, find_language
from bilingual_crawler.scoring.encode import Announced, Arrays, Ngrams, UrlEncoder
from bilingual_crawler.scoring.models import UNKNOWN
from bilingual_crawler.scoring.preprocess import prepare
from bilingual_crawler.urls.language_tokens import announced_languages

NGRAMS = Ngrams((2, 3, 4, 5), 65_536, 160)
HOST_NGRAMS = Ngrams((2, 3, 4, 5), 16_384, 80)
WORDS = 32_768
LENGTH = 32
VOCABULARY = 16_000
WEAK = 0.5
SHARES = {"synthetic": 0.3, "made": 0.15, "neutral": 0.02}
"""The total weight of rows that are not in the tables, against that of those that are."""
DOMAIN_CAP, JUDGED_CAP = 40, 15
FEWEST_URLS, FEWEST_DOMAINS, MANY_URLS = 8, 5, 25
MEASURED = {"urls": 15, "sites": 5}
"""The URLs and sites that a language needs to be measured."""
JUDGED = 0.15
"""The share of the sites that is left to the judge."""
RARE = -0.35
"""Exponent of the size of a language, and of a language on a site, in the weight of a URL."""
LARGE_SITE = -0.5
"""Exponent of a site's size in the weight of a URL for the judge.

Languages count as they occur, or the judge prefers rare ones. `unknown` never occurs in what is
measured.
"""
CODED_JUDGED, CODED_SHARE = 2 / 3, 0.2
"""URLs with a code put in, for the judge: how many per real one, and their total weight."""
NEUTRAL = 4
"""A site in so many languages whose URLs announce none is neutral."""
FOR_JUDGE = "dev, which the judge is fitted to"
CODED, HOME_PAGES = 120, 40
TOKENIZER_TEXTS = 120_000


class UrlTables(NamedTuple):
    """The rows of a training run by what they are for, and those made besides."""

    train: list[LabelledUrl]
    judged: list[LabelledUrl]
    test: list[LabelledUrl]
    synthetic: list[LabelledUrl]


def prepare_url2lang(
    options: TrainingOptions, _tell: Callable[[str], None] = lambda _: None
) -> PreparedTraining:
    """Read tables, split, sample, encode, and build the model."""
    skipped = SkippedLines()
    rows = read_rows(options, skipped)
    given = list(read_urls(options.dev, skipped=skipped))
    sides = split_domains(rows)
    if options.everything:
        sides = dict.fromkeys(sides, TRAIN)
    kept = {row.domain for row in given}
    train = [row for row in part(rows, sides, TRAIN) if row.domain not in kept]
    judged = given or part(rows, sides, DEV)
    if options.everything or not judged:
        judged, train = by_share(train, JUDGED)
    tables = UrlTables(train, judged, part(rows, sides, TEST), list(read_urls(options.extra)))
    prepared = prepared_from(tables, options)
    prepared.facts["tables"] = ", ".join(
        path.name for path in [*options.data, *options.weak, *options.extra]
    )
    prepared.facts["lines skipped"] = str(dict(skipped.reasons) or "none")
    return prepared


def read_rows(options: TrainingOptions, skipped: SkippedLines) -> list[LabelledUrl]:
    """Return the rows of all tables; less trusted ones have a lower weight."""
    return [
        *read_urls(options.data, skipped=skipped),
        *read_urls(options.weak, weight=WEAK, skipped=skipped),
    ]


def by_share(
    rows: Sequence[LabelledUrl], share: float, seed: int = 11
) -> tuple[list[LabelledUrl], list[LabelledUrl]]:
    """Return the rows of about a share of the domains, and the rest."""
    drawn = {domain for domain in {row.domain for row in rows} if share_of(domain, seed) < share}
    return [row for row in rows if row.domain in drawn], [
        row for row in rows if row.domain not in drawn
    ]


def prepared_from(tables: UrlTables, options: TrainingOptions) -> PreparedTraining:
    """Sample, encode and build the model for given rows."""
    labels = labels_of(tables.train)
    learned = sampled(tables.train, options)
    judged = thinned(tables.judged, JUDGED_CAP, options.seed)
    if len({row.language for row in learned}) < 2 or not judged:  # noqa: PLR2004 - two languages
        raise ConfigurationError(
            "There is too little to learn from: a model needs URLs of two languages or more, and "
            "some domains must be left to measure on.",
            "Give more tables with --data, or a table to measure on with --dev.",
        )
    known = set(labels)
    further = {
        "synthetic": [row for row in tables.synthetic if row.language in known],
        "made": _made(learned, labels, options.seed),
        "neutral": neutral(learned),
    }
    encoder = _encoder(
        options, [row for rows in (learned, *further.values()) for row in rows], labels
    )
    numbers = numbered(labels)
    examples = _training(encoder, learned, further, numbers)
    model = _model(options, encoder, examples, len(labels))
    measured = _classes(judged, numbers)
    return PreparedTraining(
        task="url2lang",
        model=model,
        encoder=encoder,
        train=examples,
        dev=measuring(encoder, judged, numbers),
        test=measuring(encoder, tables.test, numbers),
        measure=lambda logits, targets: macro_f1(decisions(logits), targets, measured),
        figures=figures_of,
        tune=partial(_tune, unseen=for_judge(encoder, judged, labels, options.seed)),
        labels=labels,
        facts={
            "learned from": _summary(learned),
            "added": ", ".join(f"{len(rows):,} {kind}" for kind, rows in further.items()),
            FOR_JUDGE: described_judged(judged),
            "test": _summary(tables.test),
            "labels": f"{len(labels) - 1} languages and unknown",
        },
    )


def _tune(fit: Fit, _: Examples, unseen: Examples) -> None:
    model = fit.model
    assert isinstance(model, CompactUrl2Lang)
    fit_judge(model, unseen, seed=fit.schedule.seed)


def for_judge(
    encoder: UrlEncoder, judged: Sequence[LabelledUrl], labels: Sequence[str], seed: int
) -> Examples:
    """Return what the judge is fitted to: URLs of sites left to it, and those with codes put in."""
    made = with_any_code(judged, labels, seed)
    examples = measuring(encoder, [*judged, *made], numbered(labels))
    examples.weights = judged_weights(judged, made)
    return examples


def numbered(labels: Sequence[str]) -> dict[str, int]:
    """Return the numbers of labels."""
    return {label: number for number, label in enumerate(labels)}


def with_any_code(
    rows: Sequence[LabelledUrl], labels: Sequence[str], seed: int
) -> list[LabelledUrl]:
    """Return URLs that announced nothing with the code of a language; sites are drawn alike.

    All languages are drawn alike too: what a code is worth does not depend on how many sites of the
    tables have it.
    """
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    plain: defaultdict[str, list[LabelledUrl]] = defaultdict(list)
    for row in rows:
        if not announced_languages(row.url):
            plain[row.domain].append(row)
    sites = [plain[domain] for domain in sorted(plain)]
    made = []
    for _ in range(round(CODED_JUDGED * len(rows)) if sites else 0):
        row, label = rng.choice(rng.choice(sites)), rng.choice(labels[:-1])
        code = rng.choice(codes_of(find_language(label)))
        made.append(row._replace(url=code_anywhere(row.url, code, rng), language=label))
    return made


def judged_weights(
    judged: Sequence[LabelledUrl], made: Sequence[LabelledUrl]
) -> NDArray[np.float64]:
    """Return the weights of rows for the judge: large sites count less, in all languages too."""
    here = Counter((row.domain, row.language) for row in judged)
    sites = Counter(row.domain for row in judged)
    found = [
        row.weight * here[row.domain, row.language] ** RARE * sites[row.domain] ** LARGE_SITE
        for row in judged
    ]
    weights = np.array(found, dtype=np.float64)
    weights = np.minimum(weights, 8 * weights.mean())
    each = CODED_SHARE * weights.sum() / max(1, len(made))
    return np.concatenate([weights, np.full(len(made), each)])


def labels_of(rows: Iterable[LabelledUrl]) -> list[str]:
    """Return the languages that CLD2 names and those with enough URLs, and `unknown`.

    A language without any URL is still recognised by its codes, names and countries.
    """
    count: Counter[str] = Counter()
    domains: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        count[row.language] += 1
        domains[row.language].add(row.domain)
    found = {
        language
        for language, urls in count.items()
        if urls >= MANY_URLS or (urls >= FEWEST_URLS and len(domains[language]) >= FEWEST_DOMAINS)
    }
    named = {language.code for language in all_languages() if language.cld2}
    return [*sorted((found | named) - {UNKNOWN}), UNKNOWN]


def neutral(rows: Sequence[LabelledUrl]) -> list[LabelledUrl]:
    """Return URLs whose language nobody can know, as `unknown`: of short links, videos and files.

    They are those of sites in many languages that announce none of them.
    """
    languages: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        if not announced_languages(row.url):
            languages[row.domain].add(row.language)
    return [
        row._replace(language=UNKNOWN)
        for row in rows
        if len(languages[row.domain]) >= NEUTRAL and not announced_languages(row.url)
    ]


def sampled(rows: Sequence[LabelledUrl], options: TrainingOptions) -> list[LabelledUrl]:
    """Return the rows to learn from: few of each site, and not too many of a language."""
    return cap(thinned(rows, DOMAIN_CAP, options.seed), options.cap, seed=options.seed)


def thinned(rows: Sequence[LabelledUrl], most: int, seed: int) -> list[LabelledUrl]:
    """Return at most so many URLs per language and domain, the most trusted ones first."""
    rows = list(rows)
    random.Random(seed).shuffle(rows)  # noqa: S311 - a sample, not a secret
    rows.sort(key=lambda row: -row.weight)
    seen: Counter[tuple[str, str]] = Counter()
    urls: set[str] = set()
    kept = []
    for row in rows:
        if row.url not in urls and seen[row.domain, row.language] < most:
            seen[row.domain, row.language] += 1
            urls.add(row.url)
            kept.append(row)
    return kept


def _made(rows: Sequence[LabelledUrl], labels: Sequence[str], seed: int) -> list[LabelledUrl]:
    """Make URLs whose only sign of a language is an added code, or their domain.

    There are most for languages with few URLs, and not more than the real ones in all.
    """
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    plain = [row.url for row in rows if not announced_languages(row.url)]
    names = [row.domain.partition(".")[0] for row in rows]
    count = Counter(row.language for row in rows)
    suffixes = suffixes_by_language(((row.url, row.language) for row in rows), labels[:-1])
    most = 1 + len(rows) // len(labels)
    made = []
    for label in labels[:-1]:
        wanted = max(CODED // 4, min(CODED, 2 * CODED - count[label] // 8))
        urls = [
            *coded(label, plain, min(wanted, most), rng),
            *home_pages(suffixes[label], names, min(HOME_PAGES, most), rng),
        ]
        made += [LabelledUrl(url, label) for url in urls]
    return made


def _encoder(
    options: TrainingOptions, rows: Sequence[LabelledUrl], labels: Sequence[str]
) -> UrlEncoder:
    drawn = random.Random(options.seed).sample(rows, min(len(rows), TOKENIZER_TEXTS))  # noqa: S311
    texts = (prepare(without_name(row.url, row.domain)) for row in drawn)
    tokenizer = own_tokenizer(options, texts, VOCABULARY, digits=False)
    announced = Announced(HOST_NGRAMS, WORDS, tuple(labels))
    return UrlEncoder(tokenizer, options.length or LENGTH, NGRAMS, announced=announced)


def _model(
    options: TrainingOptions, encoder: UrlEncoder, examples: Examples, outputs: int
) -> CompactUrl2Lang:
    torch.manual_seed(options.seed)
    model = CompactUrl2Lang(
        LanguageShape(
            outputs=outputs,
            path_buckets=NGRAMS.buckets,
            host_buckets=HOST_NGRAMS.buckets,
            words=WORDS,
            vocabulary=encoder.tokenizer.get_vocab_size(),
            length=encoder.max_length,
        )
    )
    if not can_resume(options):
        model.start_from(token_statistics(examples, outputs))
        model.linear.set(linear_model(model.shape, examples, len(examples), options))
    return model


def linear_model(
    shape: LanguageShape,
    examples: Examples,
    count: int,
    options: TrainingOptions,
    *,
    by_rarity: bool = False,
) -> LinearModel:
    """Fit a linear model of everything but the tokens to the first `count` rows."""
    assert examples.weights is not None
    weights = examples.weights[:count]
    return fit_linear(
        joined_ids(examples.variants[0], shape.tables)[:count],
        examples.targets[:count],
        weights / weights.mean(),
        buckets=sum(shape.tables.values()),
        outputs=shape.outputs,
        by_rarity=by_rarity,
        seed=options.seed,
        threads=options.threads or 1,
    )


def _training(
    encoder: UrlEncoder,
    learned: Sequence[LabelledUrl],
    further: dict[str, list[LabelledUrl]],
    numbers: dict[str, int],
) -> Examples:
    rows = [row for rows in (learned, *further.values()) for row in rows]
    targets = targets_of(rows, numbers)
    variants = [
        encode_urls(encoder, [row.url for row in rows]),
        encode_urls(encoder, [without_name(row.url, row.domain) for row in rows]),
    ]
    weights = [_weights(learned)]
    whole = weights[0].sum()
    for kind, made in further.items():
        each = _weights(made)
        weights.append(each * SHARES[kind] * whole / max(each.sum(), 1e-9))
    return Examples(variants, targets, np.concatenate(weights))


def _weights(rows: Sequence[LabelledUrl]) -> NDArray[np.float64]:
    """Return how often rows are drawn: large sites and frequent languages do not dominate."""
    languages = Counter(row.language for row in rows)
    sites = Counter((row.domain, row.language) for row in rows)
    found = [
        row.weight * languages[row.language] ** RARE * sites[row.domain, row.language] ** RARE
        for row in rows
    ]
    weights = np.array(found, dtype=np.float64)
    return np.minimum(weights, 8 * weights.mean()) if found else weights


def measuring(
    encoder: UrlEncoder, rows: Sequence[LabelledUrl], numbers: dict[str, int]
) -> Examples:
    """Return rows encoded as they are, with the languages that have enough of them."""
    encoded: Arrays = encode_urls(encoder, [row.url for row in rows])
    return Examples([encoded], targets_of(rows, numbers), measured=_classes(rows, numbers))


def _classes(rows: Sequence[LabelledUrl], numbers: dict[str, int]) -> tuple[int, ...]:
    """Return the languages with enough URLs and domains in the rows; all if none has."""
    found = tuple(
        numbers[each] for each in sorted(well_covered(rows, **MEASURED)) if each in numbers
    )
    return found or tuple(range(len(numbers) - 1))


def targets_of(rows: Sequence[LabelledUrl], numbers: dict[str, int]) -> NDArray[np.int64]:
    """Return the numbers of the languages of rows; one without a label is `unknown`."""
    unknown = numbers[UNKNOWN]
    return np.array([numbers.get(row.language, unknown) for row in rows], dtype=np.int64)


def figures_of(logits: NDArray[np.float32], examples: Examples) -> dict[str, float]:
    """Return macro F1, accuracy and the worst F1 of a language."""
    found, targets = decisions(logits), examples.targets
    return {
        "macro_f1": macro_f1(found, targets, examples.measured),
        "languages": len(examples.measured),
        "accuracy": float((found == targets).mean()),
        "worst_f1": min(f1(found == each, targets == each) for each in examples.measured),
    }


def described_judged(rows: Sequence[LabelledUrl]) -> str:
    """Return what the judge is fitted to, for the card."""
    return f"{_summary(rows)}; two thirds as many with codes put in, a sixth of the weight"


def _summary(rows: Sequence[LabelledUrl]) -> str:
    return f"{len(rows):,} URLs of {len({row.domain for row in rows}):,} domains"
