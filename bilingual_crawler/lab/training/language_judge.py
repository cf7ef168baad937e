"""The judge of languages: it weighs what several readers of a URL say, and what the URL announces.

Its weights are the same for every language, so it must be fitted to many. The tables have
announcements of few languages, and most of those of rare ones are from a handful of sites in dozens
of languages: without them, a judge takes `/te/docs/install` for English, since all readers do.
So it is also given URLs with codes put in (`augment.code_anywhere`).
"""

import math
from collections.abc import Iterator
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from bilingual_crawler.lab.training.examples import Examples
from bilingual_crawler.scoring.announcements import PLACES

HIDDEN = 24
LEAST = -12.0
"""Readings have log-probabilities; below this one they say no more than "hardly"."""
JUDGE_EPOCHS, JUDGE_STEPS, JUDGE_BATCH, JUDGE_RATE, JUDGE_DECAY = 15, 200, 512, 1e-2, 1.0
LIKELY, DRAWN = 12, 4
"""How many languages of a row the judge is fitted to: likely ones, and some of the others."""
CERTAIN = 30.0
"""A chance above all that readers give."""
CALM = 0.1
"""How far the judge's preference for single languages is held back."""


class LanguageJudge(nn.Module):
    """Weighs what readers and announcements say of each language, by the same weights for all."""

    def __init__(self, outputs: int, readers: int) -> None:
        super().__init__()
        self.outputs, self.readers = outputs, readers
        self.direct = nn.Linear(readers + len(PLACES), 1, bias=False)
        self.each = nn.Linear(readers + len(PLACES), HIDDEN)
        self.around = nn.Linear(readers + len(PLACES), HIDDEN, bias=False)
        self.last = nn.Linear(HIDDEN, 1)
        self.preference = nn.Parameter(torch.zeros(outputs))
        nn.init.zeros_(self.direct.weight)
        nn.init.zeros_(self.last.weight)
        with torch.no_grad():
            self.direct.weight[0, :readers] = 1 / readers

    def forward(self, read: Tensor, announced: Tensor) -> Tensor:
        """Return logits from log-probabilities [batch, readers, outputs] and announcements.

        `around` sees the same for the URL as a whole: where languages are announced at all, and
        how sure the readers are.
        """
        each, whole = self.heard(read, announced)
        return self.weighed(each, whole) + self.preference

    def heard(self, read: Tensor, announced: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is said of each language [batch, outputs, ways], and of the whole URL."""
        read = read.clamp(min=LEAST)
        said = torch.zeros(read.shape[0], len(PLACES) * self.outputs + 1, dtype=read.dtype)
        said = said.scatter(1, announced, 1.0)[:, 1:].reshape(-1, len(PLACES), self.outputs)
        each = torch.cat([read, said], dim=1).transpose(1, 2)
        return each, torch.cat([read.amax(dim=2), said.amax(dim=2)], dim=1)

    def weighed(self, each: Tensor, whole: Tensor) -> Tensor:
        """Return a logit for each language that is given, without the preference for it."""
        hidden = torch.relu(self.each(each) + self.around(whole).unsqueeze(1))
        return cast("Tensor", (self.direct(each) + self.last(hidden)).squeeze(2))


def fit(judge: LanguageJudge, read: Tensor, unseen: Examples, *, seed: int = 0) -> None:
    """Fit the judge to the readings of rows of sites that no reader was trained on.

    What it returns for such rows are then probabilities that can be multiplied: it is fitted by
    likelihood, with the rows weighted as they are. Its weights decay, but not the preference for
    single languages, which has a penalty of its own.

    Of each row it sees the languages that a reader or an announcement speaks for, `unknown`,
    the right one, and a few drawn from the rest, which stand for all of these. All languages of
    all rows would take ten times as long.
    """
    each, whole, languages = _some_languages(judge, read, unseen, seed)
    rest, drawn = judge.outputs - LIKELY, languages.shape[1] - LIKELY
    stands = torch.zeros(languages.shape[1])
    stands[LIKELY:] = math.log(rest / drawn) if drawn > 0 else 0.0
    targets = (languages == torch.from_numpy(unseen.targets).unsqueeze(1)).int().argmax(dim=1)
    weights = np.ones(len(unseen)) if unseen.weights is None else unseen.weights
    shares = torch.from_numpy((weights / weights.mean()).astype(np.float32))
    judge.requires_grad_(requires_grad=True)
    shared = [each for name, each in judge.named_parameters() if name != "preference"]
    optimizer = torch.optim.AdamW(
        [
            {"params": shared, "weight_decay": JUDGE_DECAY},
            {"params": [judge.preference], "weight_decay": 0.0},
        ],
        lr=JUDGE_RATE,
    )
    batches = math.ceil(len(unseen) / JUDGE_BATCH)
    epochs = max(JUDGE_EPOCHS, math.ceil(JUDGE_STEPS / batches))
    steps = epochs * batches
    for step, rows in enumerate(_drawn(len(unseen), epochs, seed)):
        for group in optimizer.param_groups:
            group["lr"] = JUDGE_RATE * max(0.02, 1 - step / steps)
        logits = judge.weighed(each[rows], whole[rows]) + judge.preference[languages[rows]] + stands
        losses = nn.functional.cross_entropy(logits, targets[rows], reduction="none")
        loss = (losses * shares[rows]).mean() + CALM * (judge.preference**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    judge.requires_grad_(requires_grad=False)


def _some_languages(
    judge: LanguageJudge, read: Tensor, rows: Examples, seed: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what is said of some languages of each row, what of the row, and which they are.

    The likely ones come first, then those drawn from the others.
    """
    dice = torch.Generator().manual_seed(seed)
    announced = torch.from_numpy(rows.variants[0]["announced"].astype(np.int64))
    targets = torch.from_numpy(rows.targets)
    count = min(LIKELY, judge.outputs)
    drawn = min(DRAWN, judge.outputs - count)
    found = []
    for some in torch.arange(len(rows)).split(JUDGE_BATCH):
        each, whole = judge.heard(read[some].float(), announced[some])
        said = each[..., judge.readers :].amax(dim=2)
        chance = each[..., : judge.readers].amax(dim=2) + CERTAIN * said
        chance[:, -1] = CERTAIN**2
        chance[torch.arange(len(some)), targets[some]] = CERTAIN**3
        best = chance.topk(count, dim=1).indices
        others = torch.rand(chance.shape, generator=dice).scatter(1, best, -1.0)
        best = torch.cat([best, others.topk(drawn, dim=1).indices], dim=1)
        places = best.unsqueeze(2).expand(-1, -1, each.shape[2])
        found.append((each.gather(1, places), whole, best))
    each, whole, best = (torch.cat(parts) for parts in zip(*found, strict=True))
    return each, whole, best


def _drawn(count: int, epochs: int, seed: int) -> Iterator[Tensor]:
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = torch.from_numpy(rng.permutation(count))
        yield from order.split(JUDGE_BATCH)
