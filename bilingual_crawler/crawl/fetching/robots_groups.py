"""The part of a robots.txt that speaks to one robot.

A file names its robots in groups, and most groups are for others: parsing them all lets a file
of 200 KB take a gigabyte. So the lines that concern us are picked out first, as RFC 9309 has it:
the rules of all groups that name our product token, or else those for everybody ("*").
"""

import re
from collections.abc import Iterator

from bilingual_crawler.crawl.fetching.identity import is_named, product_token

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
