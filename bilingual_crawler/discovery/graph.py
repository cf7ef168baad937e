"""The part of the web graph that discovery has seen: links from pages to other sites, in words.

Only links that leave their site are edges, and one edge leads from a page to a site, however often
the page links there. The edges are in the crawl's journal, so that memory does not grow with them:
those since the last checkpoint are looked up in memory, all others on disk. They are the crawler's
own backlinks, which need no search engine: if a site turns out to be bilingual, every page that was
seen to link to it is a hub.

The words around a link are the features of discovery's classifiers, in Barbosa's four contexts: the
URL without its host, the host, the anchor and the text around it. A word belongs to its context
("anchor:hotel" is not "url:hotel"), function words are left out and the others stemmed. Words of a
page are stemmed in the language of the page; addresses as English, because most of them are, and
because one address must give the same words wherever it is linked from. Of the function words only
those of three letters and more are listed, because shorter ones are left out everywhere. A language
without a list loses little: Naive Bayes finds by itself that a word occurs beside relevant and
irrelevant links alike.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import find_language
from bilingual_crawler.store.journal import Journal, Statement
from bilingual_crawler.urls.hosts import host_of, site_of

if TYPE_CHECKING:
    import snowballstemmer

_LISTS = {
    "eng": "and are but for from has have her his its not our the their this that was were will"
    " with you your all any can more here click",
    "spa": "con del las los más para pero por que son sus una uno este esta como todo sobre aquí",
    "fra": "aux avec ces dans des elle est les leur mais nos notre nous par pas plus pour que qui"
    " son sur une vos votre vous ici",
    "deu": "auch auf aus bei das dem den der des die ein eine einen einer für hier ihr ihre ist"
    " mit nach nicht oder sich sie sind und uns von vor wie wir zum zur",
    "por": "com das dos mais mas não nas nos para pela pelo por que são seu sua uma aqui",
    "ita": "che con dei del della delle gli nel nella non per più sono sul una qui",
    "cat": "amb als aquí dels del els les més per que són una",
    "eus": "eta bat ere dago dira egin hau hemen izan ez edo",
    "nld": "aan dat een het hier met niet ook van voor zijn",
    "pol": "dla jest nie oraz się tym tutaj",
    "swe": "att den det ett för här inte med och som till",
}

STOP_WORDS = frozenset(word for words in _LISTS.values() for word in words.split())
WEB_WORDS = frozenset({"www", "http", "https", "html", "htm", "php", "asp", "aspx", "jsp", "index"})
"""Parts of addresses that say how a server works, not what a page is about."""


MOST_WORDS = 20
"""The most words of one context: a hostile page may have any number."""
LONGEST_WORD = 30
LONGEST_TEXT = 1_000
ENGLISH = "eng"

_WORD = re.compile(r"[^\W\d_]+")

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


def link_words(link: Link, language: str | None = None) -> tuple[str, ...]:
    """Return the words of a link on a page in `language`, each with its context."""
    anchor = f"{link.anchor} {link.image_alt}"
    return (
        *address_words(link.url),
        *_tagged("anchor", _words(anchor, language)),
        *_tagged("around", _words(link.context, language)),
    )


@lru_cache(maxsize=1 << 12)
def address_words(url: str) -> tuple[str, ...]:
    """Return the words of an address: all that is known about a page that a provider names."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ()
    rest = unquote(f"{parts.path} {parts.query}")
    names = (name for name in _WORD.findall(host) if name not in WEB_WORDS)
    return (
        *_tagged("host", names),
        *_tagged("url", (each for each in _words(rest, ENGLISH) if each not in WEB_WORDS)),
    )


def _tagged(context: str, words: Iterable[str]) -> Iterator[str]:
    for number, word in enumerate(dict.fromkeys(words)):
        if number == MOST_WORDS:
            return
        yield f"{context}:{word[:LONGEST_WORD]}"


def _words(text: str, language: str | None) -> Iterator[str]:
    for word in _WORD.findall(text[:LONGEST_TEXT].lower()):
        if len(word) > 2 and word not in STOP_WORDS:  # noqa: PLR2004 - two letters say little
            yield _stem(word[:LONGEST_WORD], language or ENGLISH)


@lru_cache(maxsize=1 << 15)
def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    return word if stemmer is None else stemmer.stemWord(word)


@cache
def _stemmer(language: str) -> "snowballstemmer.stemmer | None":
    """Return Snowball's stemmer for a language; None if there is none."""
    try:
        name = find_language(language).name.lower()
    except ValueError:
        return None
    import snowballstemmer  # noqa: PLC0415 - 30 languages, which few crawls need

    return snowballstemmer.stemmer(name) if name in snowballstemmer.algorithms() else None


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
