"""A finished model whose judge is fitted anew: the readers stay as they are."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

torch = pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
pytest.importorskip("transformers", reason="training needs transformers")
pytest.importorskip("sklearn", reason="training needs scikit-learn")

from bilingual_crawler.errors import ConfigurationError  # noqa: E402
from bilingual_crawler.lab.labels import LabelledUrl, SkippedLines  # noqa: E402
from bilingual_crawler.lab.training.cross_validation import FIGURES, TABLE  # noqa: E402
from bilingual_crawler.lab.training.recipe import TrainingOptions  # noqa: E402
from bilingual_crawler.lab.training.refit import (  # noqa: E402
    FinishedModel,
    cross_validate_judge,
    refit,
)
from bilingual_crawler.lab.training.url2lang import (  # noqa: E402
    for_judge,
    judged_weights,
    read_rows,
)
from bilingual_crawler.scoring.classifier import Url2Lang  # noqa: E402

SHIPPED = Path(__file__).parents[2] / "models" / "url2lang"
SLUGS = {"fin": "palvelut-etusivu-uutiset", "spa": "servicios-noticias-inicio"}


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """Tables of two hundred sites in two languages, and the shipped model's readers."""
    tmp_path = tmp_path_factory.mktemp("refit")
    rng = random.Random(1)
    with (tmp_path / "urls.tsv").open("w") as lines:
        for number in range(800):
            language = rng.choice(list(SLUGS))
            words = rng.sample(SLUGS[language].split("-"), 2)
            lines.write(f"https://site{number % 200}.org/{'-'.join(words)}/{number}\t{language}\n")
    return TrainingOptions(
        data=(tmp_path / "urls.tsv",), out=tmp_path / "new", readers=SHIPPED, everything=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def figures(options):
    """The figures of a model whose judge was fitted to these tables."""
    return refit(options, lambda _: None)


def constants(folder):
    graph = onnx.load(str(folder / "model.onnx")).graph
    return {each.name: numpy_helper.to_array(each) for each in graph.initializer}


def test_only_the_judge_changes(options, figures):
    assert figures["dev_accuracy"] > 0.9
    before, after = constants(SHIPPED), constants(options.out)
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert before.keys() == after.keys()
    assert len(changed) == 7
    assert {"judge.preference", "judge.each.bias", "judge.last.bias"} < changed
    (found,) = Url2Lang(options.out).languages(["https://www.example.org/palvelut/uutiset"])
    assert found[0][0] == "fin"


@pytest.mark.usefixtures("figures")
def test_the_card_keeps_what_it_says_of_the_readers(options):
    old, new = (folder / "README.md" for folder in (SHIPPED, options.out))
    kept = [
        line for line in old.read_text().splitlines() if line.startswith(("- learned", "| 7 |"))
    ]
    assert len(kept) == 2
    assert set(kept) < set(new.read_text().splitlines())
    assert "fitted anew when the readers were finished" in new.read_text()


def test_every_site_is_answered_for_by_a_judge_that_has_not_seen_it(options, monkeypatch, tmp_path):
    given = []

    def watched(judged, made):
        given.append([{row.domain for row in rows} for rows in (judged, made)])
        return judged_weights(judged, made)

    monkeypatch.setattr("bilingual_crawler.lab.training.refit.judged_weights", watched)
    text = cross_validate_judge(replace(options, out=tmp_path), 2, lambda _: None)
    assert "| compact model |" in text
    assert (tmp_path / TABLE).read_text() == text
    assert json.loads((tmp_path / FIGURES).read_text())["ways"]["model"]["accuracy"] > 0.9
    (first, first_made), (second, second_made) = given
    assert first_made <= first
    assert second_made <= second
    assert not first & second
    assert len(first | second) > 15  # of two hundred sites, those left to the judge


def test_a_model_without_a_judge_is_refused(tmp_path):
    pairs = SHIPPED.parent / "parallel"
    with pytest.raises(ConfigurationError, match="cannot be used"):
        FinishedModel(pairs)


def test_the_judge_is_taught_codes_of_all_languages_alike(options):

    model = FinishedModel(SHIPPED)
    rows = read_rows(options, SkippedLines())
    unseen = for_judge(model.encoder, rows, model.labels, seed=1)
    made = unseen.targets[len(rows) :]
    assert len(made) == round(len(rows) * 2 / 3)
    assert len(set(made.tolist())) > 150
    real = unseen.weights[: len(rows)].sum()
    assert unseen.weights[len(rows) :].sum() == pytest.approx(0.2 * real)


def test_a_site_in_many_languages_does_not_outweigh_the_others(options):

    model = FinishedModel(SHIPPED)
    codes = model.labels[:100]
    rows = [LabelledUrl(f"https://many.org/{code}/", code, "many.org") for code in codes]
    rows += [LabelledUrl(f"https://one{n}.org/a", "eng", f"one{n}.org") for n in range(100)]
    unseen = for_judge(model.encoder, rows, model.labels, seed=1)
    assert unseen.weights[:100].sum() == pytest.approx(10 * unseen.weights[100])
