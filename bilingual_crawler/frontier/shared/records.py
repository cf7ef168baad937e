"""URLs as bytes in Redis: what the scripts need not understand, as small as may be."""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgpack

from bilingual_crawler.frontier.entry import MAX_URL, State

LATER = 4
"""The state of a retry that is not due yet; everybody else sees it as queued."""
UNKNOWN = 255
_SEEN = struct.Struct(">8sBBd")
_PRIORITY = struct.Struct(">d")
_ASKED = struct.Struct(">BBd")


class RecordError(ValueError):
    """Bytes in Redis that no worker of ours wrote, or not whole."""


class Seen(NamedTuple):
    """What Redis says of a URL."""

    fingerprint: int
    state: State
    outcome: int
    priority: float


def text_of(name: bytes) -> str:
    """A name in Redis, which may be any bytes."""
    return name.decode("utf-8", "replace")


def number_of(value: bytes | None) -> int:
    """A count in Redis, which may be anything; what is no number counts as nothing."""
    try:
        return int(value or 0)
    except ValueError:
        return 0


def pack_fingerprint(fingerprint: int) -> bytes:
    """Eight bytes."""
    return fingerprint.to_bytes(8, "big", signed=True)


def unpack_fingerprint(data: bytes) -> int:
    """The number that `pack_fingerprint` was given."""
    return int.from_bytes(data, "big", signed=True)


def pack_arguments(values: list[Any]) -> bytes:
    """Values for a script; the MessagePack of Redis knows bytes and text as one type only."""
    packed: bytes = msgpack.packb(values, use_bin_type=False)
    return packed


def pack_body(url: str, host: str, payload: bytes | None) -> bytes:
    """A URL and its request; the host stands in the name of the key already."""
    for scheme in ("https", "http"):
        start = f"{scheme}://{host}/"
        if url.startswith(start):
            url = f"{scheme[4:]}/{url[len(start) :]}"
            break
    text = url.encode("utf-8", "surrogatepass")
    body: bytes = msgpack.packb(text if payload is None else [text, payload])
    return body


def unpack_body(body: bytes, host: str) -> tuple[str, bytes | None]:
    """The URL and its request; RecordError if these are not the bytes of `pack_body`."""
    try:
        read = msgpack.unpackb(body)
        text, payload = read if isinstance(read, list) else (read, None)
        url = text.decode("utf-8", "surrogatepass")
    except (ValueError, TypeError, AttributeError, msgpack.UnpackException) as error:
        raise RecordError(f"it cannot be read ({error})") from error
    if not isinstance(payload, bytes | None) or len(url) > MAX_URL:
        raise RecordError("it has something else in it than an address and a request")
    if url.startswith("/"):
        url = f"http://{host}{url}"
    elif url.startswith("s/"):
        url = f"https://{host}{url[1:]}"
    return url, payload


def unpack_failed(record: bytes) -> tuple[float, bytes]:
    """What is kept of a URL that failed: its priority and its body."""
    try:
        (priority,) = _PRIORITY.unpack_from(record, 2)
    except struct.error as error:
        raise RecordError("it is too short") from error
    return priority, record[2 + _PRIORITY.size :]


def read_seen(data: bytes) -> Iterator[Seen]:
    """The answer of `load.lua`."""
    for raw, state, outcome, priority in _SEEN.iter_unpack(data):
        yield Seen(unpack_fingerprint(raw), _state(state), outcome, priority)


def read_asked(fingerprints: list[int], data: bytes) -> Iterator[Seen]:
    """The answer of `ask.lua`; what Redis does not know is left out."""
    answers = _ASKED.iter_unpack(data)
    for fingerprint, (state, outcome, priority) in zip(fingerprints, answers, strict=True):
        if state != UNKNOWN:
            yield Seen(fingerprint, _state(state), outcome, priority)


def _state(number: int) -> State:
    return State.QUEUED if number == LATER else State(number)
