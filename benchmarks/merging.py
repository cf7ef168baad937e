"""The cost of `scrapy merge` on the folders of four workers, at two sizes.

The pages are generated articles on many sites, a tenth of them in two folders at once, as if every
site had moved from one worker to another. Time and memory per page should stay the same with four
times as many pages.

    python -m benchmarks.merging
    python -m benchmarks.merging --pages 4000 --pages 64000
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bilingual_crawler.corpus.pages import PageFacts, Pages
from bilingual_crawler.documents.dedup import paragraph_hashes, text_signature
from bilingual_crawler.documents.document import Alternate, Document, Paragraph
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.pairing.pair import page_of
from bilingual_crawler.store.folder import DOCUMENTS, CrawlFolder
from demo.site.articles import article

WORKERS = 4
PAGES_PER_SITE = 500
TWICE = 10
"""One in this many pages is in two folders."""
LANGUAGES = (("es", "spa"), ("eu", "eus"))


def document(number: int, side: int) -> Document:
    """Return one side of an article."""
    token, code = LANGUAGES[side]
    other, other_code = LANGUAGES[1 - side]
    text = article(number)[token]
    site = f"https://site{2 * number // PAGES_PER_SITE}.example"
    return Document(
        f"{site}/{token}/{number}",
        language=code,
        title=text.title,
        paragraphs=[Paragraph(each, language=code) for each in text.paragraphs],
        alternates=[Alternate(f"{site}/{other}/{number}", other, other_code)],
        size=8_000,
    )


class Worker:
    """A folder with pages that are written without pairing them."""

    def __init__(self, path: Path) -> None:
        self.folder = CrawlFolder(path, "spa-eus")
        self.pages = Pages(self.folder.journal)
        self.count = 0

    def add(self, each: Document) -> None:
        line = json.dumps(document_to_dict(each), ensure_ascii=False) + "\n"
        hashes = b"".join(paragraph_hashes(each))
        signature, packed = text_signature(each), page_of(each).pack()
        facts = PageFacts(each.key, each.key, each.language or "", signature, hashes, packed)
        self.pages.add(facts, line, duplicate=False)
        self.folder.journal.append(DOCUMENTS, self.pages.keep(each.key))
        self.count += 1
        if self.count % 1000 == 0:
            self.folder.journal.checkpoint(wait=True)


def fill(run: Path, pages: int) -> None:
    """Give the two sides of each article to two workers."""
    workers = [Worker(run / f"worker-{number}") for number in range(WORKERS)]
    for number in range(pages // 2):
        for side in range(2):
            each = document(number, side)
            workers[(number + side) % WORKERS].add(each)
            if (2 * number + side) % TWICE == 0:
                workers[(number + side + 1) % WORKERS].add(each)
    for worker in workers:
        worker.folder.close()


def merge(run: Path, into: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "scrapy", "merge", str(run), "--into", str(into), "--json"]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    printed: dict[str, float] = json.loads(process.stdout.read()) if process.stdout else {}
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise SystemExit("the merge failed")
    return printed | {
        "wall": time.perf_counter() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--pages", type=int, action="append", help="distinct pages")
    sizes = parser.parse_args().pages or [4_000, 16_000]
    print("| pages | in two folders | pairs | CPU s | ms a page | memory, MB | KB a page |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for pages in sizes:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            fill(place / "run", pages)
            done = merge(place / "run", place / "all")
            print(
                f"| {done['pages']:,} | {done['repeated_pages']:,} | {done['pairs']:,}"
                f" | {done['cpu']:.1f} | {1000 * done['cpu'] / pages:.2f}"
                f" | {done['memory']:.0f} | {1024 * done['memory'] / pages:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
