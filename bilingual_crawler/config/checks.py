"""Checks of values that users write: in settings, in crawl arguments and in sites.toml.

A check returns the value in its proper type. It raises a ValueError with the end of a sentence
that begins with the name of the setting; the caller adds what was written instead.
"""

import re
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.plugins import check_plugin_name

LARGEST = 10**12
LARGEST_PORT = 65_535

FASTTEXT = "fasttext:"
"""What the name of an identifier begins with if the rest is the file of a fastText model."""

Check = Callable[[Any], Any]


def number(
    low: float, high: float = LARGEST, *, whole: bool = False, unit: str = ""
) -> Callable[[Any], float]:
    """Make a check for numbers from `low` to `high`; `unit` names what is counted."""
    kind = ("a whole number" if whole else "a number") + (f" of {unit}" if unit else "")

    def check(value: Any) -> float:
        try:
            result = int(value) if whole else float(value)
        except (TypeError, ValueError, OverflowError):
            result = low - 1
        if not low <= result <= high:
            open_end = high == LARGEST and not result > high
            limits = f"{low:g} or more" if open_end else f"from {low:g} to {high:,}"
            raise ValueError(f"must be {kind}, {limits}")
        return result

    return check


SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def duration(value: Any) -> float:
    """Check a time such as 30d and return its seconds; 0 or nothing is no time at all."""
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)\s*([smhdw])", text(value).lower())
    if found:
        return float(found[1]) * SECONDS[found[2]]
    if text(value) in {"", "0", "0.0"}:
        return 0.0
    raise ValueError("must be a number with s, m, h, d or w, such as 30d or 12h, or 0 for never")


def switch(value: Any) -> bool:
    """Check a yes or no, in the words that Scrapy's own switches accept."""
    text = str(value).strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off", ""}:
        return False
    raise ValueError("must be true or false")


def text(value: Any) -> str:
    """Return any text, stripped; None is the empty text."""
    return "" if value is None else str(value).strip()


def one_of(*choices: str) -> Callable[[Any], str]:
    """Make a check for one word of `choices`, in any case."""

    def check(value: Any) -> str:
        word = str(value).strip().lower()
        if word not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return word

    return check


def some_of(*choices: str) -> Callable[[Any], tuple[str, ...]]:
    """Make a check for words of `choices`, as a list or with commas; without `choices`, any."""

    def check(value: Any) -> tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else list(value or ())
        words = tuple(word for word in (str(part).strip().lower() for part in parts) if word)
        if choices and not set(words) <= set(choices):
            raise ValueError(f"must be one or more of {', '.join(choices)}")
        return words

    return check


def split_address(text: str) -> tuple[str, int]:
    """Return host and port of an address to listen at; a port alone means this machine only."""
    host, _, port = text.rpartition(":")
    try:
        address = ip_address(host.strip("[]").replace("localhost", "127.0.0.1") or "127.0.0.1")
        number = int(port)
    except ValueError:
        raise ValueError("must be an IP address and a port, such as 127.0.0.1:9410") from None
    if not 0 <= number <= LARGEST_PORT:
        raise ValueError(f"must have a port between 0 and {LARGEST_PORT}")
    return str(address), number


def listen_address(value: Any) -> str:
    """Check an address to listen at; the empty text means not to listen."""
    address = text(value)
    if address:
        split_address(address)
    return address


def redis_address(value: Any) -> str:
    """Check the addresses of Redis servers, with commas; the empty text means no server."""
    addresses = [each.strip() for each in text(value).split(",")]
    if addresses == [""]:
        return ""
    if not all(each.startswith(("redis://", "rediss://", "unix://")) for each in addresses):
        raise ValueError("must be an address such as redis://HOST:6379/0, or several, or empty")
    return ",".join(addresses)


def web_address(value: Any) -> str:
    """Check the address of a web server."""
    address = text(value)
    if not address.startswith(("http://", "https://")):
        raise ValueError("must be an address such as https://data.example.org")
    return address


def archive_source(value: Any) -> str:
    """Check where an archive is: cc:NAME, an address, or a folder; empty means none."""
    source = text(value)
    if source.startswith("cc:") and not re.fullmatch(r"cc:[\w-]+", source):
        raise ValueError("must name a crawl of Common Crawl such as cc:CC-MAIN-2026-40")
    return source


def label(value: Any) -> str:
    """Check a name that can be part of a key and of a path."""
    word = text(value)
    if word and not re.fullmatch(r"\w[\w:.-]*", word):
        raise ValueError("must be made of letters, digits and : . - _")
    return word


def identifier_name(value: Any) -> str:
    """Check the name of a language identifier: cld2, a fastText model, a class or a plug-in."""
    name = text(value)
    if name.startswith(FASTTEXT):
        if not name.removeprefix(FASTTEXT).strip():
            raise ValueError("must have the file of a model after fasttext:, such as lid.176.ftz")
        return name
    try:
        check_plugin_name(name, "bilingual_crawler.identifiers", ("cld2",))
    except ValueError as error:
        raise ValueError(str(error).replace("cld2,", "cld2, fasttext:MODEL_FILE,", 1)) from None
    return name


def read_utf8(file: Path, subject: str, advice: str = "") -> str:
    """Return the text of a user's file, which `subject` names in a message."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{file}, line {line}: save the file as UTF-8.") from None
    except OSError as error:
        sentence = f"{subject} cannot be read: {error.strerror}."
        raise ConfigurationError(f"{sentence} {advice}".strip()) from None
