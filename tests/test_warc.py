"""WARC files: what stands in them, what does not, and what a kill leaves of them."""

import gc
import gzip
import io
import itertools
import random
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerRunner
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.test import get_crawler
from twisted.internet.threads import blockingCallFromThread
from warcio.archiveiterator import ArchiveIterator

from bilingual_crawler.corpus.folder import CrawlFolder
from bilingual_crawler.corpus.warc import Exchange, Records, WarcFiles
from bilingual_crawler.corpus.warc_extension import OPT_OUTS, WarcArchive
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.fetching.optouts import opt_out_of
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.journal import Journal
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.settings import Config
from bilingual_crawler.signals import url_ended
from demo.site.pages import QUIRKS, REFRESHES
from tests.fetching_support import RawServer, running_reactor
from tests.servers import serve_demo

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of its own names, on import
    from fastwarc.warc import ArchiveIterator as FastIterator
    from fastwarc.warc import WarcRecordType

ROOT = Path(__file__).parents[1]
URL = "https://example.org/eu/kaixo?a=1"
ARRIVED = 1_700_000_000.25
ABOUT = {"software": "bilingual-crawler/test", "format": "WARC File Format 1.1"}
HTML = b"<html><p>Kaixo mundua</html>"
LARGE = 1 << 30


def exchange(url=URL, **changes):
    fields = {"arrived": ARRIVED, "status": 200, "headers": (), "body": HTML} | changes
    return Exchange(url=url, **fields)


def read(data):
    """The records of a file, digests checked: (WARC headers, HTTP headers, body) each."""
    records = []
    for record in ArchiveIterator(io.BytesIO(data), check_digests="raise"):
        body = record.raw_stream.read()
        assert record.digest_checker.passed, record.digest_checker.problems
        records.append(
            SimpleNamespace(warc=record.rec_headers, http=record.http_headers, body=body)
        )
    return records


def records_of(one):
    """The response and the request record of an exchange."""
    response, request = read(Records(ABOUT).of(one))
    return response, request


def block_of(one):
    """The response as it stands in the file."""
    text = gzip.decompress(Records(ABOUT).of(one))
    return text.split(b"\r\n\r\n", 1)[1].split(b"WARC/1.1", 1)[0].removesuffix(b"\r\n\r\n")


class Archive:
    """WARC files in a folder with a journal, as a crawl has them."""

    def __init__(self, folder, max_bytes=LARGE):
        self.folder = folder
        self.journal = Journal(folder / "crawl.sqlite")
        self.files = WarcFiles(folder, self.journal, ABOUT, max_bytes)
        self.journal.attach_sink(self.files)

    def add(self, *exchanges):
        for each in exchanges:
            self.journal.append("warc", each)
        self.journal.checkpoint(wait=True)

    def __enter__(self):
        return self

    def __exit__(self, *_args):
        self.journal.close()


def files_in(folder):
    return sorted(path for path in folder.iterdir() if path.name.endswith(".warc.gz"))


def urls_in(folder):
    """The URLs of all response records, as two readers find them."""
    found = []
    for path in files_in(folder):
        records = read(path.read_bytes())
        assert records[0].warc["WARC-Type"] == "warcinfo"
        urls = [r.warc["WARC-Target-URI"] for r in records if r.warc["WARC-Type"] == "response"]
        assert urls == fast_urls(path.read_bytes())
        found += urls
    return found


def fast_urls(data):
    records = FastIterator(
        io.BytesIO(data), record_types=WarcRecordType.response, verify_digests=True
    )
    return [record.headers["WARC-Target-URI"] for record in records]


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


@settings(max_examples=200, deadline=None)
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


def test_every_record_can_be_read_from_its_own_place(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange(), exchange("http://b.example/"))
    data = files_in(tmp_path)[0].read_bytes()
    with io.BytesIO(data) as stream:
        records = ArchiveIterator(stream)
        places = [records.get_record_offset() for _ in records]
    assert len(places) == 5
    for place, end in itertools.pairwise([*places, len(data)]):
        assert len(read(data[place:end])) == 1


def test_a_file_begins_with_what_it_is(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange())
    path = files_in(tmp_path)[0]
    first = read(path.read_bytes())[0]
    assert path.name == first.warc["WARC-Filename"] == "crawl-00000.warc.gz"
    assert first.warc["WARC-Type"] == "warcinfo"
    assert first.body == b"software: bilingual-crawler/test\r\nformat: WARC File Format 1.1\r\n"


def test_a_crawl_that_fetches_nothing_leaves_no_file(tmp_path):
    with Archive(tmp_path):
        pass
    assert files_in(tmp_path) == []


def test_a_new_file_is_begun_at_the_size_that_was_asked_for(tmp_path):
    urls = [f"http://a.example/{number}" for number in range(40)]
    bodies = [random.randbytes(1000) for _ in urls]
    with Archive(tmp_path, max_bytes=5000) as archive:
        archive.add(*(exchange(u, body=b) for u, b in zip(urls[:30], bodies, strict=False)))
        archive.add(*(exchange(u, body=b) for u, b in zip(urls[30:], bodies, strict=False)))
        sizes = {name: archive.journal.file_size(name) for name in archive.journal.file_names()}
    files = files_in(tmp_path)
    assert len(files) > 5
    assert [path.name for path in files] == [f"crawl-{n:05d}.warc.gz" for n in range(len(files))]
    assert all(5000 <= path.stat().st_size < 9000 for path in files[:-1])
    assert sizes == {path.name: path.stat().st_size for path in files}
    assert urls_in(tmp_path) == urls


def test_a_resumed_crawl_goes_on_in_the_last_file(tmp_path):
    for number in range(3):
        with Archive(tmp_path) as archive:
            archive.add(exchange(f"http://a.example/{number}"))
    assert len(files_in(tmp_path)) == 1
    assert urls_in(tmp_path) == [f"http://a.example/{number}" for number in range(3)]


def test_a_resumed_crawl_begins_a_file_when_the_last_is_full(tmp_path):
    for number in range(3):
        with Archive(tmp_path, max_bytes=100) as archive:
            archive.add(exchange(f"http://a.example/{number}"))
    assert len(files_in(tmp_path)) == 3
    assert urls_in(tmp_path) == [f"http://a.example/{number}" for number in range(3)]


def test_what_no_checkpoint_vouches_for_is_cut_and_deleted(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange("http://a.example/kept"))
    kept = files_in(tmp_path)[0]
    length = kept.stat().st_size
    kept.write_bytes(kept.read_bytes() + Records(ABOUT).of(exchange("http://a.example/lost")))
    (tmp_path / "crawl-00001.warc.gz").write_bytes(b"half a rec")
    (tmp_path / "crawl-about.warc.gz").write_bytes(b"somebody else's")
    with Archive(tmp_path):
        assert kept.stat().st_size == length
    assert [path.name for path in files_in(tmp_path)] == [kept.name, "crawl-about.warc.gz"]


def test_files_that_were_taken_away_when_full_are_not_missed(tmp_path):
    with Archive(tmp_path, max_bytes=100) as archive:
        archive.add(exchange("http://a.example/0"), exchange("http://a.example/1"))
    files_in(tmp_path)[0].unlink()
    with Archive(tmp_path) as archive:
        archive.add(exchange("http://a.example/2"))
    assert urls_in(tmp_path) == ["http://a.example/1", "http://a.example/2"]


def test_a_file_that_lost_its_end_is_an_error_that_names_it(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange())
    path = files_in(tmp_path)[0]
    path.write_bytes(path.read_bytes()[:-1])
    journal = Journal(tmp_path / "crawl.sqlite")
    with pytest.raises(ConfigurationError, match=r"crawl-00000\.warc\.gz has \d+ bytes"):
        WarcFiles(tmp_path, journal, ABOUT, LARGE)
    journal.close()


def test_what_cannot_be_built_is_counted_and_told_once(tmp_path, caplog):
    broken = exchange("http://a.example/broken", arrived=float("inf"))
    good = [exchange(f"http://a.example/{number}") for number in range(2)]
    with Archive(tmp_path) as archive:
        archive.add(good[0], broken, exchange("http://[::1/"), good[1])
    assert (archive.files.written, archive.files.failed) == (2, 2)
    assert urls_in(tmp_path) == [each.url for each in good]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "http://a.example/broken" in caplog.text


WRITER = """
import random, sys, time
from pathlib import Path
from bilingual_crawler.corpus.warc import Exchange, WarcFiles
from bilingual_crawler.journal import Journal

class Numbers:
    new = []
    def changes(self):
        rows, self.new = self.new, []
        return [("INSERT INTO numbers VALUES (?)", rows)]

folder, numbers = Path(sys.argv[1]), Numbers()
journal = Journal(folder / "crawl.sqlite")
journal.define("CREATE TABLE IF NOT EXISTS numbers (number INTEGER)")
journal.attach(numbers)
journal.attach_sink(WarcFiles(folder, journal, {"software": "test"}, 100_000))
number = next(journal.read("SELECT max(number) FROM numbers"))[0] or 0
print("ready", flush=True)
while True:
    for _ in range(random.randrange(20)):
        number += 1
        numbers.new.append((number,))
        body = random.randbytes(random.randrange(4000))
        url = f"http://a.example/{number}"
        one = Exchange(url=url, arrived=time.time(), status=200, headers=(), body=body)
        journal.append("warc", one)
    journal.checkpoint()
    time.sleep(0.001)
"""


def kill_a_writer(folder):
    command = [sys.executable, "-c", WRITER, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0.02, 0.15))
        writer.send_signal(signal.SIGKILL)


def test_after_any_kill_every_committed_record_is_there_once(tmp_path):
    counts = []
    for _ in range(10):
        kill_a_writer(tmp_path)
        with Archive(tmp_path) as archive:
            numbers = [n for (n,) in archive.journal.read("SELECT number FROM numbers")]
            sizes = {name: archive.journal.file_size(name) for name in archive.journal.file_names()}
        assert numbers == list(range(1, len(numbers) + 1))
        assert urls_in(tmp_path) == [f"http://a.example/{number}" for number in numbers]
        assert sizes == {path.name: path.stat().st_size for path in files_in(tmp_path)}
        counts.append(len(numbers))
    assert counts[0] < counts[-1]
    assert len(sizes) > 1


class Crawl:
    """The extension in a crawl whose downloads and ends the tests tell of."""

    def __init__(self, path, **changes):
        changes = {"BILINGUAL_WARC": "1", "EXTENSIONS_BASE": {}} | changes
        self.crawler = get_crawler(Spider, changes)
        self.path = path
        self.spider = self.crawler.spider = SimpleNamespace(
            folder=CrawlFolder(path, "spa-eus"),
            config=Config.from_settings(self.crawler.settings),
            plan=SimpleNamespace(langs=LanguagePair.parse("spa-eus")),
        )
        try:
            self.archive = WarcArchive.from_crawler(self.crawler)
        except NotConfigured:
            self.spider.folder.close()
            raise

    def _send(self, signal, **arguments):
        for _, result in self.crawler.signals.send_catch_log(signal, **arguments):
            assert result is None

    def download(self, url=URL, *, headers=None, status=200, callback=None, meta=None, **more):
        request = Request(url, callback=callback, meta=meta)
        response = HtmlResponse(url, status, headers=headers, body=HTML, request=request, **more)
        self._send(signals.response_downloaded, request=request, response=response)
        return request

    def end(self, request, reason="stored", state=State.DONE):
        self._send(url_ended, request=request, state=state, reason=reason)

    def schedule(self, request):
        self._send(signals.request_scheduled, request=request)

    def close(self):
        """End the crawl; the URLs that are kept."""
        self.spider.folder.close()
        self._send(signals.spider_closed)
        return urls_in(self.path)

    def stats(self):
        prefix = "bilingual/warc/"
        stats = self.crawler.stats.get_stats().items()
        return {name.removeprefix(prefix): v for name, v in stats if name.startswith(prefix)}


def test_without_the_setting_the_extension_is_not_there(tmp_path):
    with pytest.raises(NotConfigured, match="BILINGUAL_WARC is off"):
        Crawl(tmp_path, BILINGUAL_WARC="0")


def test_a_page_is_kept_when_its_url_has_ended(tmp_path):
    crawl = Crawl(tmp_path)
    request = crawl.download()
    crawl.spider.folder.journal.checkpoint(wait=True)
    assert files_in(tmp_path) == []
    crawl.end(request)
    assert crawl.close() == [URL]
    assert crawl.stats() == {"written": 1, "failed": 0}


def test_an_exchange_is_taken_over_as_scrapy_has_it(tmp_path):
    crawl = Crawl(tmp_path)
    headers = {"Set-Cookie": ["a", "b"]}
    request = crawl.download(headers=headers, protocol="HTTP/1.0", ip_address="192.0.2.7")
    crawl.end(request)
    crawl.close()
    _, response, sent = read(files_in(tmp_path)[0].read_bytes())
    assert response.warc["WARC-IP-Address"] == "192.0.2.7"
    assert response.http.protocol == "HTTP/1.0"
    assert response.http.headers == [("Set-Cookie", "a"), ("Set-Cookie", "b")]
    age = datetime.now(UTC) - datetime.fromisoformat(response.warc["WARC-Date"])
    assert timedelta() <= age < timedelta(minutes=1)
    assert sent.http.statusline == "/eu/kaixo?a=1 HTTP/1.1"


def test_the_address_of_a_proxy_is_not_kept(tmp_path):
    crawl = Crawl(tmp_path)
    crawl.end(crawl.download(ip_address="10.0.0.1", meta={"proxy": "http://10.0.0.1:8080"}))
    crawl.close()
    assert b"10.0.0.1" not in gzip.decompress(files_in(tmp_path)[0].read_bytes())


@pytest.mark.parametrize(
    ("flag", "truncated"),
    [("download_stopped", "unspecified"), ("dataloss", "disconnect"), ("partial", None)],
)
def test_downloads_that_were_broken_off_say_so(tmp_path, flag, truncated):
    crawl = Crawl(tmp_path)
    crawl.end(crawl.download(flags=[flag]), "not_html", State.FAILED)
    crawl.close()
    _, response, _ = read(files_in(tmp_path)[0].read_bytes())
    assert response.warc["WARC-Truncated"] == truncated


@pytest.mark.parametrize("reason", sorted(OPT_OUTS))
def test_a_page_that_opted_out_is_not_kept(tmp_path, reason):
    crawl = Crawl(tmp_path)
    crawl.end(crawl.download(), reason)
    assert crawl.close() == []
    assert crawl.stats()[f"left_out/{reason}"] == 1


def test_every_opt_out_that_the_crawler_knows_is_one_here():
    everything = ("tdm", "noai", "noindex", "nofollow")
    robots = [["noai"], ["noindex"], ["none"], ["nofollow"], []]
    known = {opt_out_of(each, tdm, everything) for each in robots for tdm in (True, False)}
    assert known == OPT_OUTS | {None}


def test_a_mark_to_keep_nothing_holds_however_the_url_ends(tmp_path):
    crawl = Crawl(tmp_path)
    request = crawl.download()
    request.meta["bilingual_optout"] = "noindex"
    crawl.end(request, "off_language")
    assert crawl.close() == []


@pytest.mark.parametrize(
    "headers", [{"X-Robots-Tag": "noai"}, {"TDM-Reservation": "1"}, {"X-Robots-Tag": "none"}]
)
def test_headers_that_opt_out_hold_however_the_url_ends(tmp_path, headers):
    crawl = Crawl(tmp_path)
    crawl.end(crawl.download(headers=headers), "not_html", State.FAILED)
    assert crawl.close() == []


def test_opt_outs_that_are_not_honoured_do_not_matter(tmp_path):
    crawl = Crawl(tmp_path, BILINGUAL_HONOUR="noai")
    crawl.end(crawl.download(headers={"TDM-Reservation": "1"}))
    assert crawl.close() == [URL]


@pytest.mark.parametrize(
    ("reason", "state"),
    [("error", State.FAILED), ("bad_encoding", State.FAILED), ("redirected", State.DONE)],
)
def test_a_page_that_nobody_read_may_have_opted_out(tmp_path, reason, state):
    crawl = Crawl(tmp_path)
    crawl.end(crawl.download(), reason, state)
    assert crawl.close() == []
    assert crawl.stats()["left_out/unread"] == 1


@pytest.mark.parametrize(
    ("status", "reason", "state"),
    [(301, "redirected", State.DONE), (404, "http_404", State.FAILED)],
)
def test_redirects_and_errors_are_kept(tmp_path, status, reason, state):
    crawl = Crawl(tmp_path)
    crawl.end(crawl.download(status=status), reason, state)
    assert crawl.close() == [URL]


def test_files_about_a_site_are_kept_at_once_whatever_they_say(tmp_path):
    crawl = Crawl(tmp_path)
    robots_txt = "https://example.org/robots.txt"
    crawl.download(robots_txt, headers={"X-Robots-Tag": "noindex"}, callback=NO_CALLBACK)
    assert crawl.close() == [robots_txt]


def test_both_answers_of_a_request_that_is_tried_again_are_kept(tmp_path):
    crawl = Crawl(tmp_path)
    first = crawl.download(status=503)
    crawl.schedule(first.replace(dont_filter=True))
    crawl.spider.folder.journal.checkpoint(wait=True)
    assert urls_in(tmp_path) == [URL]
    crawl.end(crawl.download(status=200))
    assert crawl.close() == [URL, URL]


def test_a_link_to_a_page_that_is_being_read_does_not_decide_about_it(tmp_path):
    crawl = Crawl(tmp_path)
    request = crawl.download()
    crawl.schedule(Request(URL))
    crawl.schedule(Request("https://example.org/other", dont_filter=True))
    crawl.end(request, "noai")
    assert crawl.close() == []


def test_a_page_that_is_asked_for_again_before_it_was_read_is_not_kept(tmp_path):
    crawl = Crawl(tmp_path)
    first = crawl.download(status=200)
    crawl.schedule(first.replace(dont_filter=True))
    assert crawl.close() == []


def test_answers_to_requests_that_never_end_do_not_stay_in_memory(tmp_path):
    crawl = Crawl(tmp_path)
    for number in range(100):
        crawl.download(f"https://example.org/{number}")
    gc.collect()
    assert len(crawl.archive._waiting) == 0
    assert crawl.close() == []


def test_the_files_say_who_made_them_and_nothing_of_the_machine(tmp_path):
    crawl = Crawl(
        tmp_path,
        BILINGUAL_CONTACT="https://example.org/who\r\nX: y",
        USER_AGENT="us/1",
        ROBOTSTXT_OBEY="1",
    )
    crawl.end(crawl.download())
    crawl.close()
    first = read(files_in(tmp_path)[0].read_bytes())[0]
    said = dict(line.split(": ", 1) for line in first.body.decode().splitlines())
    assert said["software"].startswith("bilingual-crawler/")
    assert said["format"] == "WARC File Format 1.1"
    assert said["operator"] == "https://example.org/who X: y"
    assert said["http-header-user-agent"] == "us/1"
    assert said["robots"] == "classic"
    assert said["language"] == "spa, eus"
    assert str(tmp_path) not in first.body.decode()


class ArchivedSpider(Spider):
    """Fetches one page over the network and says at once how it ended."""

    name = "archived"

    @classmethod
    def from_crawler(cls, crawler, url, path):
        spider = super().from_crawler(crawler, start_urls=[url])
        spider.folder = CrawlFolder(path, "spa-eus")
        spider.config = Config.from_settings(crawler.settings)
        spider.plan = SimpleNamespace(langs=LanguagePair.parse("spa-eus"))
        return spider

    def parse(self, response):
        assert response.body == HTML
        self.crawler.signals.send_catch_log(
            url_ended, request=response.request, state=State.DONE, reason="stored"
        )
        self.folder.close()


def test_what_came_over_the_network_is_kept_as_it_came(tmp_path):
    packed = gzip.compress(HTML)
    answer = b"HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
    answer += b"X-Odd: caf\xe9\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer += b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    runner = CrawlerRunner(
        {
            "BILINGUAL_WARC": "1",
            "EXTENSIONS": {WarcArchive: 500},
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
        }
    )
    with RawServer(lambda connection: connection.sendall(answer)) as server:
        crawl = partial(runner.crawl, ArchivedSpider, url=f"{server.url}/a?b=1", path=tmp_path)
        blockingCallFromThread(running_reactor(), crawl)
    _, response, request = read(files_in(tmp_path)[0].read_bytes())
    assert response.warc["WARC-IP-Address"] == "127.0.0.1"
    assert (response.http.protocol, response.http.statusline) == ("HTTP/1.1", "200 OK")
    assert sorted(response.http.headers) == [
        ("Content-Encoding", "gzip"),
        ("Content-Type", "text/html"),
        ("X-Odd", "caf\xe9"),
    ]
    assert response.body == packed
    assert (request.http.protocol, request.http.statusline) == ("GET", "/a?b=1 HTTP/1.1")
    assert request.http["Host"] == server.url.removeprefix("http://")
    assert request.http["Accept-Encoding"].startswith("gzip")


OPTED_OUT = {"/es/poemas", "/eu/cuentos", "/es/mapa"}
FAILS_ONCE = {path for path, quirk in QUIRKS.items() if quirk.fails_once}
OF_THE_SITE = {"/robots.txt", "/.well-known/tdmrep.json"}


def crawl_command(server, output):
    """A crawl of the sample site that keeps everything."""
    options = ["BILINGUAL_WARC=1", "BILINGUAL_ALLOW_PRIVATE=1", "BILINGUAL_RETRY_DELAY=0"]
    options += ["DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=0", "BILINGUAL_CHECKPOINT_SECONDS=0.05"]
    arguments = ["-a", "langs=spa-eus", "-a", f"seeds={server.url}", "-a", f"output={output}"]
    arguments += [part for option in options for part in ("-s", option)]
    return [sys.executable, "-m", "scrapy", "crawl", "bilingual", *arguments]


def paths_kept(server, output):
    return Counter("/" + url.removeprefix(server.url) for url in urls_in(output))


@pytest.mark.crawl
def test_a_crawl_keeps_every_answer_except_of_pages_that_opted_out(tmp_path):
    with serve_demo() as server:
        subprocess.run(crawl_command(server, tmp_path), cwd=ROOT, check=True, capture_output=True)
        asked = Counter(entry["path"] for entry in server.log())
    left_out = asked - paths_kept(server, tmp_path)
    assert OPTED_OUT <= left_out.keys() <= OPTED_OUT | REFRESHES.keys()
    assert asked - left_out == paths_kept(server, tmp_path)
    assert paths_kept(server, tmp_path).keys() >= OF_THE_SITE


@pytest.mark.crawl
def test_a_crawl_that_was_killed_and_resumed_keeps_every_page_once(tmp_path):
    with serve_demo(pages=100, delay=0.005) as server:
        command = crawl_command(server, tmp_path)
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as killed:
            while len(server.paths()) < 100:
                assert killed.poll() is None
                time.sleep(0.02)
            killed.send_signal(signal.SIGKILL)
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        asked = server.paths()
    assert asked.count("/.well-known/tdmrep.json") == 2
    kept = paths_kept(server, tmp_path)
    pages = Counter({path: n for path, n in kept.items() if path not in OF_THE_SITE | FAILS_ONCE})
    assert set(pages) == set(asked) - OPTED_OUT - REFRESHES.keys() - OF_THE_SITE - FAILS_ONCE
    assert set(pages.values()) == {1}
