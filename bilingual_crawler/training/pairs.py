"""Stand-in for the fitting of the models of pairing: a tree on three ratios of sizes."""

import json
from collections.abc import Sequence
from pathlib import Path

from bilingual_crawler.pairing.pair import Page


def fit(examples: Sequence[tuple[Page, Page, bool]], out: Path) -> dict[str, float]:
    """Fit, write the model to `out`, and give the figures of a 10-fold cross-validation."""
    from sklearn.model_selection import cross_validate  # noqa: PLC0415 - only to train
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    rows = [_ratios(first, second) for first, second, _ in examples]
    labels = [parallel for *_, parallel in examples]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    measures = ("precision", "recall", "f1")
    scores = cross_validate(tree, rows, labels, cv=10, scoring=measures)
    tree.fit(rows, labels)
    out.write_text(json.dumps({"importances": tree.feature_importances_.tolist()}) + "\n")
    return {name: float(scores[f"test_{name}"].mean()) for name in measures}


def _ratios(first: Page, second: Page) -> list[float]:
    one, other = first.profile, second.profile
    sizes = ((one.words, other.words), (one.size, other.size), (one.paragraphs, other.paragraphs))
    return [min(pair) / max(*pair, 1) for pair in sizes]
