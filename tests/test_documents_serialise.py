import json

from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Alternate, Document, Image, Paragraph
from bilingual_crawler.documents.serialise import document_from_dict, document_to_dict

KEYS = [
    *("url", "language", "language_source", "language_shares", "title", "paragraphs", "images"),
    *("alternates", "canonical", "encoding", "declared_encoding", "html_language", "depth"),
    *("requested_url", "fetched_at"),
]

text = st.text(max_size=10)
maybe = st.none() | text
kinds = st.sampled_from(["title", "heading", "listitem", "paragraph"])
documents = st.builds(
    Document,
    url=text,
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
    depth=st.integers(0, 9),
    requested_url=text,
    fetched_at=text,
)


def test_the_keys_are_stable():
    assert list(document_to_dict(Document("https://example.org/"))) == KEYS


def test_links_are_left_out():
    document = build_document("https://example.org/", b"<p><a href=/x>x</a>")
    assert document.links
    assert document_from_dict(document_to_dict(document)).links == []


@given(documents)
def test_a_document_comes_back_from_json_as_it_was(document):
    line = json.dumps(document_to_dict(document))
    assert document_from_dict(json.loads(line)) == document
