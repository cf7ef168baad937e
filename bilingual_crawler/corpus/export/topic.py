"""The terms of a topic, and which of them a paragraph has: the `topic` attribute of ILSP-FC."""

import re
from collections.abc import Iterable
from pathlib import Path

from bilingual_crawler.errors import ConfigurationError


class Terms:
    """Finds terms in text as whole words, in any case; where two begin, the longer one."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._written = {
            " ".join(term.split()).casefold(): " ".join(term.split()) for term in terms
        }
        self._written.pop("", None)
        longest_first = sorted(self._written, key=len, reverse=True)
        choice = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in longest_first)
        self._pattern = re.compile(rf"(?<!\w)(?:{choice})(?!\w)") if choice else None

    @classmethod
    def read(cls, file: Path) -> "Terms":
        """A term a line; a semicolon parts terms in the output, so no term may have one."""
        try:
            terms = cls(file.read_text(encoding="utf-8-sig").splitlines())
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ConfigurationError(f"{file} cannot be read: {reason}.") from error
        if not terms:
            raise ConfigurationError(f"{file} has no terms: write one a line.")
        bad = next((term for term in terms._written.values() if ";" in term), None)
        if bad is not None:
            raise ConfigurationError(f"{file}: the term {bad!r} has a semicolon; write it without.")
        return terms

    def __bool__(self) -> bool:
        return bool(self._written)

    def found_in(self, text: str) -> list[str]:
        """The terms that the text has, as they are written in the list, in order of the text."""
        if self._pattern is None:
            return []
        found = (" ".join(each.split()) for each in self._pattern.findall(text.casefold()))
        return [self._written[each] for each in dict.fromkeys(found)]


NO_TERMS = Terms(())
