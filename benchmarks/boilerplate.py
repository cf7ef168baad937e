"""Boilerplate removal on recorded sites: ours and three libraries, side by side.

    pip install trafilatura resiliparse justext
    BILINGUAL_SHARED=folder-with-sites python -m benchmarks.boilerplate [PAIRS-A-SITE]
    BILINGUAL_SHARED=folder-with-sites python -m benchmarks.boilerplate thresholds

The folder holds `sites/NAME.warc.gz` and `sites/NAME.gold.tsv` (url, url, language, language).
No page was annotated by hand; the sites themselves provide three measures:

leak   of the paragraphs kept, the share that is on more than 20% of the pages of the same site
       and language: the template, or what looks like it
loss   of the paragraphs of 80 characters or more that are on only one page, the share that is
       thrown away
r      correlation of the logarithms of the lengths kept of a page and of its translation

Every method judges the same paragraphs, ours; a library keeps one if its words occur in the text
that the library returns.
"""

import math
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from warcio.archiveiterator import ArchiveIterator

from bilingual_crawler.documents import boilerplate as rules
from bilingual_crawler.documents.boilerplate import boilerplate
from bilingual_crawler.documents.page import NEUTRAL, Block
from bilingual_crawler.documents.reader import read_page
from bilingual_crawler.languages import language_of_tag

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[2] / "shared"))
TEMPLATE_SHARE = 0.2
LONG = 80
THRESHOLDS = {
    "PROSE_LENGTH": (50, 65, 80, 100, 120),
    "LINKED_SHARE": (0.33, 0.5, 0.66, 0.8),
    "LONG_ANCHOR": (25, 30, 40, 60, 80),
}
NOT_WORDS = re.compile(r"\W+")


class Page(NamedTuple):
    body: bytes
    language: str
    blocks: list[Block]


class Site(NamedTuple):
    pages: dict[str, Page]
    frequency: dict[str, Counter[str]]
    sizes: Counter[str]
    pairs: list[tuple[str, str]]
    sample: list[str]

    def is_template(self, language: str, text: str) -> bool:
        return self.frequency[language][text] > max(3, TEMPLATE_SHARE * self.sizes[language])


def load(warc: Path, pairs: int) -> Site:
    pages: dict[str, Page] = {}
    with warc.open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                body = record.content_stream().read()
                read = read_page(body)
                url = record.rec_headers.get_header("WARC-Target-URI")
                pages[url] = Page(body, read.html_language[:2].lower(), read.blocks)
    frequency: dict[str, Counter[str]] = {}
    for page in pages.values():
        texts = {block.text for block in page.blocks}
        frequency.setdefault(page.language, Counter()).update(texts)
    gold = warc.with_name(warc.name.replace(".warc.gz", ".gold.tsv")).read_text("utf-8")
    rows = [line.split("\t")[:2] for line in gold.splitlines()]
    known = [(first, second) for first, second in rows if first in pages and second in pages]
    chosen = random.Random(0).sample(known, min(pairs, len(known)))
    some = random.Random(0).sample(sorted(pages), min(pairs, len(pages)))
    sample = sorted({url for pair in chosen for url in pair} | set(some))
    sizes = Counter(page.language for page in pages.values())
    return Site(pages, frequency, sizes, chosen, sample)


def words(text: str) -> str:
    return NOT_WORDS.sub("", text.lower())


def found_in(text: str, blocks: list[Block]) -> list[bool]:
    lines = {words(line) for line in text.splitlines()}
    whole = words(text)
    spelled = [words(block.text) for block in blocks]
    return [each in lines or (len(each) >= 25 and each in whole) for each in spelled]


def ours(page: Page) -> list[bool]:
    return [not flag for flag in boilerplate(read_page(page.body).blocks)]


def flags_alone(page: Page) -> list[bool]:
    return [not flag for flag in boilerplate(page.blocks)]


def without_regions(page: Page) -> list[bool]:
    blind = [replace(block, region=NEUTRAL) for block in page.blocks]
    return [not flag for flag in boilerplate(blind)]


def everything(page: Page) -> list[bool]:
    return [True] * len(page.blocks)


def libraries() -> dict[str, Callable[[Page], str]]:
    import justext  # noqa: PLC0415 - needed here alone
    import trafilatura  # noqa: PLC0415
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415
    from resiliparse.parse.html import HTMLTree  # noqa: PLC0415

    stoplists = {name: justext.get_stoplist(name) for name in justext.get_stoplists()}

    def with_trafilatura(page: Page, **options: bool) -> str:
        text = trafilatura.extract(page.body.decode(), include_comments=False, **options)
        return str(text or "")

    def with_resiliparse(page: Page) -> str:
        tree = HTMLTree.parse_from_bytes(page.body, "utf-8")
        text = extract_plain_text(
            tree, main_content=True, list_bullets=False, alt_texts=False, comments=False
        )
        return str(text)

    def with_justext(page: Page) -> str:
        language = language_of_tag(page.language)
        stoplist = stoplists.get(language.name if language else "", frozenset())
        paragraphs = justext.justext(page.body, stoplist, encoding="utf-8")
        return "\n".join(each.text for each in paragraphs if not each.is_boilerplate)

    return {
        "resiliparse": with_resiliparse,
        "trafilatura": with_trafilatura,
        "trafilatura, recall": lambda page: with_trafilatura(page, favor_recall=True),
        "jusText": with_justext,
    }


def run(name: str, sites: list[Site], method: Callable[[Page], list[bool] | str]) -> None:
    seconds, pages, length = 0.0, 0, 0
    kept, template, long, lost = 0, 0, 0, 0
    sides: tuple[list[float], list[float]] = ([], [])
    for site in sites:
        lengths: dict[str, int] = {}
        for url in site.sample:
            page = site.pages[url]
            start = time.process_time()
            result = method(page)
            seconds += time.process_time() - start
            flags = found_in(result, page.blocks) if isinstance(result, str) else result
            lengths[url] = 0
            for block, keep in zip(page.blocks, flags, strict=True):
                unique = site.frequency[page.language][block.text] == 1
                long += unique and len(block.text) >= LONG
                lost += unique and len(block.text) >= LONG and not keep
                kept += keep
                template += keep and site.is_template(page.language, block.text)
                lengths[url] += keep * len(block.text)
        pages += len(site.sample)
        length += sum(lengths.values())
        for pair in site.pairs:
            for side, url in zip(sides, pair, strict=True):
                side.append(math.log1p(lengths[url]))
    print(
        f"| {name:21} | {pages / max(seconds, 1e-9):9.0f} | {length / pages:10.0f} "
        f"| {template / kept:6.3f} | {lost / long:6.3f} | {statistics.correlation(*sides):6.3f} |",
        flush=True,
    )


def vary(sites: list[Site]) -> None:
    for name, values in THRESHOLDS.items():
        usual = getattr(rules, name)
        for value in values:
            setattr(rules, name, value)
            run(f"{name} {value}", sites, flags_alone)
        setattr(rules, name, usual)


def main() -> None:
    varied = sys.argv[1:] == ["thresholds"]
    pairs = int(sys.argv[1]) if sys.argv[1:] and not varied else 20
    sites = [load(warc, pairs) for warc in sorted((SHARED / "sites").glob("*.warc.gz"))]
    if not sites:
        sys.exit(f"There are no recorded sites in {SHARED / 'sites'}; set BILINGUAL_SHARED.")
    print(f"{len(sites)} sites, {sum(len(site.sample) for site in sites)} pages, ", end="")
    print(f"{sum(len(site.pairs) for site in sites)} pairs")
    print("| method                | pages/s   | characters | leak   | loss   | r      |")
    print("|-----------------------|-----------|------------|--------|--------|--------|")
    if varied:
        vary(sites)
        return
    run("ours, with the parse", sites, ours)
    run("ours, flags alone", sites, flags_alone)
    run("ours, no landmarks", sites, without_regions)
    for name, method in libraries().items():
        run(name, sites, method)
    run("everything kept", sites, everything)


if __name__ == "__main__":
    main()
