"""Copies of the project, for what builds it, deploys it or writes into it."""

import shutil
import subprocess
import sys
from pathlib import Path

from bilingual_crawler.scoring.models import TASKS

ROOT = Path(__file__).parents[2]
MODEL_FILES = ("README.md", "config.json", "model.onnx", "tokenizer.json")
LEFT_BEHIND = ("model.fp32.onnx", "checkpoint-1/model.onnx")


def copy_project(folder):
    """The files a build takes, and beside the models what training leaves there."""
    folder.mkdir()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "scrapy.cfg"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(
        ROOT / "bilingual_crawler",
        folder / "bilingual_crawler",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for task in TASKS:
        for name in MODEL_FILES:
            target = folder / "models" / task / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "models" / task / name, target)
        for name in LEFT_BEHIND:
            target = folder / "models" / task / name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(b"large")


def built_wheel(folder):
    """A wheel of the project, built in a copy of it."""
    folder.mkdir()
    copy_project(folder / "project")
    program = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", program, folder],
        cwd=folder / "project",
        capture_output=True,
        check=True,
    )
    return next(folder.glob("*.whl"))
