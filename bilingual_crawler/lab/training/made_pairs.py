"""Made pairs: what a site would look like if it put its languages into its URLs.

True pairs come from few sites, each with its own habits. Language codes put into URLs of
thousands of other sites show all the usual ways on all kinds of paths, together with what
stands beside them on a page: other pages in either language, next pages, feeds.
"""

import random
import re
from collections.abc import Mapping, Sequence

from bilingual_crawler.lab.training.augment import codes_of, with_code
from bilingual_crawler.lab.training.negatives import tail
from bilingual_crawler.languages import find_language

LANGUAGES = [
    "eng",
    "spa",
    "fra",
    "deu",
    "ita",
    "por",
    "rus",
    "pol",
    "nld",
    "cat",
    "eus",
    "fin",
    "swe",
    "dan",
    "ces",
    "hun",
    "ell",
    "tur",
    "jpn",
    "zho",
    "ara",
    "isl",
    "mlt",
    "glg",
    "slv",
    "hrv",
    "ron",
    "bul",
    "ukr",
    "est",
    "lav",
    "lit",
    "gle",
    "cym",
    "nor",
]
NEAR = ("feed", "comments", "page/2", "print", "2", "edit", "amp", "rss")
LONGEST = 300
NUMBERED = ("lang", "l", "clang", "langid", "lang_id", "language", "idlang", "lng", "sprache")
_WORD = re.compile(r"[^\W\d_]{3,}")
_KEPT = frozenset(("html", "htm", "php", "asp", "aspx", "jsp", "index", "www"))
_LAST_NUMBER = re.compile(r"([0-9]{1,12})(?=[^0-9]*$)")

Pair = tuple[str, str]


def made_pairs(
    sites: Mapping[str, Sequence[str]], count: int, rng: random.Random
) -> tuple[list[Pair], list[Pair]]:
    """About `count` pairs and as many that are none."""
    usable = {domain: [url for url in urls if len(url) < LONGEST] for domain, urls in sites.items()}
    domains = sorted(domain for domain, urls in usable.items() if len(set(urls)) > 1)
    codes = {language: codes_of(find_language(language)) for language in LANGUAGES}
    pairs: list[Pair] = []
    others: list[Pair] = []
    for _ in range(count if domains else 0):
        page, other = rng.sample(usable[rng.choice(domains)], 2)
        code, second = _two_codes(codes, rng)
        place = rng.random()
        alone = rng.random() < 0.3  # noqa: PLR2004 - sites whose main language has no code
        one = _coded(page, code, place)
        two = page if alone else _coded(page, second, place)
        pairs.append(_either_way(one, two, rng))
        wrong = _wrong((page, other), (code, second), place, rng, alone=alone)
        if wrong[0] != wrong[1]:
            others.append(_either_way(*wrong, rng))
    return pairs, others


def translated_pairs(
    sites: Mapping[str, Sequence[str]], count: int, rng: random.Random
) -> tuple[list[Pair], list[Pair]]:
    """Pairs whose words were replaced, as if translated, while something is left to see.

    What is left is what tells on real sites too: a number of three digits or more, a
    name, the last part of the path. The others are the same with that changed.
    """
    usable = {domain: [url for url in urls if len(url) < LONGEST] for domain, urls in sites.items()}
    domains = sorted(domain for domain, urls in usable.items() if len(set(urls)) > 1)
    words = sorted({word for urls in usable.values() for url in urls for word in _words(url)})
    codes = {language: codes_of(find_language(language)) for language in LANGUAGES}
    pairs: list[Pair] = []
    others: list[Pair] = []
    for _ in range(count if domains and words else 0):
        page, other = rng.sample(usable[rng.choice(domains)], 2)
        one, two = page, _as_if_translated(page, words, rng)
        if not _telling(one) & _telling(two):
            continue
        three = _as_if_translated(other, words, rng)
        if rng.random() < 0.8:  # noqa: PLR2004 - most sites name the language as well
            code, second = _two_codes(codes, rng)
            place = rng.random()
            one, two, three = (
                one if rng.random() < 0.3 else _coded(one, code, place),  # noqa: PLR2004
                _coded(two, second, place),
                _coded(three, second, place),
            )
        pairs.append(_either_way(one, two, rng))
        others.append(_either_way(one, three, rng))
        if (near := _LAST_NUMBER.sub(lambda found: _other_number(found[1], rng), two)) != two:
            others.append(_either_way(one, near, rng))
    return pairs, others


def numbered_pairs(
    sites: Mapping[str, Sequence[str]], count: int, rng: random.Random
) -> tuple[list[Pair], list[Pair]]:
    """Pages whose language is a number in a parameter, beside pages whose number is their own."""
    every = sorted({url for urls in sites.values() for url in urls if len(url) < LONGEST})
    pairs: list[Pair] = []
    others: list[Pair] = []
    for _ in range(count if every else 0):
        page = rng.choice(every)
        joint = "&" if "?" in page else "?"
        first, second = rng.sample(range(10), 2)
        identity = f"id={rng.randrange(1, 10 ** rng.randint(1, 5))}"
        name, page = rng.choice(NUMBERED), f"{page}{joint}{identity}"
        pairs.append((f"{page}&{name}={first}", f"{page}&{name}={second}"))
        wrong = _LAST_NUMBER.sub(lambda found: _other_number(found[1], rng), page)
        others.append((f"{page}&{name}={first}", f"{wrong}&{name}={rng.choice((first, second))}"))
    return pairs, others


def _words(url: str) -> list[str]:
    return [word for word in _WORD.findall(tail(url).lower()) if word not in _KEPT]


def _telling(url: str) -> set[str]:
    """What is rare enough to tell a page from its neighbours."""
    return set(re.findall(r"[0-9]{3,}|[^\W\d_]{6,}", tail(url).lower()))


def _replaced(url: str, words: Sequence[str], share: float, rng: random.Random) -> str:
    end = len(url) - len(tail(url))

    def other(found: re.Match[str]) -> str:
        keep = found[0].lower() in _KEPT or rng.random() >= share
        return found[0] if keep else rng.choice(words)

    return url[:end] + _WORD.sub(other, url[end:])


def _as_if_translated(url: str, words: Sequence[str], rng: random.Random) -> str:
    """Some words replaced, or all before the last part of the path, or all around a number."""
    if rng.random() < 1 / 2:
        return _replaced(url, words, rng.choice((0.3, 0.5, 0.7)), rng)
    if re.search(r"[0-9]{3}", tail(url)):
        return _replaced(url, words, 1.0, rng)
    front, slash, last = url.rstrip("/").rpartition("/")
    return _replaced(front + slash, words, 1.0, rng) + last


def _other_number(number: str, rng: random.Random) -> str:
    return str(int(number) + rng.choice((1, 2, 3, 7, 10, 31)))


def _two_codes(codes: Mapping[str, Sequence[str]], rng: random.Random) -> tuple[str, str]:
    """Mostly the short codes of two languages, sometimes any way to write them."""
    first, second = rng.sample(LANGUAGES, 2)
    if rng.random() < 0.35:  # noqa: PLR2004
        return rng.choice(codes[first]), rng.choice(codes[second])
    return codes[first][1], codes[second][1]


def _coded(url: str, code: str, place: float) -> str:
    return with_code(url, code, random.Random(place))  # noqa: S311 - the same place twice


def _wrong(pages: Pair, codes: Pair, place: float, rng: random.Random, *, alone: bool) -> Pair:
    """A neighbour of the pair: another page in either language, or almost the same page."""
    page, other = pages
    code, second = codes
    kind = rng.random()
    if kind < 0.45:  # noqa: PLR2004 - the shares of four kinds
        return _coded(page, code, place), other if alone else _coded(other, second, place)
    if kind < 0.7:  # noqa: PLR2004
        return _coded(page, code, place), _coded(other, code, place)
    if kind < 0.8:  # noqa: PLR2004
        return page, other
    near = _near(page, rng)
    if rng.random() < 1 / 3:
        return page, near
    return _coded(page, code, place), _coded(near, rng.choice((code, second)), place)


def _near(url: str, rng: random.Random) -> str:
    """The next number, or something below the page."""
    step = rng.randint(1, 9)
    near = _LAST_NUMBER.sub(lambda found: str(int(found[1]) + step), url)
    return near if near != url else f"{url.rstrip('/')}/{rng.choice(NEAR)}"


def _either_way(one: str, two: str, rng: random.Random) -> Pair:
    return (one, two) if rng.random() < 1 / 2 else (two, one)
