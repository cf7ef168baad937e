"""Whether and how a host chooses the language of its pages: what is known, and finding it out.

A host that does not choose costs one extra request. What looks like a choice is requested again,
in the order A B B A, unless the server's headers confirm it: a site that alternates at random
must not be taken for one that listens. Signs that a site chooses by cookie are the cookies that it
sets, and its pages.

What is known of a host is stored with the facts of the crawl at the next checkpoint, so a resumed
crawl does not ask again.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from bilingual_crawler.crawl.context import Crawl, header_of, read_page
from bilingual_crawler.crawl.fetching.failures import reason_of, status_key
from bilingual_crawler.crawl.fetching.site_files import SUCCESS
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.switches import languages_named, languages_of_link
from bilingual_crawler.languages import language_of_tag, language_tag
from bilingual_crawler.store.journal_tables import Facts
from bilingual_crawler.urls.fingerprint import canonical_url

MIN_MISSES = 10
MIN_ANSWERED = 0.2
"""A host is given up after so many misses, if less than this share came in both languages."""
MAX_TRIES = 3
"""How often the cookies of a host are tried; each try costs a request."""

_FACT = "negotiation of "

COMMON_NAMES = (
    "lang",
    "language",
    "locale",
    "pll_language",
    "django_language",
    "i18n",
    "i18next",
    "NEXT_LOCALE",
)
"""Cookies in which sites and frameworks store the language, most common first."""
MAX_HEADER = 4096
MAX_COOKIES = 5
"""Cookies to take from one response."""
MAX_SWITCHES = 5
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_VALUE = re.compile(r"[A-Za-z0-9_.%~+/=-]{1,200}")
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8}){0,2}")


class Way(StrEnum):
    """How a host chooses the language of its pages."""

    NONE = "none"
    """It does not: each address has one language."""
    REDIRECT = "redirect"
    """It redirects to an address for the requested language, which is a page like any other."""
    HEADER = "header"
    """One address has several languages, by the Accept-Language header."""
    COOKIE = "cookie"
    """One address has several languages, by a cookie."""
    GIVEN_UP = "given_up"
    """It seemed to, but nearly all of its pages are in one language."""


@dataclass(slots=True)
class HostFacts:
    """What is known of a host.

    `page` is the page that was used for the inquiry, and `language` its language by default;
    `switches` are its links that name the other language. `cookies` are sent for a language, if
    the way is a cookie, and `tried` are the names of those that were tried. `asked` and
    `answered` count the pages that were requested in another language, and those that came in
    it.
    """

    way: Way
    page: str = ""
    language: str = ""
    switches: list[str] = field(default_factory=list)
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)
    tried: list[str] = field(default_factory=list)
    asked: int = 0
    answered: int = 0

    @property
    def serves_both(self) -> bool:
        """Whether one address has pages in both languages."""
        return self.way in {Way.HEADER, Way.COOKIE}

    def headers(self, code: str) -> dict[str, str]:
        """Return the headers that request a language from this host."""
        return headers_for(code, self.cookies.get(code))

    def can_serve(self, code: str) -> bool:
        """Return True if it is known how to ask this host for a language."""
        return self.way is Way.HEADER or code in self.cookies

    def may_try(self, cookies: Mapping[str, str]) -> bool:
        """Return True, and mark them as tried, if cookies of the host are worth a request."""
        names = " ".join(sorted(cookies))
        if not cookies or names in self.tried or len(self.tried) >= MAX_TRIES:
            return False
        self.tried.append(names)
        return True

    def note(self, *, answered: bool) -> None:
        """Count a page that was requested in another language; give up if it never works."""
        self.asked += 1
        self.answered += answered
        misses = self.asked - self.answered
        if misses >= MIN_MISSES and self.answered < MIN_ANSWERED * self.asked:
            self.way = Way.GIVEN_UP


def headers_for(code: str, cookies: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return headers that request a page in one language, or any other rather than an error."""
    headers = {"Accept-Language": f"{language_tag(code)}, *;q=0.1"}
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return headers


class KnownHosts:
    """The facts of all hosts, stored with the crawl."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._hosts: dict[str, HostFacts] = {}

    def get(self, host: str) -> HostFacts | None:
        """Return what is known of a host; None before it was asked."""
        if host not in self._hosts and (saved := self._facts.get(_FACT + host)):
            fields = json.loads(saved)
            self._hosts[host] = HostFacts(**fields | {"way": Way(fields["way"])})
        return self._hosts.get(host)

    def save(self, host: str, known: HostFacts) -> None:
        """Store the facts of a host with the next checkpoint."""
        self._hosts[host] = known
        self._facts[_FACT + host] = json.dumps(asdict(known))


def cookies_set(headers: Iterable[bytes], code: str, *, by_switch: bool) -> dict[str, str]:
    """Return the cookies in which a site may store a language: name and value.

    All cookies set by a language switch are taken, since one may be the ID of a session that
    stores the language. From any other response only cookies whose value is a tag of the
    language are taken, since others may be personal.
    """
    found: dict[str, str] = {}
    for header in headers:
        cookie = header[:MAX_HEADER].decode("latin-1").partition(";")[0]
        name, _, value = (part.strip() for part in cookie.partition("="))
        value = value.strip('"')
        fits = _NAME.fullmatch(name) and _VALUE.fullmatch(value)
        if fits and (by_switch or _names_language(value, code)):
            found[name] = value
    return dict(islice(found.items(), MAX_COOKIES))


def _names_language(value: str, code: str) -> bool:
    language = language_of_tag(value) if _TAG.fullmatch(value) else None
    return language is not None and language.code == code


def common_cookies(code: str) -> dict[str, str]:
    """Return cookies with common names that request a language."""
    return dict.fromkeys(COMMON_NAMES, language_tag(code))


def switches_of(document: Document, code: str) -> list[str]:
    """Return the targets of a page's links that name a language, on the same host."""
    host = urlsplit(document.url).netloc
    found = (
        link.url
        for link in document.links
        if code in languages_of_link(link) and link.url != document.url
    )
    return list(islice((url for url in found if urlsplit(url).netloc == host), MAX_SWITCHES))


def offers_without_link(document: Document, code: str) -> bool:
    """Return True if a page offers a language without a link: by a button or in a form."""
    if any(
        code in languages_of_link(link) and link.url != document.url for link in document.links
    ) or names_translation(document, code):
        return False
    in_place = any(code in languages_of_link(link) for link in document.links)
    return in_place or any(
        code in languages_named(paragraph.text)
        for paragraph in document.paragraphs
        if paragraph.boilerplate
    )


def names_translation(document: Document, code: str) -> bool:
    """Return True if a page declares that it has its own address in a language."""
    return any(each.language == code and each.url != document.url for each in document.alternates)


class NegotiatedPage(NamedTuple):
    """The answer to a question: the final address, and the language of the text there.

    `is_confirmed` is True if the headers say that the language was chosen for the request.
    """

    url: str
    language: str | None
    is_confirmed: bool


class Questions:
    """Requests pages through the downloader, so that robots.txt, delays and limits apply.

    A response is read only for its language; it gives no document and is not archived.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    async def ask(
        self, url: str, code: str, cookies: Mapping[str, str] | None = None
    ) -> NegotiatedPage | None:
        """Request `url` in a language; return None if there is no page."""
        crawl = Crawl.of(self._crawler)
        request = crawl.request(url, score=0.0, depth=0)
        RequestState.update(request, variant=code)
        request.meta.update({"dont_retry": True, "cookiejar": f"question {code}"})
        request.headers.update(headers_for(code, cookies))
        request.cookies = dict((cookies or {}).items())
        assert self._crawler.engine is not None
        self._count("asked")
        try:
            response = await self._crawler.engine.download_async(request)
        except IgnoreRequest:
            return None
        except Exception as error:  # noqa: BLE001 - whatever a server does must not end the crawl
            reason, _ = reason_of(error)
            self._count(f"failed/{reason}")
            return None
        if response.status not in SUCCESS:
            self._count(f"failed/http_{status_key(response.status)}")
            return None
        document = read_page(response, crawl.languages_of(url), crawl.identifiers.of(url))
        declared = language_of_tag(header_of(response, "Content-Language"))
        is_confirmed = varies(response) or (declared is not None and declared.code == code)
        return NegotiatedPage(response.url, document.language, is_confirmed)

    def _count(self, name: str) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(f"bilingual/negotiation/{name}")


def varies(response: Response) -> bool:
    """Return True if the server says that its response depends on Accept-Language."""
    words = b",".join(response.headers.getlist("Vary")).lower().split(b",")
    return b"accept-language" in map(bytes.strip, words)


class Inquiry:
    """Asks about one host, using a page of it; `other` is the language it was not in."""

    def __init__(self, questions: Questions, other: str) -> None:
        self._questions = questions
        self._other = other

    async def of_page(self, document: Document, asked: str) -> tuple[HostFacts | None, str]:
        """Return facts about the host of a page, and the page's own address in the other language.

        `asked` is the address that led to the page. The facts are None if the host gave no page.
        """
        other = self._other
        switches = switches_of(document, other)
        known = HostFacts(Way.NONE, asked, document.language or "", switches)
        answer = await self._questions.ask(asked, other)
        if answer is None:
            return None, ""
        if answer.language == other:
            if canonical_url(answer.url) != canonical_url(document.url):
                known.way = Way.REDIRECT
                return known, answer.url
            if answer.is_confirmed or await self._holds(known, {}):
                known.way = Way.HEADER
        elif offers_without_link(document, other):
            await self._try_usual_names(known)
        return known, ""

    async def of_cookies(self, known: HostFacts, cookies: dict[str, str]) -> bool:
        """Return True if cookies that the site sets switch its pages to the other language."""
        if not await self._gives(known.page, self._other, cookies):
            return False
        if not await self._holds(known, cookies):
            return False
        known.way, known.cookies = Way.COOKIE, {self._other: cookies}
        return True

    async def _try_usual_names(self, known: HostFacts) -> None:
        """Try all usual cookie names at once; only if that works, find out which one it is."""
        cookies = common_cookies(self._other)
        if not await self._gives(known.page, self._other, cookies):
            return
        for name, value in cookies.items():
            if await self.of_cookies(known, {name: value}):
                return

    async def _gives(self, url: str, code: str, cookies: dict[str, str]) -> bool:
        answer = await self._questions.ask(url, code, cookies)
        return answer is not None and answer.language == code

    async def _holds(self, known: HostFacts, cookies: dict[str, str]) -> bool:
        """Return True if both languages can be requested again.

        No cookie is sent for the first language: it is what the host sends by default.
        """
        return await self._gives(known.page, self._other, cookies) and await self._gives(
            known.page, known.language, {}
        )
