r"""What every match of a regular expression must contain, so that the index can be asked first.

`\bcas(a|o)s?\b` only ever matches where a word begins with "cas". The index gives those
sentences at once, where looking at a million takes seconds. Whatever is not understood gives
no anchor, which costs time and nothing else.
"""

from collections.abc import Iterator
from itertools import groupby

from bilingual_crawler.web.search.folding import Atom, atoms, fold
from bilingual_crawler.web.search.query import SearchTerm

SHORTEST = 2
BREAK, BOUNDARY = "break", "boundary"
QUANTIFIERS = "*+?{"


def anchor_of(pattern: str) -> SearchTerm | None:
    """A word's beginning, or a run of unspaced characters, that every match has; None if unsure."""
    try:
        parts = list(_parts(pattern))
    except (IndexError, _UnsureError):
        return None
    after_boundary = False
    for is_mark, group in groupby(parts, key=lambda part: part in {BREAK, BOUNDARY}):
        items = list(group)
        if is_mark:
            after_boundary = items[-1] == BOUNDARY
            continue
        found = _term("".join(items), after_boundary=after_boundary)
        if found is not None:
            return found
    return None


class _UnsureError(Exception):
    """The pattern has something whose meaning we leave to the regular expression itself."""


def _term(literal: str, *, after_boundary: bool) -> SearchTerm | None:
    for number, atom in enumerate(atoms(fold(literal))):
        if len(atom.text) < SHORTEST:
            continue
        if atom.is_run:
            return SearchTerm((Atom(atom.text, is_run=True),))
        if number == 0 and after_boundary:
            return SearchTerm((atom,), prefix=True)
    return None


def _parts(pattern: str) -> Iterator[str]:
    """The letters that must be there, one by one, and what stands between them."""
    at, depth = 0, 0
    while at < len(pattern):
        character = pattern[at]
        follows = pattern[at + 1 : at + 2]
        if character == "\\":
            yield BOUNDARY if follows == "b" and not depth else BREAK
            at += 2
            continue
        if character == "[":
            at = _end_of_class(pattern, at)
            yield BREAK
        elif character == "(":
            if follows == "?" and pattern[at + 2] != ":":
                raise _UnsureError
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "|" and not depth:
            raise _UnsureError
        is_letter = character.isalpha() and not depth
        optional = follows in set(QUANTIFIERS) - {"+"}
        yield character if is_letter and not optional else BREAK
        at += 1


def _end_of_class(pattern: str, at: int) -> int:
    """Where the brackets close that open here; brackets in brackets are left alone."""
    at += 1
    if pattern[at] == "^":
        at += 1
    if pattern[at] == "]":
        at += 1
    while pattern[at] != "]":
        if pattern[at] == "[":
            raise _UnsureError
        at += 2 if pattern[at] == "\\" else 1
    return at
