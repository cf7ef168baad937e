"""What is said of a site in the end: whether it is bilingual, how likely, and why."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Answer = Literal["yes", "no", "unsure"]
AGAINST = frozenset(
    {"menu", "landing", "machine", "other_site", "dead_link", "other_language", "empty", "no_link"}
)
"""The words of what speaks against a site."""


class Finding(NamedTuple):
    """One thing that was seen of a site: a word for what it is, and a sentence.

    Words that speak for a site: link, alternates, anchors, sitemap, languages, translation, mixed.
    Those of `AGAINST` speak against it. Words that say why nothing is known: unreachable, empty,
    refused, budget, no_tie.
    """

    word: str
    detail: str


@dataclass(frozen=True, slots=True)
class SiteVerdict:
    """Whether a site is bilingual."""

    site: str
    """Its registered domain."""
    answer: Answer
    likelihood: float
    """How likely it is that the site has both languages."""
    languages: tuple[tuple[str, float], ...]
    """The languages of the pages that were read, with their shares of the text, largest first."""
    findings: tuple[Finding, ...]
    entries: tuple[tuple[str, str], ...]
    """A page to enter by for each language of the pair that was found: ISO 639-3 code, URL."""
    downloads: int
    """Requests that it took."""

    @property
    def is_bilingual(self) -> bool:
        """Whether the answer is yes."""
        return self.answer == "yes"

    def to_dict(self) -> dict[str, Any]:
        """The verdict as it is written to sites.jsonl."""
        return {
            "site": self.site,
            "bilingual": self.answer,
            "likelihood": round(self.likelihood, 4),
            "languages": {code: round(share, 3) for code, share in self.languages},
            "entry_pages": dict(self.entries),
            "evidence": [finding._asdict() for finding in self.findings],
            "downloads": self.downloads,
        }
