"""robots.txt, for crawls of many hosts, some of them hostile.

A file addresses robots in groups, most of which are for other robots. Parsing them all lets a
file of 200 KB take a gigabyte, so the lines that concern us are picked out first, as RFC 9309
says: the rules of all groups that name our product token, or else those for all robots ("*").
"""

import logging
import math
import re
import zlib
from collections.abc import Iterator
from http import HTTPStatus
from typing import NamedTuple

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler

from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.fetching.failures import (
    Refused,
    RobotsUnavailableError,
    reason_of,
    status_key,
)
from bilingual_crawler.crawl.fetching.identity import ROBOT_NAME, is_named, product_token, robot_of
from bilingual_crawler.crawl.fetching.site_files import (
    ASK_AGAIN_SECONDS,
    Kept,
    LeastRecentlyUsed,
    SiteCache,
    cannot_answer,
    file_request,
)
from bilingual_crawler.outcomes import Outcome

logger = logging.getLogger(__name__)

MAX_KEPT = 64_000_000
"""Bytes of all cached files: compressed, and without the rules for other robots."""
MAX_PARSED = 2_000_000
"""Bytes of the files that stay parsed; parsed, they take 20 to 60 times as much (measured)."""
LONGEST_LINE = 5_000
"""Characters of a line that are read; no URL that we fetch is as long."""
_FIELD = re.compile(
    r"(?P<agent>user[- ]?agent)|(?P<disallow>di(?:ss?all?ow|asllow|sallaw))|(?P<allow>allow)"
    r"|(?P<delay>crawl[- ]delay)|(?P<ends>request[- ]rate|visit[- ]time)",
    re.IGNORECASE,
)
_WORDS = {"allow": "Allow", "disallow": "Disallow", "delay": "Crawl-delay"}


class RobotHost(NamedTuple):
    """A host, and the robot for which its rules are read."""

    netloc: str
    robot: str


class RobotsTxt(RobotsTxtMiddleware):
    """Downloader middleware: Scrapy's own, made safe for a crawl of many hosts.

    Only the rules for us are parsed (`rules_for`) and cached, compressed, for a day. Files for
    which the cache has no room are fetched again when they are needed.

    All requests that wait for the same robots.txt get its rules. Scrapy gives them to the first
    one only, and the others fetch forbidden pages.

    A robots.txt that is unreachable because of the server or the network (RFC 9309) forbids
    everything; Scrapy would allow everything. The pages are retried later, and robots.txt is
    requested again then. A robots.txt that does not exist forbids nothing.

    A host that asks for a longer delay than BILINGUAL_LONGEST_CRAWL_DELAY is not crawled.

    Order 100, after `AddressGuard`, with Scrapy's own class switched off.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config = config_of(crawler)
        is_archive = bool(config.archive) and not config.archive_fallback
        self._longest_delay = math.inf if is_archive else config.longest_crawl_delay
        self._files: SiteCache[RobotHost, bytes | Exception] = SiteCache(MAX_KEPT)
        self._ready: LeastRecentlyUsed[bytes, RobotParser] = LeastRecentlyUsed(MAX_PARSED)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of the request's host for the robot that sends it."""
        site = RobotHost(urlparse_cached(request).netloc, robot_of(request, self.crawler.settings))
        found = await self._files.get(site, lambda: self._fetch(site, request))
        if isinstance(found, Exception):
            raise found.with_traceback(None)
        return self._parsed(found)

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Raise an exception for a page that robots.txt forbids."""
        super().process_request_2(rp, request)
        delay = rp.crawl_delay(ROBOT_NAME) if rp is not None else None
        if delay is not None and delay > self._longest_delay:
            raise Refused(
                Outcome.CRAWL_DELAY,
                f"robots.txt asks for {delay:g} seconds between two requests, more than "
                f"BILINGUAL_LONGEST_CRAWL_DELAY={self._longest_delay:g}.",
            )

    def _parsed(self, packed: bytes) -> RobotParser:
        """Return the parser of a file; sites with the same file share it."""
        parser = self._ready.get(packed)
        if parser is None:
            body = zlib.decompress(packed)
            parser = build_from_crawler(self._parserimpl, self.crawler, body)
            self._ready.put(packed, parser, len(body))
        return parser

    async def _fetch(self, site: RobotHost, request: Request) -> Kept[bytes | Exception]:
        """Fetch the robots.txt of a host; a failure is remembered too, for a short time."""
        self._stats.inc_value("robotstxt/request_count")
        try:
            rules = await self._rules_of(site.robot, request)
        except IgnoreRequest:
            rules = ""
        except Exception as error:  # noqa: BLE001 - whatever a server does must not end the crawl
            self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            logger.warning("No robots.txt from %s: %s", site.netloc[:100], reason_of(error)[1])
            return Kept(error, 0, ASK_AGAIN_SECONDS)
        packed = zlib.compress(rules.encode())
        await self.crawler.signals.send_catch_log_async(
            signal=signals.robots_parsed, robotparser=self._parsed(packed), request=request
        )
        return Kept(packed, len(packed))

    async def _rules_of(self, robot: str, request: Request) -> str:
        """Return the rules of a host for a robot; "" if it has no robots.txt."""
        file = file_request("/robots.txt", request).replace(priority=self.DOWNLOAD_PRIORITY)
        assert self.crawler.engine is not None
        response = await self.crawler.engine.download_async(file)
        self._stats.inc_value("robotstxt/response_count")
        self._stats.inc_value(f"robotstxt/response_status_count/{status_key(response.status)}")
        if cannot_answer(response):
            raise RobotsUnavailableError(f"status {response.status}")
        if response.status >= HTTPStatus.BAD_REQUEST:
            return ""
        return rules_for(robot, response.body.decode("utf-8-sig", "ignore"))


def rules_for(robot: str, text: str) -> str:
    """Return a robots.txt with just the rules for `robot`, in one group for all robots.

    Among groups that name the robot, the longest name is the most specific; all groups with
    that name count. The result is "" if nothing is forbidden.
    """
    chosen: dict[str, None] = {}  # an ordered set, since the last of several delays counts
    best = -1
    speaks = opened = False
    for field, value in _lines(text):
        if field == "agent":
            if opened:
                speaks = opened = False
            score = _score(value, robot)
            if score > best:
                best, chosen = score, {}
            speaks = speaks or 0 <= score == best
        else:
            opened = True
            if speaks and value and field in _WORDS:
                rule = f"{_WORDS[field]}: {value}"
                chosen.pop(rule, None)
                chosen[rule] = None
    return "\n".join(("User-agent: *", *chosen)) if chosen else ""


def _score(agent: str, robot: str) -> int:
    """Return how specifically a line names a robot; -1 if it does not."""
    if agent == "*":
        return 0
    return len(product_token(agent)) if is_named(agent, robot) else -1


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the value of each line that matters.

    Misspellings and missing colons are accepted as the parser accepts them.
    """
    for whole in text.splitlines():
        line = whole[:LONGEST_LINE].partition("#")[0].strip()
        field = _FIELD.match(line)
        if field is None:
            continue
        rest = line[field.end() :]
        if rest and not rest[0].isspace() and rest[0] != ":":
            continue  # another word with the same beginning
        rest = rest.lstrip()
        yield field.lastgroup or "", rest.removeprefix(":").strip()
