"""In a crawl with a topic a page is kept for its own sake or for that of its translation."""

import pytest

from bilingual_crawler.documents.document import Relevance
from tests.support.corpus import SITE, Crawl, page

ON, OFF = Relevance(on_topic=True), Relevance(on_topic=False)


def two(name, first, second):
    """A page and its translation, which name each other."""
    texts = [f"{name} {number}" for number in range(6)]
    es, eu = f"/es/{name}", f"/eu/{name}"
    return (
        page(es, "spa", *(f"{t} bat" for t in texts), alternates=[(eu, "eus")], topic=first),
        page(eu, "eus", *(f"{t} bi" for t in texts), alternates=[(es, "spa")], topic=second),
    )


@pytest.fixture
def crawl(tmp_path):
    return Crawl(tmp_path)


def test_a_page_off_topic_comes_back_with_its_translation(crawl):
    off, on = two("faro", OFF, ON)
    assert crawl.add(off) == [False]
    assert crawl.corpus.documents == {}
    assert crawl.add(on) == [True]
    assert crawl.corpus.documents == {"spa": 1, "eus": 1}
    crawl.close()
    assert crawl.files() == (["/es/faro", "/eu/faro"], [("/es/faro", "/eu/faro")])


def test_of_a_pair_off_topic_nothing_is_kept(crawl):
    assert crawl.add(*two("curso", OFF, OFF)) == [False, False]
    assert (crawl.corpus.pairs, crawl.corpus.pair_count) == ([], 0)
    assert crawl.corpus.partner_of(f"{SITE}/es/curso") == f"{SITE}/eu/curso"
    crawl.close()
    assert crawl.files() == ([], [])


@pytest.mark.parametrize("tidy", [True, False])
def test_what_is_off_topic_is_known_after_a_restart(crawl, tidy):
    curso, faro = two("curso", OFF, OFF), two("faro", ON, OFF)
    crawl.add(*curso, faro[1])
    crawl.restart(tidy=tidy)
    assert crawl.corpus.documents == {}
    assert crawl.add(faro[0]) == [True]
    crawl.restart(tidy=tidy)
    assert crawl.corpus.pair_count == len(crawl.corpus.pairs) == 1
    crawl.close()
    assert crawl.files() == (["/es/faro", "/eu/faro"], [("/es/faro", "/eu/faro")])


def test_only_pairs_on_topic_are_told(tmp_path):
    crawl, told = Crawl(tmp_path), []
    crawl.corpus._on_pair = lambda pair, kept: told.append((pair.first, kept))
    crawl.add(*two("curso", OFF, OFF), *two("faro", ON, OFF))
    assert told == [(f"{SITE}/es/faro", True)]
