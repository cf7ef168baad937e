"""Foreign data in Redis neither stops a worker nor keeps it waiting."""

import struct
import time
from itertools import count

import msgpack
import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.frontier.shared.link import RedisScripts
from bilingual_crawler.frontier.shared.records import RecordError, pack_body, unpack_body
from bilingual_crawler.frontier.shared.sites import Lease, Member
from bilingual_crawler.frontier.shared.view import open_shared_view
from bilingual_crawler.frontier.view import UrlSelection
from bilingual_crawler.store.journal import Journal
from tests.support.redis_server import needs_redis, serve_redis

pytestmark = needs_redis
HOSTS = ("a.example", "www.a.example", "b.example", "c.example")
URLS = 3
PREFIXES = (f"poison-{number}" for number in count())
BAD_PLACE = struct.pack(">Q", 1 << 53)
ONE = struct.pack(">d", 1.0)
NAN = struct.pack(">d", float("nan"))


@pytest.fixture(scope="module")
def server():
    with serve_redis() as running:
        yield running


class Poisoned:
    """A crawl with some URLs that a worker has left, and its keys."""

    def __init__(self, server, folder):
        self.server, self.client = server, server.client
        self.folder = folder
        self.prefix = next(PREFIXES)
        self.journals = []
        frontier = self.worker("first")
        for at, host in enumerate(HOSTS):
            for number in range(URLS):
                fingerprint = 100 * at + number
                frontier.push(fingerprint, f"https://{host}/{number}", host, -float(fingerprint))
        entry = frontier.pop(time.monotonic())
        frontier.end(entry.fingerprint, State.FAILED, "timeout")
        self.ended = entry.url
        frontier.close()

    def key(self, name):
        return f"{{{self.prefix}}}:{name}"

    def worker(self, name="second"):
        journal = Journal(self.folder / f"{name}-{len(self.journals)}.sqlite")
        self.journals.append(journal)
        link = RedisScripts(self.client, self.prefix, name)
        return RedisFrontier(link, journal, member=Member(name, "spa-eus"), lease=Lease(60.0))

    def good(self):
        """The URLs that wait."""
        return {f"https://{host}/{number}" for host in HOSTS for number in range(URLS)} - {
            self.ended
        }

    def drain(self):
        """Return all URLs that a worker gets until the crawl is over, which must not take long."""
        frontier, found = self.worker(), set()
        for _ in range(2000):
            entry = frontier.pop(time.monotonic())
            if entry is not None:
                found.add(entry.url)
                frontier.end(entry.fingerprint, State.DONE, "stored")
            elif not frontier.pending():
                break
            else:
                self.journals[-1].checkpoint(wait=True)
                frontier.keep_up()
                frontier.recheck("none")
                frontier._is_urgent = True
        else:
            raise AssertionError("the worker waits for what never comes")
        list(frontier.queued())
        frontier.top(10)
        frontier.close()
        return found, frontier


@pytest.fixture
def crawl(server, tmp_path):
    made = Poisoned(server, tmp_path)
    yield made
    for journal in made.journals:
        journal.close()
    server.client.flushall()


def queue_bytes(record, *, priority=1e9, fingerprint=b"poisoned"):
    """Queue a record at the front of a host."""

    def poison(crawl):
        host = HOSTS[0]
        crawl.client.hset(crawl.key(f"urls:{host}"), fingerprint, record)
        best = crawl.client.zrevrange(crawl.key(f"queue:{host}"), 0, 0)[0]
        crawl.client.zadd(crawl.key(f"queue:{host}"), {BAD_PLACE + fingerprint: priority})
        for name in ("heads", "ready:"):
            crawl.client.zrem(crawl.key(name), best[:8] + host.encode())
            crawl.client.zadd(crawl.key(name), {BAD_PLACE + host.encode(): priority})

    return poison


def waiting(body, place=BAD_PLACE, priority=ONE, state=b"\0"):
    return state + b"\0" + place + priority + body


def hset(name, field, value):
    return lambda crawl: crawl.client.hset(crawl.key(name), field, value)


def zadd(name, member, score):
    return lambda crawl: crawl.client.zadd(crawl.key(name), {member: score})


def wrong_type(name):
    def poison(crawl):
        crawl.client.delete(crawl.key(name))
        crawl.client.rpush(crawl.key(name), "a list")

    return poison


def ghost_owner(crawl):
    """A worker that does not exist holds a site, with its hosts in lists of its own."""
    host = HOSTS[2]
    label = next(
        each for each in crawl.client.zrange(crawl.key("heads"), 0, -1) if host.encode() in each
    )
    crawl.client.hset(crawl.key(f"site:{host}"), "worker", "ghost")
    crawl.client.zrem(crawl.key("ready:"), label)


def never_ending_lease(crawl):
    """A worker that lives for ever has a URL in flight."""
    ghost = crawl.worker("ghost")
    assert ghost.pop(time.monotonic())
    crawl.client.zadd(crawl.key("workers"), {"ghost": float("inf")})


def poisoned_in_flight(record):
    def poison(crawl):
        ghost = crawl.worker("ghost")
        entry = ghost.pop(time.monotonic())
        crawl.lost = entry.url
        raw = entry.fingerprint.to_bytes(8, "big", signed=True)
        crawl.client.hset(crawl.key(f"urls:{entry.host}"), raw, record)
        crawl.client.zadd(crawl.key("workers"), {"ghost": 1})

    return poison


GOOD_BODY = pack_body("https://a.example/p", "a.example", None)
HARMLESS = {
    "an empty record": queue_bytes(b""),
    "a state alone": queue_bytes(b"\0"),
    "a cut record": queue_bytes(b"\0\0" + BAD_PLACE + b"\0\0\0"),
    "no body": queue_bytes(waiting(b"")),
    "an unknown state": queue_bytes(waiting(GOOD_BODY, state=b"\x09")),
    "a priority that is no number": queue_bytes(waiting(GOOD_BODY, priority=NAN)),
    "a later that is no number": queue_bytes(waiting(GOOD_BODY, priority=NAN, state=b"\4")),
    "a record in another state": queue_bytes(waiting(GOOD_BODY, state=b"\1")),
    "a record of another place": queue_bytes(waiting(GOOD_BODY, place=b"elsewher")),
    "a body that is cut": queue_bytes(waiting(b"\xc4\xff")),
    "a body that is a number": queue_bytes(waiting(b"\x01")),
    "a body that is a map": queue_bytes(waiting(msgpack.packb({"a": 1}))),
    "a body of three": queue_bytes(waiting(msgpack.packb([b"a", b"b", b"c"]))),
    "a payload that is a number": queue_bytes(waiting(msgpack.packb([b"/a", 1]))),
    "a body of nested lists": queue_bytes(waiting(b"\x91" * 5000)),
    "a body that is no text": queue_bytes(waiting(msgpack.packb(b"\xff\xfe"))),
    "a huge record": queue_bytes(waiting(b"\xc6" + b"x" * 3_000_000)),
    "a short fingerprint": queue_bytes(waiting(GOOD_BODY), fingerprint=b"abc"),
    "a long fingerprint": queue_bytes(waiting(GOOD_BODY), fingerprint=b"a" * 300),
    "an endless priority": queue_bytes(waiting(b"\xc1"), priority=float("inf")),
    "a member without a record": zadd("queue:b.example", BAD_PLACE + b"nowhere!", 1e9),
    "a short member": zadd("queue:b.example", b"x", 1e9),
    "a head without a host": zadd("heads", b"12345678nowhere.example", 1e9),
    "a ready host without a queue": zadd("ready:", b"12345678nowhere.example", 1e9),
    "a ready host that is short": zadd("ready:", b"1", 1e9),
    "a host that is no text": zadd("ready:", b"12345678\xff\xfe", float("inf")),
    "a retry without a record": zadd("later", b"12345678nowhere.example", 1),
    "a retry in a thousand years": zadd("later", b"12345678nowhere.example", 1e12),
    "a flight without a record": zadd("flight:second", b"12345678nowhere.example", 1),
    "a host that waits for ever": hset("host:b.example", "next", "inf"),
    "a host that waits for long": hset("host:b.example", "next", "1e300"),
    "a time that is none": hset("host:b.example", "next", "soon"),
    "a delay that is none": hset("host:b.example", "delay", "nan"),
    "a delay without end": hset("host:b.example", "delay", "1e300"),
    "later that is none": hset("host:b.example", "later", "many"),
    "flight that is none": hset("site:b.example", "flight", "nan"),
    "queued that is none": hset("site:b.example", "queued", "1e999"),
    "pages that are none": hset("site:b.example", "pages", "\udcff".encode("utf-8", "replace")),
    "counts of queued": hset("counts", "queued", 10**15),
    "counts of flight": hset("counts", "flight", 10**15),
    "counts that are none": hset("counts", "queued", "inf"),
    "counts that overflow": hset("counts", "known", 2**63 - 1),
    "counts that are text": hset("counts", "sequence", "first"),
    "codes that are none": hset("codes", "stored", "999"),
    "words that are none": hset("words", "one", b"\xff"),
    "a foreign host": lambda crawl: crawl.client.sadd(crawl.key("hosts:a.example"), "victim.org"),
    "a shelved host": lambda crawl: crawl.client.sadd(crawl.key("shelved"), "nowhere.example"),
    "a site of nobody": lambda crawl: crawl.client.sadd(crawl.key("sites:second"), b"\xff\xfe"),
    "queue of a foreign type": wrong_type("queue:nowhere.example"),
    "flight of a foreign type": wrong_type("flight:second"),
    "sites of a foreign type": wrong_type("sites:second"),
    "worker of a foreign type": wrong_type("worker:second"),
    "site of a foreign type": wrong_type("site:b.example"),
    "an owner that is not there": ghost_owner,
    "a lease without end": never_ending_lease,
}


@pytest.mark.parametrize("poison", HARMLESS.values(), ids=HARMLESS)
def test_a_worker_gets_everything_that_is_good_and_ends(crawl, poison):
    poison(crawl)
    found, _ = crawl.drain()
    assert crawl.good() <= found
    assert found - crawl.good() <= {"https://a.example/p"}


COSTLY = {
    "urls": (wrong_type("urls:b.example"), "b.example"),
    "queue": (wrong_type("queue:b.example"), "b.example"),
    "host": (wrong_type("host:b.example"), "b.example"),
    "ready": (wrong_type("ready:"), ""),
}


@pytest.mark.parametrize(("poison", "host"), COSTLY.values(), ids=COSTLY)
def test_what_is_replaced_takes_no_other_host_with_it(crawl, poison, host):
    poison(crawl)
    found, _ = crawl.drain()
    assert {url for url in crawl.good() if not host or f"//{host}/" not in url} <= found
    assert crawl.client.keys(crawl.key("damaged:*"))


@pytest.mark.parametrize("record", [b"", b"\1\0", waiting(b"\xc1", state=b"\1")])
def test_a_record_that_breaks_in_flight_is_not_waited_for(crawl, record):
    poisoned_in_flight(record)(crawl)
    found, _ = crawl.drain()
    assert crawl.good() - {crawl.lost} <= found


def test_what_is_dropped_is_counted_and_logged(crawl, caplog):
    HARMLESS["a body that is cut"](crawl)
    HARMLESS["a priority that is no number"](crawl)
    _, frontier = crawl.drain()
    assert frontier.dropped >= 1
    assert "cannot have been written by a worker of this crawl" in caplog.text
    assert int(crawl.client.hget(crawl.key("counts"), "dropped")) == frontier.dropped


def test_an_untouched_frontier_drops_nothing(crawl):
    found, frontier = crawl.drain()
    assert found == crawl.good()
    assert frontier.dropped == 0


def test_only_hosts_of_a_site_are_taken_with_it(crawl):
    crawl.client.sadd(crawl.key("hosts:a.example"), "victim.org")
    taken = []
    journal = Journal(crawl.folder / "third.sqlite")
    crawl.journals.append(journal)
    frontier = RedisFrontier(
        RedisScripts(crawl.client, crawl.prefix, "third"),
        journal,
        member=Member("third", "spa-eus"),
        on_site=lambda _site, hosts, _pages: taken.extend(hosts),
    )
    while frontier.pop(time.monotonic()):
        pass
    assert set(taken) == set(HOSTS)


@pytest.mark.parametrize("version", ["2", "", "one", "999999999999", b"\xff"])
def test_a_frontier_of_another_version_is_refused(crawl, version):
    crawl.client.hset(crawl.key("crawl"), "format", version)
    before = crawl.client.hgetall(crawl.key("crawl"))
    with pytest.raises(ConfigurationError, match="another version of the crawler"):
        crawl.worker()
    assert crawl.client.hgetall(crawl.key("crawl")) == before
    with pytest.raises(ConfigurationError, match="another version of the crawler"):
        open_shared_view(crawl.server.url, crawl.prefix)


def test_a_frontier_without_a_version_is_refused(crawl):
    crawl.client.hdel(crawl.key("crawl"), "format")
    with pytest.raises(ConfigurationError, match="another version of the crawler"):
        crawl.worker()


@pytest.mark.parametrize("name", ["counts", "workers", "heads", "later", "work", "all_hosts"])
def test_keys_that_are_somebody_elses_are_left_alone(crawl, name):
    wrong_type(name)(crawl)
    with pytest.raises(ConfigurationError, match=f"{name} is of another type"):
        crawl.worker()
    assert crawl.client.lrange(crawl.key(name), 0, -1) == [b"a list"]


READABLE = {name: each for name, each in HARMLESS.items() if "foreign type" not in name}


@pytest.mark.parametrize("poison", READABLE.values(), ids=READABLE)
def test_the_view_shows_what_is_good(crawl, poison):
    poison(crawl)
    view = open_shared_view(crawl.server.url, crawl.prefix)
    view.status()
    assert crawl.good() <= {each.url for each in view.urls()}
    list(view.top(100))
    list(view.hosts())
    view.requeue_failed(UrlSelection())
    view.close()


@pytest.mark.parametrize(
    "body", [b"", b"\xc4", b"\x90", b"\x93\1\2\3", b"\xd6\xff\0\0\0\0", b"\xc0"]
)
def test_a_body_that_is_none_of_ours_is_told(body):
    with pytest.raises(RecordError):
        unpack_body(body, "a.example")
