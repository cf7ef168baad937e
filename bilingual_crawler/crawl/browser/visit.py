"""One page in the browser: from its first byte to the last click on its language switch.

The page itself is not fetched again: the browser gets the bytes that the crawler has. What its
scripts load comes from the `ResourceLoader`. Navigation to another page is blocked and recorded
as a link. All waiting is bounded; what the page has when the time is up is read.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urldefrag

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page, Request, Route

from bilingual_crawler.crawl.browser.chromium import CRASH, RenderingFailedError, StoppingError
from bilingual_crawler.crawl.browser.page_scripts import Controls, IsolatedWorld
from bilingual_crawler.crawl.browser.resources import (
    Resource,
    ResourceLoader,
    Treatment,
    treatment_of,
)
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.documents.scripted import LEAST_TEXT, linked_languages

MAX_REQUESTS = 60
MAX_BYTES = 20_000_000
MAX_CLICKS = 2
MAX_RELOADS = 2
MAX_LINKS = 20
STEP = 0.1
QUIET = 0.3
"""Seconds without a request and without a change after which a page is complete."""
EMPTY_PAGE_WAIT = 2.0
"""Seconds to wait for the text of an empty page."""
MAX_BUSY = 10.0
"""Seconds after which a page that does not respond is given up."""
STOP_CHECK = 0.5
"""Seconds between two checks for the end of the crawl, while a page does not respond."""
CLOSING_SECONDS = 5.0

_GET = """
    const get = (kind, name, of) =>
        of ? Object.getOwnPropertyDescriptor(kind.prototype, name).get.call(of) : null;
"""
_TEXT_LENGTH = f"""() => {{ {_GET}
    return (get(Node, 'textContent', get(Document, 'body', document)) || '').length;
}}"""
_MARKUP = f"""(largest) => {{ {_GET}
    const type = get(Document, 'doctype', document);
    const root = get(Document, 'documentElement', document);
    const markup = (type ? new XMLSerializer().serializeToString(type) : '')
        + (get(Element, 'outerHTML', root) || '');
    return largest && markup.length > largest ? null : markup;
}}"""
"""The whole page, or null if it has too many characters."""
_WITHOUT_SOCKETS = """for (const name of
    ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete globalThis[name];"""
_EMPTY_STYLE = Resource(200, {"content-type": "text/css"}, b"")
_FORWARDED = ("accept", "origin", "user-agent", "x-requested-with")

Reader = Callable[[bytes], Document]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The goal and the limits of a visit.

    `read` makes a document from rendered markup; `languages` are the ones to look for;
    `is_stopping` returns True when the crawl is ending; `accept_language` is the header of the
    request for the page.
    """

    url: str
    plain: Resource
    read: Reader
    languages: Collection[str]
    seconds: float
    largest: int
    is_stopping: Callable[[], bool] = lambda: False
    accept_language: str = ""


class View(NamedTuple):
    """The page at one moment: its document and its markup."""

    document: Document
    markup: bytes


@dataclass(slots=True)
class Findings:
    """The result of a visit: the page, its other languages, and links that scripts follow."""

    page: View | None = None
    variants: dict[str, View] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    clicks: int = 0


class Visit:
    """A visit to one page in the browser."""

    def __init__(self, terms: Terms, resources: ResourceLoader) -> None:
        self.found = Findings()
        self.looked = asyncio.Event()
        self.failure: Exception | None = None
        self._terms = terms
        self._resources = resources
        self._page: Page | None = None
        self._world: IsolatedWorld | None = None
        self._deadline = monotonic() + terms.seconds
        self._requests = self._bytes = self._pending = self._loads = 0
        self._label = ""
        self._over = False

    async def begin(self, page: Page, _request: object) -> None:
        """Intercept everything that the page requests, before it requests anything."""
        self._page = page
        self._world = IsolatedWorld(page)
        page.on("crash", self._crashed)
        page.context.on("page", self._refuse_window)
        await page.context.add_init_script(_WITHOUT_SOCKETS)
        await page.unroute("**")
        await page.context.route("**", self._answer)

    async def look(self, page: Page) -> None:
        """Read the page when it is complete, then in the languages to which it can be switched.

        Machine translation services are not used. Errors are left in `failure`, so that
        scrapy-playwright, which calls this, does not retry.
        """
        try:
            await self._settle(page)
            view = self.found.page = await self._read()
            if not view.document.translation_service:
                await self._switch_languages(page, view.document)
        except Exception as error:  # noqa: BLE001 - it is passed on
            self.failure = error
        finally:
            self._over = True
            self.looked.set()

    async def end(self) -> None:
        """Close the page and delete its cookies and storage."""
        self._over = True
        if self._page is not None:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                await asyncio.wait_for(self._page.context.close(), CLOSING_SECONDS)

    async def _switch_languages(self, page: Page, document: Document) -> None:
        known = {document.language, *linked_languages(document)}
        for code in [each for each in self._terms.languages if each not in known]:
            if self.found.clicks >= MAX_CLICKS or not await self._switch(page, code):
                return

    async def _switch(self, page: Page, code: str) -> bool:
        """Switch the language of the page; return False if that led to another page."""
        controls = await self._in_time(Controls.of(self._isolated))
        button = controls.for_language(code)
        if button is None:
            return True
        self.found.clicks += 1
        self._label = button.label
        with contextlib.suppress(PlaywrightError):  # the page may be replaced under the click
            await self._in_time(controls.press(button))
        await self._settle(page)
        if not self._is_this_page(page.url):
            self._note_link(page.url)
            return False
        view = await self._read()
        if view.document.language == code:
            self.found.variants[code] = view
        return True

    async def _settle(self, page: Page) -> None:
        """Wait until the page loads nothing and has stopped changing, or the time is up."""
        began = quiet_since = monotonic()
        length = -1
        while monotonic() < self._deadline:
            await asyncio.sleep(STEP)
            now_length = await self._length(page)
            if self._pending or now_length != length or now_length < 0:
                quiet_since, length = monotonic(), now_length
                continue
            wait = QUIET if length >= LEAST_TEXT else EMPTY_PAGE_WAIT
            if monotonic() - quiet_since >= QUIET and monotonic() - began >= wait:
                return

    async def _length(self, page: Page) -> int:
        """Return the length of the text; -1 while the page is being replaced."""
        try:
            length = await self._in_time(self._isolated.ask(_TEXT_LENGTH))
        except PlaywrightError as error:
            if page.is_closed() or "crashed" in error.message:
                raise
            return -1
        return length if isinstance(length, int) else 0

    @property
    def _isolated(self) -> IsolatedWorld:
        assert self._world is not None
        return self._world

    async def _read(self) -> View:
        """Read the page as it is; its size is checked in the browser, before anything is copied."""
        text = await self._in_time(self._isolated.ask(_MARKUP, self._terms.largest))
        if not isinstance(text, str):
            raise RenderingFailedError("too_large", "The rendered page is too large.")
        markup = text.encode("utf-8", "replace")
        return View(self._terms.read(markup), markup)

    async def _in_time(self, question: Any) -> Any:
        """Return the result of a script in the page, which may be busy forever."""
        until = monotonic() + min(max(self._deadline - monotonic(), 0) + 1, MAX_BUSY)
        answer = asyncio.ensure_future(question)
        try:
            while not answer.done():
                if self._terms.is_stopping():
                    raise StoppingError
                if monotonic() > until:
                    raise TimeoutError
                await asyncio.wait((answer,), timeout=STOP_CHECK)
            return answer.result()
        finally:
            answer.cancel()

    async def _answer(self, route: Route) -> None:
        """Answer a request of the browser, or abort it."""
        request = route.request
        self._pending += 1
        try:
            resource = None if self._over else await self._resource(request)
            if resource is not None:
                await route.fulfill(
                    status=resource.status, headers=resource.headers, body=resource.body
                )
            else:
                await route.abort("aborted" if request.is_navigation_request() else "failed")
        except PlaywrightError:
            return  # the page is gone
        finally:
            self._pending -= 1

    async def _resource(self, request: Request) -> Resource | None:
        if request.is_navigation_request():
            return await self._next_page(request)
        treatment = treatment_of(request.resource_type, request.method, request.url)
        if treatment is Treatment.EMPTY:
            return _EMPTY_STYLE
        if treatment is Treatment.REFUSE or self._is_too_much():
            return None
        self._requests += 1
        resource = await self._resources.get(request.url, self._headers(request))
        self._bytes += len(resource.body) if resource is not None else 0
        return resource

    def _is_too_much(self) -> bool:
        return self._requests >= MAX_REQUESTS or self._bytes >= MAX_BYTES

    async def _next_page(self, request: Request) -> Resource | None:
        """Return the page itself, at first and when it reloads; None for any other page.

        A page that stores the language in a cookie reloads itself to get that language. Only
        then is it requested from the server again, with that cookie.
        """
        if self._page is None or _frame_of(request) is not self._page.main_frame:
            return None
        if not self._is_this_page(request.url):
            self._note_link(request.url)
            return None
        self._loads += 1
        if self._loads == 1:
            return self._terms.plain
        if self._loads > 1 + MAX_RELOADS:
            return None
        cookies = await self._page.context.cookies(request.url)
        if not cookies:
            return self._terms.plain
        said = "; ".join(f"{each.get('name', '')}={each.get('value', '')}" for each in cookies)
        return await self._resources.get(self._terms.url, self._headers(request) | {"Cookie": said})

    def _headers(self, request: Request) -> dict[str, str]:
        """Return the headers for a server: some of the browser's, and the wanted languages."""
        asked = request.headers
        headers = {name.title(): asked[name] for name in _FORWARDED if name in asked}
        if self._terms.accept_language:
            headers["Accept-Language"] = self._terms.accept_language
        return headers

    def _is_this_page(self, url: str) -> bool:
        return urldefrag(url).url == urldefrag(self._terms.url).url

    def _note_link(self, url: str) -> None:
        """Record where a script wanted to go, as a link with the label that was clicked."""
        address = urldefrag(url).url
        if address.startswith(("http://", "https://")) and len(self.found.links) < MAX_LINKS:
            self.found.links.setdefault(address, Link(address, anchor=self._label))

    def _crashed(self, _page: Page) -> None:
        """End the visit, since a crashed page never responds."""
        self.failure = self.failure or RenderingFailedError(CRASH, "The page crashed.")
        self.looked.set()

    async def _refuse_window(self, window: Page) -> None:
        with contextlib.suppress(PlaywrightError):
            await window.close()


def _frame_of(request: Request) -> Frame | None:
    try:
        return request.frame
    except PlaywrightError:
        return None  # its window does not exist yet, or never did
