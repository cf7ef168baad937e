"""What pages are called: their own URLs, what redirects to them, what they call canonical."""

from collections import defaultdict

from bilingual_crawler.documents.document import DocumentKey
from bilingual_crawler.pairing.known_pages import KnownPage, KnownPages
from bilingual_crawler.store.compact import CompactMap, unsigned
from bilingual_crawler.urls.fingerprint import url_fingerprint


def name_of(url: str) -> int:
    """A URL as it is compared; documents of one URL, told apart by their variant, differ."""
    key = DocumentKey.parse(url)
    return hash((url_fingerprint(key.url), key.variant)) if key.variant else url_fingerprint(url)


class Names:
    """Finds the page that a URL means, whatever name it goes by there."""

    def __init__(self, pages: KnownPages) -> None:
        self._pages = pages
        self._meant = CompactMap()
        """The number of the page that a name means, plus 1."""
        self._called: dict[int, tuple[int, ...]] = {}
        """The names of the pages that have others than that of their URL."""
        self._leads_to: dict[int, int] = {}
        self._reached_from: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, known: KnownPage) -> None:
        """Learn of a page and its names.

        Where a page calls itself by the URL of another one, that one keeps its name.
        """
        page, number = known.page, known.number
        own = name_of(page.url)
        self._meant[unsigned(own)] = number + 1
        names = self._all_names({own, *map(name_of, page.names)})
        for name in names:
            self._call(name, number)
        called = tuple(name for name in names if self._meant.get(unsigned(name)) == number + 1)
        if called != (own,):
            self._called[number] = called

    def names_of(self, url: str) -> tuple[int, ...]:
        """The names that mean a page, as far as they did when it came or were told later."""
        return self._called.get(self._pages.number_of(url)) or (name_of(url),)

    def alias(self, source: str, target: str) -> int | None:
        """Learn that `source` leads to `target`; the name, if it now means a page."""
        name, real = name_of(source), name_of(target)
        if name == real or name in self._leads_to:
            return None
        self._leads_to[name] = real
        self._reached_from[real].add(name)
        meant = self._meant.get(unsigned(self._resolve(real)))
        if not meant:
            return None
        self._call(name, meant - 1)
        return name

    def add_name(self, name: int, url: str) -> None:
        """Note a name that a page got after it came."""
        self._called[self._pages.number_of(url)] = (*self.names_of(url), name)

    def page_at(self, url: str) -> str | None:
        """The URL of the page that is meant, None if it has not come."""
        return self.page_named(name_of(url))

    def page_named(self, name: int) -> str | None:
        """The same of a name."""
        meant = self._meant.get(unsigned(self._resolve(name)))
        return self._pages.url_of(meant - 1) if meant else None

    def _call(self, name: int, number: int) -> None:
        """Give a name to a page; of two that want it, its own page, or else the first by URL."""
        meant = self._meant.get(unsigned(name))
        if meant:
            current = self._pages.url_of(meant - 1)
            if name_of(current) == name or self._pages.url_of(number) >= current:
                return
        self._meant[unsigned(name)] = number + 1

    def _all_names(self, names: set[int]) -> list[int]:
        queue = sorted(names)
        for name in queue:
            queue.extend(sorted(self._reached_from.get(name, set()) - names))
            names |= self._reached_from.get(name, set())
        return queue

    def _resolve(self, name: int) -> int:
        """Follow redirects, unless a page was stored under the name itself."""
        seen = set()
        while name in self._leads_to and name not in seen and unsigned(name) not in self._meant:
            seen.add(name)
            name = self._leads_to[name]
        return name
