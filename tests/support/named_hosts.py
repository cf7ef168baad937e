"""Web sites with names of their own, at a loopback address that answers for all as a proxy does."""

import contextlib
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


class _Handler(BaseHTTPRequestHandler):
    server: Any
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        hosts = self.server.hosts
        parts = urlsplit(self.path)
        hosts.asked[parts.netloc].append(parts.path)
        answer = hosts.pages.get(self.path)
        moved = answer if isinstance(answer, str) else None
        body = b"" if answer is None or moved else answer
        self.send_response(301 if moved else 404 if answer is None else 200)
        if moved:
            self.send_header("Location", moved)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):
        pass


class NamedHosts:
    """`pages` maps URLs to bodies, or to the URL they redirect to; `asked` has paths by host."""

    def __init__(self, pages):
        self.pages = pages
        self.asked = defaultdict(list)

    def pages_of(self, host):
        """The pages of a host that were asked for, without files about the site."""
        return [path for path in self.asked[host] if not path.endswith((".txt", ".xml", ".json"))]

    @contextlib.contextmanager
    def served(self):
        """Serve them for the length of a block; gives the address of the proxy."""
        server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.daemon_threads = True
        server.hosts = self
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
