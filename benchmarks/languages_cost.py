"""Processor time per page of a crawl for two to ten languages: reading pages, and pairing them.

The pages of a recorded site come in the order of its WARC file. For each number of languages those
are taken that have the most pages. Everything counts that happens to a page after it was fetched:
it is read, kept, paired, and settled at the end.

Pages in different languages are different pages: on some sites the two languages with the most
pages are those that are hardly translated. So a crawl for many languages is compared with crawls
for two that get the same pages: those of the first language with each other one, all pages added
up. With `--scored` the same is measured of whole simulated crawls with a scorer, links and all.

    python -m benchmarks.languages_cost [--scored adaptive] [SITE ...]
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence

from benchmarks.clusters import paired
from benchmarks.recorded_pairs import SHARED, documents
from bilingual_crawler.documents.document import Document
from bilingual_crawler.lab.replay.gold import ENDING
from bilingual_crawler.lab.replay.measure import Job, NothingToMeasureError
from bilingual_crawler.lab.simulation.measure import Simulation
from bilingual_crawler.languages import parse_parallel

NUMBERS = (2, 3, 5, 10)
Cost = tuple[float, int]
"""Seconds, and the pages that they were spent on."""


def paired_cost(pages: Sequence[Document], codes: Sequence[str]) -> Cost:
    """Return what it costs to pair the pages in some languages."""
    some = [page for page in pages if page.language in codes]
    return paired(some, parse_parallel(",".join(codes))).seconds, len(some)


def crawled_cost(site: str, scorer: str, codes: Sequence[str]) -> Cost:
    """Return what a simulated crawl for some languages costs, all its pages read before."""
    folder = SHARED / "sites"
    job = Job(
        warc=folder / f"{site}.warc.gz", gold=folder / f"{site}{ENDING}", langs="-".join(codes),
        scorers=(scorer,),
    )  # fmt: skip
    try:
        simulation = Simulation(job)
    except NothingToMeasureError:
        return 0.0, 0
    simulation.run_scorer("breadth_first")
    simulation.run_scorer(scorer)  # now all answers of the models are known
    started = time.process_time()
    run = simulation.run_scorer(scorer)
    seconds = time.process_time() - started
    simulation.web.save()
    return seconds, len(run.order)


def per_page(costs: Sequence[Cost]) -> float:
    """Return milliseconds per page."""
    return 1000 * sum(seconds for seconds, _ in costs) / max(1, sum(pages for _, pages in costs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sites", nargs="*", default=["omegat", "antennapod"])
    parser.add_argument("--scored", default="", help="whole crawls with this scorer")
    options = parser.parse_args()
    print("| site | languages | pages | read, ms | each two, ms | all at once, ms | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for site in options.sites:
        started = time.process_time()
        pages = list(documents(SHARED / "sites" / f"{site}.warc.gz"))
        reading = 1000 * (time.process_time() - started) / len(pages)
        codes = [code for code, _ in Counter(page.language for page in pages).most_common() if code]

        def cost_of(some: Sequence[str], site: str = site, pages: list[Document] = pages) -> Cost:
            if options.scored:
                return crawled_cost(site, options.scored, some)
            return paired_cost(pages, some)

        report(site, reading, codes, cost_of)


def report(
    site: str, reading: float, codes: Sequence[str], cost_of: Callable[[Sequence[str]], Cost]
) -> None:
    """Print a row for each number of languages."""
    of_two: dict[str, Cost] = {}
    for number in NUMBERS:
        first, *others = codes[:number]
        of_two |= {each: cost_of((first, each)) for each in others if each not in of_two}
        apart = reading + per_page([of_two[each] for each in others])
        together = cost_of(codes[:number])
        one = reading + per_page([together])
        cells = f"{together[1]:,} | {reading:.1f} | {apart:.1f} | {one:.1f} | {one / apart:.2f}"
        print(f"| {site} | {1 + len(others)} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
