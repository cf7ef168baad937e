"""TMX as the standard wants it: structure, attributes, languages, characters."""

import io
from datetime import datetime

import pytest
from lxml import etree

from bilingual_crawler.export.safe_text import REMOVED
from bilingual_crawler.export.source import EMPTY
from bilingual_crawler.languages import all_languages, language_of_tag, language_tag
from tests.support.export import ES, EU, HARD, PAIR, exported, sentence, write_sentences

STRUCTURE = """
<!ELEMENT tmx (header, body)>
<!ATTLIST tmx version CDATA #REQUIRED>
<!ELEMENT header (note | prop)*>
<!ATTLIST header
  creationtool CDATA #REQUIRED
  creationtoolversion CDATA #REQUIRED
  segtype (block | paragraph | sentence | phrase) #REQUIRED
  o-tmf CDATA #REQUIRED
  adminlang CDATA #REQUIRED
  srclang CDATA #REQUIRED
  datatype CDATA #REQUIRED
  o-encoding CDATA #IMPLIED
  creationdate CDATA #IMPLIED>
<!ELEMENT body (tu)*>
<!ELEMENT tu ((note | prop)*, tuv+)>
<!ATTLIST tu tuid CDATA #IMPLIED>
<!ELEMENT tuv ((note | prop)*, seg)>
<!ATTLIST tuv xml:lang CDATA #REQUIRED>
<!ELEMENT seg (#PCDATA)>
<!ELEMENT prop (#PCDATA)>
<!ATTLIST prop type CDATA #REQUIRED>
<!ELEMENT note (#PCDATA)>
"""
"""What TMX 1.4b asks of the elements that we write, in our own words."""
LANG = "{http://www.w3.org/XML/1998/namespace}lang"
FORBIDDEN = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF]))


def export_tmx(tmp_path, rows):
    target, account = exported(write_sentences(tmp_path / "crawl", rows), "tmx")
    return etree.parse(target).getroot(), account


@pytest.mark.parametrize("rows", [HARD, []], ids=["rows", "none"])
def test_the_file_has_the_structure_of_the_standard(tmp_path, rows):
    root, _ = export_tmx(tmp_path, rows)
    structure = etree.DTD(io.StringIO(STRUCTURE))
    assert structure.validate(root), structure.error_log


def test_the_header_says_all_that_the_standard_asks_for(tmp_path):
    root, _ = export_tmx(tmp_path, HARD)
    header = dict(root.find("header").attrib)
    datetime.strptime(header.pop("creationdate"), "%Y%m%dT%H%M%S%z")
    assert root.get("version") == "1.4"
    assert header.pop("creationtoolversion")
    assert header == {
        "creationtool": "bilingual-crawler",
        "segtype": "sentence",
        "o-tmf": "bilingual-crawler",
        "adminlang": "en",
        "srclang": "es",
        "datatype": "plaintext",
        "o-encoding": "UTF-8",
    }


def test_a_unit_has_both_texts_with_their_urls_and_what_is_known_of_the_pair(tmp_path):
    root, account = export_tmx(tmp_path, HARD)
    unit = root.findall("body/tu")[1]
    assert unit.get("tuid") == f"{PAIR}-1"
    assert {prop.get("type"): prop.text for prop in unit.findall("prop")} == {
        "x-pair": PAIR,
        "x-at": "1",
        "x-score": "0.30000000000000004",
        "x-beads": "1-1",
        "x-kind": "paragraph",
    }
    assert [
        (side.get(LANG), side.findtext("prop[@type='source-document']"), side.findtext("seg"))
        for side in unit.findall("tuv")
    ] == [("es", ES, HARD[1].text1), ("eu", EU, HARD[1].text2)]
    assert account.written == {"sentence pairs": len(HARD)}


def test_characters_that_xml_forbids_are_removed_and_counted(tmp_path):
    root, account = export_tmx(tmp_path, [sentence(0, f"ho{FORBIDDEN}la", "ka\ud800ixo")])
    assert [seg.text for seg in root.iter("seg")] == ["hola", "ka\ufffdixo"]
    assert account.changed == {REMOVED: len(FORBIDDEN)}


def test_a_text_of_nothing_but_forbidden_characters_is_left_out(tmp_path):
    root, account = export_tmx(tmp_path, [sentence(0, "\x01\x02")])
    assert not root.findall("body/tu")
    assert account.left_out == {EMPTY: 1}


def test_a_language_without_two_letters_keeps_three(tmp_path):
    root, _ = export_tmx(tmp_path, [sentence(0, lang1="ast", lang2="zho")])
    assert [side.get(LANG) for side in root.iter("tuv")] == ["ast", "zh"]


def test_every_tag_leads_back_to_its_language():
    for language in all_languages():
        assert language_of_tag(language_tag(language.code)) == language


def test_nothing_of_an_odd_id_breaks_out_of_its_attribute(tmp_path):
    root, _ = export_tmx(tmp_path, [sentence(0, pair='"><x y="')])
    assert root.find("body/tu").get("tuid") == "___x_y__-0"
    assert root.findtext("body/tu/prop") == '"><x y="'
