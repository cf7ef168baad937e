"""Files about a site rather than pages of it: robots.txt, tdmrep.json, sitemaps."""

from http import HTTPStatus
from typing import Any

from scrapy import Request
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from bilingual_crawler.crawl.request_state import RequestState

SUCCESS = range(200, 300)


def is_site_file(request: Request) -> bool:
    """Whether a request is for a file about the site, of any media type.

    Such a file is read for what it says about pages: its own type and its own opt-outs
    from indexing do not matter. Requests that Scrapy's components make for themselves
    have no callback; a spider marks its own with `RequestState(site_file=True)`.
    """
    return request.callback is NO_CALLBACK or RequestState.of(request).site_file


def is_page(request: Request, response: Response) -> bool:
    """Whether a response is a page of a site: no file about it, no error, no redirect."""
    return response.status in SUCCESS and not is_site_file(request)


def file_request(path: str, request: Request, **meta: Any) -> Request:
    """A request for a file about the site of another one: under its name, through its proxy."""
    parts = urlparse_cached(request)
    url = f"{parts.scheme}://{parts.netloc}{path}"
    file = Request(url, callback=NO_CALLBACK, meta={"dont_obey_robotstxt": True, **meta})
    if "proxy" in request.meta:
        file.meta["proxy"] = request.meta["proxy"]
    for header in ("User-Agent", "Proxy-Authorization"):
        if header in request.headers:
            file.headers[header] = request.headers[header]
    return file


def asked_url(request: Request) -> str:
    """The URL that was asked for first, before any redirect."""
    url: str = (request.meta.get("redirect_urls") or [request.url])[0]
    return url


def cannot_answer(response: Response) -> bool:
    """Whether a server cannot say for now whether it has a file about its site.

    That is no answer (RFC 9309, section 2.3.1.4), unlike one that says there is no file.
    """
    busy = response.status == HTTPStatus.TOO_MANY_REQUESTS
    return busy or response.status >= HTTPStatus.INTERNAL_SERVER_ERROR
