"""Fixtures of the tests of scorers."""

from dataclasses import replace

import pytest

from bilingual_crawler.scoring.adaptive.weights import ValueWeights, using


@pytest.fixture
def without_rules():
    """Let the adaptive scorer say what it knows itself, to the last digit."""
    with using(replace(ValueWeights(), rule_at_first=0.0, rule_in_the_end=0.0, grain=0.0)):
        yield
