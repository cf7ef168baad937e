"""Captures of web archives: their index, and the bytes at their places."""

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.store.archive.archive_folder import (
    bytes_of,
    captures_of,
    cdxj_line,
    index_folder,
    read_folder,
)
from bilingual_crawler.store.archive.archived_answer import UnusableCaptureError, read_answer
from bilingual_crawler.store.archive.capture import capture_in
from bilingual_crawler.store.archive.capture_index import CaptureIndex
from tests.support.recordings import exchange, page, redirect, write_warc

URL = "https://www.example.org/es/a"
REVISIT = (
    b"WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Target-URI: https://www.example.org/es/b\r\n"
    b"WARC-Date: 2026-01-02T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
    b"WARC-Refers-To-Target-URI: https://www.example.org/es/a\r\n"
    b"Content-Type: application/http; msgtype=response\r\nContent-Length: 19\r\n\r\n"
    b"HTTP/1.1 200 OK\r\n\r\n\r\n\r\n"
)


@pytest.fixture(params=["packed", "plain"])
def folder(request, tmp_path):
    """A folder with two pages, a redirect and a revisit."""
    plain = request.param == "plain"
    below = tmp_path / "2026"
    below.mkdir()
    shared = exchange(URL, page("es", 1))
    file = write_warc(
        below / ("a.warc" if plain else "a.warc.gz"),
        [shared, exchange("https://www.example.org/eu/a", page("eu", 1)), redirect(f"{URL}/", URL)],
        gzip.decompress if plain else lambda members: members,
    )
    with file.open("ab") as stream:
        stream.write(REVISIT if plain else gzip.compress(REVISIT))
    return tmp_path


def index_of(folder):
    index_folder(folder)
    index = CaptureIndex(folder / "table.sqlite")
    assert read_folder(folder, index) == 0
    return index


def test_every_capture_of_a_folder_is_found_by_its_url_and_read_at_its_place(folder):
    index = index_of(folder)
    assert len(index) == 4
    for language in ("es", "eu"):
        capture = index.find(f"https://www.example.org/{language}/a")
        answer = read_answer(bytes_of(folder, capture), capture).answer
        assert answer.body == page(language, 1)
        assert capture.moment == "20231114221320"
    assert index.find("http://example.org/es/a#part").url == URL
    assert index.find(f"{URL}/").status == 301
    assert index.find("https://www.example.org/es/c") is None
    revisit = index.find("https://www.example.org/es/b")
    assert revisit.is_revisit
    refers_to = read_answer(bytes_of(folder, revisit), revisit).refers_to
    assert index.original_of(revisit, refers_to) == index.find(URL)


def test_an_index_is_read_again_only_if_it_has_changed(folder):
    index = index_of(folder)
    assert index_folder(folder).files == 0
    assert read_folder(folder, index) == 0
    (cdxj,) = folder.rglob("*.cdxj")
    cdxj.write_text("!header\nbroken {\n" + cdxj.read_text().splitlines()[0] + "\n")
    assert read_folder(folder, index) == 1
    assert len(index) == 1
    cdxj.unlink()
    assert read_folder(folder, index) == 0
    assert len(index) == 0


def test_a_date_in_other_digits_is_no_date(tmp_path):
    record = REVISIT.replace(b"2026-01-02", "٢٠٢٦-01-02".encode())
    (tmp_path / "a.warc").write_bytes(record)
    assert index_folder(tmp_path).captures == 1
    (line,) = (tmp_path / "a.warc.cdxj").read_text("ascii").splitlines()
    assert line.split(" ")[1] == "01020000000000"


def test_records_that_are_not_what_the_index_says_are_refused_with_the_reason(tmp_path):
    bomb = exchange("https://www.example.org/bomb", bytes(20_000_000))
    cut = replace(exchange("https://www.example.org/cut", page("es", 2)), truncated="length")
    file = write_warc(tmp_path / "a.warc.gz", [exchange(URL, page("es", 1)), bomb, cut])
    good, large, short = captures_of(file, file.name)

    def said(capture):
        with pytest.raises(UnusableCaptureError) as error:
            read_answer(bytes_of(tmp_path, capture), capture)
        return str(error.value)

    assert "cut off" in said(good._replace(length=good.length - 20))
    assert "damaged" in said(good._replace(offset=good.offset + 7))
    assert "another page" in said(good._replace(url="https://www.example.org/other"))
    assert "not in the folder" in said(good._replace(file="../../etc/passwd"))
    assert "no record" in said(good._replace(offset=1 << 40))
    assert "too large" in said(large)
    assert "truncated" in said(short)
    assert short.truncated


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_line_is_a_capture_or_none(text):
    capture_in(text)
    capture_in(f"key 20260101000000 {text}")
    fields = {"url": text, "filename": text, "offset": text, "length": text, "timestamp": text}
    capture_in(json.dumps(fields))


def test_halves_of_characters_do_not_reach_the_table(tmp_path):
    fields = {"url": URL, "filename": "a.warc", "offset": 0, "length": 9, "mime": "\ud800"}
    found = capture_in(f"key 20260101000000 {json.dumps(fields)}")
    assert CaptureIndex(tmp_path / "table.sqlite").add([found]) == 1
    assert (
        capture_in(f"key 20260101000000 {json.dumps(fields | {'filename': chr(0xD800)})}") is None
    )


def test_the_line_of_a_capture_reads_as_that_capture(tmp_path):
    file = write_warc(tmp_path / "a.warc.gz", [exchange(URL, page("es", 1))])
    (capture,) = captures_of(file, "x/a.warc.gz")
    assert capture_in(cdxj_line(capture)) == capture
