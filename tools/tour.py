"""The pages in the tour of the web page: which picture shows which, and what stands on it.

`tools/screenshots.py` takes the pictures, and a test checks that each page is still served and has
what the tour (docs/tutorial/tour.md) says about it.
"""

from typing import NamedTuple

FIRST_PAIR = "/pair/{first}"
"""The first document pair of the list, whichever that is."""


class TourStop(NamedTuple):
    """A picture of the tour: docs/images/web-NAME.png."""

    name: str
    path: str
    is_phone: bool = False
    is_dark: bool = False
    is_whole: bool = False
    """Whether the picture shows the page to its end."""


TOUR = (
    TourStop("search", "/?q=mol*&other=errot*"),
    TourStop("pair", FIRST_PAIR),
    TourStop("audit", "/audit"),
    TourStop("concordance", "/concordance?q=biblioteca"),
    TourStop("frequencies", "/words/frequencies"),
    TourStop("collocations", "/words/collocations?q=la&left=2&right=2"),
    TourStop("translations", "/words/translations?q=biblioteca"),
    TourStop("pictures", "/pictures", is_whole=True),
    TourStop("crawl", "/crawl"),
    TourStop("phone", "/concordance?q=biblioteca", is_phone=True),
    TourStop("dark", "/concordance?q=biblioteca&sort=right", is_dark=True),
)
