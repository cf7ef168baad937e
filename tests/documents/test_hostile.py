import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.page import MOST_BLOCKS

SECONDS = 6  # of processor time; anything quadratic takes minutes

SIZE = 100_000
HOSTILE = {
    "deep": b"<div>" * SIZE + b"hondoa" + b"</div>" * SIZE,
    "deep and unclosed": b"<b>" * SIZE,
    "deep lists": b"<ul><li>" * SIZE,
    "deep tables": b"<table><tr><td>" * SIZE,
    "deep links": b"<a href=/x>" * SIZE,
    "end tags without beginning, in the deep": b"<span>" * 20_000 + b"</p>" * (5 * SIZE),
    "a million empty tags": b"<p></p>" * (10 * SIZE),
    "unclosed paragraphs": b"<p>x" * SIZE,
    "many attributes": b"<a " + b" ".join(b"a%d=1" % at for at in range(SIZE)) + b" href=/x>x</a>",
    "a gigantic attribute": b"<a href='" + b"x" * (50 * SIZE) + b"' title='x'>x</a>",
    "gigantic classes": b"<div class='" + b"menu-x " * (10 * SIZE) + b"'>x</div>",
    "entities": b"<p>" + b"&amp;&#1;&bogus;" * SIZE,
    "angle brackets": b"<" * (10 * SIZE),
    "comments": b"<!--" * (10 * SIZE),
    "zeros": b"<p>\0x" * SIZE,
    "zeros alone": b"\0" * (20 * SIZE),
    "white space": b"<p>x" + b" \n" * (20 * SIZE) + b"x",
    "blank lines": b"<pre>" + b"\n \n x" * SIZE,
    "a long title": b"<title>" + b" - | " * (5 * SIZE) + b"</title>",
    "headings like the title": b"<title>x</title>" + b"<h1>x</h1>" * SIZE,
    "links in one block": b"<p>" + b"<a href=/%d>x</a> testua " % 7 * SIZE,
    "different links in one block": b"".join(b"<a href=/%d>x</a> y " % at for at in range(SIZE)),
    "scripts": b"<script>" * SIZE,
    "invalid bytes": b"\xff\xfd" * (10 * SIZE),
    "mixed encodings": ("añoá " * SIZE).encode() + b"\xe9 " * 20_000,
    "utf-16 of nothing": "<p>x".encode("utf-16") + b"\xd8\x00" * (5 * SIZE),
    "robots": b"<meta name=robots content='" + b"noindex," * SIZE + b"'>",
    "alternates": b"".join(b"<link rel=alternate hreflang=es href=/%d>" % at for at in range(SIZE)),
    "images": b"".join(b"<img src=/%d.png>" % at for at in range(SIZE)),
}

structures = st.lists(
    st.sampled_from(
        [
            *(b"<p>", b"</p>", b"<a href=/x>", b"<a href='", b"</a>", b"<title>", b"</title>"),
            *(
                b"<head>",
                b"<body>",
                b"</html>",
                b"<template>",
                b"<svg>",
                b"</svg>",
                b"<!--",
                b"-->",
            ),
            *(
                b"<script>",
                b"</script>",
                b"<base href=x:>",
                b"<meta charset=utf-16>",
                b"<li>",
                b"<h1>",
            ),
            *(
                b"<nav>",
                b"</nav>",
                b"<main>",
                b"<pre>",
                b"\n\n",
                b"<br>",
                b"<img src=x alt=y>",
                b"\0",
            ),
            *(
                b"&#xD800;",
                b"&#0;",
                b"&amp",
                b"\xff\xfe",
                b"\xef\xbb\xbf",
                b"\xc3",
                b"testua ",
                b"<",
                b">",
            ),
            *(
                b"<frameset>",
                b"<frame src=x>",
                b"<link rel=canonical href='http://['>",
                b"<![CDATA[",
            ),
            *(
                b"hitz bat eta beste bat eta hirugarren bat hemen doa, luzea izan dadin. ",
                b"<html lang=zz>",
            ),
        ]
    ),
    max_size=40,
).map(b"".join)


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_page_made_to_hurt_is_read_in_time(body):
    start = time.process_time()
    document = build_document("https://example.org/", body)
    assert time.process_time() - start < SECONDS
    assert len(document.paragraphs) <= MOST_BLOCKS


def test_text_below_a_hundred_thousand_elements_is_found():
    body = b"<div>" * SIZE + b"hondoa" + b"</div>" * SIZE + b"<p>azkena</p>"
    document = build_document("https://example.org/", body)
    assert [paragraph.text for paragraph in document.paragraphs] == ["hondoa", "azkena"]


@given(st.binary() | structures, st.text(), st.text(), st.lists(st.text(max_size=8), max_size=3))
def test_no_bytes_from_anywhere_raise(body, url, content_type, hints):
    document = build_document(
        url, body, content_type=content_type, headers_language=content_type, hints=tuple(hints)
    )
    assert document.url == url.partition("#")[0]


@given(structures, st.sampled_from(["utf-8", "utf-16", "iso-8859-1", "gbk", "iso-2022-jp", "x"]))
def test_no_structure_raises_in_any_encoding(body, charset):
    document = build_document(
        "https://example.org/a", body, content_type=f"text/html; charset={charset}", hints=("spa",)
    )
    assert all(paragraph.text.strip() == paragraph.text for paragraph in document.paragraphs)
    assert all(link.url.startswith(("http://", "https://")) for link in document.links)
