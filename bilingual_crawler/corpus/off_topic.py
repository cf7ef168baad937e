"""Which pages of a crawl with a topic are not about it; a crawl without one has none."""

from collections.abc import Iterable

from bilingual_crawler.journal import Journal, Statement

SCHEMA = "CREATE TABLE IF NOT EXISTS off_topic (url TEXT PRIMARY KEY) WITHOUT ROWID;"
INSERT = "INSERT OR REPLACE INTO off_topic VALUES (?)"


class OffTopic:
    """The pages by their keys, saved with every checkpoint."""

    def __init__(self, journal: Journal) -> None:
        journal.define(SCHEMA)
        self._urls = {str(url) for (url,) in journal.read("SELECT url FROM off_topic")}
        self._new: list[str] = []
        journal.attach(self)

    def __contains__(self, url: object) -> bool:
        return url in self._urls

    def add(self, url: str) -> None:
        """Remember a page."""
        self._urls.add(url)
        self._new.append(url)

    def changes(self) -> Iterable[Statement]:
        """Rows for the journal."""
        new, self._new = self._new, []
        return [(INSERT, [(url,) for url in new])]
