"""Resolves the references on a page to URLs as the frontier knows them."""

import re
from urllib.parse import urldefrag, urljoin, urlsplit

from w3lib.url import safe_url_string

from bilingual_crawler.languages.normal_forms import without_long_runs

LONGEST_URL = 4_000
LONGEST_AUTHORITY = 500
"""Characters of a host that is not ASCII, with user and port; names have 253 at most."""

_DOT = r"\.(?!\.?(?:[/?]|$))"  # not a segment "." or ".."
_LETTER = rf"(?:[A-Za-z0-9_~!*+,@%&=$-]|{_DOT})"
_REST = rf"(?:[/:]|{_LETTER})*(?:\?[A-Za-z0-9_~!*+,@%&=$.:/?-]+)?"
_PORT = r"(?::(?:[1-9]\d{3}|[1-5]\d{4}))?"  # never a default one
_ABSOLUTE = re.compile(rf"https?://[a-z0-9]+(?:[.-][a-z0-9]+)*{_PORT}/{_REST}", re.ASCII)
_ROOTED = re.compile(rf"/(?!/){_REST}")
_RELATIVE = re.compile(rf"(?!.*//)[A-Za-z0-9_]{_LETTER}*(?:/{_REST})?")
_UPWARD = re.compile(rf"(?!.*//)((?:\.\./)+)((?:[A-Za-z0-9_]{_LETTER}*(?:/{_REST})?)?)")
_HOST = re.compile(rf"https?://[a-z0-9]+(?:[.-][a-z0-9]+)*{_PORT}", re.ASCII)
_OTHER_SCHEME = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_LONG_AUTHORITY = re.compile(rf"(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//[^/?#]{{{LONGEST_AUTHORITY + 1}}}")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_REMOVED = dict.fromkeys((0x09, 0x0A, 0x0D))
_STRIPPED = "".join(map(chr, range(0x21)))


def may_be_page(reference: str) -> bool:
    """Return True if a reference may lead to another page: no mail, no script, no mere fragment."""
    return (
        len(reference) <= LONGEST_URL
        and not reference.startswith("#")
        and _OTHER_SCHEME.match(reference) is None
    )


class UrlResolver:
    """Makes the references of one page absolute, without fragments, and only http and https.

    A page that was read from a file may refer to other files; a page of the web may not.

    Most references are plain and are joined without parsing: the result is the same, at a tenth
    of the cost.
    """

    def __init__(self, page: str, base: str = "", encoding: str = "utf-8") -> None:
        self._encoding = encoding
        self._base = without_long_runs(page)
        if base:
            self._base = self.resolve(base) or self._base
        self._root = self._plain_base("/")[:-1]
        self._folder = self._plain_base(".")
        self._above: dict[str, str] = {}

    def __call__(self, reference: str) -> str | None:
        """Return the URL that `reference` means on this page; None if it is not a web page."""
        plain = reference.partition("#")[0].strip(_STRIPPED)
        if len(plain) > LONGEST_URL:
            return None
        if _ABSOLUTE.fullmatch(plain):
            return plain
        if self._root and _ROOTED.fullmatch(plain):
            return self._root + plain
        if self._folder and _RELATIVE.fullmatch(plain):
            return self._folder + plain
        return self._upward(plain) or self.resolve(reference)

    def _upward(self, plain: str) -> str:
        """Return the URL of a plain reference that is a host or starts with "../"; else ""."""
        upward = _UPWARD.fullmatch(plain)
        if upward is None:
            return plain + "/" if _HOST.fullmatch(plain) else ""
        steps, rest = upward.groups()
        above = self._above.get(steps)
        if above is None:
            above = self._above[steps] = self._plain_base(steps)
        return above and above + rest

    def resolve(self, reference: str) -> str | None:
        """Return the same, for a reference of any form."""
        plain = reference.partition("#")[0].strip(_STRIPPED).translate(_REMOVED)
        if len(plain) > LONGEST_URL or (not plain.isascii() and _LONG_AUTHORITY.match(plain)):
            return None  # before it is parsed: international names take long to be read
        try:
            joined = urljoin(self._base, plain)
            parts = urlsplit(safe_url_string(urldefrag(joined).url, encoding=self._encoding))
            if parts.scheme == "file" and self._base.startswith("file:"):
                return parts.geturl()
            if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
                return None
            if parts.port == _DEFAULT_PORTS[parts.scheme]:
                parts = parts._replace(netloc=parts.netloc.rpartition(":")[0])
        except (ValueError, LookupError):
            return None
        url = parts._replace(path=parts.path or "/").geturl()
        return url if len(url) <= LONGEST_URL else None

    def _plain_base(self, reference: str) -> str:
        if _ABSOLUTE.fullmatch(self._base) and "//" not in self._base.partition("://")[2]:
            path = self._base.partition("?")[0]
            if reference == ".":
                return path[: path.rindex("/") + 1]
            if reference == "/":
                return path[: path.index("/", len("https://")) + 1]
        url = self.resolve(reference) or ""
        return url if _ABSOLUTE.fullmatch(url) and "//" not in url.partition("://")[2] else ""
