"""Published checkpoints become model folders that answer as transformers does."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
transformers = pytest.importorskip("transformers", reason="training needs transformers")

from bilingual_crawler.errors import ConfigurationError  # noqa: E402
from bilingual_crawler.lab.training.checkpoint import language_labels  # noqa: E402
from bilingual_crawler.lab.training.convert import (  # noqa: E402
    ConversionOptions,
    PublishedModel,
    convert,
)
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang  # noqa: E402
from tests.support.checkpoints import (  # noqa: E402
    LANGUAGES,
    Hub,
    checkpoint,
    edit,
    parallel_checkpoint,
    url2lang_checkpoint,
)
from tests.support.processes import HANG  # noqa: E402

URLS = {
    "https://es.example.org/contacto_2#top": "es . example . org / contacto _ 2 # top",
    "http://www.example.eus/eu/?id=42//": "www . example . eus / eu /? id = 42",
    "https://shop.example/caf%C3%A9--x": "shop . example / café -- x",
    "https://news.example/": "news . example",
}
"""Addresses, and by hand what the authors' programs make of them."""
LONG = ("https://www.example/" + "about/" * 200, "www . example" + " / about" * 200)


def converted(source, out, **options):
    figures = convert(ConversionOptions(source=str(source), out=out, **options), lambda _: None)
    return out, figures


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    return {
        "url2lang": url2lang_checkpoint(folder / "url2lang"),
        "one": parallel_checkpoint(folder / "one", safe=False),
        "two": parallel_checkpoint(folder / "two", outputs=2),
    }


@pytest.fixture(scope="module")
def models(sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp("converted")
    return {name: converted(source, folder / name) for name, source in sources.items()}


@pytest.fixture
def copied(sources, tmp_path):
    """A copy of the language checkpoint to be spoilt."""
    return shutil.copytree(sources["url2lang"], tmp_path / "copied")


def logits_of_transformers(folder, texts):
    """What the usage example of a model card computes."""
    words = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    found = []
    for text in texts:
        rows = words(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            found.append(model(rows["input_ids"], rows["attention_mask"]).logits[0].numpy())
    return np.stack(found)


def softmax(logits):
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponents / exponents.sum(axis=1, keepdims=True)


def full_precision(folder, tmp_path):
    """The folder with the graph of unrounded weights in the place of the one that crawls run."""
    copy = shutil.copytree(folder, tmp_path / "full")
    (copy / "model.fp32.onnx").replace(copy / "model.onnx")
    return copy


def test_languages_have_the_probabilities_that_transformers_computes(sources, models, tmp_path):
    out, figures = models["url2lang"]
    urls = dict([*URLS.items(), LONG])
    wanted = softmax(logits_of_transformers(sources["url2lang"], urls.values()))
    model = Url2Lang(full_precision(out, tmp_path))
    assert np.ptp(wanted.argmax(axis=1)) > 0
    assert model.probabilities(list(urls)) == pytest.approx(wanted, abs=1e-5)
    assert Url2Lang(out).probabilities(list(urls)) == pytest.approx(wanted, abs=0.1)
    assert figures["agreement_fp32"] == 1
    assert figures["agreement_int8"] > 0.8
    assert figures["difference_fp32"] < 1e-4 < figures["difference_int8"]


def test_labels_are_the_languages_of_the_checkpoint(models):
    labels = Url2Lang(models["url2lang"][0]).labels
    assert len(labels) == 162
    assert (labels[0], labels[-2:]) == ("unknown", ("eus", "sux"))
    assert list(labels[1:]) == LANGUAGES[1:]


@pytest.mark.parametrize(
    ("name", "logit_of"),
    [
        ("one", lambda outputs: outputs[:, 0]),
        ("two", lambda outputs: outputs[:, 1] - outputs[:, 0]),
    ],
)
def test_pairs_have_the_probability_that_transformers_computes(
    sources, models, tmp_path, name, logit_of
):
    items = [*URLS.items(), LONG]
    pairs = [(one, two) for one in items for two in items[::-1]]
    texts = [f"{one}</s>{two}" for (_, one), (_, two) in pairs]
    outputs = logits_of_transformers(sources[name], texts).astype(float)
    wanted = 1 / (1 + np.exp(-logit_of(outputs)))
    model = ParallelUrls(full_precision(models[name][0], tmp_path))
    found = model.probabilities([(one, two) for (one, _), (two, _) in pairs])
    assert np.ptp(wanted) > 0.1
    assert found == pytest.approx(wanted, abs=1e-5)


def test_the_first_output_is_the_positive_one_if_it_is_called_so(sources, models, tmp_path):
    swapped = shutil.copytree(sources["two"], tmp_path / "swapped")
    edit(swapped, id2label={"0": "Parallel", "1": "other"}, label2id=None)
    pairs = [(one, two) for one in URLS for two in URLS]
    usual = ParallelUrls(models["two"][0]).probabilities(pairs)
    other = ParallelUrls(converted(swapped, tmp_path / "out")[0]).probabilities(pairs)
    assert other == pytest.approx(1 - usual, abs=1e-6)


def test_the_card_and_config_say_what_the_model_is(models, sources):
    out, figures = models["url2lang"]
    config = json.loads((out / "config.json").read_text())
    assert config["preprocessing"] == "transducens"
    assert config["max_length"] == 256
    assert config["figures"] == figures
    assert {each.name for each in out.iterdir()} == {
        *("model.onnx", "model.fp32.onnx", "tokenizer.json", "config.json", "README.md")
    }
    card = (out / "README.md").read_text()
    assert str(sources["url2lang"]) in card
    assert "cc-by-sa-4.0" in card
    assert "161 languages and unknown" in card
    assert "unk is unknown" in card
    assert f"| fp32 | 100.0% | {figures['difference_fp32']:.2g} |" in card
    assert "| transducens (used) |" in card


def test_the_way_of_splitting_urls_can_be_chosen(sources, tmp_path):
    out, _ = converted(sources["one"], tmp_path / "out", preprocessing="transducens-no-slash")
    model = ParallelUrls(out)
    one, two = model.probabilities([("a/b", "c"), ("a b", "c")])
    assert one == two
    text = "a   b</s>c"
    (wanted,) = logits_of_transformers(sources["one"], [text])
    assert one == pytest.approx(1 / (1 + np.exp(-wanted[0])), abs=0.05)


def test_checkpoints_of_the_authors_programs_nest_their_weights(sources, models, tmp_path):
    nested = shutil.copytree(sources["one"], tmp_path / "nested")
    state = torch.load(nested / "pytorch_model.bin", weights_only=True)
    encoder = {name[8:]: each for name, each in state.items() if name.startswith("roberta.")}
    head = {name[11:]: each for name, each in state.items() if name.startswith("classifier.")}
    tasks = {f"urls_classification.{name}": each for name, each in head.items()}
    tasks["mlm.dense.weight"] = torch.zeros(4, 4)
    encoder["pooler.dense.weight"] = torch.zeros(32, 32)
    torch.save({"encoder": encoder, "tasks": tasks}, nested / "pytorch_model.bin")
    out, _ = converted(nested, tmp_path / "out")
    assert (out / "model.onnx").read_bytes() == (models["one"][0] / "model.onnx").read_bytes()


def test_half_precision_is_widened(sources, tmp_path):
    small = shutil.copytree(sources["one"], tmp_path / "half")
    state = torch.load(small / "pytorch_model.bin", weights_only=True)
    halved = {
        name: each.half() if each.is_floating_point() else each for name, each in state.items()
    }
    torch.save(halved, small / "pytorch_model.bin")
    _, figures = converted(small, tmp_path / "out")
    assert figures["agreement_fp32"] == 1


@pytest.mark.parametrize(
    ("label", "code"),
    [
        ("spa", "spa"),
        ("eu", "eus"),
        ("Basque", "eus"),
        ("ENGLISH", "eng"),
        ("HAITIAN_CREOLE", "hat"),
        ("ChineseT", "zho"),
        ("NORWEGIAN_N", "nno"),
        ("SCOTS_GAELIC", "gla"),
        ("zh-Hant", "zho"),
        ("pt_BR", "por"),
        ("iw", "heb"),
        ("sux", "sux"),
        *((each, "unknown") for each in ("unk", "un", "UNKNOWN", "und")),
    ],
)
def test_a_label_becomes_the_code_of_its_language(label, code):
    assert list(language_labels([label])) == [code]


@pytest.mark.parametrize("label", ["LABEL_3", "X_HACKER", "", "no such thing"])
def test_a_label_that_names_no_language_is_an_error_that_says_which(label):
    with pytest.raises(ConfigurationError, match=r"Output 1 is called .* --labels FILE|Output 1"):
        list(language_labels(["eng", label]))


def test_outputs_of_one_language_become_one_whose_probability_is_their_sum(tmp_path):
    names = ["CHINESE", "Unknown", "ENGLISH", "ChineseT", "SPANISH", "zh-Hant"]
    source = checkpoint(tmp_path / "in", len(names), id2label=dict(enumerate(names)))
    out, _ = converted(source, tmp_path / "out")
    model = Url2Lang(full_precision(out, tmp_path))
    assert model.labels == ("zho", "unknown", "eng", "spa")
    each = softmax(logits_of_transformers(source, URLS.values()))
    wanted = np.stack([each[:, [0, 3, 5]].sum(axis=1), each[:, 1], each[:, 2], each[:, 4]], axis=1)
    assert model.probabilities(list(URLS)) == pytest.approx(wanted, abs=1e-5)
    assert "became one: zho" in (out / "README.md").read_text()


def test_labels_can_be_given(sources, tmp_path):
    edit(source := shutil.copytree(sources["two"], tmp_path / "in"), id2label=None)
    out, _ = converted(source, tmp_path / "out", task="url2lang", labels=("Basque", "spa"))
    assert Url2Lang(out).labels == ("eus", "spa")
    with pytest.raises(ConfigurationError, match="names 3 labels, but the model has 2 outputs"):
        converted(source, tmp_path / "none", labels=("eus", "spa", "fra"))


def test_a_task_that_does_not_fit_the_outputs_is_refused(sources, tmp_path):
    with pytest.raises(ConfigurationError, match="162 outputs; a model of pairs has one or two"):
        converted(sources["url2lang"], tmp_path / "out", task="parallel")
    with pytest.raises(ConfigurationError, match="one output; a model of languages"):
        converted(sources["one"], tmp_path / "out", task="url2lang")


class Hostile:
    """Pickled, it is a call of any function: here of one that makes a folder."""

    def __init__(self, made):
        self.made = made

    def __reduce__(self):
        return os.mkdir, (str(self.made),)


@pytest.mark.parametrize(
    "save", [torch.save, lambda what, path: path.write_bytes(pickle.dumps(what))]
)
def test_weights_that_would_run_code_are_refused_and_do_not(copied, tmp_path, save):
    (copied / "model.safetensors").unlink()
    save({"classifier.out_proj.weight": Hostile(tmp_path / "made")}, copied / "pytorch_model.bin")
    with pytest.raises(ConfigurationError, match="cannot be read as tensors"):
        converted(copied, tmp_path / "out")
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "out").exists()


def without_head(folder):
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    model.save_pretrained(folder)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (without_head, r"not a sequence classifier.*XLMRobertaForMaskedLM"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer.*--tokenizer"),
        (
            lambda folder: (folder / "tokenizer.json").write_text("{}"),
            "tokenizer .* cannot be read",
        ),
        (lambda folder: (folder / "model.safetensors").unlink(), "has no weights"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 99), "download it again"),
        (lambda folder: (folder / "config.json").unlink(), "not a checkpoint.*No such file"),
        (lambda folder: (folder / "config.json").write_text("{"), "is not JSON"),
        (lambda folder: (folder / "config.json").write_text("[]"), "only xlm-roberta"),
        (lambda folder: edit(folder, model_type="bert"), "type 'bert'; only xlm-roberta"),
        (lambda folder: edit(folder, num_hidden_layers=1), "nothing uses roberta.encoder.layer.1"),
        (lambda folder: edit(folder, num_hidden_layers=3), "there is no roberta.encoder.layer.2"),
        (lambda folder: edit(folder, hidden_size=64), "do not fit its config.json.*size mismatch"),
        (lambda folder: edit(folder, hidden_size="x"), "do not fit its config.json"),
        (lambda folder: edit(folder, num_attention_heads=0), "do not fit its config.json"),
        (lambda folder: edit(folder, pad_token_id=0), "pads with token 1"),
        (lambda folder: edit(folder, id2lang=None), "called 'LABEL_0'.*--labels FILE"),
        (lambda folder: edit(folder, id2lang={"0": "eng"}), "names 1 labels"),
        (lambda folder: edit(folder, id2lang=[1]), "names 0 labels"),
    ],
)
def test_a_checkpoint_that_cannot_be_converted_is_named_with_what_to_do(
    copied, tmp_path, spoil, message
):
    spoil(copied)
    with pytest.raises(ConfigurationError, match=f"(?s){message}"):
        converted(copied, tmp_path / "out")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["copied"]


def test_a_tokenizer_can_be_taken_from_elsewhere(copied, sources, models, tmp_path):
    (copied / "tokenizer.json").unlink()
    (copied / "sentencepiece.bpe.model").write_bytes(b"")
    out, _ = converted(copied, tmp_path / "out", tokenizer=str(sources["one"]))
    assert (out / "model.onnx").read_bytes() == (models["url2lang"][0] / "model.onnx").read_bytes()


@pytest.mark.skipif(
    find_spec("sentencepiece") is not None, reason="sentencepiece is installed and reads it"
)
def test_a_sentencepiece_model_without_its_package_is_told_with_two_ways_around(copied, tmp_path):
    (copied / "tokenizer.json").rename(copied / "sentencepiece.bpe.model")
    with pytest.raises(ConfigurationError, match=r"(?s)package sentencepiece.*--tokenizer"):
        converted(copied, tmp_path / "out")


def test_a_tokenizer_that_is_not_there_is_told(copied, tmp_path):
    with pytest.raises(ConfigurationError, match=r"tokenizer of .* cannot be read"):
        converted(copied, tmp_path / "out", tokenizer=str(tmp_path / "none"))


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(copied, tmp_path):
    words = json.loads((copied / "tokenizer.json").read_text())
    words["model"]["vocab"] += [[f"word{number}", -9.0] for number in range(200)]
    (copied / "tokenizer.json").write_text(json.dumps(words))
    with pytest.raises(ConfigurationError, match="it belongs to another model"):
        converted(copied, tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 7}, "write 8 to 512"),
        ({"length": 513}, "write 8 to 512"),
        ({"preprocessing": "none"}, "write sbfc or transducens or"),
    ],
)
def test_options_that_cannot_be_met_are_refused(sources, tmp_path, options, message):
    with pytest.raises(ConfigurationError, match=message):
        converted(sources["one"], tmp_path / "out", **options)


def test_a_folder_that_exists_is_not_touched(sources, tmp_path):
    with pytest.raises(ConfigurationError, match="exists already"):
        converted(sources["one"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_graph_that_answers_differently_is_not_written(sources, tmp_path, monkeypatch):
    forward = PublishedModel.forward
    monkeypatch.setattr(
        PublishedModel,
        "forward",
        lambda self, *given, **named: (
            forward(self, *given, **named) * (1.0 + torch.jit.is_tracing())
        ),
    )
    with pytest.raises(ConfigurationError, match="does not answer as"):
        converted(sources["one"], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


ASKED = """
import sys
from huggingface_hub import constants
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.training.checkpoint import locate

first = locate(sys.argv[1])
print(*sorted(each.name for each in first.iterdir()))
for name in ("owner/none", "../none/at/all", "Transducens/xlm-roberta-base-url2lang"):
    try:
        locate(name)
    except ConfigurationError as error:
        print(*error.problems)
    if name.startswith("../"):
        constants.ENDPOINT = "http://127.0.0.1:9"
assert locate(sys.argv[1]) == first
"""


def test_a_model_of_the_hub_is_downloaded_once_and_without_what_is_not_needed(sources, tmp_path):
    source = shutil.copytree(sources["two"], tmp_path / "source")
    (source / "modeling.py").write_text("raise SystemExit")
    (source / "pytorch_model.bin").write_bytes(b"")
    with Hub(source) as hub:
        run = subprocess.run(
            [sys.executable, "-c", ASKED, Hub.NAME],
            capture_output=True,
            text=True,
            env=os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "cache")},
            timeout=HANG,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    files, none, path, unreachable = run.stdout.splitlines()
    assert files == "README.md config.json model.safetensors tokenizer.json tokenizer_config.json"
    assert "no public model of that name on the hub" in none
    assert "it is not a name of the hub" in path
    assert "the Hugging Face hub cannot be asked for it" in unreachable
    assert "hf download Transducens/xlm-roberta-base-url2lang" in unreachable
