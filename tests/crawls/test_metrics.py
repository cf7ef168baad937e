"""Figures for Prometheus: from a real crawl, over its own port, read by Prometheus' own parser."""

import json
import re
import socket
import threading
import urllib.error
import urllib.request

import pytest
from scrapy.settings import BaseSettings

from bilingual_crawler.config.settings import Config
from bilingual_crawler.errors import ConfigurationError
from tests.support.crawling import crawl, documents, pairs, report, start
from tests.support.processes import HANG, end, wait_until
from tests.support.servers import serve_demo

parser = pytest.importorskip(
    "prometheus_client.parser", reason="pip install 'bilingual-crawler[metrics]'"
)
openmetrics = pytest.importorskip("prometheus_client.openmetrics.parser")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """What a crawl answers on its way, what it logs as JSON, and what it has in the end."""
    output = tmp_path_factory.mktemp("metrics") / "out"
    settings = {
        "BILINGUAL_METRICS": "127.0.0.1:0",
        "BILINGUAL_LOG_FORMAT": "json",
        "BILINGUAL_WARC": 1,
        "LOG_LEVEL": "DEBUG",
    }
    with serve_demo(pages=10) as server:
        server.hold(after=60)
        process = start(server.url, output, settings=settings)
        lines = []
        reading = threading.Thread(target=lambda: lines.extend(process.stdout))
        reading.start()
        try:
            url = address_in(lines)
            text = once_there_are_pairs(url)
            open_text = fetch(url, accept="application/openmetrics-text")
            statuses = [status_of(url, "POST"), status_of(url.removesuffix("metrics"), "GET")]
            server.release()
            process.wait(HANG)
            reading.join(HANG)
        finally:
            end(process)
    return {"text": text, "open": open_text, "statuses": statuses, "log": lines, "output": output}


def address_in(lines):
    return wait_until(lambda: re.search(r"http://127\.0\.0\.1:\d+/metrics", "".join(list(lines))))[
        0
    ]


def once_there_are_pairs(url):
    def text():
        found = fetch(url)
        return found if values(found).get(("bilingual_pairs", "")) else None

    return wait_until(text)


def fetch(url, accept="*/*"):
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=HANG) as response:
        return response.read().decode()


def status_of(url, method):
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, method=method), timeout=HANG
        ) as got:
            return got.status
    except urllib.error.HTTPError as error:
        return error.code


def values(text):
    """Every sample under its name and the value of its label."""
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_prometheus_reads_what_a_crawl_counts(running):
    found = values(running["text"])
    assert found["bilingual_pages_total", ""] > 0
    assert found["bilingual_received_bytes_total", ""] > 0
    assert found["bilingual_scoring_seconds_total", ""] > 0
    assert found["bilingual_urls_ended_total", "stored"] > 0
    assert found["bilingual_documents", "spa"] > 0
    assert found["bilingual_urls_waiting", ""] >= 0
    assert found["bilingual_pages_per_second", ""] > 0
    assert found["process_resident_memory_bytes", ""] > 1e7


def test_the_yield_is_pairs_for_a_hundred_pages(running):
    found = values(running["text"])
    expected = 100 * found["bilingual_pairs", ""] / found["bilingual_pages_total", ""]
    assert found["bilingual_yield", ""] == pytest.approx(expected, abs=0.1)


def test_whoever_prefers_openmetrics_gets_it(running):
    assert list(openmetrics.text_string_to_metric_families(running["open"]))


def test_no_url_and_no_host_is_in_a_label(running):
    assert "127.0.0.1" not in running["text"]
    assert "http://" not in running["text"]


def test_the_endpoint_is_read_only_and_has_one_page(running):
    assert running["statuses"] == [405, 404]


def test_every_line_of_the_log_is_an_object_that_tells_of_which_crawl_and_url(running):
    lines = [json.loads(line) for line in running["log"]]
    assert lines[0]["message"].startswith("Scrapy ")
    fetched = [each for each in lines if each["message"].startswith("Crawled (200)")]
    assert {(each["crawl"], each["host"]) for each in fetched} == {("spa-eus", "127.0.0.1")}


def test_the_crawl_that_is_watched_is_none_the_worse(running):
    assert report(running["output"])["state"] == "finished"
    assert pairs(running["output"])
    assert documents(running["output"])


def test_a_port_in_use_is_said_before_anything_is_fetched(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = {"BILINGUAL_METRICS": address}
        printed = crawl("https://example.org/", tmp_path / "out", settings=settings, status=2)
    assert f"cannot serve metrics at {address} (Address already in use)" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("address", ["9410", ":9410", "127.0.0.1:0", "[::1]:9410", "localhost:1"])
def test_an_address_may_be_written_in_several_ways(address):
    assert Config.from_settings(BaseSettings({"BILINGUAL_METRICS": address})).metrics == address


@pytest.mark.parametrize("address", ["on", "example.org:80", "127.0.0.1", "127.0.0.1:99999"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ConfigurationError, match="BILINGUAL_METRICS must"):
        Config.from_settings(BaseSettings({"BILINGUAL_METRICS": address}))
