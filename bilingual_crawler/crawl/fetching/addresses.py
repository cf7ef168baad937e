"""Which addresses are on the open web, and which belong to somebody's own network.

A page can name any address, and a name can lead to any address, so a crawler that
follows links is a way into the network it runs in: to routers, databases and the
services that hand out credentials to cloud machines. Only what is routed on the open
web passes here; everything that Python's `ipaddress` leaves open is listed below.
"""

import re
import socket
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

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
