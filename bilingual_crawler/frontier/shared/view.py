"""The frontier in Redis, seen from outside while workers use it.

Everything is read in parts, so that the server is never blocked for long; the view of a running
crawl is therefore not of a single moment. `scripts/common.lua` describes the keys.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared import reading
from bilingual_crawler.frontier.shared.link import RedisScripts, connect
from bilingual_crawler.frontier.shared.reading import AT_ONCE, HEAD_BYTES, PLACE_BYTES
from bilingual_crawler.frontier.shared.records import (
    LATER,
    RecordError,
    number_of,
    pack_arguments,
    text_of,
    unpack_body,
    unpack_failed,
    unpack_fingerprint,
)
from bilingual_crawler.frontier.view import (
    DONE,
    FAILED,
    IN_FLIGHT,
    WAITING,
    Host,
    Status,
    Url,
    UrlSelection,
    Worker,
)
from bilingual_crawler.urls.credentials import without_credentials
from bilingual_crawler.urls.hosts import site_of

WORDS = {
    State.QUEUED: WAITING,
    State.LEASED: IN_FLIGHT,
    State.DONE: DONE,
    State.FAILED: FAILED,
    LATER: WAITING,
}
FORMAT = b"1"
"""How `join.lua` marks the crawls that this version reads."""
LEAST_RECORD = 2
"""Bytes of the record of a URL that is done: its state and its outcome."""
MOST_REQUEUED = 200
"""URLs per call of a script."""


def open_shared_view(place: str, prefix: str = "") -> "SharedView":
    """Open the frontier in a Redis server; `prefix` is needed only if there are several."""
    client, shown = connect(place), without_credentials(place)
    names = [prefix] if prefix else _prefixes(client)
    link = RedisScripts(client, names[0] if names else "", "")
    if len(names) != 1 or not client.exists(link.key("crawl")):
        client.close()
        raise ConfigurationError(_which(shown, prefix, names))
    version: Any = client.hget(link.key("crawl"), "format") if _is_hash(client, link) else b"none"
    if version != FORMAT:
        client.close()
        raise ConfigurationError(
            f"The crawl {names[0]} in {shown} was written by another version of the crawler"
            f" (format {text_of(version or b'none')[:40]}, this one reads {text_of(FORMAT)}): look"
            " at it with that version."
        )
    return SharedView(link, shown)


def _is_hash(client: Redis, link: RedisScripts) -> bool:
    return bool(client.type(link.key("crawl")) == b"hash")


class SharedView:
    """The view of a frontier in Redis; only `requeue_failed` and `free_worker` change it."""

    errors: tuple[type[Exception], ...] = (RedisError,)

    def __init__(self, link: RedisScripts, place: str) -> None:
        self._link = link
        self._client: Any = link.client
        self._place = place

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def status(self) -> Status:
        """Return the counts of the whole crawl, and its workers."""
        counts = self._numbers("counts")
        workers = self._workers()
        in_flight, failed = counts.get("flight", 0), counts.get("failed", 0)
        unended = counts.get("queued", 0) + in_flight + counts.get("shelved", 0)
        return Status(
            place=self._place,
            is_running=any(each.seconds_left > 0 for each in workers),
            hosts=self._client.scard(self._key("all_hosts")),
            waiting=counts.get("queued", 0),
            in_flight=in_flight,
            over_budget=counts.get("shelved", 0),
            done=counts.get("known", 0) - unended - failed,
            failed=failed,
            outcomes=+Counter(self._numbers("outcomes")),
            workers=workers,
            sites_held=sum(each.sites for each in workers),
            memory_bytes=self._client.info("memory")["used_memory"],
        )

    def _workers(self) -> list[Worker]:
        now = self._now()
        found = []
        for raw, ends in self._client.zrange(self._key("workers"), 0, -1, withscores=True):
            name = text_of(raw)
            flight = self._key("flight", name)
            oldest = self._client.zrange(flight, 0, 0, withscores=True)
            found.append(
                Worker(
                    name=name,
                    sites=self._client.scard(self._key("sites", name)),
                    in_flight=self._client.zcard(flight),
                    seconds_left=ends - now,
                    oldest=now - oldest[0][1] if oldest else None,
                )
            )
        return sorted(found, key=lambda each: each.name)

    def top(self, most: int) -> list[Url]:
        """Return the best waiting URLs, without retries that are not due."""
        return [
            Url(
                fingerprint=each.fingerprint,
                url=each.url,
                host=each.host,
                state=WAITING,
                score=_finite(each.priority),
                attempts=each.attempts,
            )
            for each in reading.top(self._link, most)
        ]

    def hosts(self) -> Iterator[Host]:
        """Yield every host, with its holder and the time of its next request."""
        now = self._now()
        flights = self._in_flight_of_hosts()
        for names in _in_parts(self._host_names()):
            pipeline = self._client.pipeline(transaction=False)
            for name in names:
                facts = ("site", "next", "later", "failed")
                pipeline.hmget(self._key("host", name), facts)
                pipeline.zcard(self._key("queue", name))
                pipeline.hlen(self._key("urls", name))
            answers = iter(pipeline.execute())
            told = list(zip(answers, answers, answers, strict=True))
            holders = self._holders([facts[0] for facts, _, _ in told])
            for name, (facts, queued, known), holder in zip(names, told, holders, strict=True):
                _, following, later, failed = facts
                flight = flights[name]
                waiting = queued + number_of(later)
                yield Host(
                    host=name,
                    waiting=waiting,
                    in_flight=flight,
                    done=known - waiting - flight - number_of(failed),
                    failed=number_of(failed),
                    next_allowed=_seconds_until(following, now),
                    holder=text_of(holder or b""),
                )

    def _in_flight_of_hosts(self) -> Counter[str]:
        flights: Counter[str] = Counter()
        for worker in (b"", *self._client.zrange(self._key("workers"), 0, -1)):
            for member in self._client.zrange(self._key("flight", text_of(worker)), 0, -1):
                flights[text_of(member[PLACE_BYTES:])] += 1
        return flights

    def _holders(self, sites: list[bytes | None]) -> list[bytes | None]:
        pipeline = self._client.pipeline(transaction=False)
        for site in sites:
            pipeline.hget(self._key("site", text_of(site or b"")), "worker")
        holders: list[bytes | None] = pipeline.execute()
        return holders

    def urls(self) -> Iterator[Url]:
        """Yield every URL; of one that is done, only the fingerprint is known."""
        words = reading.outcome_words(self._link)
        for host in self._host_names():
            for some in _in_parts(self._client.hscan_iter(self._key("urls", host), count=AT_ONCE)):
                scores = self._scores(host, some)
                for (raw, record), score in zip(some, scores, strict=True):
                    with suppress(RecordError):
                        yield _url(host, raw, record, score, words)

    def _scores(self, host: str, records: list[tuple[bytes, bytes]]) -> list[float | None]:
        """Return the priorities of the URLs that are in the queue of their host."""
        members = [record[2 : 2 + PLACE_BYTES].ljust(PLACE_BYTES) + raw for raw, record in records]
        scores: list[float | None] = self._client.zmscore(self._key("queue", host), members)
        return scores

    def requeue_failed(self, selection: UrlSelection) -> int:
        """Queue failed URLs again at their old priority; running workers take them at once."""
        words = reading.outcome_words(self._link)
        hosts = [selection.host] if selection.host else self._host_names()
        changes = (
            ["push", raw, host, site_of(host), priority, body, True]
            for host in hosts
            for raw, record in self._client.hscan_iter(self._key("urls", host), count=AT_ONCE)
            for priority, body, url in _failed(record, host)
            if selection.means(url, host, words.get(record[1]))
        )
        number = 0
        for some in _in_parts(changes, MOST_REQUEUED):
            self._link.run("write", self._link.clock(), pack_arguments(some))
            number += len(some)
        return number

    def free_worker(self, name: str) -> int:
        """Release the sites and URLs of a worker; if it is alive, it starts afresh."""
        token = self._client.hget(self._key("worker", name), "token")
        if token is None:
            names = ", ".join(each.name for each in self._workers()) or "none"
            raise ConfigurationError(
                f"There is no worker {name} in {self._place}: there are {names}."
            )
        number: int = self._client.zcard(self._key("flight", name))
        worker = RedisScripts(self._client, self._link.prefix, name)
        worker.token = text_of(token)
        worker.run("release")
        return number

    def _key(self, name: str, of: str | None = None) -> str:
        return self._link.key(name, of)

    def _numbers(self, name: str) -> dict[str, int]:
        found: dict[bytes, bytes] = self._client.hgetall(self._key(name))
        return {text_of(each): number_of(number) for each, number in found.items()}

    def _host_names(self) -> Iterator[str]:
        for name in self._client.sscan_iter(self._key("all_hosts"), count=AT_ONCE):
            yield text_of(name)

    def _now(self) -> float:
        seconds, micro = self._client.time()
        return float(seconds + micro / 1e6)


def _prefixes(client: Redis) -> list[str]:
    """Return the prefixes of all crawls in a server."""
    keys: Iterable[Any] = client.scan_iter(match="{*}:crawl", count=AT_ONCE)
    return sorted(text_of(key).removeprefix("{").removesuffix("}:crawl") for key in keys)


def _which(place: str, prefix: str, names: list[str]) -> str:
    if prefix:
        return f"There is no crawl with the prefix {prefix} in {place}: leave out --prefix."
    if names:
        return f"There are several crawls in {place}: choose one with --prefix: {', '.join(names)}."
    return f"There is no crawl in {place}: is it the right server and the right database number?"


def _failed(record: bytes, host: str) -> Iterator[tuple[float, bytes, str]]:
    """Yield priority, body and URL of the record of a failed URL."""
    if record[:1] == bytes([State.FAILED]):
        with suppress(RecordError):
            priority, body = unpack_failed(record)
            if not math.isnan(priority):
                yield priority, body, unpack_body(body, host)[0]


def _url(host: str, raw: bytes, record: bytes, score: float | None, words: dict[int, str]) -> Url:
    if len(record) < LEAST_RECORD or record[0] not in WORDS:
        raise RecordError("its state is unknown")
    state = WORDS[record[0]]
    url, outcome, attempts = None, None, 0
    if state == FAILED:
        url = unpack_body(unpack_failed(record)[1], host)[0]
    elif state != DONE:
        url, attempts = unpack_body(record[HEAD_BYTES:], host)[0], record[1]
    if record[0] == LATER:
        score = unpack_failed(record[PLACE_BYTES:])[0]
    if state in {DONE, FAILED}:
        outcome = words.get(record[1])
    return Url(
        fingerprint=unpack_fingerprint(raw),
        url=url,
        host=host,
        state=state,
        score=_finite(score) if state == WAITING else None,
        attempts=attempts,
        outcome=outcome,
    )


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None


def _seconds_until(moment: bytes | None, now: float) -> float | None:
    """Return the seconds until a time; None for a host that waits for a response instead."""
    if moment is None:
        return 0.0
    try:
        seconds = max(0.0, float(moment) - now)
    except ValueError:
        return None
    return round(seconds, 3) if math.isfinite(seconds) else None


def _in_parts(items: Iterable[Any], size: int = AT_ONCE) -> Iterator[list[Any]]:
    remaining = iter(items)
    while some := list(islice(remaining, size)):
        yield some
