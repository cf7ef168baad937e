"""The real server of the web page, in this process, on a free port of loopback."""

import contextlib
import html
import http.client
import threading
from typing import Any
from urllib.parse import urlencode

from bilingual_crawler.web import pictures
from bilingual_crawler.web.concordance import index_file
from bilingual_crawler.web.gate import Hosts, Keys
from bilingual_crawler.web.pages import ServedFolder
from bilingual_crawler.web.server import (
    ServerOptions,
    listen,
    make_runs,
    make_server,
    open_served,
)
from tests.support.processes import HANG, wait_until


class Answer:
    """What came back: status, headers, text."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()

    @property
    def shown(self):
        """The text with its quotes and angle brackets, as a reader sees it."""
        return html.unescape(self.text)

    @property
    def csrf(self):
        return self.text.split('name="csrf" value="')[1].split('"')[0]


class WebServer:
    """A running server: ask it, change its folder."""

    def __init__(self, site, port, keys):
        self.site = site  # the served folder, or the library of many
        self.port = port
        self.keys = keys
        self.url = f"http://127.0.0.1:{port}"

    def ask(self, path, *, method="GET", form=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        given = {"Accept": "text/html"} | (headers or {})
        body = None
        if form is not None:
            body = urlencode(form)
            given.setdefault("Content-Type", "application/x-www-form-urlencoded")
        skip_host = "Host" in given
        connection.putrequest(method, path, skip_host=skip_host, skip_accept_encoding=True)
        for name, value in given.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body.encode() if body else None)
        try:
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def post(self, path, form, **headers):
        return self.ask(path, method="POST", form=form, headers=headers)


@contextlib.contextmanager
def patient():
    """Let questions take as long as they need on a busy machine, but not for ever."""
    modules: tuple[Any, ...] = (index_file, pictures)
    limits = [(module, module.SECONDS) for module in modules]
    for module, _ in limits:
        module.SECONDS = HANG
    try:
        yield
    finally:
        for module, seconds in limits:
            module.SECONDS = seconds


@contextlib.contextmanager
def running(folder, *, token=None, bound_to="127.0.0.1", allowed=(), **options):
    """Serve a folder as long as the block lasts, its index made before the first question."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    keys = Keys(token, port)
    runs = make_runs(folder, ServerOptions(folder, **options))
    site = open_served(folder, keys, runs)
    if isinstance(site, ServedFolder):
        site.indexer.refresh()
    server = make_server(site, Hosts(bound_to, allowed))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    wait_until(lambda: server.started)
    try:
        with patient():
            yield WebServer(site, port, keys)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
