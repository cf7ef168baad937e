"""Pages whose anchors name both languages, and the hyperlinks on them that belong together.

Resnik asked a search engine for such pages, Almeida et al. paired what they link to: one link
that names the one language, one that names the other, both to files of the same kind. Pages about
languages name them too; those of dictionaries are left out, as there.
"""

from itertools import product
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.url_key import url_key

MOST_LINKS = 50
"""Links for a language that are looked at; a page with more of them is no language choice."""
_DICTIONARY = "dictionary"


def named_links(document: Document, code: str) -> list[Link]:
    """The links of a page that name a language, and no other."""
    alone = frozenset((code,))
    return [link for link in document.links if languages_of_link(link) == alone][:MOST_LINKS]


def paired_links(document: Document, pair: LanguagePair) -> list[tuple[str, str]]:
    """The URLs of links that name the two languages, each with the one it fits best.

    Two links belong together if they lead to files of the same kind on one site. Of several, those
    go first whose addresses are equal once the languages are out of them; each link is used once.
    """
    if _DICTIONARY in document.title.lower():
        return []
    tokens = pair.first.tokens | pair.second.tokens
    sides = [named_links(document, code) for code in pair.codes]
    keys = {link.url: url_key(link.url, tokens).key for side in sides for link in side}
    candidates = [
        (one.url, other.url)
        for one, other in product(*sides)
        if one.url != other.url
        and site_of(host_of(one.url)) == site_of(host_of(other.url))
        and _ending(one.url) == _ending(other.url)
    ]
    candidates.sort(key=lambda urls: keys[urls[0]] != keys[urls[1]])
    found: list[tuple[str, str]] = []
    used: set[str] = set()
    for urls in candidates:
        if used.isdisjoint(urls):
            used.update(urls)
            found.append(urls)
    return found


def _ending(url: str) -> str:
    """The ending of the file that an address names, "" where it names none."""
    try:
        return PurePosixPath(urlsplit(url).path).suffix.lower()
    except ValueError:
        return ""
