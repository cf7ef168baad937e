"""Generate URLs of every language whose words are known: words in the usual places of a URL.

    python -m tools.synthetic_urls --phrases phrases.tsv.gz --out made.tsv.gz

The words are the most frequent ones in wordfreq and the phrases that `tools.phrases` collects;
anyascii spells them in ASCII, as sites do. `pip install wordfreq anyascii` into any folder on the
path. No real URL is read, so that nothing of a site that is measured on can get in. The result is a
table `url, lang` for `scrapy train url2lang --extra`.
"""

import argparse
import gzip
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from bilingual_crawler.languages import UnknownLanguageError, find_language

WORD = re.compile(r"[^\s\d!-/:-@\[-`{-~«»“”„…\u2013\u2014·]{2,}(?:['\u2019][^\W\d_]+)?")
CODES = {"sh": "hrv", "fil": "tgl", "nb": "nor"}
FREQUENT, TOLD, LONGEST_SLUG = 8_000, 12_000, 220
FEWEST = 20
DOMAINS = {"gb": "uk"}
LATINISED = {"rus": 0.45, "ukr": 0.5, "bul": 0.5, "mkd": 0.5, "srp": 0.6, "ell": 0.5, "kat": 0.4}
LATINISED |= {"hye": 0.4, "bel": 0.5, "fas": 0.1, "hin": 0.3, "mon": 0.5, "kaz": 0.5, "kir": 0.5}
RARELY, STRIPPED = 0.04, 0.75
COMMON = ("com", "com", "com", "org", "net", "info", "eu", "io")
SECTIONS = ("news", "blog", "category", "article", "wiki", "tag", "p", "node", "post")
ENDINGS = ("", "", "/", "/", ".html", ".php", ".htm")


def language_of(tag: str) -> str | None:
    """Return the ISO 639-3 code of a locale, or None."""
    short = tag.partition("_")[0].partition("@")[0]
    try:
        return find_language(CODES.get(short, short)).code
    except UnknownLanguageError:
        return None


def phrases(path: Path, most: int, rng: random.Random) -> dict[str, list[list[str]]]:
    """Return phrases by language, as lists of words, from a table of `tools.phrases`."""
    found: defaultdict[str, list[list[str]]] = defaultdict(list)
    count: Counter[str] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            language, english, text = line.rstrip("\n").split("\t")
            for code, words in ((language, WORD.findall(text)), ("eng", WORD.findall(english))):
                count[code] += 1
                if len(found[code]) < most:
                    found[code].append(words)
                elif (place := rng.randrange(count[code])) < most:
                    found[code][place] = words
    return {code: [words for words in each if words] for code, each in found.items()}


def frequent() -> dict[str, list[str]]:
    """Return the most frequent words by language, most frequent first."""
    import wordfreq  # noqa: PLC0415 - only this tool has it

    found = {}
    for tag in wordfreq.available_languages():
        if language := language_of(tag):
            words = wordfreq.top_n_list(tag, FREQUENT)
            found[language] = [word for word in words if WORD.fullmatch(word)]
    return found


class Maker:
    """Makes URLs of a language from its words and its top-level domains."""

    def __init__(self, phrases: dict[str, list[list[str]]], rng: random.Random) -> None:
        self.phrases, self.frequent = phrases, frequent()
        self.rng = rng

    def languages(self) -> list[str]:
        """Return the languages with words."""
        return sorted({*self.phrases, *self.frequent})

    def known(self, language: str) -> int:
        """Return how many words or phrases a language has."""
        return len(self.frequent.get(language, ())) + len(self.phrases.get(language, ()))

    def urls(self, language: str, count: int) -> Iterator[str]:
        """Yield up to `count` URLs; none for a language without words."""
        for _ in range(count):
            words = self._words(language)
            if not words:
                return
            slug = self._spelled(words, language)
            if slug and len(slug) <= LONGEST_SLUG:
                host = self._host(language)
                yield f"https://{host}/{self._section(language)}{slug}{self.rng.choice(ENDINGS)}"

    def _words(self, language: str) -> list[str]:
        known, phrases = self.frequent.get(language), self.phrases.get(language)
        if known and (not phrases or self.rng.random() < 1 / 2):
            weights = [1 / (place + 20) ** 0.7 for place in range(len(known))]
            return self.rng.choices(known, weights, k=self.rng.randint(1, 7))
        if not phrases:
            return []
        joined = [word for _ in range(self.rng.randint(1, 3)) for word in self.rng.choice(phrases)]
        return joined[: self.rng.randint(2, 8)]

    def _spelled(self, words: list[str], language: str) -> str:
        from anyascii import anyascii  # noqa: PLC0415 - only this tool has it

        text = re.sub("['\u2019]", "-", "-".join(words).lower())
        latin = all("LATIN" in unicodedata.name(sign, "") for sign in text if sign.isalpha())
        share = STRIPPED if latin else LATINISED.get(language, RARELY)
        if not text.isascii() and self.rng.random() < share:
            text = re.sub(r"[^a-z0-9]+", "-", anyascii(text).lower()).strip("-")
        return quote(text.replace("-", "_") if self.rng.random() < 1 / 8 else text)

    def _host(self, language: str) -> str:
        from anyascii import anyascii  # noqa: PLC0415 - only this tool has it

        name = re.sub("[^a-z]", "", anyascii("".join(self._words(language)[:2])).lower())[:20]
        name = name if self.rng.random() < 1 / 2 and name else "x"
        countries = find_language(language).countries[:2]
        if not countries or self.rng.random() < 1 / 2:
            suffix = self.rng.choice(COMMON)
        else:
            country = self.rng.choice(countries)
            suffix = DOMAINS.get(country, country)
        return f"{self.rng.choice(('www.', ''))}{name}.{suffix}"

    def _section(self, language: str) -> str:
        kind = self.rng.random()
        if kind < 0.3:  # noqa: PLR2004 - the shares of four kinds
            return self._spelled(self._words(language)[:2], language) + "/"
        if kind < 0.45:  # noqa: PLR2004
            return f"{self.rng.randint(2005, 2024)}/{self.rng.randint(1, 12):02}/"
        return self.rng.choice(SECTIONS) + "/" if kind < 0.55 else ""  # noqa: PLR2004


def main() -> None:
    """Generate the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--phrases", type=Path, required=True, help="table of tools.phrases (.gz)")
    parser.add_argument("--out", type=Path, required=True, help="table to write (.gz)")
    parser.add_argument("--most", type=int, default=1_200, help="maximum URLs per language")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - a sample
    maker = Maker(phrases(options.phrases, TOLD, rng), rng)
    with gzip.open(options.out, "wt", encoding="utf-8") as lines:
        lines.write("url\tlang\n")
        for language in filter(language_of, maker.languages()):
            count = min(options.most, max(FEWEST, maker.known(language)))
            lines.writelines(f"{url}\t{language}\n" for url in maker.urls(language, count))


if __name__ == "__main__":
    main()
