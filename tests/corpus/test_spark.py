"""Builds on Spark: the same pairs as the other drivers, in stages that survive a kill."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.api import read_crawl
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.build import BuildTask, build_corpus
from bilingual_crawler.corpus.cluster.spark_build import ClusterTask, SparkBuild
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.archive.archive_folder import index_folder
from tests.support import crawling, processes
from tests.support.recordings import exchange, page, redirect, write_warc
from tests.support.servers import serve_demo
from tests.support.spark import MASTER, needs_spark, running_spark

pytestmark = [
    needs_spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
]
CONFIG = Config()
SPA_EUS = LanguagePair.parse("spa-eus")
SPA_ENG = LanguagePair.parse("spa-eng")
RECORDED = {"eulaliavila": ("cat-spa", "https://jmedinafruitos.github.io/eulaliavila-cat/")}


@pytest.fixture(scope="module")
def spark():
    with running_spark() as session:
        yield session


def build(spark, inputs, out, *pairs, site_pages=20_000):
    task = ClusterTask(
        inputs=(str(inputs),), out=str(out), pairs=pairs, config=CONFIG, site_pages=site_pages
    )
    return SparkBuild(task, spark).run()


def pairs_of_spark(spark, inputs, out, languages):
    build(spark, inputs, out, languages)
    rows = spark.read.parquet(str(out / "documents")).select("url1", "url2").collect()
    return {(row["url1"], row["url2"]) for row in rows}


def pairs_of_process(inputs, out, languages):
    task = BuildTask(
        inputs=tuple(map(str, sorted(inputs.parent.glob(inputs.name)))),
        folder=out,
        languages=languages,
        config=CONFIG,
        settings={},
        aids=pairing_aids(CONFIG),
    )
    build_corpus(task)
    return pairs_of_folder(out)


def pairs_of_folder(folder):
    return {(pair.first, pair.second) for pair in read_crawl(folder).pairs()}


@pytest.mark.crawl
def test_a_crawl_one_process_and_spark_find_the_same_pairs(spark, tmp_path):
    with serve_demo() as server:
        crawling.crawl(server.url, tmp_path / "crawl", settings={"BILINGUAL_WARC": 1})
    kept = tmp_path / "crawl" / "*.warc.gz"
    found = pairs_of_folder(tmp_path / "crawl")
    assert len(found) >= 17
    assert pairs_of_process(kept, tmp_path / "process", SPA_EUS) == found
    assert pairs_of_spark(spark, kept, tmp_path / "spark", SPA_EUS) == found


@pytest.mark.crawl
@pytest.mark.parametrize("name", RECORDED)
def test_the_three_drivers_find_the_same_pairs_on_a_recorded_site(spark, tmp_path, name):
    recording = SHARED / "sites" / f"{name}.warc.gz"
    if not recording.is_file():
        pytest.skip("there are no recorded sites here")
    languages, start = RECORDED[name]
    archive = tmp_path / "archive"
    archive.mkdir()
    shutil.copy(recording, archive)
    index_folder(archive)
    settings = {"BILINGUAL_WARC": 1, "BILINGUAL_ARCHIVE": archive}
    crawling.crawl(start, tmp_path / "crawl", langs=languages, settings=settings)
    kept = tmp_path / "crawl" / "*.warc.gz"
    found = pairs_of_folder(tmp_path / "crawl")
    pair = LanguagePair.parse(languages)
    assert found
    assert pairs_of_process(kept, tmp_path / "process", pair) == found
    assert pairs_of_spark(spark, kept, tmp_path / "spark", pair) == found


def site_pages(host, numbers, codes=("es", "eu")):
    return [
        exchange(f"https://{host}/{code}/{number}", page(code, number))
        for number in numbers
        for code in codes
    ]


def finished(out):
    """The stages that are finished, and when they were."""
    return {
        path.parent.name: path.stat().st_mtime_ns for path in sorted(out.glob("stages/*/_SUCCESS"))
    }


@pytest.fixture
def warcs(tmp_path):
    """Two sites in two languages, one with copies of the other's pages, and one in one language."""
    write_warc(
        tmp_path / "one.warc.gz",
        [*site_pages("a.example", range(8)), redirect("https://a.example/x", "/es/0")],
    )
    first, *rest = site_pages("b.example", [100, 101])
    copies = [replace(each, url=each.url.replace("b.", "copy.")) for each in rest]
    alone = site_pages("alone.example", range(5), codes=("es",))
    write_warc(tmp_path / "two.warc.gz", [first, *rest, *copies, *alone])
    return tmp_path / "*.warc.gz"


def test_a_finished_stage_is_not_repeated_and_every_page_is_accounted_for(spark, warcs, tmp_path):
    out = tmp_path / "out"
    account = build(spark, warcs, out, SPA_EUS, SPA_ENG, site_pages=10)
    assert account["document_pairs"] == {"spa-eus": 10}
    assert account["counts"]["pairs: copies of another"] == 1
    assert account["counts"]["spa-eus: pages"] == 23
    assert account["counts"]["pages: no_other_language"] == 5
    assert not [name for name in account["counts"] if name.startswith("spa-eng")]
    tables = sorted(path.name for path in out.iterdir() if path.is_dir())
    assert tables == ["documents", "sentences", "stages"]
    assert [path.name for path in (out / "sentences").glob("langs=*")] == ["langs=spa-eus"]
    before = finished(out)
    assert list(before) == ["1-pages", "2-sites", "3-pairs", "4-single", "5-sentences"]
    shutil.rmtree(out / "stages" / "5-sentences")
    assert build(spark, warcs, out, SPA_EUS, SPA_ENG, site_pages=10) == account
    after = finished(out)
    assert [name for name in before if after[name] != before[name]] == ["5-sentences"]
    with pytest.raises(ConfigurationError, match="holds a build of other inputs or settings"):
        build(spark, warcs, out, SPA_EUS, SPA_ENG, site_pages=9)


def test_a_build_that_was_killed_goes_on_with_the_stage_it_was_in(spark, warcs, tmp_path):
    out = tmp_path / "out"
    words = ["corpus", "build", warcs, "--langs", "spa-eus", "--out", out]
    words += ["--engine", "spark", "--master", MASTER]
    command = [sys.executable, "-m", "bilingual_crawler", *map(str, words)]
    process = processes.start(command, cwd=crawling.ROOT, stderr=subprocess.DEVNULL)
    processes.wait_until(lambda: "1-pages" in finished(out), process)
    processes.end(process)
    before = finished(out)
    account = build(spark, warcs, out, SPA_EUS)
    after = finished(out)
    assert {name: after[name] for name in before} == before
    assert account["document_pairs"] == {"spa-eus": 10}
    assert account["counts"]["spa-eus: pages"] == 23
    assert json.loads((out / "account.json").read_text()) == account
