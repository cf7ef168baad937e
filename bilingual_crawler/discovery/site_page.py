"""What the site detector keeps of a page: its language, how much text, where it leads.

Anchors that name both languages are a sign of a bilingual site: Resnik asked a search engine for
such pages, and Almeida et al. paired what they link to, one link per language, both to files of the
same kind. Pages about languages name them too; those of dictionaries are left out, as there.
"""

from dataclasses import dataclass
from itertools import product
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from bilingual_crawler.discovery.link_predictor import (
    LinkPredictor,
    announced_beside,
    sought_languages,
)
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.documents.machine import is_translating_proxy
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.language_tokens import url_key

MOST_LINKS = 50
"""Links to a language that are examined; a page with more of them is no language choice."""
_DICTIONARY = "dictionary"


def named_links(document: Document, code: str) -> list[Link]:
    """Return the links of a page that name one language, and no other."""
    alone = frozenset((code,))
    return [link for link in document.links if languages_of_link(link) == alone][:MOST_LINKS]


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
    """URLs that it names as its versions in the languages of the pair, with their codes."""
    paired: tuple[tuple[str, str], ...]
    """Pairs of links that name the two languages."""
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
    document: Document, pair: LanguagePair, predictor: LinkPredictor, likelihood: float
) -> SitePage:
    """Read a page; links less likely than `likelihood` are not leads."""
    language = document.language or ""
    site = site_of(host_of(document.url))
    sought = sought_languages(document.url, pair, language)
    ours = [link for link in document.links if _may_be_read(link.url)]
    chances = predictor.likelihoods(ours, document.url, pair, language)
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
        paired=tuple(paired_links(document, pair)),
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
