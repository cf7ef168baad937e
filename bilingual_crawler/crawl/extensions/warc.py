"""The extension behind BILINGUAL_WARC: archives what is fetched in WARC files.

Whether a page may be kept is only known once it was read, so its response waits until its URL
has ended. It is written in the same checkpoint, so it is neither lost nor written twice, whenever
the crawl is killed. Responses wait only as long as their requests live.
"""

import time
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, Self
from weakref import WeakKeyDictionary

import scrapy
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Headers, Response
from scrapy.http.request import NO_CALLBACK

from bilingual_crawler import __version__
from bilingual_crawler.crawl.browser.resources import closed_by
from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.identity import robot_of
from bilingual_crawler.crawl.fetching.optouts import (
    OPT_OUTS,
    header_opt_outs,
    opt_out_of,
)
from bilingual_crawler.crawl.fetching.site_files import SUCCESS, is_site_file
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.requests import fingerprint_of
from bilingual_crawler.crawl.signals import url_ended
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.store.warc import Exchange, WarcFiles

TRUNCATED = {"download_stopped": "unspecified", "dataloss": "disconnect"}
STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class WaitingRecord(NamedTuple):
    """A response whose page has not been processed completely."""

    exchange: Exchange
    opt_out: str | None


class WarcArchive:
    """Archives requests and responses, except of pages that opted out.

    A page that could not be read may have opted out, so it is not kept either. Redirects, errors
    and files about a site are not pages, and are kept.
    """

    def __init__(self, crawler: Crawler) -> None:
        crawl = Crawl.of(crawler)
        config = crawl.config
        if not config.warc:
            raise NotConfigured("BILINGUAL_WARC is off")
        self._stats = crawler.stats
        self._honour = config.honour
        self._settings = crawler.settings
        self._waiting: WeakKeyDictionary[Request, WaitingRecord] = WeakKeyDictionary()
        self._journal = crawl.folder.journal
        self._files = WarcFiles(
            crawl.folder.path, self._journal, about(crawler, crawl), config.warc_bytes
        )
        crawl.folder.add(self._files)
        connect = crawler.signals.connect
        connect(self._downloaded, signal=signals.response_downloaded)
        connect(self._scheduled, signal=signals.request_scheduled)
        connect(self._ended, signal=url_ended)
        connect(self._closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension for a crawl."""
        return cls(crawler)

    def _downloaded(self, request: Request, response: Response) -> None:
        """Take a response as it came from the network, before it is decompressed."""
        exchange = exchange_of(request, response, _arrival_of(request))
        robot = robot_of(request, self._settings)
        if request.callback is NO_CALLBACK:
            opt_out = closed_by(response, robot) if RequestState.of(request).part_of_page else None
            if opt_out is None:
                self._keep(exchange)
            else:
                self._stats.inc_value(f"bilingual/warc/left_out/{opt_out}")
            return
        opt_out = opt_out_of(*header_opt_outs(response, robot), self._honour)
        self._waiting[request] = WaitingRecord(exchange, opt_out)

    def _ended(self, request: Request, state: State, reason: str) -> None:
        """Archive the response of a URL that has ended, if it may be kept."""
        waiting = self._waiting.pop(request, None)
        if waiting is not None:
            if reason == Outcome.ONE_LANGUAGE:  # the response is not in the requested language
                waiting = waiting._replace(exchange=replace(waiting.exchange, variant=""))
            self._decide(request, waiting, state, reason)

    def _scheduled(self, request: Request) -> None:
        """Archive the response to a request that is now retried.

        The frontier takes such a request back, so its URL does not end.
        """
        if not request.dont_filter:
            return
        again = fingerprint_of(request)
        for first in [each for each in self._waiting if fingerprint_of(each) == again]:
            self._decide(first, self._waiting.pop(first), State.LEASED, "retried")

    def _decide(self, request: Request, waiting: WaitingRecord, state: State, reason: str) -> None:
        objection = None if is_site_file(request) else _objection(request, waiting, state, reason)
        if objection is None:
            renderings = RequestState.of(request).renderings
            self._keep(replace(waiting.exchange, renderings=renderings))
        else:
            self._stats.inc_value(f"bilingual/warc/left_out/{objection}")

    def _keep(self, exchange: Exchange) -> None:
        self._journal.append(WarcFiles.name, exchange)

    def _closed(self) -> None:
        self._stats.set_value("bilingual/warc/written", self._files.written)
        self._stats.set_value("bilingual/warc/failed", self._files.failed)


def exchange_of(request: Request, response: Response, arrived: float) -> Exchange:
    """Return what passed over the network, without references to Scrapy's objects.

    The address of a proxy is private and left out.
    """
    proxied = bool(request.meta.get("proxy"))
    return Exchange(
        url=request.url,
        arrived=arrived,
        status=response.status,
        headers=_pairs(response.headers),
        body=response.body,
        protocol=response.protocol,
        address=str(response.ip_address) if response.ip_address and not proxied else None,
        truncated=next((TRUNCATED[flag] for flag in response.flags if flag in TRUNCATED), None),
        method=request.method,
        request_headers=_pairs(request.headers),
        request_body=request.body,
        variant=RequestState.of(request).variant,
    )


def _arrival_of(request: Request) -> float:
    """Return when a response was sent: now, or when the archive that it is from has captured it."""
    captured = RequestState.of(request).captured_at
    return datetime.fromisoformat(captured).timestamp() if captured else time.time()


def about(crawler: Crawler, crawl: Crawl) -> dict[str, str]:
    """Return what the files say about themselves: who made them and how."""
    settings, languages = crawler.settings, crawl.plan.langs
    return {
        "software": f"bilingual-crawler/{__version__} (Scrapy/{scrapy.__version__})",
        "format": "WARC File Format 1.1",
        "conformsTo": STANDARD,
        "operator": crawl.config.contact,
        "http-header-user-agent": settings.get("USER_AGENT") or "",
        "robots": "classic" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
        "language": ", ".join(languages.codes) or str(languages),
        "description": f"Pages for a crawl of {languages.harvest} in "
        f"{' and '.join(map(str, languages)) or languages.names}. "
        f"Opt-outs honoured: {', '.join(crawl.config.honour) or 'none'}.",
    }


def _objection(request: Request, waiting: WaitingRecord, state: State, reason: str) -> str | None:
    """Return why a response may not be kept: an opt-out, or that the page was not read."""
    for word in (reason, RequestState.of(request).opt_out, waiting.opt_out):
        if word in OPT_OUTS:
            return str(word)
    was_read = (state is State.DONE and reason != Outcome.REDIRECTED) or reason == Outcome.NOT_HTML
    return None if was_read or waiting.exchange.status not in SUCCESS else "unread"


def _pairs(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, values in headers.items() for value in values]
