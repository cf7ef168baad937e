"""Which languages a site has, and how much of each, from a few of its pages.

Pages are asked for in turns: first those that promise a language which no page was read in yet,
then those of the languages with the fewest pages. Only what was read counts as text; what a site
declares (hreflang, links that name a language, its sitemap) is counted beside it, as a claim.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.sitemap import Sitemap
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.languages import find_language
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.resolver import UrlResolver

LEAST_TEXT = 200
"""Characters; a page with less does not show a language."""
MOST_CLAIMED = 20_000
"""Addresses that are remembered as claimed; a site can declare any number."""
MOST_WAITING = 2_000
UNKNOWN = "und"


@dataclass(slots=True)
class SurveyedLanguage:
    """What a site has in one language."""

    code: str
    pages: int = 0
    """Pages that were read, most of whose text is in it."""
    characters: int = 0
    declared: int = 0
    """Pages that the site says it has in it, whether they were read or not."""
    start: str = ""
    """The first page that was read."""

    @property
    def name(self) -> str:
        """The English name."""
        return "not recognised" if self.code == UNKNOWN else find_language(self.code).name


class SiteSurvey:
    """Asks for pages of one site, until the budget of downloads is spent."""

    def __init__(self, url: str, budget: int) -> None:
        start = UrlResolver(url).resolve(url) or url
        self._start = start
        self.site = site_of(host_of(start))
        self.downloads = 0
        self.missed_pages: dict[str, str] = {}
        self._budget = budget
        self._asked: set[str] = set()
        self._sitemap = urljoin(start, "/sitemap.xml")
        self._waiting: dict[str, str] = {start: ""}
        self._promised: set[str] = set()
        """The languages of the waiting pages."""
        self._claimed: dict[str, str] = {}
        self._found: dict[str, SurveyedLanguage] = {}
        self._keys: set[str] = set()

    def wanted(self) -> str | None:
        """Return the next page to fetch; None at the end."""
        if self.downloads >= self._budget:
            return None
        if self._keys and self._sitemap not in self._asked and self._budget - self.downloads > 1:
            return self._sitemap
        left = [url for url in self._waiting if url not in self._asked]
        return min(left, key=self._rank, default=None)

    def is_sitemap(self, url: str) -> bool:
        """Return True if a wanted URL is the sitemap."""
        return url == self._sitemap

    def take(self, url: str, document: Document) -> None:
        """Take a page."""
        self._answered(url)
        if url == self._start:
            self.site = site_of(host_of(document.url))
            self._sitemap = urljoin(document.url, "/sitemap.xml")
        if document.key in self._keys or not self._is_ours(document.url):
            return
        self._keys.add(document.key)
        self._count(document)
        for each in document.alternates:
            self._claim(each.url, each.language or "")
        for link in document.links:
            named = languages_of_link(link)
            self._claim(link.url, next(iter(named)) if len(named) == 1 else "")

    def take_sitemap(self, url: str, sitemap: Sitemap) -> None:
        """Take the pages of the sitemap, with the translations that it names."""
        self._answered(url)
        for page in sitemap.pages:
            self._claim(page.url, "")
            for address, code in page.alternates:
                self._claim(address, code)

    def missed(self, url: str, reason: str) -> None:
        """Record that a page could not be fetched."""
        self._answered(url)
        if url != self._sitemap:
            self.missed_pages[url] = reason

    def languages(self) -> list[SurveyedLanguage]:
        """Return the languages that were found, most text first, then those only declared."""
        declared = Counter(self._claimed.values())
        found = dict(self._found)
        for code, number in declared.items():
            found.setdefault(code, SurveyedLanguage(code)).declared = number
        return sorted(found.values(), key=lambda each: (-each.characters, -each.declared))

    def to_dict(self) -> dict[str, Any]:
        """Return the result for programs."""
        found = self.languages()
        total = sum(each.characters for each in found) or 1
        return {
            "site": self.site,
            "languages": {
                each.code: {
                    "name": each.name,
                    "share": round(each.characters / total, 3),
                    "pages": each.pages,
                    "characters": each.characters,
                    "declared": each.declared,
                    "start": each.start,
                }
                for each in found
            },
            "missed": self.missed_pages,
            "downloads": self.downloads,
        }

    def _answered(self, url: str) -> None:
        self._asked.add(url)
        self.downloads += 1

    def _is_ours(self, url: str) -> bool:
        return site_of(host_of(url)) == self.site

    def _claim(self, url: str, code: str) -> None:
        """Remember a page of the site, and the language that is claimed for it."""
        url = url.partition("#")[0]
        if not self._is_ours(url):
            return
        if code and len(self._claimed) < MOST_CLAIMED:
            self._claimed.setdefault(url, code)
        if len(self._waiting) < MOST_WAITING or (code and code not in self._promised):
            self._waiting[url] = self._waiting.get(url) or code
            self._promised.add(code)

    def _count(self, document: Document) -> None:
        for code, characters in _characters(document):
            found = self._found.setdefault(code, SurveyedLanguage(code))
            found.characters += characters
            if code == (document.language or UNKNOWN):
                found.pages += 1
                found.start = found.start or document.url

    def _rank(self, url: str) -> tuple[int, int, int]:
        """Return how soon a page is wanted: its language's pages, claims first, shorter first."""
        code = self._waiting[url]
        read = self._found[code].pages if code in self._found else 0
        most = max((each.pages for each in self._found.values()), default=0)
        return (read if code else most, 0 if code else 1, len(url))


def _characters(document: Document) -> Iterator[tuple[str, int]]:
    """Yield the languages of a page with the length of their text, by the shares of the page."""
    length = len(document.text)
    if length < LEAST_TEXT:
        return
    shares = document.language_shares or [(document.language or UNKNOWN, 100)]
    for code, percent in shares:
        yield code, length * percent // 100
