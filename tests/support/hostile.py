"""A server that attacks its clients, one path for each attack, and a few honest pages.

`python -m tests.support.hostile` prints its URL as its first line. The index page links to every
attack of `ATTACKS` and `REDIRECTS` and to the good pairs, so a crawl from `/` must
survive the former and find the latter. Nothing runs away: no answer is larger than
`LARGEST` bytes, even unpacked, and none is slower than `--slow-seconds`.

It writes to the socket itself, because a well-behaved HTTP library refuses to send most
of this.
"""

import argparse
import contextlib
import json
import socketserver
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from itertools import pairwise
from random import Random
from typing import Any
from urllib.parse import urljoin

from demo.site import articles

try:
    import brotli
except ImportError:
    brotli = None

LARGEST = 200_000_000
DEPTH = 200_000
LINKS = 100_000
CHAIN = 50
LONG_URL = "/largo/" + "x" * 9_993
GOOD_PAIRS = 5
BLOCK = b"<p>esto no termina nunca</p>\n" * 2_000
TICK = 0.2

Attack = Callable[[float], Iterator[bytes]]
ATTACKS: dict[str, Attack] = {}


def attack(path: str) -> Callable[[Attack], Attack]:
    """Register an attack: a generator of the bytes to send, given the seconds to be slow."""

    def register(function: Attack) -> Attack:
        ATTACKS[path] = function
        return function

    return register


def head(status: str = "200 OK", **headers: Any) -> bytes:
    lines = [f"HTTP/1.1 {status}", "Connection: close"]
    headers = {"Content_Type": "text/html; charset=utf-8"} | headers
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def answer(body: bytes | str, **headers: Any) -> bytes:
    content = body.encode() if isinstance(body, str) else body
    return head(**({"Content_Length": len(content)} | headers)) + content


def redirect(location: str) -> bytes:
    return head("302 Found", Location=location, Content_Length=0)


def document(title: str, body: str, language: str = "es") -> str:
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><title>{escape(title)}</title></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def blocks(block: bytes = BLOCK) -> Iterator[bytes]:
    for _ in range(LARGEST // len(block)):
        yield block


def drip(content: bytes, seconds: float) -> Iterator[bytes]:
    """A byte at a time, again and again, until the seconds are over."""
    end = time.monotonic() + seconds
    position = 0
    while time.monotonic() < end:
        yield content[position % len(content) :][:1]
        position += 1
        time.sleep(TICK)


@attack("/cuerpo-sin-fin")
def endless_body(slow: float) -> Iterator[bytes]:
    """A body that never ends."""
    yield head()
    yield from blocks()


@attack("/goteo")
def slow_body(slow: float) -> Iterator[bytes]:
    """A body that arrives a byte at a time: no read ever times out."""
    yield head(Content_Length=1_000_000)
    yield from drip(b"<p>despacio</p>", slow)


@attack("/cabeceras-lentas")
def slow_headers(slow: float) -> Iterator[bytes]:
    """Headers that arrive a byte at a time."""
    yield b"HTTP/1.1 200 OK\r\n"
    yield from drip(b"X-Slow: 1\r\n", slow)


@attack("/cabeceras-sin-fin")
def endless_headers(slow: float) -> Iterator[bytes]:
    """Headers that never end."""
    yield b"HTTP/1.1 200 OK\r\n"
    yield from blocks(b"X-More: and more and more and more\r\n" * 1_000)


@attack("/cabecera-enorme")
def huge_header(slow: float) -> Iterator[bytes]:
    """One header of a megabyte."""
    yield head(Content_Length=2, X_Huge="x" * 1_000_000)
    yield b"ok"


@attack("/galletas")
def cookie_bomb(slow: float) -> Iterator[bytes]:
    """Two thousand cookies of four kilobytes."""
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
    for number in range(2_000):
        yield f"Set-Cookie: c{number}={'x' * 4_000}; Path=/\r\n".encode()
    yield b"\r\nok"


@cache
def deflated(window_bits: int) -> bytes:
    packer = zlib.compressobj(9, wbits=window_bits)
    packed = b"".join(packer.compress(block) for block in blocks(b" " * 1_000_000))
    return packed + packer.flush()


@attack("/bomba-gzip")
def gzip_bomb(slow: float) -> Iterator[bytes]:
    """200 kB of gzip that become 200 MB of blanks."""
    yield answer(deflated(31), Content_Encoding="gzip")


@attack("/bomba-deflate")
def deflate_bomb(slow: float) -> Iterator[bytes]:
    """The same with deflate."""
    yield answer(deflated(15), Content_Encoding="deflate")


if brotli:

    @cache
    def brotlied() -> bytes:
        packer = brotli.Compressor(quality=5)
        packed = b"".join(packer.process(block) for block in blocks(b" " * 1_000_000))
        return packed + packer.finish()

    @attack("/bomba-brotli")
    def brotli_bomb(slow: float) -> Iterator[bytes]:
        """The same with brotli: a few hundred bytes that become 200 MB."""
        yield answer(brotlied(), Content_Encoding="br")


@attack("/profundo")
def deep_nesting(slow: float) -> Iterator[bytes]:
    """Elements nested 200,000 deep."""
    yield answer("<html><body>" + "<div>" * DEPTH + "fondo" + "</div>" * DEPTH)


@attack("/entidades")
def entity_bomb(slow: float) -> Iterator[bytes]:
    """Entities of entities in XHTML: a few hundred bytes that become 200 MB."""
    names = [f"e{level}" for level in range(9)]
    entities = "".join(f'<!ENTITY {name} "{f"&{inner};" * 10}">' for inner, name in pairwise(names))
    yield answer(
        f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY e0 "ja">{entities}]>'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>&e8;</p></body></html>',
        Content_Type="application/xhtml+xml",
    )


# Redirects: to itself; the first of a chain of fifty; to a file of the client; to another
# service of its machine; into a private network; to where clouds keep their secrets.
REDIRECTS = {
    "/bucle": "/bucle",
    "/cadena/0": "/cadena/1",
    "/a-fichero": "file:///etc/passwd",
    "/a-ssh": "http://127.0.0.1:22/",
    "/a-red-privada": "http://10.255.255.1/",
    "/a-metadatos": "http://169.254.169.254/latest/meta-data/",
}


@attack("/utf8-invalido")
def invalid_utf8(slow: float) -> Iterator[bytes]:
    """Bytes that are not the UTF-8 they claim to be."""
    yield answer(b"<p>ma\xf1ana \xff\xfe\xc3\x28 \xe2\x82 \xf0\x9f\x98 \xed\xa0\x80 fin</p>")


@attack("/charset-falso")
def wrong_charset(slow: float) -> Iterator[bytes]:
    """Latin-1 that claims to be UTF-16."""
    body = "<p>mañana será otro día</p>".encode("latin-1")
    yield answer(body, Content_Type="text/html; charset=utf-16")


@attack("/charset-desconocido")
def unknown_charset(slow: float) -> Iterator[bytes]:
    """A charset that does not exist."""
    yield answer("<p>mañana</p>", Content_Type="text/html; charset=klingon-8")


@attack("/nulos")
def nul_bytes(slow: float) -> Iterator[bytes]:
    """NUL and other control characters between the letters."""
    yield answer(b"<html><body><p>a\0b\0c \x01\x08\x1b\x7f</p>" + b"\0" * 10_000 + b"</body>")


@attack("/cien-mil-enlaces")
def many_links(slow: float) -> Iterator[bytes]:
    """A page with 100,000 links, all of them dead."""
    yield answer("".join(f'<a href="/enlace/{n}">{n}</a>\n' for n in range(LINKS)))


@attack(LONG_URL)
def long_url(slow: float) -> Iterator[bytes]:
    """A URL of 10,000 characters."""
    yield answer(document("Largo", "<p>Una dirección larga.</p>"))


@attack("/binario")
def binary_as_html(slow: float) -> Iterator[bytes]:
    """A megabyte of random bytes that claims to be HTML."""
    yield answer(b"\x7fELF" + Random(1).randbytes(1_000_000))


@attack("/longitud-grande")
def length_too_large(slow: float) -> Iterator[bytes]:
    """A megabyte promised, and the connection closed after a few bytes."""
    yield head(Content_Length=1_000_000) + b"<p>corto</p>"


@attack("/longitud-corta")
def length_too_small(slow: float) -> Iterator[bytes]:
    """More bytes than promised."""
    yield head(Content_Length=12) + b"<p>corto</p>" + b"<p>y sigue</p>" * 100


@attack("/trozos-rotos")
def broken_chunks(slow: float) -> Iterator[bytes]:
    """Chunked encoding with a size that is no number."""
    yield head(Transfer_Encoding="chunked") + b"c\r\n<p>corto</p>\r\nZZ\r\n<p>roto</p>\r\n"


@attack("/no-http")
def not_http(slow: float) -> Iterator[bytes]:
    """An answer that is no HTTP at all."""
    yield b"SSH-2.0-harizlarre\r\n\x00\x01\x02 no hay cabeceras\r\n"


@attack("/silencio")
def no_answer(slow: float) -> Iterator[bytes]:
    """The connection closed without a word."""
    yield b""


@attack("/vacio")
def empty_body(slow: float) -> Iterator[bytes]:
    """200 without a body."""
    yield answer("")


@attack("/sin-contenido")
def no_content(slow: float) -> Iterator[bytes]:
    """204."""
    yield head("204 No Content")


@attack("/refresco")
def refresh_loop(slow: float) -> Iterator[bytes]:
    """A meta refresh to itself."""
    yield answer('<html><head><meta http-equiv="refresh" content="0; url=/refresco"></head></html>')


@attack("/base-ajena")
def foreign_base(slow: float) -> Iterator[bytes]:
    """A <base> that turns every relative link into one to a private network."""
    yield answer(
        '<html><head><base href="http://10.255.255.1/"></head><body>'
        '<a href="secreto">uno</a> <a href="//169.254.169.254/">dos</a></body></html>'
    )


def good_pairs(base_url: str) -> set[tuple[str, str]]:
    """What a Spanish-Basque crawl must find here: (Spanish URL, Basque URL)."""
    return {
        (urljoin(base_url, f"/es/bueno{n}"), urljoin(base_url, f"/eu/bueno{n}"))
        for n in range(1, GOOD_PAIRS + 1)
    }


def good_pages() -> dict[str, bytes]:
    pages = {}
    for number in range(1, GOOD_PAIRS + 1):
        for language, text in articles.article(number).items():
            body = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in text.paragraphs)
            page = document(text.title, body, language)
            pages[f"/{language}/bueno{number}"] = answer(page)
    return pages


def index_page(good: dict[str, bytes]) -> bytes:
    links = [(path, attack.__doc__) for path, attack in ATTACKS.items()]
    links += [(path, f"A redirect to {location}") for path, location in REDIRECTS.items()]
    links += [(path, path) for path in good]
    items = "".join(f'<li><a href="{path}">{escape(label)}</a></li>' for path, label in links)
    return answer(document("Un servidor hostil", f"<ul>{items}</ul>"))


class HostileServer(socketserver.ThreadingTCPServer):
    """All attacks on one port; `log` has the paths asked for, with their times."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int = 0, slow_seconds: float = 90.0):
        self.log: list[dict[str, object]] = []
        self.slow_seconds = slow_seconds
        self.fixed = good_pages()
        self.fixed["/"] = index_page(self.fixed)
        self.fixed["/robots.txt"] = answer(
            "User-agent: *\nDisallow: /__log__\n", Content_Type="text/plain"
        )
        super().__init__(("127.0.0.1", port), HostileHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"

    def bytes_of(self, path: str) -> Iterator[bytes]:
        if path == "/__log__":
            return iter([answer(json.dumps(self.log), Content_Type="application/json")])
        self.log.append({"path": path, "time": time.time()})
        if path in self.fixed:
            return iter([self.fixed[path]])
        if path in ATTACKS:
            return ATTACKS[path](self.slow_seconds)
        if path in REDIRECTS:
            return iter([redirect(REDIRECTS[path])])
        folder, _, number = path.rpartition("/")
        if folder == "/cadena" and number.isdecimal() and int(number) <= CHAIN:
            end = answer(document("Fin de la cadena", "<p>Por fin.</p>"))
            return iter([end if int(number) == CHAIN else redirect(f"/cadena/{int(number) + 1}")])
        return iter([head("404 Not Found", Content_Length=0)])


class HostileHandler(socketserver.StreamRequestHandler):
    """One request a connection, read as far as its first blank line."""

    timeout = 30
    server: HostileServer

    def handle(self):
        with contextlib.suppress(OSError):  # the victim may leave at any time
            request_line = self.rfile.readline(65_536)
            while self.rfile.readline(65_536).strip():
                pass
            _, path, *_ = [*request_line.decode("latin-1").split(), "", ""]
            for piece in self.server.bytes_of(path):
                self.wfile.write(piece)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.support.hostile", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--slow-seconds", type=float, default=90.0)
    options = parser.parse_args()
    with HostileServer(options.port, options.slow_seconds) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
