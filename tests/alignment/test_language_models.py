"""Which sentences are unlikely in their language."""

import math
from dataclasses import replace

import pytest

from bilingual_crawler.alignment.cleaning import broken_rule, rules
from bilingual_crawler.alignment.language_models import (
    LEAST_TEXTS,
    MOST_CHARACTERS,
    CharacterModel,
    LanguageModelFiles,
    LikelySide,
)
from bilingual_crawler.alignment.two_passes import Learned, _tools
from bilingual_crawler.alignment.vocabularies import Vocabularies
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.sentence_pair import SentencePair

SUBJECTS = ("The museum", "Our library", "The old market", "The town hall", "This school")
VERBS = ("opens", "closes", "is cleaned", "can be visited", "receives guests")
TIMES = ("every morning", "on Sundays", "after lunch", "in the summer", "before the holidays")
PLACES = ("near the river", "by the harbour", "behind the church", "in the valley")
SENTENCES = [f"{a} {b} {c} {d}." for a in SUBJECTS for b in VERBS for c in TIMES for d in PLACES]
JUNK = "xq7 ZZKj wvv-9 qqpt kzx vbnq jjxw qzpx"


def test_probabilities_are_those_of_witten_and_bell_worked_out_by_hand():
    # "aa" is learned as \n\n\n a a \n. Without context: a twice, \n once, two kinds of three.
    model = CharacterModel(["aa"])
    none = [(2 + 2 / 3) / 5, (1 + 2 / 3) / 5]  # a, \n
    start = (1 + 1 * none[0]) / 2  # after \n: a once, of one kind
    start = (1 + 1 * (1 + 1 * start) / 2) / 2  # after two, after three
    after_a = [(1 + 2 * each) / 4 for each in none]  # after a: a once, \n once
    second = (1 + (1 + after_a[0]) / 2) / 2  # after \n a, \n\n a: a once
    last = (1 + (1 + after_a[1]) / 2) / 2  # after a a, \n a a: \n once
    wanted = -sum(map(math.log, (start, second, last))) / 3
    assert model.nats("AA") == pytest.approx(wanted)


def test_text_that_nobody_writes_is_unlikely_by_the_sentences_of_the_crawl():
    side = LikelySide(SENTENCES)
    assert side.is_unlikely(JUNK)
    assert not any(map(side.is_unlikely, SENTENCES[::7]))


def test_a_crawl_of_few_sentences_says_nothing():
    assert not LikelySide(SENTENCES[: LEAST_TEXTS - 1]).is_unlikely(JUNK)


def test_a_text_of_the_users_takes_the_place_of_the_crawls_sentences(tmp_path):
    file = tmp_path / "own.txt"
    file.write_text("\n".join([*SENTENCES, *[JUNK] * 200]))
    models = LanguageModelFiles.parse(f"english={file}")
    assert not models.side("eng", SENTENCES).is_unlikely(JUNK)
    assert models.side("spa", SENTENCES).is_unlikely(JUNK)


def test_a_text_without_line_breaks_is_learned_as_far_as_models_go():
    long = "abcd " * (MOST_CHARACTERS // 5 + 10)
    model = CharacterModel([long])
    assert model.nats("abcd abcd") < model.nats(JUNK)


def test_the_rule_comes_last_and_only_if_it_is_asked_for():
    side, known = LikelySide(SENTENCES), Vocabularies("eng", "eng")
    rubbish = SentencePair("id", 0, "u", "v", "eng", "eng", JUNK, "Rubbish, written in words.")
    assert broken_rule(rubbish, rules(1.0, known)) != "unlikely"
    assert "unlikely" not in rules(1.0, known)
    assert list(rules(1.0, known, (side, side)))[-1] == "unlikely"
    assert broken_rule(rubbish, {"unlikely": rules(1.0, known, (side, side))["unlikely"]})


def test_an_alignment_learns_the_models_from_its_sure_pairs():
    for models, is_asked in ((None, False), (LanguageModelFiles({}), True)):
        learned = Learned(vocabularies=Vocabularies("eng", "eus"))
        for number, text in enumerate(SENTENCES):
            learned.add(text, f"{text} {number}")
        ((_, asked),) = _tools({("eng", "eus"): learned}, None, models).values()
        assert ("unlikely" in asked) is is_asked
    rubbish = SentencePair("id", 0, "u", "v", "eng", "eus", JUNK, f"{SENTENCES[0]} 0")
    assert asked["unlikely"](rubbish)
    assert not asked["unlikely"](replace(rubbish, text1=SENTENCES[0]))


@pytest.mark.parametrize("text", ["spa=/no/file", "klingonish=/etc/hosts", "spa", ""])
def test_files_that_are_not_there_are_refused(text):
    with pytest.raises(ConfigurationError, match="--language-models"):
        LanguageModelFiles.parse(text)
