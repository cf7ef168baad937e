"""The compact `url2lang` model: several readings of a URL, and a judge that weighs them.

Path and host are read as bags of n-grams and words, each alone and both together, the whole URL by
a small XLM-R, and everything, announcements too, by a linear model. All of them learn the names of
the sites they are trained on, and would drown what a URL announces openly. So what they say is
weighed against the announcements by a judge that is fitted to sites none of them has seen. Its
weights are the same for every language: what it learns of German codes holds for Maori ones.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse.linalg import svds
from torch import Tensor, nn

from bilingual_crawler.lab.training.compact import (
    Shape,
    start_embeddings,
    transformer_logits,
    transformer_of,
)
from bilingual_crawler.lab.training.examples import Batch, Examples
from bilingual_crawler.lab.training.language_judge import JUDGE_BATCH, LanguageJudge, fit
from bilingual_crawler.lab.training.linear import LinearModel
from bilingual_crawler.scoring.announcements import PLACES

PATH, HOST, WORDS = 48, 32, 32
LINEAR = {"ngrams": 48, "host": 32, "words": 32, "host_words": 32, "announced": 64}
"""The ranks to which the tables of the linear model are reduced, by input."""
HIDDEN = 128
DROPOUT, HIDDEN_NGRAMS, HIDDEN_PART = 0.2, 0.1, 0.06
"""Left out in training: units, n-grams, and the whole path or host of a URL."""
READ = ("input_ids", "attention_mask", "ngrams", "host", "announced", "words", "host_words")
"""The inputs of the graph, in its order."""


@dataclass(frozen=True, slots=True)
class LanguageShape:
    """The sizes of the model; without `layers` it has no transformer."""

    outputs: int
    path_buckets: int
    host_buckets: int
    words: int
    vocabulary: int = 16_000
    length: int = 32
    layers: int = 1

    @property
    def tables(self) -> dict[str, int]:
        """The size of the table of each input, in the order of a linear model's weights."""
        return {
            "ngrams": self.path_buckets,
            "host": self.host_buckets,
            "words": self.words,
            "host_words": self.words,
            "announced": len(PLACES) * self.outputs + 1,
        }

    @property
    def transformer(self) -> Shape:
        """The shape of the transformer."""
        return Shape(
            outputs=self.outputs,
            vocabulary=self.vocabulary,
            length=self.length,
            layers=self.layers,
            feed_forward=192,
        )


class NgramBag(nn.Module):
    """The sum of the vectors of n-grams, by the square root of their number."""

    def __init__(self, buckets: int, width: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(buckets, width, padding_idx=0)
        nn.init.normal_(self.vectors.weight, 0, 0.05)
        with torch.no_grad():
            self.vectors.weight[0] = 0

    def forward(self, ngrams: Tensor) -> Tensor:
        """Return one vector per row; 0 is padding."""
        if self.training:  # much faster in training, but not supported by ONNX
            ngrams = ngrams * (torch.rand(ngrams.shape) >= HIDDEN_NGRAMS)
            summed = nn.functional.embedding_bag(
                ngrams, self.vectors.weight, mode="sum", padding_idx=0
            )
            summed = summed * (torch.rand(len(summed), 1) >= HIDDEN_PART)
        else:
            summed = self.vectors(ngrams).sum(dim=1)
        return summed / (ngrams > 0).sum(dim=1, keepdim=True).clamp(min=1).float().sqrt()


class Reader(nn.Module):
    """Languages from a vector: a linear part, and one with a hidden layer."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, outputs)
        self.hidden = nn.Sequential(nn.Linear(width, HIDDEN), nn.GELU(), nn.Dropout(DROPOUT))
        self.last = nn.Linear(HIDDEN, outputs)

    def forward(self, vector: Tensor) -> Tensor:
        """Return logits."""
        return cast("Tensor", self.linear(vector) + self.last(self.hidden(vector)))


class LinearReader(nn.Module):
    """A linear model of all numbers of a URL, fitted elsewhere; its tables are reduced in rank.

    What a language's row of weights has in common with others is kept, at a quarter of the size.
    """

    def __init__(self, shape: LanguageShape) -> None:
        super().__init__()
        self.tables = nn.ModuleDict(
            {
                name: nn.Embedding(size, LINEAR[name], padding_idx=0)
                for name, size in shape.tables.items()
            }
        )
        self.last = nn.ModuleDict(
            {name: nn.Linear(LINEAR[name], shape.outputs, bias=False) for name in shape.tables}
        )
        self.bias = nn.Parameter(torch.zeros(shape.outputs))
        self.requires_grad_(requires_grad=False)

    def set(self, fitted: LinearModel) -> None:
        """Take over a fitted model, whose weights are in the order of the inputs."""
        start = 0
        for name, table in self.tables.items():
            assert isinstance(table, nn.Embedding)
            last = self.last[name]
            assert isinstance(last, nn.Linear)
            weights = fitted.weights[start : start + table.num_embeddings]
            start += table.num_embeddings
            rank = min(table.embedding_dim, min(weights.shape) - 1)
            left, strength, right = svds(weights, k=rank, random_state=0)
            nn.init.zeros_(table.weight)
            nn.init.zeros_(last.weight)
            with torch.no_grad():
                table.weight[:, :rank] = torch.from_numpy(left * np.sqrt(strength))
                last.weight[:, :rank] = torch.from_numpy((np.sqrt(strength)[:, None] * right).T)
                table.weight[0] = 0
        with torch.no_grad():
            self.bias.copy_(torch.from_numpy(fitted.bias))

    def forward(self, inputs: Batch) -> Tensor:
        """Return logits; rows have unit length, as in the fit."""
        numbers = [inputs[name] for name in self.tables]
        count = torch.stack([(each > 0).sum(dim=1) for each in numbers]).sum(dim=0)
        length = count.clamp(min=1).float().sqrt().unsqueeze(1)
        said = [
            self.last[name](self.tables[name](each).sum(dim=1))
            for name, each in zip(self.tables, numbers, strict=True)
        ]
        return torch.stack(said).sum(dim=0) / length + self.bias


class CompactUrl2Lang(nn.Module):
    """All readers and the judge."""

    def __init__(self, shape: LanguageShape) -> None:
        super().__init__()
        self.shape = shape
        self.path = NgramBag(shape.path_buckets, PATH)
        self.host = NgramBag(shape.host_buckets, HOST)
        self.words = NgramBag(shape.words, WORDS)
        self.dropout = nn.Dropout(DROPOUT)
        self.path_reader = Reader(PATH + WORDS, shape.outputs)
        self.host_reader = Reader(HOST + WORDS, shape.outputs)
        self.reader = Reader(PATH + HOST + 2 * WORDS, shape.outputs)
        self.transformer: Any = transformer_of(shape.transformer) if shape.layers else None
        self.linear = LinearReader(shape)
        self.judge = LanguageJudge(shape.outputs, readers=4 + bool(shape.layers))
        self.judge.requires_grad_(requires_grad=False)

    def forward(  # noqa: PLR0917 - the inputs of the graph, in its order
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        ngrams: Tensor,
        host: Tensor,
        announced: Tensor,
        words: Tensor,
        host_words: Tensor,
    ) -> Tensor:
        """Return the logits of the judge.

        In training, return those of the readers that learn, [batch, readers, outputs].
        """
        given = (input_ids, attention_mask, ngrams, host, announced, words, host_words)
        inputs = dict(zip(READ, given, strict=True))
        if self.training:
            return self._logits(inputs)
        return cast("Tensor", self.judge(self.readings(inputs), announced))

    def start_from(self, statistics: NDArray[np.float32]) -> None:
        """Initialise the token embeddings of the transformer with statistics of the tokens."""
        if self.transformer is not None:
            start_embeddings(self.transformer, statistics)

    def readings(self, inputs: Batch) -> Tensor:
        """Return the log-probabilities of all readers."""
        linear = self.linear(inputs).unsqueeze(1)
        return torch.cat([self._logits(inputs), linear], dim=1).log_softmax(dim=2)

    def _logits(self, inputs: Batch) -> Tensor:
        ids, mask, ngrams, host, _, words, host_words = (inputs[name] for name in READ)
        path = self.dropout(torch.cat([self.path(ngrams), self.words(words)], dim=1))
        name = self.dropout(torch.cat([self.host(host), self.words(host_words)], dim=1))
        read = [self.path_reader(path), self.host_reader(name)]
        if self.transformer is not None:
            read.append(transformer_logits(self.transformer, ids, mask))
        read.append(self.reader(torch.cat([path, name], dim=1)))
        return torch.stack(read, dim=1)


def fit_judge(model: CompactUrl2Lang, unseen: Examples, *, seed: int = 0) -> None:
    """Fit the judge to rows of sites that the readers were not trained on."""
    model.eval()
    rows = np.arange(len(unseen))
    read = torch.zeros(len(rows), model.judge.readers, model.shape.outputs).half()
    with torch.no_grad():
        for inputs, _, numbers in unseen.batches(rows, JUDGE_BATCH):
            read[torch.from_numpy(numbers)] = model.readings(inputs).half()
    fit(model.judge, read, unseen, seed=seed)
