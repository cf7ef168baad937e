"""Questions to a host: one page, asked for in one language, read for what it is in."""

from collections.abc import Mapping
from typing import NamedTuple

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.refusal import reason_of, status_key
from bilingual_crawler.crawl.fetching.site_files import SUCCESS
from bilingual_crawler.crawl.negotiation.ways import headers_for
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.languages import language_of_tag


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
