"""Cross-validation of the model for pairs: figures of unseen sites, both kinds of negatives."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
pytest.importorskip("transformers", reason="training needs transformers")
pytest.importorskip("sklearn", reason="training needs scikit-learn")

from bilingual_crawler.lab.labels import LabelledPair
from bilingual_crawler.lab.training import pair_folds
from bilingual_crawler.lab.training.cross_validation import FIGURES
from bilingual_crawler.lab.training.pair_folds import (
    PairAnswer,
    calibration,
    cross_validate_pairs,
    figures,
    table,
)
from bilingual_crawler.lab.training.parallel import (
    LANGUAGE_CAP,
    MEASURED_CAP,
    prepare_parallel,
    prepared_from,
    thinned_pairs,
)
from bilingual_crawler.lab.training.recipe import TrainingOptions, carry_out
from tests.lab.test_training_models import pairs_table, phrases_table


def answers():
    """Forty pairs of five sites, of which the model finds 30, and 80 others, four of them taken."""
    found = []
    for number in range(40):
        site = f"{number % 5}.org"
        said = 0.9 if number < 30 else 0.2
        found.append(PairAnswer(True, "", site, "eng-fin", number < 20, 0.7, said))
        found.append(PairAnswer(False, "random", site, "eng-fin", 0, 0.1, 0.1))
        wrong = 0.8 if number < 4 else 0.3
        found.append(PairAnswer(False, "siblings", site, "eng-fin", 0, 0.6, wrong))
    return found


def test_the_figures_are_those_of_the_answers():
    found = figures(answers())
    assert (found["pairs"], found["sites"]) == (40, 5)
    assert found["any"]["stripping"]["recall"] == pytest.approx(0.5)
    assert found["any"]["model"]["positive_f1"] == pytest.approx(2 * 30 / (30 + 40))
    assert found["any"]["linear"]["macro_f1"] == 1
    assert found["hard"]["model"]["precision"] == pytest.approx(30 / 34)
    assert found["hard"]["linear"]["precision"] == pytest.approx(0.5)
    assert found["unseen_sites"]["any_positive_f1"] == found["any"]["model"]["positive_f1"]
    assert found["by_language_pair"]["eng-fin"]["pairs"] == 40


def test_a_language_pair_of_few_sites_is_not_shown_on_its_own():
    few = [each._replace(domain="one.org") for each in answers()]
    assert not figures(few)["by_language_pair"]
    assert "eng-fin" not in table(few, 5)


def test_calibration_compares_probabilities_with_shares():
    rows = [each for each in answers() if each.parallel or each.kind == "random"]
    assert calibration(rows) == [
        (40, pytest.approx(0.1), 0.0),
        (10, pytest.approx(0.2), 1.0),
        (30, pytest.approx(0.9), 1.0),
    ]


def test_a_large_site_counts_with_few_pairs():
    pairs = [
        LabelledPair(f"http://a.org/{n}", f"http://a.org/x{n}", True, "eng", code, "a.org")
        for n in range(300)
        for code in ("fin", "spa", "eus", "deu", "fra", "ita")
    ]
    kept = thinned_pairs(pairs, 0)
    assert len(kept) == MEASURED_CAP
    for code in ("fin", "spa", "eus"):
        assert sum(pair.second_language == code for pair in kept) <= LANGUAGE_CAP


def test_every_site_is_answered_for_by_a_model_that_has_not_seen_it(tmp_path, monkeypatch):
    asked = []

    def watched(tables, options, tell):
        asked.append(tables)
        return prepared_from(tables, options, tell)

    monkeypatch.setattr(pair_folds, "prepared_from", watched)
    options = TrainingOptions(
        data=(pairs_table(tmp_path / "pairs.tsv"),),
        phrases=(phrases_table(tmp_path / "phrases.tsv"),),
        out=tmp_path / "cv", epochs=2, batch=64, vocabulary=300, epoch_size=1280, threads=1,
    )  # fmt: skip
    text = cross_validate_pairs(options, 2, lambda *_: None, lambda _: None)
    assert "| compact model |" in text
    assert "against pages hard to tell apart" in text
    for tables in asked:
        parts = [{row.domain for row in part} for part in tables[:3]]
        assert sum(map(len, parts)) == len(set().union(*parts))
    assert len({row.domain for tables in asked for row in tables.test}) == 60
    written = tmp_path / "cv" / FIGURES
    assert json.loads(written.read_text())["any"]["model"]["macro_f1"] > 0.7
    shipped = replace(
        options, out=tmp_path / "all", everything=True, epochs=1, epoch_size=128, figures=written
    )
    found = carry_out(prepare_parallel(shipped), shipped, lambda *_: None)
    assert "unseen_sites_any_macro_f1" in found
    assert not any(name.startswith("test") for name in found)  # all sites are learned from
    again = cross_validate_pairs(options, 2, lambda *_: None, lambda _: None)
    assert again == text
    assert len(asked) == 2  # answered folds are not trained again
