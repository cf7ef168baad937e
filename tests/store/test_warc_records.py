"""The records of WARC files: their content, and that any reader finds it."""

import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.store.warc import Records
from tests.support.warc import (
    ABOUT,
    HTML,
    URL,
    FastIterator,
    block_of,
    exchange,
    read,
    records_of,
)


def test_a_response_record_says_what_arrived_from_where_and_when():
    response, _ = records_of(
        exchange(
            headers=[(b"Content-Type", b"text/html"), (b"Set-Cookie", b"a"), (b"Set-Cookie", b"b")],
            protocol="HTTP/1.0",
            address="192.0.2.7",
        )
    )
    assert response.warc.protocol == "WARC/1.1"
    assert response.warc["WARC-Type"] == "response"
    assert response.warc["WARC-Target-URI"] == URL
    assert response.warc["WARC-Date"] == "2023-11-14T22:13:20.250000Z"
    assert response.warc["WARC-IP-Address"] == "192.0.2.7"
    assert response.warc["WARC-Payload-Digest"].startswith("sha1:")
    assert response.warc["WARC-Block-Digest"].startswith("sha1:")
    assert response.warc["Content-Type"] == "application/http; msgtype=response"
    assert (response.http.protocol, response.http.statusline) == ("HTTP/1.0", "200 OK")
    assert response.http.headers == [
        ("Content-Type", "text/html"),
        ("Set-Cookie", "a"),
        ("Set-Cookie", "b"),
    ]
    assert response.body == HTML


def test_a_request_record_belongs_to_its_response():
    response, request = records_of(
        exchange(
            "https://example.org:443/eu?a=1#top",
            address="192.0.2.7",
            request_headers=[(b"User-Agent", b"bilingual-crawler")],
        )
    )
    assert request.warc["WARC-Type"] == "request"
    assert request.warc["WARC-Concurrent-To"] == response.warc["WARC-Record-ID"]
    assert request.warc["WARC-Record-ID"] != response.warc["WARC-Record-ID"]
    assert request.warc["WARC-Target-URI"] == "https://example.org:443/eu?a=1"
    assert request.warc["WARC-Date"] == response.warc["WARC-Date"]
    assert (request.http.protocol, request.http.statusline) == ("GET", "/eu?a=1 HTTP/1.1")
    assert request.http.headers == [("Host", "example.org"), ("User-Agent", "bilingual-crawler")]


def test_a_request_with_a_body_is_kept_with_it():
    _, request = records_of(exchange(method="POST", request_body=b"a=1&b=2"))
    assert request.http.protocol == "POST"
    assert request.http["Content-Length"] == "7"
    assert request.body == b"a=1&b=2"


def test_credentials_are_not_kept():
    secrets = [(b"authorization", b"x"), (b"Proxy-Authorization", b"x"), (b"Cookie", b"x")]
    _, request = records_of(exchange(request_headers=secrets))
    assert request.http.headers == [("Host", "example.org")]


def test_the_body_stays_packed_as_it_arrived():
    packed = gzip.compress(HTML)
    response, _ = records_of(exchange(body=packed, headers=[(b"Content-Encoding", b"gzip")]))
    assert response.http["Content-Encoding"] == "gzip"
    assert response.body == packed


def test_headers_fit_a_body_that_is_no_longer_chunked():
    headers = [(b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"999999")]
    response, _ = records_of(exchange(headers=headers))
    assert response.http.headers == [
        ("X-Crawler-Content-Length", "999999"),
        ("Content-Length", str(len(HTML))),
    ]


def test_a_body_that_is_not_all_there_is_says_so():
    response, request = records_of(exchange(truncated="unspecified"))
    assert response.warc["WARC-Truncated"] == "unspecified"
    assert "WARC-Truncated" not in request.warc


def test_header_bytes_stay_as_they_were_received():
    headers = [(b"X-Latin", b"caf\xe9"), (b"X-Utf8", "añé".encode()), (b"X-N\xe9", b"\xff\xfe")]
    assert block_of(exchange(headers=headers)) == (
        b"HTTP/1.1 200 OK\r\nX-Latin: caf\xe9\r\nX-Utf8: a\xc3\xb1\xc3\xa9\r\nX-N\xe9: \xff\xfe"
        b"\r\n\r\n" + HTML
    )


def test_no_header_can_end_the_headers_early():
    headers = [
        (b"X", b"1\r\n\r\n<script>"),
        (b"Y\r\nZ: ", b"\n\x002\r"),
        (b" folded", b"3"),
        (b"", b"nameless"),
    ]
    response, _ = records_of(exchange(headers=headers))
    assert response.http.headers == [
        ("X", "1 <script>"),
        ("Y-Z-", "2"),
        ("-folded", "3"),
    ]
    assert response.body == HTML


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("http://exámple.es/niño?q=año", "http://ex%C3%A1mple.es/ni%C3%B1o?q=a%C3%B1o"),
        ("http://a.example/a b<c>\r\nX: y", "http://a.example/a%20b%3Cc%3E%0D%0AX:%20y"),
        ("http://[2001:db8::1]:8080/a%20b", "http://[2001:db8::1]:8080/a%20b"),
        ("http://a.example/\udcff#top", "http://a.example/?"),
    ],
)
def test_the_uri_is_ascii_whatever_the_url(url, uri):
    response, request = records_of(exchange(url))
    assert response.warc["WARC-Target-URI"] == request.warc["WARC-Target-URI"] == uri


@pytest.mark.parametrize("status", [204, 301, 404, 503, 999, 42])
def test_any_status_is_kept_without_a_body_too(status):
    response, _ = records_of(exchange(status=status, body=b""))
    assert response.http.get_statuscode() == f"{status:03d}"
    assert response.body == b""


@pytest.mark.parametrize("protocol", [None, "", "h2", "ICY/1.0", "HTTP/1.1\r\nX: y"])
def test_what_is_no_version_of_http_1_is_written_as_one(protocol):
    response, _ = records_of(exchange(protocol=protocol))
    assert response.http.protocol == "HTTP/1.1"
    assert response.http.statusline == "200 OK"


def test_headers_may_be_huge():
    headers = [(b"X-%d" % number, b"y" * 1000) for number in range(1000)]
    response, _ = records_of(exchange(headers=headers))
    assert len(response.http.headers) == 1000


octets = st.binary(max_size=40)


@settings(max_examples=200)
@given(
    st.lists(
        st.builds(
            exchange,
            st.text(max_size=40).map("http://a.example/".__add__),
            status=st.integers(0, 1000),
            headers=st.lists(st.tuples(octets, octets), max_size=5),
            body=octets,
            protocol=st.none() | st.text(max_size=8),
            request_headers=st.lists(st.tuples(octets, octets), max_size=5),
            request_body=octets,
            method=st.text(min_size=1, max_size=5),
        ),
        max_size=3,
    )
)
def test_whatever_servers_send_two_readers_find_every_record(exchanges):
    data = b"".join(map(Records(ABOUT).of, exchanges))
    bodies = [body for each in exchanges for body in (each.body, each.request_body)]
    assert [record.body for record in read(data)] == bodies
    records = list(FastIterator(io.BytesIO(data), parse_http=False, verify_digests=True))
    assert len(records) == len(bodies)
