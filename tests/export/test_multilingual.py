"""Sentences in several languages at once, made of the pairs of every two."""

import json

import pytest
from lxml import etree

from bilingual_crawler.export.exporters import export, find_exporter, place_of
from bilingual_crawler.export.source import Selection
from bilingual_crawler.languages import parse_parallel
from tests.support.export import sentence, write_sentences

URLS = {code: f"https://example.org/{code}/a" for code in ("spa", "eus", "eng", "fra")}
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def link(one, other, number, *, text=None, score=0.9):
    """A pair of sentence `number` of two pages; `text` is another text on the second."""
    return sentence(
        number,
        f"{one} {number}",
        text or f"{other} {number}",
        pair=f"{one}{other}",
        url1=URLS[one],
        url2=URLS[other],
        lang1=one,
        lang2=other,
        paragraph1=number,
        paragraph2=number,
        score=score,
    )


ROWS = [
    *(link("spa", "eus", number) for number in (0, 1)),
    *(link("spa", "eng", number, score=0.8) for number in (0, 1, 2)),
    link("eus", "eng", 0, score=0.7),
    link("eus", "eng", 1, text="another sentence", score=0.4),
    link("spa", "fra", 2),
]


@pytest.fixture
def folder(tmp_path):
    return write_sentences(tmp_path / "crawl", ROWS)


def written(folder, name, langs=""):
    exporter = find_exporter(name)
    target = place_of(folder, exporter, None)
    chosen = Selection(langs=parse_parallel(langs) if langs else None)
    return target, export(folder, exporter, target, selection=chosen)


def units(target):
    return [
        {each.get(XML_LANG): each.findtext("seg") for each in unit.iter("tuv")}
        for unit in etree.parse(target).iter("tu")
    ]


def test_a_memory_has_one_variant_per_language_and_the_likeliest_ones(folder):
    target, account = written(folder, "multilingual-tmx")
    assert units(target) == [
        {"en": "eng 0", "eu": "eus 0", "es": "spa 0"},
        {"en": "eng 1", "eu": "eus 1", "es": "spa 1"},
        {"en": "eng 2", "fr": "fra 2", "es": "spa 2"},
    ]
    assert account.left_out == {"a likelier pair has another sentence in that language": 1}


def test_triples_are_sentences_of_which_every_two_are_a_pair(folder):
    target, account = written(folder, "multiparallel")
    (line,) = map(json.loads, target.read_text("utf-8").splitlines())
    assert line == {
        "score": 0.7,
        "texts": {"eng": "eng 0", "eus": "eus 0", "spa": "spa 0"},
        "urls": {code: URLS[code] for code in ("eng", "eus", "spa")},
    }
    assert account.left_out["not every two of its sentences are a pair"] == 2


def test_only_the_chosen_languages_are_exported(folder):
    target, account = written(folder, "multilingual-tmx", "eng-fra-spa")
    assert units(target) == [
        {"en": "eng 0", "es": "spa 0"},
        {"en": "eng 1", "es": "spa 1"},
        {"en": "eng 2", "fr": "fra 2", "es": "spa 2"},
    ]
    assert account.left_out["in other languages than --langs"] == 4


def test_personal_data_in_triples_is_masked(tmp_path):
    rows = [
        link("spa", "eus", 0, text="Idatzi: ana@example.org."),
        link("spa", "eng", 0),
        sentence(
            0, "Idatzi: ana@example.org.", "eng 0", pair="euseng", url1=URLS["eus"],
            url2=URLS["eng"], lang1="eus", lang2="eng", paragraph1=0, paragraph2=0,
        ),
    ]  # fmt: skip
    folder = write_sentences(tmp_path / "crawl", rows)
    exporter = find_exporter("multiparallel")
    target = place_of(folder, exporter, None)
    export(folder, exporter, target, selection=Selection(anonymise=True))
    (line,) = map(json.loads, target.read_text("utf-8").splitlines())
    assert line["texts"]["eus"] == "Idatzi: [EMAIL]."
