"""Training examples: encoded once or when they are drawn, in batches of similar length."""

import math
import os
import weakref
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from bilingual_crawler.languages import languages_of_token
from bilingual_crawler.scoring.encode import (
    FURTHER,
    MOST_ANNOUNCED,
    MOST_HOST_WORDS,
    MOST_WORDS,
    Arrays,
    Ngrams,
    Rows,
    UrlEncoder,
)
from bilingual_crawler.scoring.pair_features import FEATURES, pair_features

PAD = 1
CHUNK = 32
"""Batches that are sorted by length together; the order between chunks is random."""

Batch = dict[str, Tensor]


@dataclass(slots=True)
class Examples:
    """Encoded URLs or pairs with their targets.

    `variants` are encodings of the same rows, such as the URL as it is and with the name of its
    domain hidden; each time a row is drawn, one is picked, so that words and their places are
    learned rather than names. `weights` say how often a row is drawn; without them every row is
    drawn once per epoch.
    """

    variants: list[Arrays]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    hidden_ngrams: float = 0.0
    measured: tuple[int, ...] = ()
    """The classes with enough rows to be measured."""
    real: int = 0
    """How many rows, the first ones, are from tables; the others are made."""

    def __len__(self) -> int:
        return len(self.targets)

    def some(self, most: int) -> "Examples":
        """Return at most `most` rows, evenly spaced."""
        rows = np.linspace(0, len(self) - 1, min(most, len(self))).astype(np.int64)
        variants = [{name: values[rows] for name, values in each.items()} for each in self.variants]
        return Examples(variants, self.targets[rows])

    def drawn(self, epoch: int, *, size: int, fold: int) -> int:
        """Return how many rows an epoch has, as `order` returns them."""
        if self.weights is not None:
            return size or len(self)
        return min(len(self), fold * (epoch + 1))

    def order(self, epoch: int, *, seed: int, size: int, fold: int) -> NDArray[np.int64]:
        """Return the rows of an epoch, the same for the same seed, so that a run can be resumed.

        Without weights, the first epoch sees one fold, and each further epoch one more.
        """
        rng = np.random.default_rng((seed, epoch))
        if self.weights is not None:
            share = self.weights / self.weights.sum()
            return rng.choice(len(self), size or len(self), p=share)
        rows = np.random.default_rng(seed).permutation(len(self))[: fold * (epoch + 1)]
        return rng.permutation(rows)

    def batches(
        self,
        rows: NDArray[np.int64],
        size: int,
        rng: np.random.Generator | None = None,
        skip: int = 0,
    ) -> Iterator[tuple[Batch, Tensor, NDArray[np.int64]]]:
        """Yield inputs, targets and row numbers; with `rng`, shuffled and varied for training.

        `skip` leaves out the first batches, which a resumed fit has learned from.
        """
        lengths = (self.variants[0]["input_ids"] != PAD).sum(axis=1)
        for start in range(0, len(rows), size * CHUNK):
            chunk = rows[start : start + size * CHUNK]
            chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
            parts = [chunk[place : place + size] for place in range(0, len(chunk), size)]
            if rng is not None:
                rng.shuffle(parts)
            for number, part in enumerate(parts, start // size):
                inputs = self._inputs(part, rng)  # also if skipped: it moves the generator on
                if number >= skip:
                    yield inputs, torch.from_numpy(self.targets[part]), part

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


class UrlStore:
    """URLs in a temporary file: eight bytes of memory each, however long they are."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - open as long as the store
        self._ends = array("Q", [0])
        self._dirty = False
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, url: str) -> None:
        """Add a URL; its number is how many there were before."""
        data = url.encode("utf-8", "replace")
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))
        self._dirty = True

    def take(self, rows: NDArray[np.int64]) -> list[str]:
        """Return some URLs by their numbers."""
        if self._dirty:
            self._file.flush()
            self._dirty = False
        file = self._file.fileno()
        found = []
        for row in rows.tolist():
            start, end = self._ends[row], self._ends[row + 1]
            found.append(os.pread(file, end - start, start).decode())
        return found


@dataclass(slots=True)
class StreamedExamples(Examples):
    """URLs or pairs that are encoded when they are drawn, for tables of tens of millions.

    Encoded rows take about a kilobyte each, URLs in a file nearly nothing. The batches are the same
    as those of encoded rows. `places` are the rows of the columns to use, by default all.
    """

    columns: tuple[UrlStore, ...] = ()
    encoder: UrlEncoder | None = None
    places: NDArray[np.int64] | None = None

    def some(self, most: int) -> Examples:
        """Return at most `most` rows, evenly spaced."""
        rows = np.linspace(0, len(self) - 1, min(most, len(self))).astype(np.int64)
        places = rows if self.places is None else self.places[rows]
        return StreamedExamples(
            [], self.targets[rows], columns=self.columns, encoder=self.encoder, places=places
        )

    def batches(
        self,
        rows: NDArray[np.int64],
        size: int,
        rng: np.random.Generator | None = None,
        skip: int = 0,
    ) -> Iterator[tuple[Batch, Tensor, NDArray[np.int64]]]:
        """Yield inputs, targets and row numbers; with `rng`, shuffled for training.

        What is skipped is not encoded, but for the chunk in which the first batch lies.
        """
        assert self.encoder is not None
        for start in range(0, len(rows), size * CHUNK):
            chunk = rows[start : start + size * CHUNK]
            count = math.ceil(len(chunk) / size)
            order = np.arange(count)
            if rng is not None:
                rng.shuffle(order)
            if start // size + count <= skip:
                continue
            encoded = self._encoded(chunk)
            by_length = np.argsort([len(ids) for ids in encoded.ids], kind="stable")
            for number, place in enumerate(order.tolist(), start // size):
                if number >= skip:
                    part = by_length[place * size : (place + 1) * size]
                    arrays = self.encoder.pad(encoded.take(part.tolist()))
                    inputs = {name: torch.from_numpy(values) for name, values in arrays.items()}
                    yield inputs, torch.from_numpy(self.targets[chunk[part]]), chunk[part]

    def _encoded(self, rows: NDArray[np.int64]) -> Rows:
        assert self.encoder is not None
        places = rows if self.places is None else self.places[rows]
        texts = [column.take(places) for column in self.columns]
        if len(texts) == 1:
            return self.encoder.rows(texts[0])
        return self.encoder.pair_rows(list(zip(*texts, strict=True)))


AT_ONCE = 1_000
REMEMBERED = 1 << 19
"""Pairs of which the comparisons are kept in memory, half a kilobyte each."""
EXCHANGED_TOGETHER = 64
LONGEST_CODE = 4
"""The longest piece, with its mark, that may be a language code."""
WORD_MARK = "\N{LOWER ONE EIGHTH BLOCK}"
PARAMETERS = frozenset(
    ("lang", "language", "locale", "clang", "langid", "sprache", "langue", "idioma")
)
ItemT = TypeVar("ItemT")


def encode_urls(encoder: UrlEncoder, urls: Sequence[str]) -> Arrays:
    """Encode each URL as a row."""
    return _encoded(encoder, encoder.rows, urls)


def encode_pairs(encoder: UrlEncoder, pairs: Sequence[tuple[str, str]]) -> Arrays:
    """Encode each pair as a row."""

    def encode(some: Sequence[tuple[str, str]]) -> Rows:
        features = np.stack([_features(*pair) for pair in some]) if encoder.compares else None
        return encoder.pair_rows(some, features)

    return _encoded(encoder, encode, pairs)


@lru_cache(maxsize=REMEMBERED)
def _features(first: str, second: str) -> NDArray[np.float32]:
    """Return the comparisons of a pair, which folds of the same tables need again and again."""
    features: NDArray[np.float32] = pair_features([(first, second)])[0]
    return features


def _encoded(
    encoder: UrlEncoder, encode: Callable[[Sequence[ItemT]], Rows], items: Sequence[ItemT]
) -> Arrays:
    """Encode items as int32, without a mask: a table of millions must fit into memory."""
    arrays: dict[str, Any] = {
        "input_ids": np.full((len(items), encoder.max_length), PAD, dtype=np.int32)
    }
    if encoder.ngrams is not None:
        arrays["ngrams"] = np.zeros((len(items), encoder.ngrams.most), dtype=np.int32)
    if encoder.compares:
        arrays["features"] = np.zeros((len(items), len(FEATURES)), dtype=np.float32)
    if encoder.announced is not None:
        widths = (encoder.announced.host.most, MOST_ANNOUNCED, MOST_WORDS, MOST_HOST_WORDS)
        for name, width in zip(FURTHER, widths, strict=True):
            arrays[name] = np.zeros((len(items), width), dtype=np.int32)
    for start in range(0, len(items), AT_ONCE):
        rows = encode(items[start : start + AT_ONCE])
        end = start + len(rows.ids)
        ids = encoder.pad(rows)["input_ids"]
        arrays["input_ids"][start:end, : ids.shape[1]] = ids
        if rows.ngrams is not None:
            arrays["ngrams"][start:end] = rows.ngrams.reshape(len(rows.ids), -1)
        for name in ("features", *FURTHER):
            if name in arrays:
                arrays[name][start:end] = getattr(rows, name)
    return arrays


def with_other_words(arrays: Arrays, tokenizer: Tokenizer, rng: np.random.Generator) -> Arrays:
    """Return the rows with every longer word replaced by another, the same in both URLs.

    What is equal stays equal, so a model learns what a pair looks like, not which words the sites
    in the training data use.
    """
    words = np.array(
        [
            number
            for token, number in tokenizer.get_vocab().items()
            if len(token) > LONGEST_CODE and token[1:].isalpha() and not _names_language(token)
        ],
        dtype=np.int64,
    )
    exchange = np.arange(tokenizer.get_vocab_size())
    ids = arrays["input_ids"].copy()
    for start in range(0, len(ids), EXCHANGED_TOGETHER):
        exchange[np.sort(words)] = rng.permutation(words)
        ids[start : start + EXCHANGED_TOGETHER] = exchange[ids[start : start + EXCHANGED_TOGETHER]]
    return {**arrays, "input_ids": ids}


def _names_language(token: str) -> bool:
    word = token.lstrip(WORD_MARK)
    return word in PARAMETERS or bool(languages_of_token(word))


def described(ngrams: Ngrams | None) -> dict[str, object] | None:
    """Return the entry of config.json from which a crawl makes the same encoder."""
    if ngrams is None:
        return None
    return {"sizes": list(ngrams.sizes), "buckets": ngrams.buckets, "most": ngrams.most}
