"""How much memory a crawl needs per page, and which part needs it.

The parts of a crawl that grow (frontier, corpus with duplicates and pairing, languages, scorer) are
fed the pages of the sample site without a network, once with fewer and once with more pages, each
in its own process. The difference, divided by the number of additional pages, is the cost of a
page. It is shown by owner: the sizes of all objects reached from each attribute of each part. An
object that two parts share is counted once, where it is reached first. Caches of a fixed size are
left out.

    python -m benchmarks.memory              the cost of a page, by owner
    python -m benchmarks.memory --waiting    the cost of a URL that waits in the frontier
    python -m benchmarks.memory --crawl      whole crawls over HTTP, as the kernel reports them

`--pages 500 2000` sets the two sizes.
"""

import argparse
import contextlib
import gc
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import msgpack

from benchmarks.crawl import Target, ours
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.crawl.scoring import LiveCrawl, PageLanguages
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.scoring.adaptive.scorer import AdaptiveScorer
from bilingual_crawler.store.folder import CrawlFolder
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of
from demo.site.answers import Site
from tests.support.servers import serve_demo

HOST = "http://sample.example"
PAIR = LanguagePair.parse("spa-eus")
SIZES = (2_000, 8_000)
CRAWLED = (5_000, 20_000)
URLS = (10_000, 100_000)
BOUNDED = ("Weigher._prepared", "KnownPages._load")
"""Caches that are full after some thousand pages."""
CHECKPOINT = 200
"""Pages between two checkpoints: about one second's worth."""
SHOWN = 25
SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
"""Objects that belong to the program, not to a crawl."""


class Parts:
    """The parts of a crawl that grow, wired as a crawl wires them, without its engine."""

    def __init__(self, folder: Path) -> None:
        self.folder = CrawlFolder(folder, str(PAIR))
        self.frontier = JournaledFrontier(self.folder.journal)
        self.corpus = Corpus(self.folder, lambda _url: PAIR, on_pair=self._told)
        self.languages = PageLanguages(self.folder.journal)
        crawl = LiveCrawl(lambda: self.frontier, self.corpus, self.languages)
        self.scorer = AdaptiveScorer(PAIR, crawl, Config(site_yield=0.0))
        self._found: list[tuple[DocumentPair, bool]] = []

    def _told(self, pair: DocumentPair, kept: bool) -> None:
        self._found.append((pair, kept))

    def take(self, document: Document) -> None:
        """Do everything that a crawl does with a page after parsing it."""
        self.corpus.add(document)
        self.languages.note(document)
        found, self._found = self._found, []
        self.scorer.arrived(document)
        for each in found:
            self.scorer.found(*each)
        new = [link for link in document.links if self._is_new(link.url)]
        for link, score in zip(new, self.scorer.score(document, new), strict=True):
            self.push(link.url, score)
        self.scorer.proposals()
        for url, priority in self.scorer.changes():
            self.frontier.set_priority(url_fingerprint(url), priority)

    def push(self, url: str, score: float) -> None:
        """Queue a URL, with the usual payload of a request."""
        payload = msgpack.packb({"meta": {"depth": 1}})
        self.frontier.push(url_fingerprint(url), url, host_of(url), score, payload)

    def _is_new(self, url: str) -> bool:
        return (
            host_of(url) == host_of(HOST) and self.frontier.state_of(url_fingerprint(url)) is None
        )


def crawl(parts: Parts, most: int) -> int:
    """Fetch the pages of the sample site, best first, from the site's own code."""
    site = Site(most // 2)
    parts.push(f"{HOST}/", 1.0)
    taken = 0
    while taken < most and (entry := parts.frontier.pop(time.monotonic())) is not None:
        answer = site.answer(entry.url.removeprefix(HOST))
        is_page = answer.status == 200 and "html" in answer.headers.get("Content-Type", "")
        if is_page and "/buzon" not in entry.url and "/calendario" not in entry.url:
            kind = answer.headers["Content-Type"]
            parts.take(build_document(entry.url, answer.body, content_type=kind, hints=PAIR.codes))
            taken += 1
        parts.frontier.end(entry.fingerprint, State.DONE, "stored")
        if taken % CHECKPOINT == 0:
            parts.folder.journal.checkpoint(wait=True)
    parts.folder.journal.checkpoint(wait=True)
    return taken


def sizes_by_owner(root: object) -> Counter[str]:
    """Return the bytes of all objects below one, by the attribute from which they are reached."""
    found: Counter[str] = Counter()
    seen = {id(root)}
    waiting: deque[tuple[str, Any]] = deque([(type(root).__name__, root)])
    while waiting:
        owner, thing = waiting.popleft()
        found[owner] += sys.getsizeof(thing)
        for label, part in _below(owner, thing):
            if id(part) not in seen and not isinstance(part, SHARED):
                seen.add(id(part))
                waiting.append((label, part))
    return found


def _below(owner: str, thing: object) -> Iterator[tuple[str, object]]:
    kind = type(thing)
    if kind.__module__.startswith(("bilingual_crawler", "benchmarks")) and hasattr(
        thing, "__dict__"
    ):
        yield from ((f"{kind.__name__}.{name}", part) for name, part in vars(thing).items())
        if not isinstance(thing, dict):
            return
    yield from ((owner, part) for part in gc.get_referents(thing))


def grown_parts(folder: Path, pages: int) -> tuple[Parts, int]:
    """Return the parts of a crawl after some pages, and the number of pages."""
    parts = Parts(folder)
    return parts, crawl(parts, pages)


def measure(pages: int) -> dict[str, Any]:
    """Crawl some pages in this process, and return what is in memory."""
    with tempfile.TemporaryDirectory() as name:
        started = time.process_time()
        parts, taken = grown_parts(Path(name) / "crawl", pages)
        seconds = time.process_time() - started
        gc.collect()
        owners = sizes_by_owner(parts)
        pairs = parts.corpus.pair_count
        parts.folder.close()
    return {"pages": taken, "pairs": pairs, "ms": 1e3 * seconds / taken, "owners": owners}


def show_owners(sizes: list[int]) -> None:
    small, large = (_in_process_of_its_own("--one", size) for size in sizes)
    for each in (small, large):
        print(f"{each['pages']:,} pages, {each['pairs']:,} pairs, CPU {each['ms']:.2f} ms a page")
    further = large["pages"] - small["pages"]
    grown = {
        owner: (size - small["owners"].get(owner, 0)) / further
        for owner, size in large["owners"].items()
        if owner not in BOUNDED
    }
    print("| owner | bytes a page |")
    print("|---|---:|")
    for owner, size in sorted(grown.items(), key=lambda each: -each[1])[:SHOWN]:
        print(f"| {owner} | {size:,.0f} |")
    print(f"| all | {sum(grown.values()):,.0f} |")


def measure_waiting(urls: int) -> dict[str, float]:
    """Return the memory of URLs that wait in the frontier, and of those that are done."""
    with tempfile.TemporaryDirectory() as name:
        parts = Parts(Path(name) / "crawl")
        journal = parts.folder.journal
        journal.checkpoint(wait=True)
        tracemalloc.start()
        for number in range(urls):
            url = f"{HOST}/es/noticias/{number}/una-pagina.html"
            payload = msgpack.packb({"meta": {"depth": number % 7}})
            fingerprint = (
                number * 0x9E37_79B9_7F4A % (1 << 62)
            )  # does not fill the cache of real ones
            parts.frontier.push(fingerprint, url, "sample.example", number / urls, payload)
        journal.checkpoint(wait=True)
        gc.collect()
        waiting = tracemalloc.get_traced_memory()[0]
        while (entry := parts.frontier.pop(time.monotonic())) is not None:
            parts.frontier.end(entry.fingerprint, State.DONE, "stored")
        journal.checkpoint(wait=True)
        del entry
        gc.collect()
        ended = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        parts.folder.close()
    return {"waiting": waiting / urls, "ended": ended / urls}


def measure_crawl(pages: int) -> None:
    """Crawl the sample site over HTTP; print what the kernel reports about the process."""
    with serve_demo(pages=pages // 2) as server, tempfile.TemporaryDirectory() as name:
        asked = len(server.paths())
        target = Target("demo", server.url, "spa-eus", pages, lambda: len(server.paths()))
        command = [*ours(target, Path(name)), "-s", "BILINGUAL_SITE_PAGES=0"]
        process = subprocess.Popen(command, cwd=Path(__file__).parent.parent)
        peak = 0
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            with contextlib.suppress(OSError):
                told = dict(re.findall(r"(VmHWM|VmRSS):\s*(\d+) kB", status.read_text()))
                peak = max(peak, int(told.get("VmHWM", 0)))
            time.sleep(0.5)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        fetched = len(server.paths()) - asked
    cpu = 1e3 * (usage.ru_utime + usage.ru_stime) / fetched
    print(f"| {fetched:,} | {peak / 1024:.0f} | {cpu:.2f} |", flush=True)


def _in_process_of_its_own(option: str, size: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.memory", option, str(size)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pages", type=int, nargs=2, help="the two sizes")
    parser.add_argument("--waiting", action="store_true", help="URLs that wait in the frontier")
    parser.add_argument("--crawl", action="store_true", help="whole crawls, by the kernel")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--one-crawl", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
    elif options.one_crawl:
        measure_crawl(options.one_crawl)
    elif options.waiting:
        print("| URLs | bytes a waiting URL | bytes a URL that has ended |")
        print("|---:|---:|---:|")
        for urls in options.pages or URLS:
            found = measure_waiting(urls)
            print(f"| {urls:,} | {found['waiting']:.0f} | {found['ended']:.0f} |", flush=True)
    elif options.crawl:
        print("| pages | peak, MB | CPU ms a page |")
        print("|---:|---:|---:|", flush=True)
        for pages in options.pages or CRAWLED:
            command = [sys.executable, "-m", "benchmarks.memory", "--one-crawl", str(pages)]
            subprocess.run(command, check=True)
    else:
        show_owners(options.pages or list(SIZES))


if __name__ == "__main__":
    main()
