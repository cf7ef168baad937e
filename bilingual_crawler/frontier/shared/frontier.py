"""The frontier in Redis, shared by any number of workers.

Redis decides: every change is a script that is atomic and may come twice. Sites are leased
to workers, so that pairing, duplicates, learning and politeness stay local to one of them;
what a worker must look up all the time is in its `Mirror`. What it changes is collected in
an `Outbox` and travels with its next pop, one round trip a page.
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
"""How long a worker without work waits before it looks whether others have found some."""
CLOSING_SECONDS = 5.0


def no_delay(_host: str) -> float:
    """The delay of hosts for those who know no politeness."""
    return 0.0


class RedisFrontier:
    """One worker's view of the shared frontier; it keeps the promises of `Frontier`."""

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
        self._ends = Ends(journal, self._tell)
        self._outbox = Outbox(link, self._ends)
        self._sites = HeldSites(link, self._mirror, self._ends, self._flight, on_site)
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
        """How the URLs ended that this worker fetched."""
        return self._ends.outcomes

    @property
    def known(self) -> int:
        """How many URLs were ever pushed, by all workers."""
        return self._outbox.known

    @property
    def shelved(self) -> int:
        """How many URLs wait for a run with a larger budget."""
        return self._outbox.figures.shelved

    @property
    def fenced(self) -> int:
        """How many changes came too late, from any worker."""
        return self._outbox.figures.fenced

    @property
    def dropped(self) -> int:
        """How much was found in Redis that no worker had put there."""
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
        """Sites of which nothing more is wanted, by whomever."""
        return self._sites.stopped

    @property
    def keep_up_seconds(self) -> float:
        """How often `keep_up` wants to be called."""
        return min(self._lease.seconds / 6, POLL_SECONDS)

    def pending(self) -> bool:
        """Whether there may be anything to hand out, now or when another worker dies."""
        return self._link.is_away or len(self) > 0 or self._outbox.figures.elsewhere > 0

    def state_of(self, fingerprint: int) -> State | None:
        """Where a URL stands, as far as this worker knows; None if it knows nothing."""
        sight = self._mirror.get(fingerprint)
        return None if sight is None else sight.state

    def prefetch(self, urls: Iterable[tuple[int, str]]) -> None:
        """Learn where URLs of sites of others stand, in one question."""
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
            self._ends.forget(sight.outcome)
            untold = self._ends.withdraw(fingerprint)
            if untold is not None:  # or it would end what begins anew here
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
        """Raise a queued URL; whether it was lower is told."""
        sight = self._mirror.get(fingerprint)
        if sight is None or priority < sight.priority:
            return False
        return self._move(fingerprint, priority, "raise")

    def set_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise or lower a queued URL; whether anything changed is told."""
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
        """A leased URL is done or has failed; `outcome` says in a word how."""
        entry = self._leave(fingerprint)
        self._mirror.note(fingerprint, entry.host, state, outcome=outcome)
        self._ends.add(End(fingerprint, entry.host, state, outcome))

    def retry(self, fingerprint: int, ready_at: float, payload: bytes | None) -> None:
        """A leased URL goes back to the queue and is not sent before `ready_at`."""
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
        """What a URL of a host adds to those that wait."""
        return 0 if host in self._shelved else 1

    def recheck(self, host: str) -> None:
        """Ask the gate again for a host that it had closed without a time."""
        self._stale.add(host)

    def end_site(self, site: str) -> None:
        """Let nobody ask anything more of a site, in this run or in those that go on with it."""
        self._outbox.add("stop", site)

    def wake_at(self) -> float:
        """The next moment at which `pop` may have more to give, unless something changes here."""
        return self._link.again_at if self._link.is_away else self._quiet_until

    def top(self, most: int) -> list[Entry]:
        """The best waiting URLs of the whole crawl, whether or not their hosts are free."""
        self._tell()
        return reading.top(self._link, most)

    def queued(self) -> Iterator[Entry]:
        """Every waiting URL of the whole crawl that is no retry, in no order."""
        self._tell()
        return reading.queued(self._link)

    def pop(self, now: float) -> Entry | None:
        """Lease the best URL that may be sent now: of a site that is held, or of a free one.

        Redis does not know the gate of this worker at every moment. A URL that the gate
        does not let pass goes back at once.
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
        """The URL that was popped; what cannot be read is dropped from Redis."""
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
        """Whatever Redis gives, when it has been told everything; each answer renews the lease."""
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
        """Whether the worker's own gate lets a URL pass; if so it is in flight now."""
        fingerprint, host = entry.fingerprint, entry.host
        if fingerprint in self._flight or self._ends.get(fingerprint) is not None:
            return False  # fetched here before the lease was lost: its end is on the way
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
        """See when the hosts may be asked of which something has changed."""
        for host in self._stale:
            open_at = self._gate(host, self._active[host], now)
            if open_at is not None and open_at <= now:
                self._is_urgent = True
            self._set_gate(host, open_at)
        self._stale.clear()

    def _set_gate(self, host: str, open_at: float | None) -> None:
        """Tell Redis when a host may be asked next."""
        if open_at is not None:
            self._outbox.add("host", host, open_at, self._delay_of(host))
        elif host not in self._shelved:
            self._shelved.add(host)
            self._outbox.add("shelve", host)
            self._is_urgent = True

    def _join(self) -> None:
        """Become a worker of the crawl, or one again if Redis had given up on this one."""
        self._outbox.learn(self._sites.join(self._member, self._lease.seconds))
        self._shelved.clear()
        self._is_urgent = True

    def keep_up(self) -> None:
        """Tell what waits to be told, and give a sign of life when it is time for one."""
        silence = self._link.clock() - self._outbox.answered_at
        if silence < self._lease.seconds / 3:
            self._tell()
            return
        with contextlib.suppress(AwayError):
            answer = self._outbox.send(Call("renew", (self._lease.seconds,)))
            if answer[0] == b"lost":
                self._join()

    def _tell(self) -> bool:
        """Tell what may be told; whether Redis has all links that were found is returned."""
        if not self._outbox.is_empty:
            with contextlib.suppress(AwayError):
                self._outbox.send()
        return not self._outbox.has_changes

    def close(self) -> None:
        """Tell how everything ended, and give the sites back to the others.

        What cannot be written to disk is not told, so that somebody fetches it again.
        """
        with contextlib.suppress(JournalError):  # told by whoever closes the journal
            self._journal.checkpoint(wait=True)
        until = time.monotonic() + CLOSING_SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(AwayError):
                self._outbox.send(Call("release", ()))
                return
            time.sleep(0.1)
        logger.warning(
            "Redis does not answer: other workers take over in %g seconds, and what this one"
            " could not tell is told when it is started again",
            self._lease.seconds,
        )
