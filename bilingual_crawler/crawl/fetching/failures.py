"""Why a page was not fetched: one short code and one sentence for every way to fail.

The accounting of a crawl, its report and its retries all speak these codes, whether we
refused the page ourselves (`Refused`) or the network, the server or Scrapy ended it.
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

LONGEST_DETAIL = 300
STATUSES = range(100, 600)
"""The status codes that HTTP has (RFC 9110, section 15)."""


class Refused(IgnoreRequest):
    """A page that we decline to fetch or to keep.

    `reason` is the code that is counted, `detail` the sentence that is shown. Being an
    `IgnoreRequest`, it reaches the errback of the request without a traceback in the log.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


# What Scrapy says when it ignores a request: it has no exception classes for these.
_SAID_BY_SCRAPY = (
    ("Forbidden by robots.txt", "robots_txt", "robots.txt forbids this page to us."),
    ("max redirections", "too_many_redirects", "The page redirects too many times in a row."),
    ("during decompression", "too_large", "The page is larger than DOWNLOAD_MAXSIZE unpacked."),
    ("offsite", "offsite", "The page is on a host outside the crawl."),
)

_UNPACKING = ("bad_encoding", "The page is not packed the way its headers say.")
_TLS = ("tls", "No secure connection to the server could be made.")

# Libraries below Scrapy, known by name: which of them is installed is Scrapy's affair.
_LIBRARIES = {
    "zlib": _UNPACKING,
    "gzip": _UNPACKING,
    "brotli": _UNPACKING,
    "_brotli": _UNPACKING,
    "brotlicffi": _UNPACKING,
    "backports": _UNPACKING,
    "compression": _UNPACKING,
    "OpenSSL": _TLS,
    "service_identity": _TLS,
}


class RobotsUnavailableError(DownloadFailedError):
    """A server answered the question for its robots.txt with an error of its own."""


class TdmUnavailableError(DownloadFailedError):
    """A server could not say for now whether it has a tdmrep.json."""


class UnknownStatusError(Exception):
    """A server answered with a status code that HTTP does not have; asking again is no use."""


# The first row whose classes fit decides, so the narrow ones stand before the wide ones.
_MEANINGS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str, str], ...] = (
    (
        (DownloadTimeoutError, network.TimeoutError, network.TCPTimedOutError, TimeoutError),
        "timeout",
        "The server took longer than DOWNLOAD_TIMEOUT.",
    ),
    (
        (CannotResolveHostError, network.DNSLookupError),
        "dns",
        "The name of the host leads to no address.",
    ),
    (
        (DownloadCancelledError, CancelledError),
        "too_large",
        "The page is larger than DOWNLOAD_MAXSIZE.",
    ),
    (
        RobotsUnavailableError,
        "robots_unavailable",
        "The server could not say what its robots.txt allows.",
    ),
    (
        UnknownStatusError,
        "http_other",
        "The server answered with a status that HTTP does not have.",
    ),
    (
        TdmUnavailableError,
        "tdm_unavailable",
        "The server could not say what its tdmrep.json reserves.",
    ),
    (ResponseDataLossError, "incomplete", "The server broke off before the end of the page."),
    (
        (UnsupportedURLSchemeError, NotSupported),
        "bad_url",
        "Only http and https addresses are fetched.",
    ),
    (TunnelError, "proxy", "The proxy did not let us through to the host."),
    (EOFError, *_UNPACKING),
    ((network.SSLError, network.VerifyError, network.CertificateError), *_TLS),
    (StopDownload, "stopped", "The download was stopped before the end of the page."),
    (
        (
            DownloadConnectionRefusedError,
            DownloadFailedError,
            ResponseFailed,
            network.ConnectError,
            network.ConnectionClosed,
            OSError,
        ),
        "connection",
        "The connection to the server failed.",
    ),
    (ValueError, "bad_url", "The address of the page cannot be read."),
)


def reason_of(failure_value: BaseException) -> tuple[str, str]:
    """The code and the sentence for what ended a download.

    Nothing is left without a code: what we do not know is an "error" that names its class.
    """
    if isinstance(failure_value, Refused):
        return failure_value.reason, failure_value.detail
    if isinstance(failure_value, HttpError):
        status = failure_value.response.status
        return f"http_{status_key(status)}", f"The server answered with status {status}."
    if isinstance(failure_value, IgnoreRequest):
        return _reason_of_ignored(failure_value)
    for each in _causes(failure_value):
        library = type(each).__module__.partition(".")[0]
        if library in _LIBRARIES:
            return _LIBRARIES[library]
    for classes, reason, sentence in _MEANINGS:
        if isinstance(failure_value, classes):
            return reason, sentence
    kind = type(failure_value).__name__
    return "error", f"{kind}: {failure_value}"[:LONGEST_DETAIL]


def status_key(status: int) -> str:
    """A status as a part of a key of statistics: all that HTTP does not have are "other".

    So a server cannot invent any number of keys.
    """
    return str(status) if status in STATUSES else "other"


def _reason_of_ignored(ignored: IgnoreRequest) -> tuple[str, str]:
    said = str(ignored)
    for words, reason, sentence in _SAID_BY_SCRAPY:
        if words in said:
            return reason, sentence
    return "ignored", said[:LONGEST_DETAIL] or "A component of the project ignored the page."


def _causes(failure_value: BaseException) -> Iterator[BaseException]:
    """The exceptions behind an exception: Twisted keeps a list, Python one a step."""
    seen = 0
    pending: list[BaseException | None] = [failure_value]
    while pending and seen < 20:  # noqa: PLR2004 - chains are short; a loop among them ends here
        each = pending.pop()
        if each is None:
            continue
        seen += 1
        yield each
        pending.append(each.__cause__)
        if isinstance(each, ResponseFailed):
            pending += [failure.value for failure in each.reasons]
