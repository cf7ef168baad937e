"""The work of a cluster: one site per task gives what a build in one process gives."""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from bilingual_crawler.api import read_crawl
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.build import BuildTask, build_corpus
from bilingual_crawler.corpus.cluster.near_copies import SIMILAR, bands_of, signature_of, similarity
from bilingual_crawler.corpus.cluster.site_harvest import harvest_site, scratch_folder
from bilingual_crawler.corpus.cluster.site_parts import keys_of, parts_of
from bilingual_crawler.corpus.cluster.source_rows import rows_of
from bilingual_crawler.corpus.cluster.spark_build import ClusterTask
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.documents.identifiers.taught_folder import write_taught
from bilingual_crawler.documents.identifiers.teaching import teach
from bilingual_crawler.languages import LanguagePair
from tests.support.crawling import ROOT
from tests.support.recordings import SITE, exchange, opaque_site, page, redirect, write_warc
from tests.support.taught import AGAINST, CODE, OTHER, TAUGHT

SPA_EUS = LanguagePair.parse("spa-eus")
TOKENS = SPA_EUS.first.tokens | SPA_EUS.second.tokens
CONFIG = Config()
needs_spark = pytest.mark.skipif(
    importlib.util.find_spec("pyspark") is None or shutil.which("java") is None,
    reason="pip install 'bilingual-crawler[spark]', and Java 17: apt-get install"
    " openjdk-17-jre-headless",
)


def pairs_of_process(warc, out, languages=SPA_EUS):
    task = BuildTask(
        inputs=(str(warc),),
        folder=out,
        languages=languages,
        config=CONFIG,
        settings={},
        aids=pairing_aids(CONFIG),
    )
    build_corpus(task)
    return {(pair.first, pair.second) for pair in read_crawl(out).pairs()}


def pairs_of_tasks(warc, languages=SPA_EUS):
    """The pairs that a task per site finds, and the counts of all."""
    counts: Counter[str] = Counter()
    sites: dict[str, list[tuple[str, str]]] = {}
    for row in rows_of(str(warc), [languages], CONFIG, counts):
        sites.setdefault(row.site, []).append((row.kind, row.data))
    found = set()
    for things in sites.values():
        harvest = harvest_site(things, languages, CONFIG, pairing_aids(CONFIG))
        counts += harvest.counts
        for each in harvest.pairs:
            pair = json.loads(each.pair)
            found.add((pair["url1"], pair["url2"]))
            assert json.loads(each.first)["url"] == pair["url1"]
    return found, counts


def test_a_task_finds_the_pairs_of_a_site_that_one_process_finds(tmp_path):
    closed = exchange("https://www.example.org/cerrado", page("es", 3000, head=NOINDEX))
    english = exchange("https://www.example.org/en", b"<html lang=en><p>" + ENGLISH)
    warc = write_warc(tmp_path / "site.warc.gz", [*opaque_site(), closed, english])
    found, counts = pairs_of_tasks(warc)
    assert found == pairs_of_process(warc, tmp_path / "out")
    assert len(found) >= 6
    assert counts["pages: noindex"] == 1
    assert counts["pages: off_language"] == 1


def test_a_task_identifies_taught_languages_and_reads_lines_as_a_build_does(tmp_path):
    write_taught(tmp_path / "taught", teach(CODE, TAUGHT, {"spa": AGAINST}))
    text = "\n".join(OTHER).encode()
    plain = exchange(f"{SITE}/a.txt", text, headers=((b"Content-Type", b"text/plain"),))
    warc = write_warc(tmp_path / "site.warc.gz", [plain])
    config = replace(CONFIG, taught=str(tmp_path / "taught"), text_lines=True)
    (row,) = rows_of(str(warc), [LanguagePair.parse(f"{CODE}-spa")], config, Counter())
    document = json.loads(row.data)
    assert document["language"] == CODE
    assert len(document["paragraphs"]) == len(OTHER)


NOINDEX = '<meta name="robots" content="noindex">'
ENGLISH = b"The council has opened this week the file on the library of the old town. " * 5


def test_pages_that_may_be_translations_stay_together_when_a_site_is_split():
    site = "https://www.example.org"
    pages: dict[str, tuple[str, ...]] = {
        f"{site}/{code}/{number}": () for number in range(60) for code in ("es", "eu")
    }
    for number in range(60):  # translated names: each page declares the next, all lead home
        pages[f"{site}/museo-{number}"] = (f"{site}/erakustoki-{number}", f"{site}/es")
        pages[f"{site}/erakustoki-{number}"] = (f"{site}/pinacoteca-{number}", f"{site}/es")
        pages[f"{site}/pinacoteca-{number}"] = ("https://other.example/x", f"{site}/es")
    keys = [keys_of(url, claimed, TOKENS) for url, claimed in pages.items()]
    part = dict(zip(pages, parts_of(keys, 4), strict=True))
    assert Counter(part.values()).keys() == set(range(4))
    for number in range(60):
        assert part[f"{site}/es/{number}"] == part[f"{site}/eu/{number}"]
        names = ("museo", "erakustoki", "pinacoteca")
        assert len({part[f"{site}/{name}-{number}"] for name in names}) == 1


def test_the_signatures_of_near_copies_agree_and_share_a_band():
    text = " ".join(f"palabra{number}" for number in range(400))
    near, other = text.replace("palabra7 ", "otra "), text.upper()[::-1]
    assert similarity(signature_of(text), signature_of(near)) >= SIMILAR
    assert set(bands_of(signature_of(text))) & set(bands_of(signature_of(near)))
    assert similarity(signature_of(text), signature_of(other)) < 0.2
    assert len(signature_of("")) == len(signature_of(text))


def site_pages(host, numbers):
    return [
        exchange(f"https://{host}/{code}/{number}", page(code, number))
        for number in numbers
        for code in ("es", "eu")
    ]


def run(*words):
    """The command in a process of its own, which ends Java too."""
    command = [sys.executable, "-m", "bilingual_crawler", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@needs_spark
def test_spark_builds_the_corpus_in_stages_that_are_not_repeated(tmp_path):
    one = write_warc(
        tmp_path / "one.warc.gz",
        [*site_pages("a.example", range(8)), redirect("https://a.example/x", "/es/0")],
    )
    first, *rest = site_pages("b.example", [100, 101])
    copies = [replace(each, url=each.url.replace("b.", "copy.")) for each in rest]
    write_warc(tmp_path / "two.warc.gz", [first, *rest, *copies])
    out = tmp_path / "out"
    words: tuple[object, ...] = (
        "corpus",
        "build",
        tmp_path / "*.warc.gz",
        "--langs",
        "spa-eus,spa-eng",
        "--out",
        out,
    )
    words += ("--engine", "spark", "--master", "local[1]", "--site-pages", "10", "--json")
    account = json.loads(run(*words).stdout)
    assert account["document_pairs"] == {"spa-eus": 10}
    assert account["counts"]["pairs: copies of another"] == 1
    assert account["counts"]["spa-eus: pages"] == 23
    tables = sorted(path.name for path in out.iterdir() if path.is_dir())
    assert tables == ["documents", "sentences", "stages"]
    assert [path.name for path in (out / "sentences").glob("langs=*")] == ["langs=spa-eus"]
    found, _ = pairs_of_tasks(one)
    assert len(found) == 8
    stamps = {path: path.stat().st_mtime_ns for path in out.glob("stages/*/_SUCCESS")}
    assert len(stamps) == 4
    shutil.rmtree(out / "stages" / "4-sentences")
    assert json.loads(run(*words).stdout) == account
    again = {path: path.stat().st_mtime_ns for path in out.glob("stages/*/_SUCCESS")}
    assert {path for path in stamps if again[path] != stamps[path]} == {
        out / "stages/4-sentences/_SUCCESS"
    }
    refused = run(*words, "--site-pages", "9")
    assert "holds a build of other inputs or settings" in refused.stderr


def test_a_site_that_does_not_fit_into_memory_is_worked_on_elsewhere():
    assert scratch_folder(1 << 60) is None


def test_a_new_file_of_a_pattern_makes_another_build(tmp_path):
    inputs = (str(tmp_path / "*.warc.gz"),)
    task = ClusterTask(inputs=inputs, out=str(tmp_path / "out"), pairs=(SPA_EUS,), config=CONFIG)
    (tmp_path / "a.warc.gz").touch()
    before = task.stamp
    assert task.stamp == before
    (tmp_path / "b.warc.gz").touch()
    assert task.stamp != before
