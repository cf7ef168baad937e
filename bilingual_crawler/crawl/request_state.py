"""The state of a request, as one typed value under one key of its `meta`.

The value is frozen: Scrapy copies `meta` into redirects and retries, and the outcome of one
request must not change another. `RequestState.update` replaces it with a changed copy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from scrapy import Request
from scrapy.http import Response

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.outcomes import Outcome

KEY = "bilingual"
"""The key of `meta`."""
LOOKED_AT = "look"
STORED = ("variant", "look", "probe", "claimed_by", "claim_answered", "visited_as")
STORED_PREFIX = "bilingual_"


class UrlEnd(NamedTuple):
    """How a URL ended: its state in the frontier, and an `Outcome` or a project's own code."""

    state: State
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState:
    """The state of one request."""

    score: float | None = None
    """The priority in the frontier; None means that the priority of the request counts."""
    variant: str = ""
    """The language in which the page is requested, where one URL has several."""
    look: Mapping[str, str] | None = None
    """Why the page is only examined, to judge its site, and not harvested."""
    probe: bool = False
    """The URL is a guess: no page links to it."""
    claimed_by: str = ""
    """The sites that declared the foreign host of the URL, separated by spaces."""
    claim_answered: bool = False
    """The foreign host has linked back to one of them."""
    visited_as: str = ""
    """How the URL ended at an earlier visit, if this is another one."""
    site_file: bool = False
    """The URL is a file about a site, such as a sitemap, and not a page of it."""
    part_of_page: bool = False
    """The URL is a resource of a page that a browser renders."""
    not_before: float = 0.0
    """The time (`time.time()`) before which a retry must not be sent."""
    captured_at: str = ""
    """When the page was captured, if it comes from an archive."""
    opt_out: str = ""
    """The opt-out in the headers of the response."""
    dropped_language: str = ""
    """The language of a page that was dropped because of it."""
    renderings: tuple[Any, ...] = ()
    """The markup of the page as a browser rendered it, for the WARC files."""
    end: UrlEnd | None = None
    """How the URL ended, once that is known."""

    @classmethod
    def of(cls, carrier: Request | Response) -> "RequestState":
        """Return the state of a request, or of the request of a response."""
        found = carrier.meta.get(KEY)
        return found if isinstance(found, RequestState) else UNTOUCHED

    @classmethod
    def update(cls, carrier: Request | Response, **changes: Any) -> None:
        """Change some fields of the state of a request."""
        carrier.meta[KEY] = replace(cls.of(carrier), **changes)

    def as_meta(self) -> dict[str, Any]:
        """Return the state as an entry for `meta`."""
        return {KEY: self}

    @property
    def identity(self) -> str:
        """The part that distinguishes requests for one URL: its variant, or that it is examined."""
        return self.variant or (LOOKED_AT if self.look is not None else "")

    def to_stored(self) -> dict[str, Any]:
        """Return the fields that survive a restart, as plain values under their names on disk."""
        return {
            STORED_PREFIX + name: getattr(self, name)
            for name in STORED
            if getattr(self, name) != getattr(UNTOUCHED, name)
        }

    @classmethod
    def from_stored(cls, meta: dict[str, Any]) -> "RequestState":
        """Take the state out of the `meta` of a stored request."""
        found = {}
        for name in STORED:
            value = meta.pop(STORED_PREFIX + name, None)
            if value is not None:
                found[name] = value
        return cls(**found)


UNTOUCHED = RequestState()


def end_url(carrier: Request | Response, state: State, reason: str | Outcome) -> None:
    """Record how a URL ended; the scheduler reads it when the request is over."""
    RequestState.update(carrier, end=UrlEnd(state, str(reason)))
