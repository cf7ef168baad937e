"""The download handler for http and https, which only connects to the open web.

It checks the very address that is connected to, after the name was resolved and for every new
connection. So neither a name that resolves to the local network nor one that changes between two
look-ups (DNS rebinding) gets through. The check sits in the connection pool of Scrapy's own
handler, through which every connection passes, including those that Twisted reopens by itself.

Twisted's interfaces mean nothing to a type checker, so its arguments are `Any` here.

With a proxy, the proxy resolves the name and connects. It was chosen by the user and may be
local, so such requests go to Scrapy's handler unchanged.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError
from twisted.python.failure import Failure

from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.deadline import Interruptible
from bilingual_crawler.crawl.fetching import guard
from bilingual_crawler.crawl.fetching.delays import SendTimes
from bilingual_crawler.crawl.fetching.failures import STATUSES, Refused, UnknownStatusError
from bilingual_crawler.crawl.fetching.guard import private_address
from bilingual_crawler.outcomes import Outcome

MAX_HEADERS = 256 * 1024


class PublicReceiver:
    """Passes on the public addresses of a look-up and collects the others."""

    def __init__(self, receiver: Any, refused: list[str]) -> None:
        self._receiver = receiver
        self._refused = refused

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 - Twisted's name
        """Pass on the start of the look-up."""
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: N802 - Twisted's name
        """Pass on one address if it is public."""
        host = getattr(address, "host", "")
        if guard.is_public(host):
            self._receiver.addressResolved(address)
        else:
            self._refused.append(host)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        """Pass on the end of the look-up."""
        self._receiver.resolutionComplete()


class PublicResolver:
    """A resolver that withholds addresses that are not on the open web."""

    def __init__(self, resolver: Any, refused: list[str]) -> None:
        self._resolver = resolver
        self._refused = refused

    def resolveHostName(  # noqa: N802 - Twisted's names
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[Any]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> Any:
        """Look up a name and pass on its public addresses."""
        return self._resolver.resolveHostName(
            PublicReceiver(resolutionReceiver, self._refused),
            hostName,
            portNumber,
            addressTypes,
            transportSemantics,
        )


class PublicEndpoint:
    """An endpoint that connects to public addresses only.

    Twisted's endpoint takes the reactor's resolver at the moment it connects. Our resolver is
    installed for just that moment, so no other connection of the process is affected. In case
    an endpoint gets its address in another way, the peer is checked before anything is sent.
    """

    def __init__(self, reactor: Any, endpoint: Any) -> None:
        self._reactor = reactor
        self._endpoint = endpoint

    def connect(self, protocolFactory: Any) -> Deferred[Any]:  # noqa: N803
        """Connect, or fail with `Refused` if the name only has private addresses."""
        refused: list[str] = []
        resolver = PublicResolver(self._reactor.nameResolver, refused)
        usual = self._reactor.installNameResolver(resolver)
        try:
            connecting: Deferred[Any] = self._endpoint.connect(protocolFactory)
        finally:
            self._reactor.installNameResolver(usual)

        def explain(failure: Failure) -> Failure:
            if refused and isinstance(failure.value, DNSLookupError):
                raise private_address(refused[0])
            return failure

        return connecting.addCallbacks(_checked_peer, explain)


def _checked_peer(protocol: Any) -> Any:
    peer = protocol.transport.getPeer().host
    if not guard.is_public(peer):
        protocol.transport.abortConnection()
        raise private_address(peer)
    return protocol


class BoundedEndpoint:
    """An endpoint whose connections refuse endless headers."""

    def __init__(self, endpoint: Any) -> None:
        self._endpoint = endpoint

    def connect(self, protocolFactory: Any) -> Deferred[Any]:  # noqa: N803
        """Connect, and limit the headers from then on."""
        connecting: Deferred[Any] = self._endpoint.connect(protocolFactory)
        return connecting.addCallback(bound_headers)


def bound_headers(protocol: Any) -> Any:
    """Make a connection abort if the headers of a response do not end.

    Twisted limits the length of a header line but not the number of lines, so a server could
    fill the memory with headers until the timeout. The Deferred of a request fires when its
    headers are complete; the bytes are counted until then.
    """
    send, receive = protocol.request, protocol.dataReceived
    left = MAX_HEADERS
    waiting = False

    def request(request: Any) -> Deferred[Any]:
        nonlocal left, waiting
        left, waiting = MAX_HEADERS, True
        answering: Deferred[Any] = send(request)
        return answering.addCallbacks(complete, failed)

    def complete(response: Any) -> Any:
        nonlocal waiting
        waiting = False
        return response

    def failed(failure: Failure) -> Failure:
        if left < 0:
            raise Refused(Outcome.TOO_LARGE, "The headers of the page do not end.")
        return failure

    def receive_some(data: bytes) -> None:
        nonlocal left
        if waiting:
            left -= len(data)
            if left < 0:
                protocol.transport.abortConnection()
                return
        receive(data)

    protocol.request, protocol.dataReceived = request, receive_some
    return protocol


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """Scrapy's handler for http and https, with the checks above on each new connection.

    It belongs in DOWNLOAD_HANDLERS for "http" and "https". A project with its own handlers
    there still has `AddressGuard`, which judges by the URL alone.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._proxied: HTTP11DownloadHandler | None = None
        self._interruptible = Interruptible(crawler)
        self._send_times = SendTimes(crawler)
        self._guard_pool(allow_private=config_of(crawler).allow_private)

    def _guard_pool(self, *, allow_private: bool) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

        pool: Any = self._pool
        supply = pool.getConnection

        def get_connection(key: Hashable, endpoint: Any) -> Deferred[Any]:
            if not allow_private:
                endpoint = PublicEndpoint(reactor, endpoint)
            return self._send_times.watch(supply(key, BoundedEndpoint(endpoint)))

        pool.getConnection = get_connection

    async def download_request(self, request: Request) -> Response:
        """Fetch a page, until the crawl has no time for it any more.

        A status that HTTP does not have is an error: Scrapy's statistics have a key for every
        status, and a server could fill the memory with them.
        """
        response = await self._interruptible.run(self._download(request))
        if response.status not in STATUSES:
            raise UnknownStatusError
        return response

    async def _download(self, request: Request) -> Response:
        """Fetch a page; through a proxy only if the request names one."""
        if not request.meta.get("proxy"):
            self._send_times.begin(request)
            return await super().download_request(request)
        self._send_times.sent(request)
        if self._proxied is None:
            self._proxied = HTTP11DownloadHandler(self._crawler)
        return await self._proxied.download_request(request)

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await super().close()
        if self._proxied is not None:
            await self._proxied.close()
