"""SECURITY.md promises nothing that no test holds."""

import re

import pytest
from scrapy.utils.test import get_crawler

from bilingual_crawler.config.settings import PREFIX, Config
from tests.support.crawling import ROOT
from tools.fuzz.targets import TARGETS

PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests|tools)/[\w/]+\.py)`", PAGE)))


@pytest.mark.parametrize("name", NAMED)
def test_the_tests_that_are_named_are_there(name):
    assert (ROOT / name).is_file()


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", PAGE))
def test_links_lead_to_files_of_the_project(link):
    assert (ROOT / link).is_file()


def test_settings_are_spelt_as_they_are():
    named = set(re.findall(rf"{PREFIX}[A-Z_]+", PAGE))
    assert named <= {PREFIX + name.upper() for name in Config.__dataclass_fields__}


def test_every_promise_names_a_test():
    promises = PAGE.partition("## What is promised")[2].partition("## What is not")[0]
    assert promises.count("\n**") == len(re.findall(r"[Hh]eld by", promises))
    rows = [row for row in promises.splitlines() if row.startswith("| ")][1:]
    assert all(re.search(r"tests/(?:\w+/)*test_", row) for row in rows)


def test_the_page_and_the_makefile_agree_on_fuzzing():
    assert "python -m tools.fuzz" in (ROOT / "Makefile").read_text("utf-8")
    assert set(re.findall(r"--target (\w+)", PAGE)) <= TARGETS.keys()


@pytest.mark.parametrize("name", ["TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED"])
def test_nobody_runs_code_in_a_crawl(name):
    addons = {"bilingual_crawler.addon.BilingualCrawler": 500}
    crawler = get_crawler(settings_dict={"ADDONS": addons})
    assert crawler.settings.getbool(name) is False


def test_figures_are_served_only_where_that_is_asked_for():
    assert Config().metrics == ""
