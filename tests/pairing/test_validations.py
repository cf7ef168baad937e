"""Minimums, weights and thresholds per file type, in a file of the user's."""

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.almeida import DEFAULTS, judge
from bilingual_crawler.pairing.validations import read_validations
from tests.support.pairing import packed, page

PAIR = LanguagePair.parse("por-eng")
TOKENS = PAIR.first.tokens | PAIR.second.tokens

EXAMPLE = """
[all]
minimums = { size = 0.4 }

[html]
accept = 0.5
weights = { name = 3, punctuation = 0, images = 0 }
minimums = { links = 0.2 }
"""


def written(folder, text):
    file = folder / "validations.toml"
    file.write_text(text, "utf-8")
    return file


def judged(validations, links):
    first = page("/casa_pt.html", "por", characters=45, punctuation="..", links=packed("a", "b"))
    second = page("/lar_en.html", "eng", characters=100, punctuation="?", links=links)
    return judge(first, second, TOKENS, validations)


def test_weights_minimums_and_threshold_decide_as_worked_out_by_hand(tmp_path):
    validations = read_validations(written(tmp_path, EXAMPLE))
    name = 1 - 5 / 7  # from "casa" to "lar": c, s and a out, l and r in
    mean = (0.45 + 3 * name + 0.5) / 5
    found = judged(validations, packed("b", "c"))
    assert found.score == pytest.approx(0.5 * mean / 0.5)
    assert judged(DEFAULTS, packed("b", "c")).why == "size 45%, below 50%"
    assert judged(validations, packed("x", "y")).why == "links 0%, below 20%"


def test_what_a_file_does_not_name_stays_as_in_the_paper(tmp_path):
    validations = read_validations(written(tmp_path, EXAMPLE))
    assert set(validations) == set(DEFAULTS)
    assert validations["pdf"].accept == DEFAULTS["pdf"].accept
    assert validations["pdf"].weights == DEFAULTS["pdf"].weights
    assert validations["pdf"].minimums == {"size": 0.4}
    assert validations["html"].minimums == {"size": 0.4, "links": 0.2}


def test_every_problem_of_a_file_is_reported_at_once(tmp_path):
    text = """
    mp3 = 1
    [html]
    accept = "high"
    weights = { size = -1, smell = 2 }
    minimum = { size = 0.1 }
    [pdf]
    weights = { size = 0, name = 0, punctuation = 0, links = 0, images = 0 }
    minimums = 3
    """
    with pytest.raises(ConfigurationError) as caught:
        read_validations(written(tmp_path, text))
    said = str(caught.value)
    for part in (
        "[mp3]: there is no such type of file",
        "[html] accept: it must be a number from 0 to 1, not 'high'",
        "[html] weights: size must be a number from 0 to 1000, not -1",
        "[html] weights: there is no 'smell'",
        "[html] minimum: there is no such key",
        "weights: all are 0",
        "[pdf] minimums: write a number for each comparison",
    ):
        assert part in said


def test_a_file_that_is_not_toml_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="is not TOML"):
        read_validations(written(tmp_path, "[html"))
