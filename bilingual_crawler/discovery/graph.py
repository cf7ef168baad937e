"""The part of the web graph that discovery has seen: links from pages to other sites.

Only links that leave their site are edges, and one edge leads from a page to a site, however often
the page links there. The edges are in the crawl's journal, so that memory does not grow with them:
those since the last checkpoint are looked up in memory, all others on disk. They are the crawler's
own backlinks, which need no search engine: if a site turns out to be bilingual, every page that was
seen to link to it is a hub.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bilingual_crawler.discovery.words import link_words
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.store.journal import Journal, Statement
from bilingual_crawler.urls.hosts import host_of, site_of

MOST_LINKS = 500
"""The most sites that a page is taken to link to; more is a trap or a generated list."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS discovery_links (
    source TEXT NOT NULL, site TEXT NOT NULL, url TEXT NOT NULL, words TEXT NOT NULL,
    PRIMARY KEY (source, site)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS discovery_links_to ON discovery_links (site);
"""
INSERT = "INSERT OR REPLACE INTO discovery_links VALUES (?, ?, ?, ?)"
LINKS_OF = "SELECT url, site, words FROM discovery_links WHERE source = ?"
SOURCES_OF = "SELECT source FROM discovery_links WHERE site = ? LIMIT ?"


class OutLink(NamedTuple):
    """A link to another site, with the words around it."""

    url: str
    site: str
    words: tuple[str, ...]


def out_links(document: Document) -> list[OutLink]:
    """Return the links of a page to other sites: one per site, the one with the longest anchor."""
    own = site_of(host_of(document.url))
    best: dict[str, Link] = {}
    for link in document.links:
        site = site_of(host_of(link.url))
        if not site or site == own:
            continue
        known = best.get(site)
        if known is None and len(best) == MOST_LINKS:
            continue
        if known is None or len(link.anchor) > len(known.anchor):
            best[site] = link
    return [
        OutLink(link.url, site, link_words(link, document.language)) for site, link in best.items()
    ]


class LinkGraph:
    """The edges of every page that was read; part of the crawl's checkpoints."""

    def __init__(self, journal: Journal) -> None:
        journal.define(SCHEMA)
        uri = f"{journal.path.absolute().as_uri()}?mode=ro"
        self._disk = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self._fresh: dict[str, Sequence[OutLink]] = {}
        self._on_its_way: dict[str, Sequence[OutLink]] = {}
        journal.attach(self)

    def add(self, source: str, links: Sequence[OutLink]) -> None:
        """Record where a page links to."""
        if links:
            self._fresh[source] = links

    def links_of(self, source: str) -> list[OutLink]:
        """Return the links of a page; none if it was not read."""
        for recent in (self._fresh, self._on_its_way):
            if source in recent:
                return list(recent[source])
        rows = self._disk.execute(LINKS_OF, (source,))
        return [OutLink(url, site, tuple(words.split())) for url, site, words in rows]

    def sources_of(self, site: str, most: int) -> list[str]:
        """Return pages that link to a site, `most` at most."""
        found: dict[str, None] = {}
        for recent in (self._fresh, self._on_its_way):
            for source, links in recent.items():
                if any(link.site == site for link in links):
                    found[source] = None
        for (source,) in self._disk.execute(SOURCES_OF, (site, most)):
            found[source] = None
        return list(found)[:most]

    def changes(self) -> Iterable[Statement]:
        """Return edges for the journal; those it was given last time are on disk by now."""
        self._on_its_way, self._fresh = self._fresh, {}
        rows = [
            (source, link.site, link.url, " ".join(link.words))
            for source, links in self._on_its_way.items()
            for link in links
        ]
        return [(INSERT, rows)]

    def close(self) -> None:
        """Close the connection to the journal's file."""
        self._disk.close()
