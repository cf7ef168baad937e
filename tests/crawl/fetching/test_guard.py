"""No connection is ever made to a private address, whichever way a URL leads there."""

import itertools
from contextlib import contextmanager

import pytest
import scrapy
from scrapy.resolver import CachingThreadedResolver, dnscache
from twisted.internet.address import IPv4Address
from twisted.internet.threads import blockingCallFromThread

from bilingual_crawler.crawl.fetching import guard
from bilingual_crawler.crawl.fetching.failures import Refused
from bilingual_crawler.crawl.fetching.guard import check_url
from tests.support.fetching import FETCHING, RawServer, Site, crawl, running_reactor

GUARDED = {"BILINGUAL_ALLOW_PRIVATE": False, "RETRY_TIMES": 0}
HANDLER_ALONE = {**GUARDED, "middlewares": {f"{FETCHING}.guard.AddressGuard": None}}
SPELLINGS = ("127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "localhost")


class Names:
    """A resolver that answers each question for a name with the next list of addresses."""

    def __init__(self, **answers):
        self._answers = {
            name.replace("_", "."): itertools.chain(lists[:-1], itertools.repeat(lists[-1]))
            for name, lists in answers.items()
        }

    def resolveHostName(self, receiver, name, port=0, types=None, semantics="TCP"):  # noqa: N802
        receiver.resolutionBegan(None)
        for address in next(self._answers[name]):
            receiver.addressResolved(IPv4Address("TCP", address, port))
        receiver.resolutionComplete()


@contextmanager
def names(**answers):
    reactor = running_reactor()
    usual = blockingCallFromThread(reactor, reactor.installNameResolver, Names(**answers))
    try:
        yield
    finally:
        blockingCallFromThread(reactor, reactor.installNameResolver, usual)


@pytest.fixture
def first_loopback_is_public(monkeypatch):
    """127.0.0.1 stands for the open web, every other address for a local network."""
    guard.is_open_host.cache_clear()
    monkeypatch.setattr(guard, "is_public", lambda address: address == "127.0.0.1")
    yield
    guard.is_open_host.cache_clear()


def test_a_private_address_in_any_spelling_sees_no_connection():
    with Site() as site:
        urls = [f"http://{spelling}:{site.port}/" for spelling in SPELLINGS]
        result = crawl(*urls, f"http://[::1]:{site.port}/", **GUARDED, ROBOTSTXT_OBEY=True)
    assert result.reasons == ["private_address"] * (len(SPELLINGS) + 1)
    assert site.connections == 0


def test_the_handler_alone_refuses_every_spelling_before_it_connects():
    with Site() as site:
        urls = [f"http://{spelling}:{site.port}/" for spelling in SPELLINGS]
        result = crawl(*urls, **HANDLER_ALONE)
    assert result.reasons == ["private_address"] * len(SPELLINGS)
    assert site.connections == 0


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_that_leads_to_a_private_address_sees_no_connection(scheme):
    with Site() as site, names(evil_example=[["127.0.0.1"]]):
        result = crawl(f"{scheme}://evil.example:{site.port}/", **GUARDED, ROBOTSTXT_OBEY=True)
    assert result.reasons == ["private_address"]
    assert site.connections == 0


def test_the_guard_holds_with_the_resolver_that_scrapy_installs(monkeypatch):
    monkeypatch.setattr("socket.gethostbyname", lambda _name: "127.0.0.1")
    reactor = running_reactor()
    usual = reactor.nameResolver
    try:
        with Site() as site:
            resolver = CachingThreadedResolver(reactor, 100, 5)
            blockingCallFromThread(reactor, resolver.install_on_reactor)
            result = crawl(f"http://evil.example:{site.port}/", **GUARDED)
    finally:
        blockingCallFromThread(reactor, reactor.installNameResolver, usual)
        dnscache.clear()
    assert result.reasons == ["private_address"]
    assert site.connections == 0


@pytest.mark.usefixtures("first_loopback_is_public")
def test_a_redirect_to_a_private_address_is_not_followed():
    with Site(host="127.0.0.2") as inside:
        away = (302, {"Location": f"{inside.url}/secret"}, b"")
        with Site({"/go": away}) as outside:
            result = crawl(f"{outside.url}/go", **GUARDED)
    assert outside.pages_asked == ["/go"]
    assert result.failures == {f"{inside.url}/secret": "private_address"}
    assert inside.connections == 0


@pytest.mark.usefixtures("first_loopback_is_public")
def test_a_redirect_to_a_name_that_leads_inside_is_not_followed():
    with Site(host="127.0.0.2") as inside:
        away = (302, {"Location": f"http://inside.example:{inside.port}/"}, b"")
        with (
            Site({"/go": away}) as outside,
            names(inside_example=[["127.0.0.2"]], outside_example=[["127.0.0.1"]]),
        ):
            result = crawl(f"http://outside.example:{outside.port}/go", **GUARDED)
    assert outside.pages_asked == ["/go"]
    assert result.reasons == ["private_address"]
    assert inside.connections == 0


def fetch_while_a_name_moves_inside(port, inside):
    """Fetch two pages of a name that leads to the open web, then to a private address."""
    url = f"http://rebind.example:{port}"
    with names(rebind_example=[["127.0.0.1"], ["127.0.0.2"]]):
        result = crawl(f"{url}/1", f"{url}/2", **GUARDED, CONCURRENT_REQUESTS=1,
                       BILINGUAL_HONOUR="noai")  # fmt: skip
    assert list(result.pages) == [f"{url}/1"]
    assert result.failures == {f"{url}/2": "private_address"}
    assert inside.connections == 0


@pytest.mark.usefixtures("first_loopback_is_public")
def test_a_name_that_changes_its_address_is_checked_again():
    closing = (200, {"Content-Type": "text/html", "Connection": "close"}, b"<p>Hello")
    with Site({"/1": closing}) as outside, Site(host="127.0.0.2", port=outside.port) as inside:
        fetch_while_a_name_moves_inside(outside.port, inside)


@pytest.mark.usefixtures("first_loopback_is_public")
def test_a_connection_that_twisted_opens_again_by_itself_is_checked_too():
    def keep_then_hang_up(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                           b"Content-Length: 3\r\n\r\n<p>")  # fmt: skip
        connection.recv(65536)

    with (
        RawServer(keep_then_hang_up) as outside,
        Site(host="127.0.0.2", port=outside.port) as inside,
    ):
        fetch_while_a_name_moves_inside(outside.port, inside)


@pytest.mark.usefixtures("first_loopback_is_public")
def test_of_several_addresses_the_public_ones_are_used():
    with Site() as outside, Site(host="127.0.0.2", port=outside.port) as inside:
        url = f"http://both.example:{outside.port}/"
        with names(both_example=[["127.0.0.2", "127.0.0.1"]]):
            result = crawl(url, **GUARDED)
    assert list(result.pages) == [url]
    assert inside.connections == 0


def test_private_addresses_are_fetched_where_they_are_allowed():
    with Site() as site:
        result = crawl(f"http://localhost:{site.port}/", BILINGUAL_ALLOW_PRIVATE=True)
    assert len(result.pages) == 1


def test_the_resolver_of_the_process_is_left_as_it_was():
    reactor = running_reactor()
    before = reactor.nameResolver
    with Site() as site:
        crawl(f"{site.url}/", **HANDLER_ALONE)
    assert reactor.nameResolver is before


def test_a_local_proxy_is_used_and_private_pages_are_not_asked_of_it():
    with Site() as proxy:
        requests = [
            scrapy.Request(url, meta={"proxy": proxy.url})
            for url in ("http://example.org/page", "http://10.0.0.1/page")
        ]
        result = crawl(*requests, **GUARDED)
    assert list(result.pages) == ["http://example.org/page"]
    assert result.failures == {"http://10.0.0.1/page": "private_address"}
    assert "http://10.0.0.1/page" not in proxy.asked


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org/", "file:///etc/passwd", "data:text/html,x", "s3://bucket/x", "gopher://x"],
)
def test_only_http_and_https_are_fetched(url):
    with pytest.raises(Refused) as refused:
        check_url(url, allow_private=True)
    assert refused.value.reason == "bad_url"


@pytest.mark.parametrize("url", ["http://", "http:///path", "http://host:99999/", "http://[::1/"])
def test_a_url_without_a_readable_host_is_refused(url):
    with pytest.raises(Refused) as refused:
        check_url(url, allow_private=False)
    assert refused.value.reason == "bad_url"


def test_a_redirect_to_another_scheme_is_not_followed(tmp_path):
    secret = tmp_path / "secret.html"
    secret.write_text("<p>secret")
    away = {
        f"/{name}": (302, {"Location": target}, b"")
        for name, target in (("file", secret.as_uri()), ("ftp", "ftp://127.0.0.1/x"))
    }
    with Site(away) as site:
        result = crawl(f"{site.url}/file", f"{site.url}/ftp")
    assert not result.pages
    assert result.reasons == ["http_302", "http_302"]
