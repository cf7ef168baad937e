import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.encoding import clean, decode, split_paragraphs

TEXT = "El niño comió camarón — “año”"

any_text = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C", "Cs"]))


def page(text, charset):
    return f'<html lang="es"><head><meta charset="{charset}"></head><p>{text}</p></html>'


@pytest.mark.parametrize("real", ["utf-8", "cp1252"])
@pytest.mark.parametrize("claimed", ["utf-8", "iso-8859-1", "windows-1252", "nonsense"])
def test_text_comes_out_right_whatever_the_page_claims(real, claimed):
    decoded = decode(page(TEXT, claimed).encode(real))
    assert TEXT in decoded.utf8.decode()
    assert decoded.encoding == real


@pytest.mark.parametrize("real", ["utf-8", "cp1252"])
@pytest.mark.parametrize("claimed", ["utf-8", "iso-8859-1"])
def test_text_comes_out_right_whatever_the_header_claims(real, claimed):
    decoded = decode(f"<p>{TEXT}".encode(real), f"text/html; charset={claimed}")
    assert TEXT in decoded.utf8.decode()


def test_both_the_declared_and_the_real_encoding_are_told():
    decoded = decode(page(TEXT, "utf-8").encode("cp1252"))
    assert (decoded.declared, decoded.encoding) == ("utf-8", "cp1252")


def test_the_header_comes_before_the_page():
    body = page("Łódź", "cp1252").encode("cp1250")
    assert "Łódź" in decode(body, "text/html; charset=windows-1250").utf8.decode()


@pytest.mark.parametrize("real", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_wide_encodings_and_byte_order_marks_are_understood(real):
    decoded = decode(page(TEXT, "iso-8859-1").encode(real), "text/html; charset=iso-8859-1")
    assert TEXT in decoded.utf8.decode()
    assert not decoded.utf8.startswith(b"\xef\xbb\xbf")


def test_strays_of_another_encoding_are_read_as_that():
    body = f"<p>{TEXT}".encode() + b" caf\xe9 \x93bai\x94"
    assert decode(body).utf8.decode().endswith(f"{TEXT} café “bai”")


@pytest.mark.parametrize(
    ("text", "real", "language"),
    [
        ("Привет, как дела", "cp1251", "rus"),
        ("Καλημέρα κόσμε", "iso8859-7", "ell"),
        ("お元気ですか。私は", "euc_jp", "jpn"),
        ("お元気ですか。私は", "cp932", "jpn"),
        ("안녕하세요 여러분", "cp949", "kor"),
        ("Zażółć gęślą jaźń", "iso8859-2", "pol"),
        ("Õhtu jõuab kätte", "cp1257", "est"),
    ],
)
def test_undeclared_text_is_read_as_was_usual_for_its_language(text, real, language):
    assert text in decode(f"<p>{text}".encode(real), "", [language]).utf8.decode()


def test_the_language_of_the_page_comes_before_the_wanted_ones():
    body = '<html lang="ru"><p>Привет, как дела'.encode("cp1251")
    assert "Привет" in decode(body, "", ["ell", "eng"]).utf8.decode()


def test_escaped_japanese_is_not_taken_for_ascii():
    body = "<p>お元気ですか".encode("iso2022_jp")
    assert "お元気" in decode(body, "text/html; charset=iso-2022-jp").utf8.decode()


@pytest.mark.parametrize("codec", ["rot13", "punycode", "unicode_escape", "idna", "undefined"])
def test_codecs_that_are_no_encoding_of_the_web_are_ignored(codec):
    decoded = decode(page(TEXT, codec).encode(), f"text/html; charset={codec}")
    assert TEXT in decoded.utf8.decode()
    assert decoded.declared is None


def test_control_characters_are_left_out():
    assert decode(b"<p>a\x00b\x1b\x08c\n\td").utf8 == b"<p>abc\n\td"


@given(st.binary(), st.text(), st.lists(st.text(max_size=5), max_size=3))
def test_any_bytes_become_valid_utf8(body, content_type, languages):
    decode(body, content_type, languages).utf8.decode()


@given(st.binary(), st.sampled_from(["gbk", "utf-16", "iso-2022-jp", "utf-8", "hz", "big5"]))
def test_any_bytes_can_be_read_in_any_encoding(body, charset):
    decode(body, f"text/html; charset={charset}").utf8.decode()


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


def test_each_line_of_a_plain_text_is_a_paragraph_if_asked():
    assert split_paragraphs("one\ntwo\n \t\r\n three ", lines=True) == ["one", "two", "three"]


@given(any_text)
def test_clean_text_is_clean(text):
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert cleaned == " ".join(cleaned.split())
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not any(unicodedata.category(each) in {"Cc", "Cs"} for each in cleaned)
