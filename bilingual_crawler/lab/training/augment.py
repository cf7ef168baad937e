"""Synthetic training data: URLs with names hidden or codes added, and pairs made from them.

A language with one site teaches the site's name, and a language with few sites never shows its
code in a path. Real pairs come from few sites, and show few of the ways to write a language.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bilingual_crawler.lab.training.negatives import PAGE_WORDS, tail
from bilingual_crawler.languages import Language, find_language

NAMELESS = "x"
_PARTS = re.compile(r"([a-z][a-z0-9+.-]*://)?([^/?#]+)(.*)", re.IGNORECASE | re.DOTALL)
OWN_SUFFIXES = {
    "gal": "glg",
    "cat": "cat",
    "eus": "eus",
    "bzh": "bre",
    "cymru": "cym",
    "scot": "gla",
    "frl": "fry",
}
"""Top-level domains of languages without a country."""
SUFFIXES = {"gb": "uk"}
_SUFFIX = re.compile(r"[a-z][a-z0-9+.-]*://[^/:?#]*\.([a-z]{2,10})(?=[/:?#]|$)", re.IGNORECASE)
PAGES = ("", "", "", "about", "news", "index.php", "posts/", "contact")
FEWEST_OF_SUFFIX, LEAST_SHARE = 5, 0.4
PLACES_OF_CODES = {"first": 40, "directory": 22, "label": 12, "parameter": 10, "end": 16}
"""How often `code_anywhere` chooses each place, in percent."""
LONGEST_ENDING = 5
PARAMETERS = ("lang", "l", "language", "hl", "locale", "lng")


def without_name(url: str, domain: str) -> str:
    """Return a URL with the name of its registered domain hidden; subdomain and suffix stay."""
    name = domain.partition(".")[0]
    if not name:
        return url
    return re.sub(rf"(?<![^./@]){re.escape(name)}(?=\.)", NAMELESS, url, count=1)


def codes_of(language: Language) -> list[str]:
    """Return what sites call a language in a URL, the usual codes more than once."""
    short = language.iso639_1
    codes = [language.code]
    if short:
        codes += [short] * 4
        codes += [f"{short}-{country}" for country in language.countries[:2]]
        codes += [f"{short}_{country.upper()}" for country in language.countries[:1]]
    return [*codes, language.name.lower().partition(" ")[0]]


def with_code(url: str, code: str, rng: random.Random) -> str:
    """Return a URL as a site would write it for the language of a code."""
    parts = _PARTS.fullmatch(url)
    if not parts:
        return url
    scheme, host, rest = parts[1] or "", parts[2], parts[3]
    place = rng.random()
    if place < 0.7:  # noqa: PLR2004 - the shares of four places
        return f"{scheme}{host}/{code}{rest or '/'}"
    if place < 0.82:  # noqa: PLR2004
        return f"{scheme}{code.lower()}.{host.removeprefix('www.')}{rest}"
    if place < 0.92:  # noqa: PLR2004
        joint = "&" if "?" in rest else "?"
        return f"{scheme}{host}{rest}{joint}{rng.choice(PARAMETERS)}={code}"
    stem, dot, ending = rest.rpartition(".")
    if dot and ending.isalpha() and len(ending) <= 4:  # noqa: PLR2004
        return f"{scheme}{host}{stem}.{code}.{ending}"
    return f"{scheme}{host}{rest.rstrip('/')}/{code}"


def code_anywhere(url: str, code: str, rng: random.Random) -> str:
    """Return a URL with a code in any of the places where sites put one, not only the usual."""
    parts = _PARTS.fullmatch(url)
    if not parts:
        return url
    scheme, host, (path, mark, query) = parts[1] or "", parts[2], parts[3].partition("?")
    path = path or "/"
    (place,) = rng.choices(list(PLACES_OF_CODES), list(PLACES_OF_CODES.values()))
    if place == "label":
        host = f"{code.lower()}.{host.removeprefix('www.')}"
    elif place == "parameter":
        mark, query = "?", f"{query}{'&' if query else ''}{rng.choice(PARAMETERS)}={code}"
    elif place == "directory":
        segments = path.split("/")
        deeper = rng.randrange(1, max(2, len(segments)))
        path = "/".join([*segments[:deeper], code, *segments[deeper:]])
    elif place == "end":
        stem, dot, ending = path.rpartition(".")
        named = dot and ending.isalpha() and len(ending) <= LONGEST_ENDING
        path = (
            f"{stem}{rng.choice('._-')}{code}.{ending}" if named else f"{path.rstrip('/')}/{code}"
        )
    else:
        path = f"/{code}{path}"
    return f"{scheme}{host}{path}{mark}{query}"


def coded(language: str, pages: Sequence[str], count: int, rng: random.Random) -> Iterator[str]:
    """Yield URLs of a language, made from pages of others by adding its code."""
    codes = codes_of(find_language(language))
    for _ in range(count if pages else 0):
        yield with_code(rng.choice(pages), rng.choice(codes), rng)


def suffixes_by_language(
    rows: Iterable[tuple[str, str]], languages: Iterable[str]
) -> dict[str, list[str]]:
    """Return the top-level domains that indicate each language, from `url, language` rows.

    A country's domain counts for a language of the country if a good share of the data under it
    is in that language: Basque is spoken in Spain, but `.es` does not indicate it.
    """
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for url, language in rows:
        if suffix := _SUFFIX.match(url):
            seen[suffix[1].lower()][language] += 1
    found: dict[str, list[str]] = {}
    for language in languages:
        countries = [SUFFIXES.get(each, each) for each in find_language(language).countries[:3]]
        found[language] = [
            each
            for each in countries
            if seen[each].total() >= FEWEST_OF_SUFFIX
            and seen[each][language] >= LEAST_SHARE * seen[each].total()
        ] + [suffix for suffix, owner in OWN_SUFFIXES.items() if owner == language]
    return found


def home_pages(
    suffixes: Sequence[str], names: Sequence[str], count: int, rng: random.Random
) -> Iterator[str]:
    """Yield home pages with any name under the top-level domains of a language."""
    for suffix in suffixes:
        for _ in range(count if names else 0):
            www = rng.choice(("www.", ""))
            yield f"https://{www}{rng.choice(names)}.{suffix}/{rng.choice(PAGES)}"


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
_KEPT = PAGE_WORDS | {"www"}
_LAST_NUMBER = re.compile(r"([0-9]{1,12})(?=[^0-9]*$)")

Pair = tuple[str, str]


def made_pairs(
    sites: Mapping[str, Sequence[str]], count: int, rng: random.Random
) -> tuple[list[Pair], list[Pair]]:
    """Return about `count` pairs with codes added, and as many that are not pairs."""
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
    """Return pairs whose words were replaced as if translated, with something left in common.

    What is left is what helps on real sites too: a number of three digits or more, a name, the last
    part of the path. The negatives are the same with that part changed.
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
    """Return pairs whose language is a number in a parameter, and negatives of another page."""
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
    """Return what is rare enough to distinguish a page from its neighbours."""
    return set(re.findall(r"[0-9]{3,}|[^\W\d_]{6,}", tail(url).lower()))


def _replaced(url: str, words: Sequence[str], share: float, rng: random.Random) -> str:
    end = len(url) - len(tail(url))

    def other(found: re.Match[str]) -> str:
        keep = found[0].lower() in _KEPT or rng.random() >= share
        return found[0] if keep else rng.choice(words)

    return url[:end] + _WORD.sub(other, url[end:])


def _as_if_translated(url: str, words: Sequence[str], rng: random.Random) -> str:
    """Replace some words, or all before the last part of the path, or all around a number."""
    if rng.random() < 1 / 2:
        return _replaced(url, words, rng.choice((0.3, 0.5, 0.7)), rng)
    if re.search(r"[0-9]{3}", tail(url)):
        return _replaced(url, words, 1.0, rng)
    front, slash, last = url.rstrip("/").rpartition("/")
    return _replaced(front + slash, words, 1.0, rng) + last


def _other_number(number: str, rng: random.Random) -> str:
    return str(int(number) + rng.choice((1, 2, 3, 7, 10, 31)))


def _two_codes(codes: Mapping[str, Sequence[str]], rng: random.Random) -> tuple[str, str]:
    """Return the codes of two languages, mostly their short ones."""
    first, second = rng.sample(LANGUAGES, 2)
    if rng.random() < 0.35:  # noqa: PLR2004
        return rng.choice(codes[first]), rng.choice(codes[second])
    return codes[first][1], codes[second][1]


def _coded(url: str, code: str, place: float) -> str:
    return with_code(url, code, random.Random(place))  # noqa: S311 - the same place for both URLs


def _wrong(pages: Pair, codes: Pair, place: float, rng: random.Random, *, alone: bool) -> Pair:
    """Return a negative near the pair: another page in either language, or a similar page."""
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
    """Return the URL with a higher number, or of something below the page."""
    step = rng.randint(1, 9)
    near = _LAST_NUMBER.sub(lambda found: str(int(found[1]) + step), url)
    return near if near != url else f"{url.rstrip('/')}/{rng.choice(NEAR)}"


def _either_way(one: str, two: str, rng: random.Random) -> Pair:
    return (one, two) if rng.random() < 1 / 2 else (two, one)
