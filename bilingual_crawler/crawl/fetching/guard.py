"""The guard against private addresses: only hosts on the open web are fetched.

A page can name any address, and a host name can resolve to any address. So a crawler that
follows links could be led into the network it runs in: to routers, databases and the services
that give credentials to cloud machines. Only addresses that are routed on the open web pass;
the exceptions that Python's `ipaddress` does not know are listed below.

The middleware checks the URL alone, before even robots.txt is requested. What a host name
resolves to is checked where the connection is made (`handler`).
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
from bilingual_crawler.outcomes import Outcome

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
    """Return True if an IP address is on the open web.

    An IPv6 address that stands for an IPv4 address is judged by the latter. Text that is not an
    address is not public.
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
    """Return the IPv4 address that an IPv6 address stands for, if any."""
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address in _NAT64 or address in _IPV4_COMPATIBLE:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def literal_address(host: str) -> str | None:
    """Return the IP address that the host of a URL spells out; None if it is a name.

    The old spellings that resolvers still accept are addresses too: `2130706433`, `0x7f.1`,
    `0177.0.0.1` and `127.1` are all 127.0.0.1, even with the digits and dots of other scripts.
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
    """Return True if a host may be on the open web, judging by its spelling alone.

    False for private addresses in any spelling and for names that only exist in local
    networks. What a name resolves to is only known later.
    """
    address = literal_address(host)
    if address is not None:
        return is_public(address)
    return not _LOCAL_NAME.search(host.rstrip(".").lower())


def check_url(url: str, *, allow_private: bool) -> None:
    """Raise `Refused` for a URL that is not on the open web.

    Only http and https are fetched, and only from hosts that are not obviously private.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused(Outcome.BAD_URL, Outcome.BAD_URL.sentence) from None
    if parts.scheme not in {"http", "https"}:
        raise Refused(Outcome.BAD_URL, "Only http and https addresses are fetched.")
    if not host:
        raise Refused(Outcome.BAD_URL, "The address of the page names no host.")
    if not allow_private and not is_open_host(host):
        raise private_address(host)


def private_address(host: str) -> Refused:
    """Return the refusal of a host that is not on the open web; it says how to allow it."""
    return Refused(
        Outcome.PRIVATE_ADDRESS,
        f"{host[:100]} is not on the open web; BILINGUAL_ALLOW_PRIVATE=1 allows such hosts.",
    )


class AddressGuard:
    """Downloader middleware that refuses URLs that are not on the open web.

    Order 30: before every other middleware, so that nothing is requested from a refused host,
    not even robots.txt. Redirects pass through here like any other request, and so do the
    requests for robots.txt and tdmrep.json.
    """

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        return cls(allow_private=config_of(crawler).allow_private)

    async def process_request(self, request: Request) -> None:
        """Raise `Refused` unless the request is for the open web."""
        check_url(request.url, allow_private=self._allow_private)
