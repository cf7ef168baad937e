"""Scores of a classifier made into probabilities that hold."""

import math
import random

import pytest

from bilingual_crawler.discovery.learner import LEAST_SLOPE, Calibration


def probability(calibration, score):
    return math.exp(calibration.log_probability(score))


def fitted(outcomes):
    calibration = Calibration()
    for score, relevant in outcomes:
        calibration.note(score, relevant)
    calibration.fit()
    return calibration


def test_before_anything_came_of_it_a_score_is_taken_at_its_word():
    calibration = fitted([])
    assert (calibration.slope, calibration.offset) == pytest.approx((1, 0))
    assert probability(calibration, 2.0) == pytest.approx(1 / (1 + math.exp(-2)))


def test_scores_that_are_too_sure_become_as_sure_as_they_may_be():
    rng = random.Random(7)
    true = [rng.gauss(0, 1) for _ in range(2000)]
    outcomes = [(4 * score, rng.random() < 1 / (1 + math.exp(-score))) for score in true]
    calibration = fitted(outcomes)
    assert calibration.slope == pytest.approx(0.25, abs=0.03)
    assert calibration.offset == pytest.approx(0, abs=0.2)


def test_the_mean_of_what_is_said_is_the_mean_of_what_comes():
    outcomes = [(score, number % 5 == 0) for number in range(1000) for score in (number % 7 - 3.0,)]
    calibration = fitted(outcomes)
    said = sum(probability(calibration, score) for score, _ in outcomes)
    assert said == pytest.approx(200, rel=0.05)


def test_scores_that_say_the_contrary_keep_their_order():
    calibration = fitted([(1.0, False), (-1.0, True)] * 500)
    assert calibration.slope == LEAST_SLOPE
    assert probability(calibration, 1.0) > probability(calibration, -1.0)


def test_scores_without_bound_do_no_harm():
    calibration = fitted([(700.0, True), (-700.0, False)] * 100)
    assert -1e-6 < calibration.log_probability(700.0) <= 0
    assert calibration.log_probability(-700.0) < -100
