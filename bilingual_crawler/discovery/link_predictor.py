"""How likely a link leads to the page's version in another language, before it is followed.

A linear support vector machine whose margins Platt's sigmoid turns into probabilities, as in
Barbosa et al. It is trained with scikit-learn (`lab/training/links.py`, `scrapy train links`) and
shipped as weights alone. A link has about twenty features out of thousands, so a table of weights
by name is both the smallest and the fastest way to add them up: no matrix, and nothing to install.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp
from pathlib import Path
from typing import Any, Self

from bilingual_crawler.discovery.link_features import link_features
from bilingual_crawler.documents.document import Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair

FILE = "link_predictor.json"
LARGEST_MARGIN = 500.0
"""The margin beyond which the exponential would overflow."""


@dataclass(frozen=True, slots=True)
class LinkPredictor:
    """The weights of features, and the sigmoid that turns their sum into a probability."""

    weights: Mapping[str, float]
    bias: float
    slope: float
    """Platt's A: how fast the margin becomes certainty; below zero in a sound model."""
    offset: float
    """Platt's B."""
    about: Mapping[str, Any]

    @classmethod
    def load(cls, path: str = "") -> "LinkPredictor":
        """Return the predictor in a file, or the shipped one."""
        if not path:
            return _own_predictor()
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"The link predictor in {path} cannot be read: {error}.",
                "Write BILINGUAL_LINK_PREDICTOR as the path of a file of scrapy train links.",
            ) from None
        return cls.from_json(text, path)

    @classmethod
    def from_json(cls, text: str, where: str) -> Self:
        """Read a predictor; refuse anything else."""
        try:
            fields = json.loads(text)
            return cls(
                weights={str(name): float(value) for name, value in fields["weights"].items()},
                bias=float(fields["bias"]),
                slope=float(fields["slope"]),
                offset=float(fields["offset"]),
                about=dict(fields.get("about", {})),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                f"{where} is not a link predictor ({error!r}).",
                "Make one with scrapy train links, or leave BILINGUAL_LINK_PREDICTOR empty.",
            ) from None

    def to_json(self) -> str:
        """Return the predictor as JSON: one weight per line, heaviest first."""
        ordered = sorted(self.weights.items(), key=lambda each: (-abs(each[1]), each[0]))
        weights = {name: round(value, 4) for name, value in ordered if round(value, 4)}
        fields = {
            "about": dict(self.about),
            "bias": round(self.bias, 4),
            "slope": round(self.slope, 4),
            "offset": round(self.offset, 4),
            "weights": weights,
        }
        return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"

    def likelihoods(
        self, links: Sequence[Link], page_url: str, pair: LanguagePair, language: str = ""
    ) -> list[float]:
        """Return how likely each link leads to the page's version in another language of the pair.

        `language` is the ISO 639-3 code of the page; without it, what the URL announces counts.
        Give all links of the page at once, because a switch is recognised by its neighbours.
        """
        found = link_features(links, page_url, pair, language)
        return [self.probability(self.margin(features)) for features in found]

    def margin(self, features: Sequence[str]) -> float:
        """Return on which side of the plane some features are, and how far from it."""
        weights = self.weights
        return self.bias + sum(weights.get(feature, 0.0) for feature in features)

    def probability(self, margin: float) -> float:
        """Apply Platt's sigmoid."""
        exponent = self.slope * margin + self.offset
        return 1 / (1 + exp(max(-LARGEST_MARGIN, min(LARGEST_MARGIN, exponent))))


@cache
def _own_predictor() -> LinkPredictor:
    text = files("bilingual_crawler").joinpath("data", FILE).read_text(encoding="utf-8")
    return LinkPredictor.from_json(text, FILE)
