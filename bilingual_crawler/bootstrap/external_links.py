"""The external links of articles: which are worth a visit, and which sites they support."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import Any
from urllib.parse import urlsplit

from bilingual_crawler.languages import LanguagePair, languages_of_token
from bilingual_crawler.urls.addresses import read_address
from bilingual_crawler.urls.fingerprint import canonical_url
from bilingual_crawler.urls.hosts import normal_name, site_of
from bilingual_crawler.urls.traps import BINARY_ENDINGS, ending_of

REFERENCE_SITES = frozenset(
    (
        *("wikipedia.org", "wikimedia.org", "wikidata.org", "wiktionary.org", "wikisource.org"),
        *("wikiquote.org", "wikibooks.org", "mediawiki.org", "wmflabs.org", "toolforge.org"),
        *("archive.org", "archive.today", "archive.is", "archive.ph", "webcitation.org"),
        *("doi.org", "handle.net", "worldcat.org", "viaf.org", "isni.org", "orcid.org"),
        *("d-nb.info", "loc.gov", "bnf.fr", "idref.fr", "jstor.org", "google.com", "google.es"),
        *("crossref.org", "issn.org", "musicbrainz.org", "imdb.com", "youtube.com", "youtu.be"),
        *("facebook.com", "twitter.com", "x.com", "instagram.com", "geohack.org"),
        *("nih.gov", "openstreetmap.org", "semanticscholar.org"),
    )
)  # fmt: skip
"""Sites that templates of Wikipedia link to from articles on any subject."""

SAME_ARTICLE, BOTH_LANGUAGES, BOTH_TOKENS, ONE_TOKEN = 3.0, 2.0, 5.0, 2.0
"""The weights of the kinds of evidence in the ranking of sites."""
CANDIDATE = "candidate"
"""What sites.jsonl says about a site that has not been examined."""
_INDEX = re.compile(r"(https?)://([^:/]*?)\.?(:\d+)?/?$")
_ARCHIVED = re.compile(r"^https?://web\.archive\.org/(?:web/)?\d+[a-z_*]*/(https?://.+)$")
_TOKENS = re.compile(r"[a-z]{2,3}(?:[_-][a-z]{2})?")


def url_of_index(index: str, path: str) -> str:
    """Return the URL that MediaWiki stores as a reversed host and a path."""
    found = _INDEX.match(index)
    if not found:
        return ""
    scheme, labels, port = found[1], found[2], found[3] or ""
    host = labels[3:] if labels.startswith("V4.") else ".".join(labels.split(".")[::-1])
    return f"{scheme}://{host}{port}{path or '/'}"


def readable_url(link: str) -> str | None:
    """Return the address behind an external link that a crawl may start from; None otherwise.

    For an archived copy that is the original page.
    """
    url = link.strip()
    if url.startswith("//"):
        url = f"https:{url}"
    if archived := _ARCHIVED.match(url):
        url = archived[1]
    if not url.startswith(("http://", "https://")):
        return None
    try:
        address = read_address(url)
    except ValueError:
        return None
    host = urlsplit(address).hostname or ""
    if site_of(host) in REFERENCE_SITES or "." not in host or normal_name(host) is None:
        return None
    return None if ending_of(address) in BINARY_ENDINGS else address


@dataclass(slots=True)
class LinkedSite:
    """The evidence for a site: articles of each language that link to it, and its URLs."""

    site: str
    articles: dict[str, set[str]]
    urls: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    tokens: set[str] = field(default_factory=set)
    shared: int = 0
    """Articles that link to it in both languages."""
    visit: Mapping[str, Any] | None = None
    """What a visit found, as a verdict of discovery is written; None without a visit."""

    @property
    def counts(self) -> list[int]:
        """The number of articles that link to it, by language."""
        return [len(found) for found in self.articles.values()]

    @property
    def score(self) -> float:
        """The evidence that the site has pages in both languages, as one number."""
        token = BOTH_TOKENS if len(self.tokens) > 1 else ONE_TOKEN * len(self.tokens)
        both = SAME_ARTICLE * self.shared + BOTH_LANGUAGES * min(self.counts)
        return both + token + log2(1 + sum(self.counts))

    def to_dict(self) -> dict[str, Any]:
        """Return the site as written to sites.jsonl."""
        visit = self.visit or {}
        return {
            "site": self.site,
            "bilingual": visit.get("bilingual", CANDIDATE),
            "score": round(self.score, 2),
            "articles": {code: len(found) for code, found in self.articles.items()},
            "evidence": list(self._evidence()),
            "entry_pages": visit.get("entry_pages") or self.entry_pages(),
        } | ({} if self.visit is None else {"visit": dict(self.visit)})

    def entry_pages(self) -> dict[str, str]:
        """Return the page that most articles of each language link to."""
        return {
            code: min(found, key=lambda url: (-found[url], len(url), url))
            for code, found in self.urls.items()
        }

    def _evidence(self) -> Iterator[str]:
        if self.shared:
            yield f"{self.shared} articles link to it in both languages"
        for code, found in self.articles.items():
            if found:
                some = ", ".join(sorted(found)[:3])
                yield f"{len(found)} articles in {code} link to it: {some}"
        if self.tokens:
            yield f"its addresses name {' and '.join(sorted(self.tokens))}"


class LinkedSites:
    """The sites that external links lead to, ranked by the evidence for both languages."""

    def __init__(self, pair: LanguagePair) -> None:
        self._pair = pair
        self._sites: dict[str, LinkedSite] = {}
        self._concepts: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )

    def add(self, url: str, code: str, article: str, concept: str) -> None:
        """Add a link; `concept` is the same for an article and its translation."""
        name = site_of(urlsplit(url).hostname or "")
        if name not in self._sites:
            self._sites[name] = LinkedSite(name, {each: set() for each in self._pair.codes})
        site = self._sites[name]
        site.articles[code].add(article)
        site.urls[code][url] += 1
        site.tokens |= languages_in(url, self._pair)
        self._concepts[name][concept].add(code)

    def ranked(self) -> list[LinkedSite]:
        """Return sites with evidence for two languages, or with many articles for the topic."""
        for name, site in self._sites.items():
            found = self._concepts[name].values()
            site.shared = sum(len(codes) > 1 for codes in found)
        worth = (
            site
            for site in self._sites.values()
            if min(site.counts) or len(site.tokens) > 1 or sum(site.counts) > 1
        )
        return sorted(worth, key=lambda site: (-site.score, site.site))


def languages_in(url: str, pair: LanguagePair) -> set[str]:
    """Return the languages of the pair that parts of a URL name: /es/, es.example.org, lang=es."""
    parts = urlsplit(url.lower())
    pieces = [*parts.path.split("/")[:4], *(parts.hostname or "").split(".")[:-2]]
    pieces += [value.partition("=")[2] for value in parts.query.split("&")]
    found: set[str] = set()
    for piece in pieces:
        if _TOKENS.fullmatch(piece):
            found |= languages_of_token(piece) & set(pair.codes)
    return found


def unique(urls: Iterable[tuple[str, float]], a_site: int) -> Iterator[str]:
    """Yield each address once, the heaviest first, with a limit per site."""
    best: dict[str, tuple[float, str]] = {}
    for url, weight in urls:
        key = canonical_url(url)
        if key not in best or best[key][0] < weight:
            best[key] = (weight, url)
    seen: Counter[str] = Counter()
    for _, url in sorted(best.values(), key=lambda each: (-each[0], each[1])):
        site = site_of(urlsplit(url).hostname or "")
        seen[site] += 1
        if seen[site] <= a_site:
            yield url
