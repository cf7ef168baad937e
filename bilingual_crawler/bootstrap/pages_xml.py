"""External links from the text of articles, for dumps without the table of external links."""

import re
from collections.abc import Collection, Iterator
from typing import Any, Protocol

from lxml import etree

_URL = re.compile(r"https?://(?:(?!'')[^\s\[\]<>\"{}|])+")
_TRAILING = ".,;:!?)"
MOST_LINKS = 500
"""Of one article."""


def links_in_text(wikitext: str) -> list[str]:
    """The web addresses in the source of an article, each once."""
    found = (match.rstrip(_TRAILING) for match in _URL.findall(wikitext))
    return list(dict.fromkeys(found))[:MOST_LINKS]


class Readable(Protocol):
    """Bytes to be read."""

    def read(self, size: int = -1, /) -> bytes:
        """So many bytes, if there are so many left."""


def article_links(stream: Readable, titles: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Title and links of those articles that are wanted, as the file has them.

    Entities are not expanded and nothing is loaded from elsewhere. What was read is let go of, so
    that a file of any size takes the memory of its longest article.
    """
    context = etree.iterparse(
        stream, events=("end",), tag="{*}page", resolve_entities=False, no_network=True,
        load_dtd=False, huge_tree=True,
    )  # fmt: skip
    page: Any
    for _, page in context:
        title = page.findtext("{*}title") or ""
        if page.findtext("{*}ns") == "0" and title in titles:
            yield title, links_in_text(page.findtext("{*}revision/{*}text") or "")
        page.clear()
        while (before := page.getprevious()) is not None:
            page.getparent().remove(before)
