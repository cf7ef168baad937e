"""What the short codes of the accounting mean, each in one sentence.

Every URL ends with a code and every link that is not followed has one. Whoever reads a
report should not have to read the source, so all codes are explained here, and a test
fails when one is missing. Codes of a project's own components pass through as they are.
"""

from http import HTTPStatus

STORED = "stored"
REDIRECTED = "redirected"
OFF_LANGUAGE = "off_language"
EXAMINED = "examined"
OPT_OUTS = ("robots_txt", "crawl_delay", "tdm_reserved", "tdm_unreadable", "noai", "noindex")

READ = {
    STORED: "The page is in documents.jsonl.gz.",
    "no_text": "The page has no text but menus.",
    OFF_LANGUAGE: "The page is in another language.",
    "off_topic": "The page is not about the topic (BILINGUAL_TOPIC_SCORE, BILINGUAL_TOPIC_TERMS).",
    "mixed_language": "Too little of the page is in its main language (BILINGUAL_LANGUAGE_SHARE).",
    "machine_translated": "The page says that its text is machine-translated"
    " (BILINGUAL_MACHINE_TRANSLATED).",
    "duplicate": "The page is nearly the same as another one and has no translation of its own.",
    "one_language": "The page was asked for in its other language too, and has but one.",
    "noindex": "The page asks not to be kept.",
    "tdm_reserved": "The site reserves the page from text and data mining.",
    "tdm_unreadable": "The site has a tdmrep.json that cannot be read, which may reserve the page.",
    "noai": "The page asks not to be used for machine learning.",
    "dropped": "A pipeline of the project dropped the page.",
    EXAMINED: "The page was read to tell whether its site is bilingual, and for its links.",
    "processed": "The page was read, but no document was made of it.",
}

FAILURES = {
    "robots_txt": "robots.txt forbids the page.",
    "robots_unavailable": "The server could not say what its robots.txt allows.",
    "crawl_delay": "robots.txt asks for a longer delay than BILINGUAL_LONGEST_CRAWL_DELAY.",
    "tdm_unavailable": "The server could not say what its tdmrep.json reserves.",
    "private_address": "The host is not on the open web (BILINGUAL_ALLOW_PRIVATE=1 allows it).",
    "dns": "The name of the host leads to no address.",
    "connection": "The connection to the server failed.",
    "timeout": "The server took longer than DOWNLOAD_TIMEOUT.",
    "tls": "No secure connection to the server could be made.",
    "proxy": "The proxy did not let us through to the host.",
    "incomplete": "The server broke off before the end of the page.",
    "http_other": "The server answered with a status that HTTP does not have.",
    "too_many_redirects": "The page redirects too many times in a row.",
    "too_large": "The page is larger than DOWNLOAD_MAXSIZE.",
    "not_html": "The page is not of a type that is read (BILINGUAL_CONTENT_TYPES).",
    "bad_encoding": "The page is not packed the way its headers say.",
    "bad_url": "The address of the page cannot be read.",
    "unreadable": "The request that was saved for the page cannot be read, or not trusted.",
    "offsite": "The page is on a host outside the crawl.",
    "probe_missed": "The address was a guess from the addresses of other pages; it is not there.",
    "stopped": "The download was stopped before the end of the page.",
    "ignored": "A component of the project ignored the page.",
    "error_in_callback": "The page could not be read; the log has the details.",
    "error_in_pipeline": "A pipeline failed on the page; the log has the details.",
    "error": "An unexpected error; the log at LOG_LEVEL=DEBUG has the details.",
}

LINKS = {
    "bad_url": "The address cannot be read.",
    "offsite": "It leads to a host outside the crawl (BILINGUAL_FOLLOW).",
    "too_deep": "It is too many links away from a seed (DEPTH_LIMIT).",
    "not_html_ending": "Its file ending is not that of a page.",
    "excluded": "The settings of its site exclude it.",
    "url_too_long": "The address is too long (URLLENGTH_LIMIT).",
    "repeated_segments": "A part of its path repeats too often (BILINGUAL_REPEATED_SEGMENTS).",
    "too_many_parameters": "It has too many query parameters (BILINGUAL_QUERY_PARAMETERS).",
    "session_id": "It carries a session number, so every visit would find new ones.",
    "calendar": "It is a calendar page of a far-off year.",
    "scorer": "The scorer wants none of it (BILINGUAL_SCORER).",
}

STOPS = {
    "finished": "Nothing is left to fetch.",
    "shutdown": "It was stopped by Ctrl-C or a signal.",
    "start_error": "The seeds could not be asked for; the log says why.",
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


OUTCOMES = READ | FAILURES
OUTCOMES[REDIRECTED] = "The address leads to another one, which is counted by itself."


def outcome(reason: str) -> str:
    """How a URL ended, as a sentence; a code that nobody knows stands for itself."""
    return OUTCOMES.get(reason) or _status(reason) or reason


def is_failure(reason: str) -> bool:
    """Whether a URL that ended so gave no page at all."""
    return reason in FAILURES or _status(reason) is not None


def is_drop(reason: str) -> bool:
    """Whether a URL that ended so gave a page that was not kept."""
    return not is_failure(reason) and reason not in {STORED, REDIRECTED, EXAMINED}


def link_refusal(reason: str) -> str:
    """Why a link was not followed, as a sentence."""
    return LINKS.get(reason, reason)


def stop(reason: str) -> str:
    """Why a run of the crawl ended, as a sentence."""
    return STOPS.get(reason, f"It was stopped ({reason}).")


def _status(reason: str) -> str | None:
    code = reason.removeprefix("http_")
    if code == reason or not code.isdecimal():
        return None
    try:
        return f"The server answered {code} ({HTTPStatus(int(code)).phrase})."
    except ValueError:
        return f"The server answered {code}."
