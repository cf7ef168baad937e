"""The parts of the compact url2lang model: what the judge and the linear reader do."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
pytest.importorskip("transformers", reason="training needs transformers")
pytest.importorskip("sklearn", reason="training needs scikit-learn")

from bilingual_crawler.lab.labels import LabelledUrl  # noqa: E402
from bilingual_crawler.lab.training.compact_url2lang import (  # noqa: E402
    CompactUrl2Lang,
    LanguageShape,
    LinearReader,
    fit_judge,
)
from bilingual_crawler.lab.training.examples import Examples  # noqa: E402
from bilingual_crawler.lab.training.export import agreement, export, run_graph  # noqa: E402
from bilingual_crawler.lab.training.linear import fit_linear, joined_ids  # noqa: E402
from bilingual_crawler.lab.training.loop import Fit, Schedule, loss_of  # noqa: E402
from bilingual_crawler.lab.training.url2lang import labels_of, neutral, thinned  # noqa: E402
from bilingual_crawler.scoring.announcements import PLACES  # noqa: E402

SHAPE = LanguageShape(
    outputs=4, path_buckets=64, host_buckets=32, words=32, vocabulary=40, length=8
)
DIRECTORY, ENDING = PLACES.index("first directory"), PLACES.index("ending")


def examples(targets, announced, seed=0):
    """Rows whose words and n-grams say nothing, with announcements (place, label)."""
    rng = np.random.default_rng(seed)
    count = len(targets)
    numbers = [[place * SHAPE.outputs + label + 1 for place, label in row] for row in announced]
    widest = max(map(len, numbers))
    arrays = {
        "input_ids": np.concatenate(
            [np.zeros((count, 1), int), rng.integers(5, 40, (count, 6))], axis=1
        ),
        "ngrams": rng.integers(1, 64, (count, 12)),
        "host": rng.integers(1, 32, (count, 5)),
        "announced": np.array([row + [0] * (widest - len(row)) for row in numbers]),
        "words": rng.integers(1, 32, (count, 4)),
        "host_words": rng.integers(1, 32, (count, 2)),
    }
    return Examples([arrays], np.array(targets, dtype=np.int64))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return CompactUrl2Lang(SHAPE).eval()


def answers(model, rows):
    return Fit(model, Schedule(), lambda *_: 0.0, Path("never written")).predict(rows)


def test_the_judge_learns_how_far_a_place_can_be_trusted(model):
    """A directory always names the language here, an ending never does."""
    rng = np.random.default_rng(1)
    targets = rng.integers(0, 3, 600).tolist()
    said = [[(DIRECTORY, each), (ENDING, (each + 1) % 3)] for each in targets]
    fit_judge(model, examples(targets, said))
    unseen = examples(targets[:50], said[:50], seed=9)
    assert (answers(model, unseen).argmax(axis=1) == unseen.targets).all()


def test_what_it_learns_holds_for_a_language_it_has_never_met(model):
    rng = np.random.default_rng(2)
    targets = rng.integers(0, 3, 600).tolist()
    fit_judge(model, examples(targets, [[(DIRECTORY, each)] for each in targets]))
    new = examples([3] * 20, [[(DIRECTORY, 3)]] * 20, seed=5)
    assert (answers(model, new).argmax(axis=1) == 3).all()


def test_its_probabilities_are_those_of_unseen_sites(model):
    """Where a directory is right in three of four cases, the model says so."""
    rng = np.random.default_rng(3)
    named = rng.integers(0, 3, 2000)
    targets = np.where(rng.random(2000) < 0.75, named, (named + 1) % 3)
    said = [[(DIRECTORY, each)] for each in named.tolist()]
    fit_judge(model, examples(targets.tolist(), said))
    logits = torch.from_numpy(answers(model, examples(targets.tolist(), said, seed=7)))
    sure = logits.softmax(dim=1)[torch.arange(2000), torch.from_numpy(named)]
    assert float(sure.mean()) == pytest.approx(0.75, abs=0.04)


def test_the_linear_reader_says_what_was_fitted():
    rng = np.random.default_rng(4)
    targets = rng.integers(0, 4, 400).tolist()
    rows = examples(targets, [[(DIRECTORY, each)] for each in targets])
    ids = joined_ids(rows.variants[0], SHAPE.tables)
    fitted = fit_linear(
        ids, rows.targets, np.ones(400), buckets=sum(SHAPE.tables.values()), outputs=4,
        by_rarity=False,
    )  # fmt: skip
    reader = LinearReader(SHAPE)
    reader.set(fitted)
    inputs, _, order = next(rows.batches(np.arange(400), 400))
    said = reader(inputs).numpy()
    wanted = fitted.logits(ids[order])
    assert (said.argmax(axis=1) == wanted.argmax(axis=1)).mean() > 0.95


def test_readers_are_taught_together():
    """The loss of several readers is the mean of their losses."""
    logits = torch.randn(5, 3, 4)
    targets = torch.tensor([0, 1, 2, 3, 0])
    each = [loss_of(logits[:, reader], targets, 0.1) for reader in range(3)]
    assert float(loss_of(logits, targets, 0.1)) == pytest.approx(float(sum(each)) / 3, abs=1e-6)


def test_the_graph_agrees_with_torch(model, tmp_path):
    targets = np.random.default_rng(5).integers(0, 4, 300).tolist()
    rows = examples(targets, [[(DIRECTORY, each)] for each in targets])
    fit_judge(model, rows)
    inputs, _, _ = next(rows.batches(np.arange(2), 2))
    names = [
        "input_ids", "attention_mask", "ngrams", "host", "announced", "words", "host_words",
    ]  # fmt: skip
    export(model, {name: inputs[name] for name in names}, tmp_path)
    assert agreement(answers(model, rows), run_graph(tmp_path / "model.fp32.onnx", rows)) == 1
    assert agreement(answers(model, rows), run_graph(tmp_path / "model.onnx", rows)) >= 0.97


def test_every_language_of_cld2_is_a_label_and_others_with_enough_urls():
    rows = [LabelledUrl(f"https://a{n}.org/", "nah", f"a{n}.org") for n in range(8)]
    labels = labels_of(rows)
    assert {"mri", "haw", "nah"} < set(labels)
    assert labels[-1] == "unknown"
    assert "nah" not in labels_of(rows[:5])


def test_urls_that_nobody_can_tell_are_neutral():
    codes = ("eng", "fra", "deu", "spa")
    rows = [LabelledUrl(f"https://vid.com/{code}x", code, "vid.com") for code in codes]
    rows += [LabelledUrl("https://vid.com/eu/x", "eus", "vid.com")]
    rows += [LabelledUrl(f"https://one.com/{n}", "eng", "one.com") for n in range(9)]
    assert {row.url for row in neutral(rows)} == {row.url for row in rows[:4]}
    assert {row.language for row in neutral(rows)} == {"unknown"}


def test_a_site_is_thinned_by_language_and_keeps_what_is_trusted():
    rows = [LabelledUrl(f"https://a.com/{n}", "eng", "a.com", weight=0.5) for n in range(9)]
    rows += [LabelledUrl("https://a.com/sure", "eng", "a.com")]
    kept = thinned(rows, 3, seed=1)
    assert len(kept) == 3
    assert kept[0].url == "https://a.com/sure"
