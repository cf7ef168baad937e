"""What a crawl has seen of a site so far, as far as it tells how much is still to come.

The waiting URLs of a site are counted by section and announced language, and so is what became of
those that were fetched. A section whose pages are paired promises pairs, one in a third language
promises none. Recent results weigh more, because a good scorer fetches the best first.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bilingual_crawler.urls.language_tokens import announced_languages

MOST_SECTIONS = 100
"""Sections of a site that are kept apart; all further ones are one."""
OTHERS = "*"
MEMORY = 1 / 30
"""The weight of the newest result in a moving average."""
PRIOR = 6.0
"""How many results of a section weigh as much as what is known of the whole site."""
_MOST = 1e12


def section_of(url: str) -> str:
    """Return the part of its site that a URL belongs to: host, first directory, language."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return OTHERS
    directory, slash, _ = parts.path.lstrip("/").partition("/")
    languages = ",".join(sorted(announced_languages(url)))
    return f"{parts.netloc}/{directory if slash else ''} {languages}"


@dataclass(slots=True)
class Section:
    """The URLs of a section: how many wait, and moving sums of what became of the others."""

    waiting: int = 0
    ended: float = 0.0
    pages: float = 0.0
    paired: float = 0.0


FEATURES = (
    *("constant", "log pages", "log waiting", "log more pages", "log more pairs"),
    *("log new URLs per page", "new pairs per page", "pairs per page"),
)


class Outlook(NamedTuple):
    """What the model knows of a site at one moment."""

    pages: int
    pairs: int
    waiting: int
    """URLs in the frontier."""
    more_pages: float
    """The pages among them, if each section goes on as it did."""
    more_pairs: float
    """The pairs among them, likewise."""
    new_urls: float
    """New URLs found per page, recently."""
    new_pairs: float
    """New pairs per page, recently."""

    @property
    def features(self) -> tuple[float, ...]:
        """Return the `FEATURES`."""
        return (
            1.0,
            math.log1p(self.pages),
            math.log1p(self.waiting),
            math.log1p(self.more_pages),
            math.log1p(self.more_pairs),
            math.log1p(max(self.new_urls, 0.0)),
            min(max(self.new_pairs, 0.0), 1.0),
            self.pairs / max(self.pages, 1),
        )


@dataclass(slots=True)
class SiteYield:
    """The yield of one site up to now."""

    wanted: frozenset[str] = frozenset()
    """The codes of the languages of the crawl."""
    pages: int = 0
    pairs: int = 0
    waiting: int = 0
    new_urls: float = 0.0
    new_pairs: float = 0.0
    sections: dict[str, Section] = field(default_factory=dict)

    def found(self, url: str) -> None:
        """Note a new URL."""
        self.waiting += 1
        self.new_urls += MEMORY
        self._section(url).waiting += 1

    def ended(self, url: str, *, is_page: bool) -> None:
        """Note that a URL has ended, with a page or without."""
        section = self._section(url)
        self.waiting = max(self.waiting - 1, 0)
        section.waiting = max(section.waiting - 1, 0)
        kept = 1 - MEMORY
        section.ended = section.ended * kept + 1
        section.pages = section.pages * kept + is_page
        section.paired *= kept
        if is_page:
            self.pages += 1
            self.new_urls *= kept
            self.new_pairs *= kept

    def paired(self, urls: tuple[str, str], change: int) -> None:
        """Note that a pair was found (1) or lost (-1)."""
        self.pairs = max(self.pairs + change, 0)
        self.new_pairs += MEMORY * change
        for url in urls:
            section = self._section(url)
            section.paired = max(section.paired + change, 0.0)

    @property
    def outlook(self) -> Outlook:
        """Return what is known about the rest of the site."""
        ended = sum(each.ended for each in self.sections.values())
        pages = sum(each.pages for each in self.sections.values()) / max(ended, 1.0)
        paired = 2 * max(self.new_pairs, 0.0) * pages
        more_pages = more_paired = 0.0
        for name, each in self.sections.items():
            weight = each.waiting / (each.ended + PRIOR)
            usual = 0.0 if self._is_foreign(name) else min(paired, 1.0)
            more_pages += weight * (each.pages + PRIOR * pages)
            more_paired += weight * (min(each.paired, each.ended) + PRIOR * usual)
        warm = 1 - (1 - MEMORY) ** max(self.pages, 1)  # the averages began at zero
        return Outlook(
            self.pages,
            self.pairs,
            self.waiting,
            more_pages,
            more_paired / 2,
            self.new_urls / warm,
            self.new_pairs / warm,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the state for JSON."""
        sections = {
            name: [each.waiting, *(round(n, 3) for n in (each.ended, each.pages, each.paired))]
            for name, each in self.sections.items()
        }
        numbers = [self.pages, self.pairs, self.waiting]
        rates = [round(self.new_urls, 5), round(self.new_pairs, 5)]
        return {"numbers": numbers, "rates": rates, "sections": sections}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any], wanted: frozenset[str]) -> "SiteYield":
        """Return the state from the result of `to_dict`."""
        pages, pairs, waiting = (int(_checked(each)) for each in fields["numbers"])
        new_urls, new_pairs = (_checked(each, least=-_MOST) for each in fields["rates"])
        sections = {
            str(name): Section(int(_checked(waits)), *map(_checked, sums))
            for name, (waits, *sums) in fields["sections"].items()
        }
        return cls(wanted, pages, pairs, waiting, new_urls, new_pairs, sections)

    def _is_foreign(self, section: str) -> bool:
        """Return True if the URLs of a section announce other languages."""
        announced = section.rpartition(" ")[2]
        return bool(announced and self.wanted) and self.wanted.isdisjoint(announced.split(","))

    def _section(self, url: str) -> Section:
        name = section_of(url)
        known = self.sections.get(name)
        if known is not None:
            return known
        if len(self.sections) >= MOST_SECTIONS:
            name = OTHERS
        return self.sections.setdefault(name, Section())


def _checked(number: Any, least: float = 0.0) -> float:
    """Return a number from a journal, which may be anyone's."""
    found = float(number)
    if not least <= found <= _MOST:
        raise ValueError(f"{found} is no number of URLs")
    return found
