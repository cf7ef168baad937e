"""What a page says about its use: directives for robots and reservations, in a page or its headers.

How a crawl finds and honours them is in `crawl/fetching/optouts.py`; a corpus that is built from
recorded pages honours the same marks.
"""

import re
from collections.abc import Collection, Iterable

from bilingual_crawler.outcomes import Outcome

ROBOT_NAME = "bilingual-crawler"
_BETWEEN_WORDS = re.compile(r"[^\w-]+")
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
_SEPARATORS = re.compile("[,;]")
_ROBOT = re.compile(r"\*|[a-z][\w-]*(?:/[\w.-]*)?")
"""The name of a robot; a date, which may have commas and colons too, does not match."""
_ALL_ROBOTS = frozenset({"*", "robots"})


def robots_directives(headers: Iterable[bytes], robot: str = ROBOT_NAME) -> frozenset[str]:
    """Return the directives of `X-Robots-Tag` headers for a robot, in lower case.

    Commas, semicolons and blanks separate directives. A name before a colon addresses that
    robot alone, up to the next name or the end of the header; directives without a name are
    for all robots.
    """
    directives: set[str] = set()
    for header in headers:
        concerns_us = True
        for item in _SEPARATORS.split(header.decode("latin-1").lower()):
            name, colon, rest = item.partition(":")
            name = name.strip()
            if name in _WITH_VALUE:
                rest = name
            elif colon and _ROBOT.fullmatch(name):
                concerns_us = name in _ALL_ROBOTS or is_named(name, robot)
            else:
                rest = item
            if concerns_us:
                directives.update(rest.split())
    return frozenset(directives)


def opt_out_of(robots: Collection[str], tdm: bool, honour: Collection[str]) -> str | None:
    """Return why a page may not be kept, as the code that is counted; None if it may."""
    if tdm and "tdm" in honour:
        return Outcome.TDM_RESERVED
    if "noai" in robots and "noai" in honour:
        return Outcome.NOAI
    if "noindex" in honour and ("noindex" in robots or "none" in robots):
        return Outcome.NOINDEX
    return None


def is_named(agent: str, robot: str) -> bool:
    """Return True if `agent`, as a site writes it, is a product token of `robot`.

    Case and version do not matter (RFC 9309, section 2.2.1): `Foobot/2.1` names `foobot`, and
    the robot that calls itself `Mozilla/5.0 (compatible; Foobot/1.0)`.
    """
    token = product_token(agent)
    return bool(token) and _words(token) in _words(robot)


def product_token(agent: str) -> str:
    """Return the name of an agent without version, wildcards or anything else after it."""
    return agent.partition("/")[0].replace("*", "").strip().lower()


def _words(name: str) -> str:
    """Return the words of a name between blanks, so that `in` finds whole words."""
    return f" {_BETWEEN_WORDS.sub(' ', name.lower()).strip()} "
