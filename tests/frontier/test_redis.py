"""Several workers on one frontier in Redis, some of which die."""

from itertools import count

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.frontier.shared.link import RedisScripts
from bilingual_crawler.frontier.shared.sites import Lease, Member
from bilingual_crawler.store.journal import Journal
from tests.support.redis_server import needs_redis, serve_redis

pytestmark = needs_redis
LEASE, DELAY = 30.0, 5.0
PREFIXES = (f"test-{number}" for number in count())


@pytest.fixture(scope="module")
def server():
    with serve_redis() as running:
        yield running


class Crawl:
    """Workers that share a frontier and a clock that only the test moves."""

    def __init__(self, server, folder):
        self.server = server
        self.folder = folder
        self.prefix = next(PREFIXES)
        self.now = 1000.0
        self.journals = {}
        self.closed = set()

    def worker(self, name="one", *, delay=0.0, most_sites=100, identity=None):
        journal = self.journals.get(name)
        if journal is not None:
            journal.close()
        journal = self.journals[name] = Journal(self.folder / f"{name}.sqlite")
        link = RedisScripts(
            self.server.client, self.prefix, name, clock=lambda: self.now, virtual=True
        )
        return RedisFrontier(
            link,
            journal,
            self.gate,
            member=Member(identity or name, "spa-eus"),
            lease=Lease(LEASE, most_sites),
            delay_of=lambda _host: delay,
        )

    def gate(self, host, _active, now):
        return float("inf") if host in self.closed else now

    def pop(self, worker):
        entry = worker.pop(self.now)
        return entry and entry.url

    def drain(self, worker):
        return list(iter(lambda: self.pop(worker), None))

    def save(self, worker, name="one"):
        """Make a checkpoint and a round trip."""
        self.journals[name].checkpoint(wait=True)
        worker.keep_up()

    def close(self):
        for journal in self.journals.values():
            journal.close()


@pytest.fixture
def crawl(server, tmp_path):
    workers = Crawl(server, tmp_path)
    yield workers
    workers.close()
    server.client.flushall()


def url(site, number):
    return f"https://{site}.example/{number}"


def key(site, number):
    return ord(site) * 1000 + number


def push(worker, site, numbers, priority=1.0):
    for number in numbers:
        worker.push(key(site, number), url(site, number), f"{site}.example", priority)
    worker.keep_up()


def test_a_site_goes_to_one_worker_and_all_of_it(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", range(3))
    push(one, "b", range(3))
    assert [crawl.pop(one), crawl.pop(two)] == [url("a", 0), url("b", 0)]
    assert crawl.drain(one) == [url("a", 1), url("a", 2)]
    assert crawl.drain(two) == [url("b", 1), url("b", 2)]


def test_no_url_goes_to_two_workers_however_often_it_is_pushed(crawl):
    workers = [crawl.worker(name) for name in ("one", "two", "three")]
    popped = []
    for turn in range(30):
        for worker in workers:
            for site in "abcdefg":
                push(worker, site, [turn % 7, turn % 5], priority=float(turn))
            popped.append(crawl.pop(worker))
    popped = [each for each in popped if each]
    assert len(popped) == len(set(popped)) > 20


def test_workers_share_the_sites_evenly(crawl):
    workers = [crawl.worker(name) for name in ("one", "two", "three")]
    for site in "abcdef":
        push(workers[0], site, range(4))
    for worker in workers:
        crawl.drain(worker)
    assert [len(worker.sites) for worker in workers] == [2, 2, 2]


def test_a_worker_that_comes_late_is_given_a_site_when_nothing_of_it_is_in_flight(crawl):
    one = crawl.worker("one")
    for number in range(3):
        for site in "ab":
            push(one, site, [number])
    assert [crawl.pop(one), crawl.pop(one)] == [url("a", 0), url("b", 0)]
    two = crawl.worker("two")
    assert crawl.pop(two) is None
    assert crawl.pop(one) is not None
    assert len(one.sites) == 1
    crawl.now += 1.0
    assert crawl.pop(two) is None, "a page of the site is still in flight"
    for fingerprint in list(one._flight):
        one.end(fingerprint, State.DONE, "stored")
    crawl.save(one)
    crawl.now += 1.0
    assert crawl.pop(two) is not None
    assert sorted(one.sites + two.sites) == ["a.example", "b.example"]


def test_the_best_url_of_all_comes_first_whoever_pushed_it(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", [0], priority=1.0)
    push(two, "a", [1], priority=3.0)
    push(one, "a", [2], priority=2.0)
    push(two, "a", [0], priority=4.0)
    assert crawl.drain(one) == [url("a", 0), url("a", 1), url("a", 2)]


def test_what_a_dead_worker_held_is_free_when_its_lease_ends(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", range(3))
    assert crawl.pop(one) == url("a", 0)
    two.keep_up()
    crawl.now += LEASE - 1
    two.keep_up()
    assert crawl.pop(two) is None
    assert two.pending()
    crawl.now += 2
    assert crawl.drain(two) == [url("a", 0), url("a", 1), url("a", 2)]


def test_a_host_rests_after_the_lease_of_a_dead_worker(crawl):
    one, two = crawl.worker("one", delay=DELAY), crawl.worker("two", delay=DELAY)
    push(one, "a", range(3))
    assert crawl.pop(one) == url("a", 0)
    crawl.now += LEASE + 1
    assert crawl.pop(two) is None
    assert two.wake_at() <= crawl.now + 1.0
    crawl.now += DELAY - 1
    assert crawl.pop(two) == url("a", 0)


def test_a_host_rests_after_it_is_given_back(crawl):
    one, two = crawl.worker("one", delay=DELAY), crawl.worker("two", delay=DELAY)
    push(one, "a", range(3))
    assert crawl.pop(one) == url("a", 0)
    one.end(key("a", 0), State.DONE, "stored")
    one.close()
    assert crawl.pop(two) is None
    crawl.now += DELAY
    assert crawl.pop(two) == url("a", 1)


def test_a_worker_that_stops_gives_its_sites_and_urls_back_at_once(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", range(2))
    assert crawl.drain(one) == [url("a", 0), url("a", 1)]
    one.end(key("a", 0), State.DONE, "stored")
    one.close()
    assert crawl.drain(two) == [url("a", 1)]


def test_a_worker_that_is_started_again_goes_on_with_its_sites(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", range(3))
    assert crawl.pop(one) == url("a", 0)
    one = crawl.worker("one")
    assert one.sites == ["a.example"]
    assert crawl.pop(two) is None
    assert crawl.drain(one) == [url("a", 0), url("a", 1), url("a", 2)]


def test_an_end_is_told_only_when_the_journal_has_it(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", range(2))
    crawl.pop(one)
    one.end(key("a", 0), State.DONE, "stored")
    one.keep_up()
    crawl.now += LEASE + 1
    assert crawl.pop(two) == url("a", 0), "a kill before the checkpoint loses the document"


def test_an_end_that_was_on_disk_before_a_kill_is_told_by_the_next_run(crawl):
    one = crawl.worker("one")
    push(one, "a", range(2))
    crawl.pop(one)
    one.end(key("a", 0), State.DONE, "stored")
    crawl.journals["one"].checkpoint(wait=True)
    one = crawl.worker("one")
    assert one.state_of(key("a", 0)) is State.DONE
    assert crawl.drain(one) == [url("a", 1)]
    assert one.outcomes == {"stored": 1}


def test_a_worker_that_was_given_up_cannot_change_what_another_has(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", range(3))
    assert [crawl.pop(one), crawl.pop(one)] == [url("a", 0), url("a", 1)]
    crawl.now += LEASE + 1
    assert crawl.pop(two) == url("a", 0)
    one.end(key("a", 0), State.FAILED, "http_500")
    one.retry(key("a", 1), crawl.now + 1000.0, None)
    one.set_priority(key("a", 2), 0.0)
    crawl.save(one)
    assert crawl.drain(two) == [url("a", 1), url("a", 2)]
    assert two.fenced == 2
    two.end(key("a", 0), State.DONE, "stored")
    crawl.save(two, "two")
    assert two.fenced == 2


def test_a_page_that_was_fetched_when_the_lease_was_lost_is_not_fetched_again(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", range(2))
    assert crawl.pop(one) == url("a", 0)
    crawl.now += LEASE + 1
    crawl.closed = {"a.example"}
    assert crawl.pop(two) is None
    one.end(key("a", 0), State.DONE, "stored")
    crawl.save(one)
    crawl.closed.clear()
    two.recheck("a.example")
    assert crawl.drain(two) == [url("a", 1)]
    assert two.fenced == 0


def test_a_url_whose_answer_was_lost_comes_again(crawl):
    one = crawl.worker("one")
    push(one, "a", range(2))
    assert crawl.pop(one) == url("a", 0)
    one._pops -= 1
    one._flight.clear()
    one.recheck("a.example")
    assert crawl.pop(one) == url("a", 0)
    assert crawl.pop(one) == url("a", 1)


def test_a_host_that_the_own_gate_closes_is_left_out(crawl):
    one = crawl.worker("one")
    push(one, "a", range(2), priority=5.0)
    push(one, "b", range(1))
    crawl.closed = {"a.example"}
    assert crawl.pop(one) == url("b", 0)
    assert len(one) == 2
    crawl.closed.clear()
    one.recheck("a.example")
    assert crawl.drain(one) == [url("a", 0), url("a", 1)]


def test_a_worker_waits_for_what_others_have_in_flight(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", [0])
    crawl.pop(one)
    assert crawl.pop(two) is None
    assert two.pending()
    one.end(key("a", 0), State.DONE, "stored")
    crawl.save(one)
    crawl.now += 1.0
    assert crawl.pop(two) is None
    assert not two.pending()


def test_links_to_the_sites_of_others_are_known_after_one_question(crawl):
    one, two = crawl.worker("one"), crawl.worker("two")
    push(one, "a", range(3))
    crawl.pop(one)
    two.prefetch([(key("a", 0), "a.example"), (key("a", 1), "a.example"), (99, "a.example")])
    assert two.state_of(key("a", 0)) is State.LEASED
    assert two.state_of(key("a", 1)) is State.QUEUED
    assert 99 not in two


def test_pages_of_a_site_are_counted_over_all_workers(crawl):
    one = crawl.worker("one")
    push(one, "a", range(3))
    crawl.pop(one)
    one.end(key("a", 0), State.DONE, "stored")
    one.close()
    told = []
    two = crawl.worker("two")
    two._sites._on_site = lambda *facts: told.append(facts)
    crawl.pop(two)
    assert told == [("a.example", ["a.example"], 1)]


def test_two_workers_cannot_have_one_name(crawl):
    crawl.worker("one")
    with pytest.raises(ConfigurationError, match="Another worker of the crawl is called one"):
        crawl.worker("one", identity="somebody else")


def test_a_frontier_belongs_to_its_languages(crawl):
    one = crawl.worker("one")
    one._member = Member("one", "eng-fra")
    one._link.token = ""
    with pytest.raises(ConfigurationError, match="crawl for spa-eus, not eng-fra"):
        one._join()


def test_a_url_that_is_wanted_again_before_its_end_is_told_comes_again(crawl):
    one = crawl.worker("one")
    push(one, "a", [0])
    for save in (lambda: None, crawl.journals["one"].checkpoint):
        assert crawl.pop(one) == url("a", 0)
        one.end(key("a", 0), State.DONE, "stored")
        save()
        one.push(key("a", 0), url("a", 0), "a.example", 1.0, again=True)
    crawl.save(one)
    assert crawl.pop(one) == url("a", 0)
    assert one.outcomes["stored"] == 0
