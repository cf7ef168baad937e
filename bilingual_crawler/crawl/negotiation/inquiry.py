"""Finding out how a host chooses the language of its pages.

A host that does not choose costs one extra request. What looks like a choice is requested again,
in the order A B B A, unless the server's headers confirm it: a site that alternates at random
must not be taken for one that listens.
"""

from collections.abc import Mapping
from typing import NamedTuple

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from bilingual_crawler.crawl.context import Crawl, header_of, read_page
from bilingual_crawler.crawl.fetching.failures import reason_of, status_key
from bilingual_crawler.crawl.fetching.site_files import SUCCESS
from bilingual_crawler.crawl.negotiation.host_facts import HostFacts, Way, headers_for
from bilingual_crawler.crawl.negotiation.signs import (
    common_cookies,
    offers_without_link,
    switches_of,
)
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.document import Document
from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.urls.fingerprint import canonical_url


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
        document = read_page(response, crawl.languages_of(url), crawl.identifier)
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
