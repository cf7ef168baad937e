"""Discovery's two queues in a real frontier."""

from scrapy import Request

from bilingual_crawler.crawl.discovery.look import PARKED, Look, RankedLink, TurnTaking
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.discovery.learner import Queue
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.memory import MemoryFrontier

HUB, SITE = Queue.BACKLINK, Queue.FORWARD
GATES: dict[str, float] = {}


def gate(host, _active, now):
    return GATES.get(host, now)


class Search:
    """A frontier with two queues, without an engine."""

    def __init__(self):
        self.frontier = MemoryFrontier(gate)
        self.turns = TurnTaking(self.frontier)
        self.kinds = {}

    def add(self, number, queue, chance):
        self.kinds[number] = queue
        host = f"s{number}.example"
        self.frontier.push(number, f"http://{host}/", host, PARKED + chance)
        self.turns.add(queue, number, chance)

    def pop(self):
        entry = self.frontier.pop(0.0)
        if entry is None:
            return None
        number = entry.fingerprint
        request = Request(entry.url)
        if number in self.kinds:
            RequestState.update(request, look=Look(self.kinds[number]).to_plain())
        self.turns.handed_out(request)
        self.frontier.end(number, State.DONE, "examined")
        return number

    def drain(self):
        return list(iter(self.pop, None))


def test_hubs_and_sites_come_out_of_the_frontier_in_turn():
    search = Search()
    for number, chance in enumerate((-5.0, -1.0, -3.0)):
        search.add(number, SITE, chance)
    search.add(10, HUB, -50.0)
    search.add(11, HUB, -40.0)
    assert search.drain() == [11, 1, 10, 2, 0]


def test_a_better_link_that_arrives_takes_the_place_of_the_next_one():
    search = Search()
    search.add(0, HUB, -2.0)
    search.add(1, HUB, -1.0)
    search.add(2, HUB, -3.0)
    assert search.drain() == [1, 0, 2]


def test_pages_that_must_come_first_do_and_pass_no_turn():
    search = Search()
    search.add(0, SITE, -1.0)
    search.add(10, HUB, -9.0)
    search.frontier.push(20, "http://checked.example/2", "checked.example", 2.0)
    search.frontier.push(21, "http://harvested.example/", "harvested.example", 0.0)
    assert search.drain() == [20, 21, 10, 0]


def test_where_the_host_of_the_next_link_is_not_free_another_link_is_taken():
    search = Search()
    search.add(0, SITE, -1.0)
    search.add(10, HUB, -9.0)
    GATES["s10.example"] = float("inf")
    assert search.pop() == 0
    del GATES["s10.example"]
    search.frontier.recheck("s10.example")
    assert search.drain() == [10]


def test_both_queues_can_be_ranked_anew():
    search = Search()
    for number, chance in enumerate((-1.0, -2.0, -3.0)):
        search.add(number, SITE, chance)
    search.turns.clear()
    for number in range(3):
        search.turns.rank(RankedLink(SITE, number, float(number) - 9))
    assert search.drain() == [2, 1, 0]
