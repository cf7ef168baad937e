"""The pages of a site that may show another language, and in which order they are asked for."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

Way = Literal["start", "inside", "alternates", "link", "home", "anchors", "sitemap"]
"""How one came to think of a page."""
_RANK: dict[Way, int] = {
    "start": 0,
    "inside": 1,
    "alternates": 2,
    "link": 3,
    "home": 4,
    "anchors": 5,
    "sitemap": 6,
}
ALWAYS: frozenset[Way] = frozenset({"start", "inside", "home"})
"""Ways that are gone even if no page in the sought language is missing any more."""
PROMISES: frozenset[Way] = frozenset({"alternates", "link", "anchors"})
"""Ways by which a site promises a version in another language."""


class Candidate(NamedTuple):
    """A page that may show another language."""

    url: str
    way: Way
    sought: frozenset[str]
    """The ISO 639-3 codes of the languages that it may show."""
    source: str = ""
    """The page that led to it."""
    likelihood: float = 1.0

    @property
    def rank(self) -> tuple[int, float]:
        """Small numbers go first."""
        return _RANK[self.way], -self.likelihood

    def __str__(self) -> str:
        """What led to the page, as the beginning of a sentence."""
        if not self.source:
            return "The address"
        if self.way == "alternates":
            return f"The version that {self.source} declares"
        return f"A link on {self.source}"


class Candidates:
    """Candidates by URL, what was asked for, and how many requests that took."""

    def __init__(self) -> None:
        self.downloads = 0
        self._by_url: dict[str, Candidate] = {}
        self._asked: set[str] = set()

    def add(self, candidate: Candidate) -> None:
        """Take in a page, unless it was asked for or is known from a better place."""
        known = self._by_url.get(candidate.url)
        if candidate.url not in self._asked and (known is None or candidate.rank < known.rank):
            self._by_url[candidate.url] = candidate

    def answered(self, asked: str, found: str) -> Candidate | None:
        """Count an answer, once under whichever of its names, and tell what was hoped for."""
        known = found if asked not in self._by_url and found in self._by_url else asked
        self.downloads += known not in self._asked
        self._asked.update((asked, found))
        return self._by_url.get(known)

    def forget_waiting(self) -> None:
        """Give up what was not asked for."""
        self._by_url = {url: each for url, each in self._by_url.items() if url in self._asked}

    def waiting(self, missing: frozenset[str]) -> list[Candidate]:
        """What is worth asking for while some languages are missing, best first."""
        return sorted(self._useful(missing), key=lambda candidate: candidate.rank)

    def was_asked(self, url: str) -> bool:
        """Whether something is known of a page already."""
        return url in self._asked

    def __getitem__(self, url: str) -> Candidate:
        return self._by_url[url]

    def __contains__(self, url: object) -> bool:
        return url in self._by_url

    def _useful(self, missing: frozenset[str]) -> Iterator[Candidate]:
        for candidate in self._by_url.values():
            wanted = candidate.way in ALWAYS or bool(candidate.sought & missing)
            if wanted and candidate.url not in self._asked:
                yield candidate
