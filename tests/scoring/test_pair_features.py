"""What two URLs have in common, as numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.scoring.pair_features import (
    FEATURES,
    folded,
    lone_words,
    pair_features,
    url_parts,
)

SITE = "https://site.example"


def features(first, second):
    (row,) = pair_features([(SITE + first, SITE + second)])
    return dict(zip(FEATURES, row.tolist(), strict=True))


def test_urls_that_differ_in_language_tokens_alone_are_equal_but_for_them():
    assert features("/es/casa", "/eu/casa")["equal but for language tokens"] == 1
    assert features("/es/casa", "/eu/etxe")["equal but for language tokens"] == 0
    assert features("/es/casa", "/es/casa")["equal but for language tokens"] == 0


def test_languages_that_the_urls_announce_are_compared():
    assert features("/es/a", "/eu/b")["different languages announced"] == 1
    assert features("/es/a", "/es/b")["the same language announced"] == 1
    assert features("/es/a", "/b")["one language announced"] == 1


def test_numbers_in_common_and_apart_are_counted():
    same = features("/news?id=4711", "/noticias?id=4711")
    other = features("/news?id=4711", "/noticias?id=4712")
    assert same["long numbers in common"] > 0
    assert same["share of numbers in common"] == 1
    assert other["long numbers apart"] > 0
    assert other["share of numbers in common"] == 0


def test_words_that_are_written_almost_alike_are_cognates():
    alike = features("/en/vocabulary", "/es/vocabulario")
    unlike = features("/en/vocabulary", "/es/quiz")
    assert alike["cognates: best"] > 0.9 > unlike["cognates: best"]


def test_accents_make_no_difference():
    assert features("/fr/santé-publique", "/fr/sante-publique")["share of words in common"] == 1
    assert folded("Ångström é") == "Angstrom e"


def test_lone_words_are_those_that_the_other_url_has_not():
    one, two = lone_words(f"{SITE}/en/vitamin-b12-foods", f"{SITE}/de/vitamin-b12-lebensmittel")
    assert (one, two) == (" foods ", " lebensmittel ")
    assert lone_words(SITE, SITE) == ("", "")


def test_the_ending_of_a_file_is_no_word():
    parts = url_parts(f"{SITE}/eu/berriak.html")
    assert (parts.stem, parts.extension, parts.words) == ("berriak", "html", {"berriak"})


@pytest.mark.parametrize("url", ["", "http://[", "//", "a" * 9000, "https://x/%ff%fe\ud800", "?=&"])
def test_broken_urls_are_compared_all_the_same(url):
    assert np.isfinite(pair_features([(url, f"{SITE}/a"), (url, url)])).all()


def test_no_pairs_give_no_rows():
    assert pair_features([]).shape == (0, len(FEATURES))


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_order_of_a_pair_does_not_matter_and_numbers_stay_small(first, second):
    one, two = f"{SITE}/{first}", f"{SITE}/{second}"
    rows = pair_features([(one, two), (two, one)])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-6)
    assert np.abs(rows).max() < 35
