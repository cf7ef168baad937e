"""Credentials are in no report, no log and no message."""

import json
import re
from pathlib import Path

import pytest
from scrapy.settings import BaseSettings

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.workers import connect
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.reporting.report import about, changed_settings
from bilingual_crawler.reporting.summary import resume_command
from bilingual_crawler.urls.addresses import read_address
from bilingual_crawler.urls.credentials import without_credentials
from tests.support.redis_server import needs_redis, serve_redis
from tests.support.typed_commands import typed

ADDRESSES = [
    "redis://crawler:hidden@redis.example:6379/0",
    "redis://:hid/den#hidden@redis.example:6379/0",
    "rediss://redis.example:6379/0?password=hidden",
    "rediss://redis.example:6379/0?db=1&PassWord=hidden&socket_timeout=1",
    "redis://redis.example/?p%61ssword=hidden;hidden",
    "redis://redis.example/?username=hidden&ssl_password=hidden",
    "unix:///run/redis.sock?db=2&password=hidden",
    "http://hidden@proxy.example:3128",
    "http://user:hidden@proxy.example:3128",
    "https://api.example/v1?access_token=hidden#auth=hidden",
    "https://api.example/v1?api_key=hidden&page=2",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_shown_without_its_credentials(address):
    shown = without_credentials(address)
    assert "hidden" not in shown
    assert re.search(r"example|sock", shown)


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_report_and_no_command_shows_them(address):
    settings = changed_settings(Config(frontier=address), BaseSettings())
    assert "hidden" not in json.dumps(settings)
    for word in (f"BILINGUAL_FRONTIER={address}", f"-sBILINGUAL_FRONTIER={address}"):
        assert "hidden" not in resume_command(["scrapy", "crawl", "bilingual", word], Path("out"))


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/@name?user_id=3&page=2#part",
        "https://example.org/?key=article&pass_through=1",
        "crawler@example.org",
        "mailto:crawler@example.org",
        "redis://redis.example:6379/0?db=1",
    ],
)
def test_what_is_no_secret_stays(address):
    assert without_credentials(address) == address


def test_several_seeds_stay_several():
    typed = "seeds=https://a.example/?token=hidden,https://u:hidden@b.example/,https://c.example/"
    assert without_credentials(typed) == (
        "seeds=https://a.example/?token=...,https://...@b.example/,https://c.example/"
    )


def test_seeds_are_reported_without_them():
    plan = CrawlPlan.from_arguments(langs="spa-eus", seeds="https://a.example/?access_token=hidden")
    seeds = about(plan, Config(), BaseSettings())["seeds"]
    assert seeds == ["https://a.example/?access_token=..."]


@pytest.mark.parametrize(
    "seed",
    [
        "https://user:hidden@example.org/",
        "https://user:hidden@example.org:port/",
        "ftp://u:hidden@a.b/",
    ],
)
def test_a_seed_that_is_refused_is_told_without_them(seed):
    with pytest.raises(ValueError, match=r"example|ftp") as refused:
        read_address(seed)
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "redis://:hidden/or@127.0.0.1:1/0",
        "redis://:hidden#or@127.0.0.1:1/0",
        "redis://127.0.0.1:1/0?password=hidden",
        "redis://127.0.0.1:1/0?password=hidden&nonsense=1",
        "unix:///nowhere/redis.sock?password=hidden",
    ],
)
def test_the_words_of_the_library_do_not_quote_them(address):
    with pytest.raises(ConfigurationError) as refused:
        connect(address)
    assert "hidden" not in str(refused.value)
    assert "BILINGUAL_FRONTIER" in str(refused.value)


@pytest.mark.parametrize("address", ["crawler:hidden@redis.example", "http://u:hidden@redis"])
def test_a_setting_that_is_refused_is_told_without_them(address):
    with pytest.raises(ConfigurationError) as refused:
        Config.from_settings(BaseSettings({"BILINGUAL_FRONTIER": address}))
    assert "hidden" not in str(refused.value)


@needs_redis
def test_the_frontier_command_does_not_print_them(capsys):
    with serve_redis() as server:
        server.client.hset("{one}:crawl", mapping={"langs": "spa-eus", "format": 1})
        server.client.set("{one}:counts", "not a hash")
        server.client.config_set("requirepass", "hidden")
        told = typed(capsys, "frontier", "status", f"{server.url}?password=hidden")
        assert told[0]
    assert "hidden" not in str(told)
