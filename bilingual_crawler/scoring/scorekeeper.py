"""Calls a scorer in the right order, checks its answers, and saves what it learned.

Events come from the event loop while the scorer works on its thread. They are kept here and passed
on before the next links are scored, so that a scorer is never called by two threads at once.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import Languages
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.scoring.scorer import LinkScorer, Proposal
from bilingual_crawler.store.journal import Journal, Statement

MAX_SAVE_SHARE = 0.02
"""The share of the time that may be spent on saving what was learned."""


class PairNews(NamedTuple):
    """A pair was found, or given up."""

    pair: DocumentPair
    kept: bool


class Failed(NamedTuple):
    """A URL gave no page."""

    url: str
    reason: str


class Redirected(NamedTuple):
    """A URL leads to another."""

    source: str
    target: str


News = PairNews | Failed | Redirected


class PageScores(NamedTuple):
    """A scorer's answers when a page has come."""

    scores: list[float]
    proposals: list[Proposal]
    changes: list[tuple[str, float]]
    exhausted: list[str]
    seconds: float
    """The processor time it took."""


class Scorekeeper:
    """Tells a scorer everything in order, checks its answers, and saves what it learned."""

    def __init__(self, scorer: LinkScorer, save_seconds: float) -> None:
        self.scorer = scorer
        self._save_seconds = save_seconds
        self._save_at = time.monotonic() + save_seconds
        self._news: list[News] = []
        self._unsaved: bytes | None = None

    def tell(self, news: News) -> None:
        """Keep an event until the next page has come."""
        self._news.append(news)

    def take_news(self) -> list[News]:
        """Return the events to pass on with the page that has come."""
        news, self._news = self._news, []
        return news

    def judge(self, document: Document, links: Sequence[Link], news: Iterable[News]) -> PageScores:
        """Pass on a page and all events before it; ask for scores and actions."""
        started = time.thread_time()
        self.scorer.arrived(document)
        self._pass_on(news)
        scores = self.scorer.score(document, links) if links else []
        if len(scores) != len(links):
            raise ValueError(f"{self._name} gave {len(scores)} scores for {len(links)} links")
        proposals, changes = self.scorer.proposals(), self.scorer.changes()
        wished = (*(each.score for each in proposals), *(priority for _, priority in changes))
        if any(map(math.isnan, (*scores, *wished))):
            raise ValueError(f"{self._name} gave a score that is not a number")
        if time.monotonic() >= self._save_at:
            self._write_down()
        ended = self.scorer.exhausted()
        return PageScores(scores, proposals, changes, ended, time.thread_time() - started)

    def finish(self) -> None:
        """Pass on the remaining events and save what was learned: the crawl is over."""
        self._pass_on(self.take_news())
        self._write_down()

    def take_state(self) -> bytes | None:
        """Return what was learned, if it was saved since the last call."""
        state, self._unsaved = self._unsaved, None
        return state

    def _pass_on(self, news: Iterable[News]) -> None:
        for each in news:
            if isinstance(each, PairNews):
                self.scorer.found(each.pair, each.kept)
            elif isinstance(each, Redirected):
                self.scorer.redirected(each.source, each.target)
            else:
                self.scorer.failed(each.url, each.reason)

    def _write_down(self) -> None:
        started = time.monotonic()
        self._unsaved = self.scorer.state()
        now = time.monotonic()
        self._save_at = now + max(self._save_seconds, (now - started) / MAX_SAVE_SHARE)

    @property
    def _name(self) -> str:
        return type(self.scorer).__name__


logger = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE IF NOT EXISTS learned (
    scorer TEXT NOT NULL, pair TEXT NOT NULL, state BLOB NOT NULL, PRIMARY KEY (scorer, pair)
) WITHOUT ROWID;
"""
READ = "SELECT pair, state FROM learned WHERE scorer = ?"
INSERT = "INSERT OR REPLACE INTO learned VALUES (?, ?, ?)"


class Scorekeepers:
    """One scorer per language pair, made when it is first needed; part of the checkpoints.

    What was learned belongs to a scorer and a pair: a crawl that goes on with another scorer leaves
    it as it is.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[Languages], LinkScorer],
        journal: Journal,
        save_seconds: float,
    ) -> None:
        self._name = name
        self._make = make
        self._save_seconds = save_seconds
        self._keepers: dict[str, Scorekeeper] = {}
        journal.define(SCHEMA)
        self._learned: dict[str, bytes] = dict(journal.read(READ, (name,)))
        journal.attach(self)

    def of(self, pair: Languages) -> Scorekeeper:
        """Return the scorer for a language pair, with what an earlier run learned."""
        keeper = self._keepers.get(str(pair))
        if keeper is None:
            scorer = restored(self._make, pair, self._learned.pop(str(pair), None))
            keeper = self._keepers[str(pair)] = Scorekeeper(scorer, self._save_seconds)
        return keeper

    def finish(self) -> None:
        """Save everything that was learned: the crawl is over."""
        for keeper in self._keepers.values():
            try:
                keeper.finish()
            except Exception:
                logger.exception("What %s learned last was not saved", self._name)

    def changes(self) -> Iterable[Statement]:
        """Return rows for the journal."""
        states = ((pair, keeper.take_state()) for pair, keeper in self._keepers.items())
        return [(INSERT, [(self._name, pair, state) for pair, state in states if state])]


def restored(
    make: Callable[[Languages], LinkScorer], pair: Languages, state: bytes | None
) -> LinkScorer:
    """Return a scorer that goes on from `state`, or a new one if that cannot be read."""
    scorer = make(pair)
    if state is None:
        return scorer
    try:
        scorer.restore(state)
    except ValueError as error:
        logger.warning(
            "%s starts from scratch: what it had learned cannot be read (%s)",
            type(scorer).__name__,
            error,
        )
        return make(pair)
    return scorer
