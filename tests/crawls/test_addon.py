"""Another Scrapy project gets the crawler with one line, and keeps what it had."""

import os
import subprocess
import sys

import pytest

from demo import content
from tests.support.crawling import FAST, ROOT, documents, pairs
from tests.support.processes import HANG
from tests.support.servers import serve_demo

pytestmark = pytest.mark.crawl

SETTINGS = """
BOT_NAME = "theirs"
SPIDER_MODULES = ["theirs.spiders"]
ROBOTSTXT_OBEY = True
USER_AGENT = "theirs (+https://theirs.example/bot)"
ITEM_PIPELINES = {"theirs.pipelines.Counter": 900}
ADDONS = {"bilingual_crawler.addon.BilingualCrawler": 500}
"""
SPIDERS = """
import scrapy
from bilingual_crawler.spiders.bilingual import BilingualSpider


class Plain(scrapy.Spider):
    name = "plain"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url, "scheduler": type(self.crawler.engine.scheduler).__name__}


class Own(BilingualSpider):
    name = "own"
"""
PIPELINES = """
class Counter:
    seen = 0

    def process_item(self, item):
        Counter.seen += 1
        return item

    def close_spider(self):
        print("THEIRS SAW", Counter.seen)
"""


@pytest.fixture
def project(tmp_path):
    package = tmp_path / "theirs"
    package.mkdir()
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs.settings\n")
    for name, text in {
        "__init__.py": "",
        "settings.py": SETTINGS,
        "spiders.py": SPIDERS,
        "pipelines.py": PIPELINES,
    }.items():
        (package / name).write_text(text)
    return tmp_path


def scrapy(project, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done


def options(url, output):
    given = [part for k, v in FAST.items() for part in ("-s", f"{k}={v}")]
    return ["-a", "langs=spa-eus", "-a", f"seeds={url}", "-a", f"output={output}", *given]


def test_the_spiders_of_this_project_are_listed():
    assert scrapy(ROOT, "list").stdout.split() == ["bilingual", "discovery"]


@pytest.mark.parametrize("spider", ["bilingual", "own"])
def test_the_crawler_works_in_the_other_project(project, spider):
    with serve_demo() as server:
        done = scrapy(project, "crawl", spider, *options(server.url, "out"))
        found = {(pair["url1"], pair["url2"]) for pair in pairs(project / "out")}
        assert content.expected_pairs(server.url) <= found
    assert f"THEIRS SAW {len(documents(project / 'out'))}" in done.stdout


def test_other_spiders_run_as_before(project):
    with serve_demo() as server:
        done = scrapy(project, "crawl", "plain", "-a", f"url={server.url}", "-O", "-:jsonlines")
    assert f'{{"url": "{server.url}", "scheduler": "Scheduler"}}' in done.stdout
