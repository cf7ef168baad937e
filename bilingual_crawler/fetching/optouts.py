"""What a site asks not to be done with its pages, honoured and counted.

Owners of pages say no in several places: in `/.well-known/tdmrep.json`, in the headers
`tdm-reservation` and `X-Robots-Tag`, and in the head of the page itself, which the
document reader sees. Wherever it is said once, it holds: the strictest word counts, also
where the TDM Reservation Protocol would let a page take back what its site reserves.
"""

from collections.abc import Callable, Collection, Iterable
from http import HTTPStatus
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.statscollectors import StatsCollector
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from bilingual_crawler.fetching import tdmrep
from bilingual_crawler.fetching.identity import ROBOT_NAME
from bilingual_crawler.fetching.refusal import Refused, reason_of
from bilingual_crawler.fetching.site_files import is_page, is_site_file
from bilingual_crawler.settings import Config

OPT_OUT = "bilingual_optout"
HOSTS_STAT = "bilingual/optouts/hosts"
MOST_HOSTS = 1000

_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
_SENTENCES = {
    "tdm_reserved": "The site reserves the page from text and data mining.",
    "noai": "The page asks not to be used for machine learning.",
    "noindex": "The page asks to be neither kept nor followed.",
}

OPT_OUTS = frozenset(_SENTENCES)
"""Why nothing of a page may be kept."""
CLOSED = frozenset({"tdm_reserved", "noai"})
"""Why a page is not even read for its links."""


def robots_directives(headers: Iterable[bytes]) -> frozenset[str]:
    """The directives of `X-Robots-Tag` headers that concern us, in lower case.

    A name before a colon speaks to that robot alone, up to the next name or the end of
    the header; directives without a name are for all.
    """
    directives = set()
    for header in headers:
        robot = ""
        for item in header.decode("latin-1").lower().split(","):
            name, colon, rest = item.partition(":")
            if colon and name.strip() not in _WITH_VALUE:
                robot, name = name.strip(), rest
            if robot in {"", "*", ROBOT_NAME}:
                directives.add(name.strip())
    return frozenset(directives - {""})


def opt_out_of(robots: Collection[str], tdm: bool, honour: Collection[str]) -> str | None:
    """Why a page may not be kept, in the code that is counted; None if it may be."""
    if tdm and "tdm" in honour:
        return "tdm_reserved"
    if "noai" in robots and "noai" in honour:
        return "noai"
    if "noindex" in honour and ("noindex" in robots or "none" in robots):
        return "noindex"
    return None


def forbids_links(robots: Collection[str], honour: Collection[str]) -> bool:
    """Whether a page asks that its links are not followed."""
    return "nofollow" in honour and ("nofollow" in robots or "none" in robots)


def record_opt_out(stats: StatsCollector, host: str, reason: str) -> None:
    """Count an opt-out that was honoured, in all and for its host.

    The hosts are one dictionary in the stats, of the first `MOST_HOSTS` hosts, so that
    the report of a crawl can name them and a long crawl does not drown in them.
    """
    stats.inc_value(f"bilingual/optouts/{reason}")
    hosts: dict[str, dict[str, int]] | None = stats.get_value(HOSTS_STAT)
    if hosts is None:
        hosts = {}
        stats.set_value(HOSTS_STAT, hosts)
    if host in hosts or len(hosts) < MOST_HOSTS:
        counts = hosts.setdefault(host, {})
        counts[reason] = counts.get(reason, 0) + 1


class OptOuts:
    """Downloader middleware that honours what BILINGUAL_HONOUR names.

    A page that is reserved or closed to machine learning is refused. A page that must
    not be kept but may be followed passes with `meta["bilingual_optout"] = "noindex"`,
    one whose links must not be followed with "nofollow".

    Order 540. For requests that is behind robots.txt (100), so a site is not asked for
    tdmrep.json on behalf of a page that is forbidden anyway. For responses it is behind
    redirects (600, 580) and retries (550): what the headers of a redirect or of an error
    say concerns no page, and a mark must not travel on to the next request.
    """

    def __init__(self, crawler: Crawler, honour: Collection[str]) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._honour = frozenset(honour)
        self._rules: dict[str, tuple[tdmrep.Rule, ...] | Deferred[None]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        return cls(crawler, Config.from_settings(crawler.settings).honour)

    def _honour_of(self, request: Request) -> Collection[str]:
        """What is honoured on this site, which may have a setting of its own."""
        own: Callable[[str], Collection[str]] | None
        own = getattr(self._crawler.spider, "honour_of", None)
        return self._honour if own is None else own(request.url)

    async def process_request(self, request: Request) -> None:
        """Refuse a page that the tdmrep.json of its site reserves."""
        if "tdm" not in self._honour_of(request) or is_site_file(request):
            return
        if tdmrep.is_reserved(request.url, await self._rules_for(request)):
            raise self._refusal(request, "tdm_reserved")

    async def process_response(self, request: Request, response: Response) -> Response:
        """Refuse or mark a page whose headers opt out."""
        request.meta.pop(OPT_OUT, None)
        if not is_page(request, response):
            return response
        robots = robots_directives(response.headers.getlist("X-Robots-Tag"))
        tdm = b"1" in map(bytes.strip, response.headers.getlist("tdm-reservation"))
        honour = self._honour_of(request)
        reason = opt_out_of(robots, tdm, honour)
        no_links = forbids_links(robots, honour)
        if reason and (reason != "noindex" or no_links):
            raise self._refusal(request, reason)
        mark = reason or ("nofollow" if no_links else None)
        if mark:
            request.meta[OPT_OUT] = mark
            self._record(request, mark)
        return response

    async def _rules_for(self, request: Request) -> tuple[tdmrep.Rule, ...]:
        """The rules of the site, asked for once; others who need them meanwhile wait."""
        site = urlparse_cached(request).netloc
        known = self._rules.get(site)
        if known is None:
            arrival: Deferred[None] = Deferred()
            self._rules[site] = arrival
            rules: tuple[tdmrep.Rule, ...] = ()
            try:
                rules = await self._fetch_rules(request)
            finally:
                self._rules[site] = rules
                arrival.callback(None)
            return rules
        if isinstance(known, Deferred):
            await maybe_deferred_to_future(known)
            known = self._rules[site]
        assert not isinstance(known, Deferred)
        return known

    async def _fetch_rules(self, request: Request) -> tuple[tdmrep.Rule, ...]:
        """Fetch the rules of a site; a site whose file cannot be had reserves nothing in it."""
        parts = urlparse_cached(request)
        file = Request(
            f"{parts.scheme}://{parts.netloc}{tdmrep.PATH}",
            callback=NO_CALLBACK,
            meta={
                "dont_obey_robotstxt": True,
                "dont_retry": True,
                "download_maxsize": tdmrep.LARGEST_FILE,
            },
        )
        assert self._crawler.engine is not None
        try:
            response = await self._crawler.engine.download_async(file)
        except IgnoreRequest:
            return ()
        except Exception as error:  # noqa: BLE001 - whatever a server does must not block its pages
            reason, _ = reason_of(error)
            self._stats.inc_value(f"bilingual/tdmrep/failed/{reason}")
            return ()
        self._stats.inc_value(f"bilingual/tdmrep/status/{response.status}")
        return tdmrep.read_rules(response.body) if response.status == HTTPStatus.OK else ()

    def _refusal(self, request: Request, reason: str) -> Refused:
        self._record(request, reason)
        return Refused(reason, _SENTENCES[reason])

    def _record(self, request: Request, reason: str) -> None:
        record_opt_out(self._stats, urlparse_cached(request).hostname or "", reason)
