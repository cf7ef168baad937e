"""One crawl by two workers with one frontier, run as users run them."""

from collections import Counter

import pytest

from demo import content
from demo.site.pages import QUIRKS
from tests.support.crawling import crawl, documents, finish, pairs, report, start
from tests.support.redis_server import needs_redis, serve_redis
from tests.support.servers import serve_demo

pytestmark = [pytest.mark.crawl, needs_redis]
FAILS_ONCE = {path: 2 for path, quirk in QUIRKS.items() if quirk.fails_once}
"""A page that the sample site has only for those who ask again."""


class Crawled:
    """What two workers made of two sites, each in a folder of its own."""

    def __init__(self, servers, seeds, output, settings, printed):
        self.servers, self.seeds = servers, seeds
        self.output, self.settings, self.printed = output, settings, printed
        self.folders = sorted(path for path in output.iterdir() if path.is_dir())

    def documents(self):
        return [document for folder in self.folders for document in documents(folder)]

    def pairs(self):
        return [(pair["url1"], pair["url2"]) for folder in self.folders for pair in pairs(folder)]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    output = tmp_path_factory.mktemp("crawl") / "out"
    with serve_redis() as redis, serve_demo() as first, serve_demo() as second:
        settings = {
            "BILINGUAL_FRONTIER": redis.url,
            "BILINGUAL_LEASE_SECONDS": 60,
            "BILINGUAL_WORKER_SITES": 1,  # or the first to come would give one away half done
        }
        seeds = [first.url, second.url.replace("127.0.0.1", "localhost")]
        workers = [start(",".join(seeds), output, settings=settings) for _ in range(2)]
        printed = [finish(worker) for worker in workers]
        yield Crawled([first, second], seeds, output, settings, printed)


def test_each_worker_has_a_folder_of_its_own_and_knows_the_end(crawled):
    assert len(crawled.folders) == 2
    assert [report(folder)["state"] for folder in crawled.folders] == ["finished", "finished"]


def test_every_page_is_stored_and_none_by_two_workers(crawled):
    """The two sites have the same texts; of a text that one worker meets twice it keeps one."""
    stored = Counter(document["url"] for document in crawled.documents())
    assert max(stored.values()) == 1
    first, second = (content.storable_pages(seed) for seed in crawled.seeds)
    for here, there in zip(sorted(map(sorted, first)), sorted(map(sorted, second)), strict=True):
        assert {*here, *there} & set(stored)


def test_every_page_was_asked_for_once(crawled):
    for server, seed in zip(crawled.servers, crawled.seeds, strict=True):
        asked = Counter(server.paths())
        groups = content.storable_pages(seed)
        pages = {"/" + url.removeprefix(seed) for group in groups for url in group}
        assert {path: n for path, n in asked.items() if n > 1 and path in pages} == FAILS_ONCE
        assert all(any(asked["/" + url.removeprefix(seed)] for url in group) for group in groups)


def test_pairs_are_found_by_the_worker_that_has_the_site(crawled):
    found = crawled.pairs()
    assert found
    assert len(found) == len(set(found))
    for seed in crawled.seeds:
        wanted = content.expected_pairs(seed) | set(content.optional_pairs(seed))
        assert {pair for pair in found if pair[0].startswith(seed)} <= wanted


def test_the_reports_of_the_workers_add_up_to_the_crawl(crawled):
    told = [report(folder) for folder in crawled.folders]
    ended = sum(reason["count"] for each in told for reason in each["urls_ended"].values())
    assert ended == told[0]["urls_known"] == told[1]["urls_known"]
    assert [each["urls_waiting"] for each in told] == [0, 0]


def test_a_worker_that_is_started_again_finds_nothing_to_do(crawled):
    before = [len(server.paths()) for server in crawled.servers]
    printed = crawl(",".join(crawled.seeds), crawled.output, settings=crawled.settings)
    assert "finished" in printed
    assert [len(server.paths()) for server in crawled.servers] == before
    assert sorted(path for path in crawled.output.iterdir()) == crawled.folders


def test_the_folder_of_workers_is_not_that_of_a_crawl_without_them(crawled):
    printed = crawl(",".join(crawled.seeds), crawled.output, status=2)
    assert "holds the folders of workers" in printed
    assert "Traceback" not in printed


def test_a_crawl_without_its_server_says_so(tmp_path):
    settings = {"BILINGUAL_FRONTIER": f"unix://{tmp_path}/nothing.sock"}
    printed = crawl("http://127.0.0.1:9/", tmp_path / "out", settings=settings, status=2)
    assert "There is no Redis at" in printed
    assert "Traceback" not in printed
    assert not (tmp_path / "out").exists()
