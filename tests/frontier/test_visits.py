"""Which pages are visited again, in which order, and with which headers; computed by hand."""

import pytest

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.frontier.visits import DAY, DuePage, Version, Visits, validator
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.urls.fingerprint import url_fingerprint

NOW = 2_000 * DAY


def page(*, watched=0.0, changes=0, modified=0.0, outcome="stored", ago=30.0):
    """A page last fetched some days ago and watched for some days before that."""
    latest = NOW - ago * DAY
    age = latest - modified * DAY if modified else 0.0
    version = Version(modified_at=age)
    return DuePage(1, "u", "h", outcome, 0, latest - watched * DAY, latest, 2, changes, version)


@pytest.mark.parametrize(
    ("known", "chance"),
    [
        ({}, 0.1535),  # 1 - exp(-30 * 0.5 / (0.5 * 180))
        ({"watched": 365, "changes": 1}, 0.0942),  # 1 - exp(-30 * 1.5 / (365 + 90))
        ({"watched": 365}, 0.0324),  # 1 - exp(-30 * 0.5 / 455)
        ({"modified": 1095}, 0.0270),  # 1 - exp(-30 * 0.5 / (0.5 * 1095))
        ({"modified": 0.1}, 1.0),  # changed on the day it was fetched
        ({"ago": 0}, 0.0),
    ],
)
def test_the_chance_of_a_change_follows_from_what_is_known(known, chance):
    assert page(**known).chance(NOW) == pytest.approx(chance, abs=1e-4)


def test_of_equally_likely_changes_that_of_half_a_pair_comes_first():
    paired = page().priority(NOW, is_paired=True)
    stored = page().priority(NOW, is_paired=False)
    other = page(outcome="off_language").priority(NOW, is_paired=False)
    assert (stored / paired, other / paired) == (0.5, 0.25)


def test_a_version_is_sent_back_unless_it_could_be_something_else():
    kept = Version(validator('"abc"'), validator("Tue, 01 Sep 2026 10:00:00 GMT")).headers()
    assert kept == {
        "If-None-Match": '"abc"',
        "If-Modified-Since": "Tue, 01 Sep 2026 10:00:00 GMT",
    }
    assert not any(map(validator, ('"a"\r\nCookie: x', '"é"', '"' + "a" * 999)))


def test_pages_are_due_once_their_last_visit_is_long_enough_ago(tmp_path):
    urls = [f"https://a.example/{name}" for name in ("old", "new", "never", "gone", "moved")]
    ends = [(State.DONE, "stored")] * 3 + [(State.FAILED, "http_404"), (State.DONE, "redirected")]
    journal = Journal(tmp_path / "crawl.sqlite")
    frontier, visits = JournaledFrontier(journal), Visits(journal)
    for url, end in zip(urls, ends, strict=True):
        frontier.push(url_fingerprint(url), url, "a.example", 1.0)
        frontier.end(frontier.pop(0.0).fingerprint, *end)
    version = Version('"1"', "", 0.0)
    for url, days in zip(urls[:2], (400, 5), strict=True):
        at = NOW - days * DAY
        mark = url_fingerprint(url)
        assert not visits.has_changed(mark, b"1")
        visits.fetched(mark, at=at, depth=2, version=version, digest=b"1")
    journal.checkpoint(wait=True)
    due = {each.url: each for each in visits.due(NOW - 30 * DAY)}
    assert due.keys() == {urls[0], urls[2]}, "one is too new, one gone, one elsewhere"
    assert (due[urls[0]].depth, due[urls[0]].version) == (2, version)
    mark = url_fingerprint(urls[0])
    assert visits.has_changed(mark, b"2")
    visits.fetched(mark, at=NOW, depth=2, version=version, digest=b"2")
    journal.checkpoint(wait=True)
    assert visits.since(urls[:2], NOW) == {urls[0]: True, urls[1]: None}
    journal.close()
