"""A plain model of a frontier, against which the real ones are tested."""

import math
from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bilingual_crawler.frontier.entry import Pushed, State

HOSTS = ["a.example", "b.example", "c.example"]
URLS = [f"https://{host}/{number}" for host in HOSTS for number in range(6)]
PRIORITIES = st.sampled_from([0.0, 0.1, 0.5, 0.5000001, 1.0, 2.0, math.inf])
CONCURRENCY, DELAY = 2, 3.0


def run(machine, *, examples, steps):
    """Run a state machine without deadlines, because the computer may be busy."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


@dataclass
class Row:
    """A URL as the model sees it."""

    priority: float
    order: int
    state: State = State.QUEUED
    ready_at: float = 0.0


class Model(RuleBasedStateMachine):
    """A frontier as one list, searched completely for every answer."""

    def __init__(self):
        super().__init__()
        self.now = 100.0
        self.rows: dict[str, Row] = {}
        self.pushes = 0
        self.sent: dict[str, list[float]] = {host: [] for host in HOSTS}
        self.spent: set[str] = set()
        self.closed: set[str] = set()
        self.frontier = self.make()

    def make(self):
        """Return the frontier that must agree with the model."""
        raise NotImplementedError

    def shelved_hosts(self):
        """Return the hosts that the frontier has shelved."""
        raise NotImplementedError

    def gate(self, host, active, now):
        if host in self.spent:
            return None
        if active >= CONCURRENCY:
            return math.inf
        return max([now, *(time + DELAY for time in self.sent[host])])

    @staticmethod
    def host(url):
        return url.split("/")[2]

    @staticmethod
    def key(url):
        return URLS.index(url) - 7

    def active(self, host):
        return sum(
            row.state is State.LEASED for url, row in self.rows.items() if self.host(url) == host
        )

    def queued(self):
        return {
            url: row
            for url, row in self.rows.items()
            if row.state is State.QUEUED and self.host(url) not in self.closed
        }

    def leased(self):
        return sorted(url for url, row in self.rows.items() if row.state is State.LEASED)

    @rule(url=st.sampled_from(URLS), priority=PRIORITIES, again=st.booleans())
    def push(self, url, priority, again):
        row = self.rows.get(url)
        pushed = self.frontier.push(self.key(url), url, self.host(url), priority, again=again)
        if row is None or (again and row.state in (State.DONE, State.FAILED)):
            self.pushes += 1
            self.rows[url] = Row(priority, self.pushes)
            assert pushed is Pushed.NEW
        elif row.state is State.QUEUED and priority > row.priority:
            row.priority = priority
            assert pushed is Pushed.RAISED
        else:
            assert pushed is Pushed.KNOWN

    @rule(url=st.sampled_from(URLS), priority=PRIORITIES, times=st.sampled_from([1, 1, 1, 5, 9]))
    def set_priority(self, url, priority, times):
        """Change a priority, once or, to pile up stale tuples, many times."""
        row = self.rows.get(url)
        for number in range(times - 1):
            self.frontier.set_priority(self.key(url), 3.0 + number)
        changed = self.frontier.set_priority(self.key(url), priority)
        if row is None or row.state is not State.QUEUED:
            assert not changed
        else:
            assert changed is (times > 1 or priority != row.priority)
            row.priority = priority

    @rule(url=st.sampled_from(URLS), priority=PRIORITIES)
    def raise_priority(self, url, priority):
        row = self.rows.get(url)
        rises = row is not None and row.state is State.QUEUED and priority > row.priority
        assert self.frontier.raise_priority(self.key(url), priority) is rises
        if rises:
            row.priority = priority

    @rule()
    def pop(self):
        """Check that nothing of a host without budget is handed out."""
        expected = self.best_that_may_go()
        entry = self.frontier.pop(self.now)
        self.closed = self.shelved_hosts()
        assert self.closed <= self.spent
        assert (entry and entry.url) == expected
        if entry is not None:
            self.rows[entry.url].state = State.LEASED
            self.sent[entry.host].append(self.now)
        elif self.queued() and not self.leased():
            assert self.frontier.wake_at() > self.now

    def best_that_may_go(self):
        for url, row in sorted(self.queued().items(), key=lambda x: (-x[1].priority, x[1].order)):
            host = self.host(url)
            opens = self.gate(host, self.active(host), self.now)
            if row.ready_at <= self.now and opens is not None and opens <= self.now:
                return url
        return None

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0, 10.0]))
    def wait(self, seconds):
        self.now += seconds

    @precondition(lambda self: self.leased())
    @rule(data=st.data(), state=st.sampled_from([State.DONE, State.FAILED]))
    def end(self, data, state):
        url = data.draw(st.sampled_from(self.leased()))
        self.frontier.end(self.key(url), state, "stored")
        self.rows[url].state = state

    @precondition(lambda self: self.leased())
    @rule(data=st.data(), seconds=st.sampled_from([0.0, 2.0, 20.0]))
    def retry(self, data, seconds):
        url = data.draw(st.sampled_from(self.leased()))
        self.frontier.retry(self.key(url), self.now + seconds, None)
        self.rows[url].state = State.QUEUED
        self.rows[url].ready_at = self.now + seconds

    @rule(host=st.sampled_from(HOSTS))
    def spend_budget(self, host):
        self.spent.add(host)

    @rule()
    def look_at_the_best(self):
        ready = {url: row for url, row in self.queued().items() if not row.ready_at}
        order = sorted(ready, key=lambda url: (-ready[url].priority, ready[url].order))
        seen = [entry.url for entry in self.frontier.top(3)]
        assert seen == order[:3] or any(row.ready_at for row in self.queued().values())

    @invariant()
    def counts_and_states_agree(self):
        assert len(self.frontier) == len(self.queued())
        ended = [row for row in self.rows.values() if row.state in (State.DONE, State.FAILED)]
        assert sum(self.frontier.outcomes.values()) == len(ended)
        for url in URLS:
            row = self.rows.get(url)
            assert self.frontier.state_of(self.key(url)) == (None if row is None else row.state)
