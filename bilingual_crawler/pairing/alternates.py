"""Evidence from the site itself: two pages that each call the other its translation.

One claim alone proves little (templates link every page to the other home page), so both
must speak. What a page calls by another name (a redirect, a canonical URL, a duplicate
that was dropped) is resolved first.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from bilingual_crawler.frontier.fingerprint import url_fingerprint
from bilingual_crawler.pairing.pair import Candidate, Evidence, Page

RECIPROCAL = 0.95


class AlternateDetector:
    """Pairs pages that name each other in hreflang or rel=alternate links."""

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}
        self._page_named: dict[int, str] = {}
        self._claimed_by: defaultdict[int, set[str]] = defaultdict(set)
        self._leads_to: dict[int, int] = {}
        self._reached_from: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, page: Page) -> Iterable[Candidate]:
        """Give the earlier pages with which this one exchanges claims."""
        self._pages[page.url] = page
        partners: dict[str, None] = {}
        self._page_named[url_fingerprint(page.url)] = page.url
        for name in self._names(page):
            self._page_named.setdefault(name, page.url)
        for name in [n for n in self._names(page) if self._page_named[n] == page.url]:
            partners.update(dict.fromkeys(sorted(self._claimed_by.get(name, ()))))
        for url, _ in page.alternates:
            target = self._resolve(url_fingerprint(url))
            self._claimed_by[url_fingerprint(url)].add(page.url)
            if target in self._page_named:
                partners[self._page_named[target]] = None
        return list(self._exchanges(page, partners))

    def alias(self, source: str, target: str) -> Iterable[Candidate]:
        """Learn another name of a page, which may be the one that was claimed."""
        name, real = url_fingerprint(source), url_fingerprint(target)
        if name == real or name in self._leads_to:
            return []
        self._leads_to[name] = real
        self._reached_from[real].add(name)
        url = self._page_named.get(self._resolve(real))
        if url is None or url not in self._pages:
            return []
        self._page_named.setdefault(name, url)
        return list(self._exchanges(self._pages[url], sorted(self._claimed_by.get(name, ()))))

    def _exchanges(self, page: Page, partners: Iterable[str]) -> Iterator[Candidate]:
        for url in partners:
            other = self._pages.get(url)
            if other is None or other.language == page.language:
                continue
            if self._claims(page, other) and self._claims(other, page):
                why = "each page names the other as its translation"
                yield page.url, url, Evidence("alternates", RECIPROCAL, why)

    def _claims(self, page: Page, other: Page) -> bool:
        return any(
            language == other.language
            and self._page_named.get(self._resolve(url_fingerprint(url))) == other.url
            for url, language in page.alternates
        )

    def _names(self, page: Page) -> set[int]:
        """Everything a page is called: its URLs and whatever redirects to them."""
        names = {url_fingerprint(url) for url in (page.url, *page.names)}
        queue = list(names)
        while queue:
            for name in self._reached_from.get(queue.pop(), ()):
                if name not in names:
                    names.add(name)
                    queue.append(name)
        return names

    def _resolve(self, name: int) -> int:
        """Follow redirects, unless a page was stored under the name itself."""
        seen = set()
        while name not in self._page_named and name in self._leads_to and name not in seen:
            seen.add(name)
            name = self._leads_to[name]
        return name
