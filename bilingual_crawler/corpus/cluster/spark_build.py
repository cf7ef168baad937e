"""`scrapy corpus build --engine spark`: a corpus of thousands of WARC files, on Spark.

Four stages, each a table in OUT/stages that a later run finds finished: the pages of all sources,
the pairs of each site, the pairs without global copies, their sentences. Spark moves rows between
machines and starts tasks again that fail; what a task does is in `site_harvest`, which knows
nothing of Spark. This is the only module that imports it.

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bilingual_crawler import __version__
from bilingual_crawler.alignment.two_passes import Learned
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.cluster.near_copies import SIMILAR, bands_of, signature_of
from bilingual_crawler.corpus.cluster.site_harvest import (
    DOCUMENT,
    PairWithTexts,
    align_site,
    harvest_site,
    learn_from,
)
from bilingual_crawler.corpus.cluster.site_parts import parts_of
from bilingual_crawler.corpus.cluster.source_rows import rows_of, sources_of
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.store.sentence_pair import SentencePair

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

MOST_TO_LEARN_FROM = 2_000
"""Document pairs per two languages from which the alignment learns its words."""
ROWS_AT_ONCE = 500
ACCOUNT = "account"
"""The kind of rows that have counts and nothing else."""
_PAGES = (
    "site string, kind string, keys array<long>, source int, place long, data string, counts string"
)
_PLACES = "site string, source long, place long, chosen long"
_PAIRS = (
    "langs string, site string, url1 string, url2 string, pair string, first string,"
    " second string, exact string, signature array<long>, bands array<string>, counts string"
)
_TYPES = {"int": "long", "float": "double", "str": "string"}
_COLUMNS = fields(SentencePair)
_SENTENCES = ", ".join(
    (
        "langs string",
        *(f"{f.name} {_TYPES[getattr(f.type, '__name__', str(f.type))]}" for f in _COLUMNS),
        "counts string",
    )
)


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
    }
    if master.startswith("local"):
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
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
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        self._check_stamp()
        pages = self._stage("1-pages", self._read_sources)
        pairs = self._stage("2-pairs", lambda: self._pair_sites(pages))
        single = self._stage("3-single", lambda: self._without_copies(pairs))
        sentences = self._stage("4-sentences", lambda: self._align(single))
        counts = sum(map(_sum_of, (pages, pairs, sentences)), Counter[str]())
        found = pairs.filter("pair IS NOT NULL").count()
        counts["pairs: copies of another"] = found - single.count()
        rows = sentences.filter("pair IS NOT NULL").drop("counts")
        unique = rows.withColumn("text", f.xxhash64("langs", "text1", "text2"))
        best = unique.groupBy("text").agg(f.min(f.struct("url1", "pair", "at")).alias("best"))
        kept = (
            unique.join(best, "text")
            .filter("url1 = best.url1 AND pair = best.pair AND at = best.at")
            .drop("text", "best")
        )
        out = self._task.out.rstrip("/")
        _write(single.drop("signature", "bands", "exact", "counts"), f"{out}/documents")
        _write(kept, f"{out}/sentences")
        written = self._spark.read.parquet(f"{out}/sentences") if rows.take(1) else rows
        by_languages = {
            row["langs"]: row["count"] for row in written.groupBy("langs").count().collect()
        }
        counts["sentences: the same pair elsewhere"] = rows.count() - sum(by_languages.values())
        account = {
            "langs": [str(pair) for pair in self._task.pairs],
            "document_pairs": {
                row["langs"]: row["count"] for row in single.groupBy("langs").count().collect()
            },
            "sentence_pairs": by_languages,
            "counts": dict(sorted((+counts).items())),
        }
        self._write_text(f"{out}/account.json", json.dumps(account, indent=1, ensure_ascii=False))
        return account

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
        sources = sources_of(self._task.inputs)
        task = self._task

        def read(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[Any, ...]]:
            for number, source in numbered:
                counts: Counter[str] = Counter()
                for row in rows_of(source, task.pairs, task.config, counts):
                    yield row.site, row.kind, row.keys, number, row.place, row.data, None
                yield "", ACCOUNT, [], number, 0, None, json.dumps(counts)

        spread = self._spark.sparkContext.parallelize(list(enumerate(sources)), len(sources))
        return self._spark.createDataFrame(spread.mapPartitions(read), _PAGES)

    def _pair_sites(self, pages: "DataFrame") -> "DataFrame":
        """Stage 2: the pairs of each site, or of each part of a large one."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        task = self._task
        things = pages.filter(f"kind != '{ACCOUNT}'").drop("counts")
        sizes = (
            things.filter(f"kind = '{DOCUMENT}'")
            .groupBy("site")
            .agg(f.count("*").alias("pages"))
            .filter(f"pages > {task.site_pages}")
            .collect()
        )
        parts = {row["site"]: math.ceil(row["pages"] / task.site_pages) for row in sizes}
        things = self._split(things, parts) if parts else things.withColumn("part", f.lit(0))

        def pair(key: tuple[Any, ...], table: "pa.Table") -> "pa.Table":
            return _table_of(_pair_rows(str(key[0]), table, task), _PAIRS)

        return things.groupBy("site", "part").applyInArrow(pair, _PAIRS)

    def _split(self, things: "DataFrame", parts: dict[str, int]) -> "DataFrame":
        """Return the pages with the part of their site; what is said about pages goes to all."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        def assign(key: tuple[Any, ...], table: "pa.Table") -> "pa.Table":
            site = str(key[0])
            chosen = parts_of(table.column("keys").to_pylist(), parts[site])
            places = (table.column(name).to_pylist() for name in ("source", "place"))
            return _table_of([(site, *each) for each in zip(*places, chosen, strict=True)], _PLACES)

        large = self._spark.createDataFrame(list(parts.items()), "site string, parts int")
        things = things.join(f.broadcast(large), "site", "left")
        pages = things.filter(f"kind = '{DOCUMENT}' AND parts IS NOT NULL")
        chosen = pages.select("site", "source", "place", "keys").groupBy("site")
        places = chosen.applyInArrow(assign, _PLACES)
        things = things.join(places, ["site", "source", "place"], "left")
        everywhere = f.sequence(f.lit(0), f.coalesce("parts", f.lit(1)) - 1)
        own = f.array(f.coalesce("chosen", f.lit(0)).cast("int"))
        part = f.explode(f.when(f.col("kind") == DOCUMENT, own).otherwise(everywhere))
        return things.withColumn("part", part).drop("parts", "chosen")

    def _without_copies(self, pairs: "DataFrame") -> "DataFrame":
        """Stage 3: one of the pairs with the same texts, and one of those that nearly agree."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        rows = pairs.filter("pair IS NOT NULL").withColumn("key", f.concat_ws(" ", "url1", "url2"))
        first = rows.groupBy("langs", "exact").agg(f.min("key").alias("key"))
        rows = rows.join(first, ["langs", "exact", "key"]).dropDuplicates(["langs", "key"])
        marks = rows.select("langs", "key", "site", "signature", f.explode("bands").alias("band"))
        least = marks.groupBy("langs", "band").agg(
            f.min(f.struct("key", "site", "signature")).alias("least")
        )
        same = f.expr(
            "aggregate(zip_with(signature, least.signature, (a, b) -> int(a = b)), 0,"
            " (sum, each) -> sum + each) / size(signature)"
        )
        copies = (
            marks.join(least, ["langs", "band"])
            .filter((f.col("site") != f.col("least.site")) & (same >= SIMILAR))
            .select("langs", "key")
            .distinct()
        )
        return rows.join(copies, ["langs", "key"], "left_anti").drop("key")

    def _align(self, single: "DataFrame") -> "DataFrame":
        """Stage 4: the sentences of each site, with words that a sample of all sites has taught."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        learned: dict[tuple[str, str], Learned] = {}
        for pair in self._task.pairs:
            some = (
                single.filter(f.col("langs") == str(pair))
                .orderBy(f.xxhash64("url1", "url2"))
                .limit(MOST_TO_LEARN_FROM)
            )
            rows = (
                PairWithTexts(row["pair"], row["first"], row["second"]) for row in some.collect()
            )
            learned |= learn_from(rows)
        taught = self._spark.sparkContext.broadcast(learned)

        def align(key: tuple[Any, ...], table: "pa.Table") -> "pa.Table":
            columns = (table.column(name).to_pylist() for name in PairWithTexts._fields)
            rows = sorted(PairWithTexts(*each) for each in zip(*columns, strict=True))
            kept, counts = align_site(rows, taught.value)
            made = [(str(key[0]), *astuple(each), None) for each in kept]
            nothing = (None,) * len(_COLUMNS)
            return _table_of([*made, (str(key[0]), *nothing, json.dumps(counts))], _SENTENCES)

        return single.groupBy("langs", "site").applyInArrow(align, _SENTENCES)


@lru_cache(maxsize=1)
def _aids(config: Config) -> PairingAids:
    """Return the models of a worker process, read once."""
    return pairing_aids(config)


def _pair_rows(site: str, table: "pa.Table", task: ClusterTask) -> list[tuple[Any, ...]]:
    """Return the rows of one site's pairs, in the order of `_PAIRS`."""
    order = [("source", "ascending"), ("place", "ascending")]
    ordered = table.sort_by(order)
    things = list(
        zip(ordered.column("kind").to_pylist(), ordered.column("data").to_pylist(), strict=True)
    )
    made: list[tuple[Any, ...]] = []
    for languages in task.pairs:
        harvest = harvest_site(things, languages, task.config, _aids(task.config))
        for row in harvest.pairs:
            pair = json.loads(row.pair)
            texts = [_text_of(line) for line in (row.first, row.second)]
            signature = signature_of("\n".join(texts))
            exact = hashlib.blake2b("\0".join(texts).encode("utf-8", "replace")).hexdigest()
            about = (str(languages), site, pair["url1"], pair["url2"])
            made.append((*about, *row, exact, signature, bands_of(signature), None))
        counts = json.dumps({f"{languages}: {name}": n for name, n in harvest.counts.items()})
        made.append((str(languages), site, *(None,) * 8, counts))
    return made


def _text_of(line: str) -> str:
    paragraphs = json.loads(line)["paragraphs"]
    return "\n".join(each["text"] for each in paragraphs if not each["boilerplate"])


def _table_of(rows: Sequence[tuple[Any, ...]], schema: str) -> "pa.Table":
    """Return rows as a table of Arrow with the columns of a schema."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    kinds = {
        "string": pa.string(),
        "long": pa.int64(),
        "double": pa.float64(),
        "array<long>": pa.list_(pa.int64()),
        "array<string>": pa.list_(pa.string()),
    }
    named = [part.strip().partition(" ") for part in schema.split(",")]
    columns = list(zip(*rows, strict=True)) or [()] * len(named)
    return pa.table(
        [
            pa.array(column, kinds[kind])
            for column, (_, _, kind) in zip(columns, named, strict=True)
        ],
        names=[name for name, _, _ in named],
    )


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
