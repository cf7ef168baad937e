"""A crawl of a site whose gazettes are PDF and Word files."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.support.crawling import crawl, documents, pairs, report
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
        pages[f"/{code}/"] = ("text/html", page(code, 1, links + to("/f/foto.pdf")))
    pages["/"] = ("text/html", page("es", 2, to("/es/", "/eu/")))
    return pages | files


@contextmanager
def serving(pages) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            kind, body = pages.get(self.path, ("text/html", b""))
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def names(found, base):
    return {(one.removeprefix(base), other.removeprefix(base)) for one, other in found}


def test_files_in_two_languages_are_fetched_and_paired_when_asked_for(tmp_path):
    with serving(site()) as (base, _):
        crawl(f"{base}/", tmp_path / "out", settings={"BILINGUAL_TYPES": "html,pdf,docx"})
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


def test_files_are_not_fetched_unless_asked_for(tmp_path):
    with serving(site()) as (base, asked):
        crawl(f"{base}/", tmp_path / "out")
    assert not any(path.startswith("/f/") for path in asked)
    assert {each["url"].removeprefix(base) for each in documents(tmp_path / "out")} == {
        "/",
        "/es/",
        "/eu/",
    }


def test_a_recorded_crawl_with_files_is_built_again_from_its_archive(tmp_path, capsys):
    settings = {"BILINGUAL_TYPES": "html,pdf", "BILINGUAL_WARC": "1"}
    with serving(site()) as (base, _):
        crawl(f"{base}/", tmp_path / "out", settings=settings)
    warc = next((tmp_path / "out").glob("*.warc.gz"))
    words = ("corpus", "build", warc, "--langs", "spa-eus", "--out", tmp_path / "again")
    assert typed(capsys, *words)[0] == 0
    whole, again = (
        {(each["url1"], each["url2"]) for each in pairs(tmp_path / name)}
        for name in ("out", "again")
    )
    assert whole == again
