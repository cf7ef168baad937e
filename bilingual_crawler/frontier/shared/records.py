"""Packs URLs into bytes for Redis, as small as possible; the scripts do not read them."""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgpack

from bilingual_crawler.frontier.entry import MAX_URL, State

LATER = 4
"""The state of a retry that is not due yet, which counts as queued elsewhere."""
UNKNOWN = 255
_SEEN = struct.Struct(">8sBBd")
_PRIORITY = struct.Struct(">d")
_ASKED = struct.Struct(">BBd")


class RecordError(ValueError):
    """Bytes in Redis that are incomplete, or not written by a worker."""


class Seen(NamedTuple):
    """A URL as Redis knows it."""

    fingerprint: int
    state: State
    outcome: int
    priority: float


def text_of(name: bytes) -> str:
    """Return a name in Redis, which may be any bytes."""
    return name.decode("utf-8", "replace")


def number_of(value: bytes | None) -> int:
    """Return a count in Redis, which may be anything; 0 if it is not a number."""
    try:
        return int(value or 0)
    except ValueError:
        return 0


def pack_fingerprint(fingerprint: int) -> bytes:
    """Pack a fingerprint into eight bytes."""
    return fingerprint.to_bytes(8, "big", signed=True)


def unpack_fingerprint(data: bytes) -> int:
    """Return the fingerprint that `pack_fingerprint` packed."""
    return int.from_bytes(data, "big", signed=True)


def pack_arguments(values: list[Any]) -> bytes:
    """Pack values for a script; in the MessagePack of Redis, bytes and text are one type."""
    packed: bytes = msgpack.packb(values, use_bin_type=False)
    return packed


def pack_body(url: str, host: str, payload: bytes | None) -> bytes:
    """Pack a URL and its request; the host is already in the name of the key."""
    for scheme in ("https", "http"):
        start = f"{scheme}://{host}/"
        if url.startswith(start):
            url = f"{scheme[4:]}/{url[len(start) :]}"
            break
    text = url.encode("utf-8", "surrogatepass")
    body: bytes = msgpack.packb(text if payload is None else [text, payload])
    return body


def unpack_body(body: bytes, host: str) -> tuple[str, bytes | None]:
    """Return the URL and its request; raise RecordError if `pack_body` did not pack them."""
    try:
        read = msgpack.unpackb(body)
        text, payload = read if isinstance(read, list) else (read, None)
        url = text.decode("utf-8", "surrogatepass")
    except (ValueError, TypeError, AttributeError, msgpack.UnpackException) as error:
        raise RecordError(f"it cannot be read ({error})") from error
    if not isinstance(payload, bytes | None) or len(url) > MAX_URL:
        raise RecordError("it contains something other than a URL and a request")
    if url.startswith("/"):
        url = f"http://{host}{url}"
    elif url.startswith("s/"):
        url = f"https://{host}{url[1:]}"
    return url, payload


def unpack_failed(record: bytes) -> tuple[float, bytes]:
    """Return the priority and the body of a failed URL."""
    try:
        (priority,) = _PRIORITY.unpack_from(record, 2)
    except struct.error as error:
        raise RecordError("it is too short") from error
    return priority, record[2 + _PRIORITY.size :]


def read_seen(data: bytes) -> Iterator[Seen]:
    """Yield the answer of `load.lua`."""
    for raw, state, outcome, priority in _SEEN.iter_unpack(data):
        yield Seen(unpack_fingerprint(raw), _state(state), outcome, priority)


def read_asked(fingerprints: list[int], data: bytes) -> Iterator[Seen]:
    """Yield the answer of `ask.lua`; what Redis does not know is left out."""
    answers = _ASKED.iter_unpack(data)
    for fingerprint, (state, outcome, priority) in zip(fingerprints, answers, strict=True):
        if state != UNKNOWN:
            yield Seen(fingerprint, _state(state), outcome, priority)


def _state(number: int) -> State:
    return State.QUEUED if number == LATER else State(number)
