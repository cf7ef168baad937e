"""The URL models: their answers, their folders, and what is said when they cannot be used."""

import json
import logging
import shutil
import subprocess
import sys
import threading
import zipfile

import numpy as np
import onnxruntime
import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.scoring.classifier import (
    MOST_ROWS,
    MOST_TOKENS,
    ParallelUrls,
    Url2Lang,
    batches,
)
from bilingual_crawler.scoring.models import find_model, model_places, task_of
from tests.support.tiny_models import (
    LABELS,
    NGRAMS,
    PACKAGE,
    URLS,
    copy_of_the_package,
    parallel_model,
    url2lang_model,
)

SPANISH, ENGLISH, NOTHING = "http://x.org/es/home", "http://x.org/en/home", "http://y.net/zzz"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {
        "url2lang": url2lang_model(folder / "url2lang"),
        "parallel": parallel_model(folder / "parallel"),
        "ngrams": url2lang_model(folder / "ngrams", ngrams=NGRAMS),
    }


@pytest.fixture
def damaged(folders, tmp_path):
    """A copy of the language model to be spoilt."""
    return shutil.copytree(folders["url2lang"], tmp_path / "damaged")


def test_the_language_of_a_known_url_is_told(folders):
    model = Url2Lang(folders["url2lang"])
    assert model.labels == tuple(LABELS)
    table = model.probabilities([SPANISH, ENGLISH, NOTHING])
    assert [LABELS[column] for column in table.argmax(axis=1)] == ["spa", "eng", "unknown"]
    assert table.sum(axis=1) == pytest.approx(1)


def test_the_likeliest_languages_come_first(folders):
    ((first, second),) = Url2Lang(folders["url2lang"]).languages([SPANISH], top=2)
    assert (first[0], second[0]) == ("spa", "unknown")
    assert first[1] > second[1]


def test_the_probability_of_one_language_is_its_column(folders):
    model = Url2Lang(folders["url2lang"])
    column = model.probabilities(URLS)[:, LABELS.index("fra")]
    assert model.probability_of(URLS, "fra") == pytest.approx(column)


def test_a_language_that_the_model_does_not_know_is_an_error_and_not_zero(folders):
    with pytest.raises(ConfigurationError, match="does not know the language eus"):
        Url2Lang(folders["url2lang"]).probability_of(URLS, "eus")


def test_ngrams_are_given_to_a_model_that_takes_them(folders):
    plain, with_ngrams = Url2Lang(folders["url2lang"]), Url2Lang(folders["ngrams"])
    urls = ["http://x.org/informaci%C3%B3n-local"]
    assert plain.languages(urls, 1)[0][0][0] == "unknown"
    assert with_ngrams.languages(urls, 1)[0][0][0] == "spa"


@pytest.mark.parametrize(
    ("preprocessing", "language"),
    [
        ({}, "spa"),
        ({"preprocessing": "sbfc"}, "spa"),
        ({"preprocessing": "transducens"}, "unknown"),
    ],
)
def test_a_url_is_read_in_the_way_that_the_config_names(damaged, preprocessing, language):
    """Of a long URL, a model of ours keeps the end, and a published one does not."""
    spoil_config(damaged, max_length=8, **preprocessing)
    assert Url2Lang(damaged).languages(["http://x.org/a/b/c/d/es"], 1)[0][0][0] == language


def test_pairs_that_differ_in_their_language_alone_are_likely_translations(folders):
    model = ParallelUrls(folders["parallel"])
    likely, unlikely = model.probabilities(
        [
            ("http://site1.example/en/news", "http://site1.example/fr/news"),
            ("http://site1.example/en/news", "http://site1.example/fr/about"),
        ]
    )
    assert likely > 0.99
    assert unlikely < 0.5


def test_nothing_asked_is_nothing_answered(folders):
    assert Url2Lang(folders["url2lang"]).probabilities([]).shape == (0, len(LABELS))
    assert ParallelUrls(folders["parallel"]).probabilities([]).shape == (0,)


def hostile():
    return ["", "\ud800", "%", "http://[", "\x00" * 50, "é" * 4000, "http://x/" + "%D8%A7" * 600]


@pytest.mark.parametrize("name", ["url2lang", "ngrams"])
def test_batching_does_not_change_an_answer(folders, name):
    model = Url2Lang(folders[name], remembered=0)
    urls = [*URLS, *hostile(), *(f"http://x.org/{'en/' * number}" for number in range(40))] * 5
    together = model.probabilities(urls)
    alone = np.concatenate([model.probabilities([url]) for url in urls])
    assert np.abs(together - alone).max() < 1e-6


def test_batching_does_not_change_the_answer_for_a_pair(folders):
    model = ParallelUrls(folders["parallel"], remembered=0)
    urls = [*URLS[:12], *hostile()]
    pairs = [(first, second) for first in urls for second in urls]
    together = model.probabilities(pairs)
    alone = np.concatenate([model.probabilities([pair]) for pair in pairs])
    assert np.abs(together - alone).max() < 1e-6


def test_batches_hold_every_row_once_in_like_lengths_and_are_not_too_large():
    lengths = np.random.default_rng(0).integers(3, 128, 2000).tolist()
    made = list(batches(lengths))
    assert sorted(number for batch in made for number in batch) == list(range(len(lengths)))
    assert all(len(batch) <= MOST_ROWS for batch in made)
    padded = sum(len(batch) * max(lengths[number] for number in batch) for batch in made)
    assert all(len(batch) * lengths[batch[-1]] <= MOST_TOKENS for batch in made)
    assert padded < 1.1 * sum(lengths)


class Counting:
    """A session that counts the rows it is given."""

    def __init__(self, session):
        self.session, self.rows = session, 0

    def run(self, names, arrays):
        self.rows += len(arrays["input_ids"])
        return self.session.run(names, arrays)


def test_what_was_asked_before_is_not_asked_again(folders):
    model = Url2Lang(folders["url2lang"])
    model._session = counting = Counting(model._session)
    first = model.probabilities(URLS + URLS)
    assert counting.rows == len(URLS)
    assert (model.probabilities(URLS) == first[: len(URLS)]).all()
    assert (first[: len(URLS)] == first[len(URLS) :]).all()
    assert counting.rows == len(URLS)


def test_what_was_not_asked_for_longest_is_forgotten_first(folders):
    model = Url2Lang(folders["url2lang"], remembered=2)
    model._session = counting = Counting(model._session)
    for url in ("a", "b", "a", "c"):
        model.probabilities([url])
    assert counting.rows == 3
    model.probabilities(["a"])
    assert counting.rows == 3
    model.probabilities(["b"])
    assert counting.rows == 4


def test_several_threads_get_the_right_answers(folders):
    model = Url2Lang(folders["url2lang"], remembered=5)
    right = model.probabilities(URLS)
    answers = []

    def ask():
        answers.extend([model.probabilities(URLS) for _ in range(5)])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20
    assert all(np.allclose(answer, right) for answer in answers)


def test_the_provider_in_use_is_logged_once(folders, caplog):
    caplog.set_level(logging.INFO, logger="bilingual_crawler.scoring")
    model = Url2Lang(folders["url2lang"])
    model.probabilities(URLS)
    (message,) = caplog.messages
    assert "CPUExecutionProvider" in message
    assert model.provider == "CPUExecutionProvider"


@pytest.mark.skipif(
    "CUDAExecutionProvider" in onnxruntime.get_available_providers(),
    reason="this onnxruntime is built with CUDA",
)
def test_cuda_that_is_not_there_is_an_error_that_names_the_package(folders):
    with pytest.raises(ConfigurationError, match="onnxruntime-gpu"):
        Url2Lang(folders["url2lang"], provider="cuda")


def test_an_unknown_provider_is_refused_with_the_known_ones(folders):
    with pytest.raises(ConfigurationError, match="write cpu or cuda"):
        Url2Lang(folders["url2lang"], provider="tpu")


def spoil_config(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "reads format 1"),
        ({"task": "parallel"}, "'parallel' model"),
        ({"max_length": "long"}, "max_length"),
        ({"labels": ["eng", "eng"]}, "different language codes"),
        ({"labels": ["eng", "fra"]}, "has 4 outputs, but config.json says 2"),
        ({"ngrams": {"sizes": [2]}}, "sizes, buckets and most"),
        ({"ngrams": {"sizes": [0], "buckets": 9, "most": 9}}, "above zero"),
        ({"ngrams": NGRAMS}, "takes attention_mask, input_ids"),
        ({"features": 3}, "compares URLs by 3 features; this version has"),
        ({"preprocessing": "mine"}, "preprocessing in .* is 'mine'; this version has sbfc, trans"),
        ({"preprocessing": ["sbfc"]}, "preprocessing in "),
    ],
)
def test_a_config_that_does_not_fit_is_told(damaged, changes, message):
    spoil_config(damaged, **changes)
    with pytest.raises(ConfigurationError, match=message) as error:
        Url2Lang(damaged)
    assert "scrapy train url2lang" in str(error.value)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("data", [b"", b"version https://git-lfs.example/spec/v1\n", b"{}"])
def test_a_damaged_file_is_told_with_the_way_to_a_good_one(damaged, name, data):
    (damaged / name).write_bytes(data)
    with pytest.raises(ConfigurationError, match=f"{name}.*") as error:
        Url2Lang(damaged)
    assert str(damaged) in str(error.value)
    assert "scrapy train url2lang" in str(error.value)


def test_a_graph_that_was_cut_off_is_told(damaged):
    file = damaged / "model.onnx"
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ConfigurationError, match=r"model\.onnx is damaged or incomplete"):
        Url2Lang(damaged)


def test_a_missing_file_is_told(damaged):
    (damaged / "tokenizer.json").unlink()
    with pytest.raises(ConfigurationError, match="cannot be used"):
        Url2Lang(damaged)


def python(code, *, path, cwd):
    """Run code with a path in front of all others."""
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(path)!r})\n{code}"],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_models_are_looked_for_in_the_package_then_the_project(folders, tmp_path):
    root, here = tmp_path / "root", tmp_path / "here"
    package = copy_of_the_package(root)
    (here / "deeper").mkdir(parents=True)
    (here / "scrapy.cfg").touch()
    places = [place / "models" / "url2lang" for place in (here, root, package)]
    code = f"""
import shutil
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.scoring.models import find_model
try:
    find_model("url2lang")
except ConfigurationError as error:
    print(error)
for place in {list(map(str, places))}:
    shutil.copytree({str(folders["url2lang"])!r}, place)
    print(find_model("url2lang"))
"""
    told, _, *found = python(code, path=root, cwd=here / "deeper").splitlines()
    assert told.startswith("There is no url2lang model: looked in ")
    assert all(str(place) in told for place in places)
    assert found == list(map(str, places))


def test_all_places_with_a_model_are_listed_the_one_in_use_first(folders, tmp_path, monkeypatch):
    shutil.copytree(folders["url2lang"], tmp_path / "models" / "url2lang")
    (tmp_path / "scrapy.cfg").touch()
    monkeypatch.chdir(tmp_path)
    usual = model_places("url2lang")
    assert usual[0].folder == find_model("url2lang")
    project = tmp_path / "models" / "url2lang"
    assert (usual[-1].owner, usual[-1].folder) == ("project", project)
    chosen = model_places("url2lang", str(tmp_path / "nothing"))
    assert (chosen[0].owner, chosen[0].folder) == ("settings", tmp_path / "nothing")
    assert chosen[1:] == usual
    own = model_places("url2lang", str(project))
    assert [each.owner for each in own] == ["settings", *(each.owner for each in usual[:-1])]


def test_a_folder_without_a_task_of_ours_is_told(damaged):
    assert task_of(damaged) == "url2lang"
    spoil_config(damaged, task="chess")
    with pytest.raises(ConfigurationError, match="a model for 'chess'"):
        task_of(damaged)
    (damaged / "config.json").unlink()
    with pytest.raises(ConfigurationError, match="is not a model folder"):
        task_of(damaged)


def test_the_users_choice_comes_first(folders):
    assert find_model("url2lang", str(folders["ngrams"])) == folders["ngrams"]


def test_a_choice_that_is_no_model_folder_is_told(tmp_path):
    with pytest.raises(ConfigurationError, match=r"no model\.onnx") as error:
        find_model("parallel", str(tmp_path))
    assert "scrapy train parallel" in str(error.value)


def test_a_model_in_an_egg_that_is_imported_as_a_zip_is_as_good(folders, tmp_path):
    egg = tmp_path / "project.egg"
    root = copy_of_the_package(tmp_path / "copy")
    shutil.copytree(folders["url2lang"], root / "models" / "url2lang")
    with zipfile.ZipFile(egg, "w") as archive:
        for file in root.rglob("*.*"):
            archive.write(file, file.relative_to(root.parent))
    code = f"""
from bilingual_crawler.scoring.classifier import Url2Lang
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.scoring.models import find_model
model = Url2Lang(find_model("url2lang"))
print(model.where, model.languages([{SPANISH!r}], 1))
"""
    printed = python(code, path=egg, cwd=tmp_path)
    assert str(egg) in printed
    assert "'spa'" in printed


def test_without_onnxruntime_the_way_to_it_is_told(folders, tmp_path):
    code = f"""
sys.modules["onnxruntime"] = None
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.scoring.classifier import Url2Lang
try:
    Url2Lang({str(folders["url2lang"])!r})
except ConfigurationError as error:
    print(error)
"""
    assert "bilingual-crawler[cpu]" in python(code, path=PACKAGE.parent, cwd=tmp_path)
