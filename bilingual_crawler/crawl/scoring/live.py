"""What a scorer may ask of the crawl that is running.

From the signals of a crawl to the scorers: what was found, what failed, when it is over.
"""

from collections.abc import Callable
from sys import intern

from scrapy import Request
from scrapy.crawler import Crawler

from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.signals import crawl_ending, pair_found, pair_lost, url_ended
from bilingual_crawler.documents.document import Document
from bilingual_crawler.frontier.entry import Frontier, State
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.scoring.scorekeeper import Failed, News, PairNews, Scorekeepers
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


class Feedback:
    """Keeps the news for each scorer, and counts what became of its probes."""

    def __init__(self, crawler: Crawler, keepers: Scorekeepers) -> None:
        self._crawl = Crawl.of(crawler)
        self._stats = crawler.stats
        self._keepers = keepers
        for handler, signal in (
            (self._found, pair_found),
            (self._lost, pair_lost),
            (self._ended, url_ended),
            (keepers.finish, crawl_ending),
        ):
            crawler.signals.connect(handler, signal=signal)

    def _found(self, pair: DocumentPair) -> None:
        self._tell(pair.first, PairNews(pair, kept=True))

    def _lost(self, pair: DocumentPair) -> None:
        self._tell(pair.first, PairNews(pair, kept=False))

    def _ended(self, request: Request, state: State, reason: str) -> None:
        """Tell of every name under which a page could not be had, and of misled probes.

        A probe that redirects is told too, since it may lead where everybody is sent. Whether a
        page can be had in a further language says nothing of its URL, and what a search for
        sites looks at is no link that a scorer had judged.
        """
        if RequestState.of(request).identity:
            return
        is_probe = RequestState.of(request).probe
        if state is State.FAILED:
            for url in (*request.meta.get("redirect_urls", ()), request.url):
                self._tell(url, Failed(url, reason))
        elif is_probe and reason == Outcome.REDIRECTED:
            self._tell(request.url, Failed(request.url, reason))
        if is_probe and reason != Outcome.REDIRECTED:
            result = "missed" if state is State.FAILED else "found"
            self._stats.inc_value(f"bilingual/probes/{result}")

    def _tell(self, url: str, news: News) -> None:
        self._keepers.of(self._crawl.languages_of(url)).tell(news)
