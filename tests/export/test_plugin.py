"""A user's own format: the exporter of the guide, by import path and by entry point."""

import re

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import EXPORTERS, export, find_exporter
from tests.support.crawling import ROOT
from tests.support.export import sentence, write_sentences
from tests.support.plugin import install
from tests.support.typed_commands import typed

GUIDE = (ROOT / "docs" / "how-to" / "extend.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
EXPORTER = next(each for each in EXAMPLES if "(Exporter)" in each)
IMPORT = "from bilingual_crawler.api import Exporter\n"


@pytest.fixture
def folder(tmp_path):
    rows = [sentence(0, "Hola", "Kaixo"), sentence(1, "Dos\nlíneas", "Bi\tlerro")]
    return write_sentences(tmp_path / "crawl", rows)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The exporter of the guide, in a package that is installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    install(folder, monkeypatch, "mine", EXPORTER, exporters="aligner = mine:FastAlign")


@pytest.mark.parametrize("name", ["mine.FastAlign", "mine:FastAlign", "aligner"])
def test_the_exporter_of_the_guide_writes_a_corpus(folder, installed, capsys, name):
    status, out, _ = typed(capsys, "export", folder, "--to", name)
    target = folder / "export" / "sentences.txt"
    assert status == 0
    assert target.read_text("utf-8") == "Hola ||| Kaixo\nDos líneas ||| Bi lerro\n"
    assert f"2 sentence pairs written to {target}" in out


def test_options_that_it_has_no_place_for_are_refused(folder, installed, capsys):
    message, *_ = typed(capsys, "export", folder, "--to", "aligner", "--dropped")
    assert "fast_align has no place for the reason" in message


def test_a_format_without_an_ending_fills_a_folder(folder, tmp_path, monkeypatch, capsys):
    source = f"""{IMPORT}
class Parts(Exporter):
    name = "parts"
    about = "one file per sentence pair"

    def write(self, source, path, account):
        for row in source.sentences():
            (path / str(row.at)).write_text(row.text1)
            account.written["sentence pairs"] += 1
"""
    install(tmp_path, monkeypatch, "parts", source)
    assert typed(capsys, "export", folder, "--to", "parts.Parts")[0] == 0
    made = sorted(file.name for file in (folder / "export" / "parts").iterdir())
    assert made == ["0", "1", "DATASHEET.md", "export.json"]


def test_an_exporter_that_fails_leaves_the_earlier_export(folder, tmp_path, monkeypatch, installed):
    broken = EXPORTER.replace('account.written["sentence pairs"] += 1', 'raise OSError(28, "full")')
    install(tmp_path, monkeypatch, "broken", broken)
    target = folder / "export" / "sentences.txt"
    target.parent.mkdir()
    target.write_text("earlier")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        export(folder, find_exporter("broken.FastAlign"), target)
    assert target.read_text() == "earlier"


def test_the_list_shows_built_in_and_installed_formats(installed, capsys):
    status, out, _ = typed(capsys, "export", "--list")
    listed = [line.split()[0] for line in out.splitlines()]
    assert status == 0
    assert listed == [*EXPORTERS.builtin, "aligner"]
    assert "one sentence pair per line, for fast_align" in out


def test_the_list_tells_which_installed_format_cannot_be_loaded(tmp_path, monkeypatch, capsys):
    install(
        tmp_path, monkeypatch, "bad", "raise RuntimeError('no licence')", exporters="bad = bad:X"
    )
    _, out, _ = typed(capsys, "export", "--list")
    assert "no licence" in out
    assert "tmx" in out


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("class Other:\n    pass\n", "not an exporter"),
        (f"{IMPORT}class Other(Exporter):\n    pass\n", "has no write"),
        (
            f"{IMPORT}class Other(Exporter):\n    def write(self, *_):\n        pass\n",
            "not a complete exporter",
        ),
        ("", "cannot be loaded"),
    ],
)
def test_what_is_no_exporter_is_refused_in_a_sentence(tmp_path, monkeypatch, source, told):
    install(tmp_path, monkeypatch, "other", source)
    with pytest.raises(ConfigurationError, match=told):
        find_exporter("other.Other")
