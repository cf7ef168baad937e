"""A word list or a sentence model tells pairs apart where nothing else can."""

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.embeddings import MOST_TEXTS, TextEmbedder, load_encoder
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.resources import (
    DETECTORS,
    DICTIONARY,
    EMBEDDINGS,
    RESOURCES,
    PairingAids,
)
from bilingual_crawler.pairing.word_list import WordList
from bilingual_crawler.store.folder import CrawlFolder
from tests.support.pairing import pages
from tests.support.tiny_models import meaning_model

PAIR = LanguagePair.parse("spa-eus")
SITE = "https://www.udala.example"
PAGES, WORDS = 4, 40
LETTERS = "abcdefghij"


def spelt(language, number):
    """A word of a language that never was; all words are equally long."""
    start = {"spa": "so", "eus": "ek"}[language]
    return start + "".join(LETTERS[int(digit)] for digit in f"{number:04}")


MEANINGS = {
    spelt(language, number): number
    for language in ("spa", "eus")
    for number in range(PAGES * WORDS)
}
TRUE = {(f"{SITE}/s{n}", f"{SITE}/e{PAGES - n}") for n in range(PAGES)}


def documents():
    """Pages of one shape, whose URLs say nothing and that all share one name."""
    for language, place in (("spa", "s"), ("eus", "e")):
        for topic in range(PAGES):
            words = [spelt(language, topic * WORDS + number) for number in range(WORDS)]
            random.Random(f"{language}{topic}").shuffle(words)
            lines = [" ".join(words[at : at + 8]) for at in range(0, WORDS, 8)]
            number = topic if language == "spa" else PAGES - topic
            yield Document(
                f"{SITE}/{place}{number}",
                language=language,
                paragraphs=[Paragraph("Udalberri"), *map(Paragraph, lines)],
            )


@pytest.fixture
def list_file(tmp_path):
    numbers = range(PAGES * WORDS)
    lines = [f"{spelt('spa', number)}\t{spelt('eus', number)}\n" for number in numbers]
    file = tmp_path / "list.tsv"
    file.write_text("".join(lines))
    return file


@pytest.fixture
def model(tmp_path):
    return meaning_model(tmp_path / "model", MEANINGS)


def embedder(model):
    return TextEmbedder(load_encoder(str(model)), "tiny")


def found(matcher):
    return {(pair.first, pair.second) for pair in matcher.pairs}


def matched(given_pages, detectors=None, word_list=None):
    matcher = Matcher(PAIR, detectors, aids=PairingAids(word_list=word_list))
    for page in given_pages:
        matcher.add(page)
    matcher.finish()
    return matcher


def said(matcher, detector):
    return {
        (pair.first, pair.second): evidence
        for pair in matcher.candidates()
        for evidence in pair.evidence
        if evidence.detector == detector
    }


def test_without_a_resource_nothing_tells_the_pages_apart():
    assert found(matched(map(page_of, documents()))) != TRUE


def test_a_word_list_tells_the_pages_apart(list_file):
    matcher = matched(map(page_of, documents()), word_list=WordList.read(list_file))
    assert found(matcher) == TRUE
    evidence = said(matcher, "dictionary")
    assert {urls for urls, each in evidence.items() if each.score >= 0.5} == TRUE
    assert evidence[min(TRUE)].why == (
        "80 of the 80 words in the word list have their translation on the other page,"
        " 94% beyond chance"
    )


def test_a_sentence_model_tells_the_pages_apart(model):
    made = embedder(model)
    matcher = matched(page_of(each, made) for each in documents())
    assert found(matcher) == TRUE
    evidence = said(matcher, "embeddings")
    assert {urls for urls, each in evidence.items() if each.score >= 0.5} == TRUE


def test_a_resource_that_is_not_asked_says_nothing(list_file, model):
    made, words = embedder(model), WordList.read(list_file)
    asked = set(DETECTORS) - set(RESOURCES)
    plain = matched(map(page_of, documents()), asked)
    silenced = matched([page_of(each, made) for each in documents()], asked, words)
    assert {pair.probability for pair in silenced.candidates()} == {
        pair.probability for pair in plain.candidates()
    }
    assert not said(silenced, "dictionary")
    assert not said(silenced, "embeddings")


def test_the_order_of_the_pages_does_not_matter(list_file, model):
    made, words = embedder(model), WordList.read(list_file)
    known = [page_of(each, made) for each in documents()]
    results = set()
    for order in list(permutations(known[2:6]))[::5]:
        matcher = matched([*known[:2], *order, *known[6:]], word_list=words)
        results.add(frozenset((p.first, p.second, p.probability) for p in matcher.pairs))
    assert len(results) == 1


def test_words_that_all_pages_have_are_no_evidence(list_file):
    common = [spelt("spa", number) for number in range(WORDS)]
    translated = [spelt("eus", number) for number in range(WORDS)]
    made = [
        Document(
            f"{SITE}/{language}{number}",
            language=language,
            paragraphs=[Paragraph(f"Udalberri {' '.join(words)} x{LETTERS[number] * 5}")],
        )
        for language, words in (("spa", common), ("eus", translated))
        for number in range(9)
    ]
    matcher = matched(map(page_of, made), word_list=WordList.read(list_file))
    scores = {each.score for each in said(matcher, "dictionary").values()}
    alone = matched(map(page_of, (made[0], made[-1])), word_list=WordList.read(list_file))
    (for_two,) = said(alone, "dictionary").values()
    assert for_two.score > 0.9
    assert max(scores) < 0.5


def test_a_list_that_knows_too_few_words_says_nothing():
    words = WordList([(spelt("spa", 1), spelt("eus", 1))])
    assert not said(matched(map(page_of, documents()), word_list=words), "dictionary")


def test_the_resources_alone_can_be_asked(list_file, model):
    made, words = embedder(model), WordList.read(list_file)
    matcher = matched([page_of(each, made) for each in documents()], RESOURCES, words)
    best = sorted(matcher.candidates(), key=lambda pair: -pair.score)[:PAGES]
    assert {(pair.first, pair.second) for pair in best} == TRUE


def test_a_vector_survives_the_journal(model):
    page = page_of(next(documents()), embedder(model))
    assert len(page.profile.vector) == 4 + 2 * PAGES * WORDS
    assert PairingPage.unpack(page.url, page.language, page.pack()) == page


def test_pages_without_a_vector_and_of_other_models_are_compared_without_it(model):
    made = embedder(model)
    other = TextEmbedder(load_encoder(str(model)), "another")
    one, *_, last = documents()
    for page in (page_of(last), page_of(last, other)):
        assert not said(matched([page_of(one, made), page]), "embeddings")


def test_a_document_costs_a_bounded_number_of_short_texts():
    asked = []

    def encoder(texts):
        asked.append(texts)
        return [[1.0, 0.0]] * len(texts)

    long = [Paragraph(f"{number} " + "x" * 9_000) for number in range(99)]
    made = TextEmbedder(encoder, "any")
    assert made(Document(SITE, title="Udala", language="spa", paragraphs=long))
    (texts,) = asked
    assert texts[0] == "Udala"
    assert len(texts) == MOST_TEXTS
    assert max(map(len, texts)) <= 500


def test_a_document_without_text_or_with_nothing_the_model_knows_has_no_vector(model):
    made = embedder(model)
    assert made(Document(SITE, language="spa")) == b""
    assert made(Document(SITE, title="\ud800 nothing", language="spa")) == b""


def test_both_survive_a_restart_of_the_crawl(tmp_path, list_file, model):
    aids = PairingAids.read(Config(word_list=str(list_file), embeddings=str(model)))

    def opened():
        folder = CrawlFolder(tmp_path / "crawl", str(PAIR))
        return folder, Corpus(folder, lambda _url: PAIR, aids=aids)

    folder, corpus = opened()
    halves = list(documents())
    for document in halves[::2]:
        corpus.add(document)
    folder.close()
    folder, corpus = opened()
    for document in halves[1::2]:
        corpus.add(document)
    corpus.tidy()
    assert {(pair.first, pair.second) for pair in corpus.pairs} == TRUE
    told = {each.detector for pair in corpus.pairs for each in pair.evidence}
    assert told >= set(RESOURCES)
    folder.close()


@pytest.mark.parametrize("line", [DICTIONARY, EMBEDDINGS])
def test_what_a_resource_adds_is_bounded_and_never_falls(line):
    odds = [line.odds(at / 50) for at in range(-50, 51)]
    assert odds == sorted(odds)
    assert (odds[0], odds[-1]) == (line.least, line.most)
    assert line.odds(line.neutral) == 0
    assert line.score(line.neutral) == 0.5


WORD_LIST = WordList([(f"{a}{b}{b}", f"{b}{a}{a}") for a in LETTERS for b in LETTERS])


@given(st.lists(pages, max_size=6, unique_by=lambda page: page.url))
def test_no_page_raises(given_pages):
    matched([each for each in given_pages if each.language], word_list=WORD_LIST)
