"""URLs as bytes in Redis: what the scripts need not understand, as small as may be."""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgpack

from bilingual_crawler.frontier.entry import State

LATER = 4
"""The state of a retry that is not due yet; everybody else sees it as queued."""
UNKNOWN = 255
_SEEN = struct.Struct(">8sBBd")
_PRIORITY = struct.Struct(">d")
_ASKED = struct.Struct(">BBd")


class Seen(NamedTuple):
    """What Redis says of a URL."""

    fingerprint: int
    state: State
    outcome: int
    priority: float


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
    """The URL and its request."""
    read = msgpack.unpackb(body)
    text, payload = read if isinstance(read, list) else (read, None)
    url = text.decode("utf-8", "surrogatepass")
    if url.startswith("/"):
        url = f"http://{host}{url}"
    elif url.startswith("s/"):
        url = f"https://{host}{url[1:]}"
    return url, payload


def unpack_failed(record: bytes) -> tuple[float, bytes]:
    """What is kept of a URL that failed: its priority and its body."""
    (priority,) = _PRIORITY.unpack_from(record, 2)
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
