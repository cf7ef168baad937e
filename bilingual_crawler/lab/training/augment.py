"""More of the little there is: URLs without the name of their domain, URLs with a code put in.

A language with one site teaches the site's name, and a language with few sites never shows
its code in a path. Both are cheap to make up for.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

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
"""Top-level domains of a language without a country."""
SUFFIXES = {"gb": "uk"}
_SUFFIX = re.compile(r"[a-z][a-z0-9+.-]*://[^/:?#]*\.([a-z]{2,10})(?=[/:?#]|$)", re.IGNORECASE)
PAGES = ("", "", "", "about", "news", "index.php", "posts/", "contact")
FEWEST_OF_SUFFIX, LEAST_SHARE = 5, 0.4
PARAMETERS = ("lang", "l", "language", "hl", "locale", "lng")


def without_name(url: str, domain: str) -> str:
    """The URL with the name of its registered domain hidden; subdomain and suffix stay."""
    name = domain.partition(".")[0]
    if not name:
        return url
    return re.sub(rf"(?<![^./@]){re.escape(name)}(?=\.)", NAMELESS, url, count=1)


def codes_of(language: Language) -> list[str]:
    """What sites call a language in a URL, the usual ways more than once."""
    short = language.iso639_1
    codes = [language.code]
    if short:
        codes += [short] * 4
        codes += [f"{short}-{country}" for country in language.countries[:2]]
        codes += [f"{short}_{country.upper()}" for country in language.countries[:1]]
    return [*codes, language.name.lower().partition(" ")[0]]


def with_code(url: str, code: str, rng: random.Random) -> str:
    """The URL of the same page as a site would write it for the language of a code."""
    parts = _PARTS.fullmatch(url)
    if not parts:
        return url
    scheme, host, rest = parts[1] or "", parts[2], parts[3]
    place = rng.random()
    if place < 0.7:  # noqa: PLR2004 - the shares of four ways
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


def coded(language: str, pages: Sequence[str], count: int, rng: random.Random) -> Iterator[str]:
    """URLs of a language made from pages of others: the code is all that says so."""
    codes = codes_of(find_language(language))
    for _ in range(count if pages else 0):
        yield with_code(rng.choice(pages), rng.choice(codes), rng)


def suffixes_by_language(
    rows: Iterable[tuple[str, str]], languages: Iterable[str]
) -> dict[str, list[str]]:
    """The top-level domains that speak for a language, from `url, language` rows.

    A country's domain counts for a language of the country if it is what the data most
    often shows there: Basque is spoken in Spain, but `.es` does not say so.
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
    """Home pages with any name under the domains of a language: the domain is all they say."""
    for suffix in suffixes:
        for _ in range(count if names else 0):
            www = rng.choice(("www.", ""))
            yield f"https://{www}{rng.choice(names)}.{suffix}/{rng.choice(PAGES)}"
