"""Words of many languages in one space, so that `about-us` lies beside `sobre-nosotros`.

The vectors of hashed n-grams are learned from a table of short phrases and their translations: both
sides of a row are pulled together, and all other rows of a batch are pushed away.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bilingual_crawler.scoring.encode import Ngrams
from bilingual_crawler.scoring.pair_features import folded
from bilingual_crawler.scoring.preprocess import ngram_table
from bilingual_crawler.store.input_files import open_text

BATCH = 1024
RATE = 8e-3
HIDDEN = 0.1
"""The share of n-grams left out in training, so that the model relies on no single one."""
COMMON = -0.5
"""Exponent of a language's size in how often each row is drawn: large ones do not dominate."""
LANGUAGE_CAP = 40_000
READ_CAP = 60_000
"""The rows that are read of a language: a tenth and more of them say nothing or the same."""
AT_ONCE = 20_000
PHRASE_NGRAMS = 64
"""The most n-grams of a phrase that are read."""
DRAWN = 200
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = (
    {
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "ß": "ss",
        "å": "aa",
        "ø": "oe",
        "æ": "ae",
        "þ": "th",
        "ð": "d",
    }
    | {"ł": "l", "đ": "d", "ı": "i", "ħ": "h", "œ": "oe"}  # noqa: RUF001 - Turkish
    | dict(zip("абвгдезийклмнопрстуфхыэіїєґўјѝ", "abvgdeziyklmnoprstufhyeiieguji", strict=True))
    | {"ж": "zh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sch", "ю": "yu", "я": "ya", "ё": "e"}
    | {"ъ": "", "ь": "", "љ": "lj", "њ": "nj", "ћ": "c", "ђ": "dj", "џ": "dz"}
    | dict(zip("αβγδεζηικλμνξοπρσςτυφωάέήίόύώϊϋ", "avgdeziiklmnxoprsstyfoaeiioyoiy", strict=True))
    | {"θ": "th", "χ": "ch", "ψ": "ps"}
)
_TO_LATIN = str.maketrans(_LATIN)
"""How slugs usually write letters that are not ASCII: `ueber-uns`, `o-nas`, `epikoinonia`."""

Ids = NDArray[np.int32]


class NgramEncoder(nn.Module):
    """A vector and a weight for every n-gram; a text is their weighted sum."""

    def __init__(self, buckets: int, width: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(buckets, width, padding_idx=0)
        self.weights = nn.Embedding(buckets, 1)
        nn.init.normal_(self.vectors.weight, 0, 0.1)
        nn.init.zeros_(self.weights.weight)
        with torch.no_grad():
            self.vectors.weight[0] = 0

    def forward(self, ngrams: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors of texts and their total weights; 0 is padding."""
        weights = nn.functional.softplus(self.weights(ngrams)) * (ngrams > 0).unsqueeze(2)
        if self.training:  # the same result, much faster in training, but not supported by ONNX
            each = weights.squeeze(2)
            vectors = nn.functional.embedding_bag(
                ngrams, self.vectors.weight, per_sample_weights=each, mode="sum"
            )
            return vectors, weights.sum(dim=1)
        return (self.vectors(ngrams) * weights).sum(dim=1), weights.sum(dim=1)


class Phrases(NamedTuple):
    """Translated phrases as indexes into two lists of texts, with a sampling share per row."""

    texts: tuple[list[str], list[str]]
    rows: tuple[NDArray[np.int64], NDArray[np.int64]]
    shares: NDArray[np.float64]


def read_phrases(paths: Iterable[Path]) -> Phrases:
    """Read rows `language, English, translation`, separated by tabs; broken rows are skipped.

    Of a language with far more rows than are kept, not all are read.
    """
    paths = list(paths)
    counts = Counter(language for language, _, _ in _lines(paths))
    rng = random.Random(0)  # noqa: S311 - a sample, not a secret
    english: dict[str, int] = {}
    others: dict[str, int] = {}
    rows: dict[tuple[int, int], str] = {}
    for language, one, two in _lines(paths):
        if rng.random() * counts[language] > READ_CAP:
            continue
        left = as_words(one)
        latin = in_latin(two)
        for right in {as_words(each): None for each in dict.fromkeys((two.lower(), latin))}:
            if left.strip() and right.strip() and left != right:
                numbers = (
                    english.setdefault(left, len(english)),
                    others.setdefault(right, len(others)),
                )
                rows.setdefault(numbers, language)
    languages = np.array(list(rows.values()))
    pairs = np.array(list(rows), dtype=np.int64).reshape(-1, 2)
    kept = _thinned(languages)
    count = Counter(languages[kept].tolist())
    shares = np.array([count[language] ** COMMON for language in languages[kept].tolist()])
    return Phrases(
        (list(english), list(others)),
        (pairs[kept, 0], pairs[kept, 1]),
        shares / max(shares.sum(), 1e-9),
    )


def _thinned(languages: NDArray[np.str_]) -> NDArray[np.int64]:
    """Return row numbers, capped per language: one has a million, most have a few thousand."""
    rng = np.random.default_rng(0)
    every = (np.flatnonzero(languages == language) for language in np.unique(languages))
    drawn = [rng.permutation(rows)[:LANGUAGE_CAP] for rows in every]
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *drawn]))


def _lines(paths: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    for path in paths:
        with open_text(path) as lines:
            for line in lines:
                fields = line.rstrip("\n").split("\t")
                if len(fields) == 3:  # noqa: PLR2004 - the columns named above
                    yield fields[0], fields[1], fields[2]


def as_words(text: str) -> str:
    """Return a phrase as words of a slug: without accents, a space around each word."""
    return f" {' '.join(_WORD.findall(folded(text.lower())))} "


def in_latin(text: str) -> str:
    """Return a text as slugs transliterate it; letters of other scripts stay as they are."""
    return text.lower() if text.isascii() else text.lower().translate(_TO_LATIN)


def fit_lexicon(
    phrases: Phrases,
    ngrams: Ngrams,
    width: int,
    *,
    passes: float = 1.5,
    seed: int = 0,
    show: Callable[[int, int, float], None] = lambda *_: None,
) -> NgramEncoder:
    """Learn the vectors; `show` is called with step, steps and loss."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    lexicon = NgramEncoder(ngrams.buckets, width)
    sharpness = nn.Parameter(torch.tensor(2.5))
    tables = [_table(texts, ngrams) for texts in phrases.texts]
    steps = max(1, round(passes * len(phrases.shares) / BATCH))
    optimizer = torch.optim.Adam([*lexicon.parameters(), sharpness], lr=RATE, fused=True)
    rates = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, RATE, total_steps=steps + 2, pct_start=0.1
    )
    size = min(BATCH, len(phrases.shares))
    for step in range(steps):
        if step % DRAWN == 0:
            drawn = rng.choice(len(phrases.shares), (DRAWN, size), p=phrases.shares)
        chosen = drawn[step % DRAWN]
        left, right = (numbers[chosen] for numbers in phrases.rows)
        one = _unit(lexicon, tables[0][left], rng)
        two = _unit(lexicon, tables[1][right], rng)
        alike = (left[:, None] == left) | (right[:, None] == right)
        np.fill_diagonal(alike, val=False)
        scores = (one @ two.T * sharpness.exp()).masked_fill(torch.from_numpy(alike), -1e4)
        wanted = torch.arange(size)
        loss = nn.functional.cross_entropy(scores, wanted)
        loss = loss + nn.functional.cross_entropy(scores.T, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rates.step()
        show(step + 1, steps, float(loss.detach()) / 2)
    return lexicon


def _table(texts: list[str], ngrams: Ngrams) -> Ids:
    table = np.zeros((len(texts), PHRASE_NGRAMS), dtype=np.int32)
    for start in range(0, len(texts), AT_ONCE):
        part = texts[start : start + AT_ONCE]
        table[start : start + len(part)] = ngram_table(
            part, ngrams.sizes, ngrams.buckets, PHRASE_NGRAMS
        )
    return table


def _unit(lexicon: NgramEncoder, ids: Ids, rng: np.random.Generator) -> Tensor:
    ids = ids[:, : max(1, int((ids > 0).sum(axis=1).max()))]
    kept = ids * (rng.random(ids.shape) >= HIDDEN)
    vectors, _ = lexicon(torch.from_numpy(kept.astype(np.int64)))
    return nn.functional.normalize(vectors, dim=1)
