"""What pages are called: their own URLs, what redirects to them, what they call canonical."""

from collections import defaultdict

from bilingual_crawler.documents.document import DocumentKey
from bilingual_crawler.frontier.fingerprint import url_fingerprint
from bilingual_crawler.pairing.pair import Page


def name_of(url: str) -> int:
    """A URL as it is compared; documents of one URL, told apart by their variant, differ."""
    key = DocumentKey.parse(url)
    return hash((url_fingerprint(key.url), key.variant)) if key.variant else url_fingerprint(url)


class Names:
    """Finds the page that a URL means, whatever name it goes by there."""

    def __init__(self) -> None:
        self._page: dict[int, str] = {}
        self._leads_to: dict[int, int] = {}
        self._reached_from: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, page: Page) -> list[int]:
        """Learn of a page; the names that now mean it are given.

        Where a page calls itself by the URL of another one, that one keeps its name.
        """
        own = name_of(page.url)
        self._page[own] = page.url
        names = self._all_names({own, *map(name_of, page.names)})
        for name in names:
            self._call(name, page.url)
        return [name for name in names if self._page[name] == page.url]

    def alias(self, source: str, target: str) -> int | None:
        """Learn that `source` leads to `target`; the name, if it now means a page."""
        name, real = name_of(source), name_of(target)
        if name == real or name in self._leads_to:
            return None
        self._leads_to[name] = real
        self._reached_from[real].add(name)
        url = self._page.get(self._resolve(real))
        if url is None:
            return None
        self._call(name, url)
        return name

    def page_at(self, url: str) -> str | None:
        """The URL of the page that is meant, None if it has not come."""
        return self.page_named(name_of(url))

    def page_named(self, name: int) -> str | None:
        """The same of a name."""
        return self._page.get(self._resolve(name))

    def _call(self, name: int, url: str) -> None:
        """Give a name to a page; of two that want it, its own page, or else the first by URL."""
        current = self._page.get(name)
        if current is None or (name_of(current) != name and url < current):
            self._page[name] = url

    def _all_names(self, names: set[int]) -> list[int]:
        queue = sorted(names)
        for name in queue:
            queue.extend(sorted(self._reached_from.get(name, set()) - names))
            names |= self._reached_from.get(name, set())
        return queue

    def _resolve(self, name: int) -> int:
        """Follow redirects, unless a page was stored under the name itself."""
        seen = set()
        while name not in self._page and name in self._leads_to and name not in seen:
            seen.add(name)
            name = self._leads_to[name]
        return name
