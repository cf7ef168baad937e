"""Cross-validate `parallel` by site: figures for sites that no part of a model has seen.

The sites of all tables are dealt into folds. For every fold a model is trained on the others, as a
shipped one is, and the graph that a crawl would load answers for the fold, beside token stripping
and a logistic regression on the same comparisons. Pairs are measured against any other page of
their site, and against pages that are hard to tell from the right one: the most similar ones,
changed URLs, and other pages of the same directory.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bilingual_crawler.lab.evaluation.metrics import f1
from bilingual_crawler.lab.labels import LabelledPair, LabelledUrl, SkippedLines
from bilingual_crawler.lab.training.cross_validation import (
    ANSWERS,
    FIGURES,
    TABLE,
    fold_of,
)
from bilingual_crawler.lab.training.examples import Examples
from bilingual_crawler.lab.training.export import MODEL, run_graph
from bilingual_crawler.lab.training.parallel import (
    AGAINST,
    LANGUAGE_CAP,
    LEXICON,
    MEASURED_CAP,
    NEGATIVES,
    PairTables,
    against,
    calibrates,
    lexicon_of,
    prepared_from,
    read_tables,
    site_rows,
    thinned_pairs,
)
from bilingual_crawler.lab.training.recipe import Show, TrainingOptions, carry_out
from bilingual_crawler.scoring.pair_features import FEATURES
from bilingual_crawler.store.durable import replacing

HALF = 0.5
LEAST_PAIRS, LEAST_SITES = 30, 5
"""What a language pair needs to be shown on its own."""
BINS = 10
STRIPPED = FEATURES.index("equal but for language tokens")


class PairAnswer(NamedTuple):
    """Two URLs' label, where they are from, and what each way of telling says of them."""

    parallel: bool
    kind: str
    domain: str
    language_pair: str
    stripping: float
    linear: float
    model: float


WAYS = {
    "stripping": "token stripping",
    "linear": "logistic regression on the comparisons",
    "model": "compact model",
}
MEASURED_AGAINST = {**AGAINST, "section": ("siblings",)}
TITLES = {
    "any": "any other page",
    "hard": "pages hard to tell apart",
    "section": "other pages of the same directory",
}


def cross_validate_pairs(
    options: TrainingOptions, folds: int, show: Show, tell: Callable[[str], None]
) -> str:
    """Train and ask for every fold, then write and return the table.

    A fold that has answered is not trained again, and one that was killed goes on.
    """
    pairs, urls = read_tables(options, SkippedLines())
    if options.phrases:
        if not (options.out / LEXICON).exists():
            tell("Learning words from phrases")
        lexicon_of(replace(options, resume=True), lambda _: None)
    answers: list[PairAnswer] = []
    for fold in range(folds):
        folder = options.out / f"fold-{fold}"
        if not (folder / ANSWERS).exists():
            tell(f"Fold {fold + 1} of {folds}")
            _answer(_tables(pairs, urls, fold, folds), folder, options, show, tell)
        rows = json.loads((folder / ANSWERS).read_text("utf-8"))
        answers += [PairAnswer(*each) for each in rows]
    text = table(answers, folds)
    (options.out / TABLE).write_text(text, encoding="utf-8")
    (options.out / FIGURES).write_text(json.dumps(figures(answers), indent=1), encoding="utf-8")
    return text


def _tables(
    pairs: Sequence[LabelledPair],
    urls: Mapping[str, Sequence[LabelledUrl]],
    fold: int,
    folds: int,
) -> PairTables:
    def held(domain: str) -> bool:
        return fold_of(domain, folds) == fold

    return PairTables(
        [pair for pair in pairs if not held(pair.domain) and not calibrates(pair.domain)],
        [pair for pair in pairs if not held(pair.domain) and calibrates(pair.domain)],
        [pair for pair in pairs if held(pair.domain)],
        {domain: [row.url for row in found] for domain, found in urls.items()},
    )


def _answer(
    tables: PairTables,
    folder: Path,
    options: TrainingOptions,
    show: Show,
    tell: Callable[[str], None],
) -> None:
    here = replace(options, out=folder, skip_test=True, resume=True)
    if options.phrases and not (folder / LEXICON).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / LEXICON).write_bytes((options.out / LEXICON).read_bytes())
    prepared = prepared_from(tables, here, tell)
    carry_out(prepared, here, show)
    tell("Fitting a logistic regression to the same rows")
    said = _probabilities(run_graph(folder / MODEL, prepared.test)[:, 0])
    linear = _linear(prepared.train, prepared.test)
    stripped = prepared.test.variants[0]["features"][:, STRIPPED]
    measured = thinned_pairs(tables.test, here.seed)
    rows = against(site_rows(measured, tables.urls, seed=here.seed), *NEGATIVES)
    found = [
        PairAnswer(row.parallel, row.kind, row.domain, row.language_pair, *map(float, each))
        for row, each in zip(rows, zip(stripped, linear, said, strict=True), strict=True)
    ]
    with replacing(folder / ANSWERS) as fresh:
        fresh.write_text(json.dumps(found), encoding="utf-8")


def _probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-logits.astype(np.float64)))


def _linear(train: Examples, test: Examples) -> NDArray[np.float64]:
    """Fit the comparisons of the rows that are from tables; return its answers for the fold."""
    assert train.weights is not None
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky"))
    weights = train.weights[: train.real]
    model.fit(
        train.variants[0]["features"][: train.real],
        train.targets[: train.real],
        logisticregression__sample_weight=weights / weights.mean(),
    )
    return np.asarray(model.predict_proba(test.variants[0]["features"])[:, 1])


def figures(answers: Sequence[PairAnswer]) -> dict[str, Any]:
    """Return the figures of every way against both kinds of negatives, and by language pair."""
    found: dict[str, Any] = {
        name: {way: _of_way(_against(answers, name), way) for way in WAYS}
        for name in MEASURED_AGAINST
    }
    found["sites"] = len({each.domain for each in answers})
    found["pairs"] = sum(each.parallel for each in answers)
    found["calibration"] = calibration(_against(answers, "any"))
    found["by_language_pair"] = {
        pair: {way: _of_way(rows, way) for way in WAYS} | {"pairs": sum(r.parallel for r in rows)}
        for pair, rows in sorted(_by_language_pair(_against(answers, "any")).items())
    }
    found["unseen_sites"] = {
        f"{name}_{key}": value
        for name in MEASURED_AGAINST
        for key, value in found[name]["model"].items()
        if key.endswith("f1")
    }
    return found


def _against(answers: Iterable[PairAnswer], name: str) -> list[PairAnswer]:
    return [each for each in answers if each.parallel or each.kind in MEASURED_AGAINST[name]]


def _of_way(answers: Sequence[PairAnswer], way: str) -> dict[str, float]:
    said = np.array([getattr(each, way) for each in answers]) > HALF
    wanted = np.array([each.parallel for each in answers])
    hits = int((said & wanted).sum())
    positive, negative = f1(said, wanted), f1(~said, ~wanted)
    return {
        "macro_f1": (positive + negative) / 2,
        "positive_f1": positive,
        "precision": hits / max(1, int(said.sum())),
        "recall": hits / max(1, int(wanted.sum())),
    }


def _by_language_pair(answers: Iterable[PairAnswer]) -> dict[str, list[PairAnswer]]:
    """Return the answers of each language pair that has enough pairs of enough sites."""
    groups: defaultdict[str, list[PairAnswer]] = defaultdict(list)
    for each in answers:
        if each.language_pair:
            groups[each.language_pair].append(each)

    def enough(rows: list[PairAnswer]) -> bool:
        positive = [each for each in rows if each.parallel]
        return len(positive) >= LEAST_PAIRS and len({e.domain for e in positive}) >= LEAST_SITES

    return {pair: rows for pair, rows in groups.items() if enough(rows)}


def calibration(answers: Sequence[PairAnswer]) -> list[tuple[int, float, float]]:
    """Return, by tenths of the model's probability: rows, their mean, and the share of pairs."""
    said = np.array([each.model for each in answers])
    wanted = np.array([each.parallel for each in answers])
    places = np.minimum((said * BINS).astype(int), BINS - 1)
    return [
        (int(chosen.sum()), float(said[chosen].mean()), float(wanted[chosen].mean()))
        for chosen in (places == place for place in range(BINS))
        if chosen.any()
    ]


def table(answers: Sequence[PairAnswer], folds: int) -> str:
    """Return the figures in Markdown."""
    found = figures(answers)
    intro = (
        f"{found['pairs']:,} pairs of {found['sites']:,} sites, {folds} folds by site, at most "
        f"{LANGUAGE_CAP} pairs per site and language pair and {MEASURED_CAP} per site."
    )
    lines = [intro]
    for name, title in TITLES.items():
        others = sum(not each.parallel for each in _against(answers, name))
        lines += [
            "",
            f"| against {title} ({others:,}) | macro F1 | positive F1 | precision | recall |",
            "|---|---|---|---|---|",
        ]
        for way, label in WAYS.items():
            cells = " | ".join(f"{value:.3f}" for value in found[name][way].values())
            lines.append(f"| {label} | {cells} |")
    lines += [
        "",
        "| macro F1, any other page | pairs | stripping | regression | compact |",
        "|---|---|---|---|---|",
    ]
    for pair, each in found["by_language_pair"].items():
        cells = " | ".join(f"{each[way]['macro_f1']:.3f}" for way in WAYS)
        lines.append(f"| {pair} | {each['pairs']} | {cells} |")
    lines += ["", "| probability | rows | share of pairs |", "|---|---|---|"]
    lines += [
        f"| {mean:.2f} | {rows:,} | {share:.2f} |" for rows, mean, share in found["calibration"]
    ]
    return "\n".join([*lines, ""])
