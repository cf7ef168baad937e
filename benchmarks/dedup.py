"""How the cost of finding duplicates grows: time and memory per page at two sizes.

python -m benchmarks.dedup [PAGES]
"""

import hashlib
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator

from bilingual_crawler.documents.dedup import DuplicateIndex

Pages = Iterator[list[bytes]]


def name(*parts: object) -> bytes:
    return hashlib.md5(repr(parts).encode()).digest()[:8]


def ordinary(count: int) -> Pages:
    """Twenty own paragraphs per page; every tenth page repeats another except for two."""
    for page in range(count):
        source = page if page % 10 else page // 2
        own = 20 if source == page else 18
        yield [name(source, at) for at in range(own)] + [name("x", page, at) for at in range(2)]


def template(count: int) -> Pages:
    """The same five paragraphs on every page, and fifteen own ones."""
    for page in range(count):
        yield [name("template", at) for at in range(5)] + [name(page, at) for at in range(15)]


def mostly_template(count: int) -> Pages:
    """The same five paragraphs on every page, and up to three own ones."""
    for page in range(count):
        yield [name("template", at) for at in range(5)] + [name(page, at) for at in range(page % 4)]


def listings(count: int) -> Pages:
    """No own paragraphs: twenty of a thousand, in ever new combinations."""
    cards = [name("card", at) for at in range(1_000)]
    choice = random.Random(0)
    for _ in range(count):
        yield choice.sample(cards, 20)


def measure(pages: Callable[[int], Pages], count: int) -> tuple[float, int, int]:
    lists = list(pages(count))
    index = DuplicateIndex()
    start = time.process_time()
    for number, hashes in enumerate(lists):
        index.add(str(number), hashes)
    seconds = time.process_time() - start
    small = lists[: min(count, 2_000)]
    tracemalloc.start()
    other = DuplicateIndex()
    for number, hashes in enumerate(small):
        other.add(str(number), hashes)
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return 1e6 * seconds / count, memory // max(1, len(other)), len(index)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    print(f"{'case':16} {'pages':>8} {'us a page':>10} {'kept':>8} {'bytes a kept page':>18}")
    for pages in (ordinary, template, mostly_template, listings):
        for size in (count, 4 * count):
            cost, memory, kept = measure(pages, size)
            print(f"{pages.__name__:16} {size:8} {cost:10.1f} {kept:8} {memory:18}")


if __name__ == "__main__":
    main()
