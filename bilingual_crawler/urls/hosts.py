"""Host names: their spelling, their parts, and the sites they belong to."""

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urlsplit

import tldextract

from bilingual_crawler.languages.normal_forms import without_long_runs

LONGEST_NAME = 253
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_PLAIN = re.compile(r"https?://([a-z0-9.-]+)(?:[/?#]|\Z)")
_WITH_PORT = re.compile(r"(\[[^\[\]]*\]|[^:]*):[0-9]{0,5}")

_extract = tldextract.TLDExtract(
    suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
)


def host_of(url: str) -> str:
    """Return the host of a URL, as Scrapy's downloader names it; "" if there is none."""
    plain = _PLAIN.match(url)  # a fifth of the time, and a page needs some twenty hosts
    if plain is not None:
        return plain[1]
    try:
        return urlsplit(without_long_runs(url)).hostname or ""
    except ValueError:
        return ""


@lru_cache(maxsize=1 << 14)
def split_host(host: str) -> tldextract.ExtractResult:
    """Subdomain, name and public suffix, by the list that ships with tldextract."""
    return _extract(host)


def site_of(host: str) -> str:
    """Return the registered domain of a host, or the host itself if it has none.

    A subdomain of a hosting service (project.github.io) is a site of its own.
    """
    return split_host(host).top_domain_under_public_suffix or host


def normal_host(text: str) -> str | None:
    """Return the host of `host`, `host:port`, `[IPv6]` or `[IPv6]:port`, in normal spelling."""
    with_port = _WITH_PORT.fullmatch(text)
    return normal_name(with_port[1] if with_port else text)


def normal_name(text: str) -> str | None:
    """Return the one spelling of a host: lower case, no final dot, international names in ASCII.

    IP addresses are spelt as by `ipaddress`, IPv6 without brackets. Anything that is not a host
    gives None, so that any text from the web may be passed.
    """
    name = text.lower().removesuffix(".")
    if len(name) > LONGEST_NAME:
        return None
    if name.startswith("[") and name.endswith("]"):
        return _address(name[1:-1]) if ":" in name else None
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    if ":" in name or name.rpartition(".")[2].isdecimal():
        return _address(name)
    return name if len(name) <= LONGEST_NAME and _NAME.fullmatch(name) else None


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
