"""Real servers on loopback and whole crawls in one reactor, for the tests of fetching."""

import atexit
import contextlib
import socket
import threading
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Any, ClassVar

import scrapy
from scrapy.crawler import CrawlerRunner
from scrapy.utils.reactor import install_reactor
from twisted.internet.threads import blockingCallFromThread

from bilingual_crawler.crawl.fetching.failures import reason_of
from tests.support.processes import wait_until

FETCHING = "bilingual_crawler.crawl.fetching"
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = (200, HTML, b"<!doctype html><title>Egun on</title><p>Kaixo mundua")
NOT_FOUND = (404, HTML, b"<p>No such page")

WIRING = {
    "BILINGUAL_ALLOW_PRIVATE": True,
    "BILINGUAL_RETRY_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
    "ROBOTSTXT_USER_AGENT": "bilingual-crawler",
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_TIMEOUT": 60,
    "DOWNLOAD_MAXSIZE": 1_000_000,
    "DOWNLOAD_WARNSIZE": 0,
    "HTTPPROXY_ENABLED": False,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
    "RETRY_TIMES": 1,
    "DOWNLOAD_HANDLERS": {
        "http": f"{FETCHING}.handler.GuardedDownloadHandler",
        "https": f"{FETCHING}.handler.GuardedDownloadHandler",
    },
    "DOWNLOADER_MIDDLEWARES": {
        f"{FETCHING}.guard.AddressGuard": 30,
        f"{FETCHING}.robots.RobotsTxt": 100,
        f"{FETCHING}.optouts.OptOuts": 540,
        f"{FETCHING}.retry.LaterRetry": 550,
        f"{FETCHING}.limits.ContentLimits": 585,
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    },
}


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site = self.server.site
        site.asked.append(self.path)
        answer = site.answer_to(self.path)
        if callable(answer):
            answer = answer(self)
        if answer is None:
            self.close_connection = True
            return
        status, headers, body = answer
        self.send_response_only(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            for each in [value] if isinstance(value, str) else value:
                self.send_header(name, each)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_args):
        pass


class _Server(ThreadingHTTPServer):
    site: "Site"
    daemon_threads = True

    def get_request(self):
        self.site.connections += 1
        return super().get_request()

    def handle_error(self, *_args):
        pass


class Site:
    """A web server; `answers` maps paths to (status, headers, body) or to a function.

    What is not in `answers` is a page, except for the files about the site, which do not
    exist. `asked` are the paths asked for and `connections` the connections made.
    """

    def __init__(self, answers=None, host="127.0.0.1", port=0):
        self.answers = {"/robots.txt": NOT_FOUND, "/.well-known/tdmrep.json": NOT_FOUND}
        self.answers.update(answers or {})
        self.asked = []
        self.connections = 0
        self._server = _Server((host, port), _Handler)
        self._server.site = self
        self.port = self._server.server_address[1]
        self.url = f"http://{host}:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def answer_to(self, path):
        return self.answers.get(path, PAGE)

    @property
    def pages_asked(self):
        return [path for path in self.asked if not path.endswith((".txt", ".json"))]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_args):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class RawServer:
    """A server that does with each connection what `talk(connection)` does."""

    def __init__(self, talk):
        self._talk = talk
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.stopped = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]

    def _accept(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            self._talk(connection)

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_args):
        self.stopped.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join()


class Arrivals:
    """A middleware that counts the requests which have come as far as the middlewares."""

    count = 0
    WIRED: ClassVar = {f"{__name__}.Arrivals": 1}

    def process_request(self, request):
        type(self).count += 1

    @classmethod
    def wait_for(cls, number):
        """Wait until so many have come since the last time."""
        wait_until(lambda: cls.count >= number)
        cls.count = 0


@dataclass
class Crawl:
    """What came of a crawl: pages by URL, reasons of failures by URL, and the stats."""

    pages: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def reasons(self):
        return sorted(self.failures.values())


class _Spider(scrapy.Spider):
    name = "fetching"
    requests: tuple[Any, ...]
    crawl: Crawl

    async def start(self):
        for request in self.requests:
            if isinstance(request, str):
                request = scrapy.Request(request)  # noqa: PLW2901 - a URL is short for it
            yield request.replace(callback=self.parse, errback=self.failed)

    def parse(self, response):
        self.crawl.pages[response.url] = response

    def failed(self, failure):
        reason, detail = reason_of(failure.value)
        self.crawl.failures[failure.request.url] = reason
        self.crawl.details[failure.request.url] = detail


def crawl(*requests, **settings):
    """Fetch URLs or requests with our components wired, and tell what came of it."""
    result = Crawl()
    middlewares = WIRING["DOWNLOADER_MIDDLEWARES"] | settings.pop("middlewares", {})
    runner: Any = CrawlerRunner({**WIRING, "DOWNLOADER_MIDDLEWARES": middlewares, **settings})
    crawler = runner.create_crawler(_Spider)
    reactor = running_reactor()
    blockingCallFromThread(reactor, runner.crawl, crawler, requests=requests, crawl=result)
    result.stats = crawler.stats.get_stats()
    return result


@cache
def running_reactor():
    """The reactor, running in a thread of its own until the tests end."""
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    reactor: Any = import_module("twisted.internet.reactor")  # importing it installs one

    thread = threading.Thread(target=reactor.run, kwargs={"installSignalHandlers": False})
    thread.daemon = True
    thread.start()

    def stop():
        reactor.callFromThread(reactor.stop)
        thread.join(5)

    atexit.register(stop)
    return reactor
