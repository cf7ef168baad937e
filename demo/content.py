"""The expected results on the sample site: what a Spanish-Basque crawl must find, keep and leave.

All functions take the URL of the running site ("http://127.0.0.1:8000/") and, where it matters,
the number of generated article pairs. They use the same tables as the site itself;
`tests/demo/test_site.py` checks them against what the server really answers.
"""

from collections.abc import Iterable, Iterator
from urllib.parse import urljoin, urlsplit

from demo.site import articles, endless
from demo.site import pages as table
from demo.site.answers import normalise

BEHIND_ENGLISH = "/es/peregrinos"  # linked only from an English page
BEHIND_NOINDEX = ("/rutas/hayedo_es.html", "/rutas/cascada_es.html", endless.MAZE)
_WITHHELD = ("/es/poemas", "/eu/cuentos")


def expected_pairs(base_url: str, pages: int = 0) -> set[tuple[str, str]]:
    """Return the pairs (Spanish URL, Basque URL) that URL keys or mutual alternates prove."""
    paths = [(topic.paths["es"], topic.paths["eu"]) for topic in table.PAIRED]
    paths += [
        (path("es", number), path("eu", number))
        for path, end in _generated(pages)
        for number in range(end)
    ]
    return {(urljoin(base_url, es), urljoin(base_url, eu)) for es, eu in paths}


def optional_pairs(base_url: str) -> set[tuple[str, str]]:
    """Return true pairs that only one side declares; any other pair is wrong."""
    return {
        (urljoin(base_url, topic.paths["es"]), urljoin(base_url, topic.paths["eu"]))
        for topic in table.ONE_SIDED
    }


def storable_pages(base_url: str, pages: int = 0) -> set[frozenset[str]]:
    """Return the Spanish and Basque pages to store: exactly one URL of each group.

    A group is a page with its copies and near-copies. The endless parts are listed for the first
    hundred links; `original` knows all of their addresses.
    """
    groups = [{path} for path in _storable_paths() if path not in table.NEAR_COPIES]
    for group in groups:
        group |= {path for path, copy in table.COPIES.items() if copy.original in group}
        group |= {path for path, near in table.NEAR_COPIES.items() if near in group}
    groups += [set(part) for part in endless.copies()]
    groups += [
        {path(language, number)}
        for path, end in _generated(pages)
        for number in range(end)
        for language in articles.LANGUAGES
    ]
    return {frozenset(_absolute(base_url, group)) for group in groups}


def original(url: str) -> str:
    """Return the URL of the page that `url` shows, whether a copy, a redirect or a trap."""
    path = urlsplit(url)
    target = f"{path.path}?{path.query}" if path.query else path.path
    if page := endless.find(target):
        first = {"buzon": endless.SESSION, "calendario": endless.CALENDAR}
        return urljoin(url, first.get(page.topic, endless.MAZE))
    target = normalise(target)
    target = table.REDIRECTS.get(target) or table.REFRESHES.get(target) or target
    if copy := table.COPIES.get(target):
        target = copy.original
    return urljoin(url, table.NEAR_COPIES.get(target, target))


def forbidden_urls(base_url: str) -> set[str]:
    """Return URLs that must not be requested: disallowed, or linked only from a nofollow page."""
    topics = table.ROBOTS + table.NOFOLLOW
    paths = [path for topic in topics for path in topic.paths.values()]
    return set(_absolute(base_url, [*paths, "/__log__"]))


def withheld_urls(base_url: str) -> set[str]:
    """Return URLs to request but never store: opted out, no page, or in neither language."""
    english = [topic.paths["en"] for topic in table.TOPICS if "en" in topic.paths]
    noindex = [path for topic in table.NOINDEX for path in topic.paths.values()]
    others = (*table.REDIRECTS, *table.REFRESHES, table.MISSING, table.PDF, table.PICTURE)
    return set(_absolute(base_url, [*english, *noindex, *others, *_WITHHELD]))


def _storable_paths() -> Iterator[str]:
    for topic in table.PAIRED + table.ONE_SIDED + table.SINGLE + table.RESERVED:
        for language, path in topic.paths.items():
            if language != "en" and path not in _WITHHELD:
                yield path


def _generated(pages: int) -> Iterator[tuple[articles.PathMaker, int]]:
    yield articles.article_path, pages
    yield articles.index_path, articles.index_pages(pages)


def _absolute(base_url: str, paths: Iterable[str]) -> Iterator[str]:
    return (urljoin(base_url, path) for path in paths)
