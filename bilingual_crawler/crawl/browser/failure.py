"""Why a page could not be rendered."""

CRASH = "crash"


class RenderingFailedError(Exception):
    """A page of which the browser made nothing; the page as it was fetched stands.

    `reason` is the word that is counted, `detail` the sentence that is shown.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class StoppingError(RenderingFailedError):
    """The crawl is ending before the page was rendered; another run has to do it."""

    def __init__(self) -> None:
        super().__init__("stopping", "The crawl is ending.")


class NoBrowserError(RenderingFailedError):
    """The browser does not start."""

    def __init__(self, detail: str) -> None:
        super().__init__("no_browser", detail)
