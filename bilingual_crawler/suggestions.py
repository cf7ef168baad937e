"""Suggestions for a name that does not exist.

A wrong guess is worse than none: a name is suggested only if it differs from the written one in
few letters, or shares a word with it that few other names have.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

LEAST_LIKENESS = 0.65
"""The share of the longer name that must be equal: two letters of three, four of six."""
MARGIN = 0.1
"""How much less similar than the most similar name another one may be."""
LEAST_WORD = 4
MOST_WITH_WORD = 3
"""A word is a reason to suggest names only if no more names than this have it."""
LONGEST = 100
_WORD = re.compile(r"[^\W_]+")


def nearest(written: str, known: Iterable[str]) -> list[str]:
    """Return the known names that `written` is likely to mean, most similar first; often none."""
    from rapidfuzz import process  # noqa: PLC0415 - only a mistake pays for its import
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - as above

    names = list(known)
    folded = [name.lower() for name in names]
    found = process.extract(
        written[:LONGEST].lower(),
        folded,
        scorer=OSA.normalized_similarity,
        score_cutoff=LEAST_LIKENESS,
        limit=None,
    )
    if found:
        least = found[0][1] - MARGIN
        return [names[place] for _, likeness, place in found if likeness >= least]
    return [names[place] for place in _sharing(_words(written[:LONGEST]), folded)]


def hint(near: Sequence[object], otherwise: str) -> str:
    """Return a question with the suggestions, or `otherwise`, which ends with its own full stop."""
    if not near:
        return otherwise
    *others, last = map(str, near)
    before = f"{', '.join(others)} or " if others else ""
    return f"did you mean {before}{last}?"


def _sharing(words: set[str], names: list[str]) -> list[int]:
    """Return the positions of the names that share the most distinctive words, if any."""
    words_of = [_words(name) for name in names]
    common = Counter(word for each in words_of for word in each)
    distinctive = {word for word in words if len(word) >= LEAST_WORD}
    distinctive = {word for word in distinctive if common[word] <= MOST_WITH_WORD}
    shared = [len(distinctive & each) for each in words_of]
    most = max(shared, default=0)
    return [place for place, number in enumerate(shared) if number == most] if most else []


def _words(name: str) -> set[str]:
    return set(_WORD.findall(name.lower()))
