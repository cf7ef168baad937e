"""Read-only queries of the frontier in Redis, for reports and for display.

Those that are only displayed return nothing if the server cannot be reached.
"""

from collections.abc import Callable, Iterator
from functools import partial
from heapq import nlargest
from typing import Any, TypeVar

from bilingual_crawler.frontier.entry import Entry, State
from bilingual_crawler.frontier.shared.link import AwayError, RedisScripts
from bilingual_crawler.frontier.shared.records import (
    RecordError,
    number_of,
    text_of,
    unpack_body,
    unpack_fingerprint,
)
from bilingual_crawler.urls.hosts import site_of

HEAD_BYTES = 18
PLACE_BYTES = 8
LAST_PLACE = 1 << 53
AT_ONCE = 1000

T = TypeVar("T")


def hosts(link: RedisScripts) -> list[str]:
    """Return every host that has or had a waiting URL."""
    return _or([], link, lambda: _names(link.client.smembers(link.key("all_hosts"))))


def outcome_words(link: RedisScripts) -> dict[int, str]:
    """Return the outcomes by the numbers that stand for them."""
    words: dict[bytes, bytes] = link.ask(lambda: link.client.hgetall(link.key("words")))
    return {number_of(code): text_of(word) for code, word in words.items()}


def site(link: RedisScripts, name: str) -> tuple[int, list[str]]:
    """Return the number of pages of a site so far, and its hosts."""
    pages = link.ask(lambda: link.client.hget(link.key("site", name), "pages"))
    names = _names(link.ask(lambda: link.client.smembers(link.key("hosts", name))))
    return number_of(pages), [host for host in names if site_of(host) == name]


def held_sites(link: RedisScripts) -> set[str]:
    """Return the sites that the worker holds."""
    return set(_names(link.ask(lambda: link.client.smembers(link.key("sites", link.worker)))))


def top(link: RedisScripts, most: int) -> list[Entry]:
    """Return the best waiting URLs, the best first: of the best hosts, the best of each."""
    return _or([], link, lambda: _top(link, most))


def _names(names: Any) -> list[str]:
    return [text_of(name) for name in names]


def _top(link: RedisScripts, most: int) -> list[Entry]:
    client = link.client
    labels: Any = client.zrevrange(link.key("heads"), 0, most - 1)
    found: list[tuple[float, bytes, str]] = []
    for label in labels:
        host = text_of(label[PLACE_BYTES:])
        best: Any = client.zrevrange(link.key("queue", host), 0, most - 1, withscores=True)
        found += [(priority, member, host) for member, priority in best]
    entries = []
    for priority, member, host in nlargest(most, found):
        record: Any = client.hget(link.key("urls", host), member[PLACE_BYTES:])
        if entry := _entry(host, member, priority, record):
            entries.append(entry)
    return entries


def queued(link: RedisScripts) -> Iterator[Entry]:
    """Yield every waiting URL that is not a retry, in no order."""
    for host in hosts(link):
        cursor = 0
        while True:
            part = _or(None, link, partial(_part, link, host, cursor))
            if part is None:
                return
            cursor, entries = part
            yield from entries
            if not cursor:
                break


def _part(link: RedisScripts, host: str, cursor: int) -> tuple[int, list[Entry]]:
    answer: Any = link.client.zscan(link.key("queue", host), cursor, count=AT_ONCE)
    cursor, members = answer
    if not members:
        return cursor, []
    fingerprints = [member[PLACE_BYTES:] for member, _ in members]
    records: Any = link.client.hmget(link.key("urls", host), fingerprints)
    pairs = zip(members, records, strict=True)
    entries = (_entry(host, member, priority, record) for (member, priority), record in pairs)
    return cursor, [entry for entry in entries if entry is not None]


def _entry(host: str, member: bytes, priority: float, record: bytes | None) -> Entry | None:
    """Return the entry of a record; None if it is missing or unreadable."""
    if record is None or len(record) <= HEAD_BYTES:
        return None
    try:
        url, payload = unpack_body(record[HEAD_BYTES:], host)
    except RecordError:
        return None
    sequence = LAST_PLACE - int.from_bytes(member[:PLACE_BYTES], "big")
    fingerprint = unpack_fingerprint(member[PLACE_BYTES:])
    return Entry(fingerprint, url, host, priority, sequence, payload, State.QUEUED, record[1])


def _or(default: T, link: RedisScripts, question: Callable[[], T]) -> T:
    try:
        answer: T = link.ask(question)
    except AwayError:
        return default
    return answer
