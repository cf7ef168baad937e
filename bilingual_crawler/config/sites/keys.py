"""The keys of a site's table in sites.toml, their checks, and the rules that they make up."""

import re
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from bilingual_crawler.config.checks import Check, number, one_of, switch
from bilingual_crawler.config.sites.patterns import compile_pattern
from bilingual_crawler.languages import LanguagePair

RENDER = ("auto", "never", "always")
HONOUR = ("tdm", "noai", "noindex", "nofollow")
LONGEST_USER_AGENT = 500
LONGEST_SHOWN = 60


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
    languages: LanguagePair | None = None
    honour: tuple[str, ...] | None = None

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


def _languages(value: Any) -> LanguagePair:
    if not isinstance(value, str):
        raise ValueError('must be two languages, such as "spa-eus"')  # noqa: TRY004
    try:
        return LanguagePair.parse(value)
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
    "honour": Key(f"Opt-outs to honour: {', '.join(HONOUR)}.", _honour),
}

SCRAPY_NAMES = {key.scrapy_name: name for name, key in KEYS.items() if key.scrapy_name}
SPELLINGS = (*KEYS, *SCRAPY_NAMES)
