"""The yield of every site of a running crawl, kept in the journal, and the forecast made of it."""

import json
import logging
from collections.abc import Callable, Iterable

from bilingual_crawler.languages import Languages, LanguageSet
from bilingual_crawler.reporting.forecast import (
    CrawlForecast,
    Forecast,
    ForecastModel,
    shipped_model,
    sum_of,
)
from bilingual_crawler.reporting.site_yield import SiteYield
from bilingual_crawler.store.journal import Journal, Statement
from bilingual_crawler.urls.hosts import host_of, site_of

logger = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE IF NOT EXISTS site_yields (site TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
"""
SAVE = "INSERT OR REPLACE INTO site_yields VALUES (?, ?)"


class Forecasts:
    """Watches what becomes of the URLs of each site.

    A site that was crawled in part without being watched, by an earlier version or by another
    worker, has no forecast.
    """

    def __init__(
        self,
        journal: Journal,
        languages_of: Callable[[str], Languages],
        *,
        model: ForecastModel | None = None,
    ) -> None:
        self._languages_of = languages_of
        self._model = model or shipped_model()
        self._sites: dict[str, SiteYield] = {}
        self._unwatched: set[str] = set()
        self._changed: set[str] = set()
        self._is_complete = True
        journal.define(SCHEMA)
        for site, state in journal.read("SELECT site, state FROM site_yields"):
            self._restore(str(site), state)
        journal.attach(self)

    def begin(self, known: int) -> None:
        """Start to watch a crawl of which `known` URLs were known before."""
        self._is_complete = bool(self._sites) or not known

    def begin_site(self, site: str, pages: int) -> None:
        """Start to watch a site of which all workers together have fetched `pages`."""
        known = self._sites.get(site)
        if pages > (known.pages if known is not None else 0):
            self._unwatched.add(site)

    def found(self, url: str) -> None:
        """Note a URL that is new to the frontier."""
        self._site(url).found(url)

    def ended(self, url: str, *, is_page: bool) -> None:
        """Note that a URL has ended, with a page or without."""
        self._site(url).ended(url, is_page=is_page)

    def paired(self, first: str, second: str, *, kept: bool) -> None:
        """Note that a pair was found or lost; it counts for the site of its first page."""
        self._site(first).paired((first, second), 1 if kept else -1)

    def now(self, pages_left: Callable[[str], int | None] = lambda _site: None) -> CrawlForecast:
        """Return the forecast, given how many more pages of a site may be fetched."""
        forecasts: dict[str, Forecast] = {}
        rest: list[SiteYield] = []
        for name, site in self._sites.items():
            forecast = None
            if self._is_complete and name not in self._unwatched:
                forecast = self._model.of(site, pages_left(name))
            if forecast is None:
                rest.append(site)
            else:
                forecasts[name] = forecast
        return sum_of(forecasts, rest)

    def changes(self) -> Iterable[Statement]:
        """Return the sites that have changed, for the journal."""
        rows = [
            (name, json.dumps(self._sites[name].to_dict(), separators=(",", ":")))
            for name in self._changed
        ]
        self._changed.clear()
        return [(SAVE, rows)] if rows else []

    def _site(self, url: str) -> SiteYield:
        name = site_of(host_of(url))
        self._changed.add(name)
        known = self._sites.get(name)
        if known is None:
            wanted = self._wanted(url)
            known = self._sites[name] = SiteYield(wanted)
        return known

    def _wanted(self, url: str) -> frozenset[str]:
        """Return the languages wanted from a site; none stands for every language."""
        languages = self._languages_of(url)
        is_open = isinstance(languages, LanguageSet) and languages.is_open
        return frozenset(() if is_open else languages.codes)

    def _restore(self, site: str, state: str) -> None:
        wanted = self._wanted(f"http://{site}/")
        try:
            self._sites[site] = SiteYield.from_dict(json.loads(state), wanted)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            logger.warning(
                "The yield of %.100s cannot be read (%r): it has no forecast", site, error
            )
            self._sites[site] = SiteYield(wanted)
            self._unwatched.add(site)
