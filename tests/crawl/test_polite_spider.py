"""The pages that commands fetch."""

from scrapy.settings import Settings

from bilingual_crawler.crawl.polite_spider import PagesSpider


def test_a_command_fetches_from_the_sites_with_their_delays_whatever_archive_is_set():
    plain, archive = Settings(), Settings({"BILINGUAL_ARCHIVE": "cc:CC-MAIN-2026-40"})
    for settings in (plain, archive):
        PagesSpider.update_settings(settings)
    assert archive["BILINGUAL_ARCHIVE"] == ""
    assert archive.getfloat("DOWNLOAD_DELAY") == plain.getfloat("DOWNLOAD_DELAY") > 0
    assert archive.getbool("AUTOTHROTTLE_ENABLED")
