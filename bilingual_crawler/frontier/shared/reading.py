"""The frontier in Redis, looked at without changing anything: for reports and for people.

What is only shown is empty when the server cannot be reached.
"""

from collections.abc import Callable, Iterator
from heapq import nlargest
from typing import Any, TypeVar

from bilingual_crawler.frontier.entry import Entry, State
from bilingual_crawler.frontier.shared.link import AwayError, Link
from bilingual_crawler.frontier.shared.records import unpack_body, unpack_fingerprint

HEAD_BYTES = 18
PLACE_BYTES = 8
LAST_PLACE = 1 << 53
AT_ONCE = 1000

T = TypeVar("T")


def hosts(link: Link) -> list[str]:
    """Every host that has or had a waiting URL."""
    return _or([], link, lambda: _names(link.client.smembers(link.key("all_hosts"))))


def outcome_words(link: Link) -> dict[int, str]:
    """What the numbers mean that stand for outcomes."""
    words: dict[bytes, bytes] = link.ask(lambda: link.client.hgetall(link.key("words")))
    return {int(code): word.decode() for code, word in words.items()}


def site(link: Link, name: str) -> tuple[int, list[str]]:
    """How many pages a site gave so far, and its hosts."""
    pages = link.ask(lambda: link.client.hget(link.key("site", name), "pages"))
    return int(pages or 0), _names(link.ask(lambda: link.client.smembers(link.key("hosts", name))))


def held_sites(link: Link) -> set[str]:
    """The sites that the worker holds."""
    return set(_names(link.ask(lambda: link.client.smembers(link.key("sites", link.worker)))))


def top(link: Link, most: int) -> list[Entry]:
    """The best waiting URLs, the best first: of the best hosts, the best of each."""
    return _or([], link, lambda: _top(link, most))


def _names(names: Any) -> list[str]:
    return [name.decode() for name in names]


def _top(link: Link, most: int) -> list[Entry]:
    client = link.client
    labels: Any = client.zrevrange(link.key("heads"), 0, most - 1)
    found: list[tuple[float, bytes, str]] = []
    for label in labels:
        host = label[PLACE_BYTES:].decode()
        best: Any = client.zrevrange(link.key("queue", host), 0, most - 1, withscores=True)
        found += [(priority, member, host) for member, priority in best]
    entries = []
    for priority, member, host in nlargest(most, found):
        record: Any = client.hget(link.key("urls", host), member[PLACE_BYTES:])
        if record is not None:
            entries.append(_entry(host, member, priority, record))
    return entries


def queued(link: Link) -> Iterator[Entry]:
    """Every waiting URL that is not a retry, in no order."""
    for host in hosts(link):
        cursor = 0
        while True:
            part = _or(None, link, lambda at=cursor, of=host: _part(link, of, at))  # type: ignore[misc]
            if part is None:
                return
            cursor, entries = part
            yield from entries
            if not cursor:
                break


def _part(link: Link, host: str, cursor: int) -> tuple[int, list[Entry]]:
    answer: Any = link.client.zscan(link.key("queue", host), cursor, count=AT_ONCE)
    cursor, members = answer
    if not members:
        return cursor, []
    fingerprints = [member[PLACE_BYTES:] for member, _ in members]
    records: Any = link.client.hmget(link.key("urls", host), fingerprints)
    pairs = zip(members, records, strict=True)
    return cursor, [
        _entry(host, member, priority, record)
        for (member, priority), record in pairs
        if record is not None
    ]


def _entry(host: str, member: bytes, priority: float, record: bytes) -> Entry:
    url, payload = unpack_body(record[HEAD_BYTES:], host)
    sequence = LAST_PLACE - int.from_bytes(member[:PLACE_BYTES], "big")
    fingerprint = unpack_fingerprint(member[PLACE_BYTES:])
    return Entry(fingerprint, url, host, priority, sequence, payload, State.QUEUED, record[1])


def _or(default: T, link: Link, question: Callable[[], T]) -> T:
    try:
        answer: T = link.ask(question)
    except AwayError:
        return default
    return answer
