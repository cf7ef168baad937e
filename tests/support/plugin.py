"""A small installed package with plug-ins, made in a folder for a test."""

import sys
from pathlib import Path

import pytest


def install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, source: str, **groups: str
) -> None:
    """Put a module on the path, with entry points: `scorers="name = module:Class"`."""
    (folder / f"{module}.py").write_text(source)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    lines = [f"[bilingual_crawler.{group}]\n{entry}\n" for group, entry in groups.items()]
    (info / "entry_points.txt").write_text("".join(lines))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, module, raising=False)
