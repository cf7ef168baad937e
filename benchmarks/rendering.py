"""The cost of rendering, and whether the browser's memory stays flat over many pages.

    python -m benchmarks.rendering                the table of docs/experiments/benchmarks.md
    python -m benchmarks.rendering --pages 1000

The pages are empty until a script has fetched their text, and half of them have a language switch
that is clicked as well. They are rendered two at a time, as in a crawl: in one browser, without
delays, from a server on loopback. Memory is the resident memory of all processes of the browser and
of Playwright's driver (shared memory counts in each), and that of the crawler itself.
"""

import argparse
import asyncio
import json
import resource
import time
from resource import RUSAGE_CHILDREN, RUSAGE_SELF
from typing import Any

import psutil
from scrapy.crawler import Crawler

from bilingual_crawler.crawl.browser.resources import Resource
from tests.support.bilingual_texts import BASQUE, SPANISH
from tests.support.browser import IDENTITY, in_a_crawl, read
from tests.support.fetching import Site
from tests.support.scripted_site import FILL, JSON, SCRIPT, shell

EVERY = 50
AT_ONCE = 2
BUTTON = '<button data-lang="eu">EU</button>'
BUNDLE = FILL + (
    "fill('es'); const button = document.querySelector('button');"
    "if (button) button.onclick = () => fill('eu');"
)
ANSWERS = {
    "/bundle.js": (200, SCRIPT, BUNDLE.encode()),
    "/texts/es.json": (200, JSON, json.dumps(SPANISH).encode()),
    "/texts/eu.json": (200, JSON, json.dumps(BASQUE).encode()),
}


def memory() -> tuple[float, float]:
    """Return the megabytes of the browser with its driver, and of this process."""
    me = psutil.Process()
    browser = 0
    for process in me.children(recursive=True):
        try:
            browser += process.memory_info().rss
        except psutil.Error:
            continue
    return browser / 1e6, me.memory_info().rss / 1e6


class Measurement:
    """Renders pages and prints a row of the table for every fifty of them."""

    def __init__(self, url: str, pages: int) -> None:
        self._url = url
        self._numbers = iter(range(pages))
        self.done = self.variants = 0
        self.seconds = 0.0

    async def run(self, crawler: Crawler) -> None:
        from bilingual_crawler.crawl.browser.renderer import Renderer  # noqa: PLC0415 - reactor

        self._renderer = Renderer(crawler, "")
        print("| pages | pages/s | browser, MB | crawler, MB |\n|---:|---:|---:|---:|")
        started = self._last = time.monotonic()
        try:
            await asyncio.gather(*(self._work() for _ in range(AT_ONCE)))
        finally:
            await self._renderer.close()
        self.seconds = time.monotonic() - started

    async def _work(self) -> None:
        for number in self._numbers:
            found = await self._renderer.render(self._terms(number), IDENTITY)
            assert found.page is not None
            assert found.page.document.language == "spa"
            self.variants += len(found.variants)
            self.done += 1
            if self.done % EVERY == 0:
                self._print_row()

    def _terms(self, number: int) -> Any:
        from bilingual_crawler.crawl.browser.visit import Terms  # noqa: PLC0415 - reactor

        url = f"{self._url}/page/{number}"
        markup = shell(title=f"Page {number}")
        if number % 2:
            markup = markup.replace('<div id="app">', f'{BUTTON}<div id="app">')
        plain = Resource(200, {"content-type": "text/html; charset=utf-8"}, markup.encode())
        return Terms(
            url=url,
            plain=plain,
            read=read(url),
            languages=("spa", "eus"),
            seconds=30.0,
            largest=10_000_000,
        )

    def _print_row(self) -> None:
        now = time.monotonic()
        browser, own = memory()
        rate = EVERY / (now - self._last)
        print(f"| {self.done} | {rate:.1f} | {browser:,.0f} | {own:,.0f} |", flush=True)
        self._last = now


def milliseconds(usage: resource.struct_rusage) -> float:
    return 1000 * (usage.ru_utime + usage.ru_stime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pages", type=int, default=500)
    pages = parser.parse_args().pages
    with Site(ANSWERS) as server:
        measurement = Measurement(server.url, pages)
        in_a_crawl(measurement.run)
    own, others = (resource.getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    print(
        f"\n{measurement.done} pages and {measurement.variants} languages switched to in "
        f"{measurement.seconds:.0f} s: {measurement.done / measurement.seconds:.1f} pages/s; "
        f"{milliseconds(own) / pages:.0f} ms of CPU a page in the crawler and "
        f"{milliseconds(others) / pages:.0f} in the browser; {len(server.asked)} requests to the "
        "server"
    )


if __name__ == "__main__":
    main()
