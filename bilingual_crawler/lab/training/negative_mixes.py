"""Compare mixes of synthetic negatives by cross-validation, as in Appendix A of SBFC.

For every mix, a model learns from the pairs of nine tenths of the sites and from synthetic
negatives of the mix, and is measured on the pairs of the others against genuine negatives: pairs
that a table lists as no translations, or the links of pages. Where a site has neither, any other
page of it stands in. The model is a logistic regression on `pair_features`: XLM-R would take weeks
for 630 fits, and the question is which negatives teach a decision, not how good it can get.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.metrics import f1
from bilingual_crawler.lab.labels import LabelledPair
from bilingual_crawler.lab.training.negatives import (
    DomainUrls,
    Recipe,
    any_other_pages,
    jaccard_match,
    random_match,
    synthetic_negatives,
    token_removal,
)
from bilingual_crawler.lab.training.page_links import PageLinks
from bilingual_crawler.scoring.pair_features import FEATURES, pair_features
from bilingual_crawler.store.durable import replacing

KINDS = {
    "1": ("random match, two languages", Recipe(random_match, alone=False, times=3)),
    "2": ("most similar, two languages", Recipe(jaccard_match, alone=False, times=1)),
    "3": ("tokens removed, two languages", Recipe(token_removal, alone=False, times=1)),
    "4": ("random match, one language", Recipe(random_match, alone=True, times=3)),
    "5": ("most similar, one language", Recipe(jaccard_match, alone=True, times=1)),
    "6": ("tokens removed, one language", Recipe(token_removal, alone=True, times=1)),
}
"""The six ways to make negatives, numbered as in Table A.5."""
ALL = "all"
FOLDS = 10
PAIRS_PER_SITE = 40
ANY_PAGE = 5
"""Measured negatives per pair, on sites whose genuine ones are not known."""
AT_ONCE = 5_000
TABLE, TEXT = "negatives.tsv", "negatives.md"
COLUMNS = ("mix", "positive_f1", "negative_f1", "macro_f1", "pairs", "negatives", "measured")
PENALTY, STEPS = 1.0, 200

Numbers = NDArray[np.float32]
Tell = Callable[[str], None]


class MixFigures(NamedTuple):
    """The figures of one mix, over all folds."""

    mix: str
    positive_f1: float
    negative_f1: float
    pairs: int
    negatives: int
    measured: int

    @property
    def macro_f1(self) -> float:
        """The mean F1 of both classes."""
        return (self.positive_f1 + self.negative_f1) / 2

    def line(self) -> str:
        """Return the row of the table."""
        shares = f"{self.positive_f1:.4f}\t{self.negative_f1:.4f}\t{self.macro_f1:.4f}"
        return f"{self.mix}\t{shares}\t{self.pairs}\t{self.negatives}\t{self.measured}"


class FoldRows(NamedTuple):
    """The features of some pairs, and the fold of each."""

    features: Numbers
    folds: NDArray[np.int64]


class MixData(NamedTuple):
    """Pairs, synthetic negatives of each kind, and what is measured against."""

    pairs: FoldRows
    kinds: dict[str, FoldRows]
    measured: FoldRows
    genuine_sites: int
    sites: int


def mixes_of(names: Sequence[str]) -> list[str]:
    """Return the mixes that were asked for, such as `1+2+4`; all 63 if none or `all` was."""
    if not names or list(names) == [ALL]:
        return [
            "+".join(each)
            for size in range(1, len(KINDS) + 1)
            for each in combinations(KINDS, size)
        ]
    chosen = []
    for name in names:
        parts = sorted(set(name.split("+")))
        if not set(parts) <= set(KINDS):
            raise ConfigurationError(
                f"{name!r} is not a mix of negatives.",
                "Write numbers with + between, such as 1+2+3+4+5, or all: "
                + "; ".join(f"{number} {text}" for number, (text, _) in KINDS.items())
                + ".",
            )
        chosen.append("+".join(parts))
    return list(dict.fromkeys(chosen))


def compare(
    pairs: Iterable[LabelledPair],
    names: Sequence[str],
    out: Path,
    *,
    links: PageLinks | None = None,
    most: int = PAIRS_PER_SITE,
    resume: bool = False,
    seed: int = 0,
    tell: Tell = lambda _: None,
) -> list[MixFigures]:
    """Measure mixes, and write a table after each, so that a killed run can be resumed."""
    mixes = mixes_of(names)
    out.mkdir(parents=True, exist_ok=True)
    done = read_figures(out / TABLE) if resume else {}
    data = prepare_mixes(pairs, links or PageLinks(), most=most, seed=seed, tell=tell)
    for number, mix in enumerate(mixes, 1):
        if mix not in done:
            tell(f"Mix {number} of {len(mixes)}: {mix}")
            done[mix] = measure(data, mix, seed=seed)
            _write(out / TABLE, ["\t".join(COLUMNS), *(each.line() for each in done.values())])
    found = [done[mix] for mix in mixes]
    _write(out / TEXT, appendix(found, data))
    return found


def prepare_mixes(
    pairs: Iterable[LabelledPair], links: PageLinks, *, most: int, seed: int, tell: Tell
) -> MixData:
    """Make the negatives of every kind for every site, once for all mixes."""
    sites = _with_languages(pairs)
    folds = _folds({domain: min(most, len(rows)) for domain, rows in sites.items()})
    if len(set(folds.values())) < FOLDS:
        raise ConfigurationError(
            f"The comparison needs pairs of at least {FOLDS} sites; the tables have {len(sites)}.",
            "Give more tables with --data.",
        )
    positive: list[tuple[LabelledPair, int]] = []
    measured: list[tuple[LabelledPair, int]] = []
    made: dict[str, list[tuple[LabelledPair, int]]] = {kind: [] for kind in KINDS}
    genuine_sites = 0
    for domain in sorted(sites):
        rows, fold = sites[domain], folds[domain]
        rng = random.Random(f"{seed} {domain}")  # noqa: S311 - a sample, not a secret
        rng.shuffle(rows)
        site = DomainUrls(rows)
        genuine = [row for row in rows if not row.parallel and not site.parallel(*row[:2])]
        genuine += dict.fromkeys(links.negatives(domain, site))
        site.pairs = site.pairs[:most]
        genuine_sites += bool(genuine)
        measured += ((row, fold) for row in genuine or any_other_pages(site, ANY_PAGE, rng))
        positive += ((row, fold) for row in site.pairs)
        for kind, (_, recipe) in KINDS.items():
            found = synthetic_negatives(site, mix=[recipe], seed=rng.randrange(1 << 30))
            made[kind] += ((row, fold) for row in found)
    total = len(positive) + len(measured) + sum(map(len, made.values()))
    tell(f"Comparing the URLs of {total:,} pairs")
    return MixData(
        _rows(positive),
        {kind: _rows(rows) for kind, rows in made.items()},
        _rows(measured),
        genuine_sites,
        len(sites),
    )


def _with_languages(pairs: Iterable[LabelledPair]) -> dict[str, list[LabelledPair]]:
    """Return the rows of sites with pairs; a table of 0 and 1 may lack languages another has."""
    sites: defaultdict[str, dict[frozenset[str], LabelledPair]] = defaultdict(dict)
    languages: dict[str, str] = {}
    for pair in pairs:
        codes = {pair.first: pair.first_language, pair.second: pair.second_language}
        languages |= {url: code for url, code in codes.items() if code}
        sites[pair.domain].setdefault(frozenset((pair.first, pair.second)), pair)
    return {
        domain: [
            row._replace(
                first_language=languages.get(row.first, ""),
                second_language=languages.get(row.second, ""),
            )
            for row in rows.values()
        ]
        for domain, rows in sites.items()
        if any(row.parallel for row in rows.values())
    }


def _folds(sizes: dict[str, int]) -> dict[str, int]:
    """Return the fold of every site, such that all folds have about as many pairs."""
    totals = [0] * FOLDS
    folds = {}
    for domain in sorted(sizes, key=lambda name: (-sizes[name], name)):
        folds[domain] = totals.index(min(totals))
        totals[folds[domain]] += sizes[domain]
    return folds


def _rows(pairs: Sequence[tuple[LabelledPair, int]]) -> FoldRows:
    parts = [
        pair_features([(row.first, row.second) for row, _ in pairs[start : start + AT_ONCE]])
        for start in range(0, len(pairs), AT_ONCE)
    ]
    features = np.concatenate(parts) if parts else np.zeros((0, len(FEATURES)), dtype=np.float32)
    return FoldRows(features, np.array([fold for _, fold in pairs], dtype=np.int64))


def measure(data: MixData, mix: str, *, seed: int = 0) -> MixFigures:
    """Return the figures of one mix, with the decisions of all folds counted together."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - only to train

    negatives = [data.kinds[kind] for kind in mix.split("+")]
    answers: list[NDArray[np.bool_]] = []
    wanted: list[NDArray[np.bool_]] = []
    for fold in range(FOLDS):
        learned = [rows.features[rows.folds != fold] for rows in (data.pairs, *negatives)]
        train = np.concatenate(learned)
        labels = np.arange(len(train)) < len(learned[0])
        mean, scale = train.mean(axis=0), np.maximum(train.std(axis=0), 1e-3)
        model = LogisticRegression(C=PENALTY, max_iter=STEPS, random_state=seed)
        if labels.all():  # no site of these folds gave a negative of this kind
            continue
        model.fit((train - mean) / scale, labels)
        for rows, label in ((data.pairs, True), (data.measured, False)):
            test = rows.features[rows.folds == fold]
            if len(test):
                answers.append(model.predict((test - mean) / scale))
                wanted.append(np.full(len(test), label))
    found, right = np.concatenate(answers), np.concatenate(wanted)
    return MixFigures(
        mix,
        f1(found, right),
        f1(~found, ~right),
        len(data.pairs.folds),
        sum(len(rows.folds) for rows in negatives),
        len(data.measured.folds),
    )


def read_figures(path: Path) -> dict[str, MixFigures]:
    """Return the figures of a table by mix; none if there is no table."""
    if not path.is_file():
        return {}
    header, *lines = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    if tuple(header) != COLUMNS:
        raise ConfigurationError(
            f"{path} is not a table of this comparison.", "Leave out --resume to start over."
        )
    return {
        mix: MixFigures(mix, float(positive), float(negative), *map(int, counts))
        for mix, positive, negative, _, *counts in lines
    }


def appendix(found: Sequence[MixFigures], data: MixData) -> Iterator[str]:
    """Yield the table of Appendix A for our data, in Markdown; the best mix is bold."""
    best = max(found, key=lambda each: each.macro_f1).mix
    yield (
        f"{FOLDS}-fold cross-validation over {data.sites:,} sites: "
        f"{len(data.pairs.folds):,} pairs against {len(data.measured.folds):,} others; "
        f"{data.genuine_sites:,} sites have genuine negatives, of the others any page is taken."
    )
    yield ""
    yield "; ".join(f"{number}: {text}" for number, (text, _) in KINDS.items()) + "."
    yield ""
    yield "| methods | positive F1 | negative F1 | macro F1 | negatives |"
    yield "|---|---|---|---|---|"
    for each in found:
        shares = (each.positive_f1, each.negative_f1, each.macro_f1)
        cells = [each.mix, *(f"{100 * share:.2f}%" for share in shares), f"{each.negatives:,}"]
        if each.mix == best:
            cells = [f"**{cell}**" for cell in cells]
        yield f"| {' | '.join(cells)} |"


def _write(path: Path, lines: Iterable[str]) -> None:
    with replacing(path) as fresh:
        fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
