"""What must not be shown to others, in reports and on the screen."""

import re

SECRETS = ("PASSWORD", "KEY", "TOKEN", "SECRET")
_PASSWORD = re.compile(r"(://[^/@:\s]*:)[^@/\s]+@")


def is_secret(name: str) -> bool:
    """Whether the value of a setting must not be shown to others."""
    return any(word in name.upper() for word in SECRETS)


def without_password(text: str) -> str:
    """An address with its password left out."""
    return _PASSWORD.sub(r"\1...@", text)
