import pytest

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Alternate, Image, Link
from bilingual_crawler.documents.page import MOST_LINKS

URL = "https://example.org/eu/berriak/"


def build(body, **options):
    return build_document(URL, body.encode() if isinstance(body, str) else body, **options)


def texts(document):
    return [paragraph.text for paragraph in document.paragraphs]


def kinds(document):
    return [(paragraph.kind, paragraph.text) for paragraph in document.paragraphs]


def only_link(body):
    (link,) = build(body).links
    return link


@pytest.mark.parametrize(
    "body",
    [
        "<p>bat</p><p>bi</p>",
        "bat<br>bi",
        "<div>bat<div>bi</div></div>",
        "<ul><li>bat<li>bi</ul>",
        "<table><tr><td>bat</td><td>bi</td></tr></table>",
        "<dl><dt>bat<dd>bi</dl>",
        "<blockquote>bat</blockquote>bi",
        "<h2>bat</h2>bi",
        "<pre>bat\n\nbi</pre>",
        "bat<hr>bi",
    ],
)
def test_blocks_are_paragraphs(body):
    assert texts(build(body)) == ["bat", "bi"]


def test_inline_elements_do_not_part_words():
    assert texts(build("<p>eus<b>ka</b>ra <i>batua</i></p>")) == ["euskara batua"]


def test_links_in_a_row_are_parted():
    assert texts(build("<p><a href=/a>bat</a><a href=/b>bi</a></p>")) == ["bat bi"]


def test_kinds_of_paragraphs_are_told_apart():
    body = "<h1>Izena</h1><h2>Atala</h2><p>testua</p><ul><li><p>puntua</p></li></ul><dl><dd>bi</dl>"
    assert kinds(build(body)) == [
        ("title", "Izena"),
        ("heading", "Atala"),
        ("paragraph", "testua"),
        ("listitem", "puntua"),
        ("listitem", "bi"),
    ]


def test_the_heading_that_repeats_the_title_is_the_title():
    document = build("<title>Berriak | Gunea</title><h1>Kaixo</h1><h2>Berriak</h2><p>testua</p>")
    assert kinds(document)[:2] == [("heading", "Kaixo"), ("title", "Berriak")]
    assert document.title == "Berriak | Gunea"


def test_a_page_has_one_title():
    body = "<title>Berriak</title><h1>Berriak</h1><h1>Berriak</h1>"
    assert [kind for kind, _ in kinds(build(body))] == ["title", "heading"]


@pytest.mark.parametrize(
    "hidden",
    [
        *("<script>x</script>", "<style>x</style>", "<template><p>x</p></template>"),
        *("<noscript>x</noscript>", "<svg><text>x</text></svg>", "<!-- x -->"),
        *("<div hidden>x<p>x</p></div>", '<span style="display: none">x</span>'),
        *('<p style="color:red;DISPLAY:NONE">x</p>', "<object>x</object>", "<?php x ?>"),
    ],
)
def test_hidden_text_is_no_text(hidden):
    assert texts(build(f"<body><p>bat</p>{hidden}<p>bi</p>")) == ["bat", "bi"]


def test_the_head_is_no_text():
    assert texts(build("<head><title>izena</title><meta name=x></head><body>bat")) == ["bat"]


def test_text_without_letters_is_no_paragraph():
    assert texts(build("<p>***</p><p>|</p><p>bat</p>")) == ["bat"]


def test_entities_are_read():
    assert texts(build("<p>a&ntilde;o&nbsp;&#8212;&#x20;2&lt;3 &amp;amp;</p>")) == [
        "año — 2<3 &amp;"
    ]


def test_a_link_has_its_address_anchor_and_surroundings():
    body = (
        "<p>Irakurri <a href='../es/#x' rel='Alternate Next'>bertsio <b>berria</b></a> hemen.</p>"
    )
    assert only_link(body) == Link(
        "https://example.org/eu/es/",
        anchor="bertsio berria",
        context="Irakurri bertsio berria hemen.",
        rel="alternate next",
    )


def test_the_surroundings_of_a_link_are_near_it():
    filler = "hitza " * 200
    context = only_link(f"<p>{filler} ezker <a href=/x>esteka</a> eskuin {filler}</p>").context
    assert "ezker esteka eskuin" in context
    assert len(context) <= 200


def test_an_image_in_a_link_is_told():
    link = only_link("<a href=/es/><img src=/es.png alt='Español'></a>")
    assert (link.image_src, link.image_alt) == ("https://example.org/es.png", "Español")


def test_a_link_without_text_is_called_by_its_title():
    assert only_link("<a href=/es/ title='En español'><i></i></a>").anchor == "En español"


def test_a_link_around_blocks_has_all_their_text():
    body = "<a href=/x><h3>Izena</h3><p>Laburpena</p></a><p>besterik</p>"
    link = only_link(body)
    assert link.anchor.split() == ["Izena", "Laburpena"]
    assert link.context == "Izena"


def test_links_are_relative_to_the_base():
    assert only_link("<base href='/otro/'><a href=uno>x</a>").url == "https://example.org/otro/uno"


def test_mail_scripts_and_fragments_are_no_links():
    body = "<a href='mailto:a@b.c'>a</a><a href='javascript:x()'>b</a><a href='#c'>c</a><a>d</a>"
    assert build(body).links == []


def test_the_richest_of_two_links_to_one_address_is_kept():
    body = """<a href=/x><img src=/i.png alt=irudia></a>
              <a href="/x#y" rel="nofollow">irakurri gehiago</a> <a href=/x>x</a>"""
    link = only_link(body)
    assert (link.anchor, link.image_alt, link.rel) == ("irakurri gehiago", "irudia", "")


def test_a_link_is_nofollow_if_all_links_to_it_are():
    body = "<a href=/x rel='nofollow me'>x</a><a href=/x rel=nofollow>y</a>"
    assert set(only_link(body).rel.split()) == {"nofollow", "me"}


def test_areas_and_frames_are_links():
    body = "<map><area href=/a alt=mapa></map><iframe src=/b title=markoa>x</iframe>"
    assert [(link.url[-2:], link.anchor) for link in build(body).links] == [
        ("/a", "mapa"),
        ("/b", "markoa"),
    ]
    assert [link.url[-2:] for link in build("<frameset><frame src=/c></frameset>").links] == ["/c"]


def test_hidden_menus_have_links_and_templates_do_not():
    body = "<ul hidden><li><a href=/es/>Español</a></ul><template><a href=/x>x</a></template>"
    link = only_link(body)
    assert (link.url, link.anchor) == ("https://example.org/es/", "Español")


def test_the_number_of_links_is_limited():
    body = "".join(f"<a href=/{number}>x</a>" for number in range(MOST_LINKS + 10))
    assert len(build(body).links) == MOST_LINKS


def test_declared_translations_are_alternates():
    body = """<link rel="alternate" hreflang="es-ES" href="/es/">
              <link rel=alternate hreflang=x-default href=/>
              <link rel=alternate hreflang=eu href=/feed type="application/rss+xml">"""
    assert build(body).alternates == [
        Alternate("https://example.org/es/", "es-es", "spa"),
        Alternate("https://example.org/", "x-default", None),
    ]
    assert build(body).links == []


def test_a_link_with_hreflang_is_both_link_and_alternate():
    document = build("<a rel=alternate hreflang=es href=/es/>Español</a>")
    assert document.alternates == [Alternate("https://example.org/es/", "es", "spa")]
    assert document.links[0].hreflang == "es"


def test_a_language_switch_with_hreflang_is_an_alternate_without_rel():
    for inside in ("Español", "<img src=/flags/es.png alt=''>", "<img src=x.png alt=ES>"):
        document = build(f"<a hreflang=es href=/es/>{inside}</a>")
        assert document.alternates == [Alternate("https://example.org/es/", "es", "spa")], inside


def test_hreflang_in_running_text_declares_no_translation():
    document = build("<p>Lotu <a hreflang=en href=//other.example/r>the annual report</a> hemen.")
    assert document.alternates == []
    assert document.links[0].hreflang == "en"


def test_images_have_addresses_and_descriptions():
    body = "<img src=a.png alt='lehena'><img src='data:x' data-src=/b.png><img src=a.png>"
    assert build(body).images == [
        Image(URL + "a.png", "lehena"),
        Image("https://example.org/b.png"),
    ]


def test_what_the_head_declares_is_read():
    document = build(
        """<html lang=eu><head><link rel=canonical href=/eu/>
        <meta name=ROBOTS content="NoIndex, nofollow"><meta name=bilingual-crawler content=noai>
        <meta name=googlebot content=nosnippet><meta name=tdm-reservation content=1>"""
    )
    assert document.canonical == "https://example.org/eu/"
    assert document.html_language == "eu"
    assert document.robots == {"noindex", "nofollow", "noai"}
    assert document.tdm_reservation


def test_a_page_that_declares_nothing_reserves_nothing():
    document = build("<meta name=tdm-reservation content=0><p>bat")
    assert not document.tdm_reservation
    assert document.robots == frozenset()
    assert document.canonical is None


def test_plain_text_has_paragraphs_and_no_markup():
    document = build("<b>bat</b>\n\nbi\n", content_type="text/plain; charset=utf-8")
    assert texts(document) == ["<b>bat</b>", "bi"]


@pytest.mark.parametrize("content_type", ["image/png", "application/pdf", "application/json"])
def test_what_is_no_text_makes_an_empty_document(content_type):
    document = build("<p>bat</p>", content_type=content_type)
    assert (document.url, document.paragraphs) == (URL, [])


def test_the_encodings_are_told():
    document = build("<meta charset=utf-8><p>añoñóá".encode("cp1252"))
    assert (document.encoding, document.declared_encoding) == ("cp1252", "utf-8")
    assert texts(document) == ["añoñóá"]
