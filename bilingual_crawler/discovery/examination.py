"""A site under examination: its detector, asked for one page at a time.

The detector stops as soon as it is sure, so pages that are asked for together may be asked for
in vain; and a site that is met for the first time is asked gently.
"""

from bilingual_crawler.discovery.site_detector import SiteDetector
from bilingual_crawler.discovery.site_records import Approach
from bilingual_crawler.discovery.verdict import SiteVerdict
from bilingual_crawler.documents.document import Document


class Examination:
    """Tells which page to ask for next, until there is a verdict."""

    def __init__(self, site: str, approach: Approach, detector: SiteDetector) -> None:
        self.site = site
        self.approach = approach
        self._detector = detector
        self._under_way: str | None = None

    @property
    def verdict(self) -> SiteVerdict | None:
        """The verdict, once there is one."""
        return self._detector.verdict

    def take(self, asked: str, document: Document) -> None:
        """A page has come: the first one, or the one that was asked for."""
        self._came(asked)
        self._detector.take(document)

    def missed(self, asked: str, reason: str) -> None:
        """The page that was asked for could not be had."""
        self._came(asked)
        self._detector.missed(asked, reason)

    def is_waiting_for(self, url: str) -> bool:
        """Whether this very page was asked for."""
        return self._under_way == url

    def next(self) -> str | None:
        """The page to ask for now; None while one is under way, or if none is wanted."""
        if self._under_way is not None or self._detector.verdict is not None:
            return None
        self._under_way = next(iter(self._detector.wanted()), None)
        return self._under_way

    def _came(self, url: str) -> None:
        if self._under_way == url:
            self._under_way = None
