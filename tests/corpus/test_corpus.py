"""Which documents are kept, which pairs are written, and that both survive a restart."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.reporting.counts import settled
from tests.support.corpus import SITE, Crawl, page


@pytest.fixture
def crawl(tmp_path):
    return Crawl(tmp_path)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["spa", "eus"]),
            st.integers(0, 3),
            st.sets(st.integers(0, 5), min_size=1),
        ),
        max_size=14,
        unique_by=lambda each: each[:2],
    )
)
def test_pages_that_come_back_or_are_replaced_are_not_counted_twice(tmp_path_factory, given_pages):
    """The outcome of a page is written when it ends; `settled` makes it agree with the corpus."""
    crawl = Crawl(tmp_path_factory.mktemp("crawl") / "c")
    outcomes = Counter[str]()
    for language, number, texts in given_pages:
        path = f"/{language[:2]}/{number}"
        other = {"spa": "eus", "eus": "spa"}[language]
        claims = [(path, language), (f"/{other[:2]}/{number}", other)]
        (kept,) = crawl.add(page(path, language, *sorted(texts), alternates=claims))
        outcomes["stored" if kept else "duplicate"] += 1
    kept, dropped = crawl.corpus.page_counts()
    now = settled(outcomes, kept, dropped)
    assert now.get("stored", 0) == kept == crawl.corpus.documents.total()
    assert sum(now.values()) == len(given_pages)
    crawl.close()


def test_of_near_duplicates_the_longer_is_kept(crawl):
    assert crawl.add(page("/a", "spa", 0, 1, 2, 3, 4, 5), page("/b", "spa", 0, 1, 2, 3, 4)) == [
        True,
        False,
    ]
    assert crawl.add(page("/c", "spa", 0, 1, 2, 3, 4, 5, 6)) == [True]
    crawl.close()
    assert crawl.files() == (["/c"], [])


def test_a_page_under_two_urls_is_kept_once(crawl):
    assert crawl.add(page("/a", "spa", 0, 1), page("/a?print=1", "spa", 0, 1)) == [True, False]
    assert crawl.corpus.documents == {"spa": 1}


def test_a_near_duplicate_with_a_translation_of_its_own_is_kept(crawl):
    crawl.add(page("/es/1", "spa", 0, 1, 2, 3, 4, 5), page("/es/2", "spa", 0, 1, 2, 3, 4, "x"))
    assert crawl.corpus.documents == {"spa": 1}
    crawl.add(page("/eu/2", "eus", 0, 1, 2))
    crawl.close()
    assert crawl.files() == (["/es/1", "/es/2", "/eu/2"], [("/es/2", "/eu/2")])


def test_the_url_that_pairs_is_the_one_that_is_kept(crawl):
    crawl.add(page("/a", "spa", 0, 1), page("/eu/a", "eus", 0, 1), page("/es/a", "spa", 0, 1))
    crawl.close()
    assert crawl.files() == (["/es/a", "/eu/a"], [("/es/a", "/eu/a")])


def test_a_page_seen_again_changes_nothing(crawl):
    crawl.add(page("/es/a", "spa", 0), page("/eu/a", "eus", 0))
    assert crawl.add(page("/es/a", "spa", 0)) == [True]
    crawl.close()
    assert crawl.files() == (["/es/a", "/eu/a"], [("/es/a", "/eu/a")])


def test_what_was_put_aside_is_found_after_a_restart(crawl):
    crawl.add(page("/es/1", "spa", 0, 1, 2, 3, 4, 5), page("/es/2", "spa", 0, 1, 2, 3, 4, "x"))
    crawl.restart()
    crawl.add(page("/eu/2", "eus", 0, 1, 2))
    crawl.close()
    assert crawl.files() == (["/es/1", "/es/2", "/eu/2"], [("/es/2", "/eu/2")])


def test_what_was_replaced_and_tidied_away_can_come_back(crawl):
    crawl.add(page("/es/1", "spa", 0, 1, 2, 3, 4), page("/es/2", "spa", 0, 1, 2, 3, 4, 5))
    crawl.restart()
    assert crawl.files()[0] == ["/es/2"]
    crawl.add(page("/eu/1", "eus", 0, 1, 2))
    crawl.close()
    assert crawl.files() == (["/es/1", "/es/2", "/eu/1"], [("/es/1", "/eu/1")])


def test_a_redirect_learnt_before_a_restart_still_counts(crawl):
    crawl.corpus.alias(f"{SITE}/old", f"{SITE}/azoka")
    crawl.restart()
    crawl.add(
        page("/mercado", "spa", 0, alternates=[("/old", "eus")]),
        page("/azoka", "eus", 0, alternates=[("/mercado", "spa")]),
    )
    assert [pair.second for pair in crawl.corpus.pairs] == [f"{SITE}/azoka"]
    crawl.close()


@pytest.mark.parametrize("early", [True, False])
def test_what_a_sitemap_declared_before_a_restart_still_counts(crawl, early):
    pages = page("/agenda", "spa", 0, 1), page("/egutegia", "eus", 10, 11, 12, 13)
    said = ("/agenda", "/egutegia", "eus"), ("/egutegia", "/agenda", "spa")
    claims = [(SITE + url, ((SITE + other, code), (SITE, "fra"))) for url, other, code in said]
    if early:
        crawl.corpus.declare(claims)
        crawl.restart()
    crawl.add(*pages)
    if not early:
        crawl.restart()
        crawl.corpus.declare(claims)
        crawl.restart(tidy=False)
    crawl.close()
    (pair,) = [json.loads(each) for each in (crawl.path / "pairs.jsonl").read_text().splitlines()]
    assert "alternates" in {each["detector"] for each in pair["evidence"]}


def test_a_rewrite_that_was_killed_is_completed_or_undone(crawl):
    crawl.add(page("/es/1", "spa", 0, 1, 2, 3, 4), page("/es/2", "spa", 0, 1, 2, 3, 4, 5))
    crawl.folder.journal.checkpoint(wait=True)
    (crawl.path / "documents.jsonl.gz.new").write_bytes(b"half")
    crawl.restart(tidy=False)
    assert not (crawl.path / "documents.jsonl.gz.new").exists()
    assert crawl.files()[0] == ["/es/1", "/es/2"]
    crawl.close()
    assert crawl.files()[0] == ["/es/2"]


class NoTimeError(Exception):
    pass


def after(calls):
    """A check that lets so many things be done."""
    left = iter(range(calls))

    def check():
        if next(left, None) is None:
            raise NoTimeError

    return check


@pytest.mark.parametrize("calls", range(8))
def test_what_there_was_no_time_for_is_done_by_the_next_run(crawl, calls):
    crawl.add(page("/es/1", "spa", 0, 1, 2, 3, 4), page("/es/2", "spa", 0, 1, 2, 3, 4, 5))
    crawl.add(page("/eu/2", "eus", 0, 1, 2, 3, 4, 5))
    crawl.folder.journal.checkpoint(wait=True)
    try:
        crawl.corpus.tidy(after(calls))
    except NoTimeError:
        assert crawl.corpus.pair_count == len(crawl.corpus.pairs) == 1
        crawl.folder.close(save=False)
        crawl.open()
    assert not list(crawl.path.glob("*.new"))
    crawl.close()
    assert crawl.files() == (["/es/2", "/eu/2"], [("/es/2", "/eu/2")])


PAGES = st.builds(
    page,
    st.sampled_from(["/1", "/es/1", "/eu/1", "/2", "/es/2", "/eu/2", "/es/3", "/eu/3", "/3"]),
    st.sampled_from(["spa", "eus"]),
    st.integers(0, 2),
    *[st.integers(3, 8) for _ in range(5)],
)


@given(st.lists(PAGES, max_size=12, unique_by=lambda each: each.url), st.data())
@settings(max_examples=60)
def test_restarts_do_not_change_what_comes_of_a_crawl(tmp_path_factory, pages, data):
    through, broken = (Crawl(tmp_path_factory.mktemp("crawl")) for _ in range(2))
    for each in pages:
        through.add(each)
        broken.add(each)
        if data.draw(st.booleans()):
            broken.restart(tidy=data.draw(st.booleans()))
    for crawl in (through, broken):
        kept = {url for url in crawl.corpus._pages._states if crawl.corpus._pages.is_kept(url)}
        assert {url for pair in crawl.corpus.pairs for url in (pair.first, pair.second)} <= kept
        crawl.close()
    assert through.files() == broken.files()


def test_counterparts_without_content_are_recorded_with_the_reason(crawl):
    crawl.add(page("/es/a", "spa", "Aurkene Izena"), page("/eu/a", "eus", "Aurkene Izena", "Ni"))
    crawl.close()
    (line,) = (crawl.path / "pairs_refused.jsonl").read_text().splitlines()
    refused = json.loads(line)
    assert (refused["url1"], refused["url2"]) == (f"{SITE}/es/a", f"{SITE}/eu/a")
    assert "same on both pages" in refused["refused"]
    assert crawl.files()[1] == []


def test_without_refused_pairs_there_is_no_file_of_them(crawl):
    crawl.add(page("/es/a", "spa", 0, 1), page("/eu/a", "eus", 0, 1))
    crawl.close()
    assert not (crawl.path / "pairs_refused.jsonl").exists()


def test_a_page_with_the_same_text_in_both_languages_is_no_pair(crawl):
    crawl.add(page("/es/a", "spa", "Aurkene Izena"), page("/eu/a", "eus", "Aurkene Izena"))
    crawl.close()
    assert crawl.files()[1] == []
