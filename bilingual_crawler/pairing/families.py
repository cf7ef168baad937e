"""Sites on several domains, one per language: which of them belong together.

Content brings pages together within their site, the registered domain. Some owners have a domain
per language: `example.es` and `example.eus`. Two such sites form a family, and their pages are
compared as if they were of one site, if

- their pages lead to each other, in both directions, by declarations or language switches: from
  two pages of each, or from one if their names share a brand; or
- their names share a brand, or translate each other, and the user chose both: as seeds of the
  crawl, or as input of `scrapy pairs`.

Anyone can link to any host and take any name, so a link in one direction or a name alone is not
enough. A family has few members, and a name that many sites share is no brand.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.pairing.lexicon import TranslationLexicon
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.pairing.profile import hashes, members
from bilingual_crawler.urls.hosts import host_of, site_of, split_host

LEAST_NAMED, LEAST_OF_BRAND = 2, 1
"""The fewest pages of each site that lead to the other; fewer if they share a brand."""
SHORTEST_BRAND = 4
MOST_NAMED = 20
"""Sites on other domains that are remembered of each site."""
MOST_SHARING = 4
"""Sites that may share a word for it to be a brand."""

_WORD = re.compile(r"[^\W\d_]+")


class Joined(NamedTuple):
    """A site that has joined a family."""

    site: str
    family: str


class SiteFamilies:
    """Which sites belong together, as pages come in.

    `others` is how many other domains a site may be joined with, 0 for none. `chosen` are the sites
    that the user named; None means all that come.
    """

    def __init__(
        self, languages: ParallelLanguages, others: int, chosen: Collection[str] | None = None
    ) -> None:
        self._others = others
        self._tokens = languages.tokens
        self._chosen = None if chosen is None else frozenset(map(_site, chosen))
        self._lexicon: TranslationLexicon | None = None
        self._family: dict[str, str] = {}
        """The family of each site that has one."""
        self._members: defaultdict[str, set[str]] = defaultdict(set)
        self._named: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._seen: dict[str, None] = {}
        self._brands: dict[str, frozenset[str]] = {}

    def use_words(self, lexicon: TranslationLexicon | None) -> None:
        """Use a lexicon for names that translate each other."""
        self._lexicon = lexicon

    def family_of(self, site: str) -> str:
        """Return the name under which the pages of a site are compared."""
        return self._family.get(site, site)

    def add(self, page: PairingPage, site: str) -> Iterator[Joined]:
        """Learn from a page of a site; yield the sites that join a family because of it."""
        if not self._others:
            return
        if site not in self._seen:
            self._seen[site] = None
            if self._chosen is not None and site in self._chosen:
                yield from self._join_by_name(self._chosen, self._brand, site)
        own = _address(page.url)
        foreign = {
            address
            for claims in (page.alternates, page.switches)
            for url, language in claims
            if language != page.language and (address := _address(url)) != own
        }
        if foreign:
            yield from self._count(site, {_site(each) for each in foreign} - {site, ""})

    def inner_links(self, page: PairingPage) -> frozenset[int]:
        """Return the hashes of a page's claims that lead to other domains of its family.

        Within one domain they would be no links to other hosts, which translations share.
        """
        family = self._family.get(_site(page.url)) if self._family else None
        if family is None:
            return frozenset()
        named = {url for url, _ in (*page.alternates, *page.switches)}
        inner = [url for url in named if self._family.get(_site(url)) == family]
        return members(hashes(inner, len(inner)))

    def settle(self) -> Iterator[Joined]:
        """Yield the sites that join a family by their names, now that all sites are known."""
        if not self._others or len(self._seen) < 2:  # noqa: PLR2004 - nothing to join
            return
        chosen = self._seen if self._chosen is None else self._chosen
        yield from self._join_by_name(chosen, self._names)

    def _join_by_name(
        self, sites: Iterable[str], names_of: Callable[[str], Iterable[str]], new: str = ""
    ) -> Iterator[Joined]:
        """Join those sites with pages whose names share a brand; only with a `new` one, if any."""
        sharing: defaultdict[str, list[str]] = defaultdict(list)
        for site in sorted(sites):
            for name in names_of(site):
                sharing[name].append(site)
        for name in sorted(sharing if not new else names_of(new)):
            known = [each for each in sharing[name] if each in self._seen]
            if len(sharing[name]) <= MOST_SHARING:
                for one, other in combinations(known, 2):
                    if not new or new in (one, other):
                        yield from self._join(one, other)

    def _count(self, site: str, foreign: Iterable[str]) -> Iterator[Joined]:
        named = self._named[site]
        for other in sorted(foreign):
            if other not in named and len(named) >= MOST_NAMED:
                continue
            named[other] += 1
            has_brand = not self._brand(site).isdisjoint(self._brand(other))
            least = LEAST_OF_BRAND if has_brand else LEAST_NAMED
            back = self._named.get(other)
            if named[other] >= least and back is not None and back[site] >= least:
                yield from self._join(site, other)

    def _join(self, one: str, other: str) -> Iterator[Joined]:
        """Join the families of two sites, unless they would be too large."""
        kept, given_up = sorted((self.family_of(one), self.family_of(other)))
        if kept == given_up:
            return
        members = (self._members[kept] or {kept}) | (self._members[given_up] or {given_up})
        if len(members) > self._others + 1:
            return
        for site in members:
            self._family[site] = kept
        self._members[kept] = members
        self._members.pop(given_up, None)
        yield Joined(given_up, kept)

    def _brand(self, site: str) -> frozenset[str]:
        """Return the words of a site's name, without those that name a language."""
        found = self._brands.get(site)
        if found is None:
            words = _WORD.findall(split_host(site).domain.lower())
            kept = {word for word in words if len(word) >= SHORTEST_BRAND} - self._tokens
            found = self._brands[site] = frozenset(kept)
        return found

    def _names(self, site: str) -> frozenset[str]:
        """Return the words of a site's name, and their translations."""
        brand = self._brand(site)
        if self._lexicon is None:
            return brand
        return brand.union(*map(self._lexicon.translations, brand))


def _address(url: str) -> str:
    """Return scheme and host of a URL: what tells fast that two URLs are of one host."""
    return "/".join(url.split("/", 3)[:3])


def _site(url: str) -> str:
    return site_of(host_of(url))
