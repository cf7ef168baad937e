"""Where a frontier is, as a user names it: the folder of a crawl."""

from pathlib import Path

from bilingual_crawler.frontier.journal_view import JournalView
from bilingual_crawler.frontier.view import FrontierView


def open_view(place: str, _prefix: str = "") -> FrontierView:
    """The frontier at a place."""
    return JournalView(Path(place))
