"""The keys of a site's table: what each means, its Scrapy name, and which values will do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bilingual_crawler.config.sites.patterns import compile_pattern
from bilingual_crawler.languages import LanguagePair

LARGEST = 10**12
RENDER = ("auto", "never", "always")
HONOUR = ("tdm", "noai", "noindex", "nofollow")
LONGEST_USER_AGENT = 500

Check = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with a value, as the end of a sentence that begins with its key.

    `element` is the place in the list of what is meant, if it is not the whole.
    """

    text: str
    element: int | None = None


class UnfitError(ValueError):
    """A value will not do."""

    def __init__(self, *complaints: Complaint) -> None:
        super().__init__(*complaints)
        self.complaints = complaints


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a site's table."""

    meaning: str
    check: Check
    scrapy_name: str | None = None


def shown(value: Any) -> str:
    """A value as the user wrote it, more or less, and not too long."""
    text = repr(value)
    if isinstance(value, bool):
        text = text.lower()
    elif isinstance(value, str) and value.isprintable():
        text = f"'{value}'"
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 a line of a terminal


def _number(kind: str, low: float, high: float = LARGEST, *, whole: bool = False) -> Check:
    def check(value: Any) -> float:
        fits = isinstance(value, int) if whole else isinstance(value, int | float)
        if not fits or isinstance(value, bool) or not low <= value <= high:
            open_end = high == LARGEST and not (fits and value > high)
            limits = f"{low:g} or more" if open_end else f"from {low:g} to {high:,}"
            raise UnfitError(Complaint(f"must be {kind}, {limits}, not {shown(value)}"))
        return int(value) if whole else float(value)

    return check


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UnfitError(Complaint(f"must be true or false, not {shown(value)}"))
    return value


def _one_of(choices: tuple[str, ...]) -> Check:
    def check(value: Any) -> str:
        if value not in choices:
            wanted = ", ".join(f'"{choice}"' for choice in choices)
            raise UnfitError(Complaint(f"must be one of {wanted}, not {shown(value)}"))
        return str(value)

    return check


def _list_of(kind: str, example: str, check_element: Callable[[str], Any]) -> Check:
    """A check of lists of texts, in which a single text counts as a list of one."""

    def check(value: Any) -> tuple[Any, ...]:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list):
            wanted = f"must be a list of {kind}, such as {example}"
            raise UnfitError(Complaint(f"{wanted}, not {shown(value)}"))
        results, complaints = [], []
        for element, text in enumerate(texts):
            place = None if isinstance(value, str) else element
            if not isinstance(text, str):
                wanted = f"must be a list of {kind} in quotes"
                complaints.append(Complaint(f"{wanted}, not {shown(text)}", place))
                continue
            try:
                results.append(check_element(text))
            except ValueError as error:
                complaints.append(Complaint(str(error), place))
        if complaints:
            raise UnfitError(*complaints)
        return tuple(results)

    return check


def _pattern(text: str) -> Any:
    try:
        return compile_pattern(text)
    except ValueError as error:
        raise ValueError(f"pattern {shown(text)} {error}") from None


def _opt_out(text: str) -> str:
    word = text.strip().lower()
    if word not in HONOUR:
        raise ValueError(f"knows {', '.join(HONOUR)}, not {shown(text)}")
    return word


def _honour(value: Any) -> Any:
    """Read a list, or a text with commas as in the setting."""
    if isinstance(value, str):
        value = [word for word in value.split(",") if word.strip()]
    return _list_of("opt-outs", '["tdm", "noai"]', _opt_out)(value)


def _user_agent(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UnfitError(Complaint(f"must be a text in quotes, not {shown(value)}"))
    if not (value.isascii() and value.isprintable() and len(value) <= LONGEST_USER_AGENT):
        raise UnfitError(
            Complaint(
                f"must be one line of at most {LONGEST_USER_AGENT} plain ASCII characters,"
                f" not {shown(value)}"
            )
        )
    return value.strip()


def _languages(value: Any) -> LanguagePair:
    if not isinstance(value, str):
        wanted = 'must be two languages, such as "spa-eus"'
        raise UnfitError(Complaint(f"{wanted}, not {shown(value)}"))
    try:
        return LanguagePair.parse(value)
    except ValueError as error:
        raise UnfitError(Complaint(f"will not do: {str(error).rstrip('.')}")) from None


_patterns = _list_of("regular expressions", """['/es/', '/eu/']""", _pattern)

KEYS: dict[str, Key] = {
    "delay": Key(
        "Seconds between two requests to a host, at least.",
        _number("a number of seconds", 0),
        "DOWNLOAD_DELAY",
    ),
    "concurrency": Key(
        "Requests under way to a host at once.",
        _number("a whole number", 1, whole=True),
        "CONCURRENT_REQUESTS_PER_DOMAIN",
    ),
    "jitter": Key(
        "Share by which the delay varies at random: 0.5 is from half to one and a half times.",
        _number("a number", 0, 1),
        "DOWNLOAD_DELAY_JITTER",
    ),
    "autothrottle": Key(
        "Whether the delay adapts to how fast the server answers.",
        _switch,
        "AUTOTHROTTLE_ENABLED",
    ),
    "timeout": Key(
        "Seconds for a whole page.",
        _number("a number of seconds", 0.01),
        "DOWNLOAD_TIMEOUT",
    ),
    "max_size": Key(
        "Bytes of a page at most; 0 is 1 GiB.",
        _number("a whole number of bytes", 0, whole=True),
        "DOWNLOAD_MAXSIZE",
    ),
    "retries": Key(
        "Retries of a page that failed for a passing reason.",
        _number("a whole number", 0, whole=True),
        "RETRY_TIMES",
    ),
    "user_agent": Key(
        "The name the crawler goes by there.",
        _user_agent,
        "USER_AGENT",
    ),
    "depth": Key(
        "Links away from a seed at most; 0 is no limit.",
        _number("a whole number of links", 0, whole=True),
        "DEPTH_LIMIT",
    ),
    "pages": Key(
        "Pages fetched from the site at most; 0 is no limit.",
        _number("a whole number of pages", 0, whole=True),
    ),
    "include": Key(
        "Regular expressions; a URL must match one of them to be fetched.",
        _patterns,
    ),
    "exclude": Key(
        "Regular expressions; a URL that matches one of them is not fetched.",
        _patterns,
    ),
    "render": Key(
        f"Whether pages are rendered in a browser: {', '.join(RENDER)}.",
        _one_of(RENDER),
    ),
    "negotiate": Key(
        "Whether the site is asked for its pages in both languages (BILINGUAL_NEGOTIATE).",
        _switch,
    ),
    "languages": Key(
        "The site's own language pair, instead of that of the crawl.",
        _languages,
    ),
    "honour": Key(
        f"Opt-outs that are honoured: {', '.join(HONOUR)}.",
        _honour,
    ),
}

SCRAPY_NAMES = {key.scrapy_name: name for name, key in KEYS.items() if key.scrapy_name}
SPELLINGS = (*KEYS, *SCRAPY_NAMES)
