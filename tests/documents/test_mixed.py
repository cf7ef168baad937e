"""Pages that say everything in both languages, and the many that only look like it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Alternate, Document, Paragraph
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.languages import LanguagePair
from tests.support.bilingual_texts import BASQUE, SPANISH

PAIR = LanguagePair.parse("spa-eus")
URL = "https://www.example.org/aviso"


def read(body, title="Aviso / Oharra", html="es"):
    frame = '<nav><a href="/">Hasiera / Inicio</a> <a href="/b">Albisteak / Noticias</a></nav>'
    head = f"<title>{title}</title>"
    markup = f"<html lang={html}><head>{head}</head><body>{frame}{body}</body></html>"
    return build_document(URL, markup.encode(), hints=PAIR.codes)


def as_paragraphs(texts):
    return "".join(f"<p>{text}</p>" for text in texts)


def one_after_the_other():
    return as_paragraphs(SPANISH) + as_paragraphs(BASQUE)


def paragraph_by_paragraph():
    return "".join(f"<p>{es}</p><p>{eu}</p>" for es, eu in zip(SPANISH, BASQUE, strict=True))


def in_table_cells():
    rows = "".join(
        f"<tr><td>{es}</td><td>{eu}</td></tr>" for es, eu in zip(SPANISH, BASQUE, strict=True)
    )
    return f"<table>{rows}</table>"


def in_two_columns():
    columns = (as_paragraphs(BASQUE), as_paragraphs(SPANISH))
    return "".join(f'<div class="column">{each}</div>' for each in columns)


def section_by_section():
    return "".join(
        as_paragraphs(SPANISH[at : at + 2]) + as_paragraphs(BASQUE[at : at + 2])
        for at in range(0, len(SPANISH), 2)
    )


def with_headings():
    spanish = f"<h1>Aviso de obras</h1>{as_paragraphs(SPANISH)}"
    return f"{spanish}<h2>Obren oharra</h2>{as_paragraphs(BASQUE)}"


LAYOUTS = [
    one_after_the_other,
    paragraph_by_paragraph,
    in_table_cells,
    in_two_columns,
    section_by_section,
]


def texts(document):
    return [paragraph.text for paragraph in document.main_paragraphs]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_page_in_both_languages_becomes_two_documents(layout):
    parts = split_mixed(read(layout()), PAIR)
    assert parts is not None
    by_language = {part.language: part for part in parts}
    assert texts(by_language["spa"]) == SPANISH
    assert texts(by_language["eus"]) == BASQUE


def test_the_parts_have_one_url_and_two_keys():
    first, second = split_mixed(read(one_after_the_other()), PAIR)
    assert first.url == second.url == URL
    assert [first.variant, second.variant] == [first.language, second.language]
    assert first.key != second.key
    assert first.language_shares == [(first.language, 100)]


@pytest.mark.parametrize(("declared", "first"), [("es", "spa"), ("eu", "eus")])
def test_the_language_of_the_page_comes_first(declared, first):
    page = read(one_after_the_other(), html=declared)
    parts = split_mixed(page, PAIR)
    assert page.language == parts[0].language == first


def test_the_links_are_followed_once():
    page = read(one_after_the_other())
    first, second = split_mixed(page, PAIR)
    assert first.links == page.links != []
    assert second.links == []


def test_both_parts_have_the_frame_of_the_page():
    for part in split_mixed(read(one_after_the_other()), PAIR):
        assert any(paragraph.boilerplate for paragraph in part.paragraphs)


def test_a_title_in_both_languages_is_divided():
    parts = split_mixed(read(with_headings(), title="Aviso de obras / Obren oharra"), PAIR)
    assert {part.language: part.title for part in parts} == {
        "spa": "Aviso de obras",
        "eus": "Obren oharra",
    }


def test_a_title_in_one_language_stays_there_and_the_other_side_has_its_heading():
    parts = split_mixed(read(with_headings(), title="Aviso de obras - Ayuntamiento"), PAIR)
    assert {part.language: part.title for part in parts} == {
        "spa": "Aviso de obras",
        "eus": "Obren oharra",
    }


def test_headings_go_with_the_text_below_them():
    body = "".join(
        f"<h2>{name}</h2>{as_paragraphs(side)}"
        for name, side in (("Obras", SPANISH), ("Obrak", BASQUE))
    )
    by_language = {part.language: part for part in split_mixed(read(body), PAIR)}
    assert texts(by_language["spa"])[0] == "Obras"
    assert texts(by_language["eus"])[0] == "Obrak"


def test_short_cells_take_turns_as_the_long_ones_do():
    rows = [("Fecha", "Data"), *zip(SPANISH, BASQUE, strict=True), ("Fin", "Amaiera")]
    body = "".join(f"<tr><td>{es}</td><td>{eu}</td></tr>" for es, eu in rows)
    by_language = {
        part.language: part for part in split_mixed(read(f"<table>{body}</table>"), PAIR)
    }
    assert texts(by_language["spa"])[:2] == ["Fecha", SPANISH[0]]
    assert texts(by_language["eus"])[:2] == ["Data", BASQUE[0]]


def test_text_too_short_to_have_a_language_goes_with_what_is_before_it():
    body = as_paragraphs([*SPANISH, "2026"]) + as_paragraphs([*BASQUE, "Tel. 943"])
    by_language = {part.language: part for part in split_mixed(read(body), PAIR)}
    assert texts(by_language["spa"])[-1] == "2026"
    assert texts(by_language["eus"])[-1] == "Tel. 943"


def test_every_paragraph_is_in_one_part_and_the_frame_in_both():
    page = read(paragraph_by_paragraph())
    first, second = split_mixed(page, PAIR)
    main = [each for each in page.paragraphs if not each.boilerplate]
    parted = [each for part in (first, second) for each in part.paragraphs if not each.boilerplate]
    assert sorted(each.text for each in parted) == sorted(each.text for each in main)


def test_a_date_before_both_texts_does_no_harm():
    body = (
        f"<p>Publicado el lunes por la redacción</p>{as_paragraphs(BASQUE)}{as_paragraphs(SPANISH)}"
    )
    assert split_mixed(read(body), PAIR) is not None


def test_a_stray_line_in_the_other_language_does_no_harm():
    stray = "Sarrera doan da denentzat"
    texts = [*SPANISH[:3], stray, *SPANISH[3:], *BASQUE]
    page = Document(URL, language="spa", language_shares=[("spa", 50), ("eus", 49)])
    page.paragraphs = [
        Paragraph(text, language="spa" if text in SPANISH else "eus") for text in texts
    ]
    assert split_mixed(page, PAIR) is not None


def not_mixed(body, **options):
    return split_mixed(read(body, **options), PAIR) is None


def test_a_page_in_one_language_is_left_alone():
    assert not_mixed(as_paragraphs(SPANISH))


def test_a_page_in_two_languages_of_which_one_is_not_wanted_is_left_alone():
    assert split_mixed(read(one_after_the_other()), LanguagePair.parse("spa-eng")) is None


def test_a_quotation_does_not_split_a_page():
    assert not_mixed(as_paragraphs([*SPANISH, BASQUE[0], *SPANISH[:2]]))


def test_a_half_translated_page_is_not_a_translation_of_itself():
    assert not_mixed(as_paragraphs([*BASQUE[:3], *SPANISH[3:]]))


def test_untranslated_fields_between_labels_are_not_translations():
    labels = BASQUE[:5]
    fields = [text * 3 for text in SPANISH[:2]] + SPANISH[2:5]
    body = "".join(f"<p>{a}</p><p>{b}</p>" for a, b in zip(labels, fields, strict=True))
    assert not_mixed(body)


def test_a_summary_in_the_other_language_is_no_translation():
    assert not_mixed(as_paragraphs([*SPANISH, *SPANISH[::-1], BASQUE[0], BASQUE[1]]))


def test_other_figures_are_another_text():
    changed = [f"{text} {1900 + at}" for at, text in enumerate(BASQUE)]
    assert not_mixed(as_paragraphs(SPANISH) + as_paragraphs(changed))


def test_a_list_does_not_answer_to_paragraphs():
    listed = "".join(f"<li>{text}</li>" for text in BASQUE)
    assert not_mixed(f"{as_paragraphs(SPANISH)}<ul>{listed}</ul>")


def test_a_frame_in_the_other_language_does_not_split_a_page():
    assert not_mixed(f"<footer>{as_paragraphs(BASQUE)}</footer>{as_paragraphs(SPANISH)}")


def test_a_page_that_declares_its_translation_elsewhere_is_left_alone():
    page = read(one_after_the_other())
    elsewhere = Alternate("https://www.example.org/eu/oharra", "eu", "eus")
    assert split_mixed(replace(page, alternates=[elsewhere]), PAIR) is None
    itself = Alternate(URL, "eu", "eus")
    assert split_mixed(replace(page, alternates=[itself]), PAIR) is not None


@pytest.mark.parametrize("in_turns", [True, False])
def test_the_beginning_of_a_very_long_page_speaks_for_the_rest(in_turns):
    sides = [[Paragraph("x" * 30, language=code) for _ in range(5_000)] for code in PAIR.codes]
    rows = zip(*sides, strict=True) if in_turns else sides
    page = Document(URL, language="spa", language_shares=[("spa", 50), ("eus", 49)])
    page.paragraphs = [paragraph for row in rows for paragraph in row]
    parts = split_mixed(page, PAIR)
    assert [len(part.paragraphs) for part in parts] == [5_000, 5_000]


paragraphs = st.builds(
    Paragraph,
    st.sampled_from([*SPANISH, *BASQUE, "", "12", "Laburra"]),
    st.sampled_from(["title", "heading", "listitem", "paragraph"]),
    st.booleans(),
    st.sampled_from([None, "spa", "eus", "eng"]),
)


@given(st.lists(paragraphs, max_size=30), st.sampled_from([None, "spa", "eus", "eng"]))
def test_no_page_raises_and_nothing_is_lost(made, language):
    page = Document(URL, language=language, language_shares=[("spa", 50), ("eus", 49)])
    page.paragraphs = made
    parts = split_mixed(page, PAIR)
    if parts is not None:
        parted = [each for part in parts for each in part.paragraphs if not each.boilerplate]
        assert sorted(map(id, parted)) == sorted(id(each) for each in made if not each.boilerplate)
