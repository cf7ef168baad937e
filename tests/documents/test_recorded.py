"""Quality floors on recorded sites, if these are available."""

import os
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.languages import LanguagePair

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[3] / "shared"))
NAMES = ("irhpc", "112revelats", "arima-blog", "hagiasophia")

pytestmark = pytest.mark.skipif(
    not all((SHARED / "sites" / f"{name}.warc.gz").exists() for name in NAMES),
    reason="the recorded sites are not here; BILINGUAL_SHARED says where they are",
)


@pytest.fixture(scope="module", params=NAMES)
def site(request):
    documents = {}
    with (SHARED / "sites" / f"{request.param}.warc.gz").open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                url = record.rec_headers.get_header("WARC-Target-URI")
                documents[url] = build_document(url, record.content_stream().read())
    gold = (SHARED / "sites" / f"{request.param}.gold.tsv").read_text("utf-8")
    return documents, [line.split("\t") for line in gold.splitlines()]


def test_the_languages_of_gold_pairs_are_recognised(site):
    documents, gold = site
    sides = {(first, one) for first, _, one, _ in gold} | {
        (second, two) for _, second, _, two in gold
    }
    right = sum(documents[url].language == language for url, language in sides)
    assert right >= 0.98 * len(sides)


def test_gold_pairs_have_content_on_both_sides(site):
    documents, gold = site
    assert all(documents[url].main_paragraphs for row in gold for url in row[:2])


def test_long_paragraphs_of_one_page_are_content(site):
    documents, _ = site
    count = Counter(
        text
        for document in documents.values()
        for text in {paragraph.text for paragraph in document.paragraphs}
    )
    long = [
        paragraph
        for document in documents.values()
        for paragraph in document.paragraphs
        if count[paragraph.text] == 1 and len(paragraph.text) >= 80
    ]
    assert sum(paragraph.boilerplate for paragraph in long) <= 0.05 * len(long)


def test_paragraphs_of_every_page_are_boilerplate(site):
    documents, _ = site
    for language in {document.html_language for document in documents.values()}:
        pages = [each for each in documents.values() if each.html_language == language]
        count = Counter(text for page in pages for text in {each.text for each in page.paragraphs})
        template = [
            paragraph
            for page in pages
            for paragraph in page.paragraphs
            if count[paragraph.text] > 0.9 * len(pages)
        ]
        assert sum(not paragraph.boilerplate for paragraph in template) <= 0.1 * len(template)


def test_no_page_of_sites_with_a_page_for_each_language_is_split(site):
    documents, _ = site
    for document in documents.values():
        for codes in combinations([code for code, _ in document.language_shares], 2):
            pair = LanguagePair.parse("-".join(codes))
            assert split_mixed(document, pair) is None, document.url


def test_no_page_of_these_sites_says_that_it_is_machine_translated(site):
    documents, _ = site
    assert {document.machine_translated for document in documents.values()} == {""}
