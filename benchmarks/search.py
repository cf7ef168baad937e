"""The search of the web application: the time to build the index, and to show the first hits.

The sentence pairs are synthetic: words by Zipf's law from a made-up vocabulary, twelve per sentence
on average; every second document has Chinese characters on its second side. A search is a page of
20 hits requested over HTTP: open the index, find, count up to a thousand, highlight, write the
page. Times are wall clock, from the request to the last byte: the median and the maximum over a
number of different queries.

    python -m benchmarks.search                     the table of docs/experiments/benchmarks.md
    python -m benchmarks.search --pairs 100000
"""

import argparse
import contextlib
import gzip
import http.client
import itertools
import json
import random
import resource
import statistics
import tempfile
import threading
import time
from bisect import bisect
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, pair_id
from bilingual_crawler.web.gate import Hosts, Keys
from bilingual_crawler.web.pages import ServedFolder
from bilingual_crawler.web.search.search import SearchQuestion
from bilingual_crawler.web.server import listen, make_server

VOCABULARY = 200_000
SENTENCES_A_DOCUMENT = 25
QUERIES = 20
SYLLABLES = [c + v for c in "bcdfghjklmnprstvz" for v in ("a", "e", "i", "o", "u", "á", "ó", "an")]
FIRST_HAN, HANS = 0x4E00, 3_000


class Zipf:
    """Picks items, the n-th one n times less often than the first."""

    def __init__(self, items: list[str], chance: random.Random) -> None:
        self.items = items
        self._sums = list(itertools.accumulate(1 / (1 + at) for at in range(len(items))))
        self._chance = chance

    def pick(self) -> str:
        return self.items[bisect(self._sums, self._chance.random() * self._sums[-1])]


def vocabulary(chance: random.Random) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        length = min(6, 1 + int(chance.expovariate(0.5)) + len(words) // 5_000)
        words["".join(chance.choices(SYLLABLES, k=length))] = None
    return list(words)


def made_pairs(number: int, words: Zipf, hans: Zipf, chance: random.Random) -> Iterator[str]:
    for at in range(number):
        document, place = divmod(at, SENTENCES_A_DOCUMENT)
        urls = (
            f"https://site{document % 997}.example/es/{document}",
            f"https://x.example/{document}",
        )
        first = " ".join(words.pick() for _ in range(chance.randint(4, 20))) + "."
        if document % 2:
            second = "".join(hans.pick() for _ in range(chance.randint(6, 30))) + "。"
        else:
            second = " ".join(words.pick() for _ in range(chance.randint(4, 20))) + "."
        language = "zho" if document % 2 else "eus"
        pair = SentencePair(pair_id(*urls), place, *urls, "spa", language, first, second)
        yield json.dumps(pair.to_dict(), ensure_ascii=False) + "\n"


def queries(words: list[str], chance: random.Random) -> dict[str, list[SearchQuestion]]:
    def some(begin: int, end: int) -> list[str]:
        return [words[at] for at in chance.sample(range(begin, end), QUERIES)]

    def han(length: int) -> list[str]:
        return [
            "".join(chr(FIRST_HAN + chance.randrange(40)) for _ in range(length))
            for _ in range(QUERIES)
        ]

    common = [each for each in words[:60] if len(each) > 1][:QUERIES]
    pairs = zip(common, some(0, 60), strict=True)
    return {
        "common word": [SearchQuestion(each) for each in common],
        "rare word": [SearchQuestion(each) for each in some(50_000, VOCABULARY)],
        "phrase of two common words": [SearchQuestion(f'"{a} {b}"') for a, b in pairs],
        "word and word opposite": [
            SearchQuestion(a, other=b) for a, b in zip(some(0, 500), some(0, 500), strict=True)
        ],
        "prefix, 2 letters": [SearchQuestion(f"{each[:2]}*") for each in some(0, 500)],
        "prefix, 4 letters": [
            SearchQuestion(f"{each}*") for each in words[200:4000] if len(each) == 4
        ][:QUERIES],
        "one Chinese character": [SearchQuestion(each) for each in han(1)],
        "two Chinese characters": [SearchQuestion(each) for each in han(2)],
        "four Chinese characters": [SearchQuestion(each) for each in han(4)],
        "regular expression, beginning of a word": [
            SearchQuestion(rf"\b{each}\w+a\b", is_pattern=True) for each in some(100, 1000)
        ],
        "regular expression, common ending": [
            SearchQuestion(rf"{each}\b", is_pattern=True) for each in common
        ],
        "regular expression, nowhere": [SearchQuestion(r"\d{4}-\d{2}", is_pattern=True)] * 2,
        "common word, page 40": [SearchQuestion(each, page=40) for each in common],
    }


@contextlib.contextmanager
def served(site: ServedFolder) -> Iterator[int]:
    """Run the real server in a thread, and yield its port."""
    with listen("127.0.0.1", 0) as listener:
        server = make_server(site, Hosts("127.0.0.1"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def measure(port: int, questions: list[SearchQuestion]) -> tuple[list[float], int]:
    times, hits = [], 0
    for question in questions:
        asked = {"q": question.text, "other": question.other, "page": question.page}
        mode = "&mode=regex" if question.is_pattern else ""
        connection = http.client.HTTPConnection("127.0.0.1", port)
        begun = time.perf_counter()
        connection.request("GET", f"/?{urlencode(asked)}{mode}")
        page = connection.getresponse().read()
        times.append(1000 * (time.perf_counter() - begun))
        connection.close()
        hits += page.count(b'<li class="hit')
    return times, hits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    number = parser.parse_args().pairs
    chance = random.Random(0)
    words = Zipf(vocabulary(chance), chance)
    hans = Zipf([chr(FIRST_HAN + at) for at in range(HANS)], chance)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, SENTENCES)
        with gzip.open(file, "wt", encoding="utf-8", compresslevel=1) as out:
            out.writelines(made_pairs(number, words, hans, chance))
        site = ServedFolder(Path(folder), Keys(None))
        indexer = site.indexer
        begun, used = time.perf_counter(), time.process_time()
        assert indexer.refresh() == number
        taken, used = time.perf_counter() - begun, time.process_time() - used
        size = indexer.path.stat().st_size
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{number:,} sentence pairs, {file.stat().st_size / 1e6:.0f} MB as {SENTENCES}\n")
        print(f"index made in {taken:.0f} s ({used:.0f} s of CPU), {size / 1e6:.0f} MB on disk,")
        print(f"{peak:.0f} MB of memory at most\n")
        print("| query | hits on the page, mean | middle, ms | longest, ms |")
        print("|---|---|---|---|")
        with served(site) as port:
            for name, questions in queries(words.items, chance).items():
                times, hits = measure(port, questions)
                middle, mean = statistics.median(times), hits / len(questions)
                print(f"| {name} | {mean:.0f} | {middle:.0f} | {max(times):.0f} |", flush=True)


if __name__ == "__main__":
    main()
