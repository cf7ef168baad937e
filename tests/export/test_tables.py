"""TSV, JSONL, Parquet and Moses: read back by the tools that eat them."""

import csv
import json
import subprocess
import sys

import pytest

from bilingual_crawler.export import rows as row_formats
from bilingual_crawler.export.rows import COLUMNS, TYPES
from bilingual_crawler.export.safe_text import FLATTENED
from bilingual_crawler.export.source import Selection
from tests.support.export import ES, HARD, PAIR, exported, sentence, write_sentences

BREAKS = "a\tb\nc\r\nd\x0be\x0cf\x1cg\x85h\u2028i\u2029j\x00k"


@pytest.fixture
def folder(tmp_path):
    return write_sentences(tmp_path / "crawl", HARD)


def test_a_table_has_the_columns_of_bitextor_first(folder):
    target, _ = exported(folder, "tsv")
    heading = target.read_text("utf-8").partition("\n")[0].split("\t")
    assert heading[:5] == ["src_url", "trg_url", "src_text", "trg_text", "score"]


def test_a_table_read_without_quoting_is_what_was_written(folder):
    target, _ = exported(folder, "tsv")
    with target.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert rows == [
        {column: str(getattr(row, name)) for column, name in COLUMNS.items()} for row in HARD
    ]


@pytest.mark.parametrize("name", ["tsv", "moses"])
def test_line_ends_and_tabs_in_text_become_spaces_and_are_counted(tmp_path, name):
    folder = write_sentences(tmp_path / "crawl", [sentence(0, BREAKS), sentence(1)])
    target, account = exported(folder, name)
    text = (target / "corpus.spa" if name == "moses" else target).read_text("utf-8")
    assert "a b c d e f g h i j k" in text
    assert len(text.splitlines()) == (2 if name == "moses" else 3)
    assert account.changed == {FLATTENED: 10}


def test_lines_of_json_are_the_sentence_pairs(folder):
    target, _ = exported(folder, "jsonl")
    assert [json.loads(line) for line in target.read_text("utf-8").split("\n")[:-1]] == [
        row.to_dict() for row in HARD
    ]


def test_a_score_is_never_written_as_a_whole_number(tmp_path):
    target, _ = exported(write_sentences(tmp_path / "crawl", [sentence(score=1)]), "jsonl")
    assert '"score": 1.0' in target.read_text()


def test_parquet_has_a_schema_without_nulls(folder):
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    target, _ = exported(folder, "parquet")
    schema = pq.read_schema(target)
    assert {field.name: str(field.type) for field in schema} == {
        name: {"float64": "double"}.get(kind, kind) for name, kind in TYPES.items()
    }
    assert not any(field.nullable for field in schema)


def test_parquet_read_by_pyarrow_is_what_was_written(folder):
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    target, _ = exported(folder, "parquet")
    assert pq.read_table(target).to_pylist() == [row.to_dict() for row in HARD]


def test_parquet_read_by_polars_is_what_was_written(folder):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    target, _ = exported(folder, "parquet")
    assert polars.read_parquet(target).to_dicts() == [row.to_dict() for row in HARD]


def test_parquet_comes_in_row_groups(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    monkeypatch.setattr(row_formats, "ROW_GROUP", 10)
    rows = [sentence(at, dropped="" if at % 2 else "digits") for at in range(25)]
    target, _ = exported(
        write_sentences(tmp_path / "crawl", rows), "parquet", selection=Selection(dropped=True)
    )
    file = pq.ParquetFile(target)
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [10, 10, 5]
    assert file.read().column("dropped").to_pylist()[:2] == ["digits", ""]


def test_datasets_loads_the_files_as_they_are(folder, tmp_path):
    pytest.importorskip("datasets", reason="datasets is not installed")
    files = {"json": exported(folder, "jsonl")[0], "parquet": exported(folder, "parquet")[0]}
    code = (
        "import os, sys, json, datasets; datasets.disable_progress_bars()\n"
        "for loader, file in json.loads(sys.argv[1]).items():\n"
        "    rows = datasets.load_dataset(loader, data_files=file, split='train')\n"
        "    print(json.dumps(list(rows)), flush=True)\n"
        "os._exit(0)"  # threads of the library may abort an ordinary exit on a busy machine
    )
    offline = {"HF_HUB_OFFLINE": "1", "USE_TORCH": "0", "USE_TF": "0", "HF_HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code, json.dumps({key: str(file) for key, file in files.items()})],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "HOME": str(tmp_path)} | offline,
    )
    wanted = [row.to_dict() for row in HARD]
    assert [json.loads(line) for line in run.stdout.splitlines()] == [wanted, wanted]


def test_moses_files_have_a_line_a_pair_and_its_id(folder):
    target, account = exported(folder, "moses")
    first, second, ids = (
        (target / f"corpus.{end}").read_text("utf-8").split("\n")[:-1]
        for end in ("spa", "eus", "ids")
    )
    assert first == [row.text1.strip() for row in HARD]
    assert second == [row.text2.strip() for row in HARD]
    assert ids[0].split("\t")[:3] == [PAIR, "0", ES]
    assert account.written == {"sentence pairs": len(HARD)}


def test_moses_leaves_out_rows_of_other_languages(tmp_path):
    rows = [sentence(0), sentence(1, lang2="eng"), sentence(2)]
    target, account = exported(write_sentences(tmp_path / "crawl", rows), "moses")
    assert sorted(each.name for each in target.iterdir()) == [
        "DATASHEET.md",
        "corpus.eus",
        "corpus.ids",
        "corpus.spa",
        "export.json",
    ]
    assert account.left_out == {"languages other than spa-eus": 1}
