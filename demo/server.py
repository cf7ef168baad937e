"""Serve the sample site on loopback: `python -m demo.server --port 0` prints its URL.

It also answers GET /__log__ with all requests so far, so that a test in another process can see
what a crawl requested and when. GET /__hold__?after=N answers N more
requests, robots.txt aside, and holds all others until GET /__release__: what a test looks at
meanwhile is still running, however slow the machine is.
"""

import argparse
import contextlib
import json
import math
import sys
import threading
import time
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from demo.site.answers import Answer, Site

LOG_PATH = "/__log__"
HOLD_PATH = "/__hold__"
RELEASE_PATH = "/__release__"


class LoggedRequest(NamedTuple):
    """A request as the log keeps it: path with query, seconds since the epoch."""

    path: str
    time: float


class DemoServer:
    """The site on its own port, in a thread: start it with `with`.

    `pages` generated article pairs are served besides the fixed pages, and every answer is delayed
    by `delay` seconds. `log` grows while the server runs; reading it is safe.
    """

    def __init__(self, port: int = 0, *, pages: int = 0, delay: float = 0.0) -> None:
        self.log: list[LoggedRequest] = []
        self._site = Site(pages)
        self._delay = delay
        self._failed: set[str] = set()
        self._lock = threading.Lock()
        self._answerable = math.inf
        self._holds = 0
        self._released = threading.Condition(self._lock)
        self._server = _Server(("127.0.0.1", port), self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def answer(self, path: str) -> Answer:
        """Log the request, then answer it; a page that fails once fails the first time."""
        if path == LOG_PATH:
            body = json.dumps([request._asdict() for request in list(self.log)]).encode()
            return Answer(body, headers={"Content-Type": "application/json"})
        if path.startswith((HOLD_PATH, RELEASE_PATH)):
            self.hold(after=float(path.partition("=")[2] or math.inf))
            return Answer(b"")
        self.log.append(LoggedRequest(path, time.time()))
        if path != "/robots.txt":
            self._wait_for_release()
        if self._delay:
            time.sleep(self._delay)
        answer = self._site.answer(path)
        if answer.fails_once:
            with self._lock:
                first = path not in self._failed
                self._failed.add(path)
            if first:
                return Answer(b"", status=HTTPStatus.INTERNAL_SERVER_ERROR)
        return answer

    def hold(self, after: float) -> None:
        """Answer so many more requests and hold all others; infinity releases them.

        What an earlier call holds is let go, so that it does not count among the new ones: its
        client may have been killed.
        """
        with self._released:
            self._answerable = after
            self._holds += 1
            self._released.notify_all()

    def _wait_for_release(self) -> None:
        with self._released:
            held_by = self._holds
            self._released.wait_for(lambda: self._answerable > 0 or self._holds != held_by)
            if self._holds == held_by:
                self._answerable -= 1

    def serve_forever(self) -> None:
        """Answer requests until `close` is called in another thread."""
        self._server.serve_forever(poll_interval=0.05)

    def close(self) -> None:
        """Stop answering and free the port."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], demo: DemoServer) -> None:
        self.demo = demo
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that disconnects, such as a killed crawl, is not an error of the server.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body go in one packet, or each answer waits for a delayed ACK.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 60
    server: _Server

    def do_GET(self) -> None:
        self._send(with_body=True)

    def do_HEAD(self) -> None:
        self._send(with_body=False)

    def _send(self, *, with_body: bool) -> None:
        answer = self.server.demo.answer(self.path)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if with_body:
            self.wfile.write(answer.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it overrides
        """Print nothing: the log is kept for tests."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m demo.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free port")
    parser.add_argument("--pages", type=int, default=0, help="generated article pairs to add")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args(arguments)
    server = DemoServer(options.port, pages=options.pages, delay=options.delay)
    print(server.url, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
