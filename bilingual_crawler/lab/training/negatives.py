"""Pairs of URLs that are not translations, made as in SBFC (section 3.1).

Each sampler takes a pair and its site, and returns another pair, or None if the site has nothing to
offer. A site is one registered domain: its negatives look like what a crawler meets, the other
links of the same pages, and distinguishing two sites would teach nothing.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple
from zlib import crc32

from bilingual_crawler.lab.labels import LabelledPair, registered_domain
from bilingual_crawler.languages import languages_of_token

HEAD = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//[^/?#]*", re.IGNORECASE)
TOKEN = re.compile(r"[^\W_]+|[\W_]")
PAGE_WORDS = frozenset(("html", "htm", "php", "asp", "aspx", "jsp", "index"))
"""Words that a URL may have or lack without being that of another page."""
MOST_COMPARED = 200
TRIES = 5


class DomainUrls:
    """The URLs of a domain by language, and which of them are translations of each other."""

    def __init__(self, pairs: Iterable[LabelledPair], others: Iterable[str] = ()) -> None:
        self.pairs = [pair for pair in pairs if pair.parallel]
        self._group: dict[str, str] = {}
        urls: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for pair in self.pairs:
            urls[pair.first_language][pair.first] = None
            urls[pair.second_language][pair.second] = None
            self._join(pair.first, pair.second)
        self.urls = {language: list(found) for language, found in urls.items()}
        self.others = [url for url in others if url not in self._group]
        self._tokens: dict[str, frozenset[str]] = {}
        self._index: dict[str, dict[str, list[str]]] = {}
        self._sections: dict[str, dict[str, list[str]]] = {}

    def parallel(self, first: str, second: str) -> bool:
        """Return True if two URLs are translations, directly or through a third one."""
        return first == second or (first in self._group and self._root(first) == self._root(second))

    def nearest(self, url: str, language: str, avoid: str) -> str | None:
        """Return the URL in a language that is most similar to `url` (Jaccard of tokens)."""
        wanted = self._tokens_of(url)
        best, best_score = None, -1.0
        for candidate in self._candidates(url, language):
            if candidate == url or self.parallel(candidate, avoid) or self.parallel(candidate, url):
                continue
            found = self._tokens_of(candidate)
            score = len(wanted & found) / (len(wanted | found) or 1)
            if score > best_score:
                best, best_score = candidate, score
        return best

    def siblings(self, url: str, language: str) -> list[str]:
        """Return the URLs in a language that are in the same directory as `url`, which is one."""
        sections = self._sections.get(language)
        if sections is None:
            sections = defaultdict(list)
            for each in self.urls.get(language, ()):
                sections[_directory(each)].append(each)
            self._sections[language] = sections
        return sections.get(_directory(url), [])

    def _candidates(self, url: str, language: str) -> list[str]:
        """Return URLs that share rare tokens first; comparing all would be quadratic."""
        every = self.urls.get(language, [])
        if len(every) <= MOST_COMPARED:
            return every
        index = self._index.get(language)
        if index is None:
            index = defaultdict(list)
            for each in every:
                for token in self._tokens_of(each):
                    index[token].append(each)
            self._index[language] = index
        found: dict[str, None] = {}
        for token in sorted(self._tokens_of(url), key=lambda token: len(index.get(token, ()))):
            found.update(dict.fromkeys(index.get(token, ())[: MOST_COMPARED - len(found)]))
            if len(found) >= MOST_COMPARED:
                break
        return list(found)

    def _tokens_of(self, url: str) -> frozenset[str]:
        if url not in self._tokens:
            self._tokens[url] = frozenset(re.findall(r"[^\W_]+", tail(url).lower()))
        return self._tokens[url]

    def _root(self, url: str) -> str:
        while self._group.get(url, url) != url:
            url = self._group[url]
        return url

    def _join(self, first: str, second: str) -> None:
        self._group.setdefault(first, first)
        self._group.setdefault(second, second)
        self._group[self._root(second)] = self._root(first)


def _directory(url: str) -> str:
    return url.partition("?")[0].rstrip("/").rpartition("/")[0]


Sampler = Callable[[LabelledPair, DomainUrls, random.Random], LabelledPair | None]


def tail(url: str) -> str:
    """Return what follows scheme, authority and port: the part that may be changed."""
    head = HEAD.match(url)
    return url[head.end() :] if head else url


def random_match(pair: LabelledPair, site: DomainUrls, rng: random.Random) -> LabelledPair | None:
    """Replace the second URL by any other in its language."""
    pool = site.urls.get(pair.second_language, ())
    for _ in range(TRIES if pool else 0):
        other = rng.choice(pool)
        if not site.parallel(pair.first, other) and other != pair.second:
            return pair._replace(second=other, parallel=False)
    return None


def jaccard_match(pair: LabelledPair, site: DomainUrls, rng: random.Random) -> LabelledPair | None:  # noqa: ARG001 - a `Sampler`
    """Replace the second URL by the most similar other one in its language."""
    other = site.nearest(pair.second, pair.second_language, pair.first)
    return None if other is None else pair._replace(second=other, parallel=False)


def sibling_match(pair: LabelledPair, site: DomainUrls, rng: random.Random) -> LabelledPair | None:
    """Replace the second URL by another one of its directory: another article of its section."""
    pool = site.siblings(pair.second, pair.second_language)
    for _ in range(TRIES if len(pool) > 1 else 0):
        other = rng.choice(pool)
        if not site.parallel(pair.first, other):
            return pair._replace(second=other, parallel=False)
    return None


def token_removal(pair: LabelledPair, site: DomainUrls, rng: random.Random) -> LabelledPair | None:
    """Remove random words from both URLs, never from scheme, authority or port.

    They must then disagree in what they agreed on, or they would still be a pair.
    """
    for _ in range(TRIES):
        first, second = _without_some(pair.first, rng), _without_some(pair.second, rng)
        if _disagree(pair, first, second) and not site.parallel(first, second):
            return pair._replace(first=first, second=second, parallel=False)
    return None


def _without_some(url: str, rng: random.Random) -> str:
    end = len(url) - len(tail(url))
    tokens = TOKEN.findall(url[end:])
    words = [place for place, token in enumerate(tokens) if token[0].isalnum()]
    gone = set(rng.sample(words, rng.randint(1, max(1, len(words) // 3)))) if words else set()
    return url[:end] + "".join(token for place, token in enumerate(tokens) if place not in gone)


def _disagree(pair: LabelledPair, first: str, second: str) -> bool:
    """Return True if one URL alone has lost a word that both had, or has lost words at all.

    Translated slugs share few words. If both have lost words of their own, or a code or an ending,
    what is left may well be the URLs of a page and its translation.
    """
    had, have = (_telling(pair.first), _telling(pair.second)), (_telling(first), _telling(second))
    lost = had[0] - have[0], had[1] - have[1]
    return bool(had[0] & had[1] & (lost[0] ^ lost[1])) or bool(lost[0]) != bool(lost[1])


def _telling(url: str) -> set[str]:
    """Return the words of a URL that name neither a language nor a kind of file."""
    words = re.findall(r"[^\W_]+", tail(url).lower())
    return {word for word in words if word not in PAGE_WORDS and not languages_of_token(word)}


def monolingual(pair: LabelledPair, rng: random.Random) -> LabelledPair:
    """Return the pair (u, u) or (v, v), which a sampler turns into a negative in one language."""
    if rng.random() < 1 / 2:
        return pair._replace(second=pair.first, second_language=pair.first_language)
    return pair._replace(first=pair.second, first_language=pair.second_language)


class Recipe(NamedTuple):
    """A sampler, whether it starts from one language, and how often it is used per pair."""

    sampler: Sampler
    alone: bool
    times: int


DEFAULT_MIX = (
    Recipe(random_match, alone=False, times=3),
    Recipe(random_match, alone=True, times=3),
    Recipe(jaccard_match, alone=False, times=1),
    Recipe(jaccard_match, alone=True, times=1),
    Recipe(token_removal, alone=False, times=1),
)


def synthetic_negatives(
    site: DomainUrls, *, mix: Iterable[Recipe] = DEFAULT_MIX, seed: int = 0
) -> Iterator[LabelledPair]:
    """Yield negatives for every pair of a site, by default in the mix that SBFC found best."""
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    seen: set[tuple[str, str]] = set()
    mix = tuple(mix)
    for pair in site.pairs:
        for sampler, alone, times in mix:
            for _ in range(times):
                made = sampler(monolingual(pair, rng) if alone else pair, site, rng)
                if made is not None and (made.first, made.second) not in seen:
                    seen.add((made.first, made.second))
                    yield made


def any_other_pages(site: DomainUrls, times: int, rng: random.Random) -> Iterator[LabelledPair]:
    """Yield a page of every pair with random other pages of the site, whatever their language."""
    every = [*dict.fromkeys(url for urls in site.urls.values() for url in urls), *site.others]
    for pair in site.pairs if times else ():
        for _ in range(times):
            page, other = rng.choice((pair.first, pair.second)), rng.choice(every)
            if not site.parallel(page, other):
                yield pair._replace(first=page, second=other, parallel=False)


def with_negatives(
    rows: Iterable[LabelledPair], *, seed: int = 0
) -> Iterator[tuple[LabelledPair, str]]:
    """Yield all rows and SBFC's negatives of their sites, each with its language pair (`eng-fra`).

    A negative in one language counts for the language pair of the pair it was made from, as in
    Table 2 of SBFC. Pairs whose languages are not known get no negatives.
    """
    sites: defaultdict[str, list[LabelledPair]] = defaultdict(list)
    for row in rows:
        sites[row.domain or registered_domain(row.first)].append(row)
    for domain in sorted(sites):
        site = DomainUrls(sites[domain])
        groups: defaultdict[str, list[LabelledPair]] = defaultdict(list)
        for row in sites[domain]:
            yield row, row.language_pair
            if row.parallel and row.language_pair:
                groups[row.language_pair].append(row)
        for languages, site.pairs in sorted(groups.items()):
            for made in synthetic_negatives(site, seed=crc32(f"{seed} {domain}".encode())):
                yield made, languages


def genuine_negatives(
    site: DomainUrls, links: Mapping[str, Iterable[str]], languages: Mapping[str, str]
) -> Iterator[LabelledPair]:
    """Yield what a crawler meets: a page of a gold pair with each page it links to (SBFC, 3.1).

    `languages` are those of the linked pages; links to other languages than the pair's are no
    candidates. A page counts only if one of its links is its translation: otherwise it is unknown
    whether the others are.
    """
    for pair in site.pairs:
        wanted = {pair.first_language, pair.second_language}
        for page, language in (
            (pair.first, pair.first_language),
            (pair.second, pair.second_language),
        ):
            found = [url for url in links.get(page, ()) if languages.get(url) in wanted]
            if not any(site.parallel(page, url) for url in found if url != page):
                continue
            for url in dict.fromkeys(found):
                if not site.parallel(page, url):
                    yield LabelledPair(
                        page, url, False, language, languages[url], pair.domain, pair.split
                    )
