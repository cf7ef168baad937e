"""Detectors that users write: evidence of their own for or against a pair of pages.

A detector reads each document once and keeps a note of it: prices, dates, product codes. Later it
compares two pages, with their notes at hand. Texts are not kept in memory, so what a detector
needs must be in its notes. What it says is added to the odds of the two pages, as the word list
and the sentence model are (`resources.py`), and stands in pairs.jsonl beside all other evidence.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from math import isnan
from typing import Any, ClassVar, NamedTuple

import msgpack

from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.model import probability
from bilingual_crawler.pairing.pair import Evidence, Note, PairingPage
from bilingual_crawler.plugins import PluginKind

logger = logging.getLogger(__name__)

SETTING = "BILINGUAL_DETECTORS"
MAX_ODDS = 8.0
"""The most that one detector adds or takes: as much as two documents of one URL get."""
MAX_NOTE_BYTES = 10_000
"""Notes are kept in memory and in the journal, for every page."""


Addition = tuple[float, Evidence]
"""What is added to the log-odds of two pages, and why."""


class PairOpinion(NamedTuple):
    """What a detector says about two pages."""

    odds: float
    """What is added to the log-odds: above 0 for the pair, below 0 against it."""
    why: str
    """The reason, as a part of a sentence: "3 of 4 prices are on both"."""


class PairDetector(ABC):
    """Compares two pages; one instance serves a whole crawl, and is made without arguments.

    What it says must depend on the two pages alone, so that the pairs do not depend on the order
    in which pages come. It is only asked about pages that something else brings together: their
    URLs, their links, or rare names, numbers and images.
    """

    name: ClassVar[str] = ""
    """Its name in the evidence; the name of the class if it is empty."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.name = cls.name or cls.__name__

    def read(self, document: Document) -> Any:  # noqa: ARG002 - for those that override it
        """Return what to remember of a page: text, numbers, lists and dicts of them, or None.

        Lists come back as tuples.
        """
        return None

    @abstractmethod
    def compare(self, first: PairingPage, second: PairingPage) -> PairOpinion | None:
        """Return an opinion on two pages, that of the first language first; None without one."""

    def note_of(self, page: PairingPage) -> Any:
        """Return what `read` returned for a page; None if it was fetched without this detector."""
        return next((note for name, note in page.notes if name == self.name), None)


DETECTOR_PLUGINS = PluginKind("a pair detector", "bilingual_crawler.detectors", PairDetector)


class UserDetectors:
    """The detectors of a user, called so that their mistakes do not end a crawl.

    A detector that raises has no opinion. The first failure of each is logged as a warning with
    its traceback, the others as debug messages.
    """

    def __init__(self, detectors: Iterable[PairDetector] = ()) -> None:
        self._detectors = tuple(detectors)
        self._failed: set[str] = set()

    @classmethod
    def load(cls, names: Iterable[str], taken: Collection[str]) -> "UserDetectors":
        """Make the detectors that a setting names; `taken` are the names of the built-in ones."""
        made: dict[str, PairDetector] = {}
        for name in names:
            detector: PairDetector = DETECTOR_PLUGINS.make(name, SETTING)
            if detector.name in taken or detector.name in made:
                raise ConfigurationError(
                    f"{SETTING}={name}: there is another detector called {detector.name};"
                    " give the class another `name`."
                )
            made[detector.name] = detector
        return cls(made.values())

    def __bool__(self) -> bool:
        return bool(self._detectors)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that stand in the evidence."""
        return tuple(each.name for each in self._detectors)

    def only(self, asked: Collection[str]) -> "UserDetectors":
        """Return those whose names are among `asked`."""
        return UserDetectors(each for each in self._detectors if each.name in asked)

    def notes_of(self, document: Document) -> tuple[Note, ...]:
        """Return what each detector wants to remember of a document."""
        notes = []
        for detector in self._detectors:
            try:
                note = _checked_note(detector.read(document))
            except Exception:  # noqa: BLE001 - whatever a user's class raises
                self._warn(detector, document.url)
            else:
                if note is not None:
                    notes.append((detector.name, note))
        return tuple(notes)

    def said(self, first: PairingPage, second: PairingPage) -> Iterator[Addition]:
        """Yield what each detector adds to the log-odds of two pages, cut to what one may add.

        An evidence score of 0.5 speaks neither for nor against the pair.
        """
        for detector in self._detectors:
            try:
                opinion = _checked_opinion(detector.compare(first, second))
            except Exception:  # noqa: BLE001 - whatever a user's class raises
                self._warn(detector, f"{first.url} and {second.url}")
            else:
                if opinion is not None:
                    score = round(probability(opinion.odds), 3)
                    yield opinion.odds, Evidence(detector.name, score, opinion.why)

    def _warn(self, detector: PairDetector, pages: str) -> None:
        level = logging.DEBUG if detector.name in self._failed else logging.WARNING
        self._failed.add(detector.name)
        logger.log(
            level,
            "The detector %s failed on %s: it says nothing.",
            detector.name,
            pages,
            exc_info=True,
        )


NO_DETECTORS = UserDetectors()


def _checked_note(note: Any) -> Any:
    size = 0 if note is None else len(msgpack.packb(note))
    if size > MAX_NOTE_BYTES:
        raise ValueError(f"a note of {size} bytes; at most {MAX_NOTE_BYTES} are allowed")
    return note


def _checked_opinion(opinion: PairOpinion | None) -> PairOpinion | None:
    if opinion is None:
        return None
    odds, why = float(opinion[0]), str(opinion[1])
    if isnan(odds):
        raise ValueError("odds that are not a number")
    return PairOpinion(max(-MAX_ODDS, min(MAX_ODDS, odds)), why)
