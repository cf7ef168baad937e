"""Measures the stages of `scrapy corpus build --engine spark` on recorded sites.

    python -m benchmarks.cluster                      each stage, and the loss of splitting a site
    python -m benchmarks.cluster --spark --copies 20  all of it on Spark: growth, cores, shuffle

Sites are repeated under other host names. Without --spark the very functions that the tasks call
are measured in this process, in seconds of processor time, so a busy machine matters little.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.recorded_pairs import SHARED
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
from bilingual_crawler.corpus.cluster.spark_build import ClusterTask, SparkBuild
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.warc import Exchange, Records
from bilingual_crawler.store.warc_reader import answer_of, read_records, target_of

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


def answers_of(path: Path) -> Iterator[tuple[str, Exchange]]:
    """The answers in a recorded site, with their URLs."""
    for record in read_records(path, lambda _: None):
        url = target_of(record)
        if url is None or not record.is_http or record.headers.get("WARC-Type") != "response":
            continue
        answer = answer_of(record)
        headers = [(name, value) for name, value in answer.headers]
        yield (
            url,
            Exchange(
                url=url, arrived=1.7e9, status=answer.status, headers=headers, body=answer.body
            ),
        )


def renamed(path: Path, target: Path, number: int) -> None:
    """Write a recorded site again under another host name."""
    records = Records({"software": "benchmark"})
    hosts = {re.match(r"https?://([^/]+)", url)[1] for url, _ in answers_of(path)}  # type: ignore[index]
    names = [
        (host, re.sub(r"[^a-z0-9-]", "-", host) + f"-{number}.example") for host in sorted(hosts)
    ]
    with target.open("wb") as out:
        for url, exchange in answers_of(path):
            texts = [url, exchange.body.decode("utf-8", "surrogateescape")]
            headers = []
            for name, value in exchange.headers:
                said = value.decode("latin-1")
                for old, new in names:
                    said = said.replace(old, new)
                headers.append((name, said.encode("latin-1", "replace")))
            for old, new in names:
                texts = [text.replace(old, new) for text in texts]
            body = texts[1].encode("utf-8", "surrogateescape")
            made = Exchange(
                url=texts[0], arrived=1.7e9, status=exchange.status, headers=headers, body=body
            )
            out.write(records.of(made))


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


def measure_spark(copies: int, cores: int) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    with tempfile.TemporaryDirectory() as name:
        folder, log = Path(name), Path(name) / "log"
        log.mkdir()
        for number in range(copies):
            for site in ("xezpeleta", "eulaliavila"):
                renamed(
                    SHARED / "sites" / f"{site}.warc.gz",
                    folder / f"{site}-{number}.warc.gz",
                    number,
                )
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": log.as_uri(),
            "spark.sql.shuffle.partitions": "8",
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = SparkSession.builder.master(f"local[{cores}]")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        task = ClusterTask(
            inputs=(f"{folder}/*.warc.gz",),
            out=f"{folder}/out",
            pairs=(LanguagePair.parse("cat-spa"), LanguagePair.parse("eng-eus")),
            config=CONFIG,
        )
        began = time.perf_counter()
        account = SparkBuild(task, session).run()
        wall = time.perf_counter() - began
        session.stop()
        shuffled = cpu = 0
        for file in log.rglob("*"):
            for line in file.read_text().splitlines() if file.is_file() else ():
                if '"SparkListenerTaskEnd"' in line:
                    metrics = json.loads(line).get("Task Metrics", {})
                    shuffled += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                    cpu += metrics["Executor Run Time"]
        counts = account["counts"]
        pages = counts.get("pages", 0) + counts.get("cat-spa: pages", 0)
        print(
            f"{copies} copies, {cores} cores: {pages:,} pages, {wall:.0f} s,"
            f" {cpu / 1000:.0f} s in tasks,"
        )
        print(
            f"  {shuffled:,} bytes shuffled, {account['document_pairs']} document pairs,"
            f" {account['sentence_pairs']} sentence pairs"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--copies", type=int, default=5)
    parser.add_argument("--cores", type=int, default=1)
    args = parser.parse_args()
    if args.spark:
        measure_spark(args.copies, args.cores)
    else:
        measure_stages()


if __name__ == "__main__":
    main()
