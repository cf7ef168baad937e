"""Pairs read from clusters of several languages, against pairs found two languages at a time.

Each recorded site with three or more languages whose pairs were read is paired twice, page by page
in the order of its WARC file: once for all languages together, once for each two. Precision and
recall are over the language pairs that were read. The seconds are those of processor time that
pairing takes, without parsing; pages are counted once.

    python -m benchmarks.clusters [--sites a,b] [--most-languages N] [FOLDER]
"""

import argparse
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.recorded_pairs import SHARED, documents
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.corpus.lexicon_keeper import LexiconKeeper
from bilingual_crawler.documents.document import Document
from bilingual_crawler.lab.evaluation.read_gold import ReadFigures, ReadGold, read_language_pairs
from bilingual_crawler.languages import LanguagePair, ParallelLanguages, parse_parallel
from bilingual_crawler.store.folder import CrawlFolder

LEAST_LANGUAGES = 3
WAYS = ("two at a time", "clusters")
Urls = list[tuple[str, str]]


class Paired(NamedTuple):
    """The pairs of a site by languages, and the seconds that they took."""

    pairs: dict[str, Urls]
    seconds: float


def paired(pages: list[Document], languages: ParallelLanguages) -> Paired:
    """Pair pages as a crawl does."""
    found: dict[str, Urls] = {}
    with TemporaryDirectory() as name:
        folder = CrawlFolder(Path(name), str(languages))
        started = time.process_time()
        keeper = LexiconKeeper.open(Config(), Path(name))
        corpus = Corpus(folder, lambda _url: languages, lexicons=keeper)
        for page in pages:
            if page.language in languages:
                corpus.add(page)
        corpus.tidy()
        seconds = time.process_time() - started
        for pair in corpus.iter_pairs():
            key = "-".join(sorted(pair.languages))
            found.setdefault(key, []).append((pair.first, pair.second))
        folder.close()
    return Paired(found, seconds)


def sites_with_many(folder: Path, names: list[str]) -> dict[str, list[str]]:
    """Return the language pairs that were read of each site with three or more languages."""
    found = {}
    for site, pairs in sorted(read_language_pairs(folder).items()):
        codes = {code for pair in pairs for code in pair.codes}
        if len(codes) >= LEAST_LANGUAGES and (not names or site in names):
            found[site] = ["-".join(sorted(pair.codes)) for pair in pairs]
    return found


def measured(
    folder: Path, site: str, langs: list[str], most: int
) -> tuple[dict[str, ReadFigures], dict[str, float], str, int]:
    """Return figures and seconds of both ways, the languages, and the number of pages."""
    pages = list(documents(folder / f"{site}.warc.gz"))
    counts = Counter(page.language for page in pages)
    named = {code for each in langs for code in each.split("-")}
    codes = [code for code, _ in counts.most_common() if code in named][:most]
    languages = parse_parallel(",".join(codes))
    together = paired(pages, languages)
    apart: dict[str, Urls] = {}
    seconds = 0.0
    for both in combinations(codes, 2):
        one = paired(pages, parse_parallel(",".join(both)))
        apart |= one.pairs
        seconds += one.seconds
    figures = dict.fromkeys(WAYS, ReadFigures())
    for each in langs:
        if set(each.split("-")) <= set(codes):
            gold = ReadGold.read(folder, site, LanguagePair.parse(each))
            for way, pairs in zip(WAYS, (apart, together.pairs), strict=True):
                judged = gold.judge(pairs.get(each, []))
                figures[way] = figures[way].plus(judged.figures)
    times = dict(zip(WAYS, (seconds, together.seconds), strict=True))
    number = sum(counts[code] for code in codes)
    return figures, times, str(languages), number


def row(name: str, pages: int, figures: dict[str, ReadFigures], seconds: dict[str, float]) -> str:
    """Return a row of the table."""
    cells = [name, f"{pages:,}"]
    for way in WAYS:
        each = figures[way]
        cells += [f"{each.precision or 0:.3f}", f"{each.recall or 0:.3f}"]
    cells += [f"{1000 * seconds[way] / pages:.1f}" for way in WAYS]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--sites", default="", help="some of the sites")
    parser.add_argument("--most-languages", type=int, default=10)
    options = parser.parse_args()
    names = [name for name in options.sites.split(",") if name]
    totals, times, pages = dict.fromkeys(WAYS, ReadFigures()), dict.fromkeys(WAYS, 0.0), 0
    print("| site | pages | P, two | R, two | P, clusters | R, clusters | ms, two | ms, clusters |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for site, langs in sites_with_many(options.folder, names).items():
        figures, seconds, codes, number = measured(
            options.folder, site, langs, options.most_languages
        )
        print(row(f"{site} ({codes})", number, figures, seconds), flush=True)
        pages += number
        times = {way: times[way] + seconds[way] for way in WAYS}
        totals = {way: totals[way].plus(figures[way]) for way in WAYS}
    print(row("all", pages, totals, times))
    for way in WAYS:
        print(f"{way}: {totals[way]}")


if __name__ == "__main__":
    main()
