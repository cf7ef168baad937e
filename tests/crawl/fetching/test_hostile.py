"""Servers that never end, pack bombs or send garbage cost a bounded time and memory."""

import gzip
import time
import zlib
from functools import partial

import brotli
import pytest
from scrapy.utils import _compression

from tests.support.fetching import HTML, RawServer, Site, crawl
from tests.support.processes import HANG

ALONE = {"BILINGUAL_HONOUR": "", "RETRY_TIMES": 0}
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PACKERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=1),
    "zstd": vars(_compression)["zstd"].compress,
}


def drip(start, drop):
    def talk(connection):
        connection.sendall(start)
        while True:
            connection.sendall(drop)
            time.sleep(0.05)

    return talk


def flood(start, drop):
    def talk(connection):
        connection.sendall(start)
        while talk.sent < 500_000_000:  # type: ignore[attr-defined]
            connection.sendall(drop)
            talk.sent += len(drop)  # type: ignore[attr-defined]

    talk.sent = 0  # type: ignore[attr-defined]
    return talk


@pytest.mark.parametrize(
    "talk",
    [
        drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
        drip(b"HTTP/1.1 200 OK\r\n", b"X-Slow: x\r\n"),
        drip(OK + b"\r\n<p>", b"x"),
        drip(OK + b"Content-Length: 900000\r\n\r\n<p>", b"x"),
        drip(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        lambda connection: connection.recv(1),
    ],
    ids=["header", "headers", "body", "long body", "chunks", "continue", "silence"],
)
def test_a_server_that_drips_is_cut_off_at_the_time_limit(talk):
    with RawServer(talk) as server:
        start = time.perf_counter()
        result = crawl(server.url, **ALONE, DOWNLOAD_TIMEOUT=0.3)
        seconds = time.perf_counter() - start
    assert result.reasons == ["timeout"]
    assert 0.25 < seconds < HANG


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (OK + b"\r\n", b"x" * 65536),
        (OK + b"Content-Length: 400000000\r\n\r\n", b"x" * 65536),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
        (OK, b"X-Header: again and again\r\n" * 2000),
        (OK, b"X-Header-without-a-colon\r\n" * 2000),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000),
    ],
    ids=["body", "long body", "chunks", "headers", "header lines", "continue"],
)
def test_a_server_that_never_ends_is_cut_off_at_the_size_limit(start, drop):
    talk = flood(start, drop)
    with RawServer(talk) as server:
        result = crawl(server.url, **ALONE, DOWNLOAD_MAXSIZE=1_000_000, DOWNLOAD_TIMEOUT=HANG)
    assert result.reasons == ["too_large"]
    assert talk.sent < 50_000_000


def test_one_endless_header_line_is_cut_off():
    talk = flood(OK + b"X-Header: ", b"x" * 65536)
    with RawServer(talk) as server:
        result = crawl(server.url, **ALONE, DOWNLOAD_TIMEOUT=HANG)
    assert result.reasons in (["connection"], ["too_large"])
    assert talk.sent < 50_000_000


@pytest.mark.parametrize("coding", PACKERS)
def test_a_packed_bomb_is_too_large(coding):
    bomb = PACKERS[coding](bytes(20_000_000))
    answer = (200, {**HTML, "Content-Encoding": coding}, bomb)
    with Site({"/bomb": answer}) as site:
        result = crawl(f"{site.url}/bomb", **ALONE)
    assert result.reasons == ["too_large"]


@pytest.mark.parametrize("coding", PACKERS)
def test_a_packed_page_of_ordinary_size_is_read(coding):
    page = b"<p>" + b"Kaixo mundua " * 1000
    answer = (200, {**HTML, "Content-Encoding": coding}, PACKERS[coding](page))
    with Site({"/page": answer}) as site:
        result = crawl(f"{site.url}/page", **ALONE)
    assert [response.body for response in result.pages.values()] == [page]


@pytest.mark.parametrize("coding", PACKERS)
def test_a_page_that_is_not_packed_as_it_says_is_refused(coding):
    answer = (200, {**HTML, "Content-Encoding": coding}, b"\x01 not packed at all" * 10)
    with Site({"/page": answer}) as site:
        result = crawl(f"{site.url}/page", **ALONE)
    assert result.reasons == ["bad_encoding"]


def test_a_page_that_is_packed_again_and_again_is_not_unpacked():
    body = gzip.compress(gzip.compress(gzip.compress(b"<p>x")))
    answer = (200, {**HTML, "Content-Encoding": "gzip, gzip, gzip"}, body)
    with Site({"/page": answer}) as site:
        result = crawl(f"{site.url}/page", **ALONE)
    assert result.reasons == ["bad_encoding"]
