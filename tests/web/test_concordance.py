"""The concordance over a small corpus, compared with plain loops over its texts."""

import gzip
import random
import time
from collections import Counter

import pytest

pytest.importorskip("duckdb", reason="pip install 'bilingual-crawler[concordance]'")

from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.concordance import index_file
from bilingual_crawler.web.concordance.index_file import ConcordanceIndex, SlowQuestionError
from bilingual_crawler.web.concordance.lines import LineOrder, concordance
from bilingual_crawler.web.concordance.question import ConcordanceQuestion, terms_of
from bilingual_crawler.web.concordance.statistics import (
    collocations,
    frequencies,
    log_dice,
    log_likelihood,
    n_grams,
)
from bilingual_crawler.web.concordance.translations import translations
from bilingual_crawler.web.concordance.word_forms import placed_words
from bilingual_crawler.web.search.query import QueryError
from tests.support.processes import wait_until
from tests.support.web_folders import packed, sentence, write_sentences
from tests.support.web_server import patient

WORDS = ("casa", "perro", "río", "molino", "alto", "viejo", "que", "y")
THERE = dict(
    zip(WORDS, ("etxe", "zakur", "ibai", "errota", "garai", "zahar", "zein", "eta"), strict=True)
)
SPECIAL = [
    ("Los museos están cerrados.", "Museoak itxita daude."),
    ("El museo está cerrado.", "Museoa itxita dago."),
    ("Fuimos al museo ayer.", "Atzo museora joan ginen."),
    ("Voy a la casa.", "Etxera noa."),
    ("去北京市博物馆。", "Pekingera."),
    ("=HYPERLINK es una palabra", "+1 ere bai"),
]


def random_texts():
    chance = random.Random(5)
    for _ in range(120):
        words = chance.choices(WORDS, weights=(4, 3, 3, 2, 1, 1, 9, 9), k=chance.randint(1, 9))
        yield " ".join(words) + ".", " ".join(THERE[word] for word in reversed(words)) + "."


RANDOM = list(random_texts())


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("concordance")
    rows = [sentence("uno", at, *texts) for at, texts in enumerate(SPECIAL)]
    rows += [
        sentence("dos", at, *texts, score=0.5, kind="heading", fetched1="2026-02-03T00:00:00")
        for at, texts in enumerate(RANDOM)
    ]
    rows.append(sentence("uno", 99, "museo museo", "x", dropped="unsure"))
    data = gzip.decompress(packed(rows)) + b'{"pair": 1}\nno line\n\xff\xfe\n{"text1": null'
    (folder / SENTENCES).write_bytes(gzip.compress(data))
    index = ConcordanceIndex(folder)
    index.refresh()
    with patient():
        yield index
    index.close()


@pytest.fixture
def ask(index):
    def run(function, *arguments):
        with index.asking() as asking:
            return function(asking, *arguments)

    return run


@pytest.fixture
def hits(ask):
    def run(text, sort="corpus", page=1, size=20, **more):
        question = ConcordanceQuestion(text, **more)
        return ask(concordance, question, LineOrder(sort, page, size), lambda *_: {})

    return run


def in_a_row(words, texts=RANDOM):
    """Where some words stand in a row: (number of the text, place)."""
    for number, (text, _) in enumerate(texts):
        there = [each.word for each in placed_words(text)]
        for place in range(len(there) - len(words) + 1):
            row = there[place : place + len(words)]
            if all(word in (None, other) for word, other in zip(words, row, strict=True)):
                yield number, place, there


@pytest.mark.parametrize("words", [["casa"], ["que", "y"], ["y", None, "casa"], ["y", "y", "y"]])
def test_hits_are_those_that_a_plain_loop_finds(hits, words):
    text = " ".join(each or "*" for each in words)
    found = hits(text, size=500, kind="heading")
    assert [line.at for line in found.lines] == [number for number, *_ in in_a_row(words)]
    assert found.number == len(found.lines)


def test_pages_have_no_gap_and_no_overlap_in_any_order(hits):
    for sort in ("corpus", "left", "right", "score"):
        whole = hits("que", sort, size=500).lines
        parts = [line for page in range(1, 20) for line in hits("que", sort, page, 20).lines]
        assert parts == whole


def test_lines_are_sorted_by_the_words_around_the_hit(hits):
    def words(text):
        return [each.word for each in placed_words(text)]

    after = [words(line.right)[:3] for line in hits("que", "right", size=500).lines]
    assert after == sorted(after)
    before = [words(line.left)[::-1][:3] for line in hits("que", "left", size=500).lines]
    assert before == sorted(before)


@pytest.mark.parametrize(
    ("text", "more", "found"),
    [
        ("MUSEO", {}, ["museo", "museo"]),
        ("museo", {"level": "lemma"}, ["museos", "museo", "museo"]),
        ("ir", {"level": "lemma"}, ["Fuimos", "Voy"]),
        ("museoak", {"level": "stem", "side": "2"}, ["Museoak"]),
        ("esta", {}, ["está"]),
        ("esta", {"level": "exact"}, []),
        ("muse*", {}, ["museos", "museo", "museo"]),
        ("*rrad*", {}, ["cerrados", "cerrado"]),
        ("北京", {}, ["北京"]),
        ("museo", {"other": "itxita"}, ["museo"]),
        ("museo", {"site": "example.org"}, ["museo", "museo"]),
        ("museo", {"site": "other.example"}, []),
        ("museo", {"kind": "heading"}, []),
        ("palabra", {"score": 0.9}, ["palabra"]),
        ("perro casa perro casa perro", {}, []),
        ("' OR 1=1 --", {}, []),
    ],
)
def test_what_is_asked_is_what_is_found(hits, text, more, found):
    assert [line.hit for line in hits(text, **more).lines] == found


@pytest.mark.parametrize("text", ["", "*", "* *", ".,;", "a*", "x" * 400, "y " * 30])
def test_a_query_that_cannot_be_asked_gets_a_sentence(text):
    with pytest.raises(QueryError):
        terms_of(text)


def test_frequencies_are_those_of_the_texts(ask):
    counted = Counter(word.word for text, _ in [*RANDOM, *SPECIAL] for word in placed_words(text))
    found = ask(frequencies, "1", "exact", "", (0, 1000))
    assert {row.word: row.number for row in found.rows} == counted
    assert found.total == len(counted)
    lemmas = ask(frequencies, "1", "lemma", "museo", (0, 10)).rows
    assert [(row.word, row.number) for row in lemmas] == [("museo", 3)]


def test_n_grams_are_those_of_the_texts(ask):
    counted: Counter[str] = Counter()
    for text, _ in [*RANDOM, *SPECIAL]:
        words = [each.word for each in placed_words(text)]
        counted.update(" ".join(words[at : at + 3]) for at in range(len(words) - 2))
    found = ask(n_grams, ConcordanceQuestion(), 3)
    assert {row.words: row.number for row in found.rows} == {
        gram: number for gram, number in counted.items() if number > 1
    }
    assert all(
        "casa" in row.words.split() for row in ask(n_grams, ConcordanceQuestion("casa"), 2).rows
    )


def test_collocations_count_the_words_around_the_hits_once_each(ask):
    near = set()
    for number, place, words in in_a_row(["casa"], [*RANDOM, *SPECIAL]):
        around = [*range(max(0, place - 2), place), *range(place + 1, min(len(words), place + 2))]
        near |= {(number, at, words[at]) for at in around}
    counted = Counter(word for *_, word in near)
    found = ask(collocations, ConcordanceQuestion("casa"), 2, 1, "exact")
    assert {row.word: row.together for row in found.rows} == {
        word: number for word, number in counted.items() if number > 1
    }
    assert [row.log_dice for row in found.rows] == sorted(
        (row.log_dice for row in found.rows), reverse=True
    )


def test_the_translation_of_a_word_is_the_first_of_the_list(ask):
    for word in ("casa", "perro", "río", "molino", "viejo"):
        first = ask(translations, ConcordanceQuestion(word)).rows[0]
        assert first.word == THERE[word]


def test_what_a_lexicon_knows_is_raised(ask):
    before = ask(translations, ConcordanceQuestion("casa")).rows
    other = before[-1].word
    share = lambda one, two: float((one, two) == ("casa", other))  # noqa: E731
    after = ask(translations, ConcordanceQuestion("casa"), share).rows
    assert next(row for row in after if row.word == other).weight == 2 * before[-1].weight


def test_association_is_measured_as_in_the_papers():
    assert log_dice(10, 10, 10) == 14
    assert log_dice(10, 20, 20) == 13
    # Dunning 1993, table of bigrams: "the swiss"
    assert log_likelihood(110, 110 + 2442, 110 + 111, 110 + 2442 + 111 + 29114) == 270.7
    assert log_likelihood(1, 50, 50, 100) == 0


def test_a_word_without_end_is_cut_and_found(tmp_path):
    longest, lines = "ñu" * 5000, ["x" * 30_000, "y"]
    rows = [sentence("a", 0, f"uno {longest}", "bat"), sentence("a", 1, *lines)]
    write_sentences(tmp_path, rows)
    index = ConcordanceIndex(tmp_path)
    index.refresh()
    with index.asking() as asking:
        found = frequencies(asking, "1", "word", "", (0, 9)).rows
        query = ConcordanceQuestion(f"uno {longest[:200]}")
        page = concordance(asking, query, LineOrder(), lambda *_: {})
    index.close()
    assert [row.word for row in found] == ["nu" * 30, "uno"]
    assert page.number == 1


def test_a_question_that_takes_too_long_is_stopped(index, monkeypatch):
    monkeypatch.setattr(index_file, "SECONDS", 0.2)
    endless = "SELECT count(*) FROM range(1000000000000) a WHERE a.range % 7 = 3"
    with pytest.raises(SlowQuestionError, match="too much time"), index.asking() as asking:
        asking.rows(endless)
    with index.asking() as asking:
        wait_until(lambda: time.monotonic() > asking.until)
        with pytest.raises(SlowQuestionError, match="too much time"):
            asking.rows("SELECT 1")


def test_a_folder_is_closed_at_once_while_the_index_of_another_is_built(tmp_path):
    write_sentences(tmp_path, [sentence("a", 0, "uno", "bat")])
    index = ConcordanceIndex(tmp_path)
    with index_file._building:
        index.start()
        wait_until(lambda: index.share is not None)
        index.close()
    assert not list(tmp_path.glob("concordance-*.duckdb"))


def test_the_index_reaches_no_other_file(index, tmp_path):
    (tmp_path / "secret.csv").write_text("secret\n1\n")
    import duckdb  # noqa: PLC0415

    with index.asking() as asking:
        for statement in (
            f"SELECT * FROM '{tmp_path}/secret.csv'",
            f"COPY (SELECT 1) TO '{tmp_path}/written.csv'",
            f"ATTACH '{tmp_path}/other.duckdb'",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                asking.rows(statement)


def test_a_changed_corpus_gets_a_new_index_and_the_old_one_goes(tmp_path):
    write_sentences(tmp_path, [sentence("a", 0, "uno", "bat")])
    index = ConcordanceIndex(tmp_path)
    index.refresh()
    write_sentences(tmp_path, [sentence("a", 0, "dos tres", "bi"), sentence("a", 1, "dos", "bi")])
    index.refresh()
    with index.asking() as asking:
        rows = frequencies(asking, "1", "exact", "", (0, 9)).rows
    index.close()
    assert [(row.word, row.number) for row in rows] == [("dos", 2), ("tres", 1)]
    assert len(list(tmp_path.glob("concordance-*"))) == 1
