"""A crawl of a site whose gazettes are PDF and Word files."""

import pytest

from tests.support.crawling import crawl, documents, pairs, report
from tests.support.edited_site import EditedSite, serving
from tests.support.files import docx, end_reader, pdf
from tests.support.recordings import PROSE, page, to
from tests.support.typed_commands import typed

pytestmark = pytest.mark.crawl
PDF, UNTOLD = "application/pdf", "application/octet-stream"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
NAMES = {("es", 0): "k3", ("es", 1): "z9", ("eu", 0): "q1", ("eu", 1): "m7"}
"""The names of the gazettes say neither language nor number."""


@pytest.fixture(autouse=True, scope="module")
def _no_child():
    yield
    end_reader()


def prose(code, number):
    return [each.format(number) for each in PROSE[code]]


@pytest.fixture
def site():
    files = {
        f"/f/{name}.pdf": (UNTOLD if name == "m7" else PDF, pdf(*prose(code, 30 + number)))
        for (code, number), name in NAMES.items()
    }
    files |= {f"/f/{code}/informe.docx": (WORD, docx(*prose(code, 60))) for code in ("es", "eu")}
    files["/f/foto.pdf"] = (PDF, pdf())
    pages = {}
    for code, other in (("es", "eu"), ("eu", "es")):
        names = [name for (each, _), name in NAMES.items() if each == code]
        links = to(f"/{other}/", *(f"/f/{name}.pdf" for name in names), f"/f/{code}/informe.docx")
        pages[f"/{code}/"] = page(code, 1, links + to("/f/foto.pdf"))
    pages["/"] = page("es", 2, to("/es/", "/eu/"))
    with serving(EditedSite(pages | files)) as site:
        yield site


def names(found, base):
    return {(one.removeprefix(base), other.removeprefix(base)) for one, other in found}


def test_files_in_two_languages_are_fetched_and_paired_when_asked_for(site, tmp_path):
    base = site.url.rstrip("/")
    crawl(site.url, tmp_path / "out", settings={"BILINGUAL_TYPES": "html,pdf,docx"})
    found = names(((each["url1"], each["url2"]) for each in pairs(tmp_path / "out")), base)
    assert {
        ("/es/", "/eu/"),
        ("/f/es/informe.docx", "/f/eu/informe.docx"),
        ("/f/k3.pdf", "/f/q1.pdf"),
        ("/f/z9.pdf", "/f/m7.pdf"),
    } <= found
    texts = {each["url"].removeprefix(base): each for each in documents(tmp_path / "out")}
    gazette = texts["/f/k3.pdf"]
    assert gazette["language"] == "spa"
    assert [each["text"] for each in gazette["paragraphs"]] == prose("es", 30)
    assert report(tmp_path / "out")["urls_ended"]["scanned"]["count"] == 1


def test_files_are_not_fetched_unless_asked_for(site, tmp_path):
    crawl(site.url, tmp_path / "out")
    assert not any(each.path.startswith("/f/") for each in site.asked)
    stored = {each["url"].removeprefix(site.url) for each in documents(tmp_path / "out")}
    assert stored == {"", "es/", "eu/"}


def test_a_recorded_crawl_with_files_is_built_again_from_its_archive(site, tmp_path, capsys):
    settings = {"BILINGUAL_TYPES": "html,pdf", "BILINGUAL_WARC": "1"}
    crawl(site.url, tmp_path / "out", settings=settings)
    warc = next((tmp_path / "out").glob("*.warc.gz"))
    words = ("corpus", "build", warc, "--langs", "spa-eus", "--out", tmp_path / "again")
    assert typed(capsys, *words)[0] == 0
    whole, again = (
        {(each["url1"], each["url2"]) for each in pairs(tmp_path / name)}
        for name in ("out", "again")
    )
    assert whole == again
