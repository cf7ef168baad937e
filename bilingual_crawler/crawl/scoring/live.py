"""What a scorer may ask of the crawl that is running."""

from collections.abc import Callable
from sys import intern

from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.documents.document import Document
from bilingual_crawler.frontier.entry import Frontier, State
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledDict
from bilingual_crawler.urls.fingerprint import url_fingerprint

SCHEMA = """
CREATE TABLE IF NOT EXISTS languages (fingerprint INTEGER PRIMARY KEY, language TEXT NOT NULL);
"""


class PageLanguages:
    """The language of every page that was fetched, in the pair or not."""

    def __init__(self, journal: Journal) -> None:
        self._languages = JournaledDict(journal, "languages", SCHEMA, key=int, decode=intern)

    def note(self, document: Document) -> None:
        """Remember a page, under its URL and the one that it was asked for with."""
        if document.language is None:
            return
        for url in {document.url, document.requested_url or document.url}:
            self._languages[url_fingerprint(url)] = intern(document.language)

    def get(self, url: str) -> str | None:
        """The language of a page; None if it was not fetched, or has none."""
        return self._languages.get(url_fingerprint(url))


class LiveCrawl:
    """The crawl that is running. Everything is looked up in dictionaries, so any thread may."""

    def __init__(
        self, frontier: Callable[[], Frontier], corpus: Corpus, languages: PageLanguages
    ) -> None:
        self._frontier = frontier
        self._corpus = corpus
        self._languages = languages

    def state_of(self, url: str) -> State | None:
        """Where a URL stands; None if it was never pushed."""
        return self._frontier().state_of(url_fingerprint(url))

    def language_of(self, url: str) -> str | None:
        """The language of a fetched page; None if it was not fetched, or has none."""
        return self._languages.get(url)

    def partner_of(self, url: str) -> str | None:
        """The page that this one is paired with now."""
        return self._corpus.partner_of(url)
