import pytest

from bilingual_crawler.documents.builder import build_document

PROSE = "Euskararen eguna ospatu dute gaur herri askotan, kontzertuekin eta bertso saioekin."
MENU = "<ul><li><a href=/a>Hasiera</a><li><a href=/b>Berriak</a><li><a href=/c>Kontaktua</a></ul>"


def kept(body):
    document = build_document("https://example.org/", body.encode())
    return [paragraph.text for paragraph in document.paragraphs if not paragraph.boilerplate]


@pytest.mark.parametrize(
    "frame",
    [
        *("<nav>{}</nav>", "<footer>{}</footer>", "<aside>{}</aside>", "<header>{}</header>"),
        *("<div role=navigation>{}</div>", "<div role=contentinfo>{}</div>", "<dialog>{}</dialog>"),
        *("<div class='site-footer'>{}</div>", "<div id='mainMenu'>{}</div>"),
        *("<ul class='breadcrumb'>{}</ul>", "<div class='x cookie-notice'>{}</div>"),
    ],
)
def test_the_frame_of_a_page_is_boilerplate(frame):
    assert kept(f"{frame.format('<p>Markoa</p>')}<p>{PROSE}</p>") == [PROSE]


def test_boilerplate_stays_in_the_document():
    document = build_document("https://example.org/", f"<nav>Menua</nav><p>{PROSE}".encode())
    flags = [(paragraph.text, paragraph.boilerplate) for paragraph in document.paragraphs]
    assert flags == [("Menua", True), (PROSE, False)]
    assert document.text == PROSE


def test_the_header_of_an_article_is_content():
    body = f"<article><header><h2>Izena</h2></header><p>{PROSE}</p></article>"
    assert kept(body) == ["Izena", PROSE]


def test_a_declared_main_part_is_all_the_content():
    body = f"<div>Bilatu hemen</div><main><p>{PROSE}</p><p>bukatu da</p></main><div>Utzi</div>"
    assert kept(body) == [PROSE, "bukatu da"]


def test_rows_of_links_are_boilerplate():
    assert kept(f"{MENU}<p>{PROSE}</p>{MENU}") == [PROSE]


def test_links_within_the_page_are_links():
    contents = "<ul><li><a href='#a'>Lehena</a><li><a href='#b'>Bigarrena</a></ul>"
    assert kept(f"<main>{contents}<p>{PROSE}</p></main>") == [PROSE]


def test_a_sentence_that_is_a_link_is_a_sentence():
    assert kept(f"<p>{PROSE}</p><p><a href=/x>{PROSE}</a></p>") == [PROSE, PROSE]


def test_a_heading_that_is_a_link_is_content():
    assert kept(f"<h2><a href=/x>Izena</a></h2><p>{PROSE}</p>") == ["Izena", PROSE]


def test_what_stands_apart_before_and_after_the_prose_is_boilerplate():
    body = (
        f"<div>Telefonoa</div>{MENU}<h2>Izena</h2><p>{PROSE}</p><p>labur</p>{MENU}<div>Legea</div>"
    )
    assert kept(body) == ["Izena", PROSE, "labur"]


def test_the_headline_is_content_wherever_it_stands():
    assert kept(f"<h1>Izena</h1>{MENU}<p>{PROSE}</p>") == ["Izena", PROSE]


def test_a_short_page_keeps_its_text():
    assert kept("<p>Kaixo</p>") == ["Kaixo"]


def test_a_listing_keeps_its_links():
    assert (
        kept(f"<nav><a href=/>Hasiera</a></nav><main>{MENU}</main>")
        == [
            "Hasiera",
            "Berriak",
            "Kontaktua",
        ][:3]
    )


def test_a_page_that_is_all_header_keeps_its_prose_and_headline():
    assert kept(f"<header>{MENU}<h1>Izena</h1><p>{PROSE}</p></header>") == ["Izena", PROSE]


def test_a_page_of_menus_has_no_content():
    assert kept(f"<nav>{MENU}</nav>") == []


def test_a_menu_that_never_ends_does_not_swallow_the_page():
    body = f"<nav>{MENU}<div>" + f"<p>{PROSE}</p>" * 40
    assert kept(body) == [PROSE] * 40


def test_a_name_on_the_whole_page_is_not_believed():
    body = f"<div class='sidebar-page'><p>{PROSE}</p><p>labur</p></div><p>Utzi</p>"
    assert PROSE in kept(body)


def test_a_page_with_a_sidebar_is_not_a_sidebar():
    assert kept(f"<div class='has-sidebar no-footer'><p>Kaixo</p></div><p>{PROSE}</p>") == [
        "Kaixo",
        PROSE,
    ]


def test_prose_is_shorter_in_dense_scripts():
    prose = "このモジュールはサーバの設定を変更するために使われ、標準で組み込まれています。"
    assert kept(f"<p>概要</p>{MENU}<p>{prose}</p>{MENU}") == [prose]
