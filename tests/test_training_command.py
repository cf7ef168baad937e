"""`scrapy train` as a user meets it."""

import argparse
import io

import pytest
from rich.console import Console
from scrapy.settings import Settings

from bilingual_crawler.commands.train import Command, TrainingBar
from bilingual_crawler.errors import ConfigurationError


def parsed(*words):
    command = Command()
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
    with pytest.raises(ConfigurationError, match="url2lang or scrapy train parallel"):
        command.run([], options)


def test_a_command_without_tables_says_what_to_write():
    command, _, options, _ = parsed("--out", "m")
    with pytest.raises(ConfigurationError, match="--data FILE --out DIR"):
        command.run(["parallel"], options)


def test_a_table_that_is_not_there_is_a_sentence(tmp_path):
    pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
    command, _, options, _ = parsed("--data", str(tmp_path / "none.tsv"), "--out", str(tmp_path))
    with pytest.raises(ConfigurationError, match="Cannot read"):
        command.run(["url2lang"], options)


def test_a_table_becomes_a_folder_with_a_model(tmp_path, capsys):
    pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
    table = tmp_path / "urls.tsv"
    words = {"fin": "uutiset", "spa": "noticias"}
    table.write_text(
        "".join(
            f"https://h{n}.org/{word}/{n}\t{language}\n"
            for n in range(60)
            for language, word in words.items()
        )
    )
    out = tmp_path / "model"
    command, _, options, _ = parsed(
        *("--data", str(table), "--out", str(out), "--epochs", "1", "--batch", "32"),
        *("--vocabulary", "100", "--epoch-size", "64", "--threads", "1"),
    )
    command.run(["url2lang"], options)
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
