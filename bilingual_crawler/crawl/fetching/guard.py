"""Which addresses are on the open web, and which belong to somebody's own network.

A page can name any address, and a name can lead to any address, so a crawler that
follows links is a way into the network it runs in: to routers, databases and the
services that hand out credentials to cloud machines. Only what is routed on the open
web passes here; everything that Python's `ipaddress` leaves open is listed below.

The first question to every request: whether it is for the open web at all.

This middleware answers what can be told from the URL alone, before even robots.txt is
asked for. What a name leads to is answered where the connection is made: `handler`.
"""

import re
import socket
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler

from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.fetching.failures import Refused
from bilingual_crawler.languages.normal_forms import normalize

_NAT64 = ip_network("64:ff9b::/96")
_IPV4_COMPATIBLE = ip_network("::/96")
_NOT_OPEN = (
    ip_network("168.63.129.16/32"),  # the host of a virtual machine, in one large cloud
    ip_network("192.0.0.0/24"),  # protocol assignments, and a cloud's metadata
    ip_network("192.88.99.0/24"),  # relays of 6to4
    ip_network("fec0::/10"),  # site-local, from before unique local addresses
    ip_network("64:ff9b:1::/48"),  # NAT64 for local use
)
_LOCAL_NAME = re.compile(
    r"(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa)$"
)
_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
_NUMERIC = re.compile(r"[0-9a-fx.]+$")


def is_public(address: str) -> bool:
    """Whether an IP address is on the open web.

    An IPv6 address that stands for an IPv4 one is judged by that; what is no address
    at all is not public.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return _is_open(parsed)


def _is_open(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        inner = _inner_address(address)
        if inner is not None:
            return _is_open(inner)
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not any(address in network for network in _NOT_OPEN)
    )


def _inner_address(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to, if it leads to one."""
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address in _NAT64 or address in _IPV4_COMPATIBLE:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def literal_address(host: str) -> str | None:
    """The address that a host of a URL spells out, None if it is a name.

    The old spellings that resolvers still take are addresses too: `2130706433`, `0x7f.1`,
    `0177.0.0.1` and `127.1` are all 127.0.0.1, also with the digits and dots of other scripts.
    """
    text = normalize("NFKC", host.translate(_DOTS))
    text = text.strip().strip("[]").rstrip(".").lower()
    try:
        return str(ip_address(text))
    except ValueError:
        pass
    if not _NUMERIC.match(text):
        return None
    try:
        return socket.inet_ntoa(socket.inet_aton(text))
    except OSError:
        return None


@lru_cache(maxsize=1 << 14)
def is_open_host(host: str) -> bool:
    """Whether a host may be on the open web, as far as its spelling tells.

    False for private addresses in any spelling and for names that never leave a local
    network. What a name leads to is only known when it is resolved.
    """
    address = literal_address(host)
    if address is not None:
        return is_public(address)
    return not _LOCAL_NAME.search(host.rstrip(".").lower())


def check_url(url: str, *, allow_private: bool) -> None:
    """Raise `Refused` for a URL that is not of the open web.

    Only http and https are fetched, and only from hosts that are not plainly private.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused("bad_url", "The address of the page cannot be read.") from None
    if parts.scheme not in {"http", "https"}:
        raise Refused("bad_url", "Only http and https addresses are fetched.")
    if not host:
        raise Refused("bad_url", "The address of the page names no host.")
    if not allow_private and not is_open_host(host):
        raise private_address(host)


def private_address(host: str) -> Refused:
    """The refusal of a host that is not on the open web, with the way to allow it."""
    return Refused(
        "private_address",
        f"{host[:100]} is not on the open web; BILINGUAL_ALLOW_PRIVATE=1 allows such hosts.",
    )


class AddressGuard:
    """Downloader middleware that refuses URLs that lead elsewhere than to the open web.

    Order 30: before every other middleware, so that nothing is asked of a refused host,
    its robots.txt included. Redirects come through here like any other request, and so
    do the requests for robots.txt and tdmrep.json.
    """

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        return cls(allow_private=config_of(crawler).allow_private)

    async def process_request(self, request: Request) -> None:
        """Let a request for the open web pass."""
        check_url(request.url, allow_private=self._allow_private)
