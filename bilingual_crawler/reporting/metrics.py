"""The figures of a running crawl as Prometheus metrics, read at the moment of the request.

Counters start at zero with every run, as Prometheus expects of a process; gauges describe the
whole crawl. Labels never hold URLs or hosts, only one of a few dozen words. The library writes
the format and adds the memory and processor time of the process.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from bilingual_crawler.outcomes import is_failure
from bilingual_crawler.reporting.counts import per_100
from bilingual_crawler.reporting.forecast import QUANTILES, CrawlForecast, Range

URLS = "bilingual/urls/"
OPT_OUTS = "bilingual/optouts/"
OTHER = "other"
_STATUSES = frozenset(f"http_{status}" for status in HTTPStatus)

PLAIN_COUNTERS = (
    ("bilingual_pages", "Pages that were fetched and read.", "bilingual/pages", 1),
    ("bilingual_requests", "Requests sent.", "downloader/request_count", 1),
    ("bilingual_retries", "Requests that were tried again.", "retry/count", 1),
    ("bilingual_received_bytes", "Bytes received.", "downloader/response_bytes", 1),
    ("bilingual_links_seen", "Links on pages.", "bilingual/links/seen", 1),
    ("bilingual_links_scored", "Links that were scored.", "bilingual/links/scored", 1),
    (
        "bilingual_scoring_seconds",
        "Processor time of the scoring thread.",
        "bilingual/scoring/microseconds",
        1e-6,
    ),
)
"""Name, meaning, the stat it is read from, and its factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A crawl at one moment: the stats of this run, and figures of the whole crawl."""

    stats: Mapping[str, Any] = field(default_factory=dict)
    documents: Mapping[str, int] = field(default_factory=dict)
    pages: int = 0
    pairs: int = 0
    waiting: int = 0
    pages_a_second: float = 0.0
    forecast: CrawlForecast | None = None


class CrawlCollector(Collector):
    """Makes the metrics of a crawl from the snapshot that `look` returns."""

    def __init__(self, about: Mapping[str, str], look: Callable[[], Snapshot]) -> None:
        self._about = dict(about)
        self._look = look

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        now = self._look()
        yield InfoMetricFamily(
            "bilingual_crawl", "What is crawled, and with which version.", self._about
        )
        for name, meaning, stat, factor in PLAIN_COUNTERS:
            yield CounterMetricFamily(name, meaning, now.stats.get(stat, 0) * factor)
        outcomes = _by_reason(now.stats, URLS)
        yield _labelled("bilingual_urls_ended", "URLs by how they ended.", {"outcome": outcomes})
        failures = {name: n for name, n in outcomes.items() if is_failure(name)}
        yield _labelled("bilingual_failures", "URLs that gave no page.", {"reason": failures})
        opted_out = {name: n for name, n in outcomes.items() if name == "robots_txt"}
        opted_out |= _by_reason(now.stats, OPT_OUTS)
        yield _labelled("bilingual_opt_outs", "Opt-outs honoured.", {"kind": opted_out})
        documents = GaugeMetricFamily(
            "bilingual_documents", "Documents kept, by language.", labels=["language"]
        )
        for language, number in now.documents.items():
            documents.add_metric([language], number)
        yield documents
        for name, meaning, value in (
            ("bilingual_pairs", "Pairs of documents.", now.pairs),
            (
                "bilingual_yield",
                "Pairs per hundred pages of the crawl.",
                per_100(now.pairs, now.pages),
            ),
            ("bilingual_urls_waiting", "URLs in the frontier.", now.waiting),
            (
                "bilingual_pages_per_second",
                "Pages per second over the last half minute.",
                now.pages_a_second,
            ),
        ):
            yield GaugeMetricFamily(name, meaning, value)
        if now.forecast is not None and now.forecast.total is not None:
            yield _forecast("pairs", now.forecast.total.pairs)
            yield _forecast("pages", now.forecast.total.pages)


def registry_of(collector: CrawlCollector) -> CollectorRegistry:
    """Return a registry for one crawl and its process."""
    registry = CollectorRegistry()
    registry.register(collector)
    ProcessCollector(registry=registry)
    return registry


def _forecast(what: str, expected: Range) -> Metric:
    family = GaugeMetricFamily(
        f"bilingual_forecast_{what}",
        f"The final number of {what}, with the quantiles of the forecast.",
        labels=["quantile"],
    )
    for quantile, value in zip(QUANTILES, expected, strict=True):
        family.add_metric([str(quantile)], value)
    return family


def _labelled(
    name: str, meaning: str, amounts: Mapping[str, Mapping[str, int]]
) -> CounterMetricFamily:
    ((label, values),) = amounts.items()
    family = CounterMetricFamily(name, meaning, labels=[label])
    for value, amount in sorted(values.items()):
        family.add_metric([value], amount)
    return family


def _by_reason(stats: Mapping[str, Any], prefix: str) -> dict[str, int]:
    """Return the amounts under a prefix; all non-standard HTTP statuses become one."""
    found: dict[str, int] = {}
    for name, amount in stats.items():
        if name.startswith(prefix) and isinstance(amount, int):
            reason = name.removeprefix(prefix)
            if reason.startswith("http_") and reason not in _STATUSES:
                reason = f"http_{OTHER}"
            found[reason] = found.get(reason, 0) + amount
    return found
