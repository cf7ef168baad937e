"""Which pages of a crawl with a topic are not about it; a crawl without one has none."""

from collections.abc import Container, Iterable

from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.no_pairs import NoPairs
from bilingual_crawler.pairing.packed_pair import PackedPair
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.store.journal import Journal, Statement

SCHEMA = "CREATE TABLE IF NOT EXISTS off_topic (url TEXT PRIMARY KEY) WITHOUT ROWID;"
INSERT = "INSERT OR REPLACE INTO off_topic VALUES (?)"


def is_wanted(pair: DocumentPair | PackedPair, off_topic: Container[str]) -> bool:
    """Whether one page of a pair, at least, is about the topic."""
    return pair.first not in off_topic or pair.second not in off_topic


def wanted_url(node: str, matcher: Matcher | NoPairs, off_topic: Container[str]) -> str | None:
    """The URL under which a node is paired; None if it is not, or if the pair is not wanted."""
    url = matcher.paired_url(node)
    if url is None or url not in off_topic:
        return url
    return None if matcher.partner_of(url) in off_topic else url


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
