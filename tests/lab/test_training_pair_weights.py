"""The weights of pairing are learned under constraints."""

import numpy as np

from bilingual_crawler.lab.training.pairs import Lesson, fit
from bilingual_crawler.pairing.comparison import FEATURES


def weights_of(model):
    return dict(zip(FEATURES, model.weights, strict=True))


def test_a_site_cannot_teach_that_equal_urls_speak_against_a_pair():
    chance = np.random.default_rng(0)
    rows = chance.random((200, len(FEATURES)))
    labels = rows[:, FEATURES.index("punctuation")] > 0.5
    rows[:, FEATURES.index("same_key")] = ~labels
    rows[:, FEATURES.index("words")] = labels
    weights = weights_of(fit([Lesson("site", rows, labels)], {}))
    assert weights["same_key"] >= 0
    assert weights["words"] == 0
    assert weights["punctuation"] > 0
