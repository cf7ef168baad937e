"""How soon each scorer reaches the pages of a recorded site that are on topic.

Each site is crawled by the real engine, one page at a time, from its home page, for a topic of a
dozen terms per language (benchmarks/topics), first for two languages, then for only the first of
them. The figures are the shares of all pages on topic (that any of the crawls fetched) after a
tenth, a quarter and half of the downloads, and the mean over all downloads (AUC); for two
languages, also those of the gold pairs with a page on topic.

    python -m benchmarks.topic_harvest [FOLDER] [--sites a,b] [--scorers a,b] [--one|--two]
    python -m benchmarks.topic_harvest [FOLDER] --cost      what judging a page costs, on one core
"""

import argparse
import math
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.recorded_pairs import SHARED, documents
from bilingual_crawler.config.topic_definition import Term, read_terms
from bilingual_crawler.documents.document import Document
from bilingual_crawler.lab.replay import curve, gold
from bilingual_crawler.lab.replay.recording import Recording, site_name
from bilingual_crawler.lab.replay.run import ReplayCrawl, Run, Running
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import LanguagePair, Languages, OneLanguage, parse_languages
from bilingual_crawler.scoring.adaptive.scorer import AdaptiveScorer
from bilingual_crawler.topics import Topic

TOPICS = Path(__file__).parent / "topics"
SITES = {
    "a11y-canada": "eng-fra",
    "antennapod": "eng-deu",
    "developers-italia": "ita-eng",
    "fishfinder": "eng-spa",
    "httpd-manual": "eng-fra",
    "opentermsarchive": "eng-fra",
    "paraguay4life": "eng-deu",
}
TWO = ("breadth_first", "rules", "ilsp", "adaptive")
ONE = ("breadth_first", "ilsp", "rules")
SHARES = (0.1, 0.25, 0.5)
COST_SITE = "a11y-canada"
MANY_TERMS = 20_000
Figures = list[float]


class WithoutOdds(AdaptiveScorer):
    """`adaptive` without multiplying its scores by the odds of a page on topic."""

    is_yield = False


class Judged:
    """A recorded site with a topic: which of its pages are on topic, and what a crawl had when."""

    def __init__(self, warc: Path, langs: Languages) -> None:
        self.langs = langs
        self.recording = Recording(warc)
        self.site = RecordedSite(self.recording, langs.codes)
        self.topic_file = TOPICS / f"{self.recording.name}.tsv"
        self.topic = Topic(read_terms(self.topic_file))
        self.seconds = 0.0
        self.judged = 0
        self._on_topic: dict[str, bool] = {}

    def crawl(self, scorer: str) -> Run:
        homes = self.recording.homes()
        seeds = tuple(each for each in homes if self._document(each).language in self.langs)
        crawl = ReplayCrawl(self.langs, seeds[:1] or tuple(homes[:1]), topic=self.topic_file)
        running = Running(self.site, scorer, crawl)
        try:
            return running.result()
        finally:
            running.stop()

    def is_on_topic(self, url: str) -> bool:
        if url not in self._on_topic:
            document = self._document(url)
            begun = time.process_time()
            self.topic.annotate(document)
            self.seconds += time.process_time() - begun
            self.judged += 1
            relevant = document.topic is not None and document.topic.on_topic
            self._on_topic[url] = relevant and document.language in self.langs
        return self._on_topic[url]

    def pairs(self, known: set[str]) -> list[tuple[str, str]]:
        """Return the gold pairs whose pages can both be fetched and of which one is on topic."""
        if not isinstance(self.langs, LanguagePair):
            return []
        lines = gold.read_gold(self.recording.path.with_name(self.recording.name + gold.ENDING))
        named = (
            (self.recording.page_of(first), self.recording.page_of(second))
            for first, second in gold.of_languages(lines, self.langs)
        )
        there = {(one, other) for one, other in named if one in known and other in known}
        return [pair for pair in there if any(map(self.is_on_topic, pair))]

    def _document(self, url: str) -> Document:
        answer = self.site.answer(url)
        assert answer is not None
        return self.site.document(url, answer)


def figures(order: Sequence[str], wanted: set[str], pages: int) -> Figures:
    """Return the shares of wanted pages after parts of the downloads, and the mean share."""
    found, values = 0, []
    for url in order:
        found += url in wanted
        values.append(found)
    return _figures(values, len(wanted), pages)


def _figures(values: Sequence[int], total: int, pages: int) -> Figures:
    at = [curve.value_at(values, math.ceil(share * pages)) / max(total, 1) for share in SHARES]
    return [*at, curve.area(values, total, pages)]


def measure(warc: Path, langs: Languages, scorers: Iterable[str]) -> dict[str, list[Figures]]:
    judged = Judged(warc, langs)
    runs = {name: judged.crawl(name) for name in scorers}
    known = {url for run in runs.values() for url in run.order}
    wanted = {url for url in known if judged.is_on_topic(url)}
    pairs = judged.pairs(known)
    both = sum(all(map(judged.is_on_topic, pair)) for pair in pairs)
    print(
        f"\n{judged.recording.name} ({langs}): {len(wanted)} of {len(known)} pages on topic,"
        f" {len(pairs)} pairs ({both} with both pages on topic),"
        f" {1000 * judged.seconds / judged.judged:.2f} ms per page"
    )
    results = {}
    for name, run in runs.items():
        rows = [figures(run.order, wanted, len(known))]
        if pairs:
            rows.append(_figures(curve.yield_curve(run.order, pairs), len(pairs), len(known)))
        results[name] = rows
        print(f"  {name:14}" + "   ".join(_cells(row) for row in rows), flush=True)
    return results


def cost(warc: Path, langs: Languages) -> None:
    """Print the cost of judging new words, known words, and very many terms."""
    pages = [page for page in documents(warc) if page.language in langs]
    terms = read_terms(TOPICS / f"{site_name(warc)}.tsv")
    many = (*terms, *(Term(f"word{n} thing{n % 7}") for n in range(MANY_TERMS)))
    size = sum(len(page.text) for page in pages) / len(pages)
    print(f"{warc.name}: {len(pages)} pages of {size:.0f} characters")
    topics = {"new words": Topic(terms), "known words": Topic(terms), "many terms": Topic(many)}
    for name, topic in topics.items():
        for code in langs.codes:
            topic.terms_in(code)  # fills what is made once per crawl
        begun = time.process_time()
        for page in pages:
            topic.annotate(page)
        print(f"  {name:12} {1000 * (time.process_time() - begun) / len(pages):.2f} ms a page")


def _cells(row: Figures) -> str:
    return " ".join(f"{value:5.2f}" for value in row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--sites", default=",".join(SITES))
    parser.add_argument("--scorers", default="")
    parser.add_argument("--one", action="store_true", help="one language only")
    parser.add_argument("--two", action="store_true", help="two languages only")
    parser.add_argument("--cost", action="store_true", help="what judging a page costs")
    options = parser.parse_args()
    if options.cost:
        cost(options.folder / f"{COST_SITE}.warc.gz", parse_languages(SITES[COST_SITE]))
        return
    for one in [False] * (not options.one) + [True] * (not options.two):
        scorers = [each for each in options.scorers.split(",") if each] or (ONE if one else TWO)
        results = []
        for name in options.sites.split(","):
            langs = parse_languages(SITES[name])
            if one:
                langs = OneLanguage(next(iter(langs)))
            results.append(measure(options.folder / f"{name}.warc.gz", langs, scorers))
        print(f"\nMean of {len(results)} sites, {'one language' if one else 'two languages'}")
        for scorer in scorers:
            rows = zip(*(each[scorer] for each in results), strict=True)
            means = ([fmean(column) for column in zip(*row, strict=True)] for row in rows)
            print(f"  {scorer:14}" + "   ".join(map(_cells, means)), flush=True)


if __name__ == "__main__":
    main()
