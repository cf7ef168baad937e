"""Sites ranked by the parallel text that they are known to have given, or by their languages.

SBFC (section 4.1) takes its seeds from a parallel corpus with source URLs: unique URLs are grouped
by site, sites are ranked by their number, and a crawl starts at the home pages of the first 200.
A list of URLs with languages, as an export of a web archive has them, says less: there a site
counts as much as its smaller language.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of


@dataclass(slots=True)
class ProductiveSite:
    """What is known of one site."""

    site: str
    pages: set[int] = field(default_factory=set)
    """Fingerprints of its pages in translation pairs."""
    sentences: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    """Pages per language, from lists of URLs."""
    homes: Counter[str] = field(default_factory=Counter)
    """URLs under each of its home pages: a host may answer under http and https."""

    @property
    def expected(self) -> int:
        """Return how many pages in pairs can be expected: the largest language has most alone."""
        sizes = sorted(self.languages.values(), reverse=True)
        return len(self.pages) + sum(sizes[1:]) + sum(sizes[1:2])

    @property
    def home(self) -> str:
        """The home page that most URLs belong to; of equally many, the first in the alphabet."""
        return min(self.homes, key=lambda home: (-self.homes[home], home))

    def to_dict(self) -> dict[str, Any]:
        """Return it for a line of JSON."""
        return {
            "site": self.site,
            "home": self.home,
            "pages": len(self.pages),
            "sentences": self.sentences,
            "languages": dict(sorted(self.languages.items())),
        }


class SiteRanking:
    """Counts pages and sentence pairs per site; `left_out` are sites not to name."""

    def __init__(self, languages: ParallelLanguages, left_out: Collection[str] = ()) -> None:
        self._languages = languages
        self._left_out = frozenset(left_out)
        self._sites: dict[str, ProductiveSite] = {}
        self.skipped: Counter[str] = Counter()

    def add_pair(self, url1: str, url2: str, sentences: int = 0) -> None:
        """Count two pages that are translations, and the sentence pairs of this record.

        A pair whose languages have a site each counts for both.
        """
        found = [self._site(url) for url in (url1, url2)]
        for each, url in zip(found, (url1, url2), strict=True):
            if each is not None and (fingerprint := url_fingerprint(url)) not in each.pages:
                each.pages.add(fingerprint)
                each.homes[_home(url)] += 1
        for each in {id(site): site for site in found if site is not None}.values():
            each.sentences += sentences

    def add_page(self, url: str, language: str | None) -> None:
        """Count a page in a language; other languages than those wanted do not count."""
        if language not in self._languages:
            self.skipped["in another language, or in none that is named"] += 1
            return
        if (site := self._site(url)) is not None:
            site.languages[str(language)] += 1
            site.homes[_home(url)] += 1

    def ranked(self, limit: int | None = None) -> list[ProductiveSite]:
        """Return the sites that promise anything, the most productive first."""
        sites = [site for site in self._sites.values() if site.expected]
        sites.sort(key=lambda site: (-site.expected, -site.sentences, site.site))
        return sites[:limit]

    def _site(self, url: str) -> ProductiveSite | None:
        host = host_of(url)
        if not host or not url.lower().startswith(("http://", "https://")):
            self.skipped["without a web address"] += 1
            return None
        name = site_of(host)
        if name in self._left_out:
            self.skipped["on a site that is left out"] += 1
            return None
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = ProductiveSite(name)
        return site


def _home(url: str) -> str:
    """Return the URL of a site without any resource: scheme, host and port."""
    host = host_of(url)
    try:
        port = urlsplit(url).port
    except ValueError:
        port = None
    name = f"[{host}]" if ":" in host else host
    return f"{url.partition(':')[0].lower()}://{name}{f':{port}' if port else ''}/"


def seed_lines(sites: list[ProductiveSite]) -> Iterator[str]:
    """Yield one line per site, as a list of seeds has them: home page, and counts as a comment."""
    for site in sites:
        counts = [f"{len(site.pages):,} pages in pairs"] if site.pages else []
        counts += [f"{site.sentences:,} sentence pairs"] if site.sentences else []
        counts += [f"{number:,} pages in {code}" for code, number in sorted(site.languages.items())]
        yield f"{site.home}  # {', '.join(counts)}"
