"""What a person types into the search box, and what it means.

Words must all be there, in any order; words in quotes stand next to each other; `word*` is
any word that begins so; `-word` must not be there. Or one regular expression, over the text
as it is written.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

import regex

from bilingual_crawler.web.search.folding import WORD, Atom, atoms, bigrams, fold, fold_with_places

LONGEST_QUERY = 300
MOST_TERMS = 20
SHORTEST_PREFIX = 2
PATTERN_SECONDS = 0.25
"""How long a regular expression may work at a single text."""
LARGEST_PROGRAM = 200_000
"""How large a regular expression may become; up to some 400 bytes each, 100 MB at the worst."""
SHORT_TEXT = 2_000
MOST_OPTIONAL = 3
GAP = r"[^\p{L}\p{N}\p{M}\p{Co}]*"

Span = tuple[int, int]
Side = Literal[1, 2]
_REPEAT = regex.compile(r"(?P<before>.)(?:\+|\{(?P<least>[0-9]+))", regex.DOTALL)
_VERBOSE = regex.compile(r"(?<!\\)(?:\\\\)*\(\?[\w-]*x[\w-]*[:)]")
_PIECE = regex.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+))(?P<star>\*?)')


class QueryError(ValueError):
    """A query that cannot be run; the message is a sentence to the person who typed it."""


class Query(Protocol):
    """What search and highlighting ask of a query."""

    def spans(self, text: str) -> list[Span]:
        """Where the query is met in a text, in order, without overlaps."""


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A word or a phrase."""

    atoms: tuple[Atom, ...]
    prefix: bool = False
    negative: bool = False

    def in_fts5(self, side: Side) -> str:
        """The term as SQLite's full-text search reads it, bound to one side of the pairs."""
        first = self.atoms[0]
        if len(self.atoms) == 1 and first.is_run and len(first.text) == 1:
            return f'chars{side} : "{first.text}"'
        if any(atom.is_run and len(atom.text) == 1 for atom in self.atoms):
            each = (SearchTerm((atom,)).in_fts5(side) for atom in self.atoms)
            return f"({' AND '.join(each)})"
        tokens = " ".join(bigrams(text) if is_run else text for text, is_run in self.atoms)
        return f'text{side} : "{tokens}"{" *" if self.prefix else ""}'

    def in_regex(self) -> str:
        """The term as a pattern over folded text, for highlighting."""
        parts = [_atom_pattern(atom) for atom in self.atoms]
        if self.prefix:
            parts[-1] = f"{parts[-1]}{WORD}*"
        pattern = parts[0]
        for (before, after), part in zip(pairwise(self.atoms), parts[1:], strict=True):
            touching = before.is_run and after.is_run
            pattern += ("" if touching else GAP) + part
        start = "" if self.atoms[0].is_run else f"(?<!{WORD})"
        return f"{start}{pattern}{'' if self.atoms[-1].is_run else f'(?!{WORD})'}"


@dataclass(frozen=True, slots=True)
class Words:
    """A query of words and phrases, which the index can answer."""

    terms: tuple[SearchTerm, ...]
    pattern: "regex.Pattern[str]"

    def in_fts5(self, side: Side) -> str:
        """The whole query, bound to one side of the pairs."""
        wanted = " AND ".join(term.in_fts5(side) for term in self.terms if not term.negative)
        for term in self.terms:
            if term.negative:
                wanted = f"({wanted}) NOT {term.in_fts5(side)}"
        return f"({wanted})"

    def spans(self, text: str) -> list[Span]:
        """Where words and phrases of the query stand."""
        folded = fold_with_places(text)
        found = (each.span() for each in self.pattern.finditer(folded.text))
        return [(folded.begins[begin], folded.ends[end - 1]) for begin, end in found if end > begin]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, which every text is asked about."""

    pattern: "regex.Pattern[str]"
    is_cheap: bool = False
    """Whether it cannot take long, so that the clock, which costs more, need not be asked."""

    def matches(self, text: str) -> bool:
        """Whether it is met in a text."""
        if self.is_cheap and len(text) <= SHORT_TEXT:
            return self.pattern.search(text) is not None
        try:
            return self.pattern.search(text, timeout=PATTERN_SECONDS) is not None
        except TimeoutError:
            raise too_slow() from None

    def spans(self, text: str) -> list[Span]:
        """Where it is met; a match of nothing is not shown."""
        return list(self._found(text))

    def _found(self, text: str) -> Iterator[Span]:
        until = time.monotonic() + PATTERN_SECONDS
        try:
            for each in self.pattern.finditer(text, timeout=PATTERN_SECONDS):
                if each.end() > each.start():
                    yield each.span()
                if time.monotonic() > until:
                    return
        except TimeoutError:
            return


def too_slow() -> QueryError:
    """What to tell when a regular expression takes too long."""
    return QueryError(
        "The regular expression takes too long on some text: one repetition inside another, as in"
        " (a+)+, tries every way to split it. Write it with fewer repetitions."
    )


def parse_words(text: str) -> Words:
    """Read a query of words; what is left of punctuation alone does not count."""
    _check_length(text)
    terms = list(_terms(text))
    wanted = [term for term in terms if not term.negative]
    if len(terms) > MOST_TERMS:
        raise QueryError(f"A query may have {MOST_TERMS} words and phrases at most.")
    if not wanted:
        raise QueryError(
            "There is no word to look for: give at least one without a minus before it."
            if terms
            else "There is no word to look for: for punctuation, choose a regular expression."
        )
    longest_first = sorted((term.in_regex() for term in wanted), key=len, reverse=True)
    return Words(tuple(terms), regex.compile("|".join(longest_first), regex.V1))


def parse_pattern(text: str, *, match_case: bool = False) -> Pattern:
    """Read a regular expression; it is not kept, for those of strangers may be many."""
    _check_length(text)
    _check_size(text)
    try:
        flags = 0 if match_case else regex.IGNORECASE
        compiled = regex.compile(text, flags, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError) as error:
        raise QueryError(f"The regular expression cannot be read: {error}.") from None
    return Pattern(compiled, _is_cheap(text))


def program_size(pattern: str) -> int:
    """How large a regular expression can become at most, in elements of its program.

    `regex` writes out what must be there: `a{1000}` is a thousand elements, `(ab)+` is one
    `ab` and a loop over another, and repeats inside each other multiply. Nothing stops it
    while it does that, and memory is gone before time is; so this is asked first. It is a
    bound that needs no parser, so there is none to disagree with that of `regex`, and it
    costs less than a process of its own with limits for every search. Every number counts,
    also where it repeats nothing, and every repeat of a group as if it held all the others;
    a repeat of a single character or set can hold no other. White space may stand between a
    group and its repeat, and in a number, where the flag `x` allows it: so that flag is not.
    """
    single, groups = 1, 1
    for found in _REPEAT.finditer(pattern, overlapped=True):
        copies = int(found["least"] or 1) + 1
        if found["before"] == ")":
            groups *= copies
        else:
            single += copies
    return len(pattern) * single * groups


def _check_size(pattern: str) -> None:
    if _VERBOSE.search(pattern):
        raise QueryError("The flag x is not known here: write the regular expression without it.")
    if program_size(pattern) > LARGEST_PROGRAM:
        raise QueryError(
            "The regular expression becomes too large, because what must be there many times is"
            " written out that often: use smaller numbers, as in a{20} for a{20000}, a * in place"
            " of a + after a group, and no repetition inside another."
        )


def _is_cheap(pattern: str) -> bool:
    """No groups, one open repetition and few optional parts: quadratic at the worst."""
    repetitions = pattern.count("*") + pattern.count("+") + pattern.count(",")
    return "(" not in pattern and repetitions <= 1 and pattern.count("?") <= MOST_OPTIONAL


def _check_length(text: str) -> None:
    if len(text) > LONGEST_QUERY:
        raise QueryError(f"A query may have {LONGEST_QUERY} characters at most.")


def _terms(text: str) -> Iterable[SearchTerm]:
    for piece in _PIECE.finditer(text.replace("\0", " ")):
        written = piece["phrase"] if piece["phrase"] is not None else piece["word"]
        star = bool(piece["star"]) or written.endswith("*")
        found = tuple(atoms(fold(written)))
        if not found:
            continue
        prefix = star and not found[-1].is_run
        if prefix and len(found[-1].text) < SHORTEST_PREFIX:
            raise QueryError(f"Give {SHORTEST_PREFIX} letters at least before a *.")
        yield SearchTerm(found, prefix, bool(piece["minus"]))


def _atom_pattern(atom: Atom) -> str:
    return str(regex.escape(atom.text, literal_spaces=True))
