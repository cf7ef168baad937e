"""What a crawl has learned of each site: whether its pages need a browser."""

from typing import Protocol

AT_ONCE = 3
"""Pages of a site that gained by a browser, after which all its pages go through it."""
ENOUGH = 5
"""Pages in a row that gained nothing, after which it is not tried any more."""
GIVEN_UP = "given up"


class FactStore(Protocol):
    """Single values that survive the crawl."""

    def get(self, name: str, default: str = "") -> str:
        """The value of a name."""

    def __setitem__(self, name: str, value: str) -> None: ...


class SiteMemory:
    """Says whether a page of a site is worth rendering, from what became of others.

    A site begins as unknown: its pages are rendered if they show signs that they need it.
    Three that gained by it make it a site of which every page is rendered; five in a row
    that gained nothing take that back, or end the attempts on a site that was unknown.
    """

    def __init__(self, facts: FactStore) -> None:
        self._facts = facts

    def wants(self, site: str, has_signs: bool) -> bool:
        """Whether a page should be rendered."""
        value = self._facts.get(_name(site))
        if value == GIVEN_UP:
            return False
        return has_signs or _counts(value)[0] >= AT_ONCE

    def learn(self, site: str, gained: bool) -> None:
        """Take in what came of a page that was rendered."""
        value = self._facts.get(_name(site))
        if value == GIVEN_UP:
            return
        useful, idle = _counts(value)
        if gained:
            useful, idle = min(useful + 1, AT_ONCE), 0
        else:
            idle += 1
        if idle < ENOUGH:
            self._facts[_name(site)] = f"{useful} {idle}"
        else:
            self._facts[_name(site)] = "0 0" if useful >= AT_ONCE else GIVEN_UP


def _name(site: str) -> str:
    return f"rendering of {site}"


def _counts(value: str) -> tuple[int, int]:
    useful, _, idle = value.partition(" ")
    return (int(useful), int(idle)) if useful.isdigit() and idle.isdigit() else (0, 0)
