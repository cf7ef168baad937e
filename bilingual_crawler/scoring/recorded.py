"""What a crawl left in its folder, for questions about it afterwards, or while it runs."""

import json
import sqlite3
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.store.folder import JOURNAL, PAIRS
from bilingual_crawler.urls.fingerprint import url_fingerprint


class RecordedCrawl:
    """The last checkpoint of a crawl; it is only read, so the crawl may go on meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        journal = (folder / JOURNAL).absolute()
        try:
            self._connection = sqlite3.connect(f"{journal.as_uri()}?mode=ro", uri=True)
            self.langs = str(self._value("SELECT value FROM facts WHERE name = 'langs'"))
        except sqlite3.Error as error:
            raise ConfigurationError(
                f"There is no crawl to be read in {folder} ({error}).",
                f"Name the folder of a crawl, one with {JOURNAL} in it.",
            ) from error

    def close(self) -> None:
        """Let go of the folder."""
        self._connection.close()

    def state_of(self, url: str) -> State | None:
        """Where a URL stood; None if it was never pushed."""
        state = self._of(url, "SELECT state FROM urls WHERE fingerprint = ?")
        return None if state is None else State(state)

    def priority_of(self, url: str) -> float | None:
        """The priority a URL had last."""
        priority = self._of(url, "SELECT priority FROM urls WHERE fingerprint = ?")
        return None if priority is None else float(priority)

    def language_of(self, url: str) -> str | None:
        """The language of a fetched page."""
        language = self._of(url, "SELECT language FROM languages WHERE fingerprint = ?")
        return None if language is None else str(language)

    def partner_of(self, url: str) -> str | None:
        """The page that this one was paired with."""
        return self._partners.get(url)

    def learned(self, scorer: str, pair: str) -> bytes | None:
        """What a scorer had learned."""
        sql = "SELECT state FROM learned WHERE scorer = ? AND pair = ?"
        state = self._value(sql, scorer, pair)
        return None if state is None else bytes(state)

    @cached_property
    def _partners(self) -> dict[str, str]:
        """Both ways; of a running crawl's pairs the later ones hold."""
        partners: dict[str, str] = {}
        with suppress(FileNotFoundError), (self._folder / PAIRS).open(encoding="utf-8") as lines:
            for line in lines:
                pair = json.loads(line)
                partners[pair["url1"]] = pair["url2"]
                partners[pair["url2"]] = pair["url1"]
        return partners

    def _of(self, url: str, sql: str) -> Any:
        return self._value(sql, url_fingerprint(url))

    def _value(self, sql: str, *row: object) -> Any:
        found = self._connection.execute(sql, row).fetchone()
        return None if found is None else found[0]
