"""`scrapy corpus build --engine spark`: a corpus of thousands of WARC files, on Spark.

Five stages, each a table in OUT/stages that a later run finds finished: the pages of all sources,
the languages of each site, the pairs of each site, the pairs without global copies, their
sentences. Spark moves rows between machines and starts tasks again that fail; what a task does is
in `site_harvest`, which knows nothing of Spark. This is the only module that imports it.

Texts are what costs on the way between machines. So pages of sites that lack one of the languages
are left where they are, and copies are found by numbers alone: bands, signatures and digests.

Near copies are only looked for on other sites: pages of one site may differ in no more than a
title and a table, in each language, and still be different pairs.
"""

import hashlib
import json
import math
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import psutil

from bilingual_crawler import __version__
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.cluster.near_copies import SIMILAR
from bilingual_crawler.corpus.cluster.site_harvest import DOCUMENT, PairWithTexts
from bilingual_crawler.corpus.cluster.source_rows import sources_of
from bilingual_crawler.corpus.cluster.stage_tables import (
    ACCOUNT,
    LEARNED,
    PAGES,
    PAIRS,
    PLACES,
    ROWS_AT_ONCE,
    SENTENCES,
    Words,
    learned_table,
    page_tables,
    pair_table,
    place_table,
    sentence_table,
    words_in,
)
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

MOST_TO_LEARN_FROM = 2_000
"""Document pairs per two languages from which the alignment learns its words."""
PAGES_PER_TASK = 5_000
MOST_TASKS = 10_000
"""More would exchange pieces of less than a kilobyte."""
MOST_TO_SEND = 1_000_000
"""Names or numbers of rows that each machine gets a copy of; more are joined by a shuffle."""
MOST_MEMORY = 32
"""GB of Java's memory on one machine, unless PYSPARK_SUBMIT_ARGS says --driver-memory."""
OWN_PARTITIONS = "200"
"""What Spark itself sets: any other number was chosen, and stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTask:
    """What to build on a cluster, and from what."""

    inputs: tuple[str, ...]
    out: str
    pairs: tuple[LanguagePair, ...]
    config: Config
    master: str = "local[*]"
    site_pages: int = 20_000
    """Pages of a site that one task takes; a larger site is split."""

    @property
    def stamp(self) -> str:
        """What must be the same for the stages of an earlier run to count."""
        files = sources_of(self.inputs)  # a pattern may name other files than it did
        said = (files, str(self.pairs), self.config, self.site_pages, __version__)
        return hashlib.sha256(repr(said).encode()).hexdigest()


def open_session(master: str) -> "SparkSession":
    """Start Spark, or say what it needs."""
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            "--engine spark needs pyspark: pip install 'bilingual-crawler[spark]'."
        ) from None
    # pandas is not used; Spark says on import that its newest version is not supported fully
    warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("bilingual-crawler").master(master)
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # a site is much work for few bytes, by which Spark would join the parts of a table
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.parquet.compression.codec": "zstd",
    }
    if master.startswith("local"):
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        quarter = psutil.virtual_memory().total // 2**32
        options["spark.driver.memory"] = f"{max(1, min(quarter, MOST_MEMORY))}g"
    for name, value in options.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", ROWS_AT_ONCE)
    try:
        return builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as error:
        raise ConfigurationError(
            f"Spark does not start: {str(error).splitlines()[0][:200]}. It needs Java 17, and a"
            " --master such as local[4], spark://HOST:7077 or k8s://https://HOST:6443."
        ) from error


class SparkBuild:
    """Builds a corpus in stages."""

    def __init__(self, task: ClusterTask, session: "SparkSession") -> None:
        self._task = task
        self._spark = session
        self._stages = f"{task.out.rstrip('/')}/stages"

    def run(self) -> dict[str, Any]:
        """Run the stages that are not finished, write the corpus, and return the account."""
        self._check_stamp()
        pages = self._stage("1-pages", self._read_sources)
        sites = self._stage("2-sites", lambda: self._sites_of(pages))
        self._set_partitions(sites)
        pairs = self._stage("3-pairs", lambda: self._pair_sites(pages, sites))
        single = self._stage("4-single", lambda: self._without_copies(pairs))
        sentences = self._stage("5-sentences", lambda: self._align(single))
        out = self._task.out.rstrip("/")
        _write(single.drop("signature", "bands", "exact", "part", "counts"), f"{out}/documents")
        kept = sentences.filter("pair IS NOT NULL").drop("counts")
        _write(_each_text_once(kept), f"{out}/sentences")
        account = self._account(pages, sites, pairs, single, sentences)
        self._write_text(f"{out}/account.json", json.dumps(account, indent=1, ensure_ascii=False))
        return account

    def _account(
        self,
        pages: "DataFrame",
        sites: "DataFrame",
        pairs: "DataFrame",
        single: "DataFrame",
        sentences: "DataFrame",
    ) -> dict[str, Any]:
        """Return what became of every page, pair and sentence."""
        counts = sum(map(_sum_of, (pages, pairs, sentences)), Counter[str]())
        (alone,) = sites.filter("size(pairs) = 0").selectExpr("sum(pages)").first() or (None,)
        counts["pages"] += alone or 0
        counts["pages: no_other_language"] = alone or 0
        document_pairs = _by_languages(single)
        found = pairs.filter("pair IS NOT NULL").count()
        counts["pairs: copies of another"] = found - sum(document_pairs.values())
        aligned = sentences.filter("pair IS NOT NULL").count()
        written = f"{self._task.out.rstrip('/')}/sentences"
        by_languages = _by_languages(self._spark.read.parquet(written)) if aligned else {}
        counts["sentences: the same pair elsewhere"] = aligned - sum(by_languages.values())
        return {
            "langs": [str(pair) for pair in self._task.pairs],
            "document_pairs": document_pairs,
            "sentence_pairs": by_languages,
            "counts": dict(sorted((+counts).items())),
        }

    def _stage(self, name: str, make: "Callable[[], DataFrame]") -> "DataFrame":
        """Return the table of a stage, made now unless an earlier run has finished it."""
        place = f"{self._stages}/{name}"
        if not self._exists(f"{place}/_SUCCESS"):
            make().write.mode("overwrite").parquet(place)
        return self._spark.read.parquet(place)

    def _check_stamp(self) -> None:
        """Refuse a folder with the stages of another build."""
        place = f"{self._stages}/stamp"
        if not self._exists(place):
            self._write_text(place, self._task.stamp)
            return
        (row,) = self._spark.read.text(place, wholetext=True).collect()
        if row[0].strip() != self._task.stamp:
            raise ConfigurationError(
                f"{self._task.out} holds a build of other inputs or settings: choose another"
                " folder with --out, or delete it."
            )

    def _path(self, place: str) -> tuple[Any, Any]:
        """Return Hadoop's file system for an address, and the path in it."""
        jvm: Any = self._spark.sparkContext._jvm  # noqa: SLF001 - the only way to all file systems
        path = jvm.org.apache.hadoop.fs.Path(place)
        configuration = self._spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
        return path.getFileSystem(configuration), path

    def _exists(self, place: str) -> bool:
        system, path = self._path(place)
        return bool(system.exists(path))

    def _write_text(self, place: str, text: str) -> None:
        system, path = self._path(place)
        stream = system.create(path, True)
        stream.write(bytearray(text.encode()))
        stream.close()

    def _read_sources(self) -> "DataFrame":
        """Stage 1: every page of every source, with its site."""
        task, sources = self._task, sources_of(self._task.inputs)
        names = self._spark.sparkContext.broadcast(sources)

        def read(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    source = names.value[number]
                    for table in page_tables(number, source, task.pairs, task.config):
                        yield from table.to_batches()

        numbers = self._spark.range(0, len(sources), 1, min(len(sources), MOST_TASKS))
        return numbers.mapInArrow(read, PAGES)

    def _sites_of(self, pages: "DataFrame") -> "DataFrame":
        """Stage 2: each site with its pages, and the pairs of languages that it has both of."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        sides = f.flatten(f.collect_set("sides"))
        sites = pages.filter(f"kind = '{DOCUMENT}'").groupBy("site")
        counted = sites.agg(f.count("*").alias("pages"), sides.alias("sides"))
        both = [
            f.when(f.array_contains("sides", 2 * n) & f.array_contains("sides", 2 * n + 1), n)
            for n in range(len(self._task.pairs))
        ]
        return counted.select("site", "pages", f.array_compact(f.array(*both)).alias("pairs"))

    def _set_partitions(self, sites: "DataFrame") -> None:
        """Choose the number of tasks by the number of pages."""
        name = "spark.sql.shuffle.partitions"
        if self._spark.conf.get(name) == OWN_PARTITIONS:
            (pages,) = sites.filter("size(pairs) > 0").selectExpr("sum(pages)").first() or (None,)
            cores = self._spark.sparkContext.defaultParallelism
            wanted = max(2 * cores, math.ceil((pages or 0) / PAGES_PER_TASK))
            self._spark.conf.set(name, min(wanted, MOST_TASKS))

    def _pair_sites(self, pages: "DataFrame", sites: "DataFrame") -> "DataFrame":
        """Stage 3: the pairs of each site, or of each part of a large one."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        task = self._task
        some = sites.filter("size(pairs) > 0").select(
            "site", "pairs", f.ceil(f.col("pages") / task.site_pages).alias("parts")
        )
        if some.count() <= MOST_TO_SEND:
            some = f.broadcast(some)
        things = pages.filter(f"kind != '{ACCOUNT}'").drop("counts", "sides").join(some, "site")
        is_split = bool(sites.filter(f"pages > {task.site_pages}").take(1))
        things = self._split(things) if is_split else things.withColumn("part", f.lit(0))

        def pair(key: tuple[Any, ...], table: "pa.Table") -> "pa.Table":
            return pair_table(key[0].as_py(), key[1].as_py(), table, task.pairs, task.config)

        taken = things.select("site", "part", "source", "place", "kind", "data", "pairs")
        return taken.groupBy("site", "part").applyInArrow(pair, PAIRS)

    def _split(self, things: "DataFrame") -> "DataFrame":
        """Return the pages with the part of their site; what is said about pages goes to all."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        def assign(key: tuple[Any, ...], table: "pa.Table") -> "pa.Table":
            return place_table(key[0].as_py(), table)

        pages = things.filter(f"kind = '{DOCUMENT}' AND parts > 1")
        chosen = pages.select("site", "source", "place", "keys", "parts").groupBy("site")
        places = chosen.applyInArrow(assign, PLACES)
        things = things.join(places, ["site", "source", "place"], "left")
        everywhere = f.sequence(f.lit(0), f.col("parts").cast("int") - 1)
        own = f.array(f.coalesce("chosen", f.lit(0)).cast("int"))
        part = f.explode(f.when(f.col("kind") == DOCUMENT, own).otherwise(everywhere))
        return things.withColumn("part", part)

    def _without_copies(self, pairs: "DataFrame") -> "DataFrame":
        """Stage 4: one of the pairs with the same texts, and one of those that nearly agree."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        rows = pairs.filter("pair IS NOT NULL").withColumn(
            "id", f.xxhash64("langs", "url1", "url2", "part")
        )
        text, urls = f.xxhash64("langs", "exact"), f.xxhash64("langs", "url1", "url2")
        once = rows.select("id", "site", "langs", "bands", text.alias("text"), urls.alias("urls"))
        once = once.groupBy("text").agg(
            f.min(f.struct("id", "site", "langs", "bands", "urls")).alias("one")
        )
        once = once.select("one.*").groupBy("urls")
        once = once.agg(f.min(f.struct("id", "site", "langs", "bands")).alias("one"))
        once = once.select("one.*").cache()
        marks = once.select("id", "site", "langs", f.explode("bands").alias("band")).select(
            "id", "site", f.xxhash64("langs", "band").alias("band")
        )
        least = marks.groupBy("band").agg(
            f.min(f.struct("id", "site")).alias("least"), f.count("*").alias("size")
        )
        met = marks.join(least.filter("size > 1"), "band").filter("site != least.site")
        met = met.select("id", f.col("least.id").alias("other")).distinct()
        signed = rows.select("id", "signature")
        others = signed.toDF("other", "sign")
        same = f.expr(
            "aggregate(zip_with(signature, sign, (a, b) -> int(a = b)), 0,"
            " (sum, each) -> sum + each) / size(signature)"
        )
        copies = met.join(signed, "id").join(others, "other").filter(same >= SIMILAR)
        stay = once.select("id").join(copies.select("id").distinct(), "id", "left_anti")
        if once.count() <= MOST_TO_SEND:
            stay = f.broadcast(stay)
        return rows.join(stay, "id", "left_semi").drop("id")

    def _align(self, single: "DataFrame") -> "DataFrame":
        """Stage 5: the sentences of each site, with words that a sample of all sites has taught."""
        taught = self._spark.sparkContext.broadcast(self._learn(single))

        def align(key: tuple[Any, ...], table: "pa.Table") -> "pa.Table":
            return sentence_table(key[0].as_py(), table, taught.value)

        rows = single.select("langs", "site", *PairWithTexts._fields)
        return rows.groupBy("langs", "site").applyInArrow(align, SENTENCES)

    def _learn(self, single: "DataFrame") -> Words:
        """Return the words of each two languages, learned in a task for each."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        def learn(key: tuple[Any, ...], table: "pa.Table") -> "pa.Table":
            return learned_table(key[0].as_py(), table)

        rows = single.select("langs", *PairWithTexts._fields, f.xxhash64("url1", "url2").alias("n"))
        samples = (
            rows.filter(f.col("langs") == str(pair)).orderBy("n").limit(MOST_TO_LEARN_FROM)
            for pair in self._task.pairs
        )
        some = reduce(lambda one, other: one.union(other), samples)
        found = some.groupBy("langs").applyInArrow(learn, LEARNED).collect()
        words: Words = {}
        for row in found:
            words |= words_in(bytes(row["learned"]))
        return words


def _each_text_once(sentences: "DataFrame") -> "DataFrame":
    """Return the sentence pairs, of equal ones the first."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

    first = f.min_by(f.struct("*"), f.struct("url1", "pair", "at")).alias("row")
    same = f.xxhash64("langs", "text1", "text2")
    return sentences.groupBy(same.alias("text")).agg(first).select("row.*")


def _by_languages(table: "DataFrame") -> dict[str, int]:
    return {row["langs"]: row["count"] for row in table.groupBy("langs").count().collect()}


def _sum_of(table: "DataFrame") -> Counter[str]:
    """Return the counts of all rows of a table together; Spark adds them up."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

    each = table.filter("counts IS NOT NULL").select(
        f.explode(f.from_json("counts", "map<string, long>")).alias("name", "number")
    )
    found = each.groupBy("name").agg(f.sum("number").alias("number")).collect()
    return Counter({row["name"]: row["number"] for row in found})


def _write(table: "DataFrame", place: str) -> None:
    """Write a table with a folder per two languages."""
    table.write.mode("overwrite").partitionBy("langs").parquet(place)


def build_on_spark(task: ClusterTask) -> dict[str, Any]:
    """Build a corpus on Spark; return its account."""
    session = open_session(task.master)
    try:
        return SparkBuild(task, session).run()
    finally:
        session.stop()
