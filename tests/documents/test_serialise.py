import json
from urllib.parse import urldefrag

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import (
    Alternate,
    Document,
    DocumentKey,
    Image,
    Paragraph,
)
from bilingual_crawler.documents.serialise import document_from_dict, document_to_dict
from bilingual_crawler.urls.resolver import UrlResolver

KEYS = [
    *("url", "variant", "language", "language_source", "language_shares", "title"),
    *("description", "keywords", "topic", "paragraphs"),
    *(
        "images",
        "switches",
        "tags",
        "size",
        "alternates",
        "canonical",
        "encoding",
        "declared_encoding",
    ),
    *(
        "html_language",
        "machine_translated",
        "translation_service",
        "licence",
        "rendered",
        "depth",
        "requested_url",
        "fetched_at",
    ),
]

text = st.text(max_size=10)
maybe = st.none() | text
codes = st.sampled_from(["", "eus", "spa"])
kinds = st.sampled_from(["title", "heading", "listitem", "paragraph"])
documents = st.builds(
    Document,
    url=text,
    variant=text,
    language=maybe,
    language_source=text,
    language_shares=st.lists(st.tuples(text, st.integers(0, 100)), max_size=3),
    title=text,
    paragraphs=st.lists(st.builds(Paragraph, text, kinds, st.booleans(), maybe), max_size=3),
    images=st.lists(st.builds(Image, text, text), max_size=2),
    alternates=st.lists(st.builds(Alternate, text, text, maybe), max_size=2),
    canonical=maybe,
    html_language=text,
    encoding=text,
    declared_encoding=maybe,
    machine_translated=text,
    translation_service=text,
    rendered=st.booleans(),
    depth=st.integers(0, 9),
    requested_url=text,
    fetched_at=text,
)


def test_the_keys_are_stable():
    assert list(document_to_dict(Document("https://example.org/"))) == KEYS


def test_of_the_links_only_those_that_name_a_language_are_kept():
    document = build_document(
        "https://example.org/", b"<p><a href=/x>x</a> <a href=/eu>Euskara</a>"
    )
    assert len(document.links) == 2
    kept = document_from_dict(document_to_dict(document)).links
    assert [link.url for link in kept] == ["https://example.org/eu"]


@given(documents)
def test_a_document_comes_back_from_json_as_it_was(document):
    line = json.dumps(document_to_dict(document))
    assert document_from_dict(json.loads(line)) == document


@pytest.mark.parametrize("key", ["variant", "machine_translated", "translation_service"])
def test_a_file_from_before_a_key_was_there_is_read(key):
    fields = document_to_dict(Document("https://example.org/", variant="eus"))
    del fields[key]
    assert getattr(document_from_dict(fields), key) == ""


@given(st.sampled_from(["https://example.org/", "https://example.org/a?b=c"]), codes)
def test_a_key_tells_the_url_and_the_variant(url, variant):
    document = Document(url, variant=variant)
    assert DocumentKey.parse(document.key) == (url, variant)
    assert (document.key == url) == (variant == "")


def test_the_key_of_a_variant_is_no_address_that_is_fetched():
    key = Document("https://example.org/a", variant="eus").key
    assert urldefrag(key).url == "https://example.org/a"
    assert UrlResolver("https://example.org/")(key) == "https://example.org/a"


def test_no_document_has_a_fragment_in_its_url():
    document = build_document("https://example.org/a#variant=eus", b"<p>x")
    assert (document.url, document.key) == ("https://example.org/a", "https://example.org/a")
