"""What discovery knows about each site: waiting, under examination, or the verdict.

A site is examined once. The words around the link that led to it are kept with the verdict: they
are the example that the classifier of forward links learns from, now and after a restart.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from bilingual_crawler.store.journal import Journal, Statement

Answer = Literal["yes", "no", "unsure"]
AGAINST = frozenset(
    {"menu", "landing", "machine", "other_site", "dead_link", "other_language", "empty", "no_link"}
)
"""The words for what speaks against a site."""


class Finding(NamedTuple):
    """One thing seen on a site: a word for what it is, and a sentence.

    Words that speak for a site: link, alternates, anchors, sitemap, languages, translation, mixed.
    Those in `AGAINST` speak against it. Words for why nothing is known: unreachable, empty,
    refused, budget, no_tie.
    """

    word: str
    detail: str


@dataclass(frozen=True, slots=True)
class SiteVerdict:
    """Whether a site is bilingual, how likely, and why."""

    site: str
    """Its registered domain."""
    answer: Answer
    likelihood: float
    """The probability that the site has both languages."""
    languages: tuple[tuple[str, float], ...]
    """The languages of the pages that were read, with their shares of the text, largest first."""
    findings: tuple[Finding, ...]
    entries: tuple[tuple[str, str], ...]
    """A page to start from for each language of the pair that was found: ISO 639-3 code, URL."""
    downloads: int
    """The number of requests."""

    @property
    def is_bilingual(self) -> bool:
        """True if the answer is yes."""
        return self.answer == "yes"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as written to sites.jsonl."""
        return {
            "site": self.site,
            "bilingual": self.answer,
            "likelihood": round(self.likelihood, 4),
            "languages": {code: round(share, 3) for code, share in self.languages},
            "entry_pages": dict(self.entries),
            "evidence": [finding._asdict() for finding in self.findings],
            "downloads": self.downloads,
        }


SCHEMA = """
CREATE TABLE IF NOT EXISTS discovery_sites (
    site TEXT PRIMARY KEY, standing INTEGER NOT NULL, url TEXT NOT NULL, words TEXT NOT NULL,
    via TEXT NOT NULL, downloads INTEGER NOT NULL, entries TEXT NOT NULL,
    backlinks INTEGER NOT NULL
) WITHOUT ROWID;
"""
INSERT = "INSERT OR REPLACE INTO discovery_sites VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
SELECT = (
    "SELECT site, standing, url, words, via, downloads, entries, backlinks FROM discovery_sites"
)
BACKLINKS = "UPDATE discovery_sites SET backlinks = 1 WHERE site = ?"


class Standing(IntEnum):
    """The standing of a site."""

    WAITING = 0
    EXAMINING = 1
    BILINGUAL = 2
    OTHER = 3
    """Not bilingual, or not certainly."""
    UNREACHABLE = 4


JUDGED = frozenset({Standing.BILINGUAL, Standing.OTHER, Standing.UNREACHABLE})


class Approach(NamedTuple):
    """How discovery came to a site: the page, the words of the link to it, the hub."""

    url: str
    words: tuple[str, ...] = ()
    via: str = ""


class SiteRecord(NamedTuple):
    """A row about a site."""

    site: str
    standing: Standing
    approach: Approach
    downloads: int = 0
    entries: tuple[str, ...] = ()
    backlinks_known: bool = False


class SiteRecords:
    """The standing of every site that was seen; part of the crawl's checkpoints."""

    def __init__(self, journal: Journal) -> None:
        self._standing: dict[str, Standing] = {}
        self._waiting: dict[str, Approach] = {}
        self._changed: dict[str, SiteRecord] = {}
        self._backlinks_known: list[str] = []
        self.counts: Counter[Standing] = Counter()
        self.downloads = 0
        """Pages fetched for examinations that have ended."""
        journal.define(SCHEMA)
        self._journal = journal
        for record in self.load():
            self._take(record)
        journal.attach(self)

    def load(self) -> Iterator[SiteRecord]:
        """Yield every record of the last checkpoint; for use before the crawl begins."""
        for site, standing, url, words, via, downloads, entries, known in self._journal.read(
            SELECT
        ):
            approach = Approach(url, tuple(words.split()), via)
            yield SiteRecord(
                site, Standing(standing), approach, downloads, tuple(entries.split()), bool(known)
            )

    def standing(self, site: str) -> Standing | None:
        """Return the standing of a site; None if it was never seen."""
        return self._standing.get(site)

    def waiting(self, site: str) -> Approach | None:
        """Return the most promising approach to a waiting site; None for any other site."""
        return self._waiting.get(site)

    def note(self, record: SiteRecord) -> None:
        """Record the standing of a site."""
        before = self._standing.get(record.site)
        if before is not None:
            self.counts[before] -= 1
        self._take(record)
        self._changed[record.site] = record

    def _take(self, record: SiteRecord) -> None:
        self._standing[record.site] = record.standing
        self.counts[record.standing] += 1
        self.downloads += record.downloads
        self._waiting.pop(record.site, None)
        if record.standing is Standing.WAITING:
            self._waiting[record.site] = record.approach

    def note_backlinks(self, site: str) -> None:
        """Record that all providers have been asked for the backlinks of a site."""
        self._backlinks_known.append(site)

    def changes(self) -> Iterable[Statement]:
        """Return rows for the journal."""
        rows = [
            (
                each.site,
                int(each.standing),
                each.approach.url,
                " ".join(each.approach.words),
                each.approach.via,
                each.downloads,
                " ".join(each.entries),
                int(each.backlinks_known),
            )
            for each in self._changed.values()
        ]
        asked = [(site,) for site in self._backlinks_known]
        self._changed, self._backlinks_known = {}, []
        return [(INSERT, rows), (BACKLINKS, asked)]
