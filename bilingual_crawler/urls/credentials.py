"""Credentials, which must not appear in reports, logs or on the screen."""

import re
from urllib.parse import unquote_plus

SECRETS = ("PASSWORD", "KEY", "TOKEN", "SECRET", "BACKLINKS")
"""Words in the names of such settings; the address of an API may hold its key."""
HIDDEN = "..."
_WORDS = ("password", "passwd", "pwd", "token", "secret", "username", "apikey", "accesskey", "auth")
"""Words in the names of query parameters that hold credentials."""
_STORES = re.compile(r"\b((?:rediss?|unix|valkeys?)://).*@", re.IGNORECASE | re.DOTALL)
_USER = re.compile(r"(://|(?:^|(?<=[\s=,]))(?!mailto:)(?=[^\s/@:=,]*:))[^/?#\s]*@", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&#])([^=&#]*)=((?:(?!,\s*https?://)[^&#])*)", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether the value of a setting must not be shown to others."""
    return any(word in name.upper() for word in SECRETS)


def without_credentials(address: str) -> str:
    """An address, or several with commas between them, with all credentials left out.

    They may stand before the host and in query parameters, whose names may be percent-encoded.
    In the address of a data store everything up to the last @ goes: its path and its query are
    not expected to contain one, and a password that somebody forgot to encode may contain
    anything.
    """
    shown = _STORES.sub(rf"\1{HIDDEN}@", address)
    return _PARAMETER.sub(_without_value, _USER.sub(rf"\1{HIDDEN}@", shown))


def why_unreadable(error: Exception, address: str) -> str:
    """The words of a library for what is wrong with an address, in brackets.

    Nothing where the address has credentials: a part of a password may have been taken for a
    host or a port and be quoted.
    """
    return "" if without_credentials(address) != address else f" ({error})"


def _without_value(parameter: re.Match[str]) -> str:
    mark, name, _ = parameter.groups()
    plain = re.sub(r"[^a-z]", "", unquote_plus(name).lower())
    is_credential = plain in {"pass", "user"} or any(word in plain for word in _WORDS)
    return f"{mark}{name}={HIDDEN}" if is_credential else parameter[0]
