"""Paragraphs become sentences, and nothing of them is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.alignment.splitting import segments_of, sentences, split_all
from bilingual_crawler.documents.document import Document, Paragraph

LANGUAGES = ["spa", "eus", "isl", "mlt", "ell", "ara", "zho", "hin", "mya", "xxx", ""]
SIGNS = ".!?…。！？»”\"'() \n\tAbz19،؟।\ud800"

ONE_EACH = {
    "spa": ["La Dra. Ruiz llegó a las 5 p. m. con él.", "¿Cuánto cuesta?", "«No sé...», dijo."],
    "eus": ["XIX. mendean eraiki zuten.", "3,50 € balio du (ikus 4. artikulua).", "Zein ondo!"],
    "isl": ["Hann kom kl. 10.30 á 19. öld.", "Hvað kostar það?", "Það kostar 500 kr. á mann."],
    "mlt": ["Il-verżjoni 2.4.1 ħarġet illum.", "Kemm jiswa l-biljett?"],
    "fin": ["Versio julkaistiin 5. tammikuuta 2020.", "Valitse esim. suomi."],
    "ell": ["Υπάρχουν γλώσσες, π.χ. ελληνικά.", "Πόσο κοστίζει;", "Τι ωραία!"],
    "ara": ["وصل د. أحمد في الساعة 10.30 صباحًا.", "كم سعر التذكرة؟"],
    "hin": ["शर्मा जी सुबह 10.30 बजे पहुँचे।", "टिकट कितने का है?"],
    "eng": ["See www.example.org/a.html or write to a.b@example.org.", "Then wait…", "Nothing."],
}


@pytest.mark.parametrize("language", ONE_EACH)
def test_sentences_are_told_from_abbreviations_numbers_and_addresses(language):
    assert sentences(" ".join(ONE_EACH[language]), language) == ONE_EACH[language]


def test_a_full_stop_inside_a_name_ends_nothing():
    text = "La función =FIN.MES(A1) da el 31.12. Vaya a Datos ▸ Orden.Después pulse Intro."
    assert sentences(text, "spa") == [
        "La función =FIN.MES(A1) da el 31.12.",
        "Vaya a Datos ▸ Orden.",
        "Después pulse Intro.",
    ]


def test_chinese_needs_no_spaces():
    assert sentences("门票多少钱？每人3.50欧元。太好了！", "zho") == [
        "门票多少钱？",
        "每人3.50欧元。",
        "太好了！",
    ]


@given(
    st.text(st.one_of(st.characters(), st.sampled_from(SIGNS)), max_size=300),
    st.sampled_from(LANGUAGES),
)
def test_no_character_but_white_space_is_lost_or_moved(text, language):
    found = sentences(text, language)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(each and each == each.strip() for each in found)


@pytest.mark.parametrize("text", ["", " \n ", "a" * 50_000, "a. " * 20_000, "«" * 30_000])
def test_any_text_will_do(text):
    assert "".join("".join(sentences(text, "spa")).split()) == "".join(text.split())


def test_a_sentence_knows_its_paragraph():
    paragraphs = [Paragraph("Título", "heading"), Paragraph("Uno. Dos."), Paragraph("Tres.")]
    found = split_all(paragraphs, "spa")
    assert [(each.text, each.paragraph, each.is_heading) for each in found] == [
        ("Título", 0, True),
        ("Uno.", 1, False),
        ("Dos.", 1, False),
        ("Tres.", 2, False),
    ]


def test_the_sentences_of_a_page_know_the_place_of_their_paragraph_in_it():
    page = Document("https://example.org/", "eng")
    page.paragraphs = [
        Paragraph("Menu", boilerplate=True),
        Paragraph("One ends. Two ends."),
        Paragraph("Otra lengua.", language="spa"),
        Paragraph("Three ends."),
    ]
    found = [(each.paragraph, each.number) for each in segments_of(page, "eng")]
    assert found == [(1, 0), (1, 1), (3, 0)]
