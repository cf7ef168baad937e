"""The small classifiers of the seed systems, evaluated without the library that fits them.

A support vector machine with a polynomial kernel over three features is a polynomial over three
features: its support vectors are multiplied out when it is fitted, and twenty products decide. A
decision tree is a few comparisons. `lab/training/pairs.py` fits both; those in
`data/pair_classifiers.json` are shipped.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, Self

from bilingual_crawler.errors import ConfigurationError

SHIPPED = "data/pair_classifiers.json"
MACHINE_FEATURES, TREE_FEATURES = 3, 4
STEEPEST = 30.0
"""Decision values beyond this are as certain as a float can express."""


@dataclass(slots=True, frozen=True)
class PolynomialMachine:
    """The decision function of a support vector machine, as a sum of monomials."""

    terms: tuple[tuple[tuple[int, ...], float], ...]
    """The power of every feature, and the factor."""

    def decision(self, features: Sequence[float]) -> float:
        """Return the decision value, positive for translations."""
        return sum(
            factor * math.prod(value**power for value, power in zip(features, powers, strict=True))
            for powers, factor in self.terms
        )

    def score(self, features: Sequence[float]) -> float:
        """Return a score from 0 to 1, at least 0.5 exactly where the decision is not negative."""
        decision = max(-STEEPEST, min(STEEPEST, self.decision(features)))
        return 1.0 / (1.0 + math.exp(-decision))

    def to_json(self) -> list[Any]:
        """Return what `from_json` reads."""
        return [[list(powers), factor] for powers, factor in self.terms]

    @classmethod
    def from_json(cls, terms: Iterable[Any]) -> Self:
        """Return the machine that was written."""
        return cls(tuple((tuple(map(int, powers)), float(factor)) for powers, factor in terms))


class Split(NamedTuple):
    """A question of a tree: whether a feature is at most this large."""

    feature: int
    limit: float
    below: "Tree"
    above: "Tree"


Tree = Split | float
"""A question, or at a leaf the share of translations among its examples."""


@dataclass(slots=True, frozen=True)
class DecisionTree:
    """A binary tree over the features of a pair."""

    root: Tree

    def score(self, features: Sequence[float]) -> float:
        """Return the share of translations at the leaf that the features lead to."""
        node = self.root
        while isinstance(node, Split):
            node = node.below if features[node.feature] <= node.limit else node.above
        return node

    def to_json(self) -> Any:
        """Return what `from_json` reads."""
        return _written(self.root)

    @classmethod
    def from_json(cls, tree: Any) -> Self:
        """Return the tree that was written."""
        return cls(_read(tree))


class PairClassifiers(NamedTuple):
    """The machine of ILSP-FC and the tree of PPLocator."""

    structure: PolynomialMachine
    pplocator: DecisionTree

    def dumps(self) -> str:
        """Return the classifiers as a JSON text."""
        parts = {"structure": self.structure.to_json(), "pplocator": self.pplocator.to_json()}
        return json.dumps(parts)

    @classmethod
    def loads(cls, text: str, source: str) -> Self:
        """Return the classifiers in a JSON text; `source` names it in error messages."""
        try:
            read = json.loads(text)
            machine = PolynomialMachine.from_json(read["structure"])
            tree = DecisionTree.from_json(read["pplocator"])
        except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
            raise _unreadable(source) from error
        powers = [powers for powers, _ in machine.terms]
        if any(len(each) != MACHINE_FEATURES or min(each) < 0 for each in powers):
            raise _unreadable(source)
        if not _features(tree.root) <= set(range(TREE_FEATURES)):
            raise _unreadable(source)
        return cls(machine, tree)


@cache
def shipped() -> PairClassifiers:
    """Return the shipped classifiers."""
    text = files("bilingual_crawler").joinpath(SHIPPED).read_text("utf-8")
    return PairClassifiers.loads(text, SHIPPED)


def _unreadable(source: str) -> ConfigurationError:
    return ConfigurationError(
        f"{source} does not hold the classifiers of pairs: it should be a JSON object with"
        f" 'structure', a list of [{MACHINE_FEATURES} powers, factor], and 'pplocator', a tree of"
        " [feature, limit, below, above]."
    )


def _features(node: Tree) -> set[int]:
    if not isinstance(node, Split):
        return set()
    return {node.feature} | _features(node.below) | _features(node.above)


def _written(node: Tree) -> Any:
    if not isinstance(node, Split):
        return node
    return [node.feature, node.limit, _written(node.below), _written(node.above)]


def _read(node: Any) -> Tree:
    if not isinstance(node, list):
        return min(1.0, max(0.0, float(node)))
    feature, limit, below, above = node
    return Split(int(feature), float(limit), _read(below), _read(above))
