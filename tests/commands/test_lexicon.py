"""The command `scrapy lexicon`: the learned words of crawls, for people and for other crawls."""

import pytest

from bilingual_crawler.pairing.lexicon import TranslationLexicon, lexicon_file
from tests.support.lexicon import lexicon_of
from tests.support.typed_commands import typed

FILE = lexicon_file("spa-eus")


@pytest.fixture
def crawls(tmp_path):
    """Two folders of crawls that have learned some words."""
    for name, numbers in (("one", range(3)), ("two", range(2, 6))):
        (tmp_path / name).mkdir()
        lexicon_of(numbers).write(tmp_path / name / FILE)
    return tmp_path / "one", tmp_path / "two"


@pytest.fixture
def scrapy(capsys):
    return lambda *words: typed(capsys, "lexicon", *words)


def test_the_words_of_a_crawl_are_a_table(scrapy, crawls):
    status, out, err = scrapy(crawls[0])
    head, *rows = out.splitlines()
    assert status == 0
    assert head == "spa\teus\tshare\ttimes"
    assert rows[0] == "bababas\tbababak\t0.833\t10.0"
    assert len(rows) == 3
    assert "3 entries from 30 pairs of pages; on 20 of 20 pairs" in err


def test_the_words_of_several_crawls_are_added_up_into_a_file_for_the_next(
    scrapy, crawls, tmp_path
):
    status, _, _ = scrapy(*crawls, "--to", "lexicon", "--out", tmp_path / "sum.tsv.gz")
    found = TranslationLexicon.read(tmp_path / "sum.tsv.gz")
    assert status == 0
    assert (len(found), found.pages, found.is_trusted) == (6, 60, True)


def test_the_order_of_the_languages_can_be_chosen(scrapy, crawls):
    _, out, _ = scrapy(crawls[0], "--langs", "eus-spa")
    assert out.splitlines()[:2] == ["eus\tspa\tshare\ttimes", "bababak\tbababas\t0.833\t10.0"]


def test_weak_entries_can_be_left_out(scrapy, crawls):
    _, out, _ = scrapy(crawls[0], "--min-share", "0.9")
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--langs", "deu-eng"), "There is no lexicon of deu-eng, but of spa-eus"),
        (("no-such-folder",), "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said(scrapy, crawls, words, why):
    status, _, _ = scrapy(crawls[0], *words)
    assert why in str(status)


def test_lexicons_of_several_languages_need_a_choice(scrapy, crawls):
    lexicon_of(range(3), ("deu", "eng")).write(crawls[0] / lexicon_file("deu-eng"))
    status, _, _ = scrapy(crawls[0])
    assert "choose one with --langs" in str(status)
    assert scrapy(crawls[0], "--langs", "deu-eng")[0] == 0
