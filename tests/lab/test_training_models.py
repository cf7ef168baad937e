"""Tiny models on made-up data: they learn, resume, export, and agree with themselves."""

import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
pytest.importorskip("transformers", reason="training needs transformers")
pytest.importorskip("sklearn", reason="training needs scikit-learn")

from bilingual_crawler.errors import ConfigurationError  # noqa: E402
from bilingual_crawler.lab.training.compact import CompactModel, Shape, match  # noqa: E402
from bilingual_crawler.lab.training.examples import Examples  # noqa: E402
from bilingual_crawler.lab.training.export import rounded  # noqa: E402
from bilingual_crawler.lab.training.linear import fit_linear  # noqa: E402
from bilingual_crawler.lab.training.loop import (  # noqa: E402
    Fit,
    Schedule,
    loss_of,
    planned_steps,
    rate_at,
)
from bilingual_crawler.lab.training.parallel import prepare_parallel  # noqa: E402
from bilingual_crawler.lab.training.recipe import TrainingOptions, carry_out  # noqa: E402
from bilingual_crawler.lab.training.url2lang import prepare_url2lang  # noqa: E402
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang  # noqa: E402

WORDS = {
    "fin": ["uutiset", "tietoa", "yhteystiedot", "palvelut", "etusivu", "tapahtumat"],
    "spa": ["noticias", "empresa", "contacto", "servicios", "inicio", "eventos"],
    "eus": ["albisteak", "guri", "harremanetan", "zerbitzuak", "hasiera", "ekitaldiak"],
}
PHRASES = {"page": "sivu", "news": "uutiset", "about": "tietoa", "shop": "kauppa"}


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def urls_table(path, seed=0):
    rng = random.Random(seed)
    with path.open("w") as lines:
        for number in range(900):
            language = rng.choice(list(WORDS))
            words = "-".join(rng.choices(WORDS[language], k=3))
            code = f"{language[:2].replace('sp', 'es')}/" if number % 2 else ""
            lines.write(f"https://host{number % 90}.org/{code}{words}/{number}\t{language}\n")
    return path


def pairs_table(path):
    with path.open("w") as lines:
        for site in range(60):
            for page in range(8):
                name = list(PHRASES)[page % 4]
                one = f"https://s{site}.org/en/{name}-{page}"
                lines.write(f"{one}\t{one.replace('/en/', '/fi/')}\teng\tfin\n")
    return path


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("url2lang")
    options = TrainingOptions(
        data=(urls_table(folder / "urls.tsv"),),
        out=folder / "model",
        epochs=2,
        batch=64,
        vocabulary=400,
        epoch_size=640,
        threads=1,
    )
    seen = []
    figures = carry_out(
        prepare_url2lang(options), options, lambda progress, _: seen.append(progress.loss)
    )
    return options, figures, seen


def phrases_table(path):
    path.write_text("".join(f"fin\t{one}\t{two}\n" for one, two in PHRASES.items()))
    return path


@pytest.fixture(scope="module")
def pair_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parallel")
    options = TrainingOptions(
        data=(pairs_table(folder / "pairs.tsv"),),
        phrases=(phrases_table(folder / "phrases.tsv"),),
        out=folder / "model",
        epochs=4,
        batch=64,
        vocabulary=300,
        epoch_size=1280,
        threads=1,
    )
    return options, carry_out(prepare_parallel(options), options, lambda *_: None)


def test_a_tiny_url2lang_learns_and_a_crawl_can_load_it(language_model):
    options, figures, _ = language_model
    assert figures["dev_macro_f1"] > 0.9
    model = Url2Lang(options.out)
    urls = ["https://unseen.example/noticias-empresa/", "https://unseen.example/tietoa-palvelut"]
    assert [best[0][0] for best in model.languages(urls)] == ["spa", "fin"]


def test_progress_is_shown_while_the_loss_falls(language_model):
    _, _, seen = language_model
    assert len(seen) > 10
    assert seen[-1] < seen[0]


def test_the_graphs_agree_with_torch(language_model, pair_model):
    for _, figures, *_ in (language_model, pair_model):
        assert figures["agreement_fp32"] >= 0.99
        assert figures["agreement_int8"] >= 0.97


def test_the_folder_says_what_the_model_is(language_model):
    options, figures, _ = language_model
    config = json.loads((options.out / "config.json").read_text())
    assert config["format"] == 1
    assert config["task"] == "url2lang"
    assert {"eus", "fin", "spa", "mri"} < set(config["labels"])  # all that CLD2 names
    assert config["labels"][-1] == "unknown"
    assert config["figures"] == figures
    card = (options.out / "README.md").read_text()
    assert "What it has not seen" in card
    assert "urls.tsv" in card


def test_batching_does_not_change_a_result(language_model, pair_model):
    urls = [f"https://a.example/{words[0]}/{'x-' * n}" for n, words in enumerate(WORDS.values())]
    together = Url2Lang(language_model[0].out).probabilities(urls)
    alone = [Url2Lang(language_model[0].out).probabilities([url])[0] for url in urls]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    pairs = [(urls[0], url) for url in urls]
    pairs_together = ParallelUrls(pair_model[0].out).probabilities(pairs)
    alone = [ParallelUrls(pair_model[0].out).probabilities([pair])[0] for pair in pairs]
    np.testing.assert_allclose(pairs_together, alone, atol=1e-5)


def test_weights_are_stored_in_eight_bits(pair_model):
    small, full = (pair_model[0].out / name for name in ("model.onnx", "model.fp32.onnx"))
    assert small.stat().st_size < full.stat().st_size / 2.5


def test_rounding_to_eight_bits_keeps_every_row_to_its_own_scale():
    values = np.array([[1.0, -0.5], [1000.0, 3.0], [0.0, 0.0]], dtype=np.float32)
    small, scale = rounded(values, axis=0)
    np.testing.assert_allclose(small * scale[:, None], values, atol=1000 / 250)
    np.testing.assert_allclose((small * scale[:, None])[0], values[0], atol=1 / 250)


def test_the_words_learned_from_phrases_are_kept_for_a_run_that_goes_on(pair_model, tmp_path):
    options, _ = pair_model
    told: list[str] = []
    again = replace(options, resume=True, phrases=(tmp_path / "none.tsv",))
    model: Any = prepare_parallel(again, told.append).model
    learned = torch.load(options.out / "lexicon.pt")
    torch.testing.assert_close(model.comparison.lexicon.vectors.weight, learned["vectors.weight"])
    assert not told


def test_phrases_without_a_usable_row_are_a_sentence(pair_model, tmp_path):
    empty = tmp_path / "phrases.tsv"
    empty.write_text("nothing\n")
    options = replace(pair_model[0], phrases=(empty,), out=tmp_path / "out")
    with pytest.raises(ConfigurationError, match="English phrase, translation"):
        prepare_parallel(options)


def test_a_feature_that_never_varied_in_training_does_not_decide_alone(pair_model):
    options, _ = pair_model
    model = ParallelUrls(options.out)
    hosts = ("new.org", "a.new.example", "www.a.b.new.example")
    pairs = [(f"https://{host}/en/shop-7", f"https://{host}/fi/about-1") for host in hosts]
    assert max(model.probabilities(pairs)) < 0.5


def test_a_tiny_parallel_model_learns_and_a_crawl_can_load_it(pair_model):
    options, figures = pair_model
    assert figures["dev_macro_f1"] > 0.8
    pairs = [
        ("https://new.example/en/shop-7", "https://new.example/fi/shop-7"),
        ("https://new.example/en/shop-7", "https://new.example/fi/about-1"),
    ]
    right, wrong = ParallelUrls(options.out).probabilities(pairs)
    assert right > 0.5 > wrong


def test_urls_that_differ_only_in_language_tokens_gain_once_all_is_learned(pair_model):
    options, _ = pair_model
    model: Any = prepare_parallel(replace(options, resume=True)).model.eval()
    encoder = ParallelUrls(options.out)._model.encoder
    asked = encoder.encode_pairs(
        [("https://n.example/en/a", f"https://n.example/{end}") for end in ("fi/a", "fi/b")]
    )
    inputs = {name: torch.from_numpy(values) for name, values in asked.items()}
    with torch.no_grad():
        before = model(**inputs)[:, 0]
        model.trust = 2.0
        gained = model(**inputs)[:, 0] - before
    assert gained.tolist() == pytest.approx([2.0, 0.0])


def test_a_killed_run_goes_on_where_it_was_at_the_same_rates(tmp_path):
    """Epochs of 4, 8 and 8 steps; the warm-up is half of the first one."""
    rng = np.random.default_rng(0)
    ids = np.concatenate([np.zeros((256, 1), int), rng.integers(5, 40, (256, 6))], axis=1)
    examples = Examples([{"input_ids": ids, "ngrams": ids[:, 1:] % 16}], ids[:, 1] % 2)
    shape = Shape(outputs=2, vocabulary=40, hidden=16, feed_forward=16, length=8, buckets=16)
    rates: dict[str, list[float]] = {}

    def fit(folder, *, kill_at=None):
        torch.manual_seed(0)
        seen = rates.setdefault(folder.name, [])

        def show(progress):
            if len(seen) < progress.done:
                seen.append(running._optimizer.param_groups[0]["lr"])
            if progress.done == kill_at:
                running.save()
                raise KeyboardInterrupt

        schedule = Schedule(epochs=3, batch=32, rate=1e-3, fold=128, warm_up=0.5)
        running = Fit(CompactModel(shape), schedule, lambda *_: 0.5, folder / "c.pt", show)
        return running

    whole = fit(tmp_path / "whole")
    whole.run(examples, examples)
    killed = fit(tmp_path / "killed", kill_at=6)
    with pytest.raises(KeyboardInterrupt):
        killed.run(examples, examples)
    again = fit(tmp_path / "killed")
    assert again.resume()
    assert again.progress.done == 6
    again.run(examples, examples)
    assert again.progress.done == whole.progress.done == 4 + 8 + 8
    assert again.progress.epoch == 3
    by_hand = [0.5e-3, 1e-3, *(1e-3 * (2 / step) ** 0.5 for step in range(3, 21))]
    assert rates["whole"] == rates["killed"] == pytest.approx(by_hand)


def test_there_is_nothing_to_resume_without_a_checkpoint(tmp_path):
    shape = Shape(outputs=2, vocabulary=40, hidden=16, feed_forward=16, length=8, buckets=16)
    fit = Fit(CompactModel(shape), Schedule(), lambda *_: 0.0, tmp_path / "none.pt")
    assert not fit.resume()


def test_patience_ends_a_fit(tmp_path):
    ids = np.tile(np.arange(5, 12), (64, 1))
    examples = Examples([{"input_ids": ids, "ngrams": ids % 16}], np.zeros(64, dtype=np.int64))
    shape = Shape(outputs=2, vocabulary=40, hidden=16, feed_forward=16, length=8, buckets=16)
    schedule = Schedule(epochs=50, batch=64, patience=2)
    fit = Fit(CompactModel(shape), schedule, lambda *_: 0.5, tmp_path / "c.pt")
    assert fit.run(examples, examples).epoch == 3


def test_the_rate_rises_over_the_warm_up_then_falls_by_the_root():
    plan = Schedule(rate=1.0)
    assert rate_at(plan, 0, 10, 1_000) == pytest.approx(0.1)
    assert rate_at(plan, 9, 10, 1_000) == pytest.approx(1.0)
    assert rate_at(plan, 39, 10, 1_000) == pytest.approx(0.5)


def test_a_cosine_ends_with_the_last_step():
    plan = Schedule(rate=1.0, decay="cosine")
    assert rate_at(plan, 10, 10, 110) == pytest.approx(1.0)
    assert rate_at(plan, 60, 10, 110) == pytest.approx(0.5)
    assert rate_at(plan, 110, 10, 110) == pytest.approx(0.01)


def test_the_warm_up_is_a_share_of_the_first_epoch_however_long_the_others_are():
    """Folds of 1,000 rows in batches of 10: epochs of 100, 200, 250 and 250 steps."""
    examples = Examples([{"input_ids": np.zeros((2_500, 2), int)}], np.zeros(2_500, dtype=np.int64))
    plan = Schedule(epochs=4, batch=10, fold=1_000, warm_up=0.1)
    assert planned_steps(plan, examples) == (10, 100 + 200 + 250 + 250)


def test_folds_add_up_epoch_by_epoch():
    examples = Examples([{"input_ids": np.zeros((10, 2), int)}], np.zeros(10, dtype=np.int64))
    sizes = [len(examples.order(epoch, seed=0, size=0, fold=4)) for epoch in range(4)]
    assert sizes == [4, 8, 10, 10]


def test_one_output_is_judged_by_binary_cross_entropy():
    assert float(loss_of(torch.tensor([[0.0]]), torch.tensor([1]), 0.0)) == pytest.approx(
        0.6931, abs=1e-3
    )


def test_tokens_of_both_urls_are_found_whatever_their_place():
    found = match(torch.tensor([[0, 7, 8, 9, 2, 8, 9, 6, 2, 1]]))
    assert found.first_only.tolist() == [[0, 1, 0, 0, 0, 0, 0, 0, 0, 0]]
    assert found.second_only.tolist() == [[0, 0, 0, 0, 0, 0, 0, 1, 0, 0]]
    assert found.same.tolist() == [[0, 0, 1, 1, 0, 1, 1, 0, 0, 0]]


def test_the_same_token_among_other_neighbours_has_moved():
    found = match(torch.tensor([[0, 7, 8, 2, 8, 7, 2]]))
    assert found.moved.tolist() == [[0, 1, 1, 0, 1, 1, 0]]


def test_too_little_data_is_a_sentence(tmp_path):
    table = tmp_path / "few.tsv"
    table.write_text("http://a.fi/\tfin\n")
    with pytest.raises(ConfigurationError, match="too little"):
        prepare_url2lang(TrainingOptions(data=(table,), out=tmp_path / "m"))
    table.write_text("http://a.fi/en\thttp://a.fi/fi\teng\tfin\n")
    with pytest.raises(ConfigurationError, match="too few sites"):
        prepare_parallel(TrainingOptions(data=(table,), out=tmp_path / "m"))


def test_the_linear_baseline_learns_and_answers_for_other_rows():
    rng = np.random.default_rng(0)
    ngrams = rng.integers(4, 64, (300, 12))
    targets = (ngrams[:, 0] % 3).astype(np.int64)
    ngrams[:, 1] = targets + 1
    fitted = fit_linear(ngrams[:200], targets[:200], np.ones(200), buckets=64, outputs=3)
    assert (fitted.logits(ngrams[200:]).argmax(axis=1) == targets[200:]).mean() > 0.9
