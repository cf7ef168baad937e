"""The frontier in Redis, shared by any number of workers.

Redis decides: every change is a script that is atomic and may be run twice. Sites are leased to
workers, so that pairing, duplicates, learning and politeness stay local to one worker. All that a
worker looks up frequently is in its `Mirror`. Its changes are collected in an `Outbox` and sent
with its next pop, in one round trip per page.
"""

import contextlib
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bilingual_crawler.frontier.entry import Entry, HostGate, Pushed, State
from bilingual_crawler.frontier.memory import always_open
from bilingual_crawler.frontier.shared import reading
from bilingual_crawler.frontier.shared.link import AwayError, Call, RedisScripts
from bilingual_crawler.frontier.shared.outbox import End, Ends, Outbox, end_change
from bilingual_crawler.frontier.shared.records import (
    RecordError,
    pack_arguments,
    pack_body,
    pack_fingerprint,
    read_asked,
    text_of,
    unpack_body,
    unpack_fingerprint,
)
from bilingual_crawler.frontier.shared.sites import (
    HeldSites,
    Lease,
    Member,
    Mirror,
    OnSite,
    nothing_to_do,
)
from bilingual_crawler.store.journal import Journal, JournalError
from bilingual_crawler.urls.hosts import site_of

logger = logging.getLogger(__name__)

MOST_REFUSED = 50
"""URLs that the gate may refuse in one pop."""
POLL_SECONDS = 1.0
"""How long a worker without work waits before it asks Redis again."""
CLOSING_SECONDS = 5.0


def no_delay(_host: str) -> float:
    """Return no delay, for tests and benchmarks."""
    return 0.0


class RedisFrontier:
    """The shared frontier as one worker uses it."""

    def __init__(
        self,
        link: RedisScripts,
        journal: Journal,
        gate: HostGate = always_open,
        *,
        member: Member | None = None,
        lease: Lease | None = None,
        delay_of: Callable[[str], float] = no_delay,
        on_site: OnSite = nothing_to_do,
        server: int = 0,
    ) -> None:
        self._link = link
        self._journal = journal
        self._gate = gate
        self._member = member or Member()
        self._lease = lease or Lease()
        self._delay_of = delay_of
        self._mirror = Mirror()
        self._flight: dict[int, Entry] = {}
        self._active: Counter[str] = Counter()
        self.ends = Ends(journal, self.tell, server)
        """The ends that Redis does not know yet."""
        self._outbox = Outbox(link, self.ends)
        self._sites = HeldSites(link, self._mirror, self.ends, self._flight, on_site)
        self._stale: set[str] = set()
        self._shelved: set[str] = set()
        self._pops = 0
        self._is_urgent = True
        self._quiet_until = -math.inf
        self._join()

    def __len__(self) -> int:
        return self._outbox.queued

    def __contains__(self, fingerprint: int) -> bool:
        return fingerprint in self._mirror

    @property
    def outcomes(self) -> Counter[str]:
        """The outcomes of the URLs that this worker fetched."""
        return self.ends.outcomes

    @property
    def known(self) -> int:
        """The number of URLs that were ever pushed, by all workers."""
        return self._outbox.known

    @property
    def shelved(self) -> int:
        """The number of URLs that wait for a run with a larger budget."""
        return self._outbox.figures.shelved

    @property
    def fenced(self) -> int:
        """The number of changes that came too late, from any worker."""
        return self._outbox.figures.fenced

    @property
    def dropped(self) -> int:
        """The number of records in Redis that no worker can have written."""
        return self._outbox.figures.dropped

    @property
    def hosts(self) -> list[str]:
        """Every host that has or had a waiting URL."""
        return reading.hosts(self._link)

    @property
    def sites(self) -> list[str]:
        """The sites that this worker holds."""
        return self._mirror.sites

    @property
    def stopped_sites(self) -> list[str]:
        """Sites that some worker has stopped."""
        return self._sites.stopped

    @property
    def keep_up_seconds(self) -> float:
        """The interval at which to call `keep_up`."""
        return min(self._lease.seconds / 6, POLL_SECONDS)

    def pending(self) -> bool:
        """Return True if there may be anything to hand out, now or when another worker dies."""
        return self._link.is_away or len(self) > 0 or self._outbox.figures.elsewhere > 0

    def state_of(self, fingerprint: int) -> State | None:
        """Return the state of a URL as far as this worker knows; None if unknown."""
        sight = self._mirror.get(fingerprint)
        return None if sight is None else sight.state

    def prefetch(self, urls: Iterable[tuple[int, str]]) -> None:
        """Ask Redis for the states of URLs on sites of other workers, in one call."""
        asked = {
            fingerprint: host
            for fingerprint, host in urls
            if fingerprint not in self._mirror and not self._mirror.holds(host)
        }
        if not asked:
            return
        flat = [part for fp, host in asked.items() for part in (pack_fingerprint(fp), host)]
        with contextlib.suppress(AwayError):
            answer = self._link.run("ask", pack_arguments(flat))
            for seen in read_asked(list(asked), answer):
                self._sites.note(asked[seen.fingerprint], seen)

    def push(
        self,
        fingerprint: int,
        url: str,
        host: str,
        priority: float,
        payload: bytes | None = None,
        *,
        again: bool = False,
    ) -> Pushed:
        """Insert a URL, or raise its priority if it is queued at a lower one."""
        sight = self._mirror.get(fingerprint)
        if sight is not None:
            if sight.state in {State.QUEUED, State.LEASED}:
                rises = self.raise_priority(fingerprint, priority)
                return Pushed.RAISED if rises else Pushed.KNOWN
            if not again:
                return Pushed.KNOWN
            self.ends.forget(sight.outcome)
            untold = self.ends.withdraw(fingerprint)
            if untold is not None:  # or it would end the new attempt
                self._outbox.add(*end_change(untold))
        raw, body = pack_fingerprint(fingerprint), pack_body(url, host, payload)
        self._outbox.add(
            *("push", raw, host, site_of(host), float(priority), body, again),
            queued=self._weight(host),
            known=int(sight is None),
        )
        self._is_urgent = True
        self._mirror.note(fingerprint, host, State.QUEUED, priority)
        return Pushed.NEW

    def raise_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise the priority of a queued URL; return True if it was lower."""
        sight = self._mirror.get(fingerprint)
        if sight is None or priority < sight.priority:
            return False
        return self._move(fingerprint, priority, "raise")

    def set_priority(self, fingerprint: int, priority: float) -> bool:
        """Set the priority of a queued URL; return True if that changed anything."""
        return self._move(fingerprint, priority, "set")

    def _move(self, fingerprint: int, priority: float, how: str) -> bool:
        sight = self._mirror.get(fingerprint)
        if sight is None or sight.state is not State.QUEUED or priority == sight.priority:
            return False
        sight.priority = priority
        self._outbox.add(how, pack_fingerprint(fingerprint), sight.host, float(priority))
        self._is_urgent = True
        return True

    def end(self, fingerprint: int, state: State, outcome: str) -> None:
        """End a leased URL, which is done or has failed; `outcome` is a word for how."""
        entry = self._leave(fingerprint)
        self._mirror.note(fingerprint, entry.host, state, outcome=outcome)
        self.ends.add(End(fingerprint, entry.host, state, outcome))

    def retry(self, fingerprint: int, ready_at: float, payload: bytes | None) -> None:
        """Put a leased URL back into the queue, not to be sent before `ready_at`."""
        entry = self._leave(fingerprint)
        host = entry.host
        raw, body = pack_fingerprint(fingerprint), pack_body(entry.url, host, payload)
        self._outbox.add(
            "retry", raw, host, site_of(host), ready_at, body, queued=self._weight(host)
        )
        self._is_urgent = True
        self._mirror.note(fingerprint, host, State.QUEUED, entry.priority)

    def _leave(self, fingerprint: int) -> Entry:
        entry = self._flight.pop(fingerprint)
        self._active[entry.host] -= 1
        self._stale.add(entry.host)
        return entry

    def _weight(self, host: str) -> int:
        """Return what a URL of a host adds to the number of waiting URLs."""
        return 0 if host in self._shelved else 1

    def recheck(self, host: str) -> None:
        """Ask the gate again about a host that it had closed without a time."""
        self._stale.add(host)

    def end_site(self, site: str) -> None:
        """Have all workers stop crawling a site, in this run and when it is resumed."""
        self._outbox.add("stop", site)

    def wake_at(self) -> float:
        """Return the next time at which `pop` may have a URL, unless something changes here."""
        return self._link.again_at if self._link.is_away else self._quiet_until

    def top(self, most: int) -> list[Entry]:
        """Return the best waiting URLs of the whole crawl, whether or not their hosts are free."""
        self.tell()
        return reading.top(self._link, most)

    def queued(self) -> Iterator[Entry]:
        """Return every waiting URL of the whole crawl that is not a retry, in no order."""
        self.tell()
        return reading.queued(self._link)

    def pop(self, now: float) -> Entry | None:
        """Lease the best URL that may be sent now: of a site that is held, or of a free one.

        Redis does not always know the state of this worker's gate. A URL that the gate refuses
        goes back at once.
        """
        self._ask_gate(now)
        if not self._is_urgent and now < self.wake_at():
            return None
        with contextlib.suppress(AwayError):
            for _ in range(MOST_REFUSED):
                popped = self._pop_any()
                if popped is None:
                    return None
                entry = self._read(*popped)
                if entry is not None and self._passes(entry, now):
                    return entry
        return None

    def _read(self, raw: bytes, host: bytes, priority: bytes, *rest: Any) -> Entry | None:
        """Return the URL that was popped; drop it from Redis if it cannot be read."""
        attempts, body = rest
        name = text_of(host)
        try:
            url, payload = unpack_body(body, name)
        except RecordError as error:
            logger.warning("A URL of %.200r in Redis is dropped: %s", name, error)
            self._outbox.add("drop", raw, host, site_of(name))
            self._is_urgent = True
            return None
        fingerprint = unpack_fingerprint(raw)
        return Entry(fingerprint, url, name, float(priority), 0, payload, State.LEASED, attempts)

    def _pop_any(self) -> list[Any] | None:
        """Send all changes and return the URL that Redis offers; each answer renews the lease."""
        self._sites.load()
        seconds, most_sites = self._lease
        answer = self._outbox.send(
            Call("pop", (seconds, most_sites, self._pops, self._delay_of("")))
        )
        if answer[0] == b"lost":
            self._join()
            return None
        _, _, pause, given_up, *url = answer
        self._is_urgent = False
        self._quiet_until = self._link.clock() + min(float(pause), POLL_SECONDS)
        self._sites.give_up([text_of(site) for site in given_up])
        self._sites.compare(self._outbox.figures.held)
        self._pops += 1  # until here the same answer would come again
        return url or None

    def _passes(self, entry: Entry, now: float) -> bool:
        """Return True if the worker's own gate lets a URL pass, which is then in flight."""
        fingerprint, host = entry.fingerprint, entry.host
        if fingerprint in self._flight or self.ends.get(fingerprint) is not None:
            return False  # fetched here before the lease was lost; its end is on its way
        open_at = self._gate(host, self._active[host], now)
        passes = open_at is not None and open_at <= now
        if passes:
            self._flight[fingerprint] = entry
            self._active[host] += 1
            self._stale.add(host)
        else:
            self._outbox.add("back", pack_fingerprint(fingerprint), host, queued=self._weight(host))
            self._set_gate(host, open_at)
        state = State.LEASED if passes else State.QUEUED
        self._mirror.note(fingerprint, host, state, entry.priority)
        return passes

    def _ask_gate(self, now: float) -> None:
        """Ask the gate about all hosts for which something has changed."""
        for host in self._stale:
            open_at = self._gate(host, self._active[host], now)
            if open_at is not None and open_at <= now:
                self._is_urgent = True
            self._set_gate(host, open_at)
        self._stale.clear()

    def _set_gate(self, host: str, open_at: float | None) -> None:
        """Tell Redis when the next URL of a host may be sent."""
        if open_at is not None:
            self._outbox.add("host", host, open_at, self._delay_of(host))
        elif host not in self._shelved:
            self._shelved.add(host)
            self._outbox.add("shelve", host)
            self._is_urgent = True

    def _join(self) -> None:
        """Join the crawl, or rejoin it if Redis considered this worker dead."""
        self._outbox.learn(self._sites.join(self._member, self._lease.seconds))
        self._shelved.clear()
        self._is_urgent = True

    def keep_up(self) -> None:
        """Send pending changes, and a sign of life when it is due."""
        silence = self._link.clock() - self._outbox.answered_at
        if silence < self._lease.seconds / 3:
            self.tell()
            return
        with contextlib.suppress(AwayError):
            answer = self._outbox.send(Call("renew", (self._lease.seconds,)))
            if answer[0] == b"lost":
                self._join()

    def tell(self) -> bool:
        """Send pending changes; return True if Redis has all links that were found."""
        if not self._outbox.is_empty:
            with contextlib.suppress(AwayError):
                self._outbox.send()
        return not self._outbox.has_changes

    def close(self) -> None:
        """Send all ends, and release the sites to the other workers.

        An end that cannot be written to disk is not sent, so that its URL is fetched again.
        """
        with contextlib.suppress(JournalError):  # raised again when the journal is closed
            self._journal.checkpoint(wait=True)
        until = time.monotonic() + CLOSING_SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(AwayError):
                self._outbox.send(Call("release", ()))
                return
            time.sleep(0.1)
        logger.warning(
            "Redis does not answer: other workers take over in %g seconds, and changes that this"
            " one could not send are sent when it is started again",
            self._lease.seconds,
        )
