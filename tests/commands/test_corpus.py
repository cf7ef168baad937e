"""`scrapy corpus build`, and the folder that `scrapy pairs --out` writes, as they are typed."""

import gzip
import json

import pytest

from bilingual_crawler.api import read_crawl
from tests.support.recordings import SITE, exchange, page, write_warc
from tests.support.typed_commands import typed

LETTERS = "abcdef"
LANGS = ("--langs", "spa-eus")


@pytest.fixture
def warc(tmp_path):
    made = [
        exchange(f"{SITE}/{code}/{name}", page(code, number))
        for number, name in enumerate(LETTERS)
        for code in ("es", "eu")
    ]
    copy = exchange(f"{SITE}/es/copia", page("es", 0))
    return write_warc(tmp_path / "site.warc.gz", [*made, copy])


def good_pairs(folder):
    return sum(not row.dropped for row in read_crawl(folder).sentences())


def test_one_command_builds_aligns_and_exports(capsys, warc, tmp_path):
    out = tmp_path / "out"
    words = ("corpus", "build", warc, *LANGS, "--out", out, "--to", "tmx,jsonl")
    status, printed, _ = typed(capsys, *words)
    assert status == 0
    assert "13 pages read, documents: 6 eus, 6 spa, 6 pairs" in printed
    assert "1 duplicate" in printed
    assert f"Next: scrapy serve {out}" in printed
    rows = (out / "export" / "sentences.jsonl").read_text().splitlines()
    assert len(rows) == good_pairs(out) > 0
    assert (out / "export" / "sentences.tmx").stat().st_size > 0
    aligned = list(read_crawl(out).sentences())
    assert len({row.pair for row in aligned}) == 6
    assert all(row.fetched1.startswith("2023-11-14T") for row in aligned)


def test_a_second_run_does_nothing_twice(capsys, warc, tmp_path):
    out = tmp_path / "out"
    words = ("corpus", "build", warc, *LANGS, "--out", out)
    assert typed(capsys, *words)[0] == 0
    aligned = (out / "sentences.jsonl.gz").stat().st_mtime_ns
    status, printed, _ = typed(capsys, *words, "--json")
    facts = json.loads(printed)
    assert (status, facts["is_unchanged"], facts["alignment"]) == (0, True, {})
    assert facts["report"]["pairs"] == 6
    assert (out / "sentences.jsonl.gz").stat().st_mtime_ns == aligned


def test_an_unknown_format_is_refused_before_anything_is_read(capsys, warc, tmp_path):
    out = tmp_path / "out"
    words = ("corpus", "build", warc, *LANGS, "--out", out, "--to", "tmy")
    status, _, _ = typed(capsys, *words)
    assert "tmy" in str(status)
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ((), "write scrapy corpus build"),
        (("built", "x"), "write scrapy corpus build"),
        (("build",), "name the inputs"),
        (("build", "x"), "--langs"),
        (("build", "x", *LANGS), "--out"),
    ],
)
def test_what_is_missing_is_named(capsys, words, advice):
    status, printed, told = typed(capsys, "corpus", *words)
    assert status == 2
    assert advice in printed + told


def test_pairs_writes_a_folder_that_the_other_commands_take(capsys, warc, tmp_path):
    out = tmp_path / "out"
    status, _, told = typed(capsys, "pairs", warc, *LANGS, "--out", out)
    assert status == 0
    assert f"Next: scrapy align {out}" in told
    report = json.loads((out / "crawl.json").read_text())
    assert (report["state"], report["pages"], report["pairs"]) == ("finished", 13, 6)
    assert len(list(read_crawl(out).documents())) == 13, "copies are not dropped"
    assert typed(capsys, "align", out)[0] == 0
    assert typed(capsys, "export", out, "--to", "jsonl")[0] == 0
    rows = (out / "export" / "sentences.jsonl").read_text().splitlines()
    assert len(rows) == good_pairs(out) > 0


def test_pairs_again_replaces_what_it_wrote(capsys, warc, tmp_path):
    out = tmp_path / "out"
    for _ in range(2):
        assert typed(capsys, "pairs", warc, *LANGS, "--out", out)[0] == 0
    assert len((out / "pairs.jsonl").read_text().splitlines()) == 6
    assert len(gzip.decompress((out / "documents.jsonl.gz").read_bytes()).splitlines()) == 13


def test_pairs_does_not_replace_a_corpus(capsys, warc, tmp_path):
    out = tmp_path / "out"
    assert typed(capsys, "corpus", "build", warc, *LANGS, "--out", out)[0] == 0
    before = (out / "pairs.jsonl").read_bytes()
    status, _, _ = typed(capsys, "pairs", warc, *LANGS, "--out", out)
    assert "holds a crawl" in str(status)
    assert (out / "pairs.jsonl").read_bytes() == before


def test_folders_of_pairs_and_of_corpora_are_merged(capsys, warc, tmp_path):
    assert typed(capsys, "pairs", warc, *LANGS, "--out", tmp_path / "a")[0] == 0
    words = ("corpus", "build", warc, *LANGS, "--out", tmp_path / "b")
    assert typed(capsys, *words)[0] == 0
    parts = tmp_path / "a", tmp_path / "b"
    status, printed, _ = typed(capsys, "merge", *parts, "--into", tmp_path / "c", "--json")
    facts = json.loads(printed)
    assert (status, facts["pairs"], facts["documents"]) == (0, 6, {"eus": 6, "spa": 6})


def test_rejected_pairs_of_a_list_are_not_aligned(capsys, tmp_path):
    for name, code in (("a", "es"), ("b", "eu")):
        (tmp_path / f"{name}.html").write_bytes(page(code, 0))
    listed = tmp_path / "files.tsv"
    listed.write_text(f"{tmp_path}/a.html\t{tmp_path}/b.html\n")
    out = tmp_path / "out"
    assert typed(capsys, "pairs", listed, *LANGS, "--out", out)[0] == 0
    assert len(list(read_crawl(out).pairs())) == 1
    lines = (out / "pairs.jsonl").read_text()
    (out / "pairs.jsonl").write_text(lines.replace('"accepted"', '"rejected"'))
    assert not list(read_crawl(out).pairs())
    _, printed, _ = typed(capsys, "align", out, "--json")
    assert json.loads(printed)["document_pairs"] == 0
