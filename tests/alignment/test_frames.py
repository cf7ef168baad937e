"""Menus, titles and descriptions are aligned too, once."""

import gzip
import json

import pytest

from bilingual_crawler.alignment.frames import MOST_TRIES, KnownFrames, frame_of
from bilingual_crawler.alignment.splitting import Segment
from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.sentence_pair import SENTENCES, read_sentences

LANGS = ("eng", "spa")


def page(url, language, title, description, *frame):
    made = Document(url, language, title=title, description=description)
    made.paragraphs = [Paragraph(text, "listitem", boilerplate=True) for text in frame]
    made.paragraphs.append(Paragraph("Number 1234567 is here.", "heading"))
    return made


def test_a_frame_has_the_title_the_description_and_the_boilerplate():
    made = page("https://example.org/", "eng", "Museum", "It is open. It is free.", "Home", "Shop")
    found = [(each.text, each.kind, each.paragraph) for each in frame_of(made, "eng")]
    assert found == [
        ("Museum", "page_title", -1),
        ("It is open.", "description", -1),
        ("It is free.", "description", -1),
        ("Home", "frame", 0),
        ("Shop", "frame", 1),
    ]


def test_a_title_that_repeats_a_heading_is_left_out():
    made = page("https://example.org/", "eng", "Number 1234567 is here. | Museum", "")
    assert frame_of(made, "eng") == []


def test_a_text_is_tried_on_a_few_pages_and_not_again_once_it_has_its_counterpart():
    known, home, shop = KnownFrames(), Segment("Home"), Segment("Shop")
    assert known.fresh([home, shop, home], LANGS, 0) == [home, shop]
    known.settle("Home", LANGS, 0)
    for _ in range(MOST_TRIES - 1):
        assert known.fresh([home, shop], LANGS, 0) == [shop]
    assert known.fresh([home, shop], LANGS, 0) == []
    assert known.fresh([home], LANGS, 1) == [home]


def test_the_frame_comes_after_the_content_of_its_documents_and_only_once(tmp_path):
    documents, pairs = [], []
    for at in range(3):
        one, two = f"https://example.org/en/{at}", f"https://example.org/es/{at}"
        documents += [
            page(one, "eng", "", "", "Call 946 123 456 today", "Hotel Excelsior 1889"),
            page(two, "spa", "", "", "Llame al 946 123 456 hoy", "El hotel Excelsior 1889"),
        ]
        pairs.append({"url1": one, "url2": two, "lang1": "eng", "lang2": "spa"})
    lines = "".join(json.dumps(document_to_dict(each)) + "\n" for each in documents)
    (tmp_path / DOCUMENTS).write_bytes(gzip.compress(lines.encode()))
    (tmp_path / PAIRS).write_text("".join(json.dumps(each) + "\n" for each in pairs))
    align_folder(tmp_path, tmp_path / SENTENCES)
    rows = list(read_sentences(tmp_path / SENTENCES))
    frame = [(each.url1, each.at, each.text1) for each in rows if each.kind == "frame"]
    assert frame == [
        ("https://example.org/en/0", 1, "Call 946 123 456 today"),
        ("https://example.org/en/0", 2, "Hotel Excelsior 1889"),
    ]
    assert len({(each.pair, each.at) for each in rows}) == len(rows)


@pytest.mark.parametrize(
    "broken",
    [
        {"title": 5},
        {"description": ["text"]},
        {"paragraphs": [{"text": ["a"], "boilerplate": True}]},
    ],
)
def test_a_document_without_text_in_its_frame_is_counted(tmp_path, broken):
    made = document_to_dict(page("https://example.org/en", "eng", "", "", "Home"))
    other = document_to_dict(page("https://example.org/es", "spa", "", "", "Inicio"))
    lines = "".join(json.dumps(each) + "\n" for each in (made | broken, other))
    (tmp_path / DOCUMENTS).write_bytes(gzip.compress(lines.encode()))
    pair = {"url1": made["url"], "url2": other["url"], "lang1": "eng", "lang2": "spa"}
    (tmp_path / PAIRS).write_text(json.dumps(pair) + "\n")
    assert align_folder(tmp_path, tmp_path / SENTENCES).unreadable_lines == 1
