"""`scrapy models`, as it is typed: what there is, what it is, and how published ones get here."""

import json
import shutil

import pytest

from bilingual_crawler.scoring.models import find_model
from tests.support.tiny_models import parallel_model, url2lang_model
from tests.support.typed_commands import typed

SITE = "https://www.example"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with both models."""
    folder = tmp_path_factory.mktemp("models")
    url2lang_model(folder / "url2lang")
    parallel_model(folder / "parallel")
    (folder / "parallel" / "README.md").write_text("# A card\nwith \x1b[31mcolour\n")
    return folder


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Checkpoints of both tasks."""
    pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
    from tests.support.checkpoints import parallel_checkpoint, url2lang_checkpoint  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("published")
    url2lang_checkpoint(folder / "url2lang", safe=False)
    parallel_checkpoint(folder / "parallel")
    return folder


@pytest.fixture
def converted(published, capsys):
    """Both, converted by the command, once."""
    folder = published / "converted"
    for task in ("url2lang", "parallel"):
        if not (folder / task).exists():
            words = ("convert", published / task, "--out", folder / task)
            status, out, err = typed(capsys, "models", *words)
            assert status == 0
            assert "agreement_fp32\t1\n" in out
            assert f"The model is in {folder / task}" in err.replace("\n", "")
    return folder


def test_the_list_has_the_models_that_come_with_the_package(capsys):
    status, out, _ = typed(capsys, "models", "list")
    assert status == 0
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [
        ["used", "url2lang", "package"],
        ["used", "parallel", "package"],
    ]


def test_models_of_the_settings_are_used_before_all_others(capsys, tiny):
    _, out, _ = typed(capsys, "models", "list", "--json", "-s", f"BILINGUAL_MODELS={tiny}")
    models = [json.loads(line) for line in out.splitlines()]
    assert [(each["task"], each["owner"], each["used"]) for each in models] == [
        ("url2lang", "settings", True),
        ("url2lang", "package", False),
        ("parallel", "settings", True),
        ("parallel", "package", False),
    ]
    languages, _, pairs, _ = models
    assert languages["where"] == str(tiny / "url2lang")
    assert (languages["languages"], languages["base"]) == (3, "tiny")
    assert languages["labels"] == ["eng", "fra", "spa", "unknown"]
    assert (pairs["languages"], pairs["preprocessing"], pairs["max_length"]) == (None, "sbfc", 64)
    files = ("model.onnx", "tokenizer.json", "config.json")
    assert pairs["bytes"] == sum((tiny / "parallel" / name).stat().st_size for name in files)


def test_a_model_that_cannot_be_used_is_listed_with_its_problem(capsys, tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "models")
    (tmp_path / "models" / "url2lang" / "model.onnx").unlink()
    (tmp_path / "models" / "parallel" / "config.json").write_text("{}")
    setting = ("-s", f"BILINGUAL_MODELS={tmp_path / 'models'}")
    _, out, _ = typed(capsys, "models", "list", *setting)
    lines = [line for line in out.splitlines() if line.startswith("used")]
    assert "it has no model.onnx" in lines[0]
    assert "config.json is that of a None model" in lines[1]


def test_a_folder_is_shown_with_its_card_and_nothing_of_it_moves_the_terminal(capsys, tiny):
    status, out, _ = typed(capsys, "models", "show", tiny / "parallel")
    assert status == 0
    facts = dict(line.split(maxsplit=1) for line in out.partition("\n\n")[0].splitlines())
    assert facts["folder"] == str(tiny / "parallel")
    assert facts["preprocessing"] == "sbfc"
    assert facts["length"] == "64 tokens"
    assert out.endswith("# A card\nwith \N{REPLACEMENT CHARACTER}[31mcolour\n")


def test_a_folder_of_two_models_shows_both(capsys, tiny):
    _, out, _ = typed(capsys, "models", "show", tiny, "--json")
    assert [json.loads(line)["task"] for line in out.splitlines()] == ["url2lang", "parallel"]


def test_a_task_shows_the_model_that_a_crawl_would_use(capsys, tiny):
    _, out, _ = typed(capsys, "models", "show", "url2lang", "--json")
    shipped = json.loads(out)
    assert shipped["where"] == str(find_model("url2lang"))
    assert shipped["figures"]["agreement_int8"] > 0.99
    assert shipped["card"].startswith("# Language of a page from its URL")
    assert "milliseconds_per_link" not in shipped
    setting = ("-s", f"BILINGUAL_MODELS={tiny}")
    _, out, _ = typed(capsys, "models", "show", "url2lang", "--json", *setting)
    assert json.loads(out)["where"] == str(tiny / "url2lang")


@pytest.mark.parametrize("task", ["url2lang", "parallel"])
def test_the_cost_of_a_link_is_measured_if_asked_for(capsys, tiny, task):
    _, out, _ = typed(capsys, "models", "show", tiny / task, "--time", "--json")
    assert json.loads(out)["milliseconds_per_link"] > 0
    _, out, _ = typed(capsys, "models", "show", tiny / task, "--time")
    assert "ms of one core per new link" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "start with one of list, show, convert"),
        (("liste",), "start with one of list, show, convert"),
        (("list", "x"), "name nothing after list"),
        (("show",), "name one folder, or url2lang or parallel"),
        (("convert",), "name one checkpoint"),
        (("convert", "x"), "name the folder for the model: --out DIR"),
    ],
)
def test_a_command_that_is_incomplete_says_what_is_missing(capsys, words, message):
    status, out, err = typed(capsys, "models", *words)
    assert status == 2
    assert message in out + err


def test_a_folder_that_holds_no_model_is_told(capsys, tmp_path):
    status, _, _ = typed(capsys, "models", "show", tmp_path)
    assert "is not a model folder" in status
    assert "url2lang or parallel" in status


def test_labels_that_cannot_be_read_are_told(capsys, tmp_path):
    pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
    words = ("--out", tmp_path / "out", "--labels", tmp_path / "none.txt")
    status, _, _ = typed(capsys, "models", "convert", tmp_path, *words)
    assert "none.txt: No such file" in status


def test_labels_are_read_from_a_file(capsys, tmp_path):
    pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
    from tests.support.checkpoints import checkpoint  # noqa: PLC0415

    (tmp_path / "labels.txt").write_text("Basque\n\nspa\nunk\n")
    words = ("--out", tmp_path / "out", "--labels", tmp_path / "labels.txt", "--json")
    status, out, _ = typed(capsys, "models", "convert", checkpoint(tmp_path / "in", 3), *words)
    assert status == 0
    assert json.loads(out)["agreement_fp32"] == 1
    _, out, _ = typed(capsys, "models", "show", tmp_path / "out", "--json")
    assert json.loads(out)["labels"] == ["eus", "spa", "unknown"]


def test_a_converted_model_classifies_and_is_evaluated(capsys, converted, tmp_path):
    model = ("--model", converted / "url2lang")
    status, out, _ = typed(capsys, "classify", "url2lang", f"{SITE}/es/", "--top", 162, *model)
    assert status == 0
    shares = out.split("\t")[1:]
    assert len(shares) == 2 * 162
    assert sum(map(float, shares[1::2])) == pytest.approx(1, abs=0.02)
    (tmp_path / "urls.tsv").write_text(f"{SITE}/eu/{1}\teus\n{SITE}/es/{2}\tspa\n")
    status, out, _ = typed(capsys, "evaluate", "url2lang", tmp_path / "urls.tsv", *model, "--json")
    assert "macro_f1" in json.loads(out)
    model = ("--model", converted / "parallel")
    status, out, _ = typed(capsys, "classify", "parallel", f"{SITE}/es/", f"{SITE}/eu/", *model)
    assert 0 <= float(out.split("\t")[2]) <= 1
    (tmp_path / "pairs.tsv").write_text(f"{SITE}/eu/\t{SITE}/es/\t1\n{SITE}/eu/\t{SITE}/x\t0\n")
    status, out, _ = typed(capsys, "evaluate", "parallel", tmp_path / "pairs.tsv", *model, "--json")
    assert "positive_f1" in json.loads(out)


def test_converted_models_are_listed_with_what_they_are(capsys, converted, published):
    _, out, _ = typed(capsys, "models", "list", "--json", "-s", f"BILINGUAL_MODELS={converted}")
    used = [each for each in map(json.loads, out.splitlines()) if each["used"]]
    assert [each["languages"] for each in used] == [161, None]
    assert [each["base"] for each in used] == [str(published / each["task"]) for each in used]
    assert {each["preprocessing"] for each in used} == {"transducens"}
    assert {each["problem"] for each in used} == {""}


def test_a_crawl_follows_links_in_the_order_of_the_converted_models(
    converted, tmp_path, monkeypatch
):
    from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang  # noqa: PLC0415
    from tests.support.scoring import HandMade, Page, crawl_site  # noqa: PLC0415

    words = ("about", "contacto", "kontakt/es", "news?id=2", "nouvelles--x", "shop_1", "blog/top")
    pages = {"/": Page("spa", [f"/{word}" for word in words])}
    pages |= {f"/{word}": Page("eus") for word in words}
    monkeypatch.setattr("bilingual_crawler.scoring.smart.UNLIKELY", 0.0)  # untrained: all are
    with HandMade(pages) as site:
        asked = crawl_site(site, tmp_path / "out", "smart", BILINGUAL_MODELS=str(converted)).asked
        urls = {path: f"{site.url}{path}" for path in pages if path != "/"}
    basque = Url2Lang(converted / "url2lang").probability_of(list(urls.values()), "eus")
    pairs = [(f"{site.url}/", url) for url in urls.values()]
    scores = basque * ParallelUrls(converted / "parallel").probabilities(pairs)
    ranked = sorted(zip(-scores, urls, strict=True))
    assert len(set(scores)) == len(words)
    assert asked == ["/", *(path for _, path in ranked)]
