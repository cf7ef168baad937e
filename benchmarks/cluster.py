"""Measures the stages of `scrapy corpus build --engine spark` on recorded sites.

    python -m benchmarks.cluster                      each stage, and the loss of splitting a site
    python -m benchmarks.cluster --spark --pages 5000  all of it on Spark: growth, cores, shuffle

For Spark, sites are repeated under other host names (`benchmarks.repeated_sites`). Without --spark
the very functions that the tasks call are measured in this process, in seconds of processor time,
so a busy machine matters little.
"""

import argparse
import json
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

from benchmarks.recorded_pairs import SHARED
from benchmarks.repeated_sites import SITES as REPEATED
from benchmarks.repeated_sites import write_sites
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.cluster.near_copies import signature_of
from bilingual_crawler.corpus.cluster.site_harvest import (
    DOCUMENT,
    align_site,
    harvest_site,
    learn_from,
)
from bilingual_crawler.corpus.cluster.site_parts import parts_of
from bilingual_crawler.corpus.cluster.source_rows import SourceRow, rows_of
from bilingual_crawler.corpus.cluster.spark_build import ClusterTask, SparkBuild, open_session
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.languages import LanguagePair

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SITES = {
    "eulaliavila": "cat-spa",
    "grial": "eng-spa",
    "management-durable": "deu-fra",
    "olga-astro": "eng-rus",
    "sabda": "eng-spa",
    "sara-medical": "ara-eng",
    "tabernaedariak": "eus-spa",
    "xezpeleta": "eng-eus",
}
PARTS = (2, 4, 8)
CONFIG = Config()


def things_of(rows: list[SourceRow]) -> list[tuple[str, str]]:
    return [(row.kind, row.data) for row in rows]


def split(rows: list[SourceRow], parts: int) -> Iterator[list[SourceRow]]:
    pages = [row for row in rows if row.kind == DOCUMENT]
    said = [row for row in rows if row.kind != DOCUMENT]
    chosen = parts_of([row.keys for row in pages], parts)
    for part in range(parts):
        yield [*said, *(row for row, each in zip(pages, chosen, strict=True) if each == part)]


def urls(harvest: object) -> set[tuple[str, str]]:
    found = (json.loads(each.pair) for each in harvest.pairs)  # type: ignore[attr-defined]
    return {(each["url1"], each["url2"]) for each in found}


def measure_stages() -> None:
    aids = pairing_aids(CONFIG)
    seconds: defaultdict[str, float] = defaultdict(float)
    totals: Counter[str] = Counter()
    lost = {parts: [0, 0] for parts in PARTS}
    print("| site | pages | pairs |", " | ".join(f"found in {n} parts" for n in PARTS), "|")
    for name, langs in SITES.items():
        pair, counts = LanguagePair.parse(langs), Counter[str]()
        began = time.process_time()
        path = SHARED / "sites" / f"{name}.warc.gz"
        rows = list(rows_of(str(path), [pair], CONFIG, counts))
        seconds["extract"] += time.process_time() - began
        pages = counts["pages"] + sum(row.kind == DOCUMENT for row in rows)
        totals["read"] += pages
        totals["bytes"] += path.stat().st_size
        totals["shuffled"] += sum(len(row.data) for row in rows)
        taken = sum(row.kind == DOCUMENT for row in rows)
        totals["taken"] += taken
        began = time.process_time()
        whole = harvest_site(things_of(rows), pair, CONFIG, aids)
        seconds["pair"] += time.process_time() - began
        began = time.process_time()
        for each in whole.pairs:
            signature_of(each.first + each.second)
        seconds["sign"] += time.process_time() - began
        totals["pairs"] += len(whole.pairs)
        began = time.process_time()
        learned = learn_from(whole.pairs)
        seconds["learn"] += time.process_time() - began
        began = time.process_time()
        sentences, _ = align_site(whole.pairs, learned)
        seconds["align"] += time.process_time() - began
        totals["sentences"] += len(sentences)
        cells = []
        for parts in PARTS:
            found: set[tuple[str, str]] = set()
            for some in split(rows, parts):
                found |= urls(harvest_site(things_of(some), pair, CONFIG, aids))
            same = len(found & urls(whole))
            lost[parts][0] += same
            lost[parts][1] += len(whole.pairs)
            cells.append(f"{same} of {len(whole.pairs)}")
        print(
            f"| {name} ({langs}) | {taken} | {len(whole.pairs)} |",
            " | ".join(cells),
            "|",
            flush=True,
        )
    for parts, (same, all_pairs) in lost.items():
        print(f"{parts} parts: {same} of {all_pairs} pairs, {same / max(all_pairs, 1):.3f}")
    print(dict(totals), {name: round(spent, 1) for name, spent in seconds.items()})
    print(f"extract: {totals['read'] / seconds['extract']:.0f} pages per core-second")
    print(f"pair: {totals['taken'] / seconds['pair']:.0f} pages per core-second")
    for stage in ("sign", "learn", "align"):
        print(f"{stage}: {totals['pairs'] / seconds[stage]:.0f} document pairs per core-second")


class Spent(NamedTuple):
    """What has been spent up to a moment, in seconds."""

    wall: float
    python: float
    java: float

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(*(mine - its for mine, its in zip(self, other, strict=True)))


def spent_so_far() -> Spent:
    """Return processor time of this process and all below it, ended ones included."""
    python = java = 0.0
    this = psutil.Process()
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            own, ended = times.user + times.system, times.children_user + times.children_system
            is_java = process.name() == "java"
            java, python = java + own * is_java, python + own * (not is_java) + ended
    return Spent(time.perf_counter(), python, java)


class MeasuredBuild(SparkBuild):
    """A build that notes what each stage costs."""

    def __init__(self, task: ClusterTask, session: "SparkSession") -> None:
        super().__init__(task, session)
        self.stages: dict[str, Spent] = {}

    def _stage(self, name: str, make: "Callable[[], DataFrame]") -> "DataFrame":
        began = spent_so_far()
        table = super()._stage(name, make)
        self.stages[name] = spent_so_far() - began
        return table


def shuffled_bytes(log: Path) -> int:
    """Return the bytes that the tasks of a session have written for others."""
    total = 0
    for file in log.rglob("*"):
        for line in file.read_text().splitlines() if file.is_file() else ():
            if '"SparkListenerTaskEnd"' in line:
                metrics = json.loads(line).get("Task Metrics", {})
                total += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    return total


def measure_spark(pages: int, cores: int, warcs: Path | None) -> None:
    """Build a corpus from so many pages on Spark, and print what each stage cost."""
    with tempfile.TemporaryDirectory() as name:
        folder, log = Path(name), Path(name) / "log"
        log.mkdir()
        if warcs is None:
            warcs = folder / "warcs"
            write_sites(warcs, pages)
        os.environ["PYSPARK_SUBMIT_ARGS"] = (
            f"--conf spark.eventLog.enabled=true --conf spark.eventLog.dir={log.as_uri()}"
            " --conf spark.eventLog.compress=false --driver-memory 4g pyspark-shell"
        )
        began = spent_so_far()
        session = open_session(f"local[{cores}]")
        started = spent_so_far() - began
        task = ClusterTask(
            inputs=(f"{warcs}/*.warc.gz",),
            out=f"{folder}/out",
            pairs=tuple(map(LanguagePair.parse, sorted(set(REPEATED.values())))),
            config=CONFIG,
        )
        build = MeasuredBuild(task, session)
        account = build.run()
        whole = spent_so_far() - began
        rest = whole - started
        for each in build.stages.values():
            rest = rest - each
        counts = account["counts"]
        table = session.read.parquet(f"{folder}/out/stages/1-pages")
        taken = table.filter(f"kind = '{DOCUMENT}'").count()
        read = taken + counts.get("pages: off_language", 0)
        session.stop()
        pairs = sum(account["document_pairs"].values())
        copies = counts.get("pairs: copies of another", 0)
        print(f"{read:,} pages, {taken:,} in the languages, {cores} cores")
        print("| stage | seconds | processor, Python | processor, Java | per core-second |")
        print("|---|---:|---:|---:|---:|")
        done = {"1-pages": read, "3-pairs": taken, "4-single": pairs + copies}
        done["5-sentences"] = pairs
        for stage, cost in {"start": started, **build.stages, "rest": rest, "all": whole}.items():
            each = done.get(stage, read) / max(cost.python + cost.java, 0.001)
            cells = (cost.wall, cost.python, cost.java, each)
            print(f"| {stage} |", " | ".join(f"{cell:,.0f}" for cell in cells), "|", flush=True)
        size = shuffled_bytes(log)
        print(f"{size:,} bytes shuffled, {size / read:,.0f} per page; {pairs:,} document pairs,")
        print(f"{copies:,} copies, {sum(account['sentence_pairs'].values()):,} sentence pairs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--pages", type=int, default=3_000)
    parser.add_argument("--warcs", type=Path, help="files of benchmarks.repeated_sites")
    parser.add_argument("--cores", type=int, default=1)
    args = parser.parse_args()
    if args.spark:
        measure_spark(args.pages, args.cores, args.warcs)
    else:
        measure_stages()


if __name__ == "__main__":
    main()
