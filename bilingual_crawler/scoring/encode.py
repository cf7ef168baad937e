"""From URLs to the numbers a model takes, the same for training, evaluation and crawling.

A URL becomes `<s> u </s>`, a pair `<s> u </s> v </s>`. Half of all URLs are longer than a fast
model can read, so the middle is left out: sites name the language at the front (`es.`, `/es/`) or
at the very end (`?lang=es`, `_es.html`). Models of the authors of SBFC were trained on rows that
simply stop, so theirs do here. Of a pair, a model that compares gets only what follows a shared
host, the n-grams of the words that only one URL has, and the numbers of `pair_features`. With
`word_ngrams` these n-grams are kept apart by word, so that words can be compared one by one.
"""

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bilingual_crawler.scoring.announcements import UrlReading, read_url
from bilingual_crawler.scoring.pair_features import lone_words, pair_features
from bilingual_crawler.scoring.preprocess import PREPROCESSINGS, SBFC, ngram_table

BEGIN, END, PADDING = "<s>", "</s>", "<pad>"
_AUTHORITY = re.compile(r"\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//([^/?#]*)")
TAIL_SHARE = 4
"""One in this many tokens of a shortened URL is from its end."""

Arrays = dict[str, NDArray[Any]]


class Ngrams(NamedTuple):
    """Which hashed character n-grams a model takes besides the tokens."""

    sizes: tuple[int, ...]
    buckets: int
    most: int


class Announced(NamedTuple):
    """How a model takes the host and the announcements of a URL, besides the n-grams of its path.

    An announcement is the number of its place and label, `place * labels + label + 1`. Words are
    hashed like n-grams, into as many numbers as `words` says.
    """

    host: Ngrams
    words: int
    labels: tuple[str, ...]


MOST_ANNOUNCED, MOST_WORDS, MOST_HOST_WORDS = 32, 48, 16
"""What is read of one URL; a real one has six announcements, eleven words and four of its host."""


FURTHER = ("host", "announced", "words", "host_words")
"""The inputs of a model that is given what a URL announces, besides tokens and n-grams."""


class Rows(NamedTuple):
    """URLs or pairs as token ids of different lengths, and what else a model needs of them."""

    ids: list[list[int]]
    ngrams: NDArray[np.int64] | None = None
    features: NDArray[np.float32] | None = None
    host: NDArray[np.int64] | None = None
    announced: NDArray[np.int64] | None = None
    words: NDArray[np.int64] | None = None
    host_words: NDArray[np.int64] | None = None

    def take(self, numbers: Sequence[int]) -> Self:
        """Return some of the rows, in the order of their indexes."""
        chosen = list(numbers)
        arrays: dict[str, Any] = {
            name: values[chosen]
            for name, values in zip(self._fields[1:], self[1:], strict=True)
            if values is not None
        }
        return self._replace(ids=[self.ids[number] for number in numbers], **arrays)


class UrlEncoder:
    """Encodes URLs and pairs of URLs for the model that a tokenizer belongs to."""

    def __init__(
        self,
        tokenizer: Tokenizer | str | Path,
        max_length: int,
        ngrams: Ngrams | None = None,
        *,
        compares: bool = False,
        announced: Announced | None = None,
        preprocessing: str = SBFC,
        word_ngrams: int = 0,
    ) -> None:
        if not isinstance(tokenizer, Tokenizer):
            tokenizer = Tokenizer.from_file(str(tokenizer))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.ngrams = ngrams
        self.compares = compares
        self.announced = announced
        self.word_ngrams = word_ngrams
        self._columns = (
            {code: place for place, code in enumerate(announced.labels, 1)} if announced else {}
        )
        self.preprocessing = preprocessing
        self._prepare, self._keeps_ends = PREPROCESSINGS[preprocessing]
        self.begin, self.end, self.padding = map(self._special, (BEGIN, END, PADDING))

    def encode(self, urls: Sequence[str]) -> Arrays:
        """Return `input_ids`, `attention_mask` and further inputs, padded to the longest row."""
        return self.pad(self.rows(urls))

    def encode_pairs(self, pairs: Sequence[tuple[str, str]]) -> Arrays:
        """Return the same for pairs of URLs."""
        return self.pad(self.pair_rows(pairs))

    def rows(self, urls: Sequence[str]) -> Rows:
        """Return URLs before padding, so that a caller can group them by length."""
        room = self.max_length - 2
        cut = shortened if self._keeps_ends else _beginning
        ids = [[self.begin, *cut(each, room), self.end] for each in self._tokens(urls)]
        if self.announced is None or self.ngrams is None:
            return Rows(ids, self._ngrams(urls))
        read = [read_url(url) for url in urls]
        return Rows(
            ids,
            ngram_table([each.path for each in read], *self.ngrams),
            host=ngram_table([each.host for each in read], *self.announced.host),
            announced=self._announced(read),
            words=_hashed([each.words for each in read], self.announced.words, MOST_WORDS),
            host_words=_hashed(
                [each.host_words for each in read], self.announced.words, MOST_HOST_WORDS
            ),
        )

    def pair_rows(
        self, pairs: Sequence[tuple[str, str]], features: NDArray[np.float32] | None = None
    ) -> Rows:
        """Return pairs before padding; each distinct URL is read once.

        A caller that has compared the pairs before gives their `features`.
        """
        texts = [_without_shared_host(*pair) if self.compares else pair for pair in pairs]
        urls = list(dict.fromkeys(url for pair in texts for url in pair))
        tokens = dict(zip(urls, self._tokens(urls), strict=True))
        ids = [self._joined(tokens[first], tokens[second]) for first, second in texts]
        if features is None and self.compares:
            features = pair_features(pairs)
        return Rows(ids, self._pair_ngrams(pairs), features)

    def pad(self, rows: Rows) -> Arrays:
        """Return rows as arrays for onnxruntime, and for torch after `from_numpy`.

        Tokens and n-grams have as many columns as the longest row, no more.
        """
        lengths = np.array([len(each) for each in rows.ids], dtype=np.int64)
        longest = int(lengths.max(initial=0))
        mask = np.arange(longest) < lengths[:, np.newaxis]
        input_ids = np.full(mask.shape, self.padding, dtype=np.int64)
        input_ids[mask] = np.fromiter(chain.from_iterable(rows.ids), np.int64, int(lengths.sum()))
        arrays: Arrays = {"input_ids": input_ids, "attention_mask": mask.astype(np.int64)}
        if rows.ngrams is not None:
            arrays["ngrams"] = self._used_ngrams(rows.ngrams)
        if rows.features is not None:
            arrays["features"] = rows.features
        for name in FURTHER:
            values = getattr(rows, name)
            if values is not None:
                arrays[name] = _used(values)
        return arrays

    def _special(self, token: str) -> int:
        number = self.tokenizer.token_to_id(token)
        if number is None:
            raise ValueError(f"the tokenizer has no token {token}")
        return int(number)

    def _tokens(self, urls: Sequence[str]) -> list[list[int]]:
        texts = [self._prepare(url) for url in urls]
        encodings = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _joined(self, first: list[int], second: list[int]) -> list[int]:
        if not self._keeps_ends:
            both = [*first, self.end, *second]
            return [self.begin, *_beginning(both, self.max_length - 2), self.end]
        room = self.max_length - 3
        if len(first) + len(second) > room:
            half = room // 2
            first_room = max(room - len(second), room - half)
            first = shortened(first, first_room)
            second = shortened(second, room - len(first))
        return [self.begin, *first, self.end, *second, self.end]

    def _ngrams(self, urls: Sequence[str]) -> NDArray[np.int64] | None:
        return None if self.ngrams is None else ngram_table(urls, *self.ngrams)

    def _announced(self, read: Sequence[UrlReading]) -> NDArray[np.int64]:
        """Return the announcements of known languages as numbers, then zeros."""
        labels = len(self._columns)
        table = np.zeros((len(read), MOST_ANNOUNCED), dtype=np.int64)
        for row, each in zip(table, read, strict=True):
            found = [
                place * labels + self._columns[code]
                for place, code in each.announced
                if code in self._columns
            ][:MOST_ANNOUNCED]
            row[: len(found)] = found
        return table

    def _pair_ngrams(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int64] | None:
        """Return the n-grams of words that only the first or second URL has.

        They are [pairs, 2, most / 2], or [pairs, 2, words, word_ngrams] with the last word first:
        the end of a path says most, and a very long one loses its beginning.
        """
        if self.ngrams is None:
            return None
        sizes, buckets, most = self.ngrams
        texts = [text for pair in pairs for text in lone_words(*pair)]
        if not self.word_ngrams:
            return ngram_table(texts, sizes, buckets, most // 2).reshape(len(pairs), 2, most // 2)
        most_words = most // 2 // self.word_ngrams
        words = [text.split()[: -most_words - 1 : -1] for text in texts]
        distinct = list(dict.fromkeys(word for row in words for word in row))
        numbers = {word: number for number, word in enumerate(distinct, 1)}
        each = np.zeros((len(distinct) + 1, self.word_ngrams), dtype=np.int64)
        each[1:] = ngram_table([f" {word} " for word in distinct], sizes, buckets, self.word_ngrams)
        places = np.zeros((len(texts), most_words), dtype=np.int64)
        for row, found in zip(places, words, strict=True):
            row[: len(found)] = [numbers[word] for word in found]
        return each[places].reshape(len(pairs), 2, most_words, self.word_ngrams)

    def _used_ngrams(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return n-grams as one row per URL or pair, without columns that are 0 in every row."""
        if self.word_ngrams:
            used = max(1, int((table > 0).any(axis=-1).sum(axis=-1).max(initial=0)))
            return table[:, :, :used].reshape(len(table), -1)
        used = max(1, int((table > 0).sum(axis=-1).max(initial=0)))
        return table[..., :used].reshape(len(table), used * (table.ndim - 1))


def _hashed(rows: Sequence[Sequence[str]], buckets: int, most: int) -> NDArray[np.int64]:
    """Return words as numbers, the same everywhere and always: the first `most`, then zeros."""
    table = np.zeros((len(rows), most), dtype=np.int64)
    for row, words in zip(table, rows, strict=True):
        found = [
            crc32(word.encode("utf-8", "replace")) % (buckets - 1) + 1 for word in words[:most]
        ]
        row[: len(found)] = found
    return table


def _used(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a table without the columns at its end that are empty in every row."""
    return table[:, : max(1, int((table > 0).sum(axis=1).max(initial=0)))]


def _without_shared_host(first: str, second: str) -> tuple[str, str]:
    """Return two URLs, or what follows their host if it is the same: most links stay on a site."""
    one, two = _AUTHORITY.match(first), _AUTHORITY.match(second)
    if one and two and one[1].lower() == two[1].lower():
        return first[one.end() :], second[two.end() :]
    return first, second


def _beginning(tokens: list[int], room: int) -> list[int]:
    return tokens[:room]


def shortened(tokens: list[int], room: int) -> list[int]:
    """Return tokens without so much of their middle that they fit."""
    if len(tokens) <= room:
        return tokens
    tail = room // TAIL_SHARE
    return tokens[: room - tail] + tokens[len(tokens) - tail :]
