"""The sites that a worker holds, and what it knows of their URLs without asking Redis.

A worker knows every URL of a site that it holds: they are loaded when it takes the site, and only
the holder changes them, although others may add some. Of other sites it knows the URLs that it
asked for or pushed lately. That may be out of date, which costs a needless question or push and
nothing else, because the scripts decide.
"""

import logging
from array import array
from collections.abc import Callable, Iterable
from typing import NamedTuple

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import Entry, State
from bilingual_crawler.frontier.shared import reading
from bilingual_crawler.frontier.shared.link import AwayError, RedisScripts
from bilingual_crawler.frontier.shared.outbox import Ends, FrontierFigures
from bilingual_crawler.frontier.shared.records import Seen, read_seen, text_of
from bilingual_crawler.urls.hosts import site_of

logger = logging.getLogger(__name__)

MOST_FOREIGN = 200_000
"""URLs to remember of sites that others hold."""
MOST_LOADED = 2000
"""URLs per answer when a site is loaded."""

OnSite = Callable[[str, list[str], int], None]
"""Called with a site that is taken, its hosts and the number of its pages so far."""


class Sight:
    """A URL as the worker sees it; the ended URLs of a host share one object per outcome."""

    __slots__ = ("host", "outcome", "priority", "state")

    def __init__(self, host: str, state: State, priority: float = 0.0, outcome: str = "") -> None:
        self.host = host
        self.state = state
        self.priority = priority
        self.outcome = outcome


class Mirror:
    """The URLs that a worker knows. Any thread may read, only the event loop writes."""

    def __init__(self) -> None:
        self._urls: dict[int, Sight] = {}
        self._held: dict[str, array[int]] = {}
        self._foreign: dict[int, None] = {}
        self._ended: dict[tuple[str, State, str], Sight] = {}

    def __contains__(self, fingerprint: int) -> bool:
        return fingerprint in self._urls

    def get(self, fingerprint: int) -> Sight | None:
        """Return what is known of a URL."""
        return self._urls.get(fingerprint)

    def holds(self, host: str) -> bool:
        """Return True if the site of a host is held, so that all its URLs are known."""
        return site_of(host) in self._held

    @property
    def sites(self) -> list[str]:
        """The sites that are held, in the order in which they were taken."""
        return list(self._held)

    def take(self, site: str) -> None:
        """Start to keep the URLs of a site."""
        self._held.setdefault(site, array("q"))

    def drop(self, sites: Iterable[str]) -> None:
        """Forget sites, which others may change from now on."""
        for site in sites:
            for fingerprint in self._held.pop(site, ()):
                self._urls.pop(fingerprint, None)

    def note(
        self, fingerprint: int, host: str, state: State, priority: float = 0.0, outcome: str = ""
    ) -> None:
        """Store the state of a URL."""
        known = self._urls.get(fingerprint)
        if state in {State.DONE, State.FAILED}:
            end = (host, state, outcome)
            self._urls[fingerprint] = self._ended.setdefault(end, Sight(host, state, 0.0, outcome))
        elif known is not None and known.state in {State.QUEUED, State.LEASED}:
            known.state, known.priority = state, priority
        else:
            self._urls[fingerprint] = Sight(host, state, priority)
        self._file(fingerprint, host, is_new=known is None)

    def _file(self, fingerprint: int, host: str, *, is_new: bool) -> None:
        """Note by which list a URL is to be forgotten one day."""
        held = self._held.get(site_of(host))
        if held is not None:
            if is_new or fingerprint in self._foreign:
                self._foreign.pop(fingerprint, None)
                held.append(fingerprint)
        elif is_new:
            self._foreign[fingerprint] = None
            if len(self._foreign) > MOST_FOREIGN:
                oldest = next(iter(self._foreign))
                del self._foreign[oldest]
                del self._urls[oldest]


class Lease(NamedTuple):
    """How long a silent worker counts as alive, and how many sites it may hold."""

    seconds: float = 30.0
    most_sites: int = 100


class Member(NamedTuple):
    """A worker; `identity` distinguishes it from another worker of the same name."""

    identity: str = ""
    langs: str = ""


def nothing_to_do(_site: str, _hosts: list[str], _pages: int) -> None:
    """Ignore a site that is taken."""


class HeldSites:
    """Keeps the mirror of a worker complete for the sites that it holds according to Redis."""

    def __init__(
        self,
        link: RedisScripts,
        mirror: Mirror,
        ends: Ends,
        flight: dict[int, Entry],
        on_site: OnSite,
    ) -> None:
        self._link = link
        self._mirror = mirror
        self._ends = ends
        self._flight = flight
        self._on_site = on_site
        self._to_load: list[tuple[str, list[str]]] = []
        self._words: dict[int, str] = {}
        self.stopped: list[str] = []
        """Sites that some worker has stopped."""

    def join(self, member: Member, seconds: float) -> FrontierFigures:
        """Join the crawl, or rejoin it with the sites that the worker had."""
        link, is_first = self._link, not self._link.token
        answer = link.run("join", member.identity, seconds, member.langs)
        if answer[0] != b"joined":
            problem = _problem(answer, link.worker, member.langs)
            if is_first:
                raise ConfigurationError(problem)
            logger.error(problem)
            raise AwayError
        _, token, numbers, held, stopped = answer
        figures = FrontierFigures(*numbers)
        if not is_first:
            logger.warning(
                "Redis considered this worker dead, and others may have its sites: it starts afresh"
            )
            if not figures.known:
                logger.error("Redis has lost the whole frontier: was it restarted without a file?")
        link.token = token.decode()
        self.stopped = [text_of(site) for site in stopped]
        self._mirror.drop(self._mirror.sites)
        for site in held:
            self.take(text_of(site))
        return figures

    def take(self, site: str) -> None:
        """Load all URLs of a site that is held from now on."""
        pages, hosts = reading.site(self._link, site)
        self._on_site(site, hosts, pages)
        self._to_load.append((site, hosts))
        self.load()

    def give_up(self, sites: list[str]) -> None:
        """Forget sites, which others may have by now."""
        self._mirror.drop(sites)
        self._to_load = [each for each in self._to_load if each[0] not in sites]

    def compare(self, held: int) -> None:
        """Make the mirror agree with Redis again, in case an answer was lost on its way."""
        if held == len(self._mirror.sites):
            return
        true = reading.held_sites(self._link)
        self.give_up([site for site in self._mirror.sites if site not in true])
        for site in true.difference(self._mirror.sites):
            self.take(site)

    def load(self) -> None:
        """Load all URLs of the sites that were taken; an interrupted load starts again."""
        while self._to_load:
            site, hosts = self._to_load[-1]
            self._mirror.take(site)
            for host in hosts:
                cursor = b"0"
                while True:
                    cursor, data = self._link.run("load", host, cursor, MOST_LOADED)
                    for seen in read_seen(data):
                        self.note(host, seen)
                    if cursor == b"0":
                        break
            self._to_load.pop()

    def note(self, host: str, seen: Seen) -> None:
        """Store the state of a URL, unless this worker knows better."""
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
            self._words = reading.outcome_words(self._link)
        return self._words.get(code, "")


def _problem(answer: list[bytes], worker: str, langs: str) -> str:
    """Return why a worker cannot join, and what to write instead."""
    word, *about = (text_of(part)[:80] for part in answer)
    if word == "languages":
        return (
            f"The frontier in Redis belongs to a crawl for {about[0]}, not {langs}:"
            " write -s BILINGUAL_FRONTIER_PREFIX=NAME for a frontier of its own."
        )
    if word == "format":
        return (
            "The frontier in Redis was written by another version of the crawler (format"
            f" {about[0]}, this one reads {about[1]}): continue with that version, or write"
            " -s BILINGUAL_FRONTIER_PREFIX=NAME for a frontier of its own."
        )
    if word == "damaged":
        return (
            f"The frontier in Redis is damaged, or its keys are not ours ({about[0]} is"
            " of another type): write -s BILINGUAL_FRONTIER_PREFIX=NAME for a frontier of its own."
        )
    return (
        f"Another worker of the crawl is called {worker}: give this one a name of its own with"
        " -s BILINGUAL_WORKER=NAME."
    )
