"""The public API: which names there are, and what a program can do with them alone."""

import inspect
import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from bilingual_crawler import api
from bilingual_crawler.api import (
    ConfigurationError,
    Document,
    PairDetector,
    PairOpinion,
    align,
    build_document,
    pair_documents,
    read_crawl,
)
from tests.support.bilingual_texts import BASQUE, SPANISH
from tests.support.crawling import crawl
from tests.support.servers import serve_demo

NAMES = [
    "Alternate",
    "BacklinkProvider",
    "ConfigurationError",
    "CrawlContents",
    "Document",
    "DocumentPair",
    "Evidence",
    "Exporter",
    "Factor",
    "Identification",
    "LanguageIdentifier",
    "Link",
    "LinkScorer",
    "Outcome",
    "PairDetector",
    "PairOpinion",
    "Paragraph",
    "SentencePair",
    "Tagger",
    "align",
    "build_document",
    "pair_documents",
    "read_crawl",
]
SITE = "https://museum.example"
TEXTS = [(SPANISH[at : at + 2], BASQUE[at : at + 2]) for at in range(0, len(SPANISH), 2)]


def page(language, number, title, text):
    body = f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{text}</body></html>"
    return build_document(f"{SITE}/{language}/{number}", body.encode())


def test_the_public_names_are_these():
    assert sorted(api.__all__) == sorted(NAMES)
    assert all(inspect.getdoc(getattr(api, name)) for name in NAMES)


def test_the_names_need_no_engine_of_scrapy():
    program = (
        "import sys, bilingual_crawler.api\n"
        "print(*sorted(name for name in sys.modules if name in {'scrapy', 'twisted', 'torch'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.fixture(scope="module")
def documents():
    """Three pages in each of two languages, which say the same."""
    made = []
    for number, (spanish, basque) in enumerate(TEXTS, 1):
        for language, sentences in (("es", spanish), ("eu", basque)):
            text = "".join(f"<p>{sentence}</p>" for sentence in sentences)
            made.append(page(language, number, sentences[0], text))
    return made


def test_documents_are_paired_and_aligned(documents):
    pairs = pair_documents(documents, "spa-eus")
    assert {(pair.first, pair.second) for pair in pairs} == {
        (f"{SITE}/es/{number}", f"{SITE}/eu/{number}") for number in range(1, len(TEXTS) + 1)
    }
    found = {(each.text1, each.text2) for each in align(documents, pairs)}
    wanted = {pair for spanish, basque in TEXTS for pair in zip(spanish, basque, strict=True)}
    assert len(found & wanted) > len(wanted) / 2


def test_languages_that_there_are_not_are_refused_with_an_error_that_programs_can_catch(documents):
    with pytest.raises(ConfigurationError, match="langs='spa-xyz'"):
        pair_documents(documents, "spa-xyz")
    assert issubclass(ConfigurationError, Exception)


class Prices(PairDetector):
    """Compares the prices that two pages name."""

    def read(self, document):
        return sorted(set(re.findall(r"\d+,\d\d €", document.text)))

    def compare(self, first, second):
        one, other = self.note_of(first), self.note_of(second)
        if not one or not other:
            return None
        shared = len(set(one) & set(other))
        return PairOpinion(6.0 if shared else -6.0, f"{shared} of {len(one)} prices are on both")


def test_a_detector_of_ones_own_is_heard(documents):
    priced = [
        build_document(
            each.url,
            f"<p>{each.text}</p><p>{each.url[-1]}5,00 €</p>".encode(),
            hints=("spa", "eus"),
        )
        for each in documents
    ]
    pairs = pair_documents(priced, "spa-eus", [Prices()])
    evidence = [item for pair in pairs for item in pair.evidence if item.detector == "Prices"]
    assert len(evidence) == len(pairs) > 0
    assert all("1 of 1 prices are on both" in item.why for item in evidence)


@pytest.mark.crawl
def test_a_crawl_is_read_back(tmp_path):
    with serve_demo() as server:
        crawl(server.url, tmp_path / "out", settings={"BILINGUAL_ALIGN": 1})
    contents = read_crawl(tmp_path / "out")
    documents = {each.url: each for each in contents.documents()}
    pairs = list(contents.pairs())
    assert contents.report["pairs"] == len(pairs) > 10
    assert all(isinstance(documents[pair.first], Document) for pair in pairs)
    assert pairs[0].evidence[0].why
    sentences = list(contents.sentences())
    assert {each.lang1 for each in sentences} == {"spa"}
    assert sentences


def test_a_folder_that_is_no_crawl_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="is not the folder of a crawl"):
        read_crawl(tmp_path)


def test_nothing_is_plugged_in_before_a_package_brings_something():
    groups = ("scorers", "detectors", "exporters", "backlinks", "identifiers")
    assert not [each for name in groups for each in entry_points(group=f"bilingual_crawler.{name}")]
