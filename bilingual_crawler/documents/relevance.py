"""How much a page is about the topic of a crawl, and by which terms: part of its document."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

LOCATIONS: Mapping[str, float] = {"title": 10.0, "metadata": 4.0, "keywords": 2.0, "text": 1.0}
"""Where a term may stand on a page, and what that is worth, as in ILSP-FC."""
DIGITS = 6


@dataclass(frozen=True, slots=True)
class TermHits:
    """A term of the topic and how often it stands in each place of a page."""

    term: str
    weight: float
    subdomain: str = ""
    title: int = 0
    metadata: int = 0
    keywords: int = 0
    text: int = 0

    @property
    def score(self) -> float:
        """What the term adds to the score of the page."""
        places = sum(weight * int(getattr(self, name)) for name, weight in LOCATIONS.items())
        return self.weight * places


@dataclass(frozen=True, slots=True)
class Relevance:
    """The score of a page, the terms it comes from, and whether it is enough."""

    on_topic: bool
    hits: tuple[TermHits, ...] = ()
    """By what they add, most first."""

    @property
    def score(self) -> float:
        """The p of ILSP-FC: occurrences times weight of the term times weight of the place."""
        return round(sum(hit.score for hit in self.hits), DIGITS)

    @property
    def unique_terms(self) -> int:
        """The m of ILSP-FC: how many different terms stand in the content itself."""
        return sum(1 for hit in self.hits if hit.text)

    @property
    def subdomains(self) -> dict[str, float]:
        """The parts of the topic with the share of the score that each has, largest first."""
        parts: dict[str, float] = {}
        for hit in self.hits:
            if hit.subdomain:
                parts[hit.subdomain] = parts.get(hit.subdomain, 0.0) + hit.score
        total = self.score or 1.0
        ranked = sorted(parts.items(), key=lambda part: (-part[1], part[0]))
        return {name: round(score / total, 4) for name, score in ranked}

    def to_dict(self) -> dict[str, Any]:
        """The judgement as JSON holds it; places without the term are left out."""
        return {
            "score": self.score,
            "on_topic": self.on_topic,
            "unique_terms": self.unique_terms,
            "subdomains": self.subdomains,
            "terms": [
                {name: value for name, value in asdict(hit).items() if value or name == "weight"}
                for hit in self.hits
            ],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Relevance":
        """The judgement that `to_dict` made this of."""
        return cls(bool(fields["on_topic"]), tuple(map(_hits, fields["terms"])))


def _hits(fields: Mapping[str, Any]) -> TermHits:
    term, subdomain = str(fields["term"]), str(fields.get("subdomain", ""))
    places = (int(fields.get(name, 0)) for name in LOCATIONS)
    return TermHits(term, float(fields["weight"]), subdomain, *places)
