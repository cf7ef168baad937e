"""Web addresses as people write them: one, several with commas, or one per line."""

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from w3lib.url import safe_url_string

from bilingual_crawler.urls.credentials import why_unreadable, without_credentials
from bilingual_crawler.urls.hosts import normal_name

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_BETWEEN = re.compile(r"(?<!\s)\s+,|,(?=[\s,]|https?://|$)", re.IGNORECASE)
_COMMA_ENDS_HOST = re.compile(rf"{_SCHEME.pattern}[^/?#,]*,", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"[^/?#:@]+:[0-9]+(?:[/?#]|$)")
_OTHER_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)


def split_addresses(text: str) -> list[str]:
    """Return the addresses in a comma-separated text.

    A comma may also be part of a URL. It ends a URL next to white space or another comma,
    before another http address, in the host, and if the URL has no https:// in front.
    """
    addresses: list[str] = []
    for piece in _BETWEEN.split(text):
        rest = piece.strip()
        while _COMMA_ENDS_HOST.match(rest):
            first, _, rest = rest.partition(",")
            addresses.append(first)
        addresses += [rest] if _SCHEME.match(rest) else rest.split(",")
    return [address for address in addresses if address]


def read_address(text: str) -> str:
    """Return the URL that a text stands for; without a scheme, https:// is assumed.

    The URL is spelt as in requests, so that two spellings of one address are equal. The
    ValueError for any other text begins with that text, without its credentials.
    """
    try:
        return _spelt_as_requests_are(text)
    except _Refusal as refusal:
        raise ValueError(f"{without_credentials(text)!r} {refusal}") from None


class _Refusal(Exception):  # noqa: N818 - it never leaves this module
    """The reason why a text is not a web address."""


def _spelt_as_requests_are(text: str) -> str:
    if not text.isprintable() or " " in text:
        raise _Refusal("has a space in it; put commas between URLs, or write %20")
    try:
        parts = urlsplit(_with_scheme(text))
        port = parts.port
    except ValueError as error:
        raise _Refusal(f"is not a web address{why_unreadable(error, text)}") from None
    host = _host(text, parts)
    if ":" in host:
        host = f"[{host}]"
    if port is not None and port != {"http": 80, "https": 443}[parts.scheme]:
        host = f"{host}:{port}"
    return safe_url_string(parts._replace(netloc=host, path=parts.path or "/").geturl())


def _with_scheme(text: str) -> str:
    scheme = _SCHEME.match(text)
    if not scheme:
        if text.startswith("//"):
            return f"https:{text}"
        if _HOST_AND_PORT.match(text):
            return f"https://{text}"
        scheme = _OTHER_SCHEME.match(text)
        if not scheme:
            return f"https://{text}"
    if scheme[1].lower() not in {"http", "https"}:
        raise _Refusal(f"begins with {scheme[0]}; only http:// and https:// are crawled")
    return text


def _host(text: str, parts: SplitResult) -> str:
    if "@" in parts.netloc:
        raise _Refusal("has a user name in it; write the address without it")
    if not parts.hostname:
        raise _Refusal("has no host; write for example https://example.org/")
    host = normal_name(parts.hostname)
    bare_word = (
        not _SCHEME.match(text) and host != "localhost" and not re.search("[.:]", host or "")
    )
    if host is None or bare_word:
        raise _Refusal("is not a web address; write for example https://example.org/")
    return host


def read_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the addresses of a list with their line numbers: one per line, `#` starts a comment."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        address = re.sub(r"(?:^|\s)#.*", "", line).strip()
        if address:
            yield number, address
