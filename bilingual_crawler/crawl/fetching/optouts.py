"""Opt-outs: how site owners say that their pages may not be used, honoured and counted.

Owners can opt out in several places: in `/.well-known/tdmrep.json`, in the headers
`tdm-reservation` and `X-Robots-Tag`, and in the head of the page itself, which the document
reader sees. One opt-out is enough: the strictest counts, even where the TDM Reservation Protocol
would let a page override its site's reservation.

A tdmrep.json that exists but cannot be read opts the whole site out. One that cannot be fetched,
because the server or the network fails, is requested again before any page is fetched, like
robots.txt.
"""

import logging
from collections.abc import Collection
from http import HTTPStatus
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from scrapy.utils.httpobj import urlparse_cached

from bilingual_crawler.crawl.context import Crawl, config_of
from bilingual_crawler.crawl.fetching import tdmrep
from bilingual_crawler.crawl.fetching.failures import (
    Refused,
    TdmUnavailableError,
    reason_of,
    status_key,
)
from bilingual_crawler.crawl.fetching.identity import robot_of
from bilingual_crawler.crawl.fetching.site_files import (
    ASK_AGAIN_SECONDS,
    Kept,
    SiteCache,
    cannot_answer,
    file_request,
    is_page,
    is_site_file,
)
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.optouts import opt_out_of, robots_directives
from bilingual_crawler.outcomes import Outcome, outcome_sentence

logger = logging.getLogger(__name__)

__all__ = [
    "CLOSED",
    "HOSTS_STAT",
    "MAX_HOSTS",
    "OPT_OUTS",
    "OptOuts",
    "forbids_links",
    "header_opt_outs",
    "opt_out_of",
    "record_opt_out",
    "robots_directives",
]
HOSTS_STAT = "bilingual/optouts/hosts"
MAX_HOSTS = 1000
MAX_KEPT = 32_000_000
"""Bytes of the cached rules of all sites; others are fetched again."""
RULE_BYTES = 8
"""The bytes that one byte of a file takes as a rule, at most."""
Rules = tuple[tdmrep.ReservationRule, ...] | Exception
"""The rules of a site, or why they are unknown."""

OPT_OUTS = frozenset({Outcome.TDM_RESERVED, Outcome.TDM_UNREADABLE, Outcome.NOAI, Outcome.NOINDEX})
"""Reasons to keep nothing of a page."""
CLOSED = frozenset({Outcome.TDM_RESERVED, Outcome.TDM_UNREADABLE, Outcome.NOAI})
"""Reasons not even to read a page for its links."""


def header_opt_outs(response: Response, robot: str) -> tuple[frozenset[str], bool]:
    """Return the robots directives and the TDM reservation in the headers of a response."""
    robots = robots_directives(response.headers.getlist("X-Robots-Tag"), robot)
    tdm = b"1" in map(bytes.strip, response.headers.getlist("tdm-reservation"))
    return robots, tdm


def forbids_links(robots: Collection[str], honour: Collection[str]) -> bool:
    """Return True if a page asks not to follow its links."""
    return "nofollow" in honour and ("nofollow" in robots or "none" in robots)


def record_opt_out(stats: StatsCollector, host: str, reason: str) -> None:
    """Count an honoured opt-out, in total and for its host.

    The stats hold one dictionary of the first `MAX_HOSTS` hosts, so that the report of a crawl
    can name them and a long crawl is not swamped by them.
    """
    stats.inc_value(f"bilingual/optouts/{reason}")
    hosts: dict[str, dict[str, int]] | None = stats.get_value(HOSTS_STAT)
    if hosts is None:
        hosts = {}
        stats.set_value(HOSTS_STAT, hosts)
    if host in hosts or len(hosts) < MAX_HOSTS:
        counts = hosts.setdefault(host, {})
        counts[reason] = counts.get(reason, 0) + 1


class OptOuts:
    """Downloader middleware that honours the opt-outs in BILINGUAL_HONOUR.

    A page that is reserved or closed to machine learning is refused. A page that must not be
    kept but whose links may be followed passes with `RequestState.opt_out` set to "noindex"; one
    whose links must not be followed, with "nofollow".

    Order 540. For requests, that is after robots.txt (100), so tdmrep.json is not requested for
    a page that is forbidden anyway. For responses, it is after redirects (600, 580) and retries
    (550): the headers of a redirect or an error do not concern a page, and a mark must not be
    copied to the next request.
    """

    def __init__(self, crawler: Crawler, honour: Collection[str]) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._honour = frozenset(honour)
        self._rules: SiteCache[str, Rules] = SiteCache(MAX_KEPT)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        return cls(crawler, config_of(crawler).honour)

    def _honour_of(self, request: Request) -> Collection[str]:
        """Return the opt-outs to honour on this site, which may have its own setting."""
        crawl = Crawl.find(self._crawler)
        return self._honour if crawl is None else crawl.honour_of(request.url)

    async def process_request(self, request: Request) -> None:
        """Refuse a page that the tdmrep.json of its site reserves."""
        if "tdm" not in self._honour_of(request) or is_site_file(request):
            return
        site = urlparse_cached(request).netloc
        rules = await self._rules.get(site, lambda: self._fetch_rules(request))
        if isinstance(rules, tdmrep.UnreadableError):
            raise self._refusal(request, Outcome.TDM_UNREADABLE)
        if isinstance(rules, Exception):
            raise rules.with_traceback(None)
        if tdmrep.is_reserved(request.url, rules):
            raise self._refusal(request, Outcome.TDM_RESERVED)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Refuse or mark a page whose headers opt out."""
        if RequestState.of(request).opt_out:
            RequestState.update(request, opt_out="")
        if not is_page(request, response):
            return response
        robots, tdm = header_opt_outs(response, robot_of(request, self._crawler.settings))
        honour = self._honour_of(request)
        reason = opt_out_of(robots, tdm, honour)
        no_links = forbids_links(robots, honour)
        if reason and (reason != Outcome.NOINDEX or no_links):
            raise self._refusal(request, reason)
        mark = reason or ("nofollow" if no_links else None)
        if mark:
            RequestState.update(request, opt_out=mark)
            self._record(request, mark)
        return response

    async def _fetch_rules(self, request: Request) -> Kept[Rules]:
        """Fetch the rules of a site; a site without the file reserves nothing by it."""
        site = urlparse_cached(request).netloc
        file = file_request(tdmrep.PATH, request, dont_retry=True, download_maxsize=tdmrep.MAX_FILE)
        assert self._crawler.engine is not None
        try:
            response = await self._crawler.engine.download_async(file)
        except Exception as error:  # noqa: BLE001 - whatever a server does must not end the crawl
            return self._without_answer(site, error)
        self._stats.inc_value(f"bilingual/tdmrep/status/{status_key(response.status)}")
        if cannot_answer(response):
            return Kept(TdmUnavailableError(), 0, ASK_AGAIN_SECONDS)
        if response.status != HTTPStatus.OK:
            return Kept((), 0)
        try:
            return Kept(tdmrep.read_rules(response.body), RULE_BYTES * len(response.body))
        except tdmrep.UnreadableError as error:
            return self._unreadable(site, error)

    def _without_answer(self, netloc: str, error: Exception) -> Kept[Rules]:
        """Return what a failed download of the file means.

        A file that is too large or wrongly compressed exists. One that redirects endlessly, or
        to a place that we do not visit, does not. Everything else may be temporary.
        """
        reason, sentence = reason_of(error)
        if reason in {Outcome.TOO_LARGE, Outcome.BAD_ENCODING}:
            return self._unreadable(netloc, tdmrep.UnreadableError(sentence))
        if isinstance(error, IgnoreRequest):
            return Kept((), 0)
        self._stats.inc_value(f"bilingual/tdmrep/failed/{reason}")
        return Kept(error, 0, ASK_AGAIN_SECONDS)

    def _unreadable(self, netloc: str, why: tdmrep.UnreadableError) -> Kept[Rules]:
        """Treat a file that cannot be read as an opt-out of its site, and log that."""
        self._stats.inc_value("bilingual/tdmrep/unreadable")
        logger.warning(
            "Nothing is fetched from %s because its tdmrep.json cannot be read: %s",
            netloc[:100],
            why,
        )
        return Kept(why.with_traceback(None), 0)

    def _refusal(self, request: Request, reason: str) -> Refused:
        self._record(request, reason)
        return Refused(reason, outcome_sentence(reason))

    def _record(self, request: Request, reason: str) -> None:
        record_opt_out(self._stats, urlparse_cached(request).hostname or "", reason)
