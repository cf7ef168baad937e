"""The keys of a site's table in sites.toml, their checks, and the rules that they make up.

Regular expressions of users are checked before they are applied to untrusted URLs.
"""

import re
import signal
import threading
import warnings
from dataclasses import dataclass, fields, replace
from types import FrameType
from typing import Any, Self

from bilingual_crawler.config.checks import Check, identifier_name, number, one_of, switch
from bilingual_crawler.languages import ParallelLanguages, parse_parallel

LONGEST_PATTERN = 1_000
MOST_REPEATS = 10_000
"""How often a pattern may repeat nested groups; no URL has that many parts."""
SECONDS = 0.25
_PROBE_LENGTH = 1_000
_COMMON = "aZ0/-_.=&%?+,"
_REPEATED_GROUP = re.compile(r"[)\s]\{([0-9]*),?([0-9]*)\}")

RENDER = ("auto", "never", "always")
HONOUR = ("tdm", "noai", "noindex", "nofollow")
LONGEST_USER_AGENT = 500
LONGEST_SHOWN = 60


class _TooSlowError(Exception):
    """Raised in a search that takes too long."""


def compile_pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern, or raise a ValueError that says why it cannot be used."""
    if not text:
        raise ValueError("is empty, which would match every URL")
    if len(text) > LONGEST_PATTERN:
        raise ValueError(f"is longer than {LONGEST_PATTERN:,} characters")
    if "\b" in text or "\f" in text:
        raise ValueError("has a control character in it; write it in single quotes")
    if _repeats(text) > MOST_REPEATS:
        raise ValueError(
            f"repeats its groups more than {MOST_REPEATS:,} times; use smaller numbers, and no"
            " repetition inside a repetition"
        )
    try:
        with warnings.catch_warnings(action="error", category=FutureWarning):
            pattern = re.compile(text)
    except (re.error, FutureWarning) as error:
        raise ValueError(f"is not a regular expression ({error})") from None
    except (OverflowError, RecursionError):
        raise ValueError("is too complicated for a regular expression") from None
    if _is_slow(pattern):
        raise ValueError(
            f"takes more than {SECONDS:g} s on a URL of {_PROBE_LENGTH:,} characters; "
            "avoid a repetition inside a repetition, such as (a+)+"
        )
    return pattern


def _repeats(text: str) -> int:
    """Return the maximum number of repetitions of groups, if they are all nested.

    `re` stores a position per repetition, even if it matches nothing: with numbers in the
    millions that takes gigabytes before any timer fires.
    """
    repeats = 1
    for found in _REPEATED_GROUP.finditer(text):
        repeats *= max(1, *(int(number or 0) for number in found.groups()))
    return repeats


def _is_slow(pattern: re.Pattern[str]) -> bool:
    """Return True if the pattern backtracks without end.

    `re` can only be stopped by a signal, which Python allows in the main thread only; elsewhere,
    and on systems without such a timer, patterns are trusted. The timer measures processor time,
    so that a busy machine makes no difference.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    if not hasattr(signal, "setitimer"):
        return False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        for character in dict.fromkeys(_COMMON + pattern.pattern):
            pattern.search("https://example.org/" + character * _PROBE_LENGTH + "\n!")
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except (_TooSlowError, MemoryError):
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRules:
    """What a user wants for one site; None means "as everywhere else".

    0 is no limit for `depth`, `pages` and `max_size`. An empty `include` or `exclude` revokes
    that of a shorter name or of `["*"]`.
    """

    delay: float | None = None
    concurrency: int | None = None
    jitter: float | None = None
    autothrottle: bool | None = None
    timeout: float | None = None
    max_size: int | None = None
    retries: int | None = None
    user_agent: str | None = None
    depth: int | None = None
    pages: int | None = None
    include: tuple[re.Pattern[str], ...] | None = None
    exclude: tuple[re.Pattern[str], ...] | None = None
    render: str | None = None
    negotiate: bool | None = None
    languages: ParallelLanguages | None = None
    honour: tuple[str, ...] | None = None
    identifier: str | None = None

    def admits(self, url: str) -> bool:
        """Return True if `include` and `exclude` allow a URL; `exclude` has the last word."""
        if self.include and not any(pattern.search(url) for pattern in self.include):
            return False
        return not (self.exclude and any(pattern.search(url) for pattern in self.exclude))

    def overlaid(self, narrower: Self) -> Self:
        """Return these rules, overridden by everything that `narrower` sets."""
        given = {each.name: getattr(narrower, each.name) for each in fields(narrower)}
        return replace(self, **{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with a value, as the end of a sentence that begins with its key.

    `element` is the position in a list, if the complaint is about one element.
    """

    text: str
    element: int | None = None


class UnfitError(ValueError):
    """A value that cannot be used, with complete complaints: nothing is to be added to them."""

    def __init__(self, *complaints: Complaint) -> None:
        super().__init__(*complaints)
        self.complaints = complaints


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a site's table. Its check may raise a ValueError or an UnfitError."""

    meaning: str
    check: Check
    scrapy_name: str | None = None

    def read(self, value: Any) -> Any:
        """Return a checked value; UnfitError has all complaints about it."""
        try:
            return self.check(value)
        except UnfitError:
            raise
        except ValueError as error:
            raise UnfitError(Complaint(f"{error}, not {shown(value)}")) from None


def shown(value: Any) -> str:
    """Return a value roughly as the user wrote it, and not too long."""
    text = repr(value)
    if isinstance(value, bool):
        text = text.lower()
    elif isinstance(value, str) and value.isprintable():
        text = f"'{value}'"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def _only(types: type | tuple[type, ...], check: Check) -> Check:
    """Make a check strict: TOML has types, so `"5"` and `true` are not numbers there."""
    allows_bool = types is bool

    def strict(value: Any) -> Any:
        fits = isinstance(value, types) and isinstance(value, bool) == allows_bool
        return check(value if fits else object())

    return strict


def _number(low: float, high: float | None = None, **options: Any) -> Check:
    limits = (low,) if high is None else (low, high)
    types = int if options.get("whole") else (int, float)
    return _only(types, number(*limits, **options))


def _list_of(kind: str, example: str, check_element: Check) -> Check:
    """Make a check for lists of texts, in which a single text counts as a list of one."""

    def check(value: Any) -> tuple[Any, ...]:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list):
            raise ValueError(f"must be a list of {kind}, such as {example}")  # noqa: TRY004
        results, complaints = [], []
        for place, text in enumerate(texts):
            element = None if isinstance(value, str) else place
            if not isinstance(text, str):
                quoted = f"must be a list of {kind} in quotes, not {shown(text)}"
                complaints.append(Complaint(quoted, element))
                continue
            try:
                results.append(check_element(text))
            except UnfitError as error:
                complaints += [Complaint(each.text, element) for each in error.complaints]
            except ValueError as error:
                complaints.append(Complaint(f"{error}, not {shown(text)}", element))
        if complaints:
            raise UnfitError(*complaints)
        return tuple(results)

    return check


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return compile_pattern(text)
    except ValueError as error:
        raise UnfitError(Complaint(f"pattern {shown(text)} {error}")) from None


def _honour(value: Any) -> Any:
    """Check a list, or a text with commas as in the setting."""
    if isinstance(value, str):
        value = [word for word in value.split(",") if word.strip()]
    return _list_of("opt-outs", '["tdm", "noai"]', one_of(*HONOUR))(value)


def _user_agent(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a text in quotes")
    if not (value.isascii() and value.isprintable() and len(value) <= LONGEST_USER_AGENT):
        raise ValueError(f"must be one line of at most {LONGEST_USER_AGENT} plain ASCII characters")
    return value.strip()


def _languages(value: Any) -> ParallelLanguages:
    if not isinstance(value, str):
        raise ValueError('must be two languages or more, such as "spa-eus"')  # noqa: TRY004
    try:
        return parse_parallel(value)
    except ValueError as error:
        raise UnfitError(Complaint(f"cannot be used: {str(error).rstrip('.')}")) from None


_patterns = _list_of("regular expressions", """['/es/', '/eu/']""", _pattern)
_switch = _only(bool, switch)

KEYS: dict[str, Key] = {
    "delay": Key(
        "Minimum seconds between two requests to a host.",
        _number(0, unit="seconds"),
        "DOWNLOAD_DELAY",
    ),
    "concurrency": Key(
        "Simultaneous requests to a host.",
        _number(1, whole=True),
        "CONCURRENT_REQUESTS_PER_DOMAIN",
    ),
    "jitter": Key(
        "Share by which the delay varies at random: 0.5 is from half to one and a half times.",
        _number(0, 1),
        "DOWNLOAD_DELAY_JITTER",
    ),
    "autothrottle": Key(
        "Whether the delay adapts to how fast the server answers.",
        _switch,
        "AUTOTHROTTLE_ENABLED",
    ),
    "timeout": Key(
        "Seconds for a whole page.",
        _number(0.01, unit="seconds"),
        "DOWNLOAD_TIMEOUT",
    ),
    "max_size": Key(
        "Maximum size of a page in bytes; 0 is 1 GiB.",
        _number(0, whole=True, unit="bytes"),
        "DOWNLOAD_MAXSIZE",
    ),
    "retries": Key(
        "Retries of a page after a temporary failure.",
        _number(0, whole=True),
        "RETRY_TIMES",
    ),
    "user_agent": Key("The User-Agent header for this site.", _user_agent, "USER_AGENT"),
    "depth": Key(
        "Maximum number of links away from a seed; 0 is no limit.",
        _number(0, whole=True, unit="links"),
        "DEPTH_LIMIT",
    ),
    "pages": Key(
        "Maximum number of pages to fetch from the site; 0 is no limit.",
        _number(0, whole=True, unit="pages"),
    ),
    "include": Key("Regular expressions; a URL must match one of them to be fetched.", _patterns),
    "exclude": Key(
        "Regular expressions; a URL that matches one of them is not fetched.", _patterns
    ),
    "render": Key(
        f"Whether pages are rendered in a browser: {', '.join(RENDER)}.",
        _only(str, one_of(*RENDER)),
    ),
    "negotiate": Key(
        "Whether to ask the site for its pages in both languages (BILINGUAL_NEGOTIATE).", _switch
    ),
    "languages": Key("The site's own language pair, instead of that of the crawl.", _languages),
    "identifier": Key(
        "The site's language identifier, as in BILINGUAL_IDENTIFIER.", _only(str, identifier_name)
    ),
    "honour": Key(f"Opt-outs to honour: {', '.join(HONOUR)}.", _honour),
}

SCRAPY_NAMES = {key.scrapy_name: name for name, key in KEYS.items() if key.scrapy_name}
SPELLINGS = (*KEYS, *SCRAPY_NAMES)
