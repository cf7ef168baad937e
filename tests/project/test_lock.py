"""constraints.txt has the exact version of everything that can be installed with the project."""

import os
import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.projects import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OURS = canonicalize_name(PROJECT["project"]["name"])
LINES = [
    line
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.lstrip().startswith("#")
]


def asked_for():
    """What pyproject.toml names: to run, for each extra, and to build."""
    extras = PROJECT["project"]["optional-dependencies"].values()
    groups = [
        PROJECT["project"]["dependencies"],
        PROJECT["build-system"]["requires"],
        *extras,
    ]
    requirements = {Requirement(line) for group in groups for line in group}
    return sorted((each for each in requirements if canonicalize_name(each.name) != OURS), key=str)


def locked():
    versions: dict[str, list[Requirement]] = {}
    for line in LINES:
        requirement = Requirement(line)
        versions.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return versions


def versions_here(name):
    """The locked versions of a package that hold for this interpreter."""
    lines = locked().get(canonicalize_name(name), ())
    fitting = [line for line in lines if line.marker is None or line.marker.evaluate()]
    return [spec.version for line in fitting for spec in line.specifier]


@pytest.mark.parametrize("requirement", asked_for(), ids=str)
def test_what_the_project_asks_for_is_locked(requirement):
    versions = versions_here(requirement.name)
    assert len(versions) == 1, "run `make upgrade`, and commit constraints.txt"
    assert requirement.specifier.contains(versions[0], prereleases=True)


def test_what_that_needs_in_turn_is_locked_too():
    waiting = [(each.name, frozenset(each.extras)) for each in asked_for()]
    seen, missing = set(waiting), set()
    while waiting:
        name, extras = waiting.pop()
        try:
            needed = requires(name) or ()
        except PackageNotFoundError:  # an extra that is not installed here
            continue
        for line in needed:
            requirement = Requirement(line)
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                continue
            if not versions_here(requirement.name):
                missing.add(requirement.name)
            entry = (requirement.name, frozenset(requirement.extras))
            if entry not in seen:
                seen.add(entry)
                waiting.append(entry)
    assert len(seen) > len(asked_for())
    assert not missing


def test_a_locked_line_is_a_name_and_a_version_and_nothing_else():
    """Addresses of an index would be those of the machine that made the file."""
    assert [line for line in LINES if not re.match(r"[a-z0-9-]+==[\w.!]+( ; |$)", line)] == []
    assert "://" not in "".join(LINES)


def test_every_way_to_install_takes_the_locked_versions():
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    variables = dict(re.findall(r"^(\w+) := (.+)$", makefile, re.MULTILINE))
    for _ in variables:
        makefile = re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), makefile)
    installs = [line for line in makefile.splitlines() if "pip install" in line]
    recipes = [line for line in installs if line.startswith("\t")]
    assert recipes
    assert [line for line in recipes if "--constraint constraints.txt" not in line] == []
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert "PIP_CONSTRAINT=/src/constraints.txt" in dockerfile
    assert "COPY pyproject.toml constraints.txt" in dockerfile


def recipe(target, *variables):
    """What `make` would do, without doing it, and without the variables of a `make` around it."""
    command = ["make", "--dry-run", "--always-make", "--no-print-directory", target, *variables]
    env = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout


def test_torch_comes_from_the_usual_places_or_also_from_the_index_that_is_named():
    [usual] = re.findall(r".*pip install.* torch$", recipe("check"), re.MULTILINE)
    assert "--constraint constraints.txt" in usual
    assert "index" not in usual
    index = "https://index.example/cpu"
    [other] = re.findall(
        r".*pip install.* torch$", recipe("check", f"TORCH_INDEX={index}"), re.MULTILINE
    )
    assert f"--extra-index-url {index} " in other


def test_the_lock_is_renewed_for_all_extras_without_the_address_of_an_index():
    command = recipe("upgrade")
    for option in ("--upgrade", "--all-extras", "--universal", "--output-file constraints.txt"):
        assert option in command
    assert "--emit-index-url" not in command


def test_no_check_of_types_is_silenced_line_by_line():
    """A comment that the next version of a dependency does not need fails the check."""
    silenced = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (ROOT / "bilingual_crawler").rglob("*.py")
        for line in path.read_text().splitlines()
        if "# type: ignore" in line
    ]
    assert silenced == []
