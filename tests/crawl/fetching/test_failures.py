"""Every way to lose a page has a code and a sentence."""

import socket
import zlib
from gzip import BadGzipFile
from typing import Any

import pytest
import scrapy.exceptions
from OpenSSL import SSL
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import default_settings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.misc import load_object
from twisted.internet import error as network
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from bilingual_crawler.crawl.fetching.failures import Refused, UnknownStatusError, reason_of
from tests.support.fetching import NOT_FOUND, RawServer, Site, crawl


def test_a_refusal_of_ours_says_its_own_reason():
    assert reason_of(Refused("noai", "No.")) == ("noai", "No.")


def test_a_refusal_is_an_ignored_request():
    assert isinstance(Refused("noai", "No."), IgnoreRequest)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (scrapy.exceptions.CannotResolveHostError("x"), "dns"),
        (scrapy.exceptions.DownloadCancelledError(), "too_large"),
        (scrapy.exceptions.DownloadConnectionRefusedError("x"), "connection"),
        (scrapy.exceptions.DownloadFailedError("x"), "connection"),
        (scrapy.exceptions.DownloadTimeoutError("x"), "timeout"),
        (scrapy.exceptions.NotSupported("x"), "bad_url"),
        (scrapy.exceptions.ResponseDataLossError(), "incomplete"),
        (scrapy.exceptions.StopDownload(), "stopped"),
        (scrapy.exceptions.UnsupportedURLSchemeError("x"), "bad_url"),
        (IgnoreRequest("Forbidden by robots.txt"), "robots_txt"),
        (IgnoreRequest("max redirections reached"), "too_many_redirects"),
        (IgnoreRequest("Filtered offsite request to 'x'"), "offsite"),
        (IgnoreRequest("exceeded DOWNLOAD_MAXSIZE (9 B) during decompression."), "too_large"),
        (IgnoreRequest(), "ignored"),
        (HttpError(Response("http://x/", status=404)), "http_404"),
        (HttpError(Response("http://x/", status=599)), "http_599"),
        (HttpError(Response("http://x/", status=600)), "http_other"),
        (HttpError(Response("http://x/", status=10**30)), "http_other"),
        (HttpError(Response("http://x/", status=0)), "http_other"),
        (UnknownStatusError(), "http_other"),
        (TunnelError("x"), "proxy"),
        (SSL.Error(), "tls"),
        (zlib.error("x"), "bad_encoding"),
        (BadGzipFile("x"), "bad_encoding"),
        (EOFError(), "bad_encoding"),
        (network.TimeoutError(), "timeout"),
        (network.TCPTimedOutError(), "timeout"),
        (network.NoRouteError(), "connection"),
        (network.ConnectionLost(), "connection"),
        (network.DNSLookupError("x"), "dns"),
        (TimeoutError(), "timeout"),
        (ConnectionResetError(), "connection"),
        (UnicodeError("x"), "bad_url"),
        (KeyError("x"), "error"),
    ],
)
def test_every_exception_has_its_reason(error, reason):
    code, sentence = reason_of(error)
    assert code == reason
    assert sentence


def test_every_exception_that_scrapy_retries_has_a_reason_of_its_own():
    names: list[Any] = default_settings.RETRY_EXCEPTIONS
    for name in names:
        kind = load_object(name)
        error = kind([Failure(OSError())]) if kind is ResponseFailed else kind("x")
        assert reason_of(error)[0] != "error", name


def test_a_failed_handshake_is_told_from_a_lost_connection():
    cause = ResponseFailed([Failure(SSL.Error([("SSL routines", "", "bad")]))])
    error = scrapy.exceptions.DownloadFailedError("x")
    error.__cause__ = cause
    assert reason_of(error)[0] == "tls"


def test_exceptions_that_cause_one_another_come_to_an_end():
    first, second = OSError("a"), OSError("b")
    first.__cause__, second.__cause__ = second, first
    assert reason_of(first)[0] == "connection"


def test_the_sentence_of_an_unknown_error_is_short():
    assert len(reason_of(RuntimeError("x" * 10_000))[1]) <= 300


def test_a_missing_page_and_a_loop_of_redirects_are_told_apart():
    chain = {f"/{step}": (302, {"Location": f"/{step + 1}"}, b"") for step in range(9)}
    with Site({"/gone": NOT_FOUND, **chain}) as site:
        result = crawl(f"{site.url}/gone", f"{site.url}/0", REDIRECT_MAX_TIMES=3)
    assert result.reasons == ["http_404", "too_many_redirects"]


def test_a_closed_port_is_a_failed_connection():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    assert crawl(url, RETRY_TIMES=0).failures == {url: "connection"}


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "connection"),
        (b"garbage that is not HTTP\r\n\r\n", "connection"),
        (OK + b"Content-Length: 99\r\n\r\n<p>", "incomplete"),
        (OK + b"Content-Length: x\r\n\r\n<p>", "connection"),
    ],
)
def test_a_server_that_breaks_off_is_told_by_where_it_does(answer, reason):
    with RawServer(lambda connection: connection.sendall(answer)) as server:
        result = crawl(server.url, RETRY_TIMES=0, BILINGUAL_HONOUR="")
    assert result.reasons == [reason]


def test_statuses_that_a_server_invents_do_not_become_keys_of_statistics():
    def answer(connection):
        status = int(connection.getpeername()[1]) + 1_000
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)

    with RawServer(answer) as server:
        urls = [f"{server.url}/{number}" for number in range(5)]
        result = crawl(*urls, BILINGUAL_HONOUR="")
    assert result.reasons == ["http_other"] * 5
    numbers = {name.rpartition("/")[2] for name in result.stats if "status" in name}
    assert not numbers
    assert "retry/count" not in result.stats


def test_a_robots_txt_with_a_status_that_does_not_exist_cannot_be_had():
    answer = b"HTTP/1.1 999 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with RawServer(lambda connection: connection.sendall(answer)) as server:
        result = crawl(f"{server.url}/page", ROBOTSTXT_OBEY=True, RETRY_TIMES=0)
    assert result.reasons == ["http_other"]
