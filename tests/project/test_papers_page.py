"""The page on the papers has every requirement once, and names only what exists."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "papers.md"
REQUIREMENTS = [*range(1, 63), *range(64, 109)]
"""The numbers of the list of requirements, which has no 63."""
PAPERS = {
    "SBFC": range(1, 34),
    "Barbosa": range(34, 49),
    "PPLocator": range(49, 63),
    "Almeida": range(64, 88),
    "ILSP-FC": range(88, 109),
}
NOT_MEASURED = "no figure"


def rows():
    """The cells of each row of the tables: requirement, where, tests, state."""
    lines = re.findall(r"^\| (R\d+: .*) \|$", PAGE.read_text(), re.MULTILINE)
    return [line.split(" | ") for line in lines]


def number_of(row):
    return int(re.match(r"R(\d+)", row[0])[1])


def test_every_requirement_is_on_the_page_once():
    found = Counter(int(number) for number in re.findall(r"\bR(\d+)\b", PAGE.read_text()))
    assert found == Counter(REQUIREMENTS)
    assert [number_of(row) for row in rows()] == REQUIREMENTS


def test_each_paper_has_its_requirements():
    for section in PAGE.read_text().split("\n## ")[1:]:
        paper = section.partition("\n")[0]
        numbers = [int(each) for each in re.findall(r"^\| R(\d+):", section, re.MULTILINE)]
        assert numbers == list(PAPERS[paper]), paper


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0].partition(":")[0])
def test_modules_and_tests_of_a_row_exist(row):
    requirement, where, tests, _ = row
    named = re.findall(r"`([\w/.-]+(?:\.py|/))`", where)
    for name in named:
        assert (ROOT / "bilingual_crawler" / name).exists() or (ROOT / name).exists(), name
    assert named or re.search(r"`(BILINGUAL_|scrapy )", where), requirement
    tested = re.findall(r"`([^`]+)`", tests)
    assert tested, requirement
    for name in tested:
        assert name.startswith("tests/"), name
        assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0].partition(":")[0])
def test_a_deviation_has_a_figure_or_says_that_there_is_none(row):
    state = row[3]
    assert state.startswith(("As in the paper", "Deviates: ", "Not done: ")), state
    if state.startswith("Deviates"):
        assert "](" in state or NOT_MEASURED in state.lower(), state
