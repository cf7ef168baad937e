"""Which kind of file some bytes are, and what a crawl reads when it is asked for types."""

import pytest

from bilingual_crawler.config.file_kinds import FileKind, kind_of_file
from bilingual_crawler.config.settings import Config
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.crawl.scope import Scope
from bilingual_crawler.errors import ConfigurationError
from tests.support.files import docx, epub, odt, pdf, rtf

TEXT = "Some text of a file."


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (pdf(TEXT), FileKind.PDF),
        (b"junk\n" + pdf(TEXT), FileKind.PDF),
        (docx(TEXT), FileKind.DOCX),
        (odt(TEXT), FileKind.ODT),
        (epub(TEXT), FileKind.EPUB),
        (rtf(TEXT), FileKind.RTF),
        (b"\xd0\xcf\x11\xe0" + "WordDocument".encode("utf-16-le"), FileKind.DOC),
        (b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), FileKind.DOCX),
        (b"\xd0\xcf\x11\xe0" + "Workbook".encode("utf-16-le"), None),
        (b"<html>%PDF-", None),
        (b"PK\x03\x04 photos", None),
        (b"plain", None),
        (b"", None),
    ],
)
def test_the_content_says_what_a_file_is(body, kind):
    assert kind_of_file(body, "text/html") is kind
    assert kind_of_file(body) is kind


def test_html_alone_is_read_by_default():
    assert Config().media_types == {"text/html", "application/xhtml+xml"}


def test_types_that_are_asked_for_are_read():
    config = Config.from_settings({"BILINGUAL_TYPES": "html,pdf,txt"})
    asked = {"text/plain", "application/pdf", "application/octet-stream"}
    assert config.media_types > asked
    assert "application/epub+zip" not in config.media_types


def test_types_that_are_not_known_are_refused():
    with pytest.raises(ConfigurationError, match="html, pdf, docx"):
        Config.from_settings({"BILINGUAL_TYPES": "html,doc"})


def test_links_to_files_are_followed_only_when_asked_for():
    seeds = ("https://a.example/",)
    usual, asked = Scope(seeds, Sites()), Scope(seeds, Sites(), types=("html", "pdf"))
    for name, refused in (("a.pdf", (True, False)), ("a.docx", (True, True)), ("a", (False,) * 2)):
        found = tuple(bool(each.refusal(f"https://a.example/{name}", 1)) for each in (usual, asked))
        assert found == refused, name
