"""What pairing reads and what it finds: pages, evidence, pairs, and changes to them.

Every pair is explained. A pair has about ten pieces of evidence, each with a reason in words: some
two kilobytes of objects, which are not read before the crawl is over. The reasons of two pairs
hardly differ except in figures, so the evidence of the first pair is the zlib dictionary for all
others, which leaves about a tenth.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, Generic, NamedTuple, Self, TypeVar

import msgpack

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.profile import Embedder, Profile, profile_of

NO_CONTENT = Profile()
Note = tuple[str, Any]
"""The name of a user's detector, and what it remembers of a page."""
MOST_SWITCHES = 64
SPEAKS_FOR = 0.5
"""The score at which a detector alone would take two pages for a pair."""


@dataclass(slots=True, frozen=True)
class PairingPage:
    """What the detectors know of a stored document."""

    url: str
    language: str
    alternates: tuple[tuple[str, str], ...] = ()
    """(URL, ISO 639-3 code) of every translation that the page claims to have."""
    names: tuple[str, ...] = ()
    """Other URLs of the same page: the requested one, the canonical one."""
    switches: tuple[tuple[str, str], ...] = ()
    """(URL, ISO 639-3 code) of every link that names a language: "Euskara", a flag."""
    profile: Profile = NO_CONTENT
    notes: tuple[Note, ...] = ()
    """What the user's detectors remember of the page."""

    def pack(self) -> bytes:
        """Return everything except URL and language, as the journal keeps it."""
        fields = [self.alternates, self.names, self.switches, self.profile.pack()]
        if self.notes:
            fields.append(self.notes)
        packed: bytes = msgpack.packb(fields, unicode_errors="surrogatepass")
        return packed

    @classmethod
    def unpack(cls, url: str, language: str, packed: bytes) -> Self:
        """Return the page that `pack` packed."""
        fields = msgpack.unpackb(
            packed, unicode_errors="surrogatepass", use_list=False, strict_map_key=False
        )
        alternates, names, switches, profile, *notes = fields
        return cls(url, language, alternates, names, switches, Profile.unpack(profile), *notes)


def page_of(
    document: Document, embedder: Embedder | None = None, notes: tuple[Note, ...] = ()
) -> PairingPage:
    """Return what pairing needs to know about a document."""
    names = {document.requested_url, document.canonical, document.url} - {document.key, None, ""}
    switches = {
        (link.url, code): None for link in document.links for code in languages_of_link(link)
    }
    return PairingPage(
        document.key,
        document.language or "",
        tuple((each.url, each.language) for each in document.alternates if each.language),
        tuple(sorted(str(name) for name in names)),
        tuple(switches)[:MOST_SWITCHES],
        profile_of(document, embedder),
        notes,
    )


class Evidence(NamedTuple):
    """What one detector says about two pages: how sure it is, from 0 to 1, and why."""

    detector: str
    score: float
    why: str


@dataclass(slots=True, frozen=True)
class DocumentPair:
    """Two pages taken for translations of each other, first language first."""

    first: str
    second: str
    languages: tuple[str, str]
    evidence: tuple[Evidence, ...]
    probability: float | None = None
    """The combined model's answer; None where only the evidence is known."""
    translated_share: float | None = None
    """How much of the shorter text is translated; None where the texts are not known."""
    refused: str = ""
    """Why two counterparts are no pair for people who train on it; "" for a pair."""

    @property
    def score(self) -> float:
        """The probability if it is known, otherwise what the evidence adds up to."""
        if self.probability is None:
            return combined_score(self.evidence)
        return self.probability

    @property
    def detectors(self) -> tuple[str, ...]:
        """The names of the detectors in the evidence."""
        return tuple(each.detector for each in self.evidence)

    @property
    def reasons(self) -> list[Evidence]:
        """The evidence that speaks for the pair: claims and URLs first, then content."""
        return [each for each in self.evidence if each.score >= SPEAKS_FOR]

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as written to pairs.jsonl."""
        fields: dict[str, Any] = {
            "url1": self.first,
            "url2": self.second,
            "lang1": self.languages[0],
            "lang2": self.languages[1],
            "score": round(self.score, 4),
        }
        if self.translated_share is not None:
            fields["translated_share"] = round(self.translated_share, 3)
        if self.refused:
            fields["refused"] = self.refused
        return fields | {"evidence": [item._asdict() for item in self.evidence]}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Return the pair that `to_dict` made this of; the score is rounded."""
        return cls(
            fields["url1"],
            fields["url2"],
            (fields["lang1"], fields["lang2"]),
            tuple(Evidence(**item) for item in fields["evidence"]),
            float(fields["score"]),
            fields.get("translated_share"),
            fields.get("refused", ""),
        )


def combined_score(evidence: Iterable[Evidence]) -> float:
    """Return 1 minus the product of the doubts: what independent evidence adds up to."""
    return 1.0 - prod(1.0 - item.score for item in evidence)


_WINDOW, _MEMORY, _LEVEL = -12, 5, 6
"""A small window is enough for so little data, and faster to set up."""


class PackedPair(NamedTuple):
    """A pair whose evidence only its `PairPacker` can read."""

    first: str
    second: str
    probability: float | None
    evidence: bytes
    detectors: tuple[str, ...]
    """The names of the detectors in the evidence."""
    translated_share: float | None = None


class PairPacker:
    """Packs and unpacks the pairs of two languages."""

    def __init__(self, languages: tuple[str, str]) -> None:
        self._languages = languages
        self._sample = b""
        self._detectors: dict[tuple[str, ...], tuple[str, ...]] = {}

    def pack(self, pair: DocumentPair) -> PackedPair:
        """Pack a pair; equal pairs stay equal when packed."""
        packed = msgpack.packb(pair.evidence, unicode_errors="surrogatepass")
        self._sample = self._sample or packed
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zdict=self._sample)
        evidence = packer.compress(packed) + packer.flush()
        detectors = self._detectors.setdefault(pair.detectors, pair.detectors)
        return PackedPair(
            pair.first, pair.second, pair.probability, evidence, detectors, pair.translated_share
        )

    def unpack(self, pair: PackedPair) -> DocumentPair:
        """Return the pair that was packed."""
        packed = zlib.decompressobj(_WINDOW, zdict=self._sample).decompress(pair.evidence)
        found = msgpack.unpackb(packed, unicode_errors="surrogatepass", use_list=False)
        evidence = tuple(Evidence(*each) for each in found)
        return DocumentPair(
            pair.first,
            pair.second,
            self._languages,
            evidence,
            pair.probability,
            pair.translated_share,
        )


Pair = TypeVar("Pair", DocumentPair, PackedPair)


class Changes(Generic[Pair]):
    """What one event did to the pairs of a crawl; a pair found and lost again is left out."""

    def __init__(self) -> None:
        self.found: dict[Urls, Pair] = {}
        self.lost: dict[Urls, Pair] = {}
        self.better_explained = False

    @property
    def urls(self) -> set[str]:
        """Every page that gained or lost a partner."""
        return {url for pair in (*self.found, *self.lost) for url in pair}

    def add(self, pair: Pair) -> None:
        """Add a new pair."""
        key = (pair.first, pair.second)
        known = self.lost.pop(key, None)
        if known is None:
            self.found[key] = pair
        elif known != pair:
            self.better_explained = True

    def drop(self, pair: Pair) -> None:
        """Add a pair that was given up."""
        key = (pair.first, pair.second)
        if self.found.pop(key, None) is None:
            self.lost[key] = pair
