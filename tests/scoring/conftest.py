"""Fixtures of the tests of scorers."""

from dataclasses import replace

import pytest

from bilingual_crawler.scoring.adaptive.weights import ValueWeights, using


@pytest.fixture
def without_rules():
    """Let the adaptive scorer say what it knows itself, with weights that no learning changes."""
    with using(replace(ValueWeights(), rule_at_first=0.0, rule_in_the_end=0.0)):
        yield
