"""`scrapy train` as a user meets it."""

import argparse
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from scrapy.settings import Settings

from bilingual_crawler.commands.train import TrainCommand
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.reporting.bars import TrainingBar
from tests.support.processes import HANG


def parsed(*words):
    command = TrainCommand()
    command.settings = Settings()
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    options, rest = parser.parse_known_args(words)
    return command, parser, options, rest


def test_the_help_shows_a_whole_command_and_every_option():
    _, parser, *_ = parsed()
    text = parser.format_help()
    assert "scrapy train url2lang --data" in text
    for option in ("--weak", "--extra", "--dev", "--epochs", "--batch", "--lr", "--resume"):
        assert option in text


def test_a_command_without_a_task_says_which_there_are():
    command, _, options, _ = parsed("--data", "x.tsv", "--out", "m")
    with pytest.raises(ConfigurationError, match="scrapy train url2lang or parallel"):
        command.execute([], options)


def test_an_option_that_is_not_there_is_told():
    command, _, options, rest = parsed("--data", "x.tsv", "--out", "m", "--tip")
    with pytest.raises(ConfigurationError, match="no option --tip"):
        command.execute(["url2lang", *rest], options)


def test_a_number_below_one_is_told():
    command, _, options, _ = parsed("--data", "x.tsv", "--out", "m", "--epoch-size", "0")
    with pytest.raises(ConfigurationError, match="--epoch-size must be above zero, but is 0"):
        command.execute(["url2lang"], options)


def test_what_only_the_papers_recipe_lacks_is_for_a_base():
    command, _, options, _ = parsed("--data", "x.tsv", "--out", "m", "--domain-cap", "9")
    with pytest.raises(ConfigurationError, match="--domain-cap is for fine-tuning"):
        command.execute(["parallel"], options)


def test_finished_readers_are_for_url2lang_and_need_a_purpose():
    pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
    words = ("--data", "x.tsv", "--out", "m", "--readers", "models/url2lang")
    command, _, options, _ = parsed(*words)
    with pytest.raises(ConfigurationError, match="Add --everything"):
        command.execute(["url2lang"], options)
    with pytest.raises(ConfigurationError, match="--readers is for compact models"):
        command.execute(["parallel"], options)


def test_mixes_of_negatives_are_compared(tmp_path, capsys):
    pytest.importorskip("sklearn", reason="training needs scikit-learn")
    table = tmp_path / "pairs.tsv"
    table.write_text(
        "".join(
            f"https://s{site}.org/en/story-{n}\thttps://s{site}.org/fr/story-{n}\teng\tfra\n"
            for site in range(12)
            for n in range(4)
        )
    )
    words = ["--data", str(table), "--out", str(tmp_path / "mixes"), "--domain-cap", "3"]
    command, _, options, _ = parsed(*words, "--compare-negatives", "1+4", "2")
    command.execute(["parallel"], options)
    assert "36 pairs" in (out := capsys.readouterr().out)
    assert "1+4" in out
    command, _, options, _ = parsed(*words, "--compare-negatives")
    with pytest.raises(ConfigurationError, match="is for scrapy train parallel"):
        command.execute(["url2lang"], options)


def test_a_command_without_tables_says_what_to_write():
    command, _, options, _ = parsed("--out", "m")
    with pytest.raises(ConfigurationError, match="--data FILE --out DIR"):
        command.execute(["parallel"], options)


def test_a_table_that_is_not_there_is_a_sentence(tmp_path):
    pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
    command, _, options, _ = parsed("--data", str(tmp_path / "none.tsv"), "--out", str(tmp_path))
    with pytest.raises(ConfigurationError, match="Cannot read"):
        command.execute(["url2lang"], options)


@pytest.fixture
def table(tmp_path):
    """Two languages that are easy to tell."""
    pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
    path = tmp_path / "urls.tsv"
    words = {"fin": "uutiset", "spa": "noticias"}
    path.write_text(
        "".join(
            f"https://h{n}.org/{word}/{n}\t{language}\n"
            for n in range(60)
            for language, word in words.items()
        )
    )
    return path


def tiny(table, out, epochs):
    """The words of a command that trains for a moment."""
    return [
        *("--data", str(table), "--out", str(out), "--epochs", str(epochs), "--batch", "32"),
        *("--vocabulary", "100", "--epoch-size", "64", "--threads", "1"),
        *("--patience", str(epochs)),
    ]


KILLED = """
import os, signal, sys
from scrapy.cmdline import execute
from bilingual_crawler.lab.training import loop

save = loop.Fit.save

def save_and_die(fit):
    save(fit)
    os.kill(os.getpid(), signal.SIGKILL)

loop.Fit.save = save_and_die
execute(["scrapy", *sys.argv[1:]])
"""


def test_a_killed_command_goes_on_with_resume(table, tmp_path):
    words = tiny(table, out := tmp_path / "model", epochs := 6)
    checkpoint = out / "checkpoint.pt"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, "train", "url2lang", *words],
        capture_output=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        timeout=HANG,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (out / "README.md").exists()
    before = history(checkpoint)
    assert 0 < len(before) < epochs
    command, _, options, _ = parsed(*words, "--resume")
    command.execute(["url2lang"], options)
    after = history(checkpoint)
    assert after[: len(before)] == before
    assert [each["epoch"] for each in after] == list(range(1, epochs + 1))
    assert f"| {epochs} |" in (out / "README.md").read_text()


def history(checkpoint):
    """What a checkpoint tells of the epochs behind it."""
    import torch  # noqa: PLC0415 - the tests that need it are skipped without

    from bilingual_crawler.lab.training.loop import FitProgress, Schedule  # noqa: PLC0415 - needs torch

    with torch.serialization.safe_globals([FitProgress, Schedule]):
        return torch.load(checkpoint)["progress"].history


def test_a_checkpoint_of_another_run_is_told(table, tmp_path):
    command, _, options, _ = parsed(*tiny(table, out := tmp_path / "model", 1))
    command.execute(["url2lang"], options)
    with table.open("a") as lines:
        lines.writelines(f"https://h{n}.org/albisteak/{n}\tady\n" for n in range(60))
    command, _, options, _ = parsed(*tiny(table, out, 2), "--resume")
    with pytest.raises(ConfigurationError, match="of a run with other tables"):
        command.execute(["url2lang"], options)
    (out / "checkpoint.pt").write_bytes(b"cut off")
    with pytest.raises(ConfigurationError, match="it is damaged"):
        command.execute(["url2lang"], options)


def test_a_base_that_cannot_be_had_is_a_sentence(table, tmp_path, monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants", reason="comes with transformers")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    words = ["--data", str(table), "--out", str(tmp_path / "model"), "--base", "xlm-roberta-base"]
    command, _, options, _ = parsed(*words)
    with pytest.raises(ConfigurationError, match="'xlm-roberta-base'") as error:
        command.execute(["url2lang"], options)
    assert "Hugging Face hub" in str(error.value)


def test_a_table_becomes_a_folder_with_a_model(table, tmp_path, capsys):
    out = tmp_path / "model"
    command, _, options, _ = parsed(*tiny(table, out, 1))
    command.execute(["url2lang"], options)
    assert {path.name for path in out.iterdir()} == {
        "README.md",
        "checkpoint.pt",
        "config.json",
        "model.fp32.onnx",
        "model.onnx",
        "tokenizer.json",
    }
    assert "dev_macro_f1" in capsys.readouterr().out


def test_the_bar_shows_loss_score_and_time_left():
    text = io.StringIO()
    progress = argparse.Namespace(epoch=0, steps=10, done=5, loss=1.25, score=0.5, best=0.75)
    with TrainingBar(Console(file=text, width=120, force_terminal=True)) as bar:
        bar.show(progress, argparse.Namespace(epochs=2))
    shown = text.getvalue()
    assert "loss 1.250" in shown
    assert "0.5000 (best 0.7500)" in shown
    assert "left" in shown
