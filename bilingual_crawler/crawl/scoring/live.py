"""What scorers learn from the running crawl: answers to their questions, and news."""

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
    """The language of every fetched page, whether or not it is a wanted one."""

    def __init__(self, journal: Journal) -> None:
        self._languages = JournaledDict(journal, "languages", SCHEMA, key=int, decode=intern)

    def note(self, document: Document) -> None:
        """Remember the language of a page, under its URL and the one that was requested."""
        if document.language is None:
            return
        for url in {document.url, document.requested_url or document.url}:
            self._languages[url_fingerprint(url)] = intern(document.language)

    def get(self, url: str) -> str | None:
        """Return the language of a page; None if it was not fetched, or has none."""
        return self._languages.get(url_fingerprint(url))


class LiveCrawl:
    """The running crawl, for scorers. It only reads dictionaries, so any thread may use it."""

    def __init__(
        self, frontier: Callable[[], Frontier], corpus: Corpus, languages: PageLanguages
    ) -> None:
        self._frontier = frontier
        self._corpus = corpus
        self._languages = languages

    def state_of(self, url: str) -> State | None:
        """Return the state of a URL; None if it was never pushed."""
        return self._frontier().state_of(url_fingerprint(url))

    def language_of(self, url: str) -> str | None:
        """Return the language of a page; None if it was not fetched, or has none."""
        return self._languages.get(url)

    def partner_of(self, url: str) -> str | None:
        """Return the page with which this one is paired now."""
        return self._corpus.partner_of(url)


class Feedback:
    """Passes signals of the crawl to the scorers as news, and counts the results of probes."""

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
        self._add(pair.first, PairNews(pair, kept=True))

    def _lost(self, pair: DocumentPair) -> None:
        self._add(pair.first, PairNews(pair, kept=False))

    def _ended(self, request: Request, state: State, reason: str) -> None:
        """Report every URL under which a page could not be fetched, and redirected probes.

        A probe that redirects may lead to a page to which all missing URLs redirect. Variants
        and pages that discovery examines are left out: the former say nothing about their URL,
        and the latter were never scored.
        """
        if RequestState.of(request).identity:
            return
        is_probe = RequestState.of(request).probe
        if state is State.FAILED:
            for url in (*request.meta.get("redirect_urls", ()), request.url):
                self._add(url, Failed(url, reason))
        elif is_probe and reason == Outcome.REDIRECTED:
            self._add(request.url, Failed(request.url, reason))
        if is_probe and reason != Outcome.REDIRECTED:
            result = "missed" if state is State.FAILED else "found"
            self._stats.inc_value(f"bilingual/probes/{result}")

    def _add(self, url: str, news: News) -> None:
        self._keepers.of(self._crawl.languages_of(url)).tell(news)
