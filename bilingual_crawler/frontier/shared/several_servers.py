"""A shared frontier on several Redis servers, when one is too small or too slow.

Each site belongs to one server, by rendezvous hashing (Thaler and Ravishankar 1998): every worker
computes the same choice from the names of the servers, without asking anyone. Everything about a
site, its URLs, its lease and its delays, is on its server, so each server keeps the promises of a
frontier for its sites. One promise spans servers: the end of a page is reported only after all
its links have arrived, also those to sites on other servers.

A server that does not answer holds up its own sites. Pages of other sites go on, but as long as a
link to a site of the missing server waits, ends wait too, in memory: a worker that is killed then
fetches these pages again, and so finds the link again.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from heapq import nlargest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import Entry, Pushed, State
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.urls.hosts import site_of


class ServerChoice:
    """Says which of several servers has a site."""

    def __init__(self, names: Sequence[str]) -> None:
        if len(set(names)) < len(names):
            raise ConfigurationError("BILINGUAL_FRONTIER names a Redis server twice.")
        self._names = tuple(names)
        self.of_site = lru_cache(maxsize=1 << 16)(self._of_site)

    def _of_site(self, site: str) -> int:
        """Return the number of the server with the greatest hash; few sites move with a change."""
        return max(range(len(self._names)), key=lambda number: self._weight(number, site))

    def _weight(self, number: int, site: str) -> bytes:
        return blake2b(f"{self._names[number]}\0{site}".encode(), digest_size=8).digest()


class SeveralServers:
    """The frontiers of several servers as one."""

    def __init__(self, frontiers: Sequence[RedisFrontier], choice: ServerChoice) -> None:
        self._parts = list(frontiers)
        self._choice = choice
        self._at: dict[int, RedisFrontier] = {}
        """The frontiers of the URLs in flight."""
        self._turn = 0
        for part in self._parts:
            part.ends.links_are_told = self._links_are_told
            part.ends.count_with(self._parts[0].ends)

    def _links_are_told(self) -> bool:
        """Return whether every server has all links that were found."""
        told = [part.tell() for part in self._parts]
        return all(told)

    def _of(self, host: str) -> RedisFrontier:
        return self._parts[self._choice.of_site(site_of(host))]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __contains__(self, fingerprint: int) -> bool:
        return any(fingerprint in part for part in self._parts)

    @property
    def outcomes(self) -> Counter[str]:
        """The outcomes of the URLs that this worker fetched."""
        return self._parts[0].outcomes

    @property
    def known(self) -> int:
        """The number of URLs that were ever pushed, by all workers."""
        return sum(part.known for part in self._parts)

    @property
    def shelved(self) -> int:
        """The number of URLs that wait for a run with a larger budget."""
        return sum(part.shelved for part in self._parts)

    @property
    def fenced(self) -> int:
        """The number of changes that came too late, from any worker."""
        return sum(part.fenced for part in self._parts)

    @property
    def dropped(self) -> int:
        """The number of records in Redis that no worker can have written."""
        return sum(part.dropped for part in self._parts)

    @property
    def hosts(self) -> list[str]:
        """Every host that has or had a waiting URL."""
        return [host for part in self._parts for host in part.hosts]

    @property
    def sites(self) -> list[str]:
        """The sites that this worker holds."""
        return [site for part in self._parts for site in part.sites]

    @property
    def stopped_sites(self) -> list[str]:
        """Sites that some worker has stopped."""
        return [site for part in self._parts for site in part.stopped_sites]

    @property
    def keep_up_seconds(self) -> float:
        """The interval at which to call `keep_up`."""
        return min(part.keep_up_seconds for part in self._parts)

    def pending(self) -> bool:
        """Return True if there may be anything to hand out, now or when another worker dies."""
        return any(part.pending() for part in self._parts)

    def state_of(self, fingerprint: int) -> State | None:
        """Return the state of a URL as far as this worker knows; None if unknown."""
        found = (part.state_of(fingerprint) for part in self._parts)
        return next((state for state in found if state is not None), None)

    def prefetch(self, urls: Iterable[tuple[int, str]]) -> None:
        """Ask the servers for the states of URLs on sites of other workers, in a call each."""
        asked: dict[int, list[tuple[int, str]]] = {}
        for fingerprint, host in urls:
            number = self._choice.of_site(site_of(host))
            asked.setdefault(number, []).append((fingerprint, host))
        for number, some in asked.items():
            self._parts[number].prefetch(some)

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
        return self._of(host).push(fingerprint, url, host, priority, payload, again=again)

    def raise_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise the priority of a queued URL; return True if it was lower."""
        return any(part.raise_priority(fingerprint, priority) for part in self._parts)

    def set_priority(self, fingerprint: int, priority: float) -> bool:
        """Set the priority of a queued URL; return True if that changed anything."""
        return any(part.set_priority(fingerprint, priority) for part in self._parts)

    def pop(self, now: float) -> Entry | None:
        """Lease the best URL of a server that may be sent now; the servers take turns."""
        for step in range(len(self._parts)):
            part = self._parts[(self._turn + step) % len(self._parts)]
            entry = part.pop(now)
            if entry is not None:
                self._turn = (self._turn + step + 1) % len(self._parts)
                self._at[entry.fingerprint] = part
                return entry
        return None

    def end(self, fingerprint: int, state: State, outcome: str) -> None:
        """End a leased URL, which is done or has failed; `outcome` is a word for how."""
        self._at.pop(fingerprint).end(fingerprint, state, outcome)

    def retry(self, fingerprint: int, ready_at: float, payload: bytes | None) -> None:
        """Put a leased URL back into the queue, not to be sent before `ready_at`."""
        self._at.pop(fingerprint).retry(fingerprint, ready_at, payload)

    def recheck(self, host: str) -> None:
        """Ask the gate again about a host that it had closed without a time."""
        self._of(host).recheck(host)

    def end_site(self, site: str) -> None:
        """Have all workers stop crawling a site, in this run and when it is resumed."""
        self._parts[self._choice.of_site(site)].end_site(site)

    def wake_at(self) -> float:
        """Return the next time at which `pop` may have a URL, unless something changes here."""
        return min((part.wake_at() for part in self._parts), default=math.inf)

    def top(self, most: int) -> list[Entry]:
        """Return the best waiting URLs of the whole crawl, whether or not their hosts are free."""
        found = (entry for part in self._parts for entry in part.top(most))
        return nlargest(most, found, key=lambda entry: entry.priority)

    def queued(self) -> Iterator[Entry]:
        """Yield every waiting URL of the whole crawl that is not a retry, in no order."""
        for part in self._parts:
            yield from part.queued()

    def keep_up(self) -> None:
        """Send pending changes, and a sign of life when it is due."""
        for part in self._parts:
            part.keep_up()

    def close(self) -> None:
        """Send all ends, and release the sites to the other workers."""
        for part in self._parts:
            part.close()
