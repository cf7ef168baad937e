"""Inputs for a reader: broken versions of good examples, and attacks."""

import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

ATTACK_SHARE = 0.35
MOST_CHANGES = 6
_TOKEN = re.compile(rb"""[<>"'{}\[\]()\\,:;=&?/#%|*+\n -]|[^<>"'{}\[\]()\\,:;=&?/#%|*+\n -]+""")

_CHARACTERS = (
    *"a0 \n\t\0<>&%/.,;:|*+?()[]{}\"'\\-_=#@",
    "\u0301",  # combining marks
    "\u0f72",
    "e\u0301\u0323",
    "\u0130",  # longer in lower case
    "\ufdfa",  # eighteen characters when it is normalised
    "\u200d",
    "\u202e",
    "\ufeff",
    "\ud800",  # half of a character
    "\udfff",
    "\u4eac",
    "\u0e01",
    "\U0001f468\u200d\U0001f469",
    "\U000e0001",
    "\U0010ffff",
)
LETTERS: tuple[bytes, ...] = (
    *(text.encode("utf-8", "surrogatepass") for text in _CHARACTERS),
    b"\xff",
    b"\xc3",
    b"\x80",
    b"\x1b$B",
    b"&amp;",
    b"&#x110000;",
    b"%C3%28",
    b"%00",
    b"xn--",
)
NUMBERS = (
    b"0",
    b"-1",
    b"1e999",
    b"NaN",
    b"Infinity",
    b"4294967296",
    b"9223372036854775808",
    b"18446744073709551616",
    b"9" * 400,
    b"9" * 5000,
    b"0x41",
    b"\xd9\xa3",  # a digit of another script
    b"0." + b"0" * 400 + b"1",
)
BRACKETS: tuple[tuple[bytes, bytes], ...] = (
    (b"[", b"]"),
    (b"{", b"}"),
    (b"(", b")"),
    (b'{"a":', b"}"),
    (b"<div>", b"</div>"),
    (b"<a href=/>", b"</a>"),
    (b"<table><tr><td>", b"</td></tr></table>"),
    (b"<b><i>", b"</b></i>"),
    (b"<!--", b"-->"),
    (b"(?:", b")+"),
)


@dataclass(frozen=True)
class Grammar:
    """The building blocks of a target's inputs."""

    examples: Sequence[bytes]
    """Valid inputs."""
    words: Sequence[bytes] = ()
    """Tokens with a meaning to the reader, to be inserted in the wrong places."""
    attacks: Sequence[Callable[[Random, int], bytes]] = ()
    """Attacks specific to this target, of about the given size."""
    largest: int = 100_000
    zipped: bool = False
    """True if the reader unpacks gzip."""


def make_input(grammar: Grammar, seed: str) -> bytes:
    """Return the input of a seed, always the same."""
    random = Random(seed)  # noqa: S311 - repeatable, not a secret
    if random.random() < ATTACK_SHARE:
        made = random.choice([_runs, _marks, _long_word, _nested, *grammar.attacks])(
            random, _size(random, grammar)
        )
        if random.random() < 0.5:  # noqa: PLR2004 - half of them inside something good
            made = _put_into(random, made, random.choice(grammar.examples))
    else:
        made = random.choice(grammar.examples)
        for _ in range(random.randint(1, MOST_CHANGES)):
            made = random.choice(CHANGES)(random, made, grammar)[: grammar.largest]
    made = made[: grammar.largest]
    if grammar.zipped and random.random() < 0.2:  # noqa: PLR2004 - one in five
        return _zipped(random, made)
    return made


def _size(random: Random, grammar: Grammar) -> int:
    """Choose a size: many are small and quick, large ones show what grows too fast."""
    return min(grammar.largest, int(10 ** random.uniform(0, 5.3)))


def _runs(random: Random, size: int) -> bytes:
    """Return a long run of one to three pieces, with something at its end."""
    pieces = [random.choice(LETTERS) for _ in range(random.randint(1, 3))]
    run = b"".join(pieces)
    return run * (size // len(run) + 1) + random.choice((b"", *LETTERS, *NUMBERS))


def _marks(random: Random, size: int) -> bytes:
    """A letter with very many marks, whose order is wrong all the time."""
    marks = "".join(random.sample("\u0301\u0323\u05b0\u0344\u1dce", random.randint(2, 4)))
    return ("e" + marks * (size // len(marks.encode()) + 1)).encode()


def _long_word(random: Random, size: int) -> bytes:
    """One word, and what would make it something else if it stood at its end."""
    letter = random.choice((b"a", b"_", b"-", b".", b"a.", b"a-", b" ", b"0", "é".encode()))
    begin = random.choice((b"", b"/?", b"www.", b"a@", b"<a ", b"-t-", b"("))
    return begin + letter * (size // len(letter)) + random.choice((b"", b" x", b"\n", b"@", b";"))


def _nested(random: Random, size: int) -> bytes:
    """Return deep nesting, closed or not."""
    opening, closing = random.choice(BRACKETS)
    depth = size // (len(opening) + len(closing)) + 1
    inside = random.choice((b"", *LETTERS, *NUMBERS))
    return opening * depth + inside + closing * random.choice((depth, 0, depth // 2))


def _put_into(random: Random, made: bytes, example: bytes) -> bytes:
    tokens = _TOKEN.findall(example)
    at = random.randrange(len(tokens) + 1)
    return b"".join((*tokens[:at], made, *tokens[at:]))


def _zipped(random: Random, made: bytes) -> bytes:
    """Compress an input, perhaps cut off or damaged, perhaps as a bomb."""
    kind = random.randrange(4)
    if kind == 0:
        return gzip.compress(made + random.choice(LETTERS)[:1] * 50_000_000, 9, mtime=0)
    packed = bytearray(gzip.compress(made, 1, mtime=0))
    if kind == 1:
        del packed[random.randrange(len(packed)) :]
    elif kind == 2:  # noqa: PLR2004 - the third of four
        packed[random.randrange(len(packed))] ^= 1 << random.randrange(8)
    return bytes(packed)


def _changed_tokens(
    change: Callable[[Random, list[bytes], int, Grammar], None],
) -> Callable[[Random, bytes, Grammar], bytes]:
    def changed(random: Random, made: bytes, grammar: Grammar) -> bytes:
        tokens = _TOKEN.findall(made) or [b""]
        change(random, tokens, random.randrange(len(tokens)), grammar)
        return b"".join(tokens)

    return changed


def _delete(random: Random, tokens: list[bytes], at: int, _: Grammar) -> None:
    del tokens[at : at + random.randint(1, 4)]


def _double(random: Random, tokens: list[bytes], at: int, grammar: Grammar) -> None:
    part = tokens[at : at + random.randint(1, 12)]
    length = max(1, len(b"".join(part)))
    most = max(1, grammar.largest // length)
    tokens[at:at] = part * min(most, random.choice((1, 2, 10, 1000, 20_000)))


def _swap(random: Random, tokens: list[bytes], at: int, _: Grammar) -> None:
    other = random.randrange(len(tokens))
    tokens[at], tokens[other] = tokens[other], tokens[at]


def _replace(random: Random, tokens: list[bytes], at: int, grammar: Grammar) -> None:
    tokens[at] = random.choice((*LETTERS, *NUMBERS, *grammar.words))


def _insert(random: Random, tokens: list[bytes], at: int, grammar: Grammar) -> None:
    tokens.insert(at, random.choice((*LETTERS, *grammar.words, *grammar.words)))


def _splice(random: Random, tokens: list[bytes], at: int, grammar: Grammar) -> None:
    other = _TOKEN.findall(random.choice(grammar.examples))
    begin = random.randrange(len(other))
    tokens[at:] = other[begin:]


def _flip(random: Random, made: bytes, _: Grammar) -> bytes:
    data = bytearray(made or b"\0")
    for _each in range(random.randint(1, 8)):
        data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data)


def _cut(random: Random, made: bytes, _: Grammar) -> bytes:
    return made[: random.randrange(len(made) + 1)]


CHANGES: tuple[Callable[[Random, bytes, Grammar], bytes], ...] = (
    *map(_changed_tokens, (_delete, _double, _swap, _replace, _replace, _insert, _splice)),
    _flip,
    _cut,
)


def numbered(grammar: Grammar, seed: int, name: str, first: int) -> Iterator[tuple[int, bytes]]:
    """Yield the inputs of a target from a number on, without end."""
    number = first
    while True:
        yield number, make_input(grammar, f"{seed} {name} {number}")
        number += 1
