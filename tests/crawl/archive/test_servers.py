"""Questions to the server of an archive."""

import asyncio

from bilingual_crawler.crawl.archive.servers import CaptureServer
from bilingual_crawler.store.archive.archived_answer import UnusableCaptureError


class LongListing(CaptureServer):
    """A server whose listing of any host has more bytes than are read."""

    def __init__(self):
        pass

    async def _ask(self, **query):
        if query.get("showNumPages"):
            return ""
        raise UnusableCaptureError("more bytes came than were asked for")


def test_a_host_whose_listing_is_too_large_is_asked_for_page_by_page():
    assert asyncio.run(LongListing().of_host("example.org")) == ([], False)
