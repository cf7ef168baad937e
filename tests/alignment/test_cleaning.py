"""Each rule of cleaning drops what it is for, and lets the rest pass."""

import pytest

from bilingual_crawler.alignment import cleaning
from bilingual_crawler.alignment.cleaning import (
    FEWEST_PAGES,
    MOST_ALIKE,
    ONLY_DIGITS,
    Repeats,
    broken_rule,
)
from bilingual_crawler.alignment.vocabularies import Vocabularies
from bilingual_crawler.store.marks import REJECTED, CorpusMarks, Marks, SentenceMarks
from bilingual_crawler.store.sentence_pair import BOILERPLATE, DUPLICATE, SentencePair

GOOD = (
    "El museo abre todos los días de la semana, también los domingos por la tarde.",
    "Museoa astegun guztietan zabaltzen da, baita igande arratsaldeetan ere.",
)


def rules(usual_ratio, known=None):
    return cleaning.rules(usual_ratio, known or Vocabularies("spa", "eus"))


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
        ("markup", "Hola mundo [/caption]", "Kaixo mundu maitea"),
        ("", "La etiqueta <b> escribe en negrita.", "<b> etiketak letra lodiz idazten du."),
        ("", "El botón [enviar] de abajo", "Beheko [bidali] botoia"),
        ("mojibake", "La exposiciÃ³n de la tarde", "Arratsaldeko erakusketa"),
        ("mojibake", "La exposici\ufffdn de la tarde", "Arratsaldeko erakusketa"),
        ("", "Ârea de São João", "São João eremua"),
        ("numbers", "La entrada cuesta 12 euros.", "Sarrerak 15 euro balio du."),
        ("currency", "La entrada cuesta 12 $ hoy.", "Sarrerak 12 € balio du gaur."),
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


LONG = (
    "El museo abre todos los días de la semana y la entrada es libre para los niños.",
    "Museoa egunero zabaltzen da eta haurrentzat sarrera doakoa izaten da beti.",
)


@pytest.fixture(scope="module")
def known():
    """The words of a small crawl with the name of a project in both languages."""
    found = Vocabularies("spa", "eus")
    texts = [*LONG, "El autor del proyecto Open Data.", "Open Data proiektuaren egilea."]
    spanish = [texts[0], texts[2], "El curso de este autor es para los niños de la semana."]
    basque = [texts[1], texts[3], "Egile honen ikastaroa haurrentzat izaten da astean zehar."]
    for _ in range(20):
        found.learn(spanish, basque)
    assert found.is_enough
    return found


@pytest.mark.parametrize(
    ("rule", "text1", "text2"),
    [
        ("", "Open Data: curso para los niños", "Open Data: haurrentzat"),
        ("wrong_language", "El curso de la semana", "El autor es este de los niños"),
        ("wrong_language", "Egile honen ikastaroa astean", "Haurrentzat izaten da"),
        ("untranslated", "El curso de Open Data para niños", "El curso de Open Data del autor"),
        ("copied", "Open Data 2024", "Open Data 2025"),
    ],
)
def test_the_words_of_the_crawl_tell_its_languages_apart(known, rule, text1, text2):
    assert broken_rule(pair(text1, text2), rules(1.0, known)) == rule


def test_a_word_that_differs_in_one_letter_is_a_translation_if_the_crawl_knows_both():
    found = Vocabularies("deu", "eng")
    for _ in range(100):
        found.learn(["Der Autor und die Stadt schreiben"], ["The author and the town write"])
    german = pair("Der Autor", "Der Author", langs=("deu", "eng"))
    assert broken_rule(pair("Autor", "Author", langs=("deu", "eng")), rules(1.0, found)) == ""
    assert broken_rule(german, rules(1.0, Vocabularies("deu", "eng"))) == "copied"


def test_untranslated_sentences_of_a_document_teach_nothing():
    found = Vocabularies("spa", "eus")
    for _ in range(100):
        found.learn([LONG[0], "El museo de la semana"], ["El museo de la semana", LONG[1]])
    assert found.is_foreign("El museo de la semana", 1)


def test_nothing_drops_what_a_user_accepted_and_nothing_keeps_what_was_rejected(tmp_path):
    SentenceMarks(tmp_path).put("Sí.", " Bai. ", good=True)
    SentenceMarks(tmp_path).put(*GOOD, good=False)
    marks = CorpusMarks(tmp_path)
    assert broken_rule(pair("Sí.", "Bai."), rules(1.0), marks) == ""
    assert broken_rule(pair(*GOOD), rules(1.0), marks) == REJECTED
    assert broken_rule(pair("Inicio", "Hasiera"), rules(1.0), marks) == ""


def test_the_mark_of_the_documents_holds_for_their_sentences(tmp_path):
    Marks(tmp_path).put("https://a.example/1", "https://a.example/1", good=True)
    Marks(tmp_path).put("https://b.example/1", "https://b.example/1", good=False)
    marks = CorpusMarks(tmp_path)
    assert broken_rule(pair(*GOOD, score=0.1), rules(1.0), marks) == ""
    assert broken_rule(pair("2024", "2024", score=0.1), rules(1.0), marks) == "no_letters"
    rejected = pair(*GOOD, url="https://b.example/1")
    assert broken_rule(rejected, rules(1.0), marks) == REJECTED
    SentenceMarks(tmp_path).put(*GOOD, good=True)
    assert broken_rule(rejected, rules(1.0), CorpusMarks(tmp_path)) == ""


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


def test_of_text_on_many_documents_of_a_site_one_copy_is_kept():
    many = [pair(*GOOD, url=f"https://a.example/{at}") for at in range(FEWEST_PAGES)]
    assert told(many) == ["", *[BOILERPLATE] * (FEWEST_PAGES - 1)]


def test_of_pairs_that_differ_only_in_digits_a_few_are_kept():
    rows = [pair(f"Capítulo {at}.{at + 1}", f"{at}.{at + 1} kapitulua") for at in range(10, 20)]
    assert told([*rows, pair(*GOOD)]) == [*[""] * MOST_ALIKE, *[ONLY_DIGITS] * 7, ""]


def test_digits_of_pairs_that_a_user_accepted_do_not_count():
    repeats = Repeats()
    rows = [pair(f"Capítulo {at}", f"{at} kapitulua") for at in range(10)]
    for number, each in enumerate(rows):
        repeats.add(number, number, each)
    answers = [repeats.broken_rule(at, each, accepted=True) for at, each in enumerate(rows)]
    repeats.close()
    assert answers == [""] * 10


def test_text_repeated_in_one_document_or_on_many_sites_is_no_boilerplate():
    inside = [pair(*GOOD)] * FEWEST_PAGES
    assert BOILERPLATE not in told(inside, documents=[1] * FEWEST_PAGES)
    outside = [pair(*GOOD, url=f"https://a{at}.example/") for at in range(FEWEST_PAGES)]
    assert BOILERPLATE not in told(outside)


def test_another_language_proves_nothing_of_one_that_the_identifier_does_not_know():
    galician = (
        "O concello informa aos veciños de que a festa comeza o sábado pola tarde na praza da vila,"
        " onde haberá música e xogos para os nenos."
    )
    assert Vocabularies("spa", "eng").is_foreign(galician, 0)
    assert not Vocabularies("ast", "eng").is_foreign(galician, 0)
