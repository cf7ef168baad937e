"""`scrapy classify` and `scrapy evaluate`, as they are typed."""

import gzip
import io
import json
import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.commands import base
from bilingual_crawler.scoring import models as models_module
from tests.support.tiny_models import copy_of_the_package, parallel_model, url2lang_model
from tests.support.typed_commands import status_of

SITE = "http://site1.example"
CODES = ("en", "fr", "es")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {
        "url2lang": str(url2lang_model(folder / "url2lang")),
        "parallel": str(parallel_model(folder / "parallel")),
    }


@pytest.fixture
def scrapy(capsys, monkeypatch):
    """Run a command of the package; its status and what it printed."""

    def run(*words, typed=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(typed))))
        settings = Settings()
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", *words], settings)
        printed = capsys.readouterr()
        status = status_of(end.value)
        return (status, printed.out, printed.err) if isinstance(status, int) else (1, "", status)

    return run


def test_the_commands_work_in_any_folder_once_the_package_is_installed(models, tmp_path):
    assert {"classify", "evaluate"} <= entry_points(group="scrapy.commands").names
    words = ["classify", "url2lang", f"{SITE}/es/", "--model", models["url2lang"]]
    run = subprocess.run(
        [sys.executable, "-m", "scrapy", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert run.stdout.startswith(f"{SITE}/es/\tspa\t0.9")
    assert not run.stderr


def test_commands_and_models_agree_on_the_tasks():
    assert base.TASKS == models_module.TASKS


def test_other_commands_of_scrapy_do_not_wait_for_ours():
    code = (
        "import sys; from scrapy.cmdline import _get_commands_from_entry_points as all_of_them;"
        "assert len(all_of_them(False)) > 20;"
        "slow = {'numpy', 'tokenizers', 'onnxruntime', 'requests', 'rich', 'snowballstemmer'};"
        "print(slow & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


@pytest.mark.parametrize("name", ["classify", "evaluate"])
def test_help_shows_the_columns_and_examples(scrapy, name):
    status, out, _ = scrapy(name, "--help")
    assert status == 0
    assert f"scrapy {name} url2lang" in out
    assert "tab-separated" in out
    assert "--model DIR" in out


def test_languages_are_told_from_arguments(scrapy, models):
    urls = [f"{SITE}/es/", f"{SITE}/en/news"]
    status, out, err = scrapy("classify", "url2lang", *urls, "--model", models["url2lang"])
    first, second = (line.split("\t") for line in out.splitlines())
    assert (status, err) == (0, "")
    assert first[:2] == [urls[0], "spa"]
    assert second[:2] == [urls[1], "eng"]
    assert len(first) == 1 + 2 * 3
    assert float(first[2]) > float(first[4])


def test_languages_are_told_from_standard_input_in_its_order(scrapy, models):
    typed = b"\n".join([b"http://a/es/", b"", b"http://b/fr/", b"http://c/en/\r", b""])
    status, out, _ = scrapy(
        "classify", "url2lang", "--top", "1", "--model", models["url2lang"], typed=typed
    )
    assert status == 0
    assert [line.split("\t")[1] for line in out.splitlines()] == ["spa", "fra", "eng"]


def test_the_probability_of_a_pair_is_told(scrapy, models):
    status, out, _ = scrapy(
        "classify", "parallel", f"{SITE}/en/news", f"{SITE}/fr/news", "--model", models["parallel"]
    )
    assert status == 0
    assert out == f"{SITE}/en/news\t{SITE}/fr/news\t0.9975\n"


def test_pairs_are_read_from_standard_input_and_bad_lines_told(scrapy, models):
    typed = f"{SITE}/en/x\t{SITE}/fr/x\nalone\n\tb\n{SITE}/en/x\t{SITE}/fr/home\tmore\n".encode()
    status, out, err = scrapy(
        "classify", "parallel", "-", "--model", models["parallel"], typed=typed
    )
    likely, unlikely = (float(line.split("\t")[2]) for line in out.splitlines())
    assert status == 0
    assert likely > 0.9 > unlikely
    assert err == "2 lines skipped: not two URLs separated by a tab.\n"


def test_bytes_that_are_no_text_come_out_as_they_went_in(models, tmp_path):
    words = ["classify", "url2lang", "--model", models["url2lang"]]
    run = shell(words, tmp_path, typed=b"http://a/\xff\xfe/es/\n")
    assert run.stdout.startswith(b"http://a/\xff\xfe/es/\tspa\t")


def test_a_reader_that_goes_away_is_no_error(models, tmp_path):
    words = ["classify", "url2lang", "--model", models["url2lang"], "| head -n 1"]
    run = shell(words, tmp_path, typed=b"http://a/es/\n" * 30_000)
    assert run.stdout.count(b"\n") == 1
    assert not run.stderr


def shell(words, folder, typed=b"", **variables):
    """Run a command as a pipeline does, where text is ASCII unless somebody says otherwise."""
    code = (
        "from scrapy.cmdline import execute; from scrapy.settings import Settings; "
        "execute(settings=Settings())"
    )
    return subprocess.run(
        f'{sys.executable} -c "{code}" {" ".join(words)}',
        shell=True,
        input=typed,
        capture_output=True,
        cwd=folder,
        env=os.environ | {"PYTHONUTF8": "0", "LC_ALL": "C"} | variables,
        check=True,
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["classify"], "name the model first"),
        (["classify", "french", "http://a/"], "name the model first"),
        (
            ["classify", "url2lang", "--tip", "3", "http://a/"],
            "unknown option --tip; did you mean --top?",
        ),
        (["classify", "url2lang", "http://a/", "--top", "0"], "--top: '0' is not a whole number"),
        (["evaluate", "url2lang", "a", "--threads", "-1"], "--threads: '-1' is not a whole number"),
        (["classify", "parallel", "http://a/"], "parallel takes two URLs"),
        (["evaluate", "url2lang"], "name one data file"),
        (["evaluate", "url2lang", "a", "--gold", "b"], "name one data file"),
        (["evaluate", "url2lang", "--gold", "b"], "are for parallel"),
        (["evaluate", "parallel", "a", "--jsn"], "unknown option --jsn; did you mean --json?"),
        (["evaluate", "parallel", "a", "--colour=red"], "unknown option --colour\n"),
    ],
)
def test_a_mistake_in_the_command_is_told(scrapy, words, message):
    status, _, err = scrapy(*words)
    assert status == 2
    assert message in err
    assert "Traceback" not in err


def test_a_wrong_model_folder_is_told(scrapy, tmp_path):
    status, _, err = scrapy("classify", "url2lang", "http://a/", "--model", str(tmp_path))
    assert status == 1
    assert "is not a model folder" in err


@pytest.fixture
def urls(tmp_path):
    lines = [
        "url\tlang",
        *(f"http://s{number}.org/{code}/x\t{code}" for number in "123" for code in CODES),
        "http://s1.org/eu/x\teus",
        "http://s1.org/x\tspa",
    ]
    file = tmp_path / "urls.tsv.gz"
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    return str(file)


def test_languages_are_evaluated_beside_the_rules(scrapy, models, urls):
    status, out, _ = scrapy("evaluate", "url2lang", urls, "--model", models["url2lang"])
    assert status == 0
    spanish = next(line for line in out.splitlines() if line.startswith("Spanish (spa)"))
    assert spanish.split()[2:] == ["4", "100.0%", "75.0%", "85.7%", "100.0%", "75.0%", "85.7%"]
    assert "macro, 4 classes" in out
    unknown = next(line for line in out.splitlines() if line.startswith("unknown"))
    assert unknown.split() == ["unknown", "18.2%", "9.1%"]
    assert "1 line skipped, first line 1: 'lang' is not a language." in out
    assert "do not know" not in out
    assert "1 rows are in languages the model does not know and count as wrong: eus." in out
    assert "URLs per second." in out


def test_figures_of_languages_for_programs_are_one_line(scrapy, models, urls):
    _, out, _ = scrapy("evaluate", "url2lang", urls, "--model", models["url2lang"], "--json")
    figures = json.loads(out)
    assert out.count("\n") == 1
    assert figures["macro_f1"] == pytest.approx((1 + 1 + 6 / 7 + 0) / 4)
    assert figures["baseline_macro_f1"] == pytest.approx((1 + 1 + 6 / 7 + 1) / 4)
    assert figures["macro_recall"] == pytest.approx((1 + 1 + 0.75 + 0) / 4)
    assert figures["macro_precision"] == pytest.approx(0.75)
    assert figures["unknown_share"] == pytest.approx(2 / 11)
    assert figures["classes"]["eus"]["baseline_f1"] == 1
    assert figures["bad_lines"] == 1
    assert figures["urls_per_second"] > 0


def test_the_confusions_of_languages_are_shown_and_written(scrapy, models, urls, tmp_path):
    file = tmp_path / "confusions.tsv"
    words = ["evaluate", "url2lang", urls, "--model", models["url2lang"]]
    status, out, _ = scrapy(*words, "--confusion", str(file))
    assert status == 0
    (line,) = [line for line in out.splitlines() if line.startswith("Basque") and "unknown" in line]
    assert line.split() == ["Basque", "(eus)", "unknown", "1", "100.0%"]
    header, *lines = (line.split("\t") for line in file.read_text().splitlines())
    assert header == ["side", "language", "answer", "rows", "share"]
    assert ["model", "eus", "unknown", "1", "1.0000"] in lines
    assert ["rules", "spa", "spa", "3", "0.7500"] in lines
    status, _, err = scrapy(*words, "--confusion", str(tmp_path / "none" / "x.tsv"))
    assert status == 1
    assert "Cannot write" in err


def test_macro_f1_per_language_pair_is_shown(scrapy, models, tmp_path):
    file = tmp_path / "pairs.tsv"
    pages = ("news", "home", "x", "about")
    lines = [f"{SITE}/en/{page}\t{SITE}/fr/{page}\teng\tfra" for page in pages]
    file.write_text("\n".join(["url1\turl2\tlang1\tlang2", *lines]))
    words = ["evaluate", "parallel", str(file), "--model", models["parallel"], "--negatives"]
    status, out, _ = scrapy(*words)
    assert status == 0
    (line,) = [line for line in out.splitlines() if line.startswith("eng-fra")]
    assert line.split()[1] == "4"
    _, out, _ = scrapy(*words, "--json")
    figures = json.loads(out)
    assert figures["language_pairs"]["eng-fra"]["parallel"] == 4
    assert figures["language_pairs"]["eng-fra"]["not_parallel"] == figures["rows"] - 4 > 4


def test_only_well_covered_languages_are_reported_if_asked(scrapy, models, tmp_path):
    lines = [f"http://s{n % 10}.org/es/{n}\tspa" for n in range(100)]
    file = tmp_path / "urls.tsv"
    file.write_text("\n".join([*lines, "http://a.example/en/\teng"]))
    model = ["--model", models["url2lang"], "--well-covered"]
    _, out, _ = scrapy("evaluate", "url2lang", str(file), "--json", *model)
    assert list(json.loads(out)["classes"]) == ["spa"]
    file.write_text(lines[0])
    status, _, err = scrapy("evaluate", "url2lang", str(file), *model)
    assert status == 1
    assert "has 100 URLs of 10 sites" in err


@pytest.fixture
def labelled(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text(
        f"{SITE}/en/news\t{SITE}/fr/news\t1\n"
        f"{SITE}/en/news\t{SITE}/fr/home\t0\n"
        f"{SITE}/en/news\t{SITE}/fr/x\t0\n"
        f"{SITE}/en/x\n"
    )
    return str(file)


def test_pairs_are_evaluated_beside_token_stripping(scrapy, models, labelled):
    status, out, _ = scrapy("evaluate", "parallel", labelled, "--model", models["parallel"])
    assert status == 0
    assert "not parallel" in out
    assert "macro, 2 classes" in out
    assert "unknown" not in out
    _, out, _ = scrapy("evaluate", "parallel", labelled, "--model", models["parallel"], "--json")
    figures = json.loads(out)
    assert figures["macro_f1"] == figures["positive_f1"] == figures["baseline_positive_f1"] == 1
    assert (figures["rows"], figures["bad_lines"]) == (3, 1)


def test_the_languages_of_token_stripping_can_be_chosen(scrapy, models, labelled):
    words = ["evaluate", "parallel", labelled, "--model", models["parallel"], "--json", "--langs"]
    _, out, _ = scrapy(*words, "fin-isl")
    assert json.loads(out)["baseline_positive_f1"] == 0
    status, _, err = scrapy(*words, "finnish")
    assert status == 1
    assert "--langs" in err


@pytest.mark.parametrize("words", [["--gold", "FILE", "--one-to-one"], ["FILE", "--one-to-one"]])
def test_gold_pairs_are_aligned_one_to_one(scrapy, models, tmp_path, words):
    gold = tmp_path / "gold.tsv"
    gold.write_text("".join(f"{SITE}/en/{p}\t{SITE}/fr/{p}\n" for p in ("x", "home", "news")))
    words = [str(gold) if word == "FILE" else word for word in words]
    status, out, _ = scrapy("evaluate", "parallel", *words, "--model", models["parallel"])
    assert status == 0
    assert "9 pairs" in out
    assert "Soft recall: one URL" in out
    _, out, _ = scrapy("evaluate", "parallel", *words, "--model", models["parallel"], "--json")
    figures = json.loads(out)
    assert figures["recall"] == figures["soft_recall"] == figures["baseline_recall"] == 1
    assert figures["candidate_pairs"] == 9


def test_all_urls_of_the_sites_may_be_candidates(scrapy, models, tmp_path):
    gold, urls, equal = (tmp_path / name for name in ("gold.tsv", "urls.txt", "equal.tsv"))
    gold.write_text(f"{SITE}/en/home\t{SITE}/fr/home\n")
    urls.write_text("".join(f"{SITE}/{code}/{p}\n" for code in ("en", "fr") for p in ("x", "us")))
    equal.write_text(f"{SITE}/fr/us\t{SITE}/fr/home\n")
    words = ["evaluate", "parallel", "--gold", str(gold), "--candidates", str(urls)]
    words += ["--model", models["parallel"], "--url2lang", models["url2lang"]]
    status, _, err = scrapy(*words)
    assert status == 1
    assert "--langs eng-fra" in err
    words += ["--langs", "eng-fra", "--duplicates", str(equal)]
    status, out, _ = scrapy(*words)
    assert status == 0
    assert "one to one, all URLs of the sites" in out
    assert "9 pairs" in out
    assert "2 by gold list" in out
    _, out, _ = scrapy(*words, "--json")
    assert json.loads(out)["candidates"] == "all URLs"
    assert json.loads(out)["recall"] == 1


def test_data_may_come_from_standard_input(scrapy, models):
    typed = gzip.compress(b"http://a.example/es/\tspa\n")
    words = ["evaluate", "url2lang", "-", "--model", models["url2lang"], "--json"]
    _, out, _ = scrapy(*words, typed=typed)
    assert json.loads(out)["macro_f1"] == 1


def test_data_without_a_usable_line_is_told(scrapy, models, tmp_path):
    file = tmp_path / "data.tsv"
    file.write_text("nothing\nof use\n")
    status, _, err = scrapy("evaluate", "url2lang", str(file), "--model", models["url2lang"])
    assert status == 1
    assert "has no usable line: 2 lines skipped, first line 1" in err
    words = ["evaluate", "parallel", "-", "--model", models["parallel"]]
    _, _, err = scrapy(*words, typed=b"http://a/\thttp://b/\t2\n")
    assert "Standard input has no usable line" in err


def test_a_chosen_model_that_is_not_there_is_an_error_also_with_baseline(scrapy, urls, tmp_path):
    status, _, err = scrapy(
        "evaluate", "url2lang", urls, "--baseline", "--model", str(tmp_path / "none")
    )
    assert status == 1
    assert "is not a model folder" in err


def test_with_baseline_the_rules_are_enough_where_there_is_no_model(urls, tmp_path):
    copy_of_the_package(tmp_path / "copy")
    words = ["evaluate", "url2lang", urls, "--baseline", "--json"]
    run = shell(words, tmp_path, PYTHONPATH=str(tmp_path / "copy"))
    figures = json.loads(run.stdout)
    assert figures["model"] is None
    assert "macro_f1" not in figures
    assert figures["baseline_macro_f1"] == pytest.approx((1 + 1 + 6 / 7 + 1) / 4)
