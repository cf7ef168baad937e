"""The compact model: XLM-R's architecture made small, with hashed n-grams beside it.

The transformer reads the URL as a sequence of pieces from its own small vocabulary. What simpler
models already know goes straight to the output, so that it need not be learned again from little
data: for languages, a linear model of n-grams; for pairs, the numbers of `pair_features` and the
words of both URLs in one space for all languages.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import Tensor, nn
from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

from bilingual_crawler.lab.training.lexicon import NgramEncoder
from bilingual_crawler.languages import languages_of_token
from bilingual_crawler.scoring.pair_features import FEATURES

SPECIAL_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
"""In XLM-R's order, and so with its ids."""
PAD, END = 1, 2
KINDS = 7
START = 0.05
COMPARED, LEXICAL, LAST = 16, 12, 8
LATE = 0.7
"""How much less each word counts than the one after it: the end of a path says most."""
TOKEN_KINDS = 4
LEAST_SPREAD = 0.1
"""Assumed of a feature that hardly varies in training: elsewhere it would decide alone."""
WORD_MARK = "\N{LOWER ONE EIGHTH BLOCK}"
EQUAL = FEATURES.index("equal but for language tokens")
EXTRA_POSITIONS = 2  # XLM-R counts positions from the id of the padding plus one


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a compact model.

    `pair` compares two URLs; `width` is that of the space for words of all languages, which only
    pairs have.
    """

    outputs: int
    vocabulary: int = 16_000
    hidden: int = 96
    layers: int = 2
    heads: int = 4
    feed_forward: int = 256
    length: int = 32
    buckets: int = 65_536
    width: int = 32
    word_ngrams: int = 20
    dropout: float = 0.1
    pair: bool = False


class CompactModel(nn.Module):
    """A transformer with n-grams: its logits are the sum of the logits of all parts."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.transformer: Any = transformer_of(shape)
        self.comparison = PairInteraction(shape) if shape.pair else None
        self.trust = 0.0
        """What is added for URLs that are equal but for language tokens, once all is learned."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        ngrams: Tensor,
        features: Tensor | None = None,
    ) -> Tensor:
        """Return the logits of a batch; `ngrams` are padded with 0, `features` are for pairs."""
        found = match(input_ids) if self.comparison is not None else None
        kinds = None if found is None else found.kinds
        said = transformer_logits(self.transformer, input_ids, attention_mask, kinds)
        if self.comparison is not None and found is not None and features is not None:
            said = said + self.comparison(input_ids, found, ngrams, features)
            if self.trust:
                said = said + self.trust * features[:, EQUAL : EQUAL + 1]
        return said


class Match(NamedTuple):
    """How the tokens of two URLs match, as masks [batch, length] of 0.0 and 1.0.

    A token is `moved` if the other URL has it too, but with other neighbours: the same digits do
    not make the same number. `kinds` encodes all this for the transformer: 0 for special tokens,
    then alone, moved, same in the first URL and in the second. Tokens `before` stand up to two
    places before one that is alone, such as `lang` before `= 1`. `ends` [batch, 3 * LAST] counts
    alone, moved and same by distance from the end of the URL: the last part of a path says most.
    """

    first_only: Tensor
    second_only: Tensor
    moved: Tensor
    same: Tensor
    before: Tensor
    ends: Tensor
    kinds: Tensor


def match(input_ids: Tensor) -> Match:
    """Find the tokens of `<s> u </s> v </s>` that are in the other URL too.

    Two URLs are a pair by what they share, and equality is hard to learn for a small transformer;
    here it is a comparison of numbers.
    """
    ends = (input_ids == END).to(torch.int64)
    later = ends.cumsum(dim=1) - ends
    word = input_ids >= len(SPECIAL_TOKENS)
    first, second = (word & (later == 0)).float(), (word & (later == 1)).float()
    equal = (input_ids.unsqueeze(2) == input_ids.unsqueeze(1)).float()
    across = equal * (
        first.unsqueeze(2) * second.unsqueeze(1) + second.unsqueeze(2) * first.unsqueeze(1)
    )
    follows = nn.functional.pad(equal[:, :-1, :-1], (1, 0, 1, 0))
    leads = nn.functional.pad(equal[:, 1:, 1:], (0, 1, 0, 1))
    found = (across.sum(dim=2) > 0).float()
    same = ((across * (follows + leads)).sum(dim=2) > 0).float()
    moved = found * (1 - same)
    alone = 1 - found
    kinds = first * (1 + found + same) + second * (4 + found + same)
    lonely = (first + second) * alone
    near = nn.functional.pad(lonely[:, 1:], (0, 1)) + nn.functional.pad(lonely[:, 2:], (0, 2))
    before = same * (near > 0).float()
    ends = torch.cat(
        [_by_place(first, each) + _by_place(second, each) for each in (lonely, moved, same)], dim=1
    )
    return Match(first * alone, second * alone, moved, same, before, ends, kinds.to(torch.int64))


def _by_place(url: Tensor, values: Tensor) -> Tensor:
    """Sum values over the last tokens of a URL, with one column per distance from its end."""
    after = url.sum(dim=1, keepdim=True) - url.cumsum(dim=1)
    place = (after.unsqueeze(2) == torch.arange(LAST, device=url.device)).float()
    return ((url * values).unsqueeze(2) * place).sum(dim=1)


class PairInteraction(nn.Module):
    """Combines the features, the tokens in one or both URLs, and the words.

    Language codes in only one URL are harmless; most other words are not, unless they translate
    each other. Summed over the tokens, and the same for both orders of a pair, this is easy to
    learn and holds for unseen sites.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, COMPARED)
        self.before = nn.Embedding(shape.vocabulary, COMPARED)
        self.kinds = nn.Embedding(shape.vocabulary, TOKEN_KINDS)
        self.kinds.requires_grad_(requires_grad=False)
        nn.init.zeros_(self.kinds.weight)
        self.lexicon = NgramEncoder(shape.buckets, shape.width)
        self.word_ngrams = shape.word_ngrams
        self.mean = nn.Parameter(torch.zeros(len(FEATURES)), requires_grad=False)
        self.spread = nn.Parameter(torch.ones(len(FEATURES)), requires_grad=False)
        inputs = 5 * COMPARED + 4 * TOKEN_KINDS + 3 * LAST
        self.read = nn.Sequential(nn.Linear(inputs, shape.hidden), nn.GELU())
        self.compare = nn.Sequential(
            nn.Linear(len(FEATURES) + LEXICAL, shape.hidden), nn.GELU(), nn.Dropout(shape.dropout)
        )
        self.join = nn.Sequential(
            nn.Linear(2 * shape.hidden, shape.hidden), nn.GELU(), nn.Dropout(shape.dropout)
        )
        self.last = nn.Linear(shape.hidden, shape.outputs)
        for tokens in (self.tokens, self.before):
            nn.init.normal_(tokens.weight, 0, 0.02)  # unseen words then have no influence

    def know(self, kinds: Tensor, features: NDArray[np.float32]) -> None:
        """Set what is known before training: the kinds of tokens, and how features spread."""
        with torch.no_grad():
            self.kinds.weight.copy_(kinds)
            self.mean.copy_(torch.from_numpy(features.mean(axis=0)))
            spread = np.maximum(features.std(axis=0), LEAST_SPREAD)
            self.spread.copy_(torch.from_numpy(spread))

    def forward(self, input_ids: Tensor, found: Match, ngrams: Tensor, features: Tensor) -> Tensor:
        """Return the logits of a batch."""
        tokens = self.tokens(input_ids)
        first = (tokens * found.first_only.unsqueeze(2)).sum(dim=1)
        second = (tokens * found.second_only.unsqueeze(2)).sum(dim=1)
        moved = (tokens * found.moved.unsqueeze(2)).sum(dim=1)
        same = (tokens * found.same.unsqueeze(2)).sum(dim=1) / 2
        before = (self.before(input_ids) * found.before.unsqueeze(2)).sum(dim=1)
        bags = [first + second, first * second, moved, same, before]
        read = self.read(torch.cat([*bags, self.by_kind(input_ids, found), found.ends], dim=1))
        known = torch.cat([(features - self.mean) / self.spread, self.likeness(ngrams)], dim=1)
        return cast("Tensor", self.last(self.join(torch.cat([read, self.compare(known)], dim=1))))

    def likeness(self, ngrams: Tensor) -> Tensor:
        """Return how similar the words of both URLs are across languages, and their amount.

        All words of one URL are compared with all of the other, as two texts, and each word with
        the most similar word of the other URL.
        """
        count = ngrams.shape[0]
        ids = ngrams.reshape(-1, self.word_ngrams)
        vectors, weights = self.lexicon(ids)
        vectors = vectors.reshape(count, 2, -1, vectors.shape[1])
        weights = weights.reshape(count, 2, -1)
        one, two = vectors[:, 0].sum(dim=1), vectors[:, 1].sum(dim=1)
        much, more = weights[:, 0].sum(dim=1), weights[:, 1].sum(dim=1)
        lengths = (one * one).sum(dim=1) * (two * two).sum(dim=1)
        cosine = (one * two).sum(dim=1) / (lengths + 1e-6).sqrt()
        least, most = torch.minimum(much, more).log1p(), torch.maximum(much, more).log1p()
        whole = torch.stack([cosine * 2, cosine * least, least, most], dim=1)
        return torch.cat([whole, self.word_by_word(vectors, weights)], dim=1)

    @staticmethod
    def word_by_word(vectors: Tensor, weights: Tensor) -> Tensor:
        """Return how well the words of each URL find translations in the other, in several ways.

        Words come last first. `vectors` are [pairs, 2, words, width], `weights` [pairs, 2, words];
        a word that is not there has no weight.
        """
        there = (weights > 0).float()
        units = vectors / ((vectors * vectors).sum(dim=3, keepdim=True) + 1e-6).sqrt()
        table = units[:, 0] @ units[:, 1].transpose(1, 2)
        both = there[:, 0].unsqueeze(2) * there[:, 1].unsqueeze(1)
        table = table * both - (1 - both)
        best = torch.stack([table.amax(dim=2), table.amax(dim=1)], dim=1).clamp(min=0) * there
        words = there.sum(dim=2)
        late = there * LATE ** torch.arange(there.shape[2], dtype=there.dtype)
        importance = weights.log1p()
        means = [
            (best * share).sum(dim=2) / (share.sum(dim=2) + 1e-6)
            for share in (there, late, importance)
        ]
        worst = 1 - ((1 - best) * there).amax(dim=2)
        last = best[:, :, 0] * 2
        found = [*means, worst, last]
        low = [each.amin(dim=1) * 2 for each in found]
        return torch.stack(
            [
                *low,
                means[0].amax(dim=1) * 2,
                last.amax(dim=1),
                (words[:, 0] - words[:, 1]).abs().log1p(),
            ],
            dim=1,
        )

    def by_kind(self, input_ids: Tensor, found: Match) -> Tensor:
        """Return how much of each kind of token is alone, moved and the same."""
        kinds = self.kinds(input_ids)
        first, second, moved, same = (
            torch.log1p((kinds * each.unsqueeze(2)).sum(dim=1))
            for each in (found.first_only, found.second_only, found.moved, found.same)
        )
        return torch.cat([first + second, (first - second).abs(), moved, same], dim=1)


def transformer_of(shape: Shape) -> Any:
    """Return an XLM-R of that shape, with random weights."""
    return XLMRobertaForSequenceClassification(_transformer_config(shape))


def transformer_logits(
    transformer: Any, input_ids: Tensor, mask: Tensor, kinds: Tensor | None = None
) -> Tensor:
    """Return the logits of an XLM-R.

    The last layer is computed for the first token alone, since nothing reads its results for the
    others: the answers are the same, and a step of training takes half as long. Graphs are exported
    whole, and `keep_first_token` then does the same.
    """
    if torch.onnx.is_in_onnx_export():
        whole = transformer(input_ids=input_ids, attention_mask=mask, token_type_ids=kinds)
        return cast("Tensor", whole.logits)
    hidden = transformer.roberta.embeddings(input_ids=input_ids, token_type_ids=kinds)
    hidden_tokens = (1.0 - mask[:, None, None, :].to(hidden.dtype)) * torch.finfo(hidden.dtype).min
    *layers, last = transformer.roberta.encoder.layer
    for layer in layers:
        hidden = layer(hidden, hidden_tokens)
    return cast("Tensor", transformer.classifier(_first_token(last, hidden, hidden_tokens)))


def _first_token(layer: Any, hidden: Tensor, hidden_tokens: Tensor) -> Tensor:
    """Return what a layer makes of the first token, [rows, 1, width]."""
    reads = layer.attention.self
    rows, _, width = hidden.shape
    heads = reads.num_attention_heads

    def by_head(values: Tensor) -> Tensor:
        return values.view(rows, -1, heads, width // heads).transpose(1, 2)

    first = hidden[:, :1]
    query, key, value = (
        by_head(part(given))
        for part, given in ((reads.query, first), (reads.key, hidden), (reads.value, hidden))
    )
    scores = query @ key.transpose(2, 3) * reads.scaling + hidden_tokens
    shares = reads.dropout(scores.softmax(dim=3))
    read = (shares @ value).transpose(1, 2).reshape(rows, 1, width)
    return cast("Tensor", layer.feed_forward_chunk(layer.attention.output(read, first)))


def start_embeddings(transformer: Any, statistics: NDArray[np.float32]) -> None:
    """Initialise token embeddings with what each token says about the classes, reduced in width."""
    embeddings = transformer.roberta.embeddings.word_embeddings.weight
    left, strength, _ = np.linalg.svd(statistics, full_matrices=False)
    short = left[:, : embeddings.shape[1]] * strength[: embeddings.shape[1]]
    short *= START / max(float(short.std()), 1e-9)
    with torch.no_grad():
        embeddings[: short.shape[0], : short.shape[1]] = torch.from_numpy(short)


def _transformer_config(shape: Shape) -> XLMRobertaConfig:
    options: dict[str, Any] = {"num_labels": shape.outputs, "attn_implementation": "eager"}
    return XLMRobertaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.feed_forward,
        max_position_embeddings=shape.length + EXTRA_POSITIONS,
        type_vocab_size=KINDS if shape.pair else 1,
        hidden_dropout_prob=shape.dropout,
        attention_probs_dropout_prob=shape.dropout,
        classifier_dropout=shape.dropout,
        pad_token_id=PAD,
        bos_token_id=0,
        eos_token_id=2,
        **options,
    )


def token_kinds(tokenizer: Tokenizer) -> Tensor:
    """Return the kind of every token: a language's name, digits, letters or a sign.

    A name of a language counts once; digits and letters count by length, as a long number or word
    that two URLs share says more than a short one.
    """
    table = torch.zeros(tokenizer.get_vocab_size(), TOKEN_KINDS)
    for token, number in tokenizer.get_vocab().items():
        word = token.replace(WORD_MARK, "")
        if number < len(SPECIAL_TOKENS) or not word:
            continue
        if token.startswith(WORD_MARK) and languages_of_token(word):
            table[number, 0] = 1
        elif word.isdigit():
            table[number, 1] = len(word)
        elif word.isalpha():
            table[number, 2] = len(word)
        else:
            table[number, 3] = 1
    return table


def train_tokenizer(texts: Iterable[str], vocabulary: int, *, digits: bool) -> Tokenizer:
    """Train a unigram vocabulary on prepared URLs.

    Case means nothing in a URL. Hyphens and the like only separate words, and would be half of a
    long URL, so they go; slashes and dots stay, since the place of a word says much. Without
    `digits` all numbers become one: numbers say nothing about a language.
    """
    tokenizer = Tokenizer(models.Unigram())
    steps: list[normalizers.Normalizer] = [normalizers.NFKC(), normalizers.Lowercase()]
    if not digits:
        steps.append(normalizers.Replace(Regex(r"\d+"), "0"))
    steps += [
        normalizers.Replace(Regex(r"^www \. "), ""),
        normalizers.Replace(Regex(" [-_+~,] "), " "),
    ]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL_TOKENS),
        unk_token="<unk>",  # noqa: S106 - a token of the vocabulary
        max_piece_length=16,
        shrinking_factor=0.75,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer
