"""Requests as bytes: complete enough to survive a restart, small enough to keep millions.

Most requests of a crawl differ only in URL and a little metadata; what equals the default is
left out. MessagePack distinguishes bytes from text and, unlike pickle, cannot run code when a
crawl's folder comes from an untrusted source.

For the same reason stored bytes cannot choose code or privileges: classes and callbacks come
from short lists, and metadata that would send a request through a proxy or past robots.txt is
neither written nor read.
"""

import math
from collections.abc import Mapping
from typing import Any

import msgpack
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest

from bilingual_crawler.crawl.request_state import KEY, STORED_PREFIX, UNTOUCHED, RequestState
from bilingual_crawler.frontier.entry import MAX_URL
from bilingual_crawler.urls.fingerprint import request_fingerprint
from bilingual_crawler.urls.hosts import host_of

DEFAULTS = {
    "method": "GET",
    "headers": {},
    "body": b"",
    "cookies": {},
    "meta": {},
    "encoding": "utf-8",
    "priority": 0,
    "dont_filter": False,
    "flags": [],
    "cb_kwargs": {},
    "callback": "parse",
    "errback": "failed",
}
PROXY = frozenset({"proxy", "_scheme_proxy", "_auth_proxy"})
"""Keys that Scrapy's proxy middleware sets, anew in every run."""
SLOT = "download_slot"
PRIVILEGES = PROXY | {
    SLOT,
    "allow_offsite",
    "bilingual_site_file",
    KEY,
    "bindaddress",
    "dont_obey_robotstxt",
}
"""Keys that redirect a request or exempt it from a check; only running code may set them."""
LIMITS = {"download_timeout": 86_400, "download_maxsize": 1 << 30, "max_retry_times": 1_000}
"""The largest limits that a stored request may have."""
LOOK = STORED_PREFIX + "look"
META_TYPES: dict[str, type | tuple[type, ...]] = {
    "depth": int,
    "redirect_times": int,
    "redirect_urls": list,
    "retry_times": int,
    STORED_PREFIX + "variant": str,
    LOOK: dict,
    STORED_PREFIX + "probe": bool,
    STORED_PREFIX + "claimed_by": str,
    STORED_PREFIX + "claim_answered": bool,
    STORED_PREFIX + "visited_as": str,
    **dict.fromkeys(LIMITS, (int, float)),
}
CLASSES = {
    f"{each.__module__}.{each.__name__}": each for each in (Request, FormRequest, JsonRequest)
}
FIELD_TYPES: dict[str, type | tuple[type, ...]] = {
    "_class": str,
    "body": bytes,
    "callback": (str, type(None)),
    "cb_kwargs": dict,
    "cookies": (dict, list),
    "dont_filter": bool,
    "encoding": str,
    "errback": (str, type(None)),
    "flags": list,
    "headers": dict,
    "meta": dict,
    "method": str,
    "priority": int,
}
CALLBACKS, ERRBACKS = frozenset({"parse"}), frozenset({"failed"})
"""The allowed methods of a spider that does not list its own in `callbacks` and `errbacks`."""
MAX_BYTES = 1 << 20
"""The maximum size of a stored request."""


class StoredRequestError(ValueError):
    """Bytes that are not a request of ours: of another version, damaged, or forged."""


def fingerprint_of(request: Request) -> int:
    """Return the identity of a request in the frontier; the variants of a URL differ."""
    identity = RequestState.of(request).identity
    return request_fingerprint(request.url, request.method, request.body, identity)


def make_plain(request: Request) -> None:
    """Turn the request for a variant into one for the plain URL."""
    RequestState.update(request, variant="")
    request.meta.pop("cookiejar", None)
    for name in ("Accept-Language", "Cookie"):
        request.headers.pop(name, None)


def encode(request: Request, spider: Spider) -> bytes | None:
    """Return a request without its URL as bytes; None if it is all defaults.

    Raise ValueError or TypeError for what cannot be stored: a callback that the spider does not
    list, an object or a privilege in the metadata.
    """
    meta = _writable_meta(request)
    if _is_plain(request, spider):
        return _pack({"meta": meta}) if meta else None
    fields = request.to_dict(spider=spider) | {"meta": meta}
    fields["headers"].pop(b"Proxy-Authorization", None)
    changed = {
        name: value
        for name, value in fields.items()
        if name in FIELD_TYPES and (name not in DEFAULTS or value != DEFAULTS[name])
    }
    _check_code(changed, spider)
    return _pack(changed) if changed else None


def _writable_meta(request: Request) -> dict[str, Any]:
    """Return the metadata to store, without what Scrapy sets anew in every run."""
    state = RequestState.of(request)
    meta = {key: value for key, value in request.meta.items() if key != KEY}
    if state.site_file:
        raise StoredRequestError("it is for a file about a site")
    if meta.get("_scheme_proxy") or meta.get("proxy") is None:
        meta = {key: value for key, value in meta.items() if key not in PROXY}
    if meta.get(SLOT) == host_of(request.url):
        del meta[SLOT]
    _check_privileges(meta)
    return meta | state.to_stored()


def _pack(fields: dict[str, Any]) -> bytes:
    packed: bytes = msgpack.packb(fields)
    if len(packed) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES} bytes")
    return packed


def _is_plain(request: Request, spider: Spider) -> bool:
    """Return True for an ordinary page request; this avoids `to_dict`, which takes 30 µs."""
    return (
        type(request) is Request
        and request.callback == spider.parse
        and request.errback == getattr(spider, "failed", None)
        and request.method == "GET"
        and request.encoding == "utf-8"
        and not (request.body or request.headers or request.cookies or request.cb_kwargs)
        and not (request.dont_filter or request.flags or request.priority)
    )


def decode(url: str, payload: bytes | None, spider: Spider) -> Request:
    """Return the request that `encode` stored; raise StoredRequestError if it cannot be one."""
    if (
        not url.lower().startswith(("http://", "https://"))
        or len(url) > MAX_URL
        or not host_of(url)
    ):
        raise StoredRequestError("its address is not an http(s) address")
    try:
        changed = read_fields(payload)
        _check_code(changed, spider)
        fields: dict[str, Any] = (
            DEFAULTS | {"headers": {}, "meta": {}, "cb_kwargs": {}, "flags": []} | changed
        )
        for name in ("callback", "errback"):
            fields[name] = fields[name] and getattr(spider, fields[name])
        state = RequestState.from_stored(fields["meta"])
        if state != UNTOUCHED:
            fields["meta"] |= state.as_meta()
        make = CLASSES[fields.pop("_class")] if "_class" in fields else Request
        return make(url, **fields)
    except StoredRequestError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StoredRequestError(str(error)) from error


def read_fields(payload: bytes | None) -> dict[str, Any]:
    """Return the stored fields: plain values, checked for their types."""
    if not payload:
        return {}
    if not isinstance(payload, bytes) or len(payload) > MAX_BYTES:
        raise StoredRequestError("it is too large, or not bytes")
    try:
        fields: dict[str, Any] = msgpack.unpackb(payload, strict_map_key=False, ext_hook=_refuse)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise StoredRequestError(f"it cannot be read ({error})") from error
    _check_types(fields, FIELD_TYPES, only=True)
    meta: dict[str, Any] = fields.get("meta", {})
    _check_types(meta, META_TYPES)
    _check_privileges(meta)
    texts = (*meta.get("redirect_urls", ()), *meta.get(LOOK, {}).values())
    if any(not isinstance(text, str) for text in texts):
        raise StoredRequestError("its metadata has a value that should be text")
    for name in LIMITS.keys() & meta.keys():
        if not (0 <= meta[name] < math.inf):
            raise StoredRequestError(f"{name} is {meta[name]}")
        meta[name] = min(meta[name], LIMITS[name])
    if meta.get("download_maxsize") == 0:  # no limit at all
        meta["download_maxsize"] = LIMITS["download_maxsize"]
    return fields


def _check_types(
    found: Any, types: Mapping[str, type | tuple[type, ...]], *, only: bool = False
) -> None:
    if not isinstance(found, dict) or any(not isinstance(name, str) for name in found):
        raise StoredRequestError("it has no named fields")
    for name, value in found.items():
        if name not in types:
            if only:
                raise StoredRequestError(f"it has a field {name[:40]!r}")
        elif not isinstance(value, types[name]):
            raise StoredRequestError(f"{name} is of the wrong type")


def _check_code(fields: dict[str, Any], spider: Spider) -> None:
    """Refuse classes and methods that are not on a list."""
    callbacks = getattr(spider, "callbacks", CALLBACKS)
    errbacks = getattr(spider, "errbacks", ERRBACKS)
    for name, known in (("_class", CLASSES), ("callback", callbacks), ("errback", errbacks)):
        if fields.get(name) is not None and fields[name] not in known:
            raise StoredRequestError(
                f"{name.removeprefix('_')} {str(fields[name])[:80]!r} is not one of"
                f" {', '.join(sorted(known))}"
            )


def _check_privileges(meta: dict[str, Any]) -> None:
    given = PRIVILEGES & meta.keys()
    if given:
        raise StoredRequestError(f"its metadata has {', '.join(sorted(given))}")


def _refuse(code: int, _data: bytes) -> None:
    raise StoredRequestError(f"it has a value of the unknown type {code}")
