"""The examples of docs/reference/formats.md and docs/how-to/export.md are run."""

import gzip
import re
import shlex
from pathlib import Path

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.export.exporters import EXPORTERS
from bilingual_crawler.export.rows import COLUMNS, TYPES
from tests.support.export import (
    ES,
    EU,
    document,
    exported,
    sentence,
    write_documents,
    write_sentences,
)

DOCS = Path(__file__).parents[2] / "docs"
PAPER = (DOCS / "reference" / "formats.md").read_text("utf-8")
GUIDE = (DOCS / "how-to" / "export.md").read_text("utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAPER, re.DOTALL)
COMMANDS = re.findall(r"^scrapy (.*)$", GUIDE, re.MULTILINE)


@pytest.fixture
def example(tmp_path, monkeypatch):
    """A folder in which the paths of the page are true."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("corpus.en", "The museum opens."), ("corpus.fr", "Le musée ouvre.")):
        Path(name).write_text(f"{text}\n", "utf-8")
    Path("more.tsv.gz").write_bytes(gzip.compress(b"It closes.\tIl ferme.\n"))
    folder = write_sentences(Path("crawls/example"), [sentence(0, score=0.95), sentence(1, "Hola")])
    pages = [document(ES, "spa", "Hola"), document(EU, "eus", "Kaixo")]
    return write_documents(folder, pages, [(ES, EU)])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_works(example, command):
    exported(example, "tmx")[0].rename("memory.tmx")
    exported(example, "cwb")
    with pytest.raises(SystemExit) as end:
        execute(["scrapy", *shlex.split(command)], Settings())
    assert end.value.code == 0


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda text: text.split("\n")[0])
def test_a_program_of_the_page_works(example, program, capsys):
    if "datasets" in program:
        pytest.skip("test_export_tables.py loads the files with datasets, in a process of its own")
    if "polars" in program:
        pytest.importorskip("polars", reason="polars is not installed")
    for name in EXPORTERS.builtin:
        exported(example, name)
    exec(compile(program, "docs/reference/formats.md", "exec"), {})
    assert "Hola" in capsys.readouterr().out


def test_every_format_column_and_field_is_on_the_page():
    for name in (*EXPORTERS.builtin, *COLUMNS, *TYPES):
        assert f"`{name}`" in PAPER
