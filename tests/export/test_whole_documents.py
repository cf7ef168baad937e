"""Whole documents: nothing is lost, sentences are positions, links join them."""

import gzip
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.documents.document import Paragraph
from bilingual_crawler.export.source import Selection
from bilingual_crawler.export.whole_documents import OTHER_TEXT, OUTSIDE, paragraphs_of
from bilingual_crawler.store.sentence_pair import SENTENCES, read_sentences
from tests.support.export import (
    ES,
    EU,
    document,
    exported,
    sentence,
    write_documents,
    write_sentences,
)

MENU = Paragraph("Inicio\u2003Contacto", "listitem", boilerplate=True)
SPANISH = [
    MENU,
    Paragraph("El museo", "title", language="spa"),
    Paragraph("El museo abre a las 10:30.  Cierra los lunes.", language="spa"),
    Paragraph("Opening hours in English", language="eng"),
    Paragraph("La entrada cuesta 7 euros.", language=None),
]
BASQUE = [
    Paragraph("Museoa", "title", language="eus"),
    Paragraph("Museoa 10:30ean irekitzen da. Astelehenetan itxita dago.", language="eus"),
    Paragraph("Sarrerak 7 euro balio du.", language="eus"),
    MENU,
]


@pytest.fixture
def folder(tmp_path):
    pages = [document(ES, "spa", *SPANISH, title="El museo"), document(EU, "eus", *BASQUE)]
    write_documents(tmp_path / "crawl", pages, [(ES, EU)])
    align_folder(tmp_path / "crawl", tmp_path / "crawl" / SENTENCES)
    return tmp_path / "crawl"


def records(target):
    return [json.loads(line) for line in target.read_text("utf-8").split("\n")[:-1]]


def sentences_of(side):
    return {
        each["id"]: paragraph["text"][each["start"] : each["end"]]
        for paragraph in side["paragraphs"]
        for each in paragraph["sentences"]
    }


def stored_paragraphs(folder):
    with gzip.open(folder / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {each["url"]: each["paragraphs"] for each in map(json.loads, lines)}


def test_the_paragraphs_are_those_of_the_crawl_to_the_byte(folder):
    (record,) = records(exported(folder, "documents")[0])
    stored = stored_paragraphs(folder)
    for side in (record["document1"], record["document2"]):
        rebuilt = [
            {"text": p.text, "kind": p.kind, "boilerplate": p.boilerplate, "language": p.language}
            for p in paragraphs_of(side)
        ]
        assert json.dumps(rebuilt) == json.dumps(stored[side["url"]])


def test_links_join_the_sentences_that_were_aligned(folder):
    target, account = exported(folder, "documents")
    (record,) = records(target)
    first, second = (sentences_of(record[side]) for side in ("document1", "document2"))
    joined = [
        (" ".join(first[each] for each in link["sentences1"]),
         " ".join(second[each] for each in link["sentences2"]), link["dropped"])
        for link in record["links"]
    ]  # fmt: skip
    aligned = [(row.text1, row.text2, row.dropped) for row in read_sentences(folder / SENTENCES)]
    assert joined == aligned
    assert account.written == {"document pairs": 1, "links": len(joined)}


def test_what_is_not_aligned_and_what_is_not_content_stay_and_are_marked(folder):
    rows = list(read_sentences(folder / SENTENCES))
    write_sentences(folder, rows[:1])
    (record,) = records(exported(folder, "documents")[0])
    side = record["document1"]
    marks = [each["aligned"] for p in side["paragraphs"] for each in p["sentences"]]
    assert sum(marks) == 1
    menu, english = side["paragraphs"][0], side["paragraphs"][3]
    assert menu["boilerplate"]
    assert english["language"] == "eng"
    assert [each["aligned"] for p in (menu, english) for each in p["sentences"]] == [False, False]


def test_a_link_may_name_the_title_of_a_page(folder):
    titles = sentence(0, "El museo", "Museoa", kind="page_title", paragraph2=0, sentence2=0)
    write_sentences(folder, [titles])
    (record,) = records(exported(folder, "documents")[0])
    (link,) = record["links"]
    assert (link["sentences1"], link["sentences2"]) == (["title"], ["p0s0"])


def test_links_may_join_menus_with_sentences_between_them(folder):
    menu = [replace(MENU, text=text) for text in ("Inicio", "Ayuda", "Contacto")]
    pages = [document(ES, "spa", *menu, *SPANISH), document(EU, "eus", *BASQUE)]
    write_documents(folder, pages, [(ES, EU)])
    row = sentence(0, "Inicio Contacto", MENU.text, beads="2-1", paragraph1=0, sentence1=0)
    write_sentences(folder, [replace(row, paragraph2=3, sentence2=0)])
    (record,) = records(exported(folder, "documents")[0])
    (link,) = record["links"]
    assert (link["sentences1"], link["sentences2"]) == (["p0s0", "p2s0"], ["p3s0"])


def test_sentences_of_an_early_version_are_found_by_their_text(folder):
    rows = [row for row in read_sentences(folder / SENTENCES) if row.kind not in OUTSIDE]
    write_sentences(folder, rows)
    (before,) = records(exported(folder, "documents")[0])
    nowhere = [
        replace(row, paragraph1=-1, paragraph2=-1, sentence1=-1, sentence2=-1) for row in rows
    ]
    write_sentences(folder, nowhere)
    (after,) = records(exported(folder, "documents")[0])
    assert after == before


def test_links_to_sentences_that_have_changed_are_counted_and_left_out(folder):
    rows = list(read_sentences(folder / SENTENCES))
    hostile = replace(rows[1], beads="9" * 40 + "-x")
    write_sentences(folder, [replace(rows[0], text1="Otro texto."), hostile, *rows[2:]])
    target, account = exported(folder, "documents")
    (record,) = records(target)
    assert len(record["links"]) == len(rows) - 2
    assert account.left_out == {OTHER_TEXT: 2}


def test_masked_personal_data_leaves_the_sentences_where_they_belong(tmp_path):
    text = "Escriba a ana@example.org. El museo abre a las 10:30."
    pages = [document(ES, "spa", text), document(EU, "eus", "Idatzi. Museoa 10:30ean.")]
    folder = write_documents(tmp_path / "crawl", pages, [(ES, EU)])
    write_sentences(folder, [])
    target, account = exported(folder, "documents", selection=Selection(anonymise=True))
    (record,) = records(target)
    assert list(sentences_of(record["document1"]).values()) == [
        "Escriba a [EMAIL].",
        "El museo abre a las 10:30.",
    ]
    assert account.changed == {"e-mail addresses masked": 1}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.text(max_size=80) | st.sampled_from(["A. B? c\u2026 D", "Uno.\nDos. "])))
def test_any_text_comes_back(tmp_path_factory, texts):
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    folder = tmp_path_factory.mktemp("any")
    pages = [document(ES, "spa", *texts), document(EU, "eus", "Kaixo.")]
    write_sentences(write_documents(folder, pages, [(ES, EU)]), [])
    (record,) = records(exported(folder, "documents")[0])
    assert [each.text for each in paragraphs_of(record["document1"])] == texts
    for paragraph in record["document1"]["paragraphs"]:
        told = "".join(paragraph["text"][e["start"] : e["end"]] for e in paragraph["sentences"])
        assert "".join(told.split()) == "".join(paragraph["text"].split())


LOAD = """
import json, sys
from datasets import load_dataset
kind, file, cache = sys.argv[1:]
print(json.dumps(load_dataset(kind, data_files=file, split="train", cache_dir=cache)[0]))
"""


@pytest.mark.parametrize(("kind", "name"), [("json", "d.jsonl.gz"), ("parquet", "d.parquet")])
def test_both_forms_load_with_datasets_and_hold_the_same(folder, tmp_path, kind, name):
    pytest.importorskip("datasets", reason="datasets is not installed")
    (record,) = records(exported(folder, "documents")[0])
    target, _ = exported(folder, "documents", out=tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, kind, target, tmp_path / "cache"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == record
