"""Which pages of a crawl with a topic are not about it; a crawl without one has none."""

from collections.abc import Container

from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.no_pairs import NoPairs
from bilingual_crawler.pairing.pair import DocumentPair, PackedPair
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledSet

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


def off_topic_pages(journal: Journal) -> JournaledSet:
    """Return the pages, by their keys, as the journal knows them."""
    return JournaledSet(journal, "off_topic", SCHEMA)
