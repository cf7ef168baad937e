"""The frontier in Redis, shared by any number of workers.

Redis decides: every change is a script that is atomic and may come twice. Sites are leased
to workers, so that pairing, duplicates, learning and politeness stay local to one of them;
what a worker must look up all the time is in its `Mirror`. What it changes is collected and
travels with its next pop, one round trip a page.
"""

import contextlib
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier import redis_view
from bilingual_crawler.frontier.entry import Entry, HostGate, Pushed, State
from bilingual_crawler.frontier.memory import always_open
from bilingual_crawler.frontier.redis_ends import End, Ends
from bilingual_crawler.frontier.redis_link import AwayError, Call, Link
from bilingual_crawler.frontier.redis_mirror import Mirror
from bilingual_crawler.frontier.redis_records import (
    Seen,
    pack_arguments,
    pack_body,
    pack_fingerprint,
    read_asked,
    read_seen,
    unpack_body,
    unpack_fingerprint,
)
from bilingual_crawler.hosts import site_of
from bilingual_crawler.journal import Journal, JournalError

logger = logging.getLogger(__name__)

MOST_CHANGES = 500
"""Changes in one call of a script: the server does nothing else meanwhile."""
MOST_LOADED = 2000
MOST_REFUSED = 50
POLL_SECONDS = 1.0
"""How long a worker without work waits before it looks whether others have found some."""
CLOSING_SECONDS = 5.0

Change = list[Any]


class Figures(NamedTuple):
    """The whole crawl in numbers, as the last answer told them."""

    queued: int = 0
    elsewhere: int = 0
    """In flight at other workers."""
    known: int = 0
    shelved: int = 0
    fenced: int = 0
    """Changes that came too late, when another worker held the site."""


class Lease(NamedTuple):
    """How long a worker is believed to live without a sign, and how much it may hold."""

    seconds: float = 30.0
    most_sites: int = 100


def no_delay(_host: str) -> float:
    """The delay of hosts for those who know no politeness."""
    return 0.0


def nothing_to_do(_site: str, _hosts: list[str], _pages: int) -> None:
    """What is done about a site that was taken, where nothing is."""


class RedisFrontier:
    """One worker's view of the shared frontier; it keeps the promises of `Frontier`.

    `identity` tells a worker that was started again from another one of the same name.
    `on_site` is told of every site that is taken, with its hosts and the pages it gave so far.
    """

    def __init__(
        self,
        link: Link,
        journal: Journal,
        gate: HostGate = always_open,
        *,
        identity: str = "",
        langs: str = "",
        lease: Lease | None = None,
        delay_of: Callable[[str], float] = no_delay,
        on_site: Callable[[str, list[str], int], None] = nothing_to_do,
    ) -> None:
        self._link = link
        self._journal = journal
        self._gate = gate
        self._about = (identity, langs)
        self._lease = lease or Lease()
        self._delay_of = delay_of
        self._on_site = on_site
        self._mirror = Mirror()
        self._ends = Ends(journal, self._links_are_told)
        self._changes: list[Change] = []
        self._flight: dict[int, Entry] = {}
        self._active: Counter[str] = Counter()
        self._stale: set[str] = set()
        self._shelved: set[str] = set()
        self._to_load: list[tuple[str, list[str]]] = []
        self._words: dict[int, str] = {}
        self._figures = Figures()
        self._unsent_queued = self._unsent_known = 0
        self._nonce = 0
        self._is_urgent = True
        self._quiet_until = -math.inf
        self._renewed_at = -math.inf
        self.stopped_sites: list[str] = []
        self._join()

    def __len__(self) -> int:
        return max(self._figures.queued + self._unsent_queued, 0)

    def __contains__(self, fingerprint: int) -> bool:
        return fingerprint in self._mirror

    @property
    def outcomes(self) -> Counter[str]:
        """How the URLs ended that this worker fetched."""
        return self._ends.outcomes

    @property
    def known(self) -> int:
        """How many URLs were ever pushed, by all workers."""
        return self._figures.known + self._unsent_known

    @property
    def shelved(self) -> int:
        """How many URLs wait for a run with a larger budget."""
        return self._figures.shelved

    @property
    def fenced(self) -> int:
        """How many changes came too late, by all workers."""
        return self._figures.fenced

    @property
    def hosts(self) -> list[str]:
        """Every host that has or had a waiting URL."""
        return redis_view.hosts(self._link)

    @property
    def sites(self) -> list[str]:
        """The sites that this worker holds."""
        return self._mirror.sites

    @property
    def keep_up_seconds(self) -> float:
        """How often `keep_up` wants to be called."""
        return min(self._lease.seconds / 6, POLL_SECONDS)

    def pending(self) -> bool:
        """Whether there may be anything to hand out, now or when another worker dies."""
        return self._link.is_away or len(self) > 0 or self._figures.elsewhere > 0

    def state_of(self, fingerprint: int) -> State | None:
        """Where a URL stands, as far as this worker knows; None if it knows nothing."""
        sight = self._mirror.get(fingerprint)
        return None if sight is None else sight.state

    def prefetch(self, urls: Iterable[tuple[int, str]]) -> None:
        """Learn where URLs of other sites stand, given by fingerprint and host, in one question."""
        asked = {
            fingerprint: host
            for fingerprint, host in urls
            if fingerprint not in self._mirror and not self._mirror.holds(host)
        }
        if not asked:
            return
        flat = [part for fp, host in asked.items() for part in (pack_fingerprint(fp), host)]
        try:
            answer = self._link.run("ask", pack_arguments(flat))
            for seen in read_asked(list(asked), answer):
                self._note(asked[seen.fingerprint], seen)
        except AwayError:
            return

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
        else:
            self._unsent_known += 1
        body = pack_body(url, host, payload)
        self._change(
            "push", pack_fingerprint(fingerprint), host, site_of(host), float(priority), body, again
        )
        self._count_in(host)
        self._mirror.note(fingerprint, host, State.QUEUED, priority)
        return Pushed.NEW

    def _count_in(self, host: str) -> None:
        if host not in self._shelved:
            self._unsent_queued += 1

    def raise_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise a queued URL; whether it was lower is told."""
        return self._move(fingerprint, priority, "raise")

    def set_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise or lower a queued URL; whether anything changed is told."""
        return self._move(fingerprint, priority, "set")

    def _move(self, fingerprint: int, priority: float, how: str) -> bool:
        sight = self._mirror.get(fingerprint)
        if sight is None or sight.state is not State.QUEUED or priority == sight.priority:
            return False
        if how == "raise" and priority < sight.priority:
            return False
        sight.priority = priority
        self._change(how, pack_fingerprint(fingerprint), sight.host, float(priority))
        return True

    def end(self, fingerprint: int, state: State, outcome: str) -> None:
        """A leased URL is done or has failed; `outcome` says in a word how."""
        entry = self._leave(fingerprint)
        self._mirror.note(fingerprint, entry.host, state, outcome=outcome)
        self._ends.add(End(fingerprint, entry.host, state, outcome))

    def retry(self, fingerprint: int, ready_at: float, payload: bytes | None) -> None:
        """A leased URL goes back to the queue and is not sent before `ready_at`."""
        entry = self._leave(fingerprint)
        body = pack_body(entry.url, entry.host, payload)
        self._change(
            "retry", pack_fingerprint(fingerprint), entry.host, site_of(entry.host), ready_at, body
        )
        self._count_in(entry.host)
        self._mirror.note(fingerprint, entry.host, State.QUEUED, entry.priority)

    def _leave(self, fingerprint: int) -> Entry:
        entry = self._flight.pop(fingerprint)
        self._active[entry.host] -= 1
        self._stale.add(entry.host)
        return entry

    def recheck(self, host: str) -> None:
        """Ask the gate again for a host that it had closed without a time."""
        self._stale.add(host)

    def end_site(self, site: str) -> None:
        """Let nobody ask anything more of a site, in this run or in those that go on with it."""
        self._change("stop", site)
        self._stale.update(host for host in self._active if site_of(host) == site)

    def wake_at(self) -> float | None:
        """The next moment at which `pop` may have more to give."""
        return self._link.again_at if self._link.is_away else self._quiet_until

    def top(self, most: int) -> list[Entry]:
        """The best waiting URLs of the whole crawl, whether or not their hosts are free."""
        self._links_are_told()
        return redis_view.top(self._link, most)

    def queued(self) -> Iterator[Entry]:
        """Every waiting URL of the whole crawl, in no order."""
        self._links_are_told()
        return redis_view.queued(self._link)

    def pop(self, now: float) -> Entry | None:
        """Lease the best URL that may be sent now: of a site that is held, or of a free one.

        Redis does not know the gate of this worker at every moment. A URL that the gate
        does not let pass goes back at once.
        """
        self._ask_gate(now)
        if not self._is_urgent and now < self.wake_at_least():
            return None
        try:
            for _ in range(MOST_REFUSED):
                entry = self._pop_any(now)
                if entry is None or self._passes(entry, now):
                    return entry
        except AwayError:
            pass
        return None

    def wake_at_least(self) -> float:
        """Until when nothing is to be had, unless this worker itself changes something."""
        return self.wake_at() or -math.inf

    def _passes(self, entry: Entry, now: float) -> bool:
        """Whether the worker's own gate lets a URL pass; it is in flight then."""
        host = entry.host
        if entry.fingerprint in self._flight or self._ends.get(entry.fingerprint):
            return False  # fetched here when the lease was lost: its end is on the way
        open_at = self._gate(host, self._active[host], now)
        if open_at is not None and open_at <= now:
            self._flight[entry.fingerprint] = entry
            self._active[host] += 1
            self._stale.add(host)
            self._mirror.note(entry.fingerprint, host, State.LEASED, entry.priority)
            return True
        self._change("back", pack_fingerprint(entry.fingerprint), host)
        self._count_in(host)
        self._close_host(host, open_at)
        self._mirror.note(entry.fingerprint, host, State.QUEUED, entry.priority)
        return False

    def _ask_gate(self, now: float) -> None:
        """Tell Redis when the hosts may be asked of which something has changed."""
        for host in self._stale:
            open_at = self._gate(host, self._active[host], now)
            if open_at is not None and open_at <= now:
                self._is_urgent = True
            self._close_host(host, open_at)
        self._stale.clear()

    def _close_host(self, host: str, open_at: float | None) -> None:
        if open_at is None:
            if host not in self._shelved:
                self._shelved.add(host)
                self._change("shelve", host)
        else:
            self._changes.append(["host", host, open_at, self._delay_of(host)])

    def _pop_any(self, now: float) -> Entry | None:
        """Whatever Redis gives, together with all that there is to tell it."""
        self._load_sites()
        lease = self._lease
        arguments = (lease.seconds, lease.most_sites, self._nonce, self._delay_of(""))
        answer = self._exchange(Call("pop", arguments))
        self._is_urgent = False
        if answer[0] == b"lost":
            self._join()
            self._is_urgent = True
            return self._pop_any(now)
        self._nonce += 1
        _, _, pause, given_up, *found = answer
        self._quiet_until = self._link.clock() + min(float(pause), POLL_SECONDS)
        self._mirror.drop(site.decode() for site in given_up)
        if not found:
            return None
        taken, url = found
        if taken:
            self._take(*taken)
        return _entry(*url)

    def _exchange(self, *calls: Call) -> Any:
        """One round trip: all changes and ends that may be told, then the calls; the last answer.

        What is sent is forgotten only when the server has answered.
        """
        sent_at = self._link.clock()
        ends = self._ends.to_tell()[: 10 * MOST_CHANGES]
        changes = self._changes + [_told(end) for end in ends]
        number = len(self._changes)
        writes = [
            Call("write", (sent_at, pack_arguments(changes[at : at + MOST_CHANGES])))
            for at in range(0, len(changes), MOST_CHANGES)
        ]
        answers = self._link.run_all([*writes, *calls])
        del self._changes[:number]
        self._ends.confirm(len(ends))
        self._unsent_queued = self._unsent_known = 0
        word, figures, *_ = answers[-1]
        self._figures = Figures(*figures)
        if calls and word != b"lost":
            self._renewed_at = sent_at
        return answers[-1]

    def _take(self, site: bytes, pages: bytes, hosts: list[bytes]) -> None:
        names = [host.decode() for host in hosts]
        self._to_load.append((site.decode(), names))
        self._on_site(site.decode(), names, int(pages))
        self._load_sites()

    def _load_sites(self) -> None:
        """Learn all URLs of the sites that were taken."""
        while self._to_load:
            site, hosts = self._to_load[-1]
            self._mirror.take(site)
            for host in hosts:
                cursor = b"0"
                while True:
                    cursor, data = self._link.run("load", host, cursor, MOST_LOADED)
                    for seen in read_seen(data):
                        self._note(host, seen)
                    if cursor == b"0":
                        break
            self._to_load.pop()

    def _note(self, host: str, seen: Seen) -> None:
        fingerprint, state, code, priority = seen
        end = self._ends.get(fingerprint)
        if end is not None:
            self._mirror.note(fingerprint, host, end.state, outcome=end.outcome)
        elif fingerprint in self._flight:
            self._mirror.note(fingerprint, host, State.LEASED, priority)
        else:
            self._mirror.note(fingerprint, host, state, priority, self._word(code))

    def _word(self, code: int) -> str:
        if code and code not in self._words:
            self._words = redis_view.outcome_words(self._link)
        return self._words.get(code, "")

    def _join(self) -> None:
        """Become a worker of the crawl, or one again."""
        identity, langs = self._about
        sent_at = self._link.clock()
        answer = self._link.run("join", identity, self._lease.seconds, langs)
        if answer[0] == b"languages":
            raise ConfigurationError(
                f"The frontier in Redis belongs to a crawl for {answer[1].decode()}, not {langs}:"
                " write BILINGUAL_FRONTIER_PREFIX=... for a frontier of its own."
            )
        if answer[0] == b"taken":
            raise ConfigurationError(
                f"Another worker of the crawl is called {self._link.worker}: give this one a name"
                " of its own with -s BILINGUAL_WORKER=NAME."
            )
        if self._link.token:
            logger.warning(
                "Redis had given up on this worker, and others may have its sites: it begins anew"
            )
        _, token, figures, held, stopped = answer
        self._link.token = token.decode()
        self._renewed_at = sent_at
        self._figures = Figures(*figures)
        self.stopped_sites = [site.decode() for site in stopped]
        self._mirror.drop(self._mirror.sites)
        self._shelved.clear()
        for site in held:
            pages, hosts = redis_view.site(self._link, site.decode())
            self._take(site, pages, hosts)

    def keep_up(self) -> None:
        """Tell what waits to be told, and give a sign of life when it is time for one."""
        try:
            due = self._link.clock() - self._renewed_at > self._lease.seconds / 3
            if due:
                answer = self._exchange(Call("renew", (self._lease.seconds,)))
                if answer[0] == b"lost":
                    self._join()
            elif self._changes or self._ends.to_tell():
                self._exchange()
        except AwayError:
            return

    def _links_are_told(self) -> bool:
        """Whether all links that were found have reached Redis; it is tried, if not."""
        if self._changes:
            self.keep_up()
        return not self._changes

    def close(self) -> None:
        """Tell how everything ended, and give the sites back to the others.

        What cannot be written to disk is not told, so that somebody fetches it again.
        """
        with contextlib.suppress(JournalError):  # told by whoever closes the journal
            self._journal.checkpoint(wait=True)
        until = time.monotonic() + CLOSING_SECONDS
        while True:
            try:
                self._exchange(Call("release", ()))
            except AwayError:
                if time.monotonic() > until:
                    logger.warning(
                        "Redis does not answer: the other workers take over after %g seconds,"
                        " and what they cannot know yet is told when this one is started again",
                        self._lease.seconds,
                    )
                    return
                time.sleep(0.2)
            else:
                return

    def _change(self, *change: Any) -> None:
        self._changes.append(list(change))
        self._is_urgent = True


def _told(end: End) -> Change:
    fingerprint, host, state, outcome = end
    return ["end", pack_fingerprint(fingerprint), host, site_of(host), int(state), outcome]


def _entry(raw: bytes, host: bytes, priority: bytes, attempts: int, body: bytes) -> Entry:
    """The URL that was popped."""
    name = host.decode()
    url, payload = unpack_body(body, name)
    return Entry(
        unpack_fingerprint(raw), url, name, float(priority), 0, payload, State.LEASED, attempts
    )
