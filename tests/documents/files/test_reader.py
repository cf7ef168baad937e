"""Files that are not HTML: what is read of them, and what becomes of those that cannot be."""

import subprocess
import zipfile
from io import BytesIO

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader

from bilingual_crawler.config.file_kinds import FileKind
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.files.old_word import office_program
from bilingual_crawler.documents.files.reader import READER, FileReader
from bilingual_crawler.documents.files.text import FileProblemError
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.languages import LanguagePair
from tests.support.files import (
    MARGIN,
    Pdf,
    docx,
    docx_of,
    end_reader,
    epub,
    odt,
    odt_of,
    pdf,
    rtf,
    zipped,
)

ENGLISH = [
    "The council decided on Monday to open the old library again after years of repair.",
    "Neighbours had asked for it since the roof fell in, and the mayor promised a quick start.",
    "The first readers are expected in spring, when the garden behind the house is ready too.",
]
FRENCH = [
    "Le conseil a décidé lundi de rouvrir l'ancienne bibliothèque après des années de travaux.",
    "Les voisins le demandaient depuis la chute du toit, et la mairesse a promis un début rapide.",
    "Les premiers lecteurs sont attendus au printemps, quand le jardin sera prêt lui aussi.",
]


@pytest.fixture(autouse=True, scope="module")
def _no_child():
    yield
    end_reader()


def texts(kind, body):
    return [block.text for block in READER.read(kind, body).blocks]


def problem(kind, body, reader=READER):
    with pytest.raises(FileProblemError) as found:
        reader.read(kind, body)
    return found.value.reason


def test_paragraphs_of_a_pdf_are_whole():
    assert texts(FileKind.PDF, pdf(*ENGLISH)) == ENGLISH


def test_hyphens_at_the_ends_of_lines_are_undone_and_others_stay():
    lines = [
        "The council decided to re-",
        "open the library after a long renova-",
        "tion, with a well-known architect. A well-",
        "known name is in the news, and the renovation of the roof too.",
    ]
    made = Pdf()
    made.lines(lines)
    (found,) = texts(FileKind.PDF, made.done())
    assert found == (
        "The council decided to reopen the library after a long renovation, with a well-known"
        " architect. A well-known name is in the news, and the renovation of the roof too."
    )


def test_running_headers_and_page_numbers_are_dropped():
    made = Pdf()
    for number in range(1, 5):
        made.lines(["Official gazette of the province"], y=800)
        made.paragraphs([f"{number} {ENGLISH[number % 3]}"], y=740)
        made.lines([f"Page {number} of 4"], y=30)
        made.next_page()
    found = texts(FileKind.PDF, made.done())
    assert found == [f"{number} {ENGLISH[number % 3]}" for number in range(1, 5)]


def test_columns_are_read_one_after_the_other():
    made = Pdf()
    made.lines(["A heading over both columns of the page"], y=780, size=18)
    made.paragraphs(ENGLISH, width=210, y=740)
    made.paragraphs(FRENCH, x=320, width=210, y=740)
    found = READER.read(FileKind.PDF, made.done()).blocks
    assert [block.text for block in found] == [
        "A heading over both columns of the page",
        *ENGLISH,
        *FRENCH,
    ]
    assert found[0].kind == "heading"


def test_a_paragraph_goes_on_in_the_same_column_of_the_next_page():
    words = {"en": "and the garden was open to all", "fr": "et le jardin fut vu"}
    made = Pdf()
    for page in range(2):
        for x, code in ((MARGIN, "en"), (320, "fr")):
            lines = [words[code]] * 12
            made.lines(lines if page else ["The" + " house" * 4, *lines], x=x)
        made.next_page()
    found = texts(FileKind.PDF, made.done())
    assert len(found) == 2
    assert "jardin" not in found[0]
    assert "garden" not in found[1]


def test_a_pdf_in_two_columns_becomes_two_documents():
    english = [*ENGLISH, "The garden has 12 new trees and a pond.", "Entry will cost 3 euros."]
    french = [*FRENCH, "Le jardin a 12 nouveaux arbres et un bassin.", "L'entrée coûtera 3 euros."]
    made = Pdf(title="Gazette")
    made.paragraphs(english, width=210)
    made.paragraphs(french, x=320, width=210)
    document = build_document("https://a.example/g.pdf", made.done(), hints=("eng", "fra"))
    parts = split_mixed(document, LanguagePair.parse("eng-fra"))
    assert parts is not None
    by_language = {part.language: part.text.split("\n") for part in parts}
    assert by_language == {"eng": english, "fra": french}


def test_a_file_becomes_a_document_with_language_and_title():
    document = build_document(
        "https://a.example/rapport", pdf(*FRENCH, title="Rapport"), hints=("eng", "fra")
    )
    assert (document.language, document.title, document.unreadable) == ("fra", "Rapport", "")
    assert document.text.split("\n") == FRENCH


@pytest.mark.parametrize(
    ("kind", "make"),
    [(FileKind.DOCX, docx), (FileKind.ODT, odt), (FileKind.RTF, rtf)],
)
def test_office_files_are_read(kind, make):
    assert texts(kind, make(*FRENCH)) == FRENCH


def test_a_book_is_read_in_the_order_of_its_chapters():
    made = epub(f"<h1>One</h1><p>{ENGLISH[0]}</p>", f"<p>{ENGLISH[1]}</p>")
    found = READER.read(FileKind.EPUB, made)
    assert [block.text for block in found.blocks] == ["One", *ENGLISH[:2]]
    assert (found.title, found.blocks[0].kind) == ("A book", "heading")


def test_headings_lists_and_tables_of_word_are_kept_and_deleted_text_is_not():
    body = (
        '<w:p><w:pPr><w:pStyle w:val="Berschrift1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>'
        "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Item</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Left</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>Right</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<w:p><w:del><w:r><w:delText>Gone</w:delText></w:r></w:del><w:r><w:t>In</w:t></w:r>"
        "<w:r><w:tab/><w:t>side</w:t></w:r></w:p>"
    )
    found = READER.read(FileKind.DOCX, docx_of(body))
    assert [(block.text, block.kind) for block in found.blocks] == [
        ("Head", "heading"),
        ("Item", "listitem"),
        ("Left", "paragraph"),
        ("Right", "paragraph"),
        ("In side", "paragraph"),
    ]
    assert found.title == "A title"


def test_notes_and_comments_of_opendocument_are_left_out():
    body = (
        "<text:h>Head</text:h><text:list><text:list-item><text:p>Item</text:p></text:list-item>"
        "</text:list><text:p>Text<text:s/>here<text:note><text:p>A note</text:p></text:note>."
        "</text:p>"
    )
    found = READER.read(FileKind.ODT, odt_of(body))
    assert [(block.text, block.kind) for block in found.blocks] == [
        ("Head", "heading"),
        ("Item", "listitem"),
        ("Text here.", "paragraph"),
    ]


def test_a_locked_pdf_says_so():
    assert problem(FileKind.PDF, pdf(*ENGLISH, password="secret")) == "encrypted"


def test_a_locked_opendocument_file_says_so():
    manifest = '<m:manifest xmlns:m="m"><m:encryption-data/></m:manifest>'
    assert problem(FileKind.ODT, odt_of("", **{"META-INF/manifest.xml": manifest})) == "encrypted"


def test_a_scanned_pdf_says_that_it_has_no_text():
    made = Pdf()
    made.canvas.drawImage(ImageReader(Image.new("RGB", (10, 10))), 0, 0, 500, 700)
    assert problem(FileKind.PDF, made.done()) == "scanned"


@pytest.mark.parametrize("kind", [each for each in FileKind if each is not FileKind.DOC])
@pytest.mark.parametrize("body", [b"", b"%PDF-1.7\n nothing", b"PK\x03\x04 broken", b"{\\rtf"])
def test_broken_files_are_a_problem_and_not_an_error(kind, body):
    assert problem(kind, body) in {"broken_file", "no_text", "scanned"}


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("make", [docx, odt, epub])
def test_cut_off_archives_are_broken(make, cut):
    whole = make(*ENGLISH)
    kind = {docx: FileKind.DOCX, odt: FileKind.ODT, epub: FileKind.EPUB}[make]
    assert problem(kind, whole[: int(cut * len(whole))]) == "broken_file"


def test_an_archive_that_unpacks_to_too_much_is_refused():
    bomb = zipped(**{"a": "a", "word/document.xml": b"<a>" + b" " * 60_000_000})
    assert len(bomb) < 100_000
    assert problem(FileKind.DOCX, bomb) == "file_limit"


def test_an_archive_that_lies_about_its_size_is_refused():
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 60_000_000)
    lying = stream.getvalue().replace((60_000_000).to_bytes(4, "little"), b"\x10\0\0\0")
    assert problem(FileKind.DOCX, lying) in {"broken_file", "file_limit"}


def test_entities_are_neither_expanded_nor_fetched(tmp_path):
    (tmp_path / "secret").write_text("secret")
    for declared in (
        f'<!DOCTYPE a [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>',
        "<!DOCTYPE a ["
        '<!ENTITY e0 "ha">'
        + "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
        + "]>",
    ):
        document = f"{declared}<a>&e;&e12;</a>"
        made = zipped(**{"a": "a", "word/document.xml": document})
        assert problem(FileKind.DOCX, made) == "broken_file"


def test_a_file_that_takes_too_long_ends_and_the_next_is_read():
    reader = FileReader(seconds=0)
    slow = Pdf()
    for _ in range(150):
        for row in range(60):
            slow.lines([f"{row} " + "long text of this page " * 5], y=800 - 12 * row, size=6)
        slow.next_page()
    try:
        assert problem(FileKind.PDF, slow.done(), reader) == "file_limit"
        patient = FileReader()
        try:
            assert patient.read(FileKind.PDF, pdf(*ENGLISH)).blocks
        finally:
            patient.close()
    finally:
        reader.close()


def test_a_child_that_has_ended_is_replaced():
    assert texts(FileKind.RTF, rtf(*ENGLISH)) == ENGLISH
    READER._child.kill()
    READER._child.wait()
    assert texts(FileKind.RTF, rtf(*ENGLISH)) == ENGLISH


def test_old_word_files_are_not_read_without_libreoffice_and_say_so(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    body = b"\xd0\xcf\x11\xe0" + "WordDocument".encode("utf-16-le")
    assert build_document("https://a.example/a.doc", body).unreadable == "old_word"


def test_a_locked_word_file_says_so():
    body = b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le")
    assert build_document("https://a.example/a.docx", body).unreadable == "encrypted"


needs_office = pytest.mark.skipif(
    office_program() is None,
    reason="needs LibreOffice (soffice): apt-get install libreoffice-writer-nogui",
)
TYPESET = (
    "<html><head><title>A gazette</title></head><body><h1>A heading</h1>"
    + "".join(f"<p>{each}</p>" for each in (*ENGLISH, *FRENCH))
    + "<ul><li>An item of a list</li></ul></body></html>"
)


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """A profile of LibreOffice; making one takes longer than to convert a file."""
    return f"-env:UserInstallation={tmp_path_factory.mktemp('office').as_uri()}"


def made_by_office(tmp_path, kind, profile):
    (tmp_path / "page.html").write_text(TYPESET, "utf-8")
    words = [office_program(), profile, "--headless", "--infilter=HTML (StarWriter)"]
    words += ["--convert-to", kind, "--outdir", tmp_path]
    subprocess.run([*words, tmp_path / "page.html"], check=True, capture_output=True)
    return next(tmp_path.glob(f"page.{kind.partition(':')[0]}")).read_bytes()


@needs_office
@pytest.mark.parametrize(
    "kind",
    ["pdf:writer_web_pdf_Export", "docx:Office Open XML Text", "odt:writer8", "rtf", "doc", "epub"],
)
def test_files_of_libreoffice_have_the_text_that_was_typed(tmp_path, kind, profile):
    body = made_by_office(tmp_path, kind, profile)
    found = READER.read(FileKind(kind.partition(":")[0]), body).blocks
    words = [" ".join(block.text.split()).removeprefix("\u2022 ") for block in found]
    assert [each for each in words if each != "A gazette"] == [
        "A heading",
        *ENGLISH,
        *FRENCH,
        "An item of a list",
    ]
