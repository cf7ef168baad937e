"""The query language of the search box, and text as it is indexed and searched.

All words must be there, in any order; words in quotes must be adjacent; `word*` is any word with
that beginning; `-word` must not be there. Or a query is one regular expression over the original
text.

Words are compared without case and accents. Scripts without spaces are indexed as overlapping
pairs of characters (the word 北京市 as 北京 and 京市), so that a search finds any part of them.
Most Chinese words have two characters, which is too short for SQLite's own trigrams. The script
decides, not the language of a page, because texts mix them.
"""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal, NamedTuple, Protocol

import regex

from bilingual_crawler.languages.normal_forms import UNSPACED, normalize

WORD = rf"[[\p{{L}}\p{{N}}\p{{M}}\p{{Co}}]--[{UNSPACED}]]"
"""A character of a word in a script with spaces; the index agrees (see `TOKENIZER`)."""

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
"""SQLite's tokenizer, which runs after `fold`: the marks of Indic scripts are parts of words."""

_ACCENTS = re.compile(
    "[\\u0300-\\u036f\\u0483-\\u0487"  # Latin, Greek, Cyrillic
    "\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7"  # Hebrew points
    "\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06ed]"  # Arabic vowels, lengthening
)
_RUN = re.compile(f"[{UNSPACED}]+")
_ATOM = regex.compile(rf"(?P<run>[{UNSPACED}]+)|(?P<word>{WORD}+)", regex.V1)
_CLUSTER = regex.compile(r"\X")

MAX_QUERY_LENGTH = 300
MAX_TERMS = 20
MIN_PREFIX = 2
PATTERN_SECONDS = 0.25
"""How long a regular expression may take for a single text."""
MAX_PROGRAM_SIZE = 200_000
"""Elements of a compiled regular expression; at some 400 bytes each, 100 MB at worst."""
SHORT_TEXT = 2_000
MAX_OPTIONAL = 3
MIN_ANCHOR = 2
BREAK, BOUNDARY = "break", "boundary"
QUANTIFIERS = "*+?{"
GAP = r"[^\p{L}\p{N}\p{M}\p{Co}]*"

Span = tuple[int, int]
Side = Literal[1, 2]
_REPEAT = regex.compile(r"(?P<before>.)(?:\+|\{(?P<least>[0-9]+))", regex.DOTALL)
_VERBOSE = regex.compile(r"(?<!\\)(?:\\\\)*\(\?[\w-]*x[\w-]*[:)]")
_PIECE = regex.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+))(?P<star>\*?)')


class Atom(NamedTuple):
    """A word, or a run of characters in a script without spaces."""

    text: str
    is_run: bool


class Folded(NamedTuple):
    """A folded text, and the original span of each of its characters."""

    text: str
    begins: list[int]
    ends: list[int]


def fold(text: str) -> str:
    """Return the text for comparison: without presentation forms, case and accents."""
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", normalize("NFKD", text).casefold())
    return normalize("NFC", plain)


def fold_with_places(text: str) -> Folded:
    """Return the folded text with its places in the original, for highlighting."""
    if text.isascii():
        return Folded(text.lower(), list(range(len(text))), list(range(1, len(text) + 1)))
    folded: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        piece = fold(cluster[0])
        folded.append(piece)
        begins += [cluster.start()] * len(piece)
        ends += [cluster.end()] * len(piece)
    return Folded("".join(folded), begins, ends)


def atoms(text: str) -> list[Atom]:
    """Return the words and runs of a folded text, in order."""
    return [Atom(found[0], found["run"] is not None) for found in _ATOM.finditer(text)]


def bigrams(run: str) -> str:
    """Return a run as it is indexed: its pairs of characters, or its only character."""
    if len(run) == 1:
        return run
    return " ".join(run[at : at + 2] for at in range(len(run) - 1))


def index_columns(text: str) -> tuple[str, str]:
    """Return the two indexed forms of a text: its tokens, and its single unspaced characters."""
    folded = fold(text)
    if folded.isascii() or not _RUN.search(folded):
        return folded, ""
    characters: set[str] = set()
    for run in _RUN.findall(folded):
        characters.update(run)
    return _RUN.sub(lambda run: f" {bigrams(run[0])} ", folded), " ".join(sorted(characters))


class QueryError(ValueError):
    """A query that cannot be run; the message is for the user who typed it."""


class Query(Protocol):
    """What search and highlighting need from a query."""

    def spans(self, text: str) -> list[Span]:
        """Return where a text matches, in order, without overlaps."""


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A word or a phrase."""

    atoms: tuple[Atom, ...]
    prefix: bool = False
    negative: bool = False

    def in_fts5(self, side: Side) -> str:
        """Return the term in the syntax of SQLite's full-text search, for one side of the pairs."""
        first = self.atoms[0]
        if len(self.atoms) == 1 and first.is_run and len(first.text) == 1:
            return f'chars{side} : "{first.text}"'
        if any(atom.is_run and len(atom.text) == 1 for atom in self.atoms):
            each = (SearchTerm((atom,)).in_fts5(side) for atom in self.atoms)
            return f"({' AND '.join(each)})"
        tokens = " ".join(bigrams(text) if is_run else text for text, is_run in self.atoms)
        return f'text{side} : "{tokens}"{" *" if self.prefix else ""}'

    def in_regex(self) -> str:
        """Return the term as a pattern over folded text, for highlighting."""
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
        """Return the whole query, for one side of the pairs."""
        wanted = " AND ".join(term.in_fts5(side) for term in self.terms if not term.negative)
        for term in self.terms:
            if term.negative:
                wanted = f"({wanted}) NOT {term.in_fts5(side)}"
        return f"({wanted})"

    def spans(self, text: str) -> list[Span]:
        """Return where the words and phrases of the query are."""
        folded = fold_with_places(text)
        found = (each.span() for each in self.pattern.finditer(folded.text))
        return [(folded.begins[begin], folded.ends[end - 1]) for begin, end in found if end > begin]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, which is matched with every text."""

    pattern: "regex.Pattern[str]"
    is_cheap: bool = False
    """Whether it cannot take long, so that no timeout is needed, which would cost more."""

    def matches(self, text: str) -> bool:
        """Return whether a text matches."""
        if self.is_cheap and len(text) <= SHORT_TEXT:
            return self.pattern.search(text) is not None
        try:
            return self.pattern.search(text, timeout=PATTERN_SECONDS) is not None
        except TimeoutError:
            raise too_slow() from None

    def spans(self, text: str) -> list[Span]:
        """Return where a text matches, without empty matches."""
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
    """Return the error for a regular expression that takes too long."""
    return QueryError(
        "The regular expression takes too long on some text: one repetition inside another, as in"
        " (a+)+, tries every possible split. Write it with fewer repetitions."
    )


def parse_words(text: str) -> Words:
    """Parse a query of words; punctuation alone does not count."""
    _check_length(text)
    terms = list(_terms(text))
    wanted = [term for term in terms if not term.negative]
    if len(terms) > MAX_TERMS:
        raise QueryError(f"A query may have at most {MAX_TERMS} words and phrases.")
    if not wanted:
        raise QueryError(
            "There is no word to look for: write at least one without a minus before it."
            if terms
            else "There is no word to look for: for punctuation, choose a regular expression."
        )
    longest_first = sorted((term.in_regex() for term in wanted), key=len, reverse=True)
    return Words(tuple(terms), regex.compile("|".join(longest_first), regex.V1))


def parse_pattern(text: str, *, match_case: bool = False) -> Pattern:
    """Parse a regular expression; it is not cached, because untrusted ones may be many."""
    _check_length(text)
    _check_size(text)
    try:
        flags = 0 if match_case else regex.IGNORECASE
        compiled = regex.compile(text, flags, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError) as error:
        raise QueryError(f"The regular expression cannot be read: {error}.") from None
    return Pattern(compiled, _is_cheap(text))


def program_size(pattern: str) -> int:
    """Return an upper bound of the size of a compiled regular expression, in elements.

    `regex` expands what must be there: `a{1000}` is a thousand elements, `(ab)+` is one `ab`
    and a loop over another, and nested repeats multiply. Nothing interrupts it while it does
    that, and it runs out of memory before it runs out of time; so this is checked first. The
    bound needs no parser that could disagree with that of `regex`, and costs less than a
    process with limits for every search. Every number counts, even where it repeats nothing,
    and every repeat of a group as if it contained all the others; a repeat of a single
    character or set cannot contain another. The flag `x` allows white space between a group
    and its repeat, and in numbers: so that flag is refused.
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
        raise QueryError("The flag x is not supported: write the regular expression without it.")
    if program_size(pattern) > MAX_PROGRAM_SIZE:
        raise QueryError(
            "The regular expression becomes too large, because everything that must repeat is"
            " expanded: use smaller numbers, as in a{20} for a{20000}, * in place of + after a"
            " group, and no repetition inside another."
        )


def _is_cheap(pattern: str) -> bool:
    """Return whether there are no groups, one repetition and few options: quadratic at worst."""
    repetitions = pattern.count("*") + pattern.count("+") + pattern.count(",")
    return "(" not in pattern and repetitions <= 1 and pattern.count("?") <= MAX_OPTIONAL


def _check_length(text: str) -> None:
    if len(text) > MAX_QUERY_LENGTH:
        raise QueryError(f"A query may have at most {MAX_QUERY_LENGTH} characters.")


def _terms(text: str) -> Iterable[SearchTerm]:
    for piece in _PIECE.finditer(text.replace("\0", " ")):
        written = piece["phrase"] if piece["phrase"] is not None else piece["word"]
        star = bool(piece["star"]) or written.endswith("*")
        found = tuple(atoms(fold(written)))
        if not found:
            continue
        prefix = star and not found[-1].is_run
        if prefix and len(found[-1].text) < MIN_PREFIX:
            raise QueryError(f"Write at least {MIN_PREFIX} letters before a *.")
        yield SearchTerm(found, prefix, bool(piece["minus"]))


def _atom_pattern(atom: Atom) -> str:
    return str(regex.escape(atom.text, literal_spaces=True))


def anchor_of(pattern: str) -> SearchTerm | None:
    r"""Return what every match of a regular expression must contain, so that the index can help.

    `\bcas(a|o)s?\b` only matches where a word begins with "cas". The index finds those sentences
    at once, where scanning a million takes seconds. The answer is the beginning of a word, or a
    run of characters in a script without spaces; None if the pattern is not understood, which
    only costs time.
    """
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
    """The pattern has something that is not understood here."""


def _term(literal: str, *, after_boundary: bool) -> SearchTerm | None:
    for number, atom in enumerate(atoms(fold(literal))):
        if len(atom.text) < MIN_ANCHOR:
            continue
        if atom.is_run:
            return SearchTerm((Atom(atom.text, is_run=True),))
        if number == 0 and after_boundary:
            return SearchTerm((atom,), prefix=True)
    return None


def _parts(pattern: str) -> Iterator[str]:
    """Yield the letters that must be there, one by one, and BREAK or BOUNDARY between them."""
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
    """Return where a character class ends; nested classes are not understood."""
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
