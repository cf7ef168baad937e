"""The scorers of a crawl and their part of its checkpoints: what they learned survives."""

import logging
from collections.abc import Callable, Iterable

from bilingual_crawler.languages import Languages
from bilingual_crawler.scoring.scorekeeper import Scorekeeper
from bilingual_crawler.scoring.scorer import LinkScorer
from bilingual_crawler.store.journal import Journal, Statement

logger = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE IF NOT EXISTS learned (
    scorer TEXT NOT NULL, pair TEXT NOT NULL, state BLOB NOT NULL, PRIMARY KEY (scorer, pair)
) WITHOUT ROWID;
"""
READ = "SELECT pair, state FROM learned WHERE scorer = ?"
INSERT = "INSERT OR REPLACE INTO learned VALUES (?, ?, ?)"


class Scorekeepers:
    """One scorer for each pair of languages, made when it is first wanted.

    What was learned belongs to a scorer and a pair: a crawl that goes on with another
    scorer leaves it as it is.
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
        """The scorer for a pair of languages, which knows what an earlier run learned."""
        keeper = self._keepers.get(str(pair))
        if keeper is None:
            scorer = restored(self._make, pair, self._learned.pop(str(pair), None))
            keeper = self._keepers[str(pair)] = Scorekeeper(scorer, self._save_seconds)
        return keeper

    def finish(self) -> None:
        """Have everything written down that was learned: the crawl is over."""
        for keeper in self._keepers.values():
            try:
                keeper.finish()
            except Exception:
                logger.exception("What %s learned at last is not saved", self._name)

    def changes(self) -> Iterable[Statement]:
        """Rows for the journal."""
        states = ((pair, keeper.take_state()) for pair, keeper in self._keepers.items())
        return [(INSERT, [(self._name, pair, state) for pair, state in states if state])]


def restored(
    make: Callable[[Languages], LinkScorer], pair: Languages, state: bytes | None
) -> LinkScorer:
    """A scorer that goes on from `state`, or a new one if there is none or it is unreadable."""
    scorer = make(pair)
    if state is None:
        return scorer
    try:
        scorer.restore(state)
    except ValueError as error:
        logger.warning(
            "%s begins to learn anew: what it had learned cannot be read (%s)",
            type(scorer).__name__,
            error,
        )
        return make(pair)
    return scorer
