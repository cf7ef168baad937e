"""The documents say what the code does."""

import re
import subprocess
import sys
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest
from scrapy.utils.misc import load_object

import bilingual_crawler
from tools.docs import DOCS, PAGES

ROOT = Path(__file__).parents[2]
PAPERS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_up_to_date(name):
    assert (DOCS / name).read_text() == PAGES[name](), "run `make docs`"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(paper):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", paper.read_text()):
        assert (paper.parent / target).exists(), target


def test_the_site_builds_without_a_warning(tmp_path):
    """Strict mode: every page is in the navigation, every link and anchor leads somewhere."""
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path]
    run = subprocess.run(mkdocs, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loaded = re.compile(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"?(?:https?:)?//")
    for page in tmp_path.rglob("*.html"):
        assert not loaded.search(page.read_text("utf-8")), f"{page.name} loads from the network"


def test_every_setting_that_is_written_about_exists():
    known = set(re.findall(r"`([A-Z_]+)`", (DOCS / "reference" / "settings.md").read_text()))
    for paper in PAPERS:
        for name in re.findall(r"\bBILINGUAL_[A-Z_]+\b", paper.read_text()):
            assert name in known | {"BILINGUAL_SHARED"}, f"{paper.name}: {name}"


def test_every_stat_is_listed():
    listed = (DOCS / "reference" / "stats.md").read_text()
    source = "".join(path.read_text() for path in (ROOT / "bilingual_crawler").rglob("*.py"))
    for name in set(re.findall(r'"bilingual/([a-z_]+)', source)):
        assert f"bilingual/{name}" in listed, name


def test_folders_of_the_architecture_exist():
    table = (DOCS / "explanation" / "architecture.md").read_text()
    for name in re.findall(r"^\| `([^`]+)`", table, re.MULTILINE):
        assert (ROOT / "bilingual_crawler" / name).exists(), name
    for folder in (ROOT / "bilingual_crawler").iterdir():
        if folder.is_dir() and (folder / "__init__.py").exists():
            assert f"`{folder.name}/" in table, folder.name


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_are_named_exist(paper):
    """A path of a module or a tool, from the root of the project or of the package."""
    if paper.name == "CHANGELOG.md":  # it also names what is gone
        return
    for name in re.findall(
        r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.(?:py|sh|lua|json))`", paper.read_text()
    ):
        assert (ROOT / name).exists() or (ROOT / "bilingual_crawler" / name).exists(), name


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_programs_that_are_named_exist(paper):
    for name in re.findall(r"python -m ((?:benchmarks|tools|demo)[.\w]*)", paper.read_text()):
        assert find_spec(name.rstrip(".")) is not None, name


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_classes_that_are_named_can_be_imported(paper):
    if paper.name == "CHANGELOG.md":
        return
    for name in re.findall(r"\bbilingual_crawler(?:\.\w+)+\.[A-Z]\w+", paper.read_text()):
        assert load_object(name), name


def test_every_command_is_on_the_page():
    page = (DOCS / "reference" / "commands.md").read_text()
    for each in entry_points(group="scrapy.commands"):
        if each.value.startswith("bilingual_crawler."):
            assert f"\n### {each.name}\n" in page


def test_the_public_name_of_the_package_is_its_version():
    assert bilingual_crawler.__all__ == ["__version__"]
    version = bilingual_crawler.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version
