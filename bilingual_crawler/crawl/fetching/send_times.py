"""When a request really leaves: the moment from which the delay of its host counts.

Scrapy counts it from the moment at which a request leaves the downloader's queue. After that
come a look-up, a connection and, if the process is busy with other pages, a wait for its turn:
a request that is held up comes late at the host, and the next one in time, so that the host
sees two of them close together.
"""

import time
from contextvars import ContextVar
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import call_later
from twisted.internet.defer import Deferred

from bilingual_crawler.crawl.signals import request_sent


class SendTimes:
    """Notes in the downloader's slots, and tells all who listen, when requests leave."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._under_way: ContextVar[Request | None] = ContextVar("request", default=None)

    def begin(self, request: Request) -> None:
        """The connection that is asked for next, in this task, is for this request."""
        self._under_way.set(request)

    def watch(self, connecting: Deferred[Any]) -> Deferred[Any]:
        """Note when the request is written to the connection, now that there will be one."""
        request = self._under_way.get()
        if request is None:
            return connecting

        def noting(protocol: Any) -> Any:
            send = protocol.request

            def send_noted(parsed: Any) -> Any:
                protocol.request = send
                answering = send(parsed)
                self.left(request)
                return answering

            protocol.request = send_noted
            return protocol

        return connecting.addCallback(noting)

    def left(self, request: Request) -> None:
        """A request is written: it is with the network when the event loop has its next turn."""
        self._touch(request)
        call_later(0, self._touch, request)
        self._crawler.signals.send_catch_log(request_sent, request=request)

    def _touch(self, request: Request) -> None:
        assert self._crawler.engine is not None
        slot = self._crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        if slot is not None:
            slot.lastseen = time.monotonic()
