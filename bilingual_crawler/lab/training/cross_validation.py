"""Cross-validate `url2lang` by site: figures for sites that no part of a model has seen.

The sites of all tables are dealt into folds. For every fold a model is trained on the others, as a
shipped one is, and the graph that a crawl would load answers for the fold. So does a linear model
that is given the same numbers, and the rules. A site counts with a few URLs per language, however
large it is.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.lab.evaluation.metrics import f1, macro_f1, well_covered
from bilingual_crawler.lab.labels import LabelledUrl, SkippedLines, read_urls
from bilingual_crawler.lab.training.compact_url2lang import CompactUrl2Lang
from bilingual_crawler.lab.training.export import MODEL, decisions, run_graph
from bilingual_crawler.lab.training.linear import joined_ids
from bilingual_crawler.lab.training.recipe import (
    PreparedTraining,
    Show,
    TrainingOptions,
    carry_out,
)
from bilingual_crawler.lab.training.split import share_of
from bilingual_crawler.lab.training.url2lang import (
    JUDGED,
    MEASURED,
    UrlTables,
    by_share,
    linear_model,
    prepared_from,
    read_rows,
    sampled,
    thinned,
)
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.urls.language_tokens import announced_languages

ANSWERS, TABLE, FIGURES = "answers.json", "cross-validation.md", "cross-validation.json"
MEASURED_CAP = 10
DEALT = 5
"""The seed that deals sites into folds; another one than those of splits and judges."""
FREQUENT = 30
"""URLs from which on a language is compared with the rules on its own."""
MOST_CONFUSED = 25
AT_ONCE = 1_000


class Answer(NamedTuple):
    """The language of a URL, and what each way of telling it says; "" if it says nothing."""

    language: str
    domain: str
    rules: str
    linear: str
    model: str

    @property
    def cascade(self) -> str:
        """The rules where they say something, and the model elsewhere."""
        return self.rules or self.model


WAYS = ("rules", "linear", "cascade", "model")
NAMES = {
    "rules": "ISO-code rules",
    "linear": "linear model of the same numbers",
    "cascade": "rules where they speak, else the compact model",
    "model": "compact model",
}


def cross_validate(
    options: TrainingOptions, folds: int, show: Show, tell: Callable[[str], None]
) -> str:
    """Train and ask for every fold, then write and return the table.

    A fold that has answered is not trained again, and one that was killed goes on.
    """
    rows = read_rows(options, SkippedLines())
    synthetic = list(read_urls(options.extra))
    answers: list[Answer] = []
    for fold in range(folds):
        folder = options.out / f"fold-{fold}"
        if not (folder / ANSWERS).exists():
            tell(f"Fold {fold + 1} of {folds}")
            _answer(_tables(rows, synthetic, fold, folds, options), folder, options, show, tell)
        answers += [Answer(*each) for each in json.loads((folder / ANSWERS).read_text("utf-8"))]
    text = table(answers, folds)
    (options.out / TABLE).write_text(text, encoding="utf-8")
    (options.out / FIGURES).write_text(json.dumps(figures(answers), indent=1), encoding="utf-8")
    return text


def _tables(
    rows: Sequence[LabelledUrl],
    synthetic: list[LabelledUrl],
    fold: int,
    folds: int,
    options: TrainingOptions,
) -> UrlTables:
    held = {each for each in {row.domain for row in rows} if fold_of(each, folds) == fold}
    judged, train = by_share([row for row in rows if row.domain not in held], JUDGED)
    trusted = [row for row in rows if row.domain in held and row.weight == 1.0]
    return UrlTables(train, judged, thinned(trusted, MEASURED_CAP, options.seed), synthetic)


def fold_of(domain: str, folds: int) -> int:
    """Return the number of the fold that a site is in."""
    return int(share_of(domain, DEALT) * folds)


def _answer(
    tables: UrlTables,
    folder: Path,
    options: TrainingOptions,
    show: Show,
    tell: Callable[[str], None],
) -> None:
    here = replace(options, out=folder, skip_test=True, resume=True)
    prepared = prepared_from(tables, here)
    assert prepared.labels is not None
    carry_out(prepared, here, show)
    tell("Fitting a linear model to the same rows")
    said = decisions(run_graph(folder / MODEL, prepared.test))
    linear = _linear(prepared, len(sampled(tables.train, options)), options)
    found = [
        Answer(
            row.language,
            row.domain,
            rule_of(row.url),
            prepared.labels[one],
            prepared.labels[two],
        )
        for row, one, two in zip(tables.test, linear.tolist(), said.tolist(), strict=True)
    ]
    with replacing(folder / ANSWERS) as fresh:
        fresh.write_text(json.dumps(found), encoding="utf-8")


def rule_of(url: str) -> str:
    """Return the language that the rules name, if it is one."""
    named = announced_languages(url)
    return next(iter(named)) if len(named) == 1 else ""


def _linear(prepared: PreparedTraining, count: int, options: TrainingOptions) -> NDArray[np.int64]:
    """Fit a linear model to the first rows, the real ones; return its answers for the fold."""
    assert isinstance(prepared.model, CompactUrl2Lang)
    shape = prepared.model.shape
    fitted = linear_model(shape, prepared.train, count, options, by_rarity=True)
    ids = joined_ids(prepared.test.variants[0], shape.tables)
    parts = range(0, len(ids), AT_ONCE)
    return decisions(np.concatenate([fitted.logits(ids[at : at + AT_ONCE]) for at in parts]))


def figures(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return macro F1 and accuracy of every way, and F1 by language."""
    covered = sorted(
        well_covered([LabelledUrl("", each.language, each.domain) for each in answers], **MEASURED)
    )
    numbers = {code: number for number, code in enumerate(sorted({a.language for a in answers}))}
    targets = np.array([numbers[each.language] for each in answers])
    classes = [numbers[code] for code in covered]
    plain = np.array([not each.rules for each in answers])
    found: dict[str, Any] = {"urls": len(answers), "languages": len(covered), "ways": {}}
    for way in WAYS:
        said = np.array([numbers.get(getattr(each, way), -1) for each in answers])
        right = said == targets
        found["ways"][way] = {
            "macro_f1": macro_f1(said, targets, classes),
            "accuracy": float(right.mean()),
            "announced": float(right[~plain].mean()) if (~plain).any() else 0.0,
            "plain": float(right[plain].mean()) if plain.any() else 0.0,
            "by_language": {
                code: f1(said == numbers[code], targets == numbers[code]) for code in covered
            },
        }
    ways = found["ways"]
    found["unseen_sites"] = {
        "macro_f1": ways["model"]["macro_f1"],
        "accuracy": ways["model"]["accuracy"],
        "languages": len(covered),
        "rules_macro_f1": ways["rules"]["macro_f1"],
        "linear_macro_f1": ways["linear"]["macro_f1"],
    }
    found["count"] = {code: int((targets == numbers[code]).sum()) for code in covered}
    return found


def table(answers: Sequence[Answer], folds: int, names: Mapping[str, str] = NAMES) -> str:
    """Return the figures in Markdown; `names` say what the ways are."""
    found = figures(answers)
    sites = len({each.domain for each in answers})
    intro = (
        f"{found['urls']:,} URLs of {sites:,} sites, {folds} folds by site, at most {MEASURED_CAP} "
        f"URLs per site and language; macro F1 over {found['languages']} languages with at least "
        f"{MEASURED['urls']} URLs of {MEASURED['sites']} sites."
    )
    lines = [
        intro,
        "",
        "| | macro F1 | accuracy | where a language is announced | elsewhere |",
        "|---|---|---|---|---|",
    ]
    for way in WAYS:
        each = found["ways"][way]
        cells = (each["macro_f1"], each["accuracy"], each["announced"], each["plain"])
        lines.append(f"| {names[way]} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")
    lines += ["", "| language | URLs | rules | linear | compact |", "|---|---|---|---|---|"]
    for code, count in sorted(found["count"].items(), key=lambda item: -item[1]):
        each = [found["ways"][way]["by_language"][code] for way in ("rules", "linear", "model")]
        lines.append(f"| {code} | {count} | {' | '.join(f'{cell:.3f}' for cell in each)} |")
    confused = Counter(
        (each.language, each.model) for each in answers if each.language != each.model
    )
    confusions = [
        f"{language} taken for {said} ({count})"
        for (language, said), count in confused.most_common(MOST_CONFUSED)
    ]
    worse = [
        f"{code} {difference:+.3f}"
        for code, count in found["count"].items()
        if count >= FREQUENT
        and (
            difference := found["ways"]["model"]["by_language"][code]
            - found["ways"]["rules"]["by_language"][code]
        )
        < 0
    ]
    lines += [
        "",
        f"Below the rules, with {FREQUENT} URLs or more: {', '.join(worse) or 'none'}.",
        "",
        f"Most often confused: {', '.join(confusions)}.",
        "",
    ]
    return "\n".join(lines)
