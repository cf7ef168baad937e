"""What is known of each host: whether and how it chooses the language of its pages.

This is stored with the facts of the crawl at the next checkpoint, so a resumed crawl does not
ask again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.journal_tables import Facts

MIN_MISSES = 10
MIN_ANSWERED = 0.2
"""A host is given up after so many misses, if less than this share came in both languages."""
MAX_TRIES = 3
"""How often the cookies of a host are tried; each try costs a request."""

_FACT = "negotiation of "


class Way(StrEnum):
    """How a host chooses the language of its pages."""

    NONE = "none"
    """It does not: each address has one language."""
    REDIRECT = "redirect"
    """It redirects to an address for the requested language, which is a page like any other."""
    HEADER = "header"
    """One address has several languages, by the Accept-Language header."""
    COOKIE = "cookie"
    """One address has several languages, by a cookie."""
    GIVEN_UP = "given_up"
    """It seemed to, but nearly all of its pages are in one language."""


@dataclass(slots=True)
class HostFacts:
    """What is known of a host.

    `page` is the page that was used for the inquiry, and `language` its language by default;
    `switches` are its links that name the other language. `cookies` are sent for a language, if
    the way is a cookie, and `tried` are the names of those that were tried. `asked` and
    `answered` count the pages that were requested in another language, and those that came in
    it.
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
        """Whether one address has pages in both languages."""
        return self.way in {Way.HEADER, Way.COOKIE}

    def headers(self, code: str) -> dict[str, str]:
        """Return the headers that request a language from this host."""
        return headers_for(code, self.cookies.get(code))

    def may_try(self, cookies: Mapping[str, str]) -> bool:
        """Return True, and mark them as tried, if cookies of the host are worth a request."""
        names = " ".join(sorted(cookies))
        if not cookies or names in self.tried or len(self.tried) >= MAX_TRIES:
            return False
        self.tried.append(names)
        return True

    def note(self, *, answered: bool) -> None:
        """Count a page that was requested in another language; give up if it never works."""
        self.asked += 1
        self.answered += answered
        misses = self.asked - self.answered
        if misses >= MIN_MISSES and self.answered < MIN_ANSWERED * self.asked:
            self.way = Way.GIVEN_UP


def headers_for(code: str, cookies: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return headers that request a page in one language, or any other rather than an error."""
    headers = {"Accept-Language": f"{language_tag(code)}, *;q=0.1"}
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return headers


class KnownHosts:
    """The facts of all hosts, stored with the crawl."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._hosts: dict[str, HostFacts] = {}

    def get(self, host: str) -> HostFacts | None:
        """Return what is known of a host; None before it was asked."""
        if host not in self._hosts and (saved := self._facts.get(_FACT + host)):
            fields = json.loads(saved)
            self._hosts[host] = HostFacts(**fields | {"way": Way(fields["way"])})
        return self._hosts.get(host)

    def save(self, host: str, known: HostFacts) -> None:
        """Store the facts of a host with the next checkpoint."""
        self._hosts[host] = known
        self._facts[_FACT + host] = json.dumps(asdict(known))
