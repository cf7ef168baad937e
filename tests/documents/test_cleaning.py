import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.cleaning import clean, split_paragraphs

any_text = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C", "Cs"]))


@pytest.mark.parametrize(
    "space",
    [
        *("\u00a0", "\u202f", "\u2004", "\u2009", "\u3000", "\u2028", "\u200b"),
        *("\t", "\n", "\r\n", "   ", " \u00a0 "),
    ],
)
def test_every_kind_of_space_becomes_one_plain_space(space):
    assert clean(f"bat{space}bi") == "bat bi"


@pytest.mark.parametrize("nothing", ["\u00ad", "\u2060", "\ufeff", "\x00", "\x08", "\x7f", "\x9f"])
def test_what_has_no_width_is_removed(nothing):
    assert clean(f"eus{nothing}kara") == "euskara"


def test_letters_are_composed():
    assert clean("an\u0303o") == "año"


def test_joiners_that_spell_words_stay():
    assert clean("\u0645\u06cc\u200c\u062e\u0648") == "\u0645\u06cc\u200c\u062e\u0648"


def test_blank_lines_part_paragraphs():
    assert split_paragraphs("one\ntwo\n \t\n\n three \n\n") == ["one two", "three"]


@given(any_text)
def test_clean_text_is_clean(text):
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert cleaned == " ".join(cleaned.split())
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not any(unicodedata.category(each) in {"Cc", "Cs"} for each in cleaned)
