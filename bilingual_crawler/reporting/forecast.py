"""The forecast of a crawl: how many pairs its sites will give, in how many pages.

Each site has a simple estimate: its waiting URLs, each with the success that its section had.
Linear quantile regressions, learned from whole crawls of recorded sites, say by which factor such
estimates are wrong (`tools/forecast.py`; docs/experiments/forecast.md has the coverage on sites
that they had not seen). The result is a range that holds the truth in 80 of 100 cases.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, Self

from bilingual_crawler.reporting.site_yield import Outlook, SiteYield

FILE = "forecast.json"
FIRST = 24
"""Pages of a site before anything is said about it."""
QUANTILES = (0.1, 0.5, 0.9)
MOST_SITES = 100
"""Sites that are listed one by one."""
_FARTHEST = 5.0
"""The largest logarithm of a factor: beyond, the regressions know nothing."""


class Range(NamedTuple):
    """What a number will be: in one of ten cases at most `low`, in one at least `high`."""

    low: int
    middle: int
    high: int

    def __str__(self) -> str:
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}-{self.high:,}"


class Forecast(NamedTuple):
    """The final number of pairs and pages, of a site or of several."""

    pairs: Range
    pages: Range

    def __str__(self) -> str:
        return f"{self.pairs} pairs in about {self.pages.middle:,} pages"

    def to_dict(self) -> dict[str, list[int]]:
        """Return the forecast for JSON."""
        return {"pairs": list(self.pairs), "pages": list(self.pages)}

    @classmethod
    def from_dict(cls, fields: Any) -> "Forecast | None":
        """Return the forecast in a crawl.json, which may be anyone's; None if there is none."""
        try:
            pairs, pages = (Range(*map(int, fields[name])) for name in ("pairs", "pages"))
        except (TypeError, ValueError, LookupError, OverflowError):
            return None
        return cls(pairs, pages)


@dataclass(frozen=True, slots=True)
class ForecastModel:
    """The regressions: for each quantile, one weight per feature of an `Outlook`."""

    pages: tuple[tuple[float, ...], ...]
    pairs: tuple[tuple[float, ...], ...]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a model that `tools/forecast.py` wrote."""
        fields = json.loads(text)
        pages, pairs = (
            tuple(tuple(map(float, weights)) for weights in fields[name])
            for name in ("pages", "pairs")
        )
        return cls(pages, pairs)

    def of(self, site: SiteYield, left: int | None = None) -> Forecast | None:
        """Return the forecast for a site, of which at most `left` more pages are fetched.

        It is None if the site has had too few pages, and exact if none of its URLs waits.
        """
        if not site.waiting or left == 0:
            return Forecast(_exact(site.pairs), _exact(site.pages))
        if site.pages < FIRST:
            return None
        now = site.outlook
        pages = _quantiles(now, self.pages, now.more_pages)
        pairs = _quantiles(now, self.pairs, now.more_pairs)
        pairs = [min(more, left) for more, left in zip(pairs, pages, strict=True)]
        if left is not None:
            pages, pairs = _within(left, pages, pairs)
        return Forecast(_range(site.pairs, pairs), _range(site.pages, pages))


class CrawlForecast(NamedTuple):
    """The forecasts of all sites of a crawl that have one, and the sum of the crawl."""

    total: Forecast | None
    sites: Mapping[str, Forecast]
    unknown: int
    """Sites without a forecast; the total counts only what they have given so far."""

    def __str__(self) -> str:
        if self.total is None:
            return f"after {FIRST} pages of a site"
        if not self.unknown:
            return str(self.total)
        new = "site that is" if self.unknown == 1 else "sites that are"
        return f"{self.total}, without {self.unknown:,} {new} still new"

    def to_dict(self) -> dict[str, Any] | None:
        """Return the forecast for crawl.json; None if there is none yet."""
        if self.total is None:
            return None
        largest = sorted(self.sites.items(), key=lambda item: (-item[1].pairs.middle, item[0]))
        return {
            **self.total.to_dict(),
            "sites": {name: each.to_dict() for name, each in largest[:MOST_SITES]},
            "sites_without": self.unknown,
        }


@cache
def shipped_model() -> ForecastModel:
    """Return the model of this package."""
    return ForecastModel.from_json(
        (files("bilingual_crawler") / "data" / FILE).read_text(encoding="utf-8")
    )


def sum_of(forecasts: Mapping[str, Forecast], rest: Iterable[SiteYield]) -> CrawlForecast:
    """Add up the forecasts of sites; of the `rest`, which have none, what they gave so far.

    Sites are taken to be independent, so that their errors partly cancel out.
    """
    others = list(rest)
    if not forecasts:
        return CrawlForecast(None, {}, len(others))
    pairs = _sum([each.pairs for each in forecasts.values()], sum(each.pairs for each in others))
    pages = _sum([each.pages for each in forecasts.values()], sum(each.pages for each in others))
    return CrawlForecast(Forecast(pairs, pages), dict(forecasts), len(others))


def _sum(ranges: Sequence[Range], found: int) -> Range:
    middle = sum(each.middle for each in ranges) + found
    below = math.hypot(*(each.middle - each.low for each in ranges))
    above = math.hypot(*(each.high - each.middle for each in ranges))
    return Range(middle - math.floor(below), middle, middle + math.ceil(above))


def _quantiles(now: Outlook, weights: Sequence[Sequence[float]], estimate: float) -> list[float]:
    """Return what is still to come, from low to high."""
    features = now.features
    factors = sorted(sum(map(float.__mul__, features, each)) for each in weights)
    base = math.log1p(estimate)
    bounded = (min(max(factor, -_FARTHEST), _FARTHEST) for factor in factors)
    return [max(math.expm1(base + factor), 0.0) for factor in bounded]


def _within(
    left: int, pages: Sequence[float], pairs: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return the pages and pairs to come in the next `left` pages.

    A scorer fetches the best first: at worst pairs are spread evenly over what is left of the
    site, at best the next pages hold as many as pages can, one for two.
    """
    share = min(left / max(pages[1], 1.0), 1.0)
    low = min(pairs[0] * share, left)
    high = min(pairs[2], left / 2 + 1)
    middle = min(max(pairs[1] * min(2 * share, 1.0), low), max(high, low))
    return [min(each, left) for each in pages], sorted((low, middle, max(high, low)))


def _range(found: int, more: Sequence[float]) -> Range:
    low, middle, high = more
    return Range(found + math.floor(low), found + round(middle), found + math.ceil(high))


def _exact(number: int) -> Range:
    return Range(number, number, number)
