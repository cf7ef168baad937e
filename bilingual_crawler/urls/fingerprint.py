"""Fingerprints of URLs: the identity of a page in the frontier.

Eight bytes are enough: at a hundred million URLs the chance of any collision is below one in a
thousand. And they fit SQLite's row id.
"""

import re
from functools import lru_cache
from hashlib import blake2b

from w3lib.url import canonicalize_url

TRACKING = re.compile(
    r"(?<=[?&])(?:utm_[^=&#]*|gclid|fbclid|dclid|msclkid|yclid|mc_[ce]id|_ga|igshid)=[^&#]*&?"
)


def canonical_url(url: str) -> str:
    """Return a URL in the form that is compared: sorted parameters, no fragment, no tracking."""
    if "?" in url:
        url = TRACKING.sub("", url)
    try:
        return canonicalize_url(url).rstrip("?&")
    except ValueError:
        return url


@lru_cache(maxsize=1 << 15)
def url_fingerprint(url: str) -> int:
    """Return the identity of a page that is fetched with GET.

    It is cached, because the menu of a site is on all of its pages.
    """
    return _digest(canonical_url(url).encode("utf-8", "surrogatepass"))


def request_fingerprint(url: str, method: str, body: bytes, variant: str = "") -> int:
    """Return the identity of any request; `variant` distinguishes two forms of one URL."""
    if method == "GET" and not body and not variant:
        return url_fingerprint(url)
    parts = (method, canonical_url(url), variant)
    return _digest("\0".join(parts).encode("utf-8", "surrogatepass") + b"\0" + body)


def _digest(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
