"""When two URLs are one: the identity of a page in the frontier.

Eight bytes are enough (at a hundred million URLs the chance of any collision is below one
in a thousand) and make the fingerprint SQLite's own row id.
"""

import re
from functools import lru_cache
from hashlib import blake2b

from w3lib.url import canonicalize_url

TRACKING = re.compile(
    r"(?<=[?&])(?:utm_[^=&#]*|gclid|fbclid|dclid|msclkid|yclid|mc_[ce]id|_ga|igshid)=[^&#]*&?"
)


def canonical_url(url: str) -> str:
    """The URL as it is compared: sorted parameters, no fragment, no campaign marks."""
    if "?" in url:
        url = TRACKING.sub("", url)
    try:
        return canonicalize_url(url).rstrip("?&")
    except ValueError:
        return url


@lru_cache(maxsize=1 << 15)
def url_fingerprint(url: str) -> int:
    """The identity of a page that is asked for with GET.

    Remembered for a while: the menu of a site stands on all of its pages.
    """
    return _digest(canonical_url(url).encode("utf-8", "surrogatepass"))


def request_fingerprint(url: str, method: str, body: bytes, variant: str = "") -> int:
    """The identity of any request; `variant` tells apart two forms of one URL."""
    if method == "GET" and not body and not variant:
        return url_fingerprint(url)
    parts = (method, canonical_url(url), variant)
    return _digest("\0".join(parts).encode("utf-8", "surrogatepass") + b"\0" + body)


def _digest(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
