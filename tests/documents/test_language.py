import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.document import Paragraph
from bilingual_crawler.documents.language import detect_page, label_paragraphs

BASQUE = (
    "Euskal Herriko unibertsitateak ikasturte berria hasiko du irailean, eta ikasleek "
    "izena emateko epea zabalik izango dute uztailaren amaierara arte."
)
SPANISH = (
    "La universidad comenzará el nuevo curso en septiembre y los estudiantes tendrán abierto "
    "el plazo de inscripción hasta finales de julio."
)
ENGLISH = (
    "The university will begin the new year in September, and the students may enrol until "
    "the end of July, as they did in the years before."
)


def page(*texts, frame=()):
    return [Paragraph(text, boilerplate=True) for text in frame] + [Paragraph(t) for t in texts]


def test_the_main_text_tells_the_language():
    language = detect_page(page(BASQUE, BASQUE, frame=[SPANISH]))
    assert (language.code, language.source) == ("eus", "main text")
    assert language.shares[0][0] == "eus"
    assert language.shares[0][1] > 90


def test_a_page_with_little_content_is_judged_as_a_whole():
    language = detect_page(page("Gaur", frame=[BASQUE]))
    assert (language.code, language.source) == ("eus", "whole page")


def test_a_mixed_page_is_what_the_words_around_say():
    paragraphs = page(ENGLISH, ENGLISH, BASQUE, frame=[BASQUE, BASQUE])
    assert detect_page(paragraphs).code == "eus"


def test_a_page_is_not_in_a_language_that_its_content_lacks():
    paragraphs = page(SPANISH, SPANISH, "Gaur " + SPANISH, frame=[BASQUE] * 9)
    assert detect_page(paragraphs).code == "spa"


def test_of_two_equal_languages_the_declared_one_counts():
    paragraphs = page(*[BASQUE] * 6, *[SPANISH] * 6)
    assert detect_page(paragraphs, declared=["es"]).code == "spa"
    assert detect_page(paragraphs, declared=["eu-ES"]).code == "eus"


def test_a_wrong_declaration_does_not_mislead():
    assert detect_page(page(SPANISH, SPANISH), declared=["gl"], wanted=["glg"]).code == "spa"


def test_where_text_cannot_tell_the_declaration_does():
    language = detect_page(page("1234"), declared=["", "eu, es"])
    assert (language.code, language.source) == ("eus", "declaration")


def test_a_wanted_language_that_cld2_does_not_know_is_believed():
    language = detect_page(page(SPANISH, SPANISH), declared=["ast"], wanted=["ast", "spa"])
    assert (language.code, language.source) == ("ast", "declaration")


def test_a_page_without_text_has_no_language():
    assert detect_page([], declared=["eu"]) == (None, "none", [])


def test_paragraphs_of_a_mixed_page_have_their_own_languages():
    paragraphs = page(BASQUE, BASQUE, SPANISH, "labur")
    language = detect_page(paragraphs)
    label_paragraphs(paragraphs, language)
    assert [each.language for each in paragraphs] == ["eus", "eus", "spa", None]


def test_paragraphs_of_an_even_page_have_its_language():
    paragraphs = page(BASQUE, BASQUE, "labur", frame=[BASQUE])
    label_paragraphs(paragraphs, detect_page(paragraphs))
    assert [each.language for each in paragraphs] == [None, "eus", "eus", None]


@pytest.mark.parametrize("bad", ["\x00", "\x0b", "\x7f", "\ufdd0", "\U0001fffe", "\ud800"])
def test_characters_that_cld2_refuses_do_not_raise(bad):
    detect_page(page(BASQUE + bad + BASQUE))


@given(st.lists(st.text()), st.lists(st.text()), st.lists(st.text()), st.text())
def test_no_text_raises(texts, declared, wanted, domain):
    paragraphs = page(*texts)
    label_paragraphs(
        paragraphs, detect_page(paragraphs, declared=declared, wanted=wanted, domain=domain)
    )
