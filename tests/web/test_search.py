"""Searches over a small index: what is found, what is shown, what is stopped."""

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bilingual_crawler.web.search import search as searching
from bilingual_crawler.web.search.index import reading
from bilingual_crawler.web.search.indexer import Indexer
from bilingual_crawler.web.search.query import QueryError
from bilingual_crawler.web.search.search import MAX_COUNTED, SearchQuestion, search
from tests.support.web_folders import TEXTS, sentence, write_sentences

MANY = MAX_COUNTED + 200
CHINESE = ("我们去北京市博物馆。", "Goazen Pekingera.")
HINDI = ("मैं हिन्दी बोलता हूँ", "Hindiz hitz egiten dut")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    rows = [sentence("museo", at, *texts) for at, texts in enumerate([*TEXTS, CHINESE, HINDI])]
    rows.append(sentence("museo", 6, "Esto sobra.", "Hau soberan dago.", dropped="unsure"))
    rows += [
        sentence("largo", at, f"frase común número {at}", "esaldi arrunta") for at in range(MANY)
    ]
    write_sentences(folder, rows)
    indexer = Indexer(folder)
    indexer.refresh()
    indexer.close()
    return indexer.path


@pytest.fixture
def find(index):
    def run(text, **more):
        with reading(index) as connection:
            return search(connection, SearchQuestion(text, **more))

    return run


@pytest.mark.parametrize(
    ("text", "more", "found"),
    [
        ("museo", {}, [0]),
        ("museo", {"langs": ("spa", "eus")}, [0]),
        ("museo", {"langs": ("spa", "eng")}, []),
        ("mu[s]eo", {"langs": ("spa", "eng"), "is_pattern": True}, []),
        ("MAÑANA", {}, [1]),
        ("liburutegia", {}, [1]),
        ("liburutegia", {"within": "1"}, []),
        ("liburutegia", {"within": "2"}, [1]),
        ("el", {"within": "1"}, [0, 3]),
        ("el río", {}, [3]),
        ('"río el"', {}, []),
        ('"el río baja"', {}, [3]),
        ("bibl*", {}, [1]),
        ("el -lunes", {"within": "1"}, [3]),
        ("el", {"other": "ibaia"}, [3]),
        ("ibaia", {"other": "molino"}, [3]),
        ("ibaia", {"other": "museo"}, []),
        ("去", {}, [4]),
        ("北京", {}, [4]),
        ("京市博", {}, [4]),
        ("北市", {}, []),
        ("हिन्दी", {}, [5]),
        ("sobra", {}, []),
        ("sobra", {"dropped": True}, [6]),
        (r"\bmol\w+ v", {"is_pattern": True}, [3]),
        (r"\bMOL", {"is_pattern": True}, [3]),
        (r"\bMOL", {"is_pattern": True, "match_case": True}, []),
        (r"[.]$", {"is_pattern": True, "within": "2"}, [0, 1, 2, 3, 4]),
        (r"ca.é", {"is_pattern": True, "other": "mesedez"}, [2]),
        (r"京.博", {"is_pattern": True}, [4]),
        (r"sobra", {"is_pattern": True, "dropped": True}, [6]),
    ],
)
def test_what_is_asked_is_what_is_found(find, text, more, found):
    assert [hit.at for hit in find(text, **more).hits] == found


def test_hits_are_counted_up_to_a_bound(find):
    assert find("museo").total == 1
    assert find("común").total == MAX_COUNTED + 1


def test_pages_follow_one_another_without_gap_or_overlap(find):
    ats = []
    for page in (1, 2, 3):
        found = find("común", page=page, size=50)
        assert found.more
        ats += [hit.at for hit in found.hits]
    assert ats == list(range(150))
    assert not find("común", page=MANY // 50, size=50).more


def test_a_pattern_goes_on_where_its_last_page_ended(find):
    ats, after = [], 0
    while after is not None:
        found = find("número [0-9]5[0-9]$", is_pattern=True, size=7, after=after)
        ats += [hit.at for hit in found.hits]
        after = found.go_on
    assert ats == [at for at in range(MANY) if 99 < at < 1000 and at // 10 % 10 == 5]


def test_a_pattern_with_an_anchor_goes_on_too(find):
    first = find(r"\bnúmero \d0$", is_pattern=True, size=4)
    second = find(r"\bnúmero \d0$", is_pattern=True, size=20, after=first.go_on)
    assert [hit.at for hit in first.hits + second.hits] == list(range(10, 100, 10))


def test_a_search_that_takes_too_long_is_stopped_and_can_go_on(find, monkeypatch):
    monkeypatch.setattr(searching, "SECONDS", 0.0)
    found = find("zz$", is_pattern=True)
    assert "stopped" in found.note
    assert found.go_on is not None
    assert found.scanned < 1


def test_words_that_take_too_long_are_stopped_with_a_note(find, monkeypatch):
    monkeypatch.setattr(searching, "SECONDS", -1.0)
    monkeypatch.setattr(searching, "STEPS", 1)
    assert "more specific" in find("común").note


def test_a_pattern_that_explodes_is_a_sentence_to_the_user(tmp_path):
    write_sentences(tmp_path, [sentence("a", 0, "a" * 5000 + "b", "x")])
    indexer = Indexer(tmp_path)
    indexer.refresh()
    with reading(indexer.path) as connection, pytest.raises(QueryError, match="too long"):
        search(connection, SearchQuestion("(?:a|aa)+$", is_pattern=True))
    indexer.close()


def test_the_other_side_is_marked_with_what_it_must_have(find):
    (hit,) = find("el", other="ibaia").hits
    assert [each.text for each in hit.pieces1 if each.hit] == ["El", "el"]
    assert [each.text for each in hit.pieces2 if each.hit] == ["Ibaia"]


def test_neighbours_are_shown_when_asked_for(find):
    (hit,) = find("biblioteca", neighbours=True).hits
    assert (hit.before.text1, hit.after.text1) == (TEXTS[0][0], TEXTS[2][0])
    (hit,) = find("museo", neighbours=True).hits
    assert hit.before is None


@settings(suppress_health_check=list(HealthCheck))
@given(st.text(max_size=30), st.booleans())
def test_whatever_is_typed_gives_hits_or_a_sentence(find, text, is_pattern):
    with contextlib.suppress(QueryError):
        find(text, is_pattern=is_pattern)


def test_hits_do_not_wait_until_they_are_counted(find, monkeypatch):
    monkeypatch.setattr(searching, "COUNT_SECONDS", -1.0)
    monkeypatch.setattr(searching, "STEPS", 1)
    found = find("común", neighbours=True)
    assert (len(found.hits), found.more, found.total, found.note) == (20, True, None, "")
