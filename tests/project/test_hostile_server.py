"""Each attack of the hostile server is one, and none of them runs away."""

import re
import socket
import time
import zlib
from urllib.parse import urljoin, urlsplit

import pytest

from tests.support import hostile
from tests.support.processes import HANG
from tests.support.servers import serve_hostile
from tests.support.walker import fetch

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def server():
    with serve_hostile(slow_seconds=1.0) as running:
        yield running


def receive(server, path, *, limit=None, seconds=HANG):
    """What arrives before the server closes, `limit` bytes came or the seconds are over."""
    end = time.monotonic() + seconds
    received = bytearray()
    with socket.create_connection(urlsplit(server.url).netloc.split(":")) as connection:
        connection.settimeout(seconds)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        while (limit is None or len(received) < limit) and time.monotonic() < end:
            try:
                piece = connection.recv(MEGABYTE)
            except TimeoutError:
                break
            if not piece:
                break
            received += piece
    return bytes(received)


def count(server, path):
    """How many bytes arrive in all, without keeping them."""
    total = 0
    with socket.create_connection(urlsplit(server.url).netloc.split(":")) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\n\r\n".encode())
        while piece := connection.recv(MEGABYTE):
            total += len(piece)
    return total


def split(answer):
    """Headers and body of an answer."""
    headers, _, body = answer.partition(b"\r\n\r\n")
    return headers, body


def test_the_index_links_to_every_attack_and_every_good_page(server):
    links = {urlsplit(link).path for link in fetch(server.url).links}
    good = {urlsplit(url).path for pair in hostile.good_pairs(server.url) for url in pair}
    assert links == {*hostile.ATTACKS, *hostile.REDIRECTS, *good}


def test_the_good_pairs_are_spanish_and_basque(server):
    for es, eu in hostile.good_pairs(server.url):
        assert (fetch(es).language, fetch(eu).language) == ("es", "eu")


@pytest.mark.parametrize("path", [*hostile.ATTACKS, *hostile.REDIRECTS])
def test_every_attack_ends_by_itself(server, path):
    assert count(server, path) <= hostile.LARGEST + 1_000


def test_a_body_goes_on_and_on(server):
    headers, body = split(receive(server, "/cuerpo-sin-fin", limit=50 * MEGABYTE))
    assert len(body) > 49 * MEGABYTE
    assert b"Content-Length" not in headers


def test_headers_go_on_and_on(server):
    received = receive(server, "/cabeceras-sin-fin", limit=20 * MEGABYTE)
    assert len(received) >= 20 * MEGABYTE
    assert b"\r\n\r\n" not in received


@pytest.mark.parametrize("path", ["/goteo", "/cabeceras-lentas"])
def test_slow_answers_drip(server, path):
    start = time.monotonic()
    received = receive(server, path)
    assert time.monotonic() - start >= 0.9
    assert len(received) < 200


def test_a_header_of_a_megabyte(server):
    headers, _ = split(receive(server, "/cabecera-enorme"))
    assert max(map(len, headers.split(b"\r\n"))) > MEGABYTE


def test_thousands_of_cookies(server):
    headers, _ = split(receive(server, "/galletas"))
    assert headers.count(b"\r\nSet-Cookie: ") == 2_000


@pytest.mark.parametrize(("path", "bits"), [("/bomba-gzip", 31), ("/bomba-deflate", 15)])
def test_a_bomb_is_small_until_it_is_unpacked(server, path, bits):
    _, body = split(receive(server, path))
    assert len(body) < MEGABYTE
    assert len(zlib.decompress(body, bits)) == hostile.LARGEST


def test_a_brotli_bomb_is_smaller_still(server):
    brotli = pytest.importorskip("brotli")
    _, body = split(receive(server, "/bomba-brotli"))
    assert len(body) < 10_000
    assert len(brotli.decompress(body)) == hostile.LARGEST


def test_elements_are_nested_200_000_deep(server):
    assert receive(server, "/profundo").count(b"<div>") == 200_000


def test_entities_would_grow_to_200_megabytes(server):
    body = receive(server, "/entidades").decode()
    assert len(body) < 2_000
    size = len("ja")
    for value in re.findall(r'<!ENTITY e[1-9] "(.*?)">', body):
        size *= value.count(";")
    assert size == hostile.LARGEST


def test_a_redirect_leads_to_itself(server):
    assert b"\r\nLocation: /bucle\r\n" in receive(server, "/bucle")


def test_fifty_redirects_lead_to_a_page(server):
    path = "/cadena/0"
    for number in range(1, 51):
        assert f"\r\nLocation: /cadena/{number}\r\n".encode() in receive(server, path)
        path = f"/cadena/{number}"
    assert receive(server, path).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/a-fichero", b"file:///etc/passwd"),
        ("/a-ssh", b"http://127.0.0.1:22/"),
        ("/a-red-privada", b"http://10.255.255.1/"),
        ("/a-metadatos", b"http://169.254.169.254/latest/meta-data/"),
    ],
)
def test_redirects_lead_where_nobody_should_go(server, path, location):
    assert b"\r\nLocation: " + location + b"\r\n" in receive(server, path)


def test_bytes_that_claim_to_be_utf_8_are_not(server):
    headers, body = split(receive(server, "/utf8-invalido"))
    assert b"charset=utf-8" in headers
    with pytest.raises(UnicodeDecodeError):
        body.decode()


@pytest.mark.parametrize(
    ("path", "charset"),
    [("/charset-falso", b"utf-16"), ("/charset-desconocido", b"klingon-8")],
)
def test_charsets_lie(server, path, charset):
    headers, body = split(receive(server, path))
    assert b"charset=" + charset in headers
    assert b"<p>" in body


def test_nul_bytes_are_sent(server):
    assert receive(server, "/nulos").count(b"\0") > 10_000


def test_a_page_has_100_000_links_that_are_all_dead(server):
    assert receive(server, "/cien-mil-enlaces").count(b"<a href") == 100_000
    assert receive(server, "/enlace/99999").startswith(b"HTTP/1.1 404")


def test_a_url_has_10_000_characters_and_answers(server):
    assert len(hostile.LONG_URL) == 10_000
    assert fetch(urljoin(server.url, hostile.LONG_URL)).status == 200


def test_a_binary_claims_to_be_html(server):
    headers, body = split(receive(server, "/binario"))
    assert b"text/html" in headers
    assert body.startswith(b"\x7fELF")


def test_fewer_bytes_come_than_promised(server):
    headers, body = split(receive(server, "/longitud-grande"))
    assert b"Content-Length: 1000000" in headers
    assert len(body) < 100


def test_more_bytes_come_than_promised(server):
    headers, body = split(receive(server, "/longitud-corta"))
    assert b"Content-Length: 12" in headers
    assert len(body) > 1_000


def test_a_chunk_has_a_size_that_is_no_number(server):
    headers, body = split(receive(server, "/trozos-rotos"))
    assert b"Transfer-Encoding: chunked" in headers
    assert b"\r\nZZ\r\n" in body


def test_an_answer_is_not_http(server):
    assert not receive(server, "/no-http").startswith(b"HTTP/")


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [("/vacio", b"HTTP/1.1 200", b""), ("/sin-contenido", b"HTTP/1.1 204", b"")],
)
def test_answers_can_be_empty(server, path, status, body):
    received = receive(server, path)
    assert received.startswith(status)
    assert split(received)[1] == body


def test_a_connection_is_closed_without_a_word(server):
    assert receive(server, "/silencio") == b""


def test_a_page_refreshes_to_itself(server):
    assert b"url=/refresco" in receive(server, "/refresco")


def test_a_base_element_points_into_a_private_network(server):
    assert b'<base href="http://10.255.255.1/">' in receive(server, "/base-ajena")


def test_the_server_survives_clients_that_leave(server):
    for path in hostile.ATTACKS:
        receive(server, path, limit=1)
    assert fetch(server.url).status == 200


def test_the_log_tells_what_was_asked_for(server):
    fetch(urljoin(server.url, "/es/bueno1"))
    assert server.log()[-1]["path"] == "/es/bueno1"
