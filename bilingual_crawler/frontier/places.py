"""Where a frontier is, as a user names it: the folder of a crawl, or an address of Redis."""

from pathlib import Path

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.journal_view import JournalView
from bilingual_crawler.frontier.view import FrontierView

SCHEMES = ("redis://", "rediss://", "unix://")


def open_view(place: str, prefix: str = "") -> FrontierView:
    """The frontier at a place; of several in one Redis `prefix` says which."""
    if not place.startswith(SCHEMES):
        return JournalView(Path(place))
    try:
        from bilingual_crawler.frontier.shared.view import open_shared_view  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            f"A frontier in Redis ({SCHEMES[0]}...) needs the package redis, which is not "
            "installed.",
            "Install it with pip install 'bilingual-crawler[redis]'.",
        ) from None
    return open_shared_view(place, prefix)
