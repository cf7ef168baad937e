"""What the pages of a site say, one by one and together, and which pages to ask for next.

Anchors that name both languages are a sign of a bilingual site: Resnik asked a search engine for
such pages, and Almeida et al. paired what they link to, one link per language, both to files of the
same kind. Pages about languages name them too; those of dictionaries are left out, as there.

A language is found if a page has text in it that is not machine output. Two found languages make a
site bilingual if each has several pages of its own, and if something ties them together: a switch,
a declaration, or that two pages look like translations.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from bilingual_crawler.discovery.link_predictor import (
    LinkPredictor,
    announced_beside,
    sought_languages,
)
from bilingual_crawler.discovery.site_records import Finding
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.documents.machine import is_translating_proxy
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.languages import LanguagePair, ParallelLanguages, find_language
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.resources import DETECTORS
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.language_tokens import url_key

MOST_LINKS = 50
"""Links to a language that are examined; a page with more of them is no language choice."""
_DICTIONARY = "dictionary"

Way = Literal["start", "inside", "alternates", "link", "home", "anchors", "sitemap"]
"""How a page was found."""
_RANK: dict[Way, int] = {
    "start": 0,
    "inside": 1,
    "alternates": 2,
    "link": 3,
    "home": 4,
    "anchors": 5,
    "sitemap": 6,
}
ALWAYS: frozenset[Way] = frozenset({"start", "inside", "home"})
"""Ways that are followed even when no sought language is missing any more."""
PROMISES: frozenset[Way] = frozenset({"alternates", "link", "anchors"})
"""Ways in which a site promises a version in another language."""


def named_links(document: Document, code: str) -> list[Link]:
    """Return the links of a page that name one language, and no other."""
    alone = frozenset((code,))
    return [link for link in document.links if languages_of_link(link) == alone][:MOST_LINKS]


def languages_linked(document: Document, languages: ParallelLanguages) -> LanguagePair | None:
    """Return the two languages that the links of a page name, the first two of several."""
    if isinstance(languages, LanguagePair):
        return languages
    named = (languages_of_link(link) for link in document.links)
    codes = [code for each in named if len(each) == 1 for code in each if code in languages]
    first, second = (*dict.fromkeys(codes), "", "")[:2]
    return languages.pair_of(first, second) if second else None


def paired_links(document: Document, pair: LanguagePair) -> list[tuple[str, str]]:
    """Return the URLs of links that name the two languages, each with the best match.

    Two links belong together if they lead to files of the same kind on one site. Of several, those
    come first whose addresses are equal once the language tokens are removed; each link is used
    once.
    """
    if _DICTIONARY in document.title.lower():
        return []
    tokens = pair.first.tokens | pair.second.tokens
    sides = [named_links(document, code) for code in pair.codes]
    keys = {link.url: url_key(link.url, tokens).key for side in sides for link in side}
    candidates = [
        (one.url, other.url)
        for one, other in product(*sides)
        if one.url != other.url
        and site_of(host_of(one.url)) == site_of(host_of(other.url))
        and _ending(one.url) == _ending(other.url)
    ]
    candidates.sort(key=lambda urls: keys[urls[0]] != keys[urls[1]])
    found: list[tuple[str, str]] = []
    used: set[str] = set()
    for urls in candidates:
        if used.isdisjoint(urls):
            used.update(urls)
            found.append(urls)
    return found


def _ending(url: str) -> str:
    """Return the ending of the file that an address names, "" if it names none."""
    try:
        return PurePosixPath(urlsplit(url).path).suffix.lower()
    except ValueError:
        return ""


LEAST_TEXT = 100
"""The fewest characters of main text for a page to count as text in its language."""
MOST_INSIDE = 500
"""Links to its own site that are kept of a page."""
FROM_TEXT = frozenset({"main text", "whole page", "paragraphs"})
"""What decides on a language by reading; hints and declarations only claim one."""
HTML = frozenset({None, "text/html", "application/xhtml+xml"})


class Lead(NamedTuple):
    """A link that may lead to another language."""

    url: str
    sought: frozenset[str]
    """The languages it may lead to: those it names, or else all that the page lacks."""
    likelihood: float


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of the site, as the detector sees it."""

    url: str
    language: str
    characters: int
    """The length of its main text."""
    is_text: bool
    """True if there is enough text to be sure of its language."""
    machine: str
    """The mark by which it says that it is machine output."""
    service: str
    """A service on it that translates by machine."""
    page: PairingPage
    """What pairing knows about it."""
    leads: tuple[Lead, ...]
    """Links of the site to another language, most likely first."""
    declared: tuple[tuple[str, str], ...]
    """URLs that it names as its versions in wanted languages, with their codes."""
    paired: tuple[dict[str, str], ...]
    """Pairs of links that name two of the languages: the language, and where the link leads."""
    proxied: str
    """A link to a service that would translate the page by machine."""
    away: str
    """A link that names another language and leads to another site."""
    inside: tuple[str, ...]
    """Its other links to pages of the site."""
    doubtful: float
    """The likelihood of the best of those."""

    @property
    def counts(self) -> bool:
        """True if it shows that the site has text in its language."""
        return self.is_text and not self.machine


def read_site_page(
    document: Document, languages: ParallelLanguages, predictor: LinkPredictor, likelihood: float
) -> SitePage:
    """Read a page; links less likely than `likelihood` are not leads."""
    language = document.language or ""
    site = site_of(host_of(document.url))
    sought = sought_languages(document.url, languages, language)
    ours = [link for link in document.links if _may_be_read(link.url)]
    chances = predictor.likelihoods(ours, document.url, languages, language)
    leads, inside, proxied, away, doubtful = [], [], "", "", 0.0
    for link, chance in zip(ours, chances, strict=True):
        named = languages_of_link(link) & sought
        if is_translating_proxy(link.url):
            proxied = proxied or (link.url if named or not language else "")
        elif site_of(host_of(link.url)) != site:
            away = away or (link.url if named and _is_short(link.url) else "")
        elif chance >= likelihood:
            leads.append(Lead(link.url, _meant(link, document.url, sought), chance))
        else:
            inside.append(link.url)
            doubtful = max(doubtful, chance)
    characters = len(document.text)
    linked = languages_linked(document, languages)
    paired = [] if linked is None else paired_links(document, linked)
    return SitePage(
        url=document.url,
        language=language,
        characters=characters,
        is_text=characters >= LEAST_TEXT and document.language_source in FROM_TEXT,
        machine=document.machine_translated,
        service=document.translation_service,
        page=page_of(document),
        leads=tuple(sorted(leads, key=lambda lead: -lead.likelihood)),
        declared=_declared(document, sought),
        paired=tuple(
            dict(zip(linked.codes, urls, strict=True)) for urls in paired if linked is not None
        ),
        proxied=proxied,
        away=away,
        inside=tuple(inside[:MOST_INSIDE]),
        doubtful=doubtful,
    )


def _declared(document: Document, sought: frozenset[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (each.url, each.language)
        for each in document.alternates
        if each.language in sought and each.language is not None and each.url != document.url
    )


def _meant(link: Link, page_url: str, sought: frozenset[str]) -> frozenset[str]:
    named = languages_of_link(link) or announced_beside(link.url, host_of(page_url))
    return named & sought or sought


def _may_be_read(url: str) -> bool:
    """Return True if an address may be that of a page, by its ending."""
    try:
        return guess_type(urlsplit(url).path)[0] in HTML
    except ValueError:
        return False


def _is_short(url: str) -> bool:
    """Return True if an address is short enough for a whole site or language version."""
    return len([part for part in urlsplit(url).path.split("/") if part]) <= 1


class Candidate(NamedTuple):
    """A page that may show another language."""

    url: str
    way: Way
    sought: frozenset[str]
    """The ISO 639-3 codes of the languages that it may show."""
    source: str = ""
    """The page that led to it."""
    likelihood: float = 1.0

    @property
    def rank(self) -> tuple[int, float]:
        """The order of candidates, smallest first."""
        return _RANK[self.way], -self.likelihood

    def __str__(self) -> str:
        """Return what led to the page, as the beginning of a sentence."""
        if not self.source:
            return "The address"
        if self.way == "alternates":
            return f"The version that {self.source} declares"
        return f"A link on {self.source}"


class Candidates:
    """Candidates by URL, those that were requested, and the number of requests."""

    def __init__(self) -> None:
        self.downloads = 0
        self._by_url: dict[str, Candidate] = {}
        self._asked: set[str] = set()

    def add(self, candidate: Candidate) -> None:
        """Add a page, unless it was requested or is known from a better place."""
        known = self._by_url.get(candidate.url)
        if candidate.url not in self._asked and (known is None or candidate.rank < known.rank):
            self._by_url[candidate.url] = candidate

    def answered(self, asked: str, found: str) -> Candidate | None:
        """Count an answer once, under whichever of its names; return the candidate it answers."""
        known = found if asked not in self._by_url and found in self._by_url else asked
        self.downloads += known not in self._asked
        self._asked.update((asked, found))
        return self._by_url.get(known)

    def forget_waiting(self) -> None:
        """Drop the candidates that were not requested."""
        self._by_url = {url: each for url, each in self._by_url.items() if url in self._asked}

    def waiting(self, missing: frozenset[str]) -> list[Candidate]:
        """Return the candidates worth requesting while some languages are missing, best first."""
        return sorted(self._useful(missing), key=lambda candidate: candidate.rank)

    def was_asked(self, url: str) -> bool:
        """Return True if a page was requested."""
        return url in self._asked

    def __getitem__(self, url: str) -> Candidate:
        return self._by_url[url]

    def __contains__(self, url: object) -> bool:
        return url in self._by_url

    def _useful(self, missing: frozenset[str]) -> Iterator[Candidate]:
        for candidate in self._by_url.values():
            wanted = candidate.way in ALWAYS or bool(candidate.sought & missing)
            if wanted and candidate.url not in self._asked:
                yield candidate


OWN_LINKS = 3
"""The fewest links that show a whole version: they announce its language, or equal those of the
other version except for the language; and no page of the other version has them.
"""
SMALL_SITE = 5
"""A page with fewer links to its own site may well be all there is."""
MIXED_TEXT = 300
"""The fewest characters of each language on a page that has both."""
LOOKS_ALIKE = 0.9
"""The least probability at which two pages are said to look like translations."""
LIKENESS_WORTH = 0.5
"""The worth of that: without rivals, all pages of one site look somewhat alike."""
CLAIMS = frozenset({"alternates", "switches", "url_model", "same_page"})
IN_BROWSERS = frozenset({"", "google", "microsoft"})
"""Services that translate what the reader sees, never what is fetched."""


class LanguagePages:
    """The pages in wanted languages, by language; of many, two are enough."""

    def __init__(self, languages: ParallelLanguages) -> None:
        self._languages = languages
        self._pages: dict[str, list[SitePage]] = {code: [] for code in languages.codes}

    def add(self, page: SitePage) -> None:
        """Add a page, if it shows a wanted language."""
        if page.counts and page.language in self._languages:
            self._pages.setdefault(page.language, []).append(page)

    @property
    def found(self) -> list[str]:
        """The languages that were found."""
        return [code for code, pages in self._pages.items() if pages]

    @property
    def missing(self) -> frozenset[str]:
        """The languages that were not found; none are missing if two were."""
        found = self.found
        if len(found) > 1:
            return frozenset()
        return self._languages.sought_from(found[0] if found else None)

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """One page for each language that was found."""
        return tuple((code, pages[0].url) for code, pages in self._pages.items() if pages)

    def __getitem__(self, code: str) -> list[SitePage]:
        return self._pages[code]

    def _others(self, code: str) -> list[SitePage]:
        """Return the pages in other languages than one."""
        return [page for each, pages in self._pages.items() if each != code for page in pages]

    def has_extent(self, code: str) -> bool:
        """Return True if a language that was found has more on the site than one page."""
        pages, others = self._pages[code], self._others(code)
        if len({page.url for page in pages}) > 1:
            return True
        if all(len(page.inside) < SMALL_SITE for page in (*pages, *others)):
            return True
        host = host_of(others[0].url)
        own = self.own_links(code)
        announced = sum(code in announced_beside(url, host) for url in own)
        return max(announced, self._corresponding(code)) >= OWN_LINKS

    def _corresponding(self, code: str) -> int:
        """Return links that another language has too, once the language tokens are removed."""
        tokens = self._languages.tokens

        def keys(code: str) -> set[str]:
            return {url_key(url, tokens).key for url in self.own_links(code)}

        own = keys(code)
        return max((len(own & keys(each)) for each in self.found if each != code), default=0)

    def own_links(self, code: str) -> list[str]:
        """Return where the pages of one language lead within the site, but not those of the others.

        Links that announce the language come first.
        """
        others = self._others(code)
        host = host_of(others[0].url)
        shared = {url for page in others for url in (page.url, *page.inside)}
        inside = dict.fromkeys(url for page in self._pages[code] for url in page.inside)
        alone = [url for url in inside if url not in shared]
        return sorted(alone, key=lambda url: code not in announced_beside(url, host))

    def mixed(self) -> SitePage | None:
        """Return a page that has enough text in two languages."""
        seen: dict[str, SitePage] = {}
        for pages in self._pages.values():
            long = {page.url: page for page in pages if page.characters >= MIXED_TEXT}
            both = next((url for url in seen if url in long), None)
            if both is not None:
                return seen[both]
            seen |= long
        return None

    def service(self) -> str:
        """Return a service that may have made one of the versions by machine."""
        services = {page.service for pages in self._pages.values() for page in pages}
        return min(services - IN_BROWSERS, default="")

    def ties(self, came_by: Mapping[str, Candidate]) -> tuple[list[Finding], float]:
        """Return what makes the languages versions of each other, and how likely that is.

        `came_by` maps the key of a page to how it was found.
        """
        findings: list[Finding] = []
        doubts: dict[str, float] = {}
        for page in (page for pages in self._pages.values() for page in pages):
            candidate = came_by.get(page.page.url)
            if candidate is None or candidate.way not in PROMISES:
                continue
            doubt = 1 - candidate.likelihood
            doubts[candidate.way] = min(doubt, doubts.get(candidate.way, 1.0))
            detail = f"{candidate} leads to {page.url}, in {name_of(page.language)}."
            findings.append(Finding(candidate.way, detail))
        for code, url in self.entries:
            findings.append(Finding("languages", f"The text of {url} is in {name_of(code)}."))
        alike = self._most_alike()
        if alike is not None:
            detail = f"{alike[0]} and {alike[1]} look like translations of each other."
            findings.append(Finding("translation", detail))
            if doubts:
                doubts["translation"] = 1 - LIKENESS_WORTH
        likelihood = 1.0
        for doubt in doubts.values():
            likelihood *= doubt
        return findings, 1 - likelihood if doubts else 0.0

    def _most_alike(self) -> tuple[str, str] | None:
        """Return two pages that look like translations to pairing, without any claims."""
        matcher = Matcher(self._languages, frozenset(DETECTORS) - CLAIMS)
        for page in (page for pages in self._pages.values() for page in pages):
            matcher.hold(page.page)
        best, found = LOOKS_ALIKE, None
        pairs = combinations([pages for pages in self._pages.values() if pages], 2)
        for one, other in (both for some in pairs for both in product(*some)):
            weighed = matcher.weigh(one.page.url, other.page.url)
            if weighed is not None and weighed.score >= best:
                best, found = weighed.score, (one.url, other.url)
        return found


def name_of(code: str) -> str:
    """Return the English name of a language, for sentences."""
    return find_language(code).name if code else "a language that is not known"
