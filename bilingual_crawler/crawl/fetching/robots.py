"""robots.txt, read by Scrapy's own middleware, for any number of requests and hosts.

The part of a robots.txt that speaks to one robot.

A file names its robots in groups, and most groups are for others: parsing them all lets a file
of 200 KB take a gigabyte. So the lines that concern us are picked out first, as RFC 9309 has it:
the rules of all groups that name our product token, or else those for everybody ("*").
"""

import logging
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

logger = logging.getLogger(__name__)

MOST_KEPT = 64_000_000
"""Bytes of all files that are kept: packed, and without what is for other robots."""
MOST_PARSED = 2_000_000
"""Bytes of the files that are ready for use; parsed, 20 to 60 times that was measured."""


class RobotHost(NamedTuple):
    """A host as a robot sees it."""

    netloc: str
    robot: str


class RobotsTxt(RobotsTxtMiddleware):
    """Scrapy's middleware for a crawl of many hosts, some of which are hostile.

    Of a file, only what is for us is parsed (`robots_groups`) and kept, packed, for a day. What
    a crawl has no room for is fetched again when it is needed.

    Requests that wait for the same robots.txt all get its rules; Scrapy gives them to the first
    alone, and the others fetch what is forbidden.

    A robots.txt that cannot be had because of the server or the network (RFC 9309 calls
    it unreachable) forbids everything; Scrapy takes it for none. The pages are retried
    later, and robots.txt is asked for again then. A robots.txt that does not exist
    forbids nothing.

    A host that asks for a longer delay than BILINGUAL_LONGEST_CRAWL_DELAY is not crawled.

    Order 100 with Scrapy's own class switched off, after `AddressGuard`.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._longest_delay = config_of(crawler).longest_crawl_delay
        self._files: SiteCache[RobotHost, bytes | Exception] = SiteCache(MOST_KEPT)
        self._ready: LeastRecentlyUsed[bytes, RobotParser] = LeastRecentlyUsed(MOST_PARSED)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules of the request's host for the robot that asks."""
        site = RobotHost(urlparse_cached(request).netloc, robot_of(request, self.crawler.settings))
        found = await self._files.get(site, lambda: self._fetch(site, request))
        if isinstance(found, Exception):
            raise found.with_traceback(None)
        return self._parsed(found)

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Let a page pass that robots.txt allows."""
        super().process_request_2(rp, request)
        delay = rp.crawl_delay(ROBOT_NAME) if rp is not None else None
        if delay is not None and delay > self._longest_delay:
            raise Refused(
                "crawl_delay",
                f"robots.txt asks for {delay:g} seconds between two requests; more than "
                f"BILINGUAL_LONGEST_CRAWL_DELAY={self._longest_delay:g} is not waited for.",
            )

    def _parsed(self, packed: bytes) -> RobotParser:
        """The parser of a file; sites with the same file share it."""
        parser = self._ready.get(packed)
        if parser is None:
            body = zlib.decompress(packed)
            parser = build_from_crawler(self._parserimpl, self.crawler, body)
            self._ready.put(packed, parser, len(body))
        return parser

    async def _fetch(self, site: RobotHost, request: Request) -> Kept[bytes | Exception]:
        """Ask a host for its robots.txt; what became of it is kept, a failure for a short time."""
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
        """What the robots.txt of a host says to us; one that does not exist says nothing."""
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


LONGEST_LINE = 5_000
"""Characters of a line that are read; no URL that is fetched is as long."""

_FIELD = re.compile(
    r"(?P<agent>user[- ]?agent)|(?P<disallow>di(?:ss?all?ow|asllow|sallaw))|(?P<allow>allow)"
    r"|(?P<delay>crawl[- ]delay)|(?P<ends>request[- ]rate|visit[- ]time)",
    re.IGNORECASE,
)
_WORDS = {"allow": "Allow", "disallow": "Disallow", "delay": "Crawl-delay"}


def rules_for(robot: str, text: str) -> str:
    """A robots.txt with the rules for `robot` alone, in one group for everybody.

    Among groups that name the robot, the longest name is the most specific; all groups of that
    name count. An empty text is a file that forbids nothing.
    """
    chosen: dict[str, None] = {}  # a set in order, since the last of several delays holds
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
    """How specifically a line names a robot; -1 if it does not."""
    if agent == "*":
        return 0
    return len(product_token(agent)) if is_named(agent, robot) else -1


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Each line that matters for the groups, as a kind and a value.

    Misspellings and missing colons are understood as the parser understands them.
    """
    for whole in text.splitlines():
        line = whole[:LONGEST_LINE].partition("#")[0].strip()
        field = _FIELD.match(line)
        if field is None:
            continue
        rest = line[field.end() :]
        if rest and not rest[0].isspace() and rest[0] != ":":
            continue  # another word that begins in the same way
        rest = rest.lstrip()
        yield field.lastgroup or "", rest.removeprefix(":").strip()
