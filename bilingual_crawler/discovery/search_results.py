"""What a search engine answers: queries for pages whose anchors name both languages, and results.

Resnik (1998) asked for pages with the names of both languages in their anchors, and took the links
for pairs; Almeida et al. (2002) begin with the same query. Engines differ and change, so the answer
may be what a person has saved (a page of results, a list of addresses) or that of an API.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from itertools import islice, product
from typing import cast
from urllib.parse import parse_qsl, quote, urlsplit

from lxml import html

from bilingual_crawler.discovery.backlinks import read_answer, valid_addresses
from bilingual_crawler.discovery.site_pages import languages_linked, paired_links
from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import Language, ParallelLanguages
from bilingual_crawler.urls.credentials import without_credentials
from bilingual_crawler.urls.hosts import host_of, site_of

RESULTS = "#results.url"
"""Where the addresses are in the answer of SearXNG."""
NAMES_OF_LANGUAGE = 2
MOST_RESULTS = 10_000
MOST_PAIRS_OF_PAGE = 50
LARGEST_ANSWER = 10_000_000
TIMEOUT = 60.0
_TARGETS = ("uddg", "url", "u", "q", "target", "to")
"""Parameters by which engines pass on the address of a result."""
_LINKS = "//a/@href"
_OWN = "//form/@action | //link[@rel='canonical' or @rel='search']/@href | //base/@href"
"""Where a page of results names the engine."""


def queries(languages: ParallelLanguages, operator: str = "") -> list[str]:
    """Return queries for the names of every two languages, in English and in each one itself.

    `operator` is what an engine wants before a word of an anchor, such as `inanchor:`.
    """
    names = (map(_names, pair) for pair in languages.pairs())
    both = (each for pair in names for each in product(*pair))
    return [f'{operator}"{one}" {operator}"{other}"' for one, other in both]


def _names(language: Language) -> list[str]:
    known = dict.fromkeys((language.name, *language.endonyms))
    return list(islice(known, NAMES_OF_LANGUAGE))


def api_address(template: str, query: str, page: int) -> str:
    """Return the address that asks an API for one page of results."""
    address = template.partition("#")[0]
    return address.format(query=quote(query, safe=""), page=page)


def check_api(template: str) -> str:
    """Return the template of an API, with the path to the addresses in its answer.

    Raise a ValueError with the end of a sentence if it is none.
    """
    if not template.startswith(("http://", "https://")):
        raise ValueError("must be an http(s) address")
    try:
        api_address(template, "", 1)
    except (KeyError, IndexError, ValueError):
        raise ValueError("accepts no other fields than {query} and {page}") from None
    if "{query}" not in template:
        raise ValueError("needs {query} where the query stands")
    return template if "#" in template else template + RESULTS


def read_results(body: bytes, template: str = RESULTS) -> list[str]:
    """Return the addresses in an answer: JSON of an API, a page of results, or a list.

    Raise a ValueError if JSON cannot be read.
    """
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start in {b"{", b"["}:
        try:
            return read_answer(template, body, MOST_RESULTS)
        except json.JSONDecodeError as error:
            raise ValueError(f"it is not JSON ({error})") from None
    if start == b"<":
        return valid_addresses(_linked(body), MOST_RESULTS)
    text = body.decode("utf-8-sig", "replace")
    listed = (line.split("\t")[0].strip() for line in text.splitlines())
    return valid_addresses((line for line in listed if line[:1] != "#"), MOST_RESULTS)


def _linked(body: bytes) -> Iterator[str]:
    """Yield what a page of results links to, except to the engine itself."""
    page = html.document_fromstring(b"<html>" + body, parser=html.HTMLParser(encoding="utf-8"))
    links, places = (map(str, cast("list[str]", page.xpath(path))) for path in (_LINKS, _OWN))
    found = [target for link in links if (target := _target(link))]
    own = {site_of(host) for place in places if (host := _host(place))}
    yield from (url for url in found if site_of(_host(url)) not in own)


def _target(link: str) -> str:
    """Return where a link of a page of results leads to, through the engine's redirect."""
    try:
        given = dict(parse_qsl(urlsplit(link).query))
    except ValueError:
        return ""
    for name in _TARGETS:
        if given.get(name, "").startswith(("http://", "https://")):
            return given[name]
    return link if link.startswith(("http://", "https://")) else ""


def _host(url: str) -> str:
    return host_of(url) if "://" in url else ""


class SearchApi:
    """Asks the API of a search engine, one page of results after the other.

    It is plain urllib, because a few dozen questions to one server need no engine. The user names
    the API, so its robots.txt, which is for crawlers of results, is not asked.
    """

    def __init__(self, template: str, user_agent: str, delay: float) -> None:
        self._template, self._delay = template, delay
        self._headers = {"User-Agent": user_agent, "Accept": "application/json"}
        self._asked = False

    def results(self, query: str, pages: int) -> Iterator[str]:
        """Yield the addresses in the first pages of results."""
        for page in range(1, pages + 1):
            found = self._page(api_address(self._template, query, page))
            yield from found
            if not found or "{page}" not in self._template:
                return

    def _page(self, address: str) -> list[str]:
        if self._asked:
            time.sleep(self._delay)
        self._asked = True
        request = urllib.request.Request(address, headers=self._headers)  # noqa: S310 - checked
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310 - checked
                body = response.read(LARGEST_ANSWER + 1)
            if len(body) > LARGEST_ANSWER:
                raise ValueError(f"it is larger than {LARGEST_ANSWER:,} bytes")  # noqa: TRY301
            return read_results(body, self._template)
        except urllib.error.HTTPError as error:
            with error:
                why = f"it answered {error.code} ({error.reason})"
        except (OSError, HTTPException, ValueError) as error:
            why = str(getattr(error, "reason", None) or error)
        raise ConfigurationError(
            f"The search API gave no results: {why}. Is {without_credentials(address)} an API with"
            " JSON (SearXNG needs `json` among the `formats` of its settings)? Saved results can"
            " be read with --results FILE."
        )


class AnchorHits:
    """The pages whose links name two of the languages, and the pairs that these links make."""

    def __init__(self, languages: ParallelLanguages) -> None:
        self._wanted = languages
        self.pages: dict[str, int] = {}
        """Page -> number of pairs on it."""
        self.pairs: dict[tuple[str, str], str] = {}
        """Pair -> the page with its links."""
        self.languages: dict[tuple[str, str], tuple[str, str]] = {}
        """Pair -> the languages that the links name."""

    def read(self, url: str, document: Document) -> list[str]:
        """Take the pairs of a page of the results; return their addresses."""
        named = languages_linked(document, self._wanted)
        found = [] if named is None else paired_links(document, named)[:MOST_PAIRS_OF_PAGE]
        if found:
            self.pages[url] = len(found)
        for urls in found:
            self.pairs.setdefault(urls, url)
            self.languages.setdefault(urls, named.codes if named is not None else ("", ""))
        return [each for urls in found for each in urls]
