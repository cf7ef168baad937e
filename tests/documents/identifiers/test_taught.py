"""A language is taught with a page of text, told from its neighbours, and kept in a folder."""

import json
import random

import pytest

from bilingual_crawler.documents.identifiers.choice import load_identifier
from bilingual_crawler.documents.identifiers.taught import TaughtIdentifier
from bilingual_crawler.documents.identifiers.taught_folder import read_taught, write_taught
from bilingual_crawler.documents.identifiers.teaching import built_in_neighbours, teach
from bilingual_crawler.documents.language import CLD2
from bilingual_crawler.errors import ConfigurationError
from tests.support.crawling import crawl, documents
from tests.support.fetching import HTML, Site
from tests.support.taught import AGAINST, CODE, OTHER, SPANISH, TAUGHT


@pytest.fixture(scope="module")
def taught():
    return teach(CODE, TAUGHT, {"spa": AGAINST})


@pytest.fixture(scope="module")
def identifier(taught):
    return TaughtIdentifier(CLD2, [taught])


def test_a_taught_language_is_recognised_on_text_it_was_not_taught_with(identifier):
    assert not CLD2.knows(CODE)
    text = "\n".join(OTHER)
    assert identifier.identify(text).shares == [(CODE, 100)]
    assert identifier.knows(CODE)
    assert identifier.knows("spa")
    assert not identifier.knows("ilo")


def test_languages_that_the_identifier_knows_keep_their_pages(identifier):
    text = "\n".join(SPANISH)
    assert identifier.identify(text) == CLD2.identify(text)
    german = "Die Stadt liegt an einem Fluss und hat viele alte Häuser. " * 8
    assert identifier.identify(german) == CLD2.identify(german)
    for empty in ("", "\n\n", "12 34"):
        assert identifier.identify(empty) == CLD2.identify(empty)


def test_a_page_in_two_languages_has_shares_of_both(identifier):
    shares = dict(identifier.identify("\n".join([*OTHER, *SPANISH])).shares)
    assert set(shares) == {CODE, "spa"}
    assert all(30 < percent < 70 for percent in shares.values())


def test_neighbours_are_what_cld2_says_what_is_spelt_alike_and_what_is_named(taught):
    codes = [each.code for each in taught.neighbours]
    assert codes[0] == "spa"
    assert "eng" in codes
    assert taught.neighbours[0].lines
    assert taught.recognised > 0.8
    assert taught.mistaken["spa"] == 0
    assert "spa" in taught.guesses
    assert {"nor", "slk", "dan"} < built_in_neighbours()


def test_a_taught_language_survives_its_folder(tmp_path, taught):
    write_taught(tmp_path / "taught", taught)
    assert read_taught(tmp_path / "taught")[0].lines == taught.lines
    identifier = load_identifier("cld2", taught=tmp_path / "taught")
    assert identifier.identify("\n".join(OTHER)).shares == [(CODE, 100)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other"}, "was not written by scrapy languages teach"),
        ({"code": "no language"}, "a code that is not in ISO 639-3"),
        ({"code": "nob"}, "a code that is not in ISO 639-3"),
        ({"text": "not a list"}, "texts as lists of lines"),
        ({"text": ["x" * 500_000]}, "a longer text than any"),
        ({"text": []}, "has no text of qaa"),
        ({"neighbours": {}}, "1 to 40 neighbours"),
        ({"neighbours": {"nhn": []}}, "has no text of nhn"),
        ({"threshold": "NaN"}, "must have a number as threshold"),
        ({"floor": float("nan")}, "must have a number as floor"),
        ({"guesses": {"spa": True}}, "must have a number as spa"),
    ],
)
def test_a_folder_of_someone_else_is_checked(tmp_path, taught, change, said):
    file = write_taught(tmp_path, taught)
    content = json.loads(file.read_text(encoding="utf-8")) | change
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=said) as caught:
        read_taught(tmp_path)
    assert "Teach it again" in str(caught.value)


def test_a_folder_that_holds_no_language_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="There is no folder"):
        load_identifier("cld2", taught=tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="has no taught language"):
        load_identifier("cld2", taught=tmp_path)
    junk = random.Random(1).randbytes(1000)
    for content in (junk, b"[" * 100_000, b"\x80\x04\x95"):
        (tmp_path / "x.taught.json").write_bytes(content)
        with pytest.raises(ConfigurationError, match="is not JSON in UTF-8"):
            read_taught(tmp_path)


def test_a_text_on_a_single_line_teaches_as_well():
    identifier = TaughtIdentifier(CLD2, [teach(CODE, [" ".join(TAUGHT), "Ken?"])])
    assert identifier.identify("\n".join(OTHER)).shares[0][0] == CODE


def test_too_little_text_is_refused():
    with pytest.raises(
        ConfigurationError, match=r"only 16 letters of Nahuatl \(nah\): a page or more"
    ):
        teach("nah", ["Niltze, quen tinemi?", "1234 !!", ""])
    with pytest.raises(ConfigurationError, match="cannot be a neighbour of itself"):
        teach(CODE, TAUGHT, {CODE: ()})


@pytest.mark.crawl
def test_a_crawl_keeps_the_pages_in_a_taught_language(tmp_path, taught):
    write_taught(tmp_path / "taught", taught)
    page = "".join(f"<p>{each}</p>" for each in OTHER)
    body = f"<html><head><meta charset='utf-8'></head><body>{page}</body></html>".encode()
    with Site({"/": (200, HTML, body)}) as site:
        crawl(
            f"{site.url}/",
            tmp_path / "out",
            langs=f"{CODE}-spa",
            settings={"BILINGUAL_TAUGHT": tmp_path / "taught"},
        )
    assert [each["language"] for each in documents(tmp_path / "out")] == [CODE]
