"""How a host is asked for one of its languages, and what is known of every host.

What was found out about a host is a fact of the crawl: it is part of the next checkpoint, so a
crawl that goes on does not ask again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.journal_tables import Facts

LEAST_MISSES = 10
LEAST_ANSWERED = 0.2
"""A host is given up when so many pages, and all but this share, came in one language only."""
MOST_TRIES = 3
"""Times that cookies of a host are tried; each costs a request."""

_FACT = "negotiation of "


class Way(StrEnum):
    """How a host chooses the language of its pages."""

    NONE = "none"
    """It does not: each address has one language."""
    REDIRECT = "redirect"
    """It sends whoever asks to an address of that language, which is a page like any other."""
    HEADER = "header"
    """One address has several languages, by the Accept-Language header."""
    COOKIE = "cookie"
    """One address has several languages, by a cookie."""
    GIVEN_UP = "given_up"
    """It seemed to, but nearly all of its pages are in one language."""


@dataclass(slots=True)
class HostFacts:
    """What is known of a host.

    `page` is the page that it was found out with, and `language` what that page was in for a
    stranger; `switches` are its links that name the other language. `cookies` are what is sent
    for a language, where the way is a cookie, and `tried` the names of those that were tried.
    `asked` and `answered` are the pages that were asked for in a further language, and those that
    came in it.
    """

    way: Way
    page: str = ""
    language: str = ""
    switches: list[str] = field(default_factory=list)
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)
    tried: list[str] = field(default_factory=list)
    asked: int = 0
    answered: int = 0

    @property
    def serves_both(self) -> bool:
        """Whether one address gives pages in both languages."""
        return self.way in {Way.HEADER, Way.COOKIE}

    def headers(self, code: str) -> dict[str, str]:
        """The headers by which this host is asked for a language."""
        return headers_for(code, self.cookies.get(code))

    def may_try(self, cookies: Mapping[str, str]) -> bool:
        """Whether cookies that the host sets are worth a question: not tried yet, nor too many."""
        names = " ".join(sorted(cookies))
        if not cookies or names in self.tried or len(self.tried) >= MOST_TRIES:
            return False
        self.tried.append(names)
        return True

    def note(self, *, answered: bool) -> None:
        """Count a page that was asked for in a further language; give up where all is in vain."""
        self.asked += 1
        self.answered += answered
        misses = self.asked - self.answered
        if misses >= LEAST_MISSES and self.answered < LEAST_ANSWERED * self.asked:
            self.way = Way.GIVEN_UP


def headers_for(code: str, cookies: Mapping[str, str] | None = None) -> dict[str, str]:
    """The headers that ask for a page in one language, and in any other rather than an error."""
    headers = {"Accept-Language": f"{language_tag(code)}, *;q=0.1"}
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return headers


class KnownHosts:
    """The facts of all hosts, kept with the crawl."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._hosts: dict[str, HostFacts] = {}

    def get(self, host: str) -> HostFacts | None:
        """What is known of a host; None before it was asked."""
        if host not in self._hosts and (saved := self._facts.get(_FACT + host)):
            fields = json.loads(saved)
            self._hosts[host] = HostFacts(**fields | {"way": Way(fields["way"])})
        return self._hosts.get(host)

    def save(self, host: str, known: HostFacts) -> None:
        """Remember what was found out, with the next checkpoint."""
        self._hosts[host] = known
        self._facts[_FACT + host] = json.dumps(asdict(known))
