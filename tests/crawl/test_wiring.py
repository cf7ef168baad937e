"""Where our components go in Scrapy's settings."""

import pytest
from scrapy.settings import Settings

from bilingual_crawler.crawl.wiring import REMOTE_CONTROL, drop_remote_control


@pytest.mark.parametrize("is_on", [True, False])
def test_an_extension_that_is_off_is_not_even_named(is_on):
    settings = Settings({"REMOTE_CONTROL_ENABLED": is_on})
    assert REMOTE_CONTROL in settings["EXTENSIONS_BASE"]
    drop_remote_control(settings)
    assert (REMOTE_CONTROL in settings["EXTENSIONS_BASE"]) == is_on


def test_other_extensions_of_scrapy_stay():
    settings = Settings({"REMOTE_CONTROL_ENABLED": False})
    before = set(settings["EXTENSIONS_BASE"])
    drop_remote_control(settings)
    assert set(settings["EXTENSIONS_BASE"]) == before - {REMOTE_CONTROL}
