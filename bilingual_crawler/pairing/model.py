"""The combined model: from the numbers of two pages to the probability that they are a pair.

A logistic regression, because it can be read: the odds are a sum of what the detectors add. Its
weights are a small JSON file, made by `scrapy train pairs` or by the project itself
(`tools/train_pairing.py`), with the figures it reached on sites it had not seen.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp
from operator import mul
from pathlib import Path
from typing import Any, Self

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.comparison import FEATURES, NUMBERS
from bilingual_crawler.pairing.small_models import PairClassifiers

FILE = "pairing.json"


@dataclass(frozen=True, slots=True)
class PairModel:
    """The bias, and the weights of the numbers and rivals."""

    bias: float
    weights: tuple[float, ...]
    about: dict[str, Any]
    classifiers: PairClassifiers | None = None
    """Those of ILSP-FC and PPLocator trained with it; None means the shipped ones."""

    @classmethod
    def from_json(cls, text: str, where: str) -> Self:
        """Read a model; refuse one made for other numbers."""
        try:
            fields = json.loads(text)
            weights = tuple(float(fields["weights"][name]) for name in FEATURES)
            own = fields.get("classifiers")
            classifiers = None if own is None else PairClassifiers.loads(json.dumps(own), where)
            return cls(float(fields["bias"]), weights, dict(fields.get("about", {})), classifiers)
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{where} is not a model for pairing ({error!r}).",
                "Make one with scrapy train pairs, or leave BILINGUAL_PAIR_MODEL empty.",
            ) from None

    def to_json(self) -> str:
        """Return the model as JSON."""
        weights = {n: round(w, 5) for n, w in zip(FEATURES, self.weights, strict=True)}
        fields = {"about": self.about, "bias": round(self.bias, 5), "weights": weights}
        if self.classifiers is not None:
            fields["classifiers"] = json.loads(self.classifiers.dumps())
        return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"

    def base(self, numbers: Sequence[float]) -> float:
        """Return the log-odds from the numbers of two pages alone."""
        odds: float = sum(map(mul, numbers, self.weights))
        return self.bias + odds

    def odds(self, base: float, rivals: Sequence[float]) -> float:
        """Return the log-odds with the rivals included."""
        return base + sum(w * r for w, r in zip(self.weights[len(NUMBERS) :], rivals, strict=True))


def probability(odds: float) -> float:
    """Return the probability for log-odds."""
    return 1 / (1 + exp(-odds)) if odds > -500 else 0.0  # noqa: PLR2004 - exp would overflow


def load_pair_model(path: str = "") -> PairModel:
    """Return the model in a file, or the shipped one."""
    if not path:
        return _own_model()
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"The model for pairing in {path} cannot be read: {error}.",
            "Write BILINGUAL_PAIR_MODEL as the path of a file that scrapy train pairs made.",
        ) from None
    return PairModel.from_json(text, path)


@cache
def _own_model() -> PairModel:
    text = files("bilingual_crawler").joinpath("data", FILE).read_text(encoding="utf-8")
    return PairModel.from_json(text, FILE)
