"""Stand-off files have no text, and the pages bring it back; what has drifted is reported."""

import csv
import json

import pytest

from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Paragraph
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.rebuilding import DRIFT, TextFate, rebuild
from bilingual_crawler.export.source import Selection
from bilingual_crawler.export.standoff import text_hash, without_text
from bilingual_crawler.store.sentence_pair import SENTENCES, read_sentences
from tests.support.export import document, exported, sentence, write_documents, write_sentences
from tests.support.recordings import exchange, write_warc

ES, EU = "https://example.org/es/a", "https://example.org/eu/a"
TEXTS = {
    ES: ["El museo abre a las diez.", "La entrada cuesta siete euros.", "Hay visitas guiadas."],
    EU: ["Museoa hamarretan irekitzen da.", "Sarrerak zazpi euro balio du.", "Bisita gidatuak."],
}


def html(url, texts=None):
    language = "es" if url == ES else "eu"
    paragraphs = "".join(f"<p>{text}</p>" for text in texts or TEXTS[url])
    page = f"<html lang={language}><title>{language}</title><body>{paragraphs}</body></html>"
    return page.encode()


def crawl(folder, pages):
    """A crawl folder with these pages, as our extraction reads them."""
    documents = [
        build_document(url, body, content_type="text/html", headers_language=None, hints=("spa",))
        for url, body in pages.items()
    ]
    for each, language in zip(documents, ("spa", "eus"), strict=True):
        each.language = language
        for paragraph in each.paragraphs:
            paragraph.boilerplate = False
            paragraph.language = language
    return write_documents(folder, documents, [(ES, EU)])


@pytest.fixture
def folder(tmp_path):
    folder = crawl(tmp_path / "crawl", {url: html(url) for url in TEXTS})
    align_folder(folder, folder / SENTENCES)
    return folder


@pytest.fixture
def standoff(folder):
    return exported(folder, "standoff", selection=Selection(dropped=True))[0]


def drift(target):
    with (target / DRIFT).open(encoding="utf-8", newline="") as lines:
        return [tuple(row.values()) for row in csv.DictReader(lines, delimiter="\t")]


def test_no_text_is_in_the_file(folder, standoff):
    written = standoff.read_text("utf-8")
    assert written.count("\n") == len(list(read_sentences(folder / SENTENCES))) > 2
    assert not any(text in written for texts in TEXTS.values() for text in texts)


def test_the_crawl_brings_every_pair_back(folder, standoff, tmp_path):
    rebuilt = rebuild(standoff, [str(folder)], tmp_path / "again")
    before = list(read_sentences(folder / SENTENCES))
    assert list(read_sentences(tmp_path / "again" / SENTENCES)) == before
    assert rebuilt.fates == {TextFate.IN_PLACE: 2 * len(before)}
    assert drift(tmp_path / "again") == []


def test_warc_files_bring_pairs_back_through_our_own_extraction(tmp_path):
    long = {url: [" ".join(texts)] * 2 for url, texts in TEXTS.items()}
    warc = tmp_path / "site.warc.gz"
    write_warc(warc, [exchange(url, html(url, long[url])) for url in TEXTS])
    rows = [sentence(0, TEXTS[ES][0], TEXTS[EU][0], url1=ES, url2=EU, paragraph1=1)]
    standoff = tmp_path / "standoff.jsonl"
    standoff.write_text("".join(json.dumps(without_text(row)) + "\n" for row in rows))
    rebuild(standoff, [str(warc)], tmp_path / "again")
    assert list(read_sentences(tmp_path / "again" / SENTENCES)) == rows


def test_a_text_that_moved_is_found_by_its_hash(folder, standoff, tmp_path):
    crawl(folder, {ES: html(ES, ["Novedad de hoy.", *TEXTS[ES]]), EU: html(EU)})
    rebuilt = rebuild(standoff, [str(folder)], tmp_path / "again")
    assert rebuilt.fates[TextFate.MOVED] == 3
    assert rebuilt.fates[TextFate.CHANGED] == 0
    assert drift(tmp_path / "again") == [(ES, "3", "elsewhere on its page")]


def test_a_text_that_changed_is_left_out_and_listed(folder, standoff, tmp_path):
    changed = [TEXTS[ES][0], "La entrada cuesta nueve euros.", TEXTS[ES][2]]
    crawl(folder, {ES: html(ES, changed), EU: html(EU)})
    rebuilt = rebuild(standoff, [str(folder)], tmp_path / "again")
    assert rebuilt.account.left_out == {f"a text is {TextFate.CHANGED}": 1}
    assert drift(tmp_path / "again") == [(ES, "1", "no longer on its page")]
    texts = [row.text1 for row in read_sentences(tmp_path / "again" / SENTENCES)]
    assert TEXTS[ES][1] not in texts


def test_a_page_that_is_not_there_is_listed(folder, standoff, tmp_path):
    write_documents(folder, [document(ES, "spa", *TEXTS[ES])], [])
    rebuilt = rebuild(standoff, [str(folder)], tmp_path / "again")
    assert rebuilt.account.written["sentence pairs"] == 0
    assert {fate for _, _, fate in drift(tmp_path / "again")} >= {TextFate.MISSING.value}


def test_beads_over_menus_and_titles_come_back(tmp_path):
    menu = [Paragraph(text, "listitem", boilerplate=True) for text in ("Inicio", "Ayuda", "Mapa")]
    folder = tmp_path / "crawl"
    pages = [document(ES, "spa", *menu, title="El museo"), document(EU, "eus", "Hasiera. Mapa.")]
    write_documents(folder, pages, [(ES, EU)])
    rows = [
        sentence(0, "Inicio Mapa", "Hasiera. Mapa.", beads="2-2", paragraph1=0, sentence1=0,
                 paragraph2=0, sentence2=0, url1=ES, url2=EU),
        sentence(1, "El museo", "Hasiera.", kind="page_title", paragraph2=0, sentence2=0,
                 url1=ES, url2=EU),
    ]  # fmt: skip
    write_sentences(folder, rows)
    target, _ = exported(folder, "standoff")
    rebuild(target, [str(folder)], tmp_path / "again")
    assert list(read_sentences(tmp_path / "again" / SENTENCES)) == rows


def test_lines_of_others_are_read_with_care(folder, standoff, tmp_path):
    good = standoff.read_text("utf-8").splitlines()
    fields = json.loads(good[0])
    bad = [
        fields | {"beads": "99999999-1"},
        fields | {"beads": "1-1-1"},
        fields | {"hash1": 5},
        fields | {"lang1": "../x"},
        {name: value for name, value in fields.items() if name != "hash2"},
        fields | {"text1": "smuggled"},
    ]
    standoff.write_text("\n".join([*good, *map(json.dumps, bad), "[", ""]))
    rebuilt = rebuild(standoff, [str(folder)], tmp_path / "again")
    assert rebuilt.account.damage.lines == len(bad) + 1
    assert rebuilt.account.written["sentence pairs"] == len(good)


@pytest.mark.parametrize("content", ["", "{}\n", '{"a": 1}\n'])
def test_a_file_that_is_none_is_refused(folder, tmp_path, content):
    (tmp_path / "other.jsonl").write_text(content)
    with pytest.raises(ConfigurationError, match="has no sentence pair"):
        rebuild(tmp_path / "other.jsonl", [str(folder)], tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_masking_and_hashes_exclude_each_other(folder):
    with pytest.raises(ConfigurationError, match="no texts to mask"):
        exported(folder, "standoff", selection=Selection(anonymise=True))


def test_a_hash_is_the_same_everywhere():
    assert text_hash("Kaixo") == text_hash("Kaixo") != text_hash("kaixo")
    assert len(text_hash("half \ud800")) == 16
