"""Each rule of cleaning drops what it is for, and lets the rest pass."""

import pytest

from bilingual_crawler.alignment.cleaning import (
    BOILERPLATE,
    DUPLICATE,
    FEWEST_PAGES,
    Repeats,
    broken_rule,
    rules,
)
from bilingual_crawler.store.sentence_pair import SentencePair

GOOD = (
    "El museo abre todos los días de la semana, también los domingos por la tarde.",
    "Museoa astegun guztietan zabaltzen da, baita igande arratsaldeetan ere.",
)


def pair(text1, text2, *, score=0.9, url="https://a.example/1", langs=("spa", "eus")):
    return SentencePair("id", 0, url, url, langs[0], langs[1], text1, text2, score=score)


@pytest.mark.parametrize(
    ("rule", "text1", "text2"),
    [
        ("", *GOOD),
        ("", "Inicio", "Hasiera"),
        ("no_letters", "2024 – 12 – 01", "2024 / 12 / 01"),
        ("no_letters", "Uno", "1"),
        ("too_short", "Sí.", "Bai."),
        ("too_long", GOOD[0] * 20, GOOD[1] * 20),
        ("copied", "Powered by Something", "powered by something"),
        ("copied", "Juan Carlos Rodríguez, director", "Juan Carlos Rodríguez, directora"),
        ("markup", "Hola <b>mundo</b> querido", "Kaixo mundu maitea"),
        ("markup", "Hola mundo&nbsp;querido", "Kaixo mundu maitea"),
        ("few_letters", "Tel. 94 123 45 67 / 94 123 45 68", "Telf. 94 123 45 67"),
        ("length_ratio", GOOD[0] + GOOD[0], "Museoa zabalik dago."),
        ("wrong_language", GOOD[0], "Los domingos por la tarde no se cobra entrada a los niños."),
        ("wrong_language", "Igande arratsaldeetan haurrek ez dute ezer ordaindu behar.", GOOD[1]),
    ],
)
def test_the_first_broken_rule_is_named(rule, text1, text2):
    assert broken_rule(pair(text1, text2), rules(1.0)) == rule


def test_a_pair_that_the_aligner_doubts_is_dropped():
    assert broken_rule(pair(*GOOD, score=0.1), rules(1.0)) == "unsure"


def test_lengths_are_compared_as_they_usually_differ():
    made = pair(
        "博物馆每天开放，星期日也开放。",
        "The museum is open every day, on Sundays too.",
        langs=("zho", "eng"),
    )
    assert broken_rule(made, rules(3.2)) == ""
    assert broken_rule(made, rules(1.0)) == "length_ratio"


def test_one_sign_is_a_word_where_there_are_no_spaces():
    assert broken_rule(pair("是", "Yes", langs=("zho", "eng")), rules(3.0)) == ""


def told(pairs, documents=None):
    repeats = Repeats()
    for number, each in enumerate(pairs):
        repeats.add(number, documents[number] if documents else number, each)
    answers = [repeats.broken_rule(number, each) for number, each in enumerate(pairs)]
    repeats.close()
    return answers


def test_of_duplicates_the_best_copy_is_kept():
    copies = [pair(*GOOD, score=0.5), pair(*GOOD, score=0.9), pair(*GOOD, score=0.7)]
    assert told(copies) == [DUPLICATE, "", DUPLICATE]


def test_of_equally_good_copies_the_first_is_kept():
    assert told([pair(*GOOD), pair(*GOOD)]) == ["", DUPLICATE]


def test_copies_differ_in_case_and_spacing_only():
    near = pair(GOOD[0].upper(), GOOD[1].replace(" ", "  "))
    other = pair(GOOD[0], GOOD[1] + "!")
    assert told([pair(*GOOD), near, other]) == ["", DUPLICATE, ""]


def test_text_on_many_documents_of_a_site_is_boilerplate():
    many = [pair(*GOOD, url=f"https://a.example/{at}") for at in range(FEWEST_PAGES)]
    assert told(many) == [BOILERPLATE] * FEWEST_PAGES


def test_text_repeated_in_one_document_or_on_many_sites_is_no_boilerplate():
    inside = [pair(*GOOD)] * FEWEST_PAGES
    assert BOILERPLATE not in told(inside, documents=[1] * FEWEST_PAGES)
    outside = [pair(*GOOD, url=f"https://a{at}.example/") for at in range(FEWEST_PAGES)]
    assert BOILERPLATE not in told(outside)
