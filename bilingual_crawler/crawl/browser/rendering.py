"""Which pages are rendered in the browser, and what a document gains from it.

Nothing of the browser is imported before the first page needs it: most crawls never do. The crawl
remembers which sites gain from the browser.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from bilingual_crawler.crawl.browser.chromium import (
    NoBrowserError,
    RenderingFailedError,
    StoppingError,
)
from bilingual_crawler.crawl.browser.resources import resource_of
from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.identity import accept_language
from bilingual_crawler.crawl.fetching.optouts import CLOSED, opt_out_of
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.document import Document
from bilingual_crawler.languages import Languages
from bilingual_crawler.urls.hosts import host_of, site_of

if TYPE_CHECKING:
    from bilingual_crawler.crawl.browser.renderer import Renderer
    from bilingual_crawler.crawl.browser.visit import Findings

logger = logging.getLogger(__name__)

MIN_GAIN = 200
"""Characters of text that a page must gain from its scripts, and at least"""
MIN_GAIN_SHARE = 0.2
"""this share of the text it had; or it must gain"""
MIN_NEW_LINKS = 5
"""this many new links."""
MIN_USEFUL = 3
"""Pages of a site that gain from rendering before all its pages are rendered."""
MAX_USELESS = 5
"""Pages in a row that gain nothing before a site is not rendered any more."""
GIVEN_UP = "given up"


class Rendering:
    """Renders the pages of a crawl that need it, and remembers which sites do."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._crawl = crawl = Crawl.of(crawler)
        self._memory = SiteMemory(crawl.folder.facts)
        self._renderer: Renderer | None = None
        self._logged: set[str] = set()
        self._left_plain = 0
        crawler.signals.connect(self._closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the rendering for a crawl."""
        return cls(crawler)

    async def documents(
        self, response: Response, plain: Document, read: Callable[[bytes], Document]
    ) -> list[Document]:
        """Return the documents of a page: the plain one, or those from the browser.

        `read` makes a document from markup. Several documents are one page in several
        languages; each has its language as its variant. The list is empty if the crawl is
        ending and the page has to wait for the next run.
        """
        if not self._is_wanted(plain):
            return [plain]
        site = site_of(host_of(plain.url))
        pair = self._crawl.languages_of(plain.url)
        try:
            found = await self._render(response, pair, read)
        except StoppingError:
            self._take_back(response)
            return []
        except RenderingFailedError as error:
            self._count(f"failed/{error.reason}")
            self._log_once(error, plain.url)
            if not isinstance(error, NoBrowserError):
                self._memory.learn(site, gained=False)
            return [plain]
        document = merged(plain, found)
        gained = document.rendered
        self._count("pages")
        self._count("gained" if gained else "nothing_new")
        self._count("clicks", found.clicks)
        self._memory.learn(site, gained)
        if gained and self._crawl.config.warc:
            RequestState.update(response, renderings=renderings_of(found))
        return self._variants(document, found)

    def _is_wanted(self, plain: Document) -> bool:
        """Return True if a page is to be rendered; never one that asks not to be used."""
        crawl = self._crawl
        mode = crawl.render_mode(plain.url)
        if plain.needs_scripts:
            self._count(f"signs/{plain.needs_scripts}")
        if mode == "never":
            self._left_plain += bool(plain.needs_scripts)
            return False
        honour = crawl.honour_of(plain.url)
        if opt_out_of(plain.robots, plain.tdm_reservation, honour) in CLOSED:
            return False
        site = site_of(host_of(plain.url))
        return mode == "always" or self._memory.wants(site, bool(plain.needs_scripts))

    async def _render(
        self, response: Response, pair: Languages, read: Callable[[bytes], Document]
    ) -> "Findings":
        from bilingual_crawler.crawl.browser.renderer import Renderer  # noqa: PLC0415
        from bilingual_crawler.crawl.browser.visit import Terms  # noqa: PLC0415

        if self._renderer is None:
            self._renderer = Renderer(self._crawler, self._crawl.config.chromium)
        settings, meta = self._crawler.settings, response.meta
        engine = self._crawler.engine
        terms = Terms(
            url=response.url,
            plain=resource_of(response),
            read=read,
            languages=pair.codes,
            seconds=float(meta.get("download_timeout") or settings.getfloat("DOWNLOAD_TIMEOUT")),
            largest=int(meta.get("download_maxsize") or settings.getint("DOWNLOAD_MAXSIZE")),
            is_stopping=lambda: engine is None or not engine.running,
            accept_language=_sent(response, "Accept-Language") or accept_language(pair),
        )
        identity = identity_of(_sent(response, "User-Agent"), terms.accept_language)
        return await self._renderer.render(terms, identity)

    def _take_back(self, response: Response) -> None:
        """Put a page back into the frontier, as if it had not been fetched."""
        assert response.request is not None
        assert self._crawler.engine is not None
        self._crawler.engine.crawl(response.request.replace(dont_filter=True))

    def _variants(self, document: Document, found: "Findings") -> list[Document]:
        """Return the documents of one URL; only the first has links to follow."""
        if not found.variants:
            return [document]
        self._count("variants", len(found.variants))
        others = [
            replace(_closed_as(document, view.document), variant=code, rendered=True, links=[])
            for code, view in found.variants.items()
        ]
        return [replace(document, variant=document.language or "und"), *others]

    def _log_once(self, error: RenderingFailedError, url: str) -> None:
        """Log the first failure of each kind; the others are only counted."""
        if error.reason not in self._logged:
            self._logged.add(error.reason)
            level = logging.ERROR if isinstance(error, NoBrowserError) else logging.WARNING
            logger.log(
                level,
                "%s is kept as it was fetched, not rendered: %s",
                url[:200],
                error.detail,
            )

    async def _closed(self) -> None:
        if self._left_plain:
            logger.info(
                "%d pages seem to need JavaScript to show their text or to change their language: "
                "-s BILINGUAL_RENDER=auto renders such pages.",
                self._left_plain,
            )
        if self._renderer is not None:
            await self._renderer.close()

    def _count(self, name: str, amount: int = 1) -> None:
        if amount:
            self._stats.inc_value(f"bilingual/render/{name}", amount)


def identity_of(user_agent: str, languages: str) -> dict[str, Any]:
    """Return how the browser presents itself to a page: like the crawler, with no rights."""
    return {
        "user_agent": user_agent,
        "locale": re.split("[,;]", languages, maxsplit=1)[0].strip(),
        "service_workers": "block",
        "accept_downloads": False,
        "permissions": [],
    }


def _sent(response: Response, header: str) -> str:
    """Return a header of the request for a page."""
    assert response.request is not None
    return (response.request.headers.get(header) or b"").decode("latin-1")


def merged(plain: Document, found: "Findings") -> Document:
    """Return the rendered page if it has more than the plain one, else the plain one.

    Either has the opt-outs of both. A rendered page has the links of both, because scripts may
    remove links as well as add them.
    """
    assert found.page is not None
    rendered = found.page.document
    known = {link.url for link in rendered.links}
    from_plain = [link for link in plain.links if link.url not in known]
    from_scripts = [link for link in found.links.values() if link.url not in known]
    added = [link for link in from_scripts if all(link.url != each.url for each in from_plain)]
    if not (found.variants or added or has_more(plain, rendered)):
        return _closed_as(rendered, plain)
    links = [*rendered.links, *from_plain, *added]
    return replace(_closed_as(plain, rendered), links=links, rendered=True)


def renderings_of(found: "Findings") -> list[tuple[str, bytes]]:
    """Return the rendered markup of a page, each with its variant."""
    assert found.page is not None
    own = (found.page.document.language or "und") if found.variants else ""
    others = [(code, view.markup) for code, view in found.variants.items()]
    return [(own, found.page.markup), *others]


def has_more(plain: Document, rendered: Document) -> bool:
    """Return True if a page has more text or links after its scripts have run."""
    had = sum(len(each.text) for each in plain.paragraphs)
    has = sum(len(each.text) for each in rendered.paragraphs)
    if has - had >= max(MIN_GAIN, MIN_GAIN_SHARE * had):
        return True
    return len({link.url for link in rendered.links} - {link.url for link in plain.links}) >= (
        MIN_NEW_LINKS
    )


def _closed_as(other: Document, document: Document) -> Document:
    """Return a document with the opt-outs of both forms of its page."""
    return replace(
        document,
        robots=document.robots | other.robots,
        tdm_reservation=document.tdm_reservation or other.tdm_reservation,
    )


class FactStore(Protocol):
    """Single values that are stored with the crawl."""

    def get(self, name: str, default: str = "") -> str:
        """Return the value of a name."""

    def __setitem__(self, name: str, value: str) -> None: ...


class SiteMemory:
    """Says whether a page of a site is worth rendering, judging by earlier pages.

    At first, the pages of a site are rendered if they show signs that they need it. After three
    that gained from it, every page of the site is rendered. Five in a row that gained nothing
    undo that, or end the attempts on a site where rendering never helped.
    """

    def __init__(self, facts: FactStore) -> None:
        self._facts = facts

    def wants(self, site: str, has_signs: bool) -> bool:
        """Return True if a page should be rendered."""
        value = self._facts.get(_name(site))
        if value == GIVEN_UP:
            return False
        return has_signs or _counts(value)[0] >= MIN_USEFUL

    def learn(self, site: str, gained: bool) -> None:
        """Learn from a page that was rendered."""
        value = self._facts.get(_name(site))
        if value == GIVEN_UP:
            return
        useful, idle = _counts(value)
        if gained:
            useful, idle = min(useful + 1, MIN_USEFUL), 0
        else:
            idle += 1
        if idle < MAX_USELESS:
            self._facts[_name(site)] = f"{useful} {idle}"
        else:
            self._facts[_name(site)] = "0 0" if useful >= MIN_USEFUL else GIVEN_UP


def _name(site: str) -> str:
    return f"rendering of {site}"


def _counts(value: str) -> tuple[int, int]:
    useful, _, idle = value.partition(" ")
    return (int(useful), int(idle)) if useful.isdigit() and idle.isdigit() else (0, 0)
