"""Annotated XML as the paper on ILSP-FC describes it, and PML as Almeida et al. do."""

import io

import pytest
from lxml import etree

from bilingual_crawler.config.topic_definition import Term
from bilingual_crawler.documents.document import Paragraph
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.ilsp import MISSING, TWICE, document_name
from bilingual_crawler.export.safe_text import REMOVED
from bilingual_crawler.store.sentence_pair import pair_id
from bilingual_crawler.topics import Topic
from tests.support.export import ES, EU, document, exported, write_documents

CES = "{http://www.xces.org/schema/2003}"
LANG = "{http://www.w3.org/XML/1998/namespace}lang"
LONG = "Quien trabaja en altura sin protección corre peligro de accidente laboral. " * 3

SPANISH = document(
    ES,
    "spa",
    Paragraph("Trabajar sin riesgos", "title"),
    Paragraph("La prevención empieza por conocer el lugar de trabajo."),
    Paragraph("Documentos:", "listitem"),
    Paragraph("Folleto (se abre en otra ventana)", "listitem", boilerplate=True),
    Paragraph("¿Por qué hay accidentes?", "heading"),
    Paragraph(LONG),
    Paragraph("This line is in English.", language="eng"),
    Paragraph("Aviso legal", boilerplate=True, language="eng"),
    Paragraph("Texto propio", language="spa"),
    title="Trabajar sin <riesgos> & más",
    fetched_at="2026-11-01T10:00:00Z",
)
BASQUE = document(EU, "eus", Paragraph("Arriskurik gabe lan egin", "title"), Paragraph("Kaixo"))
TERMS = ("protección", "accidente laboral", "accidente", "trabajo nocturno")
TOPIC = Topic([*map(Term, TERMS), Term("peligro", subdomain="riesgos", language="spa")])


@pytest.fixture
def folder(tmp_path):
    return write_documents(tmp_path / "crawl", [SPANISH, BASQUE], [(ES, EU)])


def parsed(target, url, language):
    return etree.parse(target / "documents" / document_name(url, language)).getroot()


def test_paragraphs_carry_the_annotations_of_the_paper(folder):
    target, _ = exported(folder, "xml", topic=TOPIC)
    body = parsed(target, ES, "spa").find(f"{CES}text/{CES}body")
    assert [(dict(p.attrib), p.text) for p in body] == [
        ({"id": "p1", "type": "title"}, "Trabajar sin riesgos"),
        ({"id": "p2"}, "La prevención empieza por conocer el lugar de trabajo."),
        ({"id": "p3", "type": "listitem"}, "Documentos:"),
        (
            {"id": "p4", "crawlinfo": "boilerplate", "type": "listitem"},
            "Folleto (se abre en otra ventana)",
        ),
        ({"id": "p5", "type": "heading", "topic": "accidente"}, "¿Por qué hay accidentes?"),
        ({"id": "p6", "topic": "protección;peligro;accidente;accidente laboral"}, LONG),
        ({"id": "p7", "crawlinfo": "ooi-lang"}, "This line is in English."),
        ({"id": "p8", "crawlinfo": "boilerplate"}, "Aviso legal"),
        ({"id": "p9"}, "Texto propio"),
    ]


def test_the_structure_of_the_page_can_be_read_from_the_annotations(folder):
    """The fingerprint of the paper's figure: -2 title, -3 heading, -4 list item, -5 topic."""
    target, _ = exported(folder, "xml", topic=TOPIC)
    codes = {"title": -2, "heading": -3, "listitem": -4}
    fingerprint = []
    for p in parsed(target, ES, "spa").iter(f"{CES}p"):
        if "crawlinfo" not in p.attrib:
            fingerprint += [codes[p.get("type")]] if "type" in p.attrib else []
            fingerprint += [-5] if "topic" in p.attrib else []
            fingerprint.append(len(p.text))
    assert fingerprint == [-2, 20, 54, -4, 11, -3, -5, 24, -5, len(LONG), 12]


def test_the_header_says_how_much_the_document_is_about_the_topic(folder):
    target, _ = exported(folder, "xml", topic=TOPIC)
    about = parsed(target, ES, "spa").find(f".//{CES}textClass")
    assert [term.text for term in about.iter(f"{CES}keyTerm")] == [
        *("accidente", "accidente laboral", "peligro", "protección"),
    ]
    assert about.find(f"{CES}domain").get("score") == "13"
    assert [(each.text, each.get("share")) for each in about.iter(f"{CES}subdomain")] == [
        ("riesgos", "0.2308")
    ]


def test_the_terms_that_the_crawl_found_are_marked_without_asking(tmp_path):
    page = document(ES, "spa", Paragraph("En el puerto", topic=["puerto", "barco & vela"]))
    target, _ = exported(write_documents(tmp_path / "crawl", [page]), "xml")
    (paragraph,) = parsed(target, ES, "spa").iter(f"{CES}p")
    assert paragraph.get("topic") == "puerto;barco & vela"


def test_without_terms_no_paragraph_has_a_topic(folder):
    target, _ = exported(folder, "xml")
    assert not parsed(target, ES, "spa").xpath("//@topic")


def test_the_header_says_where_the_document_is_from(folder):
    target, account = exported(folder, "xml")
    root = parsed(target, ES, "spa")
    header = root.find(f"{CES}cesHeader")
    assert header.findtext(f".//{CES}eAddress") == ES
    assert header.findtext(f".//{CES}titleStmt/{CES}title") == "Trabajar sin <riesgos> & más"
    assert header.find(f".//{CES}language").get("iso639") == "spa"
    assert header.findtext(f".//{CES}pubDate") == "2026-11-01T10:00:00Z"
    assert root.find(f"{CES}text").get(LANG) == "es"
    assert account.written == {"documents": 2, "document pairs": 1}


def test_a_pair_file_names_its_two_documents(folder):
    target, _ = exported(folder, "xml")
    file = target / "pairs" / f"{pair_id(ES, EU)}.xml"
    translations = etree.parse(file).getroot().findall(f".//{CES}translation")
    assert [(each.get(LANG), each.get("n")) for each in translations] == [("es", "1"), ("eu", "2")]
    for each, (url, code) in zip(translations, ((ES, "spa"), (EU, "eus")), strict=True):
        named = (file.parent / each.get("trans.loc")).resolve()
        assert named == (target / "documents" / document_name(url, code)).resolve()
        assert named.is_file()


def test_no_name_of_a_file_comes_from_a_url(tmp_path):
    url = "https://example.org/../../etc/passwd%00;rm -rf"
    target, _ = exported(write_documents(tmp_path / "crawl", [document(url, "spa", "x")]), "xml")
    (file,) = (target / "documents").iterdir()
    assert file.name == document_name(url, "spa")
    assert file.name.removeprefix("spa-").removesuffix(".xml").isalnum()


@pytest.mark.parametrize("name", ["xml", "pml"])
def test_text_is_escaped_and_freed_of_forbidden_characters(tmp_path, name):
    text = '</p></body><x a="1">&nbsp;\x00\x1b]]>'
    pages = [document(ES, "spa", text), document(EU, "eus", "Kaixo")]
    target, account = exported(write_documents(tmp_path / "crawl", pages, [(ES, EU)]), name)
    root = parsed(target, ES, "spa") if name == "xml" else etree.parse(target / "spa.pml")
    (paragraph,) = root.iter(f"{CES}p", "p")
    assert paragraph.text == '</p></body><x a="1">&nbsp;]]>'
    assert account.changed == {REMOVED: 2}


@pytest.mark.parametrize("name", ["xml", "pml"])
def test_a_pair_without_its_documents_is_counted(tmp_path, name):
    pages = [document(ES, "spa", "Hola"), document(EU, "eus", "Kaixo")]
    pairs = [(ES, EU), (ES, f"{EU}/lost")]
    _, account = exported(write_documents(tmp_path / "crawl", pages, pairs), name)
    assert account.left_out == {MISSING: 1}
    assert account.written["document pairs"] == 1


def test_of_a_document_that_comes_twice_the_later_one_counts(tmp_path):
    pages = [document(ES, "spa", "antes"), document(ES, "spa", "después")]
    target, account = exported(write_documents(tmp_path / "crawl", pages), "xml")
    assert [p.text for p in parsed(target, ES, "spa").iter(f"{CES}p")] == ["después"]
    assert account.left_out == {TWICE: 1}


def test_damaged_lines_of_documents_and_pairs_are_counted(folder):
    with (folder / "pairs.jsonl").open("a") as lines:
        lines.write('{"url1": 1}\n{"url1": "a", "url2": "b", "lang1": "../x", "lang2": "eus"}\n')
    _, account = exported(folder, "xml")
    assert account.damage.lines == 2
    assert account.written["document pairs"] == 1


PML = """
<!ELEMENT pml (file)*>
<!ATTLIST pml xml:lang CDATA #REQUIRED>
<!ELEMENT file (p)*>
<!ATTLIST file id CDATA #REQUIRED url CDATA #REQUIRED>
<!ELEMENT p (#PCDATA)>
"""


def test_pml_has_nothing_but_files_and_paragraphs(folder):
    target, _ = exported(folder, "pml")
    structure = etree.DTD(io.StringIO(PML))
    for language in ("spa", "eus"):
        assert structure.validate(etree.parse(target / f"{language}.pml")), structure.error_log
    names = sorted(each.name for each in target.iterdir())
    assert names == ["DATASHEET.md", "eus.pml", "export.json", "spa.pml"]


def test_pml_has_the_content_alone(folder):
    target, _ = exported(folder, "pml")
    texts = [p.text for p in etree.parse(target / "spa.pml").iter("p")]
    assert texts == [paragraph.text for paragraph in SPANISH.main_paragraphs]
    assert len(texts) == 6


def test_pml_files_have_the_same_ids_in_the_same_order(tmp_path):
    urls = [(f"{ES}{n}", f"{EU}{n}") for n in range(20)]
    pages = [document(first, "spa", first) for first, _ in urls]
    pages += [document(second, "eus", second) for _, second in reversed(urls)]
    folder = write_documents(tmp_path / "crawl", pages, [*urls[::-1], *urls[:3]])
    target, account = exported(folder, "pml")
    files = [list(etree.parse(target / f"{code}.pml").iter("file")) for code in ("spa", "eus")]
    wanted = [pair_id(*pair) for pair in urls[::-1]]
    assert [[file.get("id") for file in side] for side in files] == [wanted, wanted]
    assert [file.get("url") for file in files[1]] == [second for _, second in urls[::-1]]
    assert [file.findtext("p") for file in files[1]] == [second for _, second in urls[::-1]]
    assert account.written == {"document pairs": 20}


def test_pml_without_pairs_is_told(tmp_path):
    with pytest.raises(ConfigurationError, match="no document pairs"):
        exported(write_documents(tmp_path / "crawl", [SPANISH]), "pml")
