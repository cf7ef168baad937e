"""An extension that keeps the process busy at the worst moments, as other work does."""

import time

from scrapy import signals
from scrapy.utils.asyncio import call_later

SECONDS = 0.45


class HeldUp:
    """Holds up the event loop each second time that something happens to a request."""

    def __init__(self, crawler):
        self.times = 0
        moment = getattr(signals, crawler.settings["HELD_UP_AT"])
        crawler.signals.connect(self.happened, signal=moment)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def happened(self):
        self.times += 1
        if self.times % 2:
            call_later(0, time.sleep, SECONDS)
