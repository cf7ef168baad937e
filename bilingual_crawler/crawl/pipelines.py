"""The item pipelines: opt-outs, language, machine translation; duplicates, storing and pairing.

A step drops a page with a reason, which is stored with the URL in the frontier. So the report of
a crawl accounts for every page.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import Response

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.optouts import opt_out_of, record_opt_out
from bilingual_crawler.crawl.request_state import RequestState, end_url
from bilingual_crawler.documents.document import Document, why_unwanted
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.urls.hosts import host_of


class Dropped(DropItem):
    """A document that is not kept; `reason` is its `Outcome`."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message, log_level="DEBUG")
        self.reason = reason


class Step(ABC):
    """The base class of our pipelines."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawl = Crawl.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the step for a crawl."""
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Process a document; let other items pass."""
        if isinstance(item, Document):
            self.take(item)
        return item

    @abstractmethod
    def take(self, document: Document) -> None:
        """Do this step's work, or raise Dropped."""


class LanguageFilter(Step):
    """Keeps pages in one of the wanted languages, as identified when the page was read."""

    def take(self, document: Document) -> None:
        """Drop a page in another language, or with too little text in its main one."""
        pair = self.crawl.languages_of(document.url)
        unwanted = why_unwanted(document, pair, self.crawl.config.language_share)
        if unwanted is not None:
            raise Dropped(*unwanted)


class MachineTranslationFilter(Step):
    """Counts documents that say they are machine-translated, and drops them on request.

    A service that merely offers to translate a page does not count.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._stats = crawler.stats

    def take(self, document: Document) -> None:
        """Drop a machine-translated document, or let it pass with its mark."""
        mark = document.machine_translated
        if not mark:
            return
        self._stats.inc_value(f"bilingual/machine_translated/{mark}")
        if self.crawl.config.machine_translated == "drop":
            raise Dropped(Outcome.MACHINE_TRANSLATED, f"the page is machine-translated: {mark}")


class Harvest(Step):
    """Keeps the document, unless it is off topic or a duplicate, and writes the pairs it makes."""

    def take(self, document: Document) -> None:
        """Drop what the corpus does not keep; a later translation may bring it back."""
        if self.crawl.corpus.add(document, again=self.crawl.revisits.takes(document)):
            return
        if document.topic is not None and not document.topic.on_topic:
            raise Dropped(
                Outcome.OFF_TOPIC, f"the page scores {document.topic.score:g} on the topic"
            )
        raise Dropped(Outcome.DUPLICATE, "nearly the same as another page")


class OptOutFilter(Step):
    """Drops pages that opt out, and records for every page how it ended."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._stats = crawler.stats
        crawler.signals.connect(self._note_kept, signal=signals.item_scraped)
        crawler.signals.connect(self._note_dropped, signal=signals.item_dropped)
        crawler.signals.connect(self._note_error, signal=signals.item_error)

    def take(self, document: Document) -> None:
        """Drop a page that opts out in its own text or, for noindex, in its headers."""
        honour = self.crawl.honour_of(document.url)
        opt_out = opt_out_of(document.robots, document.tdm_reservation, honour)
        if opt_out is not None:
            record_opt_out(self._stats, host_of(document.url), opt_out)
            raise Dropped(opt_out, f"the page opts out: {opt_out}")

    def _note_kept(self, item: Any, response: Response | None) -> None:
        _note(item, response, State.DONE, Outcome.STORED)

    def _note_dropped(self, item: Any, response: Response | None, exception: Exception) -> None:
        _note(item, response, State.DONE, getattr(exception, "reason", Outcome.DROPPED))

    def _note_error(self, item: Any, response: Response | None) -> None:
        _note(item, response, State.FAILED, Outcome.ERROR_IN_PIPELINE)


def _note(item: Any, response: Response | None, state: State, reason: str) -> None:
    """Record the outcome of a document's URL for the scheduler.

    A URL with several documents is stored if one of them is.
    """
    if isinstance(item, Document) and response is not None:
        end = RequestState.of(response).end
        if item.variant and end is not None and end.reason == Outcome.STORED:
            return
        end_url(response, state, reason)
