"""What a worker knows of the URLs in Redis, so that looking one up costs no round trip.

Of a site that the worker holds it knows every URL: they are loaded when the site is taken,
and only the holder changes them, except that others may add some. Of other sites it knows
what it asked for or pushed of late; that may be out of date, which costs a needless
question or push and nothing else, because the scripts decide.
"""

from array import array
from collections.abc import Iterable

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.urls.hosts import site_of

MOST_FOREIGN = 200_000
"""URLs of sites of others that are remembered."""


class Sight:
    """A URL as the worker sees it; ended URLs of a host share one for each way to end."""

    __slots__ = ("host", "outcome", "priority", "state")

    def __init__(self, host: str, state: State, priority: float = 0.0, outcome: str = "") -> None:
        self.host = host
        self.state = state
        self.priority = priority
        self.outcome = outcome


class Mirror:
    """The URLs that a worker knows; any thread may read, the event loop writes."""

    def __init__(self) -> None:
        self._urls: dict[int, Sight] = {}
        self._held: dict[str, array[int]] = {}
        self._foreign: dict[int, None] = {}
        self._ended: dict[tuple[str, State, str], Sight] = {}

    def __contains__(self, fingerprint: int) -> bool:
        return fingerprint in self._urls

    def get(self, fingerprint: int) -> Sight | None:
        """What is known of a URL."""
        return self._urls.get(fingerprint)

    def holds(self, host: str) -> bool:
        """Whether the site of a host is held, and all its URLs known."""
        return site_of(host) in self._held

    @property
    def sites(self) -> list[str]:
        """The sites that are held, the longest held first."""
        return list(self._held)

    def take(self, site: str) -> None:
        """Begin to know a site."""
        self._held.setdefault(site, array("q"))

    def drop(self, sites: Iterable[str]) -> None:
        """Forget sites that others may change from now on."""
        for site in sites:
            for fingerprint in self._held.pop(site, ()):
                self._urls.pop(fingerprint, None)

    def note(
        self, fingerprint: int, host: str, state: State, priority: float = 0.0, outcome: str = ""
    ) -> None:
        """Learn where a URL stands."""
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
        """Keep the list by which a URL is forgotten one day."""
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
