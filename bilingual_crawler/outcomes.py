"""How a URL ended, why a link was not followed, why a run stopped: codes with their sentences.

Every URL ends with a code, and so does every link that is not followed. The journal, the
statistics and crawl.json hold the code; people read the sentence. A server's status
is a code too (`http_404`), and a project's own components may use codes of their own.
"""

from enum import StrEnum
from http import HTTPStatus
from typing import Self


class _Explained(StrEnum):
    """Codes with a sentence for people."""

    sentence: str

    def __new__(cls, code: str, sentence: str, *_more: object) -> Self:
        """Return a member that is equal to its code."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member


class Outcome(_Explained):
    """How a URL ended. `fails` is True if there is no page at all."""

    def __init__(self, _code: str, _sentence: str, fails: bool = False) -> None:
        self.fails = fails

    STORED = "stored", "The page is in documents.jsonl.gz."
    NO_TEXT = "no_text", "The page has no text apart from menus."
    OFF_LANGUAGE = "off_language", "The page is in another language."
    OFF_TOPIC = (
        "off_topic",
        "The page is not about the topic (BILINGUAL_TOPIC_SCORE, BILINGUAL_TOPIC_TERMS).",
    )
    MIXED_LANGUAGE = (
        "mixed_language",
        "Too little of the page is in its main language (BILINGUAL_LANGUAGE_SHARE).",
    )
    MACHINE_TRANSLATED = (
        "machine_translated",
        "The page says that its text is machine-translated (BILINGUAL_MACHINE_TRANSLATED).",
    )
    DUPLICATE = (
        "duplicate",
        "The page is nearly the same as another one and has no translation of its own.",
    )
    SCANNED = "scanned", "The file has pictures of pages, and no text."
    ENCRYPTED = "encrypted", "The file is protected by a password."
    BROKEN_FILE = "broken_file", "The file is damaged, or not what its beginning says."
    FILE_LIMIT = "file_limit", "The file took too much memory or time to read."
    OLD_WORD = "old_word", "The file has the format of Word before 2007, which is not read."
    ONE_LANGUAGE = (
        "one_language",
        "The page was requested in its other language too, but has only one.",
    )
    NOINDEX = "noindex", "The page asks not to be kept."
    TDM_RESERVED = "tdm_reserved", "The site reserves the page from text and data mining."
    TDM_UNREADABLE = (
        "tdm_unreadable",
        "The site has a tdmrep.json that cannot be read, which may reserve the page.",
    )
    NOAI = "noai", "The page asks not to be used for machine learning."
    DROPPED = "dropped", "A pipeline of the project dropped the page."
    EXAMINED = (
        "examined",
        "The page was read to decide whether its site is bilingual, and for its links.",
    )
    PROCESSED = "processed", "The page was read, but gave no document."
    REDIRECTED = "redirected", "The address redirects to another one, which is counted separately."

    ROBOTS_TXT = "robots_txt", "robots.txt forbids the page.", True
    ROBOTS_UNAVAILABLE = (
        "robots_unavailable",
        "The server could not say what its robots.txt allows.",
        True,
    )
    CRAWL_DELAY = (
        "crawl_delay",
        "robots.txt asks for a longer delay than BILINGUAL_LONGEST_CRAWL_DELAY.",
        True,
    )
    TDM_UNAVAILABLE = (
        "tdm_unavailable",
        "The server could not say what its tdmrep.json reserves.",
        True,
    )
    PRIVATE_ADDRESS = (
        "private_address",
        "The host is not on the open web (BILINGUAL_ALLOW_PRIVATE=1 allows it).",
        True,
    )
    DNS = "dns", "The name of the host has no address.", True
    CONNECTION = "connection", "The connection to the server failed.", True
    TIMEOUT = "timeout", "The server took longer than DOWNLOAD_TIMEOUT.", True
    TLS = "tls", "No secure connection to the server could be made.", True
    PROXY = "proxy", "The proxy refused to connect to the host.", True
    INCOMPLETE = "incomplete", "The server broke off before the end of the page.", True
    NOT_ARCHIVED = "not_archived", "The archive has no capture of the page.", True
    UNUSABLE_CAPTURE = (
        "unusable_capture",
        "The archive's record of the page is truncated, damaged or not there.",
        True,
    )
    ARCHIVE_UNAVAILABLE = (
        "archive_unavailable",
        "The servers of the archive did not answer, or not as expected.",
        True,
    )
    HTTP_OTHER = "http_other", "The server answered with a status that HTTP does not have.", True
    TOO_MANY_REDIRECTS = "too_many_redirects", "The page redirects too many times in a row.", True
    TOO_LARGE = "too_large", "The page is larger than DOWNLOAD_MAXSIZE.", True
    NOT_HTML = "not_html", "The page is not of a type that is read (BILINGUAL_TYPES).", True
    BAD_ENCODING = "bad_encoding", "The page is not compressed the way its headers say.", True
    BAD_URL = "bad_url", "The address of the page cannot be read.", True
    UNREADABLE = (
        "unreadable",
        "The saved request for the page cannot be read or trusted.",
        True,
    )
    OFFSITE = "offsite", "The page is on a host outside the crawl.", True
    PROBE_MISSED = (
        "probe_missed",
        "The address was guessed from those of other pages; there is no such page.",
        True,
    )
    STOPPED = "stopped", "The download was stopped before the end of the page.", True
    IGNORED = "ignored", "A component of the project ignored the page.", True
    ERROR_IN_CALLBACK = (
        "error_in_callback",
        "The page could not be read; the log has the details.",
        True,
    )
    ERROR_IN_PIPELINE = (
        "error_in_pipeline",
        "A pipeline failed on the page; the log has the details.",
        True,
    )
    ERROR = "error", "An unexpected error; the log at LOG_LEVEL=DEBUG has the details.", True


OPT_OUTS = (
    Outcome.ROBOTS_TXT,
    Outcome.CRAWL_DELAY,
    Outcome.TDM_RESERVED,
    Outcome.TDM_UNREADABLE,
    Outcome.NOAI,
    Outcome.NOINDEX,
)
"""Outcomes by which the owners of a site withhold a page."""


class LinkRefusal(_Explained):
    """Why a link was not followed."""

    BAD_URL = "bad_url", "The address cannot be read."
    OFFSITE = "offsite", "It leads to a host outside the crawl (BILINGUAL_FOLLOW)."
    TOO_DEEP = "too_deep", "It is too many links away from a seed (DEPTH_LIMIT)."
    NOT_HTML_ENDING = "not_html_ending", "Its file ending is not that of a page."
    EXCLUDED = "excluded", "The settings of its site exclude it."
    URL_TOO_LONG = "url_too_long", "The address is too long (URLLENGTH_LIMIT)."
    REPEATED_SEGMENTS = (
        "repeated_segments",
        "A part of its path repeats too often (BILINGUAL_REPEATED_SEGMENTS).",
    )
    TOO_MANY_PARAMETERS = (
        "too_many_parameters",
        "It has too many query parameters (BILINGUAL_QUERY_PARAMETERS).",
    )
    SESSION_ID = "session_id", "It carries a session ID, so every visit would find new addresses."
    CALENDAR = "calendar", "It is a calendar page of a far-off year."
    SCORER = "scorer", "The scorer rejects it (BILINGUAL_SCORER)."


STOPS = {
    "finished": "Nothing is left to fetch.",
    "shutdown": "It was stopped by Ctrl-C or a signal.",
    "start_error": "The seeds could not be requested; the log says why.",
    "cancelled": "It was stopped by a component.",
    "closespider_timeout": "The time of CLOSESPIDER_TIMEOUT is up.",
    "closespider_timeout_no_item": "No document came for CLOSESPIDER_TIMEOUT_NO_ITEM seconds.",
    "closespider_pagecount": "It has fetched CLOSESPIDER_PAGECOUNT pages.",
    "closespider_pagecount_no_item": "CLOSESPIDER_PAGECOUNT_NO_ITEM pages gave no document.",
    "closespider_itemcount": "It has kept CLOSESPIDER_ITEMCOUNT documents.",
    "closespider_errorcount": "There were CLOSESPIDER_ERRORCOUNT errors.",
    "memusage_exceeded": "It used more memory than MEMUSAGE_LIMIT_MB.",
    "merged": "The crawls of several workers were merged (merged_from).",
    "journal_error": "Its folder cannot be written; the log says why.",
}
"""Why a run of a crawl ended: Scrapy's reasons and ours."""

_OUTCOMES = {each.value: each for each in Outcome}
_LINK_REFUSALS = {each.value: each for each in LinkRefusal}


def outcome_sentence(reason: str) -> str:
    """Return how a URL ended, as a sentence; an unknown code stands for itself."""
    known = _OUTCOMES.get(reason)
    return known.sentence if known else _status_sentence(reason) or reason


def is_failure(reason: str) -> bool:
    """Return True if a URL with this outcome gave no page at all."""
    known = _OUTCOMES.get(reason)
    return known.fails if known else _status_sentence(reason) is not None


def is_drop(reason: str) -> bool:
    """Return True if a URL with this outcome gave a page that was not kept."""
    kept = {Outcome.STORED, Outcome.REDIRECTED, Outcome.EXAMINED}
    return not is_failure(reason) and reason not in kept


def link_sentence(reason: str) -> str:
    """Return why a link was not followed, as a sentence."""
    known = _LINK_REFUSALS.get(reason)
    return known.sentence if known else reason


def stop_sentence(reason: str) -> str:
    """Return why a run of a crawl ended, as a sentence."""
    return STOPS.get(reason, f"It was stopped ({reason}).")


def _status_sentence(reason: str) -> str | None:
    code = reason.removeprefix("http_")
    if code == reason or not code.isdecimal():
        return None
    try:
        return f"The server answered {code} ({HTTPStatus(int(code)).phrase})."
    except ValueError:
        return f"The server answered {code}."
