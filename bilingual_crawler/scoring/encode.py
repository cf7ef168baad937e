"""From URLs to the numbers a model takes: one way for training, evaluation and crawling.

A URL becomes `<s> u </s>`, a pair `<s> u </s> v </s>`. Half of all URLs are longer than a
fast model can read, so what is left out is the middle: sites name the language at the
front (`es.`, `/es/`) or at the very end (`?lang=es`, `_es.html`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bilingual_crawler.scoring.preprocess import ngram_table, prepare

BEGIN, END, PADDING = "<s>", "</s>", "<pad>"
TAIL_SHARE = 4
"""One token in so many of a shortened URL is from its end."""

Arrays = dict[str, NDArray[np.int64]]


class Ngrams(NamedTuple):
    """Which hashed character n-grams a model takes beside the tokens."""

    sizes: tuple[int, ...]
    buckets: int
    most: int


class Rows(NamedTuple):
    """URLs or pairs as token ids of different lengths, and their n-grams if a model wants them."""

    ids: list[list[int]]
    ngrams: NDArray[np.int64] | None

    def take(self, numbers: Sequence[int]) -> Self:
        """Some of the rows, in the order of their numbers."""
        ngrams = None if self.ngrams is None else self.ngrams[list(numbers)]
        return self._replace(ids=[self.ids[number] for number in numbers], ngrams=ngrams)


class UrlEncoder:
    """Encodes URLs, and pairs of URLs, for the model that a tokenizer belongs to."""

    def __init__(
        self,
        tokenizer: Tokenizer | str | Path,
        max_length: int,
        ngrams: Ngrams | None = None,
    ) -> None:
        if not isinstance(tokenizer, Tokenizer):
            tokenizer = Tokenizer.from_file(str(tokenizer))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.ngrams = ngrams
        self.begin, self.end, self.padding = map(self._special, (BEGIN, END, PADDING))

    def encode(self, urls: Sequence[str]) -> Arrays:
        """`input_ids`, `attention_mask` and perhaps `ngrams` of URLs, padded to the longest."""
        return self.pad(self.rows(urls))

    def encode_pairs(self, pairs: Sequence[tuple[str, str]]) -> Arrays:
        """The same for pairs of URLs."""
        return self.pad(self.pair_rows(pairs))

    def rows(self, urls: Sequence[str]) -> Rows:
        """URLs before they are padded, so that a caller can put equal lengths together."""
        room = self.max_length - 2
        ids = [[self.begin, *shortened(each, room), self.end] for each in self._tokens(urls)]
        return Rows(ids, self._ngrams(urls))

    def pair_rows(self, pairs: Sequence[tuple[str, str]]) -> Rows:
        """Pairs before they are padded; each different URL is read once."""
        urls = list(dict.fromkeys(url for pair in pairs for url in pair))
        tokens = dict(zip(urls, self._tokens(urls), strict=True))
        ids = [self._joined(tokens[first], tokens[second]) for first, second in pairs]
        return Rows(ids, self._pair_ngrams(pairs, urls))

    def pad(self, rows: Rows) -> Arrays:
        """Rows as arrays that onnxruntime takes, and torch after `from_numpy`."""
        lengths = np.array([len(each) for each in rows.ids], dtype=np.int64)
        longest = int(lengths.max(initial=0))
        mask = np.arange(longest) < lengths[:, np.newaxis]
        input_ids = np.full(mask.shape, self.padding, dtype=np.int64)
        input_ids[mask] = np.fromiter(
            (number for each in rows.ids for number in each), np.int64, int(lengths.sum())
        )
        arrays = {"input_ids": input_ids, "attention_mask": mask.astype(np.int64)}
        if rows.ngrams is not None:
            arrays["ngrams"] = rows.ngrams
        return arrays

    def _special(self, token: str) -> int:
        number = self.tokenizer.token_to_id(token)
        if number is None:
            raise ValueError(f"the tokenizer has no token {token}")
        return int(number)

    def _tokens(self, urls: Sequence[str]) -> list[list[int]]:
        texts = [prepare(url) for url in urls]
        encodings = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _joined(self, first: list[int], second: list[int]) -> list[int]:
        room = self.max_length - 3
        if len(first) + len(second) > room:
            half = room // 2
            first_room = max(room - len(second), room - half)
            first = shortened(first, first_room)
            second = shortened(second, room - len(first))
        return [self.begin, *first, self.end, *second, self.end]

    def _ngrams(self, urls: Sequence[str]) -> NDArray[np.int64] | None:
        return None if self.ngrams is None else ngram_table(urls, *self.ngrams)

    def _pair_ngrams(
        self, pairs: Sequence[tuple[str, str]], urls: Sequence[str]
    ) -> NDArray[np.int64] | None:
        """For a pair: the n-grams that only one of its URLs has, half the room for each."""
        if self.ngrams is None:
            return None
        sizes, buckets, most = self.ngrams
        table = ngram_table(urls, sizes, buckets, most)
        found = {url: row[row > 0].tolist() for url, row in zip(urls, table, strict=True)}
        result = np.zeros((len(pairs), most), dtype=np.int64)
        for number, (first, second) in enumerate(pairs):
            one, two = found[first], found[second]
            only_one, only_two = set(one).difference(two), set(two).difference(one)
            left = [each for each in one if each in only_one][: most // 2]
            right = [each for each in two if each in only_two][: most - most // 2]
            result[number, : len(left)] = left
            result[number, most // 2 : most // 2 + len(right)] = right
        return result


def shortened(tokens: list[int], room: int) -> list[int]:
    """Tokens without so much of their middle that they fit."""
    if len(tokens) <= room:
        return tokens
    tail = room // TAIL_SHARE
    return tokens[: room - tail] + tokens[len(tokens) - tail :]
