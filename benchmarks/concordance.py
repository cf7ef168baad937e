"""The concordance of the web application: the time to build its index, and to answer.

The sentence pairs are synthetic: words by Zipf's law from a made-up vocabulary of 200,000, four to
twenty per sentence, all in letters. The index is built in this process. Answers are pages requested
over HTTP, from the request to the last byte: the median and the maximum over a number of different
words, each asked once, so nothing is remembered but what the operating system caches.

    python -m benchmarks.concordance                        1 million
    python -m benchmarks.concordance --pairs 10000000
    python -m benchmarks.concordance --fts                  SQLite's full-text index, to compare
"""

import argparse
import gzip
import http.client
import itertools
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from benchmarks.search import SENTENCES_A_DOCUMENT, served, vocabulary
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.gate import Keys
from bilingual_crawler.web.pages import ServedFolder

BATCH = 20_000
QUERIES = 20
SITES = 997


def made_lines(number: int, words: list[str], chance: np.random.Generator) -> Iterator[str]:
    """Yield the lines of a corpus; written without a JSON encoder, which would take longest."""
    sums = np.cumsum(1 / np.arange(1, len(words) + 1))
    sums /= sums[-1]
    for begin in range(0, number, BATCH):
        lengths = chance.integers(4, 21, size=2 * BATCH)
        picked = iter(np.searchsorted(sums, chance.random(int(lengths.sum()))).tolist())
        texts = (
            " ".join(words[at] for at in itertools.islice(picked, length))
            for length in lengths.tolist()
        )
        for at in range(begin, min(number, begin + BATCH)):
            document, place = divmod(at, SENTENCES_A_DOCUMENT)
            urls = f"https://s{document % SITES}.example/es/{document}", f"https://x.example/{at}"
            yield (
                f'{{"pair":"{document:012x}","at":{place},"url1":"{urls[0]}","url2":"{urls[1]}",'
                f'"lang1":"spa","lang2":"eus","text1":"{next(texts)}.","text2":"{next(texts)}.",'
                f'"beads":"1-1","kind":"paragraph","score":0.{at % 90 + 10},"dropped":"",'
                f'"fetched1":"2026-0{at % 9 + 1}-01T00:00:00+00:00"}}\n'
            )


def addresses(words: list[str], chance: random.Random) -> dict[str, list[str]]:
    common, some = words[:QUERIES], [words[at] for at in chance.sample(range(100, 3000), QUERIES)]
    rare = [words[at] for at in chance.sample(range(50_000, 150_000), QUERIES)]

    def lines(queries: list[str], **more: object) -> list[str]:
        return [f"/concordance?{urlencode({'q': query, **more})}" for query in queries]

    def lists(name: str, queries: list[str]) -> list[str]:
        return [f"/words/{name}?{urlencode({'q': query})}" for query in queries]

    return {
        "common word": lines(common),
        "common word, page 40": lines(common, page=40),
        "common word, sorted by the words after": lines(common[:5], sort="right"),
        "common word on one site": lines(common[:5], site="s5.example"),
        "rarer word": lines(some),
        "rare word": lines(rare),
        "two words in a row": lines([f"{a} {b}" for a, b in itertools.pairwise(common)]),
        "stem": lines(some, level="stem"),
        "beginning of a word": lines([f"{word[:3]}*" for word in some if len(word) > 2]),
        "frequency list, words": ["/words/frequencies", "/words/frequencies?side=2"],
        "frequency list, lemmas": [f"/words/frequencies?level=lemma&side={at}" for at in (1, 2)],
        "n-grams of a side": ["/words/n-grams?grams=2", "/words/n-grams?grams=3"],
        "collocations of a common word": lists("collocations", common[:5]),
        "collocations of a rarer word": lists("collocations", some[:5]),
        "translations of a common word": lists("translations", common[:5]),
        "translations of a rarer word": lists("translations", some[:5]),
    }


def measure(port: int, paths: list[str]) -> tuple[list[float], list[float], int]:
    """Return how long each page took, in milliseconds, elapsed and of CPU, and how many gave up."""
    times, used, stopped = [], [], 0
    for path in paths:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        begun, busy = time.perf_counter(), time.process_time()
        connection.request("GET", path)
        answer = connection.getresponse()
        page = answer.read()
        times.append(1000 * (time.perf_counter() - begun))
        used.append(1000 * (time.process_time() - busy))
        connection.close()
        assert answer.status == 200, path
        stopped += b"too much time" in page
    return times, used, stopped


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--fts", action="store_true")
    options = parser.parse_args()
    words = vocabulary(random.Random(0))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        file = folder / SENTENCES
        with gzip.open(file, "wt", encoding="utf-8", compresslevel=1) as out:
            out.writelines(made_lines(options.pairs, words, np.random.default_rng(0)))
        print(f"{options.pairs:,} sentence pairs, {file.stat().st_size / 1e6:,.0f} MB")
        site = ServedFolder(folder, Keys(None))
        begun, busy = time.perf_counter(), time.process_time()
        if options.fts:
            site.indexer.refresh()
            index = site.indexer.path
        else:
            site.concordance.refresh()
            index = next(folder.glob("concordance-*.duckdb"))
        taken, spent = time.perf_counter() - begun, time.process_time() - busy
        print(
            f"index: {spent:,.0f} s of CPU, {taken:,.0f} s elapsed, {options.pairs / spent:,.0f}"
            f" sentence pairs per CPU second, {index.stat().st_size / 1e6:,.0f} MB on disk,"
            f" {peak():,.0f} MB of memory at most",
            flush=True,
        )
        if options.fts:
            site.close()
            return
        print("\n| page | median, ms | maximum, ms | CPU, ms | stopped |\n|---|---|---|---|---|")
        file.rename(folder / "kept")  # the search's own index is not built here
        with served(site) as port:
            for name, paths in addresses(words, random.Random(1)).items():
                times, used, stopped = measure(port, paths)
                print(
                    f"| {name} | {statistics.median(times):,.0f} | {max(times):,.0f}"
                    f" | {statistics.median(used):,.0f} | {stopped} |",
                    flush=True,
                )
        print(f"\n{peak():,.0f} MB of memory at most")


if __name__ == "__main__":
    main()
