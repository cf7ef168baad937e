"""The weights of pairing are learned under constraints."""

import numpy as np

from bilingual_crawler.lab.training.pairs import OPPOSING, SUPPORTING, Lesson, fit
from bilingual_crawler.pairing.comparison import FEATURES
from bilingual_crawler.pairing.model import load_pair_model


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


def test_the_shipped_weights_keep_to_the_signs():
    weights = weights_of(load_pair_model())
    assert all(weights[name] >= 0 for name in SUPPORTING)
    assert all(weights[name] <= 0 for name in OPPOSING)
