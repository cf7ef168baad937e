"""Regular expressions of the package, and strings that make careless ones slow."""

import ast
import importlib
import importlib.util
import pkgutil
import re
import re._constants as op
import re._parser as parser
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import regex

import bilingual_crawler
from tests.support.projects import ROOT

METHODS = frozenset({"search", "sub", "subn", "findall", "finditer", "split", "match", "fullmatch"})
ANYWHERE = frozenset({"search", "sub", "subn", "findall", "finditer", "split"})
USUAL = "a0 \n.-_/<\"é\u0301'"
MOST_LETTERS = 24
MOST_PAIRS, MOST_BEGUN = 40, 40
_CATEGORIES = {
    op.CATEGORY_DIGIT: "0",
    op.CATEGORY_NOT_DIGIT: "a",
    op.CATEGORY_SPACE: " ",
    op.CATEGORY_NOT_SPACE: "a",
    op.CATEGORY_WORD: "a",
    op.CATEGORY_NOT_WORD: "-",
}


class Used(NamedTuple):
    """A pattern, where it is defined, and what is done with it."""

    name: str
    pattern: Any
    methods: frozenset[str]

    def attack(self, text: str | bytes) -> None:
        """Do everything with it that the package does."""
        if self.methods & ANYWHERE:  # finding all is as much as any of them does
            for _ in self.pattern.finditer(text):
                pass
        if "match" in self.methods:
            self.pattern.match(text)
        if "fullmatch" in self.methods:
            self.pattern.fullmatch(text)


def patterns_used(*, skipped: tuple[str, ...] = ()) -> list[Used]:
    """Every pattern that a module holds or writes where it is used."""
    modules = [
        info.name
        for info in pkgutil.walk_packages(bilingual_crawler.__path__, "bilingual_crawler.")
        if not info.name.startswith(skipped) and not info.name.endswith("__main__")
    ]
    trees = {name: _tree(name) for name in modules}
    methods: defaultdict[str, set[str]] = defaultdict(set)
    found: dict[str, Any] = {}
    for name, tree in trees.items():
        short = name.removeprefix("bilingual_crawler.")
        for number, (method, text) in enumerate(_written_in_place(tree)):
            found[f"{short}:{number}"] = re.compile(text)
            methods[f"{short}:{number}"].add(method)
        for pattern, method in _calls(tree):
            methods[f"{short}.{pattern}" if pattern.startswith("_") else pattern].add(method)
        for variable, value in vars(importlib.import_module(name)).items():
            if isinstance(value, re.Pattern | regex.Pattern) and _assigns(tree, variable):
                found[f"{short}.{variable}"] = value
    return [
        Used(name, pattern, frozenset(methods[name] | methods[name.rpartition(".")[2]]) or ANYWHERE)
        for name, pattern in sorted(found.items())
    ]


def attacks(pattern: Any) -> Iterator[str | bytes]:
    """Pieces that are worth repeating: letters of the pattern, what it nearly matches."""
    is_bytes = isinstance(pattern.pattern, bytes)
    text = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
    matches = list(_matches(text, pattern))
    letters = list(dict.fromkeys([*(each for found in matches for each in found), *USUAL]))
    letters = letters[:MOST_LETTERS]
    random = Random(1)
    pairs = ["".join(pair) for pair in product(letters, repeat=2) if pair[0] != pair[1]]
    pairs = random.sample(pairs, min(MOST_PAIRS, len(pairs)))
    begun = list(dict.fromkeys(found[:at] for found in matches for at in range(2, len(found))))
    begun = random.sample(begun, min(MOST_BEGUN, len(begun)))
    pieces = [*letters, *pairs, *matches, *(found[1:] for found in matches), *begun]
    for piece in dict.fromkeys(filter(None, pieces)):
        if not is_bytes:
            yield piece
        elif max(map(ord, piece)) < 256:
            yield piece.encode("latin-1")


def _matches(text: str, pattern: Any) -> Iterator[str]:
    """Short strings that a pattern matches or nearly matches, made from its syntax."""
    if not isinstance(pattern, re.Pattern):
        return
    tree = parser.parse(text, pattern.flags & ~re.UNICODE)
    for seed in range(12):
        made = _made(tree, Random(seed))
        if made:
            yield made


def _made(tree: Any, random: Random) -> str:  # noqa: C901 - one case for each kind of node
    parts: list[str] = []
    for kind, value in tree:
        if kind is op.LITERAL:
            parts.append(chr(value))
        elif kind is op.NOT_LITERAL:
            parts.append("a" if value != ord("a") else "b")
        elif kind is op.ANY:
            parts.append("a")
        elif kind is op.IN:
            parts.append(_one_of(value, random))
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, inner = value
            times = min(most, max(least, random.randrange(3)))
            parts.extend(_made(inner, random) for _ in range(min(times, 40)))
        elif kind is op.SUBPATTERN:
            parts.append(_made(value[3], random))
        elif kind is op.ATOMIC_GROUP:
            parts.append(_made(value, random))
        elif kind is op.BRANCH:
            parts.append(_made(random.choice(value[1]), random))
        elif kind is op.ASSERT and value[0] > 0 and random.random() < 0.5:
            parts.append(_made(value[1], random))
    return "".join(parts)


def _one_of(members: Any, random: Random) -> str:
    if members[0][0] is op.NEGATE:
        tried = [*"a0 -.x/é", "\n"]
        return random.choice([each for each in tried if not _is_in(each, members[1:])] or ["a"])
    kind, value = random.choice(members)
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.RANGE:
        return chr(random.choice(value))
    return _CATEGORIES.get(value, "a")


def _is_in(character: str, members: Any) -> bool:
    for kind, value in members:
        if kind is op.LITERAL and ord(character) == value:
            return True
        if kind is op.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if kind is op.CATEGORY and _CATEGORIES.get(value) == character:
            return True
    return False


def _tree(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    assert spec
    assert spec.origin
    return ast.parse(Path(spec.origin).read_text("utf-8"))


def _assigns(tree: ast.Module, variable: str) -> bool:
    """Whether a module defines a name itself; others import it."""
    targets = [
        target
        for node in tree.body
        for target in (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
    ]
    names = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return any(name.id == variable for name in names)


def _calls(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(name of a pattern, method) wherever one is called or handed on: `map(_WORD.sub, ...)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            for name in ast.walk(node.value):
                if isinstance(name, ast.Name | ast.Attribute):
                    yield name.id if isinstance(name, ast.Name) else name.attr, node.attr


def _written_in_place(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(method, pattern) of each `re.sub("...", ...)` and its kind."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in METHODS
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            yield node.func.attr, node.args[0].value


def tried_in_little_memory(expression: str, *imports: str, most: int) -> str:
    """Return the value of an expression, or its ValueError, in a process with few bytes."""
    attempt = f"try: print({expression})\nexcept ValueError as error: print(error)"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join((*imports, attempt))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )
    return done.stdout + done.stderr
