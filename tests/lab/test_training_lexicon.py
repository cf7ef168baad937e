"""Words of many languages in one space."""

import gzip

import numpy as np
import pytest
import torch

from bilingual_crawler.lab.training.lexicon import as_words, fit_lexicon, read_phrases
from bilingual_crawler.scoring.encode import Ngrams
from bilingual_crawler.scoring.preprocess import ngram_table

NGRAMS = Ngrams((2, 3), 2048, 64)
SYLLABLES = [a + b for a in "bdfgklmnprst" for b in "aeiou"]


def made_up_words(count, seed):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(SYLLABLES, 3)) for _ in range(count)]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("phrases") / "phrases.tsv.gz"
    english, other = made_up_words(400, 1), made_up_words(400, 2)
    with gzip.open(path, "wt", encoding="utf-8") as out:
        for one, two in zip(english, other, strict=True):
            out.write(f"xyz\t{one}\t{two}\n")
        out.write("broken line\n\t\t\nxyz\tsame\tsame\nxyz\t123\t456\n")
    return path, english, other


def test_rows_without_two_different_texts_are_left_out(table):
    path, english, _ = table
    assert len(read_phrases([path]).shares) == len(set(zip(english, table[2], strict=True)))


def test_phrases_are_written_as_the_words_of_a_slug():
    assert as_words("Über uns – 2024!") == " uber uns "


def test_letters_are_also_learned_as_slugs_write_them(tmp_path):
    path = tmp_path / "phrases.tsv"
    path.write_text("deu\tabout us\tÜber uns\nbul\tnews\tНовини\nell\tnews\tΝέα\n")
    english, others = read_phrases([path]).texts
    assert set(others) == {" uber uns ", " ueber uns ", " новини ", " novini ", " νεα ", " nea "}
    assert set(english) == {" about us ", " news "}


def test_translations_come_to_lie_beside_each_other(table):
    path, english, other = table
    told = []
    lexicon = fit_lexicon(
        read_phrases([path]), NGRAMS, 24, passes=120, show=lambda *each: told.append(each)
    )
    lexicon.eval()
    with torch.no_grad():
        vectors = [
            torch.nn.functional.normalize(
                lexicon(torch.from_numpy(ngram_table(texts, NGRAMS.sizes, NGRAMS.buckets, 32)))[0]
            )
            for texts in ([f" {word} " for word in words] for words in (english, other))
        ]
        found = (vectors[0] @ vectors[1].T).argmax(dim=1)
    right = np.mean([other[place] == word for place, word in zip(found, other, strict=True)])
    assert right > 0.7
    assert told[-1][0] == told[-1][1]
    assert told[-1][2] < told[0][2]


def test_a_text_is_the_same_while_learning_and_afterwards(table):
    lexicon = fit_lexicon(read_phrases([table[0]]), NGRAMS, 8, passes=0.1)
    ids = torch.from_numpy(ngram_table([" berri onak ", " "], NGRAMS.sizes, NGRAMS.buckets, 32))
    with torch.no_grad():
        learning = lexicon.train()(ids)
        afterwards = lexicon.eval()(ids)
    for one, two in zip(learning, afterwards, strict=True):
        torch.testing.assert_close(one, two)
