"""A language identifier of a user takes the place of CLD2."""

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.identifiers.choice import load_identifier
from bilingual_crawler.documents.language import (
    CLD2,
    Identification,
    LanguageIdentifier,
)
from bilingual_crawler.errors import ConfigurationError
from tests.support.crawling import crawl, documents
from tests.support.fetching import HTML, Site

PAGE = b"<html><body><p>" + b"Bona die a totus, amigos caros. " * 30 + b"</p></body></html>"


class Sardinian(LanguageIdentifier):
    """Knows one word of Sardinian, and leaves everything else to CLD2."""

    def identify(self, text, hints=(), domain=""):
        if "totus" in text:
            return Identification(reliable=True, shares=[("srd", 100)])
        return CLD2.identify(text, hints, domain)


class Quoting(LanguageIdentifier):
    """Repeats the hints."""

    def identify(self, text, hints=(), domain=""):
        return Identification(reliable=bool(hints), shares=[(code, 50) for code in hints])


def test_the_identifier_decides_for_the_page_and_its_paragraphs():
    document = build_document("https://a.example/", PAGE, identifier=Sardinian())
    assert document.language == "srd"
    assert [each.language for each in document.paragraphs] == ["srd"]
    assert build_document("https://a.example/", PAGE).language != "srd"


def test_hints_come_only_where_there_was_no_answer_without():
    document = build_document("https://a.example/", PAGE, hints=("spa",), identifier=Quoting())
    assert (document.language, document.language_source) == ("spa", "hints")


def test_a_language_that_the_identifier_knows_is_not_taken_on_the_word_of_the_page():
    page = PAGE.replace(b"<html>", b'<html lang="ast">')
    assert not CLD2.knows("ast")
    by_word = build_document("https://a.example/", page, hints=("ast",))
    assert (by_word.language, by_word.language_source) == ("ast", "declaration")
    document = build_document("https://a.example/", page, hints=("ast",), identifier=Sardinian())
    assert document.language == "srd"


def test_an_identifier_is_named_by_its_import_path_or_refused_in_a_sentence():
    assert isinstance(load_identifier(f"{__name__}.Sardinian"), Sardinian)
    with pytest.raises(ConfigurationError, match="is not a language identifier"):
        load_identifier("json.JSONDecoder")
    with pytest.raises(
        ConfigurationError,
        match=r"must be one of cld2, fasttext:MODEL_FILE, or package\.module\.Class",
    ):
        Config.from_settings({"BILINGUAL_IDENTIFIER": "cld3"})


@pytest.mark.crawl
def test_a_crawl_uses_the_identifier_that_its_settings_name(tmp_path):
    with Site({"/": (200, HTML, PAGE)}) as site:
        crawl(
            f"{site.url}/",
            tmp_path / "out",
            langs="srd-spa",
            settings={"BILINGUAL_IDENTIFIER": f"{__name__}.Sardinian"},
        )
    assert [each["language"] for each in documents(tmp_path / "out")] == ["srd"]
