"""Encoding whole tables, with the encoder that a crawl uses, into narrow arrays."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from tokenizers import Tokenizer

from bilingual_crawler.lab.training.examples import PAD
from bilingual_crawler.languages import languages_of_token
from bilingual_crawler.scoring.encode import Arrays, Ngrams, Rows, UrlEncoder
from bilingual_crawler.scoring.pair_features import FEATURES

AT_ONCE = 1_000
EXCHANGED_TOGETHER = 64
LONGEST_CODE = 4
"""Characters of a piece, its mark included, that may be a language code."""
WORD_MARK = "\N{LOWER ONE EIGHTH BLOCK}"
PARAMETERS = frozenset(
    ("lang", "language", "locale", "clang", "langid", "sprache", "langue", "idioma")
)
ItemT = TypeVar("ItemT")


def encode_urls(encoder: UrlEncoder, urls: Sequence[str]) -> Arrays:
    """Every URL as a row."""
    return _encoded(encoder, encoder.rows, urls)


def encode_pairs(encoder: UrlEncoder, pairs: Sequence[tuple[str, str]]) -> Arrays:
    """Every pair as a row."""
    return _encoded(encoder, encoder.pair_rows, pairs)


def _encoded(
    encoder: UrlEncoder, encode: Callable[[Sequence[ItemT]], Rows], items: Sequence[ItemT]
) -> Arrays:
    """int32 and no mask: a table of millions must fit into memory."""
    arrays: dict[str, Any] = {
        "input_ids": np.full((len(items), encoder.max_length), PAD, dtype=np.int32)
    }
    if encoder.ngrams is not None:
        arrays["ngrams"] = np.zeros((len(items), encoder.ngrams.most), dtype=np.int32)
    if encoder.compares:
        arrays["features"] = np.zeros((len(items), len(FEATURES)), dtype=np.float32)
    for start in range(0, len(items), AT_ONCE):
        rows = encode(items[start : start + AT_ONCE])
        end = start + len(rows.ids)
        ids = encoder.pad(rows)["input_ids"]
        arrays["input_ids"][start:end, : ids.shape[1]] = ids
        if rows.ngrams is not None:
            arrays["ngrams"][start:end] = rows.ngrams.reshape(len(rows.ids), -1)
        if rows.features is not None:
            arrays["features"][start:end] = rows.features
    return arrays


def with_other_words(arrays: Arrays, tokenizer: Tokenizer, rng: np.random.Generator) -> Arrays:
    """The same rows with every longer word exchanged for another, in both URLs alike.

    What is equal stays equal: a model learns from this what a pair looks like, not which
    words the sites of the training data have.
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
    """The entry of config.json from which a crawl makes the same encoder."""
    if ngrams is None:
        return None
    return {"sizes": list(ngrams.sizes), "buckets": ngrams.buckets, "most": ngrams.most}
