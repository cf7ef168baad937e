"""The variants of a URL in Scrapy's HTTP cache: two answers, not one in place of the other."""

from scrapy import Request
from scrapy.utils.request import RequestFingerprinter, fingerprint

from bilingual_crawler.crawl.request_state import RequestState

DECIDING = ("Accept-Language", "Cookie")
"""The headers by which a server chooses a variant."""


class VariantFingerprinter(RequestFingerprinter):
    """Scrapy's own fingerprint; for a variant it looks at the deciding headers as well."""

    def fingerprint(self, request: Request) -> bytes:
        """The key of a request, for whoever keeps answers."""
        if not RequestState.of(request).variant:
            return super().fingerprint(request)
        return fingerprint(request, include_headers=DECIDING)
