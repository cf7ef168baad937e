"""Credentials, which must not appear in reports, logs or on the screen."""

import re
from urllib.parse import unquote_plus

SECRETS = ("PASSWORD", "KEY", "TOKEN", "SECRET", "BACKLINKS")
"""Words in the names of secret settings; the address of an API may contain its key."""
HIDDEN = "..."
_WORDS = ("password", "passwd", "pwd", "token", "secret", "username", "apikey", "accesskey", "auth")
"""Words in the names of query parameters that contain credentials."""
_STORE = re.compile(r"\b(?:rediss?|unix|valkeys?)://", re.IGNORECASE)
_USER = re.compile(r"(://|(?:^|(?<=[\s=,]))(?!mailto:)(?=[^\s/@:=,]*:))[^/?#\s]*@", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&#])([^=&#?]*+)=((?:(?!,\s*https?://)[^&#])*)", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Return True if the value of a setting must not be shown."""
    return any(word in name.upper() for word in SECRETS)


def without_credentials(address: str) -> str:
    """Return an address, or several with commas between them, without credentials.

    They may be before the host and in query parameters, whose names may be percent-encoded. In
    the address of a data store everything up to the last @ is removed: its path and query should
    not contain one, and a password that was not encoded may contain anything.
    """
    store, end = _STORE.search(address), address.rfind("@")
    if store and store.end() <= end:
        address = f"{address[: store.end()]}{HIDDEN}{address[end:]}"
    return _PARAMETER.sub(_without_value, _USER.sub(rf"\1{HIDDEN}@", address))


def why_unreadable(error: Exception, address: str) -> str:
    """Return what a library says is wrong with an address, in brackets.

    Return "" if the address has credentials: the library may have taken a part of a password for
    a host or a port, and quote it.
    """
    return "" if without_credentials(address) != address else f" ({error})"


def _without_value(parameter: re.Match[str]) -> str:
    mark, name, _ = parameter.groups()
    plain = re.sub(r"[^a-z]", "", unquote_plus(name).lower())
    is_credential = plain in {"pass", "user"} or any(word in plain for word in _WORDS)
    return f"{mark}{name}={HIDDEN}" if is_credential else parameter[0]
