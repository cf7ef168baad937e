"""What pairing reads and what it finds. An unexplained pair is a bug."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, Protocol

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.pairing.profile import Profile, profile_of

NO_CONTENT = Profile()
MOST_SWITCHES = 64


@dataclass(slots=True, frozen=True)
class Page:
    """What the detectors know of a stored document."""

    url: str
    language: str
    alternates: tuple[tuple[str, str], ...] = ()
    """(URL, ISO 639-3 code) of every translation that the page claims to have."""
    names: tuple[str, ...] = ()
    """Further URLs of the same page: where it was asked for, what it calls canonical."""
    switches: tuple[tuple[str, str], ...] = ()
    """(URL, ISO 639-3 code) of every link that names a language: "Euskara", a flag."""
    profile: Profile = NO_CONTENT


def page_of(document: Document) -> Page:
    """What pairing must know of a document."""
    names = {document.requested_url, document.canonical, document.url} - {document.key, None, ""}
    switches = {
        (link.url, code): None for link in document.links for code in languages_of_link(link)
    }
    return Page(
        document.key,
        document.language or "",
        tuple((each.url, each.language) for each in document.alternates if each.language),
        tuple(sorted(str(name) for name in names)),
        tuple(switches)[:MOST_SWITCHES],
        profile_of(document),
    )


class Evidence(NamedTuple):
    """What one detector says about two pages: how sure it is, from 0 to 1, and why."""

    detector: str
    score: float
    why: str


@dataclass(slots=True, frozen=True)
class DocumentPair:
    """Two pages that are taken for translations of one another, first language first."""

    first: str
    second: str
    languages: tuple[str, str]
    evidence: tuple[Evidence, ...]

    @property
    def score(self) -> float:
        """How sure all detectors are together: what is left after each one's doubt."""
        return combined_score(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """The pair as it is written to pairs.jsonl."""
        return {
            "url1": self.first,
            "url2": self.second,
            "lang1": self.languages[0],
            "lang2": self.languages[1],
            "score": round(self.score, 4),
            "evidence": [item._asdict() for item in self.evidence],
        }


def combined_score(evidence: Iterable[Evidence]) -> float:
    """1 minus the product of the doubts: independent evidence adds up."""
    return 1.0 - prod(1.0 - item.score for item in evidence)


Candidate = tuple[str, str, Evidence]
"""Two URLs and what speaks for them."""


class Detector(Protocol):
    """One kind of evidence, kept in an index so that a new page never meets all others."""

    def add(self, page: Page) -> Iterable[Candidate]:
        """Index a page and give what now speaks for pairs with earlier pages."""

    def alias(self, source: str, target: str) -> Iterable[Candidate]:
        """Learn that `source` leads to `target`, which may complete what was claimed."""
