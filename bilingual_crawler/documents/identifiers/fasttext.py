"""A language identifier that is a fastText model of the user: GlotLID, OpenLID, lid.176 or another.

The labels of such models are codes with or without a script (`__label__eng_Latn`, `__label__en`).
They are read as every other code: varieties of a macrolanguage that our table has count for it
(`arb_Arab` and `ary_Arab` are Arabic), and those of another one do if the crawl is for it.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bilingual_crawler.documents.identifiers.fasttext_file import FastTextFileError, read_labels
from bilingual_crawler.documents.language import Identification, LanguageIdentifier
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import language_of_tag

logger = logging.getLogger(__name__)

LABEL = "__label__"
WIKIPEDIA_CODES = {"als": "gsw"}
"""Codes that lid.176 has from Wikipedia, where they mean another language than in ISO 639-3."""
LONGEST_TEXT = 50_000
"""Characters of a page that are looked at."""
PIECE = range(100, 1_000)
"""Lines are joined to pieces of this length, because a model is often wrong about a short one."""
LEAST_PROBABILITY = 0.3
"""A piece with a less likely language counts as unknown."""
SURE_PROBABILITY = 0.7
LEAST_PERCENT = 5
"""What is less of a text is rather a piece that was not recognised."""
MOST_SHOWN = 5
_BLANKS = re.compile(r"[\s\0]+")


class FastTextIdentifier(LanguageIdentifier):
    """Asks a model about the pieces of a text. `wanted` are the languages of the crawl."""

    def __init__(self, file: str | Path, wanted: Iterable[str] = ()) -> None:
        path = Path(file).expanduser()
        written = f"BILINGUAL_IDENTIFIER=fasttext:{file}"
        try:
            labels = read_labels(path)
        except FastTextFileError as error:
            raise ConfigurationError(f"{written}: the file {error}.") from None
        self._codes = _codes(labels, frozenset(wanted))
        if not self._codes:
            raise ConfigurationError(
                f"{written}: no label of the model is the code of a language"
                f" ({', '.join(labels[:MOST_SHOWN])}): choose a model that identifies languages."
            )
        without = [label for label in labels if label not in self._codes]
        if without:
            shown = ", ".join(without[:MOST_SHOWN])
            logger.info("%d labels of %s name no language: %s", len(without), path.name, shown)
        self._known = frozenset(self._codes.values())
        self._model = _load(path, written)

    def identify(
        self,
        text: str,
        hints: Sequence[str] = (),  # noqa: ARG002 - the model takes none
        domain: str = "",  # noqa: ARG002 - as above
    ) -> Identification:
        """Return the languages of the pieces of a text, by the length of the pieces."""
        characters: Counter[str] = Counter()
        total, sure = 0, 0.0
        for piece in _pieces(text[:LONGEST_TEXT]):
            total += len(piece)
            labels, probabilities = self._model.predict(piece)
            if not labels or probabilities[0] < LEAST_PROBABILITY:
                continue
            code = self._codes.get(labels[0])
            if code is not None:
                characters[code] += len(piece)
                sure += len(piece) * min(1.0, probabilities[0])
        return Identification(total > 0 and sure / total >= SURE_PROBABILITY, _shares(characters))

    def knows(self, code: str) -> bool:
        """Return True if the model has a label for the language."""
        return code in self._known


def _codes(labels: Iterable[str], wanted: frozenset[str]) -> dict[str, str]:
    """Return the ISO 639-3 codes of those labels that name a language."""
    names = {label: label.removeprefix(LABEL) for label in labels}
    of_wikipedia = "en" in names.values()
    found = {}
    for label, name in names.items():
        code = WIKIPEDIA_CODES.get(name, name) if of_wikipedia else name
        language = language_of_tag(code)
        if language is not None:
            macro = language.macrolanguage
            found[label] = (
                macro if macro in wanted and language.code not in wanted else language.code
            )
    return found


def _load(path: Path, written: str) -> Any:
    try:
        import fasttext  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            f"{written} needs fasttext-predict, which is not installed.",
            "Install it with pip install 'bilingual-crawler[fasttext]'.",
        ) from None
    try:
        return fasttext.load_model(str(path))
    except Exception as error:
        raise ConfigurationError(f"{written}: the file cannot be loaded: {error}.") from error


def _pieces(text: str) -> Iterator[str]:
    """Yield the lines of a text without line breaks; short ones are joined, long ones cut."""
    waiting = ""
    for line in text.splitlines():
        waiting = f"{waiting} {_BLANKS.sub(' ', line)}".strip()
        while len(waiting) >= PIECE.stop:
            yield waiting[: PIECE.stop]
            waiting = waiting[PIECE.stop :].lstrip()
        if len(waiting) >= PIECE.start:
            yield waiting
            waiting = ""
    if waiting:
        yield waiting


def _shares(characters: Counter[str]) -> list[tuple[str, int]]:
    total = characters.total()
    kept = {code: n for code, n in characters.items() if n * 100 >= LEAST_PERCENT * total}
    total = sum(kept.values())
    shares = [(code, round(100 * number / total)) for code, number in kept.items()]
    return sorted(shares, key=lambda share: (-share[1], share[0]))
