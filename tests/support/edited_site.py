"""A site in this process whose pages are edited between two crawls; it knows their versions."""

import contextlib
import threading
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

ABOUT_SITE = {"/robots.txt", "/.well-known/tdmrep.json"}


class Asked(NamedTuple):
    path: str
    status: int
    sent: int


class EditedSite:
    """Pages by path: HTML as text or bytes, or a type and bytes.

    None is a page that is gone, a text that starts with / a redirect.
    """

    def __init__(self, pages, *, validates=True, robots=None):
        self.pages = dict(pages)
        self.robots = robots
        self.validates = validates
        self.asked = []
        self.url = ""

    def answer(self, path, headers):
        if path == "/robots.txt" and self.robots is not None:
            return 200, {"Content-Type": "text/plain"}, self.robots.encode()
        page = self.pages.get(path)
        if page is None:
            return 404, {}, b"gone"
        if isinstance(page, str) and page.startswith("/"):
            return 301, {"Location": page}, b""
        kind, body = page if isinstance(page, tuple) else ("text/html; charset=utf-8", page)
        body = body.encode() if isinstance(body, str) else body
        body = body.replace(b"{site}", self.url.rstrip("/").encode())
        tag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        told = {"ETag": tag} if self.validates else {}
        if self.validates and headers.get("If-None-Match") == tag:
            return 304, told, b""
        return 200, told | {"Content-Type": kind}, body

    def new(self):
        """Return what was asked since the last call, without files about the site."""
        asked, self.asked = self.asked, []
        return [each for each in asked if each.path not in ABOUT_SITE]


@contextlib.contextmanager
def serving(site):
    """Serve a site on loopback as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            status, headers, body = site.answer(self.path, self.headers)
            site.asked.append(Asked(self.path, status, len(body)))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
