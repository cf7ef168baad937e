"""What is built and carried elsewhere, a wheel or an egg for scrapyd, has its models in it."""

import configparser
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import pytest

from bilingual_crawler.config.seeds import available_pairs
from bilingual_crawler.scoring.models import TASKS
from tests.support.projects import MODEL_FILES, copy_project

OLDEST_SETUPTOOLS = 77
PROGRAM = """
import bilingual_crawler
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.models import find_model
print(bilingual_crawler.__file__)
languages, pairs = Url2Lang(find_model("url2lang")), ParallelUrls(find_model("parallel"))
print(languages.where)
print(pairs.where)
print(len(languages.languages(["https://www.example.org/es/noticias"])))
print(len(pairs.probabilities([("https://www.example.org/es/a", "https://www.example.org/eu/a")])))
"""


def _no_build_tools():
    try:
        return int(version("setuptools").partition(".")[0]) < OLDEST_SETUPTOOLS
    except PackageNotFoundError:
        return True


pytestmark = pytest.mark.skipif(
    _no_build_tools(),
    reason=f"packages are built with setuptools {OLDEST_SETUPTOOLS} or later, not installed here",
)


class Built(NamedTuple):
    project: Path
    wheel: Path
    egg: Path


def run(arguments, folder, **environment):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """An egg made as scrapyd-deploy makes it, and a wheel made from a source distribution."""
    place = tmp_path_factory.mktemp("packaging")
    project, out = place / "project", place / "out"
    copy_project(project)
    run(["setup.py", "-q", "bdist_egg", "-d", out, "sdist", "--formats=tar", "-d", out], project)
    with tarfile.open(next(out.glob("*.tar"))) as archive:
        archive.extractall(place / "source", filter="data")
    (source,) = (place / "source").iterdir()
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    run(["-c", build, out], source)
    return Built(project, next(out.glob("*.whl")), next(out.glob("*.egg")))


@pytest.mark.parametrize("kind", ["wheel", "egg"])
def test_both_models_are_inside_and_nothing_that_training_left_beside_them(built, kind):
    with zipfile.ZipFile(getattr(built, kind)) as archive:
        packed = {
            name.removeprefix("bilingual_crawler/"): archive.read(name)
            for name in archive.namelist()
            if name.startswith("bilingual_crawler/models/") and not name.endswith("/")
        }
    names = [f"models/{task}/{name}" for task in TASKS for name in MODEL_FILES]
    assert sorted(packed) == sorted(names)
    assert [name for name in names if packed[name] != (built.project / name).read_bytes()] == []


def test_an_unpacked_wheel_runs_its_own_models(built, tmp_path):
    package = tmp_path / "site-packages"
    with zipfile.ZipFile(built.wheel) as archive:
        archive.extractall(package)
    check_own_models(package, tmp_path)


def test_an_egg_runs_its_own_models_as_a_zip(built, tmp_path):
    check_own_models(built.egg, tmp_path)


@pytest.mark.parametrize("kind", ["wheel", "egg"])
def test_the_web_page_is_inside_and_readable_as_a_zip(built, kind, tmp_path):
    program = (
        "from bilingual_crawler.web.rendering import render, static_files\n"
        "print(sorted(static_files()))\n"
        "print(render('login.html', to='/', problem='', csrf='')[:15])\n"
    )
    printed = run(["-c", program], tmp_path, PYTHONPATH=str(getattr(built, kind)))
    assert printed == "['icon.svg', 'page.js', 'run.js', 'style.css']\n<!doctype html>\n"


def test_an_egg_has_its_tables_and_lists_as_a_zip(built, tmp_path):
    program = (
        "from bilingual_crawler.pairing.model import load_pair_model\n"
        "from bilingual_crawler.languages import LanguagePair\n"
        "from bilingual_crawler.config.seeds import available_pairs, project_seeds\n"
        "load_pair_model('')\n"
        "print(*available_pairs())\n"
        "print(all(project_seeds(LanguagePair.parse(each)) for each in available_pairs()))\n"
    )
    printed = run(["-c", program], tmp_path, PYTHONPATH=str(built.egg))
    assert printed == f"{' '.join(available_pairs())}\nTrue\n"


def check_own_models(package, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    answer = run(["-c", PROGRAM], empty, PYTHONPATH=str(package)).splitlines()
    where, languages, pairs, *answered = answer
    inside = package / "bilingual_crawler"
    assert Path(where).parent == inside
    assert [Path(languages), Path(pairs)] == [inside / "models" / task for task in TASKS]
    assert answered == ["1", "1"]


def test_scrapyd_finds_the_settings_and_the_spider_in_an_egg(built, tmp_path):
    entry_points = configparser.ConfigParser()
    with zipfile.ZipFile(built.egg) as archive:
        entry_points.read_string(archive.read("EGG-INFO/entry_points.txt").decode())
    settings = entry_points["scrapy"]["settings"]
    listed = run(
        ["-m", "scrapy", "list"],
        tmp_path,
        PYTHONPATH=str(built.egg),
        SCRAPY_SETTINGS_MODULE=settings,
    )
    assert listed.split() == ["bilingual", "discovery"]


def test_a_model_without_one_of_its_files_stops_the_build(built, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(built.project, project, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    (project / "models" / "parallel" / "tokenizer.json").unlink()
    with pytest.raises(AssertionError, match=r"models.parallel.tokenizer\.json"):
        run(["setup.py", "-q", "build_py"], project)
