"""Which language a URL announces by itself: the rule baseline of SBFC.

ISO 639 codes (and the other tokens of the language table) are compared with the parts of
the URL in the order in which they can be trusted: parameter values, directory names,
public suffix, subdomain. The classifiers are measured against this.
"""

from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

from bilingual_crawler.languages import languages_of_token
from bilingual_crawler.urls.hosts import split_host


@lru_cache(maxsize=1 << 16)
def announced_languages(url: str) -> frozenset[str]:
    """The ISO 639-3 codes that the most trusted token of a URL may mean; none is empty."""
    for part in _parts(url):
        if found := languages_of_token(part):
            return found
    return frozenset()


def _parts(url: str) -> Iterator[str]:
    try:
        split = urlsplit(url)
        host = split.hostname or ""
        query = parse_qsl(split.query, max_num_fields=50)
    except ValueError:
        return
    yield from (value.lower() for _, value in query)
    *directories, name = unquote(split.path).lower().strip("/").split("/")
    yield from directories
    yield name
    stem, dot, ending = name.rpartition(".")
    if dot:
        yield stem.rpartition(".")[2]
        yield stem.rpartition("_")[2]
        yield stem.rpartition("-")[2]
        yield ending
    labels = split_host(host)
    yield labels.suffix
    yield from labels.subdomain.split(".")
