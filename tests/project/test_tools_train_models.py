"""tools/train_models.sh says what it needs before it does anything."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def script(*models, **environment):
    return subprocess.run(
        ["sh", "tools/train_models.sh", *models], cwd=ROOT, env={**os.environ, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_it_needs_tables_and_a_folder_to_work_in(tmp_path):
    assert "the folder of the URL tables" in script(DATA="").stderr
    assert "a folder for checkpoints" in script(DATA=str(tmp_path), WORK="").stderr


def test_a_model_that_is_not_there_is_a_sentence(tmp_path):
    done = script("url2land", DATA=str(tmp_path), WORK=str(tmp_path / "work"))
    assert done.returncode == 2
    assert done.stderr == "There is no model url2land: name url2lang or parallel.\n"
