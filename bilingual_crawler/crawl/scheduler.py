"""Scrapy's scheduler on top of a frontier: the adapter between requests and URLs.

Scrapy asks for the next request whenever something has changed, but never says that a request
is over. The engine's set of requests in progress does: a request that was handed out and is no
longer in the set has been processed completely, pipelines included. Only then is its URL done,
so a crash at any earlier moment leaves the URL in the queue.
"""

import logging
import time
from typing import Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import CallLaterResult, call_later, create_looping_call
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import load_object

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.deadline import INTERRUPTED, OutOfTimeError, interruption
from bilingual_crawler.crawl.fetching.handler import GuardedDownloadHandler
from bilingual_crawler.crawl.request_state import RequestState, UrlEnd, end_url
from bilingual_crawler.crawl.requests import (
    StoredRequestError,
    decode,
    encode,
    fingerprint_of,
    make_plain,
)
from bilingual_crawler.crawl.revisits import make_unconditional
from bilingual_crawler.crawl.signals import (
    crawl_ending,
    crawl_failed,
    request_sent,
    stop_deadline_passed,
    url_ended,
    url_redirected,
)
from bilingual_crawler.crawl.slots import SlotGate, slot_key
from bilingual_crawler.crawl.workers import open_frontier
from bilingual_crawler.documents.document import DocumentKey
from bilingual_crawler.errors import exit_on_configuration_error
from bilingual_crawler.frontier.entry import CrawlFrontier, Entry, Pushed, State
from bilingual_crawler.outcomes import LinkRefusal, Outcome
from bilingual_crawler.store.folder import ENDED_SITES
from bilingual_crawler.store.journal import JournalError
from bilingual_crawler.urls.fingerprint import request_fingerprint, url_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of

logger = logging.getLogger(__name__)


MAX_UNREADABLE = 100
"""Unreadable requests to drop in one go before the engine gets its turn."""
PROCESSED = UrlEnd(State.DONE, Outcome.PROCESSED)
"""How a URL ends if no component says otherwise: the callback made no document."""


class FrontierScheduler(BaseScheduler):
    """Hands out the best URL that can be sent now, and keeps all URLs on disk."""

    frontier: CrawlFrontier

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        assert crawler.spider is not None
        self._spider = crawler.spider
        self._leases: dict[int, Request] = {}
        self._unwritable: dict[int, Request] = {}
        self._interrupted = self._is_unwritable = False
        self._alarm: CallLaterResult | None = None
        self._alarm_at = float("inf")
        self._checkpoints = create_looping_call(self._checkpoint)
        self._keeping_up = create_looping_call(self._keep_up)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler of a crawl."""
        return cls(crawler)

    def open(self, spider: object) -> None:  # noqa: ARG002 - Scrapy's signature
        """Rebuild the frontier from the crawl's folder, and save it regularly from now on."""
        with exit_on_configuration_error():
            self._open()

    def _open(self) -> None:
        ours = self._crawl
        downloader = self._crawler.engine.downloader
        self._gate = SlotGate(
            downloader, ours.plan.sites, ours.config.site_pages, ours.config.host_pages
        )
        if ours.config.site_yield:
            self._gate.end(ours.folder.facts.get(ENDED_SITES).split())
        self.frontier = open_frontier(ours, self._gate)
        self.frontier.prefetch((url_fingerprint(seed), host_of(seed)) for seed in ours.plan.seeds)
        ours.begin(self.frontier, self._gate)
        if self.frontier.known:
            logger.info(
                "Resuming the crawl in %s: %d URLs known, %d waiting",
                ours.folder.path,
                self.frontier.known,
                len(self.frontier),
            )
        self._crawler.signals.connect(self._sent, signal=self._sent_signal())
        self._crawler.signals.connect(self._callback_failed, signal=signals.spider_error)
        self._crawler.signals.connect(self._interrupt, signal=stop_deadline_passed)
        self._checkpoints.start(ours.config.checkpoint_seconds, now=False)
        if self.frontier.keep_up_seconds:
            self._keeping_up.start(self.frontier.keep_up_seconds, now=False)

    def close(self, reason: str) -> None:
        """Write everything to disk, including whether the crawl is finished."""
        for loop in (self._checkpoints, self._keeping_up):
            if loop.running:
                loop.stop()
        self._cancel_alarm()
        self._sweep()
        self._crawler.signals.send_catch_log(crawl_ending)
        if self.frontier.dropped:
            self._crawler.stats.set_value("bilingual/frontier/dropped", self.frontier.dropped)
        folder, is_tidy = self._crawl.folder, False
        is_finished = reason == "finished" and not self.frontier.pending()
        try:
            self.frontier.close()
            folder.journal.checkpoint(wait=True)
            self._crawl.corpus.tidy(self._crawl.deadline.check)
            is_tidy = True
            self._crawl.revisits.finish(is_finished=is_finished)
            folder.facts["finished"] = "yes" if is_finished else "no"
        except (JournalError, OSError) as error:
            self._report_unwritable(error)
        except OutOfTimeError:
            logger.info(
                "No time was left to tidy %s: that is done when the crawl is resumed",
                folder.path,
            )
        finally:
            folder.close(save=is_tidy)

    def has_pending_requests(self) -> bool:
        """Return True if anything is left to hand out, now or later."""
        self._sweep()
        return self.frontier.pending()

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request, raise its priority if it is queued, or take it back for a retry."""
        if "redirect_times" in request.meta or "retry_times" in request.meta:
            request.meta.pop("download_slot", None)  # the downloader set it for the old URL
        url, host = request.url, slot_key(request)
        if not host:
            return False
        if request.meta.get("redirect_urls"):
            make_unconditional(request)
            if not self._may_redirect(request):
                return False
        fingerprint = fingerprint_of(request)
        payload = self._encode(fingerprint, request)
        if request.dont_filter and self.frontier.state_of(fingerprint) is State.LEASED:
            lease = self._leases.pop(fingerprint, None)
            if lease is not None:
                self._gate.sent(lease)  # it may have failed before it was sent
            wait = RequestState.of(request).not_before - time.time()
            self.frontier.retry(fingerprint, time.monotonic() + max(wait, 0.0), payload)
            return True
        score = RequestState.of(request).score
        priority = float(request.priority if score is None else score)
        again = request.dont_filter or self._is_failed_seed(request, fingerprint)
        pushed = self.frontier.push(fingerprint, url, host, priority, payload, again=again)
        self._count("frontier/" + pushed.name.lower())
        forecasts = self._crawl.forecasts
        if forecasts is not None and pushed is Pushed.NEW and not RequestState.of(request).identity:
            forecasts.found(url)
        return pushed is not Pushed.KNOWN

    def _is_failed_seed(self, request: Request, fingerprint: int) -> bool:
        """Return True for a seed that an earlier run could not fetch; this run retries it."""
        is_seed = request.meta.get("is_start_request") and "redirect_urls" not in request.meta
        return bool(is_seed) and self.frontier.state_of(fingerprint) is State.FAILED

    def next_request(self) -> Request | None:
        """Return the best request that can be sent at this moment."""
        self._sweep()
        for _ in range(MAX_UNREADABLE):
            entry = self.frontier.pop(time.monotonic())
            if entry is None:
                self._set_alarm()
                return None
            request = self._decode(entry)
            if request is not None:
                self._leases[entry.fingerprint] = request
                self._gate.handed_out(request, entry.host)
                self._crawl.admit_host_of(request)
                if self._crawl.discovery is not None:
                    self._crawl.discovery.handed_out(request)
                return request
        self._wake_after(0.0)
        return None

    def _encode(self, fingerprint: int, request: Request) -> bytes | None:
        try:
            return encode(request, self._spider)
        except (TypeError, ValueError) as error:
            if not self._unwritable:
                logger.warning(
                    "%s cannot be saved and would be lost in a restart: %s."
                    " Use methods that the spider names in `callbacks` and `errbacks`, and plain"
                    " values in meta.",
                    request,
                    error,
                )
            self._unwritable[fingerprint] = request
            self._count("frontier/unwritable")
            return None

    def _decode(self, entry: Entry) -> Request | None:
        """Return the request of an entry; end the URL and return None if it is not ours."""
        request = self._unwritable.pop(entry.fingerprint, None)
        try:
            if request is None:
                request = decode(entry.url, entry.payload, self._spider)
            if slot_key(request) != entry.host:
                raise StoredRequestError("its address is not on the host for which it was saved")  # noqa: TRY301
        except StoredRequestError as error:
            logger.warning("The saved request for %.200r is not sent: %s", entry.url, error)
            self.frontier.end(entry.fingerprint, State.FAILED, Outcome.UNREADABLE)
            self._count("frontier/unreadable")
            return None
        RequestState.update(request, score=entry.priority)
        return request

    def _may_redirect(self, request: Request) -> bool:
        """Return True if the target of a redirect belongs to the crawl; a seed's always does.

        The redirecting URL is another name for its target, which pairing must know.
        """
        scope, source = self._crawl.scope, request.meta["redirect_urls"][-1]
        state = RequestState.of(request)
        variant, is_look = state.variant, state.look is not None
        lease = self._leases.get(request_fingerprint(source, "GET", b"", state.identity))
        if lease is not None:
            end_url(lease, State.DONE, Outcome.REDIRECTED)
        depth = request.meta.get("depth", 0)
        if is_look:
            refusal = scope.refusal_on_any_site(request.url, depth)
        else:
            if request.meta.get("is_start_request"):
                scope.admit(slot_key(request))
            refusal = self._refusal_of_target(request, source, depth)
        if refusal is not None:
            self._count(f"redirects/refused/{refusal}")
            return False
        if variant:
            make_plain(request)  # the page has its own address in that language
        if not is_look:
            self._crawl.corpus.alias(str(DocumentKey(source, variant)), request.url)
            if not variant:
                self._crawler.signals.send_catch_log(
                    url_redirected, source=source, target=request.url
                )
        return True

    def _refusal_of_target(self, request: Request, source: str, depth: int) -> LinkRefusal | None:
        """Return why the target of a redirect is not fetched; None if it is.

        A host that has yet to link back may redirect within its own site, for instance from
        example.eus to www.example.eus.
        """
        scope, host = self._crawl.scope, host_of(request.url)
        state = RequestState.of(request)
        if scope.covers(host):
            claimed_by, answered = self._crawl.foreign.claim_of(host)
            RequestState.update(request, claimed_by=claimed_by, claim_answered=answered)
        elif state.claimed_by and site_of(host) == site_of(host_of(source)):
            self._crawl.foreign.learn(host, state)
            return scope.refusal_on_any_site(request.url, depth)
        return scope.refusal(request.url, depth)

    def _sweep(self) -> None:
        """End every URL whose request the engine has finished."""
        slot = self._crawler.engine._slot  # noqa: SLF001 - the only place that knows
        in_progress = slot.inprogress if slot is not None else ()
        over = [fp for fp, request in self._leases.items() if request not in in_progress]
        for fingerprint in over:
            request = self._leases.pop(fingerprint)
            self._gate.sent(request)
            end = RequestState.of(request).end
            if self._interrupted and (end is None or end.reason == INTERRUPTED):
                continue  # its lease ends with the process, and the next run fetches it
            state, reason = end or PROCESSED
            self.frontier.end(fingerprint, state, reason)
            self._watch_end(request, state, reason)
            self._crawler.signals.send_catch_log(
                url_ended, request=request, state=state, reason=reason
            )

    def _watch_end(self, request: Request, state: State, reason: str) -> None:
        """Let the forecast know of an address that ended; a variant is not one of its own."""
        forecasts = self._crawl.forecasts
        known = RequestState.of(request)
        if forecasts is not None and not (known.identity or known.visited_as):
            is_page = state is State.DONE and reason != Outcome.REDIRECTED
            forecasts.ended(request.url, is_page=is_page)

    def _callback_failed(self, response: object) -> None:
        """Record that a callback failed on its page."""
        request = getattr(response, "request", None)
        if isinstance(request, Request):
            end_url(request, State.FAILED, Outcome.ERROR_IN_CALLBACK)

    def _interrupt(self) -> None:
        """Stop waiting for pages; the missing ones are requested in the next run."""
        self._interrupted = True
        self._gate.interrupt(interruption())

    def _sent_signal(self) -> object:
        """Return the signal for a request that was sent to its host.

        Our own handler knows the exact moment; with another handler, the moment at which the
        request enters the downloader's queue has to do.
        """
        handler = load_object(self._crawler.settings.getwithbase("DOWNLOAD_HANDLERS")["http"])
        is_ours = isinstance(handler, type) and issubclass(handler, GuardedDownloadHandler)
        return request_sent if is_ours else signals.request_reached_downloader

    def _sent(self, request: Request) -> None:
        """Note that a request was sent; its host may get another one after the delay."""
        host = self._gate.sent(request)
        if host is not None:
            self.frontier.recheck(host)
            self._wake_after(0.0)

    def _set_alarm(self) -> None:
        """Wake the engine when a host's delay is over; by itself it polls every 5 s."""
        at = self.frontier.wake_at()
        if at is not None:
            self._wake_after(max(at - time.monotonic(), 0.0))

    def _wake_after(self, seconds: float) -> None:
        at = time.monotonic() + seconds
        if self._alarm is not None:
            if self._alarm_at <= at:
                return
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = call_later(seconds, self._wake)

    def _wake(self) -> None:
        self._alarm = None
        slot = self._crawler.engine._slot  # noqa: SLF001 - nothing public wakes the engine
        if slot is not None:
            slot.nextcall.schedule()

    def _cancel_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _checkpoint(self) -> None:
        self._sweep()
        try:
            self._crawl.folder.journal.checkpoint()
        except JournalError as error:
            self._report_unwritable(error)
            self._checkpoints.stop()
            deferred_from_coro(self._crawler.engine.close_spider_async(reason="journal_error"))
            self._crawler.signals.send_catch_log(stop_deadline_passed)

    def _report_unwritable(self, error: Exception) -> None:
        """Report once that the disk cannot be written; the last checkpoint stays valid."""
        if not self._is_unwritable:
            self._is_unwritable = True
            sentence = (
                f"The crawl stops: {error}. Everything up to the last checkpoint is kept. Fix"
                f" that, then resume with the same command and -a output={self._crawl.folder.path}."
            )
            logger.critical(sentence)
            self._crawler.signals.send_catch_log(crawl_failed, sentence=sentence)

    def _keep_up(self) -> None:
        self.frontier.keep_up()

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(f"bilingual/{name}")
