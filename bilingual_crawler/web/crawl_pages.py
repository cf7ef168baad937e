"""The crawl: its yield curve, what became of its URLs, its sites."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from bilingual_crawler.web.crawl_state import SiteRow as CrawledSite
from bilingual_crawler.web.curve import draw
from bilingual_crawler.web.rendering import render
from bilingual_crawler.web.site import ServedFolder, language_name

SITES_A_PAGE = 50
COLUMNS: dict[str, Callable[[CrawledSite], Any]] = {
    "site": lambda site: site.name,
    "pages": lambda site: -site.pages,
    "pairs": lambda site: -site.pairs,
    "yield": lambda site: -site.pairs_per_100,
    "waiting": lambda site: -site.waiting,
    "failed": lambda site: -site.failed,
    "state": lambda site: site.state,
}
"""What the table of sites can be sorted by."""
OF_PAIRS = frozenset(("pairs", "yield"))
"""Columns that a crawl of one language does not have."""


class CrawlPages:
    """The handlers of the Crawl tab."""

    def __init__(self, site: ServedFolder) -> None:
        self._site = site

    def crawl(self, request: Request) -> HTMLResponse:
        """The whole page."""
        return self._site.page("crawl.html", tab="crawl", **self._values(request))

    def live(self, request: Request) -> HTMLResponse:
        """The part of the page that changes; the script asks for it while the crawl runs."""
        values = self._values(request)
        text = render("crawl_live.html", language_name=language_name, **values)
        return HTMLResponse(text, headers={"X-Crawl-State": values["state"].state})

    def _values(self, request: Request) -> dict[str, Any]:
        asked = request.query_params
        sort = asked.get("sort", "pairs")
        sort = sort if sort in COLUMNS else "pairs"
        reverse = asked.get("reverse") == "1"
        state = self._site.crawl.state()
        by_name = sorted(state.sites, key=COLUMNS["site"])
        sites = sorted(by_name, key=COLUMNS[sort], reverse=reverse)
        last = max(1, -(-len(sites) // SITES_A_PAGE))
        text = asked.get("page", "1")
        page = min(last, max(1, int(text))) if text.isdecimal() and len(text) < 8 else 1  # noqa: PLR2004
        return {
            "state": state,
            "drawing": draw(state.curve),
            "sites": sites[(page - 1) * SITES_A_PAGE : page * SITES_A_PAGE],
            "number_of_sites": len(sites),
            "columns": [
                name for name in COLUMNS if state.harvest == "pairs" or name not in OF_PAIRS
            ],
            "sort": sort,
            "reverse": reverse,
            "page": page,
            "last": last,
            "given": {"sort": sort, "reverse": "1" if reverse else ""},
        }
