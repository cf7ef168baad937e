"""Training examples as arrays: encoded once, drawn in batches of like length."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

PAD = 1
CHUNK = 32
"""Batches that are sorted by length together; between chunks the order is random."""

Batch = dict[str, Tensor]
Arrays = dict[str, NDArray[Any]]


@dataclass(slots=True)
class Examples:
    """Encoded URLs or pairs with their targets.

    `variants` are encodings of the same rows; each time a row is drawn, one of them is
    taken: the URL as it is, or with the name of its domain hidden, so that words and
    places of words are learned rather than names. `weights` say how often a row is drawn;
    without them every row is drawn once an epoch.
    """

    variants: list[Arrays]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    hidden_ngrams: float = 0.0
    measured: tuple[int, ...] = ()
    """The classes that the rows can say something about: those with enough of them."""

    def __len__(self) -> int:
        return len(self.targets)

    def some(self, most: int) -> "Examples":
        """Some rows, evenly from all of them."""
        rows = np.linspace(0, len(self) - 1, min(most, len(self))).astype(np.int64)
        variants = [{name: values[rows] for name, values in each.items()} for each in self.variants]
        return Examples(variants, self.targets[rows])

    def order(self, epoch: int, *, seed: int, size: int, fold: int) -> NDArray[np.int64]:
        """The rows of an epoch: the same for the same seed, so that a run can be resumed.

        Without weights the first epoch sees one fold, each further epoch one more.
        """
        rng = np.random.default_rng((seed, epoch))
        if self.weights is not None:
            share = self.weights / self.weights.sum()
            return rng.choice(len(self), size or len(self), p=share)
        rows = np.random.default_rng(seed).permutation(len(self))[: fold * (epoch + 1)]
        return rng.permutation(rows)

    def batches(
        self, rows: NDArray[np.int64], size: int, rng: np.random.Generator | None = None
    ) -> Iterator[tuple[Batch, Tensor, NDArray[np.int64]]]:
        """Inputs, targets and row numbers; with a generator, as training wants them."""
        lengths = (self.variants[0]["input_ids"] != PAD).sum(axis=1)
        for start in range(0, len(rows), size * CHUNK):
            chunk = rows[start : start + size * CHUNK]
            chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
            parts = [chunk[place : place + size] for place in range(0, len(chunk), size)]
            if rng is not None:
                rng.shuffle(parts)
            for part in parts:
                yield self._inputs(part, rng), torch.from_numpy(self.targets[part]), part

    def _inputs(self, rows: NDArray[np.int64], rng: np.random.Generator | None) -> Batch:
        drawn: dict[str, NDArray[Any]] = {
            name: values[rows].astype(np.float32 if name == "features" else np.int64)
            for name, values in self.variants[0].items()
        }
        if rng is not None:
            which = rng.integers(len(self.variants), size=len(rows))
            for number, variant in enumerate(self.variants[1:], 1):
                chosen = which == number
                for name, values in variant.items():
                    drawn[name][chosen] = values[rows[chosen]]
            if "ngrams" in drawn and self.hidden_ngrams:
                drawn["ngrams"] *= rng.random(drawn["ngrams"].shape) >= self.hidden_ngrams
        drawn["attention_mask"] = (drawn["input_ids"] != PAD).astype(np.int64)
        longest = int(drawn["attention_mask"].sum(axis=1).max(initial=1))
        for name in ("input_ids", "attention_mask"):
            drawn[name] = drawn[name][:, :longest]
        return {name: torch.from_numpy(values) for name, values in drawn.items()}
