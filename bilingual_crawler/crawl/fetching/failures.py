"""Why a page was not fetched: a code and a sentence for every kind of failure.

The codes are those of `Outcome`, and `http_403` and the like for a server's error. They are the
same whether we refused the page ourselves (`Refused`) or the network, the server or Scrapy ended
the download.
"""

from collections.abc import Iterator

from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
    StopDownload,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet import error as network
from twisted.internet.defer import CancelledError
from twisted.web.client import ResponseFailed

from bilingual_crawler.outcomes import Outcome

MAX_DETAIL = 300
"""Characters of an exception's own message that are shown."""
MAX_CAUSES = 20
STATUSES = range(100, 600)
"""The status codes that HTTP has (RFC 9110, section 15)."""


class Refused(IgnoreRequest):
    """A page that we decline to fetch or to keep.

    `reason` is the code that is counted, `detail` the sentence that is shown. As it is an
    `IgnoreRequest`, it reaches the errback of the request without a traceback in the log.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class RobotsUnavailableError(DownloadFailedError):
    """A server answered the request for its robots.txt with a server error."""


class TdmUnavailableError(DownloadFailedError):
    """A server could not say for now whether it has a tdmrep.json."""


class ArchiveUnavailableError(DownloadFailedError):
    """A server of the archive did not answer, or not as expected; it may do so later."""


class UnknownStatusError(Exception):
    """A server answered with a status code that HTTP does not have; a retry would not help."""


# Scrapy ignores requests with a message only: it has no exception classes for these.
_SCRAPY_MESSAGES = {
    "Forbidden by robots.txt": Outcome.ROBOTS_TXT,
    "max redirections": Outcome.TOO_MANY_REDIRECTS,
    "during decompression": Outcome.TOO_LARGE,
    "offsite": Outcome.OFFSITE,
}

# Libraries below Scrapy, by name: which of them are installed is up to Scrapy.
_LIBRARIES = {
    **dict.fromkeys(
        ("zlib", "gzip", "brotli", "_brotli", "brotlicffi", "backports", "compression"),
        Outcome.BAD_ENCODING,
    ),
    **dict.fromkeys(("OpenSSL", "service_identity"), Outcome.TLS),
}

# The first row with a matching class decides, so narrow classes come before wide ones.
_EXCEPTIONS: tuple[tuple[tuple[type[BaseException], ...], Outcome], ...] = (
    (
        (DownloadTimeoutError, network.TimeoutError, network.TCPTimedOutError, TimeoutError),
        Outcome.TIMEOUT,
    ),
    ((CannotResolveHostError, network.DNSLookupError), Outcome.DNS),
    ((DownloadCancelledError, CancelledError), Outcome.TOO_LARGE),
    ((RobotsUnavailableError,), Outcome.ROBOTS_UNAVAILABLE),
    ((UnknownStatusError,), Outcome.HTTP_OTHER),
    ((TdmUnavailableError,), Outcome.TDM_UNAVAILABLE),
    ((ArchiveUnavailableError,), Outcome.ARCHIVE_UNAVAILABLE),
    ((ResponseDataLossError,), Outcome.INCOMPLETE),
    ((UnsupportedURLSchemeError, NotSupported), Outcome.BAD_URL),
    ((TunnelError,), Outcome.PROXY),
    ((EOFError,), Outcome.BAD_ENCODING),
    ((network.SSLError, network.VerifyError, network.CertificateError), Outcome.TLS),
    ((StopDownload,), Outcome.STOPPED),
    (
        (
            DownloadConnectionRefusedError,
            DownloadFailedError,
            ResponseFailed,
            network.ConnectError,
            network.ConnectionClosed,
            OSError,
        ),
        Outcome.CONNECTION,
    ),
    ((ValueError,), Outcome.BAD_URL),
)


def reason_of(error: BaseException) -> tuple[str, str]:
    """Return the code and the sentence for what ended a download.

    Every exception has a code: an unknown one is an "error" whose sentence names its class.
    """
    if isinstance(error, Refused):
        return error.reason, error.detail
    if isinstance(error, HttpError):
        status = error.response.status
        return f"http_{status_key(status)}", f"The server answered with status {status}."
    outcome = _outcome_of(error)
    if outcome is not None:
        return outcome, outcome.sentence
    if isinstance(error, IgnoreRequest):
        return Outcome.IGNORED, str(error)[:MAX_DETAIL] or Outcome.IGNORED.sentence
    return Outcome.ERROR, f"{type(error).__name__}: {error}"[:MAX_DETAIL]


def _outcome_of(error: BaseException) -> Outcome | None:
    if isinstance(error, IgnoreRequest):
        message = str(error)
        return next((each for text, each in _SCRAPY_MESSAGES.items() if text in message), None)
    for each in _causes(error):
        library = type(each).__module__.partition(".")[0]
        if library in _LIBRARIES:
            return _LIBRARIES[library]
    return next((each for classes, each in _EXCEPTIONS if isinstance(error, classes)), None)


def status_key(status: int) -> str:
    """Return a status as part of a statistics key; "other" for those that HTTP does not have.

    So a server cannot create any number of keys.
    """
    return str(status) if status in STATUSES else "other"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes: Twisted keeps a list of them, Python one per step."""
    seen = 0
    pending: list[BaseException | None] = [error]
    while pending and seen < MAX_CAUSES:  # chains are short, but may have loops
        each = pending.pop()
        if each is None:
            continue
        seen += 1
        yield each
        pending.append(each.__cause__)
        if isinstance(each, ResponseFailed):
            pending += [failure.value for failure in each.reasons]
