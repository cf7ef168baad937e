"""Whole searches for bilingual sites, over HTTP, in a web of some dozens of sites."""

import json

import pytest

from tests.support.crawling import crawl, documents, kill, pairs, report, start
from tests.support.servers import serve_web
from tests.support.synthetic_web.server import SEARCH_ENGINE
from tests.support.synthetic_web.web import Kind, Web

pytestmark = pytest.mark.crawl

SITES, SEED, SHARE = 70, 4, 0.35
WEB = Web(SITES, SEED, SHARE)
CLOSED = "bank36.es"
SEEDS = ",".join(WEB.seeds(4))
ENGINE = f"http:http://{SEARCH_ENGINE}/?to={{site}}#results.source"
SETTINGS = {
    "BILINGUAL_BACKLINKS": ENGINE,
    "BILINGUAL_BACKLINKS_DELAY": 0,
    "BILINGUAL_DISCOVERY_LEARN_AFTER": 20,
    "BILINGUAL_CHECKPOINT_SECONDS": 0.1,
}


def options(server, **more):
    return {"proxy": server.url, "langs": "eng-spa", "settings": SETTINGS} | more


def found(output):
    with (output / "sites.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


def hosts(output):
    return sorted(site["site"] for site in found(output))


@pytest.fixture(scope="module")
def server():
    with serve_web(SITES, SEED, SHARE, delay=0.01, closed=CLOSED) as server:
        yield server


@pytest.fixture(scope="module")
def search(server, tmp_path_factory):
    """A search to its end: the folder, and what was printed."""
    output = tmp_path_factory.mktemp("discovery") / "out"
    return output, crawl(SEEDS, output, spider="discovery", **options(server))


def test_every_site_that_is_found_is_bilingual_and_found_once(search):
    output, _ = search
    assert set(hosts(output)) <= WEB.bilingual
    assert len(hosts(output)) == len(set(hosts(output)))
    assert len(hosts(output)) >= 4


def test_a_site_comes_with_its_languages_entry_pages_and_evidence(search):
    output, _ = search
    for site in found(output):
        assert site["bilingual"] == "yes"
        assert 0.8 <= site["likelihood"] <= 1
        assert site["languages"].keys() == site["entry_pages"].keys() == {"eng", "spa"}
        assert all(site["site"] in url for url in site["entry_pages"].values())
        assert all(each["detail"].endswith(".") for each in site["evidence"])
        assert 2 <= site["downloads"] <= 10


def test_the_report_and_the_summary_tell_of_sites(search):
    output, printed = search
    told = report(output)
    sites = told["sites"]
    assert told["state"] == "finished"
    assert told["files"] == {"sites": "sites.jsonl"}
    assert sites["bilingual"] == len(found(output)) == told["yield"][-1][1]
    assert sites["bilingual"] < sites["examined"] <= SITES
    assert 1 <= sites["downloads_a_site"] < 4
    assert f"{sites['bilingual']} bilingual sites of English and Spanish" in printed
    assert "the best signs of backlink links" in printed
    assert not (output / "pairs.jsonl").exists()


def test_a_site_that_opts_out_is_left_alone(search):
    output, _ = search
    assert CLOSED in WEB.bilingual
    assert CLOSED not in hosts(output)
    assert report(output)["opt_out_hosts"] == {CLOSED: {"noai": 1}}


def test_each_site_is_asked_for_few_pages(search):
    output, _ = search
    assert report(output)["urls_ended"]["examined"]["count"] <= 3 * SITES


def test_a_search_that_is_killed_again_and_again_finds_the_same_with_one_queue_and_with_two(
    server, search, tmp_path
):
    output = tmp_path / "out"
    for requests, queues in ((30, "two"), (40, "one")):
        settings = SETTINGS | {"BILINGUAL_DISCOVERY_QUEUES": queues}
        process = start(SEEDS, output, spider="discovery", **options(server, settings=settings))
        server.wait_for_requests(requests, process)
        kill(process)
    server.release()
    settings = SETTINGS | {"BILINGUAL_DISCOVERY_QUEUES": "two"}
    crawl(SEEDS, output, spider="discovery", **options(server, settings=settings))
    uninterrupted, _ = search
    assert hosts(output) == hosts(uninterrupted)
    assert report(output)["state"] == "finished"


def test_sites_that_are_found_can_be_harvested_in_the_same_run(server, search, tmp_path):
    output = tmp_path / "out"
    settings = SETTINGS | {"BILINGUAL_SCORER": "rules"}
    crawl(SEEDS, output, arguments={"discover": 1}, **options(server, settings=settings))
    uninterrupted, _ = search
    assert hosts(output) == hosts(uninterrupted)
    kept = {document["url"].split("/")[2] for document in documents(output)}
    assert kept == set(hosts(output)), "and nothing of any other site"
    homes = {tuple(sorted(site["entry_pages"].values())) for site in found(output)}
    harvested = {tuple(sorted((pair["url1"], pair["url2"]))) for pair in pairs(output)}
    assert len(homes & harvested) >= len(homes) / 2
    kinds = {WEB.by_host[host].kind for host in kept}
    assert kinds == {Kind.BILINGUAL}


def test_a_source_of_backlinks_may_be_a_class_of_the_user(server, search, tmp_path):
    output = tmp_path / "out"
    source = "python:tests.support.synthetic_web.provider.WebBacklinks"
    settings = SETTINGS | {"BILINGUAL_BACKLINKS": source}
    printed = crawl(SEEDS, output, spider="discovery", **options(server, settings=settings))
    assert "No backlinks from WebBacklinks (raised) LookupError: no page links to" in printed
    asked, _ = search
    assert hosts(output) == hosts(asked)
