"""The languages of one site as numbers, and what follows from how many there are.

Probabilities and counts are kept in vectors: a value for each language in its order, and one for
all languages that are not wanted, which comes last. `NEITHER` is its number, so that it is the last
of any vector. A crawl for whatever a site has begins with the languages that were named, and gets a
number for each one that the site shows.
"""

from functools import lru_cache

from bilingual_crawler.languages import LanguagePair, LanguageSet, ParallelLanguages

NEITHER = -1
PAIR = 3
"""The size of the vectors of two languages, which are the usual case and written out."""
MOST_NUMBERS, MOST_BY_LINKS = 30, 15
"""The most languages that a site can show; of these, the most by links that name one."""
UNWANTED = 0.2
"""The first guess that a page is in no wanted language."""

Vector = tuple[float, ...]
"""One value for each language, and the last for all others."""


class LanguageNumbers:
    """The wanted languages of a site, numbered."""

    def __init__(self, languages: ParallelLanguages) -> None:
        self._languages = languages
        self.codes: tuple[str, ...] = languages.codes
        self.is_pair = isinstance(languages, LanguagePair)
        self.is_open = isinstance(languages, LanguageSet) and languages.is_open
        self.start = _start(self.codes)
        """What is believed of a page of which nothing is known."""

    @property
    def size(self) -> int:
        """The length of a vector."""
        return len(self.codes) + 1

    def of(self, code: str | None) -> int:
        """Return the number of a language."""
        return self.codes.index(code) if code in self.codes else NEITHER

    def admit(self, code: str | None, most: int = MOST_NUMBERS) -> bool:
        """Give a language a number that the site has shown; return True if it is a new one."""
        if not self.is_open or code is None or code in self.codes or len(self.codes) >= most:
            return False
        if code not in self._languages:
            return False
        self.codes = (*self.codes, code)
        self.start = _start(self.codes)
        return True

    def side(self, language: int) -> int:
        """Return the place of a page's partner in a language; of two languages there is one."""
        return 0 if self.is_pair else language + 1

    def elsewhere(self, shares: Vector, language: int) -> float:
        """Return how likely a page is in a wanted language other than `language`."""
        if self.is_pair:
            return shares[1 - language]
        return max(0.0, sum(shares[:-1]) - shares[language])

    def opening(self, page: Vector, mate: Vector) -> tuple[float, float]:
        """Return the chance that two pages can be a pair, and the downloads to find out.

        The second download is saved where the first shows that it would be in vain. So the page
        whose language is less certain comes first. Of two languages, it is assumed which page is in
        which; of more, all ways are added up.
        """
        if self.is_pair:
            ways = ((page[side] * mate[1 - side], 1.0 + page[side]) for side in (0, 1))
            return max(ways, key=lambda way: way[0] / way[1])
        both = sum(
            share * self.elsewhere(mate, language)
            for language, share in enumerate(page[:-1])
            if share
        )
        return both, 1.0 + sum(page[:-1])

    def leaning(self, codes: frozenset[str], sure: float) -> Vector | None:
        """Return a first guess that a page is in one of these languages, with some doubt.

        A token that may mean a wanted language, among others, is taken to mean it. Where every
        language is wanted, one that the site has not shown says nothing.
        """
        if self.is_open and codes.isdisjoint(self.codes):
            return None
        return _leaning(codes, self.codes, sure)

    def is_foreign(self, codes: frozenset[str]) -> bool:
        """Return True if a page that announces these languages is in none that is wanted."""
        return bool(codes) and not self.is_open and codes.isdisjoint(self.codes)


def _start(codes: tuple[str, ...]) -> Vector:
    if not codes:
        return (1.0,)
    share = (1.0 - UNWANTED) / len(codes)
    return (*(share for _ in codes), UNWANTED)


@lru_cache(maxsize=1 << 10)
def _leaning(codes: frozenset[str], wanted: tuple[str, ...], sure: float) -> Vector:
    hits = [code in codes for code in wanted]
    hits.append(not any(hits))
    spread, rest = sum(hits), len(hits) - sum(hits)
    return tuple(sure / spread if hit else (1.0 - sure) / rest for hit in hits)


@lru_cache(maxsize=1 << 8)
def certain(language: int, size: int) -> Vector:
    """Return the vector of a page whose language is known."""
    at = range(size)[language]
    return tuple(float(each == at) for each in range(size))


def widened(shares: Vector, size: int) -> Vector:
    """Return a vector from before the site has shown its latest languages, in today's length."""
    missing = size - len(shares)
    return shares if missing <= 0 else (*shares[:-1], *(0.0 for _ in range(missing)), shares[-1])


def likeliest(shares: Vector) -> int:
    """Return the likeliest language of a vector."""
    at = max(range(len(shares)), key=shares.__getitem__)
    return NEITHER if at == len(shares) - 1 else at


def go_together(one: int, other: int) -> bool:
    """Return True if pages in these two languages can be a pair."""
    return one != other and NEITHER not in (one, other)
