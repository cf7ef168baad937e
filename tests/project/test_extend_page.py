"""The plug-ins that docs/how-to/extend.md shows work as they are printed there."""

import re

import pytest

from bilingual_crawler import api
from bilingual_crawler.discovery.backlinks import BACKLINK_PLUGINS
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.identifiers.choice import load_identifier
from tests.support.crawling import ROOT
from tests.support.export import sentence, write_sentences
from tests.support.plugin import install
from tests.support.typed_commands import typed

PAGE = (ROOT / "docs" / "how-to" / "extend.md").read_text("utf-8")
EXAMPLES = {
    re.search(r"class (\w+)", text)[1]: text
    for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    if "class " in text
}


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    """All examples, as one module of a user."""
    install(tmp_path, monkeypatch, "mine", "\n\n".join(EXAMPLES.values()))


def test_every_kind_of_plug_in_has_an_example():
    kinds = {name for name in api.__all__ if isinstance(getattr(api, name), type)}
    shown = set(re.findall(r"^class \w+\((\w+)\)", "\n".join(EXAMPLES.values()), re.MULTILINE))
    plugins = {
        *("LinkScorer", "PairDetector", "Exporter"),
        *("LanguageIdentifier", "BacklinkProvider", "Tagger"),
    }
    assert plugins <= kinds
    assert shown == plugins


def test_examples_import_from_the_public_api_alone():
    lines = re.findall(r"^(?:from|import) \S+", "\n".join(EXAMPLES.values()), re.MULTILINE)
    assert set(lines) == {"from bilingual_crawler.api", "import re"}


def test_the_exporter_writes_a_corpus(tmp_path, capsys):
    folder = tmp_path / "crawl"
    folder.mkdir()
    write_sentences(folder, [sentence(0, "Buenos días.", "Egun on.")])
    out = tmp_path / "out.txt"
    status, _, told = typed(capsys, "export", folder, "--to", "mine.FastAlign", "--out", out)
    assert status == 0, told
    assert out.read_text("utf-8") == "Buenos días. ||| Egun on.\n"


def test_the_tagger_annotates_an_export(tmp_path, capsys):
    folder = write_sentences(tmp_path / "crawl", [sentence(0, "Buenos días.", "Egun on.")])
    command = ("export", folder, "--to", "cwb", "--tagger", "mine.Shape", "--out", tmp_path / "cwb")
    status, _, told = typed(capsys, *command)
    assert status == 0, told
    lines = (tmp_path / "cwb" / "spa.vrt").read_text("utf-8").splitlines()
    assert {"Buenos\tcapital\t_", "días\tsmall\t-", ".\tsign\t-"} <= set(lines)


def test_the_identifier_knows_its_language():
    text = "Sos pitzinnos sunt in domo cun sas mamas e cun sos babbos issoro. " * 20
    page = f"<p>{text}</p>".encode()
    document = build_document(
        "https://a.example/", page, identifier=load_identifier("mine.Sardinian")
    )
    assert document.language == "srd"


def test_the_provider_answers():
    provider = BACKLINK_PLUGINS.make("mine.Portal", "BILINGUAL_BACKLINKS")
    assert provider.sources_of("museo.org", 5) == ["https://portal.example/links/museo.org"]
