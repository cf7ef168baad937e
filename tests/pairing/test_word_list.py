"""A user's word list is read from TSV and from Apertium's dictionaries, whatever is in it."""

import gzip
import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.profile import word_hash
from bilingual_crawler.pairing.word_list import WordList

DIX = """<?xml version="1.0" encoding="UTF-8"?>
<dictionary>
  <alphabet/>
  <sdefs><sdef n="n"/></sdefs>
  <pardefs><pardef n="x"><e><p><l>tzea</l><r>cion</r></p></e></pardef></pardefs>
  <section id="main" type="standard">
    <e><p><l>etxe<s n="n"/></l><r>casa<s n="n"/></r></p></e>
    <e r="LR"><p><l>bizileku<s n="n"/></l><r>casa<s n="n"/></r></p></e>
    <!-- <e><p><l>mahai</l><r>mesa</r></p></e> -->
    <e i="yes"><p><l>aulki</l><r>silla</r></p></e>
    <e><p><l>bost<b/>axola</l><r>importar<g><b/>poco</g></r></p></e>
    <e><p><l>Egun</l><r>D\u00eda</r></p></e>
    <e><i>taxi</i></e>
    <e><re>[A-Z]+</re></e>
  </section>
</dictionary>
"""


def read(tmp_path, content, name="list"):
    file = tmp_path / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return WordList.read(file)


def translations(words, text):
    _, found = words.translations(np.array([word_hash(text)], np.uint32))
    return set(found.tolist())


def hashes(*texts):
    return {word_hash(text) for text in texts}


def test_a_word_finds_all_its_translations_in_both_directions(tmp_path):
    words = read(tmp_path, "casa\tetxe\ncasa\tbizileku\nperro\ttxakur\n")
    assert translations(words, "casa") == hashes("etxe", "bizileku")
    assert translations(words, "etxe") == hashes("casa")
    assert translations(words, "mesa") == set()
    assert len(words) == 3


def test_each_translation_is_told_with_the_place_of_its_word(tmp_path):
    words = read(tmp_path, "casa\tetxe\ncasa\tbizileku\nperro\ttxakur\n")
    asked = np.array([word_hash("mesa"), word_hash("perro"), word_hash("casa")], np.uint32)
    owners, found = words.translations(asked)
    assert owners.tolist() == [1, 2, 2]
    assert set(found.tolist()) == hashes("txakur", "etxe", "bizileku")


def test_case_comments_marks_and_further_columns_do_not_matter(tmp_path):
    words = read(tmp_path, "\ufeffCasa\tETXE\tn\t12\r\n# mesa\tmahai\r\n\r\n")
    assert translations(words, "casa") == hashes("etxe")
    assert len(words) == 1


@pytest.mark.parametrize("line", ["mi casa\tetxe", "taxi\ttaxi", "de\tetxe", "2024\tetxe"])
def test_phrases_short_words_numbers_and_equal_words_contribute_nothing(tmp_path, line):
    words = read(tmp_path, f"{line}\nperro\ttxakur\n")
    assert len(words) == 1


def test_lines_without_a_tab_are_passed_over_and_counted(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        words = read(tmp_path, "casa etxe\nperro\ttxakur\nnada\n")
    assert len(words) == 1
    assert "2 lines without a tab" in caplog.text


def test_an_apertium_dictionary_gives_its_single_words(tmp_path):
    words = read(tmp_path, DIX)
    assert translations(words, "casa") == hashes("etxe", "bizileku")
    assert translations(words, "egun") == hashes("día")
    assert len(words) == 3


@pytest.mark.parametrize("content", ["casa\tetxe\n", DIX])
def test_a_packed_list_is_read_as_well_whatever_its_name(tmp_path, content):
    words = read(tmp_path, gzip.compress(content.encode()), "list.txt")
    assert word_hash("etxe") in translations(words, "casa")


def test_entities_of_a_dictionary_are_not_followed(tmp_path):
    (tmp_path / "secret").write_text("secreto")
    dix = (
        f'<!DOCTYPE d [<!ENTITY file SYSTEM "{tmp_path / "secret"}"><!ENTITY a "etxe">]>'
        "<d><e><p><l>&file;</l><r>gako</r></p></e><e><p><l>&a;</l><r>mesa</r></p></e>"
        "<e><p><l>casa</l><r>bizileku</r></p></e></d>"
    )
    words = read(tmp_path, dix)
    assert translations(words, "gako") == translations(words, "mesa") == set()
    assert translations(words, "casa") == hashes("bizileku")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "has no two words"),
        (b"nothing here\n", "has no two words"),
        (b"<dictionary><e>", "cannot be read"),
        (gzip.compress(b"casa\tetxe\n" * 99, mtime=0)[:-12], "cannot be read"),
        (b"\x1f\x8bnonsense", "cannot be read"),
    ],
)
def test_a_list_that_is_none_is_told_in_a_sentence(tmp_path, content, told):
    with pytest.raises(ConfigurationError, match=told):
        read(tmp_path, content)


def test_a_list_that_is_not_there_is_told_with_what_to_write(tmp_path):
    with pytest.raises(ConfigurationError, match="word<TAB>word"):
        WordList.read(tmp_path / "nowhere.tsv")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        WordList.read(tmp_path)


@given(st.lists(st.tuples(st.text(max_size=6), st.text(max_size=6)), max_size=20))
def test_any_words_make_a_list_that_answers_both_ways(entries):
    words = WordList(entries)
    for one, other in entries:
        if None not in hashes(one, other) and one.lower() != other.lower():
            assert word_hash(other) in translations(words, one)
            assert word_hash(one) in translations(words, other)
