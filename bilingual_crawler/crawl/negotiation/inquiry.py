"""Questions to a host: one page, asked for in one language, read for what it is in.

Finding out how a host chooses the language of its pages: whom to ask what, in which order.

A host that does not choose costs one request more than it would otherwise. What looks like a
choice is asked for again, in the order A B B A, unless the server's headers say that it is one:
a site that shows now this and now that is not taken for one that listens.
"""

from collections.abc import Mapping
from typing import NamedTuple

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.failures import reason_of, status_key
from bilingual_crawler.crawl.fetching.site_files import SUCCESS
from bilingual_crawler.crawl.negotiation.host_facts import HostFacts, Way, headers_for
from bilingual_crawler.crawl.negotiation.signs import (
    common_cookies,
    offers_without_link,
    switches_of,
)
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.urls.fingerprint import canonical_url


class NegotiatedPage(NamedTuple):
    """What came of a question: the address in the end, the language of the text there.

    `says_so` is whether the headers say that the language was chosen for who asked.
    """

    url: str
    language: str | None
    says_so: bool


class Questions:
    """Asks through the downloader, so that robots.txt, delays, guard and limits hold.

    An answer is read for its language and nothing else; it is no document and is not archived.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    async def ask(
        self, url: str, code: str, cookies: Mapping[str, str] | None = None
    ) -> NegotiatedPage | None:
        """What `url` gives to who wants it in a language; None where there is no page."""
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
        pair = crawl.languages_of(url)
        said = header_of(response, "Content-Language")
        document = build_document(
            response.url,
            response.body,
            content_type=header_of(response, "Content-Type"),
            headers_language=said,
            hints=pair.codes,
            identifier=crawl.identifier,
        )
        declared = language_of_tag(said)
        says_so = varies(response) or (declared is not None and declared.code == code)
        return NegotiatedPage(response.url, document.language, says_so)

    def _count(self, name: str) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(f"bilingual/negotiation/{name}")


def varies(response: Response) -> bool:
    """Whether the server says that its answer depends on the languages of who asks."""
    words = b",".join(response.headers.getlist("Vary")).lower().split(b",")
    return b"accept-language" in map(bytes.strip, words)


def header_of(response: Response, name: str) -> str:
    """A header as text, "" where there is none."""
    value = response.headers.get(name)
    return value.decode("latin-1") if value else ""


class Inquiry:
    """Asks about one host, with a page of it that a stranger got; `other` is what it was not in."""

    def __init__(self, questions: Questions, other: str) -> None:
        self._questions = questions
        self._other = other

    async def of_page(self, document: Document, asked: str) -> tuple[HostFacts | None, str]:
        """What is found out about the host of a page, and the address it has in the other language.

        `asked` is the address that led to the page. None is the answer where there was none.
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
            if answer.says_so or await self._holds(known, {}):
                known.way = Way.HEADER
        elif offers_without_link(document, other):
            await self._try_usual_names(known)
        return known, ""

    async def of_cookies(self, known: HostFacts, cookies: dict[str, str]) -> bool:
        """Whether cookies that the site sets make its pages come in the other language."""
        if not await self._gives(known.page, self._other, cookies):
            return False
        if not await self._holds(known, cookies):
            return False
        known.way, known.cookies = Way.COOKIE, {self._other: cookies}
        return True

    async def _try_usual_names(self, known: HostFacts) -> None:
        """All usual names at once; which of them it is, is only asked where one is heard."""
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
        """Whether the same comes when it is asked for again, and the first language for the first.

        A cookie is left out when the first language is asked for: strangers get it without.
        """
        return await self._gives(known.page, self._other, cookies) and await self._gives(
            known.page, known.language, {}
        )
