"""The embedded frontier against a plain model."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis.stateful import invariant, rule

from bilingual_crawler.frontier import memory
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.frontier.memory import MemoryFrontier
from bilingual_crawler.store.journal import Journal
from tests.support.frontier_model import HOSTS, URLS, Model, run


@pytest.fixture(autouse=True)
def _sweep_often(monkeypatch):
    monkeypatch.setattr(memory, "FEW", 2)


class MemoryModel(Model):
    """The heaps, which must not grow with the changes of URLs."""

    def make(self):
        return MemoryFrontier(self.gate)

    def shelved_hosts(self):
        return {name for name, host in self.frontier._hosts.items() if host.shelved}

    @invariant()
    def heaps_stay_as_small_as_the_queue(self):
        for host in self.frontier._hosts.values():
            assert len(host.heap) <= 2 * len(URLS) + memory.FEW + 1
        assert len(self.frontier._ready) <= 4 * len(HOSTS) + memory.FEW + 1


def test_the_memory_frontier_gives_what_the_model_says():
    run(MemoryModel, examples=150, steps=60)


@pytest.mark.parametrize("times", range(12))
def test_a_url_comes_out_when_a_better_one_sinks_below_it(times):
    frontier = MemoryFrontier()
    frontier.push(1, URLS[0], HOSTS[0], 5.0)
    frontier.push(2, URLS[1], HOSTS[0], 1.0)
    for number in range(times):
        frontier.set_priority(1, 6.0 + number)
    frontier.set_priority(1, 0.5)
    assert [frontier.pop(0.0).url, frontier.pop(0.0).url] == [URLS[1], URLS[0]]


class JournaledModel(MemoryModel):
    """The same with crashes: at any moment a new frontier is made from the journal."""

    def __init__(self):
        self.folder = TemporaryDirectory()
        self.journal = Journal(Path(self.folder.name) / "crawl.sqlite")
        super().__init__()

    def make(self):
        return JournaledFrontier(self.journal, self.gate)

    @rule()
    def checkpoint_and_crash(self):
        self.journal.checkpoint(wait=True)
        self.journal.close()
        self.journal = Journal(Path(self.folder.name) / "crawl.sqlite")
        for row in self.rows.values():
            if row.state is State.LEASED:
                row.state = State.QUEUED
            if row.ready_at:
                row.ready_at = 0.0
        self.closed.clear()
        self.frontier = self.make()
        self.wake_delayed()

    def wake_delayed(self):
        """Make every retry due, because the clock of the model is not that of the journal."""
        for _, _, fingerprint in list(self.frontier._delayed):
            entry = self.frontier._entries[fingerprint]
            entry.ready_at = 0.0
            self.frontier._offer(self.frontier._hosts[entry.host], entry)
        self.frontier._delayed.clear()

    def teardown(self):
        self.journal.close()
        self.folder.cleanup()


def test_the_journaled_frontier_keeps_its_promises_through_crashes():
    run(JournaledModel, examples=60, steps=40)
