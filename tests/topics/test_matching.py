"""Stems, and terms found in text: any form of a word, any number of words, in any order."""

from threading import Thread

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.config.topic_definition import Term
from bilingual_crawler.languages import find_language
from bilingual_crawler.languages.stemming import ALGORITHMS, LONGEST_WORD, Stems, stems_of
from bilingual_crawler.topics.topic import TermIndex


def found(language, terms, text):
    index = TermIndex(map(Term, terms), stems_of(language))
    return [term.text for term in index.find(text)]


@pytest.mark.parametrize(
    ("language", "term", "text"),
    [
        ("spa", "accidente laboral", "Los ACCIDENTES laborales de ayer"),
        ("eng", "library", "two Libraries"),
        ("eus", "liburutegi", "liburutegietan"),
        ("ita", "infortunio sul lavoro", "gli infortuni sul lavoro"),
        ("fra", "contrôle d'accès", "les contrôles d\u2019accès"),
        ("deu", "Häfen", "im HAFEN"),
        ("tur", "ışık", "IŞIKLAR"),
        ("hin", "किताब", "दो किताबें हैं"),
        ("rus", "порт", "в порту"),
    ],
)
def test_a_term_is_found_in_its_other_forms_where_there_is_a_stemmer(language, term, text):
    assert found(language, [term], text) == [term]


@pytest.mark.parametrize(
    ("term", "text", "is_there"),
    [
        ("Höfn", "til HÖFN á morgun", True),
        ("höfn", "í höfnina", False),
        ("ár", "ar", False),
        ("ár", "a\u0301r", True),
    ],
)
def test_without_a_stemmer_words_are_compared_without_case_and_with_accents(term, text, is_there):
    assert "isl" not in ALGORITHMS
    assert bool(found("isl", [term], text)) == is_there


def test_in_scripts_without_spaces_a_term_is_found_anywhere():
    assert found("jpn", ["港", "東京港"], "昨日は東京港へ行った。") == ["東京港", "港"]
    assert found("zho", ["北京 市"], "在北京市") == ["北京 市"]


def test_terms_that_overlap_or_lie_in_one_another_all_count():
    terms = ["prevenzione degli infortuni", "infortunio sul lavoro", "lavoro"]
    assert found("ita", terms, "la prevenzione degli infortuni sul lavoro") == terms


def test_a_term_counts_as_often_as_it_stands():
    assert found("eng", ["port", "port port"], "port, port; ports") == [
        *("port", "port port", "port", "port port", "port"),
    ]


def test_a_term_is_no_part_of_a_word():
    assert found("eng", ["port"], "sport, airport, port_1, port-au-prince") == ["port", "port"]


def test_of_terms_with_one_stem_the_heaviest_counts():
    terms = [Term("ports", 1.0), Term("port", 3.0), Term("porting", 2.0)]
    index = TermIndex(terms, stems_of("eng"))
    assert len(index) == 1
    assert [term.weight for term in index.find("the port")] == [3.0]


def test_every_stemmer_is_there_and_for_a_language_that_is_known():
    assert set(ALGORITHMS.values()) <= set(snowballstemmer.algorithms())
    assert all(find_language(code).code == code for code in ALGORITHMS)


def test_words_that_are_no_words_stay_as_they_are():
    long = "ports" * 1_000
    assert len(long) > LONGEST_WORD
    assert stems_of("eng").of(f"{long} ports") == [long, "port"]


def test_two_threads_may_ask_one_stemmer():
    """A stemmer keeps the word that it works on, so two at once would mix them up."""
    words = [f"{head}{tail}" for head in ("nation", "librar", "port") for tail in ("s", "al", "y")]
    words = [f"{word}{end}" for word in words for end in ("", "ing", "ly", "ness")] * 20
    stems, wrong = Stems("eng"), []
    fresh = {word: Stems("eng").of(word) for word in set(words)}

    def ask():
        for word in words:
            stems._stem.cache_clear()
            if stems.of(word) != fresh[word]:
                wrong.append(word)

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=12)
TERMS = st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3), max_size=5)


@given(TERMS, WORDS)
def test_what_is_found_is_what_comparing_all_with_all_would_find(terms, words):
    terms = {" ".join(term): term for term in terms}
    expected = [
        " ".join(words[at : at + length])
        for at in range(len(words))
        for length in range(1, 4)
        if at + length <= len(words) and " ".join(words[at : at + length]) in terms
    ]
    assert found(None, terms, " ".join(words)) == expected
