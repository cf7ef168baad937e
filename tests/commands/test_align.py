"""`scrapy align` makes sentences.jsonl.gz of a crawl's folder, whatever state that is in."""

import gzip
import json
import os
import subprocess
import sys

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.alignment.documents import MOST_SENTENCES, sole_writer
from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.documents.document import Paragraph
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.embeddings import load_encoder
from bilingual_crawler.store.sentence_pair import pair_id, read_sentences
from tests.support import processes
from tests.support.alignment import document, line, made_crawl, write_crawl
from tests.support.crawling import ROOT
from tests.support.processes import HANG, wait_until
from tests.support.tiny_models import meaning_model
from tests.support.typed_commands import status_of


@pytest.fixture
def scrapy_align(capsys):
    """Run the command; its status and what it printed."""

    def run(*words):
        settings = Settings()
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", "align", *map(str, words)], settings)
        printed = capsys.readouterr()
        status = status_of(end.value)
        return (status, printed.out + printed.err) if isinstance(status, int) else (1, status)

    return run


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    return made_crawl(tmp_path_factory.mktemp("made") / "crawl")


def align(folder):
    out = folder / "sentences.jsonl.gz"
    return align_folder(folder, out), list(read_sentences(out))


def museum(number=1):
    """Two small pages with a menu, a heading, text and a part that was not translated."""
    menu = Paragraph("Inicio Noticias Contacto", boilerplate=True)
    first = document(
        f"https://m.example/es/{number}",
        "spa",
        menu,
        Paragraph("Horario de verano", "heading"),
        "El museo abre a las 10.30. Los lunes está cerrado. La entrada cuesta 12 euros.",
    )
    second = document(
        f"https://m.example/eu/{number}",
        "eus",
        Paragraph("Udako ordutegia", "heading"),
        "Museoa 10:30ean zabaltzen da. Astelehenetan itxita dago. Sarrerak 12 euro balio du.",
    )
    return first, second


def test_the_command_aligns_a_folder_and_tells_counts(scrapy_align, crawl):
    status, printed = scrapy_align(crawl, "--json")
    assert status == 0
    told = json.loads(printed)
    pairs = list(read_sentences(crawl / "sentences.jsonl.gz"))
    assert told["document_pairs"] == 12
    assert told["sentence_pairs"] == len(pairs) > 200
    assert told["kept"] == sum(not pair.dropped for pair in pairs)
    assert told["kept"] + sum(told["dropped"].values()) == len(pairs)
    assert told["lexicon_entries"]["spa-eus"] > 100
    assert told["file"] == str(crawl / "sentences.jsonl.gz")


def test_people_are_told_the_same_in_words(scrapy_align, crawl, tmp_path):
    status, printed = scrapy_align(crawl, "--out", tmp_path / "mine.jsonl.gz")
    assert status == 0
    assert "document pairs" in printed
    assert "kept" in printed
    assert list(read_sentences(tmp_path / "mine.jsonl.gz"))


def test_pairs_stand_in_the_order_of_their_documents(tmp_path):
    _, pairs = align(write_crawl(tmp_path / "crawl", [museum()]))
    assert [(pair.at, pair.kind, pair.beads) for pair in pairs] == [
        (0, "heading", "1-1"),
        *((at, "paragraph", "1-1") for at in (1, 2, 3)),
    ]
    assert pairs[1].text1 == "El museo abre a las 10.30."
    assert pairs[1].text2 == "Museoa 10:30ean zabaltzen da."
    assert {pair.pair for pair in pairs} == {pair_id(pairs[0].url1, pairs[0].url2)}


def test_the_same_folder_gives_the_same_file_in_every_process(crawl, tmp_path):
    align_folder(crawl, tmp_path / "here.gz")
    subprocess.run(
        [sys.executable, "-m", "scrapy", "align", crawl, "--out", tmp_path / "there.gz"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONHASHSEED": "7"},
        timeout=HANG,
        check=True,
    )
    assert (tmp_path / "here.gz").read_bytes() == (tmp_path / "there.gz").read_bytes()


def test_a_kill_leaves_the_old_file_and_the_next_run_the_new_one(tmp_path):
    crawl = made_crawl(tmp_path / "crawl", count=15)
    out = crawl / "sentences.jsonl.gz"
    align_folder(crawl, tmp_path / "whole.gz")
    out.write_bytes(gzip.compress(b"old"))
    process = processes.start(
        [sys.executable, "-m", "bilingual_crawler.reporting.alignment", str(crawl)], cwd=ROOT
    )
    fresh = crawl / "sentences.jsonl.gz.new"
    wait_until(lambda: fresh.exists() or process.poll() is not None)
    processes.end(process)
    assert gzip.decompress(out.read_bytes()) in {
        b"old",
        gzip.decompress((tmp_path / "whole.gz").read_bytes()),
    }
    align_folder(crawl, out)
    assert out.read_bytes() == (tmp_path / "whole.gz").read_bytes()
    assert not fresh.exists()


def test_a_folder_that_is_being_written_to_is_aligned_as_far_as_it_goes(tmp_path):
    crawl = write_crawl(tmp_path / "crawl", [museum(1), museum(2)])
    documents = crawl / "documents.jsonl.gz"
    whole = b"".join(
        gzip.compress(line(each).encode()) for pair in (museum(1), museum(2)) for each in pair
    )
    documents.write_bytes(whole[:-20])
    with (crawl / "pairs.jsonl").open("a") as file:
        file.write('{"url1": "https://m.exam')
    counts, _ = align(crawl)
    assert (counts.document_pairs, counts.is_unfinished) == (1, True)


def test_lines_that_cannot_be_read_are_counted(tmp_path):
    crawl = write_crawl(tmp_path / "crawl", [museum()])
    with (crawl / "pairs.jsonl").open("a") as file:
        file.write('not json\n{"url1": 3}\n[]\n')
    with gzip.open(crawl / "documents.jsonl.gz", "at") as file:
        file.write('{"url": "https://m.example/es/1"}\n')
    counts, _ = align(crawl)
    assert (counts.document_pairs, counts.unreadable_lines) == (1, 4)


def test_a_pair_that_was_replaced_is_not_aligned(tmp_path):
    crawl = write_crawl(tmp_path / "crawl", [museum(1), museum(2)])
    better = {"url1": "https://m.example/es/1", "url2": "https://m.example/eu/2"}
    with (crawl / "pairs.jsonl").open("a") as file:
        file.write(json.dumps(better | {"lang1": "spa", "lang2": "eus"}) + "\n")
    counts, pairs = align(crawl)
    assert counts.document_pairs == 1
    assert {(pair.url1, pair.url2) for pair in pairs} == {tuple(better.values())}


def test_a_crawl_without_pairs_gives_an_empty_file(tmp_path):
    counts, pairs = align(write_crawl(tmp_path / "crawl", []))
    assert (counts.sentence_pairs, pairs) == (0, [])


def test_a_document_that_is_not_there_is_left_out(tmp_path):
    crawl = write_crawl(tmp_path / "crawl", [museum()])
    (crawl / "documents.jsonl.gz").write_bytes(gzip.compress(line(museum()[0]).encode()))
    assert align(crawl)[0].document_pairs == 0


def test_a_document_of_endless_sentences_is_left_out(tmp_path):
    first, second = museum()
    dump = document(first.url, "spa", *["Una frase."] * (MOST_SENTENCES + 1))
    counts, _ = align(write_crawl(tmp_path / "crawl", [(dump, second)]))
    assert (counts.document_pairs, counts.too_large_documents) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the folder of one crawl"),
        (("nowhere",), "There is no folder nowhere"),
        (("{empty}",), "pairs.jsonl cannot be read"),
        (("{empty}", "--out", "nowhere/a.gz"), "There is no folder nowhere to write a.gz to"),
        (("{empty}", "--embeddings", "{empty}"), "holds no sentence model"),
        (("{empty}", "--nonsense"), "unknown option"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(scrapy_align, tmp_path, arguments, said):
    status, printed = scrapy_align(*(each.format(empty=tmp_path) for each in arguments))
    assert status != 0
    assert said in printed
    assert "Traceback" not in printed


def test_two_alignments_of_one_folder_do_not_mix(tmp_path):
    crawl = write_crawl(tmp_path / "crawl", [museum()])
    with (
        sole_writer(crawl / "sentences.jsonl.gz"),
        pytest.raises(ConfigurationError, match="Another alignment"),
    ):
        align(crawl)


MEANINGS = {"gato": 0, "katua": 0, "perro": 1, "txakurra": 1, "casa": 2, "etxea": 2}


@pytest.fixture
def sentence_model(tmp_path):
    return meaning_model(tmp_path / "model", MEANINGS)


def test_vectors_of_a_model_decide_where_nothing_else_can(tmp_path, sentence_model):
    first = document("https://m.example/es", "spa", "gato", "perro", "casa")
    second = document("https://m.example/eu", "eus", "txakurra", "etxea")
    crawl = write_crawl(tmp_path / "crawl", [(first, second)])
    align_folder(crawl, crawl / "s.gz", load_encoder(str(sentence_model)))
    found = [(pair.text1, pair.text2) for pair in read_sentences(crawl / "s.gz")]
    assert found == [("perro", "txakurra"), ("casa", "etxea")]


def test_a_model_that_needs_a_library_says_which(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigurationError, match="pip install sentence-transformers"):
        load_encoder("some/model")


def test_a_broken_model_is_told_in_a_sentence(sentence_model):
    (sentence_model / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_encoder(str(sentence_model))
