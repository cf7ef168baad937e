"""The sites that a worker holds: joining the crawl, and knowing all URLs of what it has."""

import logging
from collections.abc import Callable
from typing import NamedTuple

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import Entry, State
from bilingual_crawler.frontier.shared import reading
from bilingual_crawler.frontier.shared.ends import Ends
from bilingual_crawler.frontier.shared.link import AwayError, RedisScripts
from bilingual_crawler.frontier.shared.mirror import Mirror
from bilingual_crawler.frontier.shared.outbox import FrontierFigures
from bilingual_crawler.frontier.shared.records import Seen, read_seen, text_of

logger = logging.getLogger(__name__)

MOST_LOADED = 2000
"""URLs in one answer when a site is loaded."""

OnSite = Callable[[str, list[str], int], None]
"""Is told of a site that is taken: its hosts, and how many pages it gave so far."""


class Lease(NamedTuple):
    """How long a worker is believed to live without a sign, and how much it may hold."""

    seconds: float = 30.0
    most_sites: int = 100


class Member(NamedTuple):
    """Who a worker is; `identity` tells it from another worker of the same name."""

    identity: str = ""
    langs: str = ""


def nothing_to_do(_site: str, _hosts: list[str], _pages: int) -> None:
    """What is done about a site that is taken, where nothing is."""


class HeldSites:
    """Keeps the mirror of a worker complete for the sites that Redis says it holds."""

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
        """Sites of which nothing more is wanted, by whomever."""

    def join(self, member: Member, seconds: float) -> FrontierFigures:
        """Become a worker of the crawl, or one again, with the sites that one had."""
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
                "Redis had given up on this worker, and others may have its sites: it begins anew"
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
        """Learn everything about a site that is held from now on."""
        pages, hosts = reading.site(self._link, site)
        self._on_site(site, hosts, pages)
        self._to_load.append((site, hosts))
        self.load()

    def give_up(self, sites: list[str]) -> None:
        """Forget sites that others may have now."""
        self._mirror.drop(sites)
        self._to_load = [each for each in self._to_load if each[0] not in sites]

    def compare(self, held: int) -> None:
        """See to it that the mirror has what Redis says, if an answer was lost on its way."""
        if held == len(self._mirror.sites):
            return
        true = reading.held_sites(self._link)
        self.give_up([site for site in self._mirror.sites if site not in true])
        for site in true.difference(self._mirror.sites):
            self.take(site)

    def load(self) -> None:
        """Learn all URLs of the sites that were taken; what is interrupted is begun again."""
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
        """Learn where a URL stands, unless it is this worker that knows better."""
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
    """Why a worker cannot join, and what to write instead."""
    word, *about = (text_of(part)[:80] for part in answer)
    if word == "languages":
        return (
            f"The frontier in Redis belongs to a crawl for {about[0]}, not {langs}:"
            " write -s BILINGUAL_FRONTIER_PREFIX=NAME for a frontier of its own."
        )
    if word == "format":
        return (
            "The frontier in Redis was written by another version of the crawler (format"
            f" {about[0]}, this one reads {about[1]}): go on with that version, or write"
            " -s BILINGUAL_FRONTIER_PREFIX=NAME for a frontier of its own."
        )
    if word == "damaged":
        return (
            f"The frontier in Redis is damaged, or its keys are somebody else's ({about[0]} is of"
            " another type): write -s BILINGUAL_FRONTIER_PREFIX=NAME for a frontier of its own."
        )
    return (
        f"Another worker of the crawl is called {worker}: give this one a name of its own with"
        " -s BILINGUAL_WORKER=NAME."
    )
