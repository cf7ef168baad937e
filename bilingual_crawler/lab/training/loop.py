"""Fit a model: SBFC's optimiser and schedule, early stopping, and resuming after a kill."""

import math
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.training.examples import Batch, Examples
from bilingual_crawler.store.durable import replacing

FOLD = 1_000_000
EVALUATION_BATCH = 512
READERS = 3
CANNOT_RESUME = (
    RuntimeError,
    ValueError,
    KeyError,
    AttributeError,
    EOFError,
    pickle.UnpicklingError,
)
"""What reading a checkpoint raises that is damaged, or of another model or version."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a model is fitted; the defaults are those of SBFC for XLM-R base.

    `decay` is `inverse_sqrt` (without an end, until patience runs out) or `cosine` (down to zero
    over all `epochs`). `epoch_size` is the number of examples drawn per epoch where they are
    weighted.
    """

    epochs: int = 50
    batch: int = 32
    rate: float = 1e-5
    patience: int = 5
    warm_up: float = 0.1
    decay: str = "inverse_sqrt"
    weight_decay: float = 0.01
    smoothing: float = 0.0
    epoch_size: int = 0
    fold: int = FOLD
    seed: int = 0
    checkpoint_seconds: float = 60.0


@dataclass(slots=True)
class FitProgress:
    """The progress of a fit, shown by the progress bar and kept in the checkpoint.

    `warm_up` and `total` are numbers of steps, fixed when the fit begins: later epochs may be
    longer, and a resumed fit must not start another schedule.
    """

    epoch: int = 0
    step: int = 0
    steps: int = 0
    done: int = 0
    loss: float = 0.0
    score: float = 0.0
    best: float = -1.0
    waited: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    warm_up: int = 0
    total: int = 0


Measure = Callable[[NDArray[np.float32], NDArray[np.int64]], float]
Show = Callable[[FitProgress], None]


class Fit:
    """The fit of one model on a device, with its checkpoint file."""

    def __init__(
        self,
        model: nn.Module,
        schedule: Schedule,
        measure: Measure,
        checkpoint: Path,
        show: Show = lambda _: None,
    ) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.schedule = schedule
        self.measure = measure
        self.checkpoint = checkpoint
        self.show = show
        self.progress = FitProgress()
        self._best: dict[str, Tensor] = {}
        self._optimizer = torch.optim.AdamW(
            model.parameters(),
            lr=schedule.rate,
            betas=(0.9, 0.999),
            eps=1e-8,
            weight_decay=schedule.weight_decay,
            fused=True,
        )
        self._scaler = torch.amp.GradScaler("cuda", enabled=self.device.type == "cuda")
        self._saved = time.monotonic()

    def run(self, train: Examples, dev: Examples) -> FitProgress:
        """Fit until patience or the epochs run out; the model then has its best weights."""
        at = self.progress
        if not at.warm_up:
            at.warm_up, at.total = planned_steps(self.schedule, train)
        while at.epoch < self.schedule.epochs and at.waited < self.schedule.patience:
            self._epoch(train)
            self._judge(dev)
            at.epoch, at.step = at.epoch + 1, 0
            self.save()
        if self._best:
            self.model.load_state_dict(self._best)
        return at

    def _epoch(self, train: Examples) -> None:
        at, plan = self.progress, self.schedule
        rows = train.order(at.epoch, seed=plan.seed, size=plan.epoch_size, fold=plan.fold)
        at.steps = math.ceil(len(rows) / plan.batch)
        torch.manual_seed(plan.seed * 1_000 + at.epoch)
        rng = np.random.default_rng((plan.seed, at.epoch, 1))
        self.model.train()
        for inputs, targets, _ in train.batches(rows, plan.batch, rng, at.step):
            loss = self._learn(inputs, targets)
            at.loss = loss if at.done == 0 else 0.98 * at.loss + 0.02 * loss
            at.step, at.done = at.step + 1, at.done + 1
            self.show(at)
            if time.monotonic() - self._saved > plan.checkpoint_seconds:
                self.save()

    def _learn(self, inputs: Batch, targets: Tensor) -> float:
        for group in self._optimizer.param_groups:
            group["lr"] = rate_at(
                self.schedule, self.progress.done, self.progress.warm_up, self.progress.total
            )
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, enabled=self.device.type == "cuda"):
            logits = self._logits(inputs)
            loss = loss_of(logits.float(), targets.to(self.device), self.schedule.smoothing)
        self._scaler.scale(loss).backward()
        self._scaler.unscale_(self._optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        return float(loss.detach())

    def _judge(self, dev: Examples) -> None:
        at = self.progress
        at.score = self.measure(self.predict(dev), dev.targets)
        at.history.append({"epoch": at.epoch + 1, "loss": at.loss, "dev_macro_f1": at.score})
        if at.score > at.best:
            at.best, at.waited = at.score, 0
            self._best = {
                name: value.detach().cpu().clone()
                for name, value in self.model.state_dict().items()
            }
        else:
            at.waited += 1
        self.show(at)

    def predict(self, examples: Examples) -> NDArray[np.float32]:
        """Return the logits of all examples, in their order."""
        self.model.eval()
        rows = np.arange(len(examples))
        found: NDArray[np.float32] | None = None
        with torch.no_grad():
            for inputs, _, numbers in examples.batches(rows, EVALUATION_BATCH):
                logits = self._logits(inputs).float().cpu().numpy()
                if found is None:
                    found = np.zeros((len(rows), logits.shape[1]), dtype=np.float32)
                found[numbers] = logits
        return np.zeros((0, 1), dtype=np.float32) if found is None else found

    def _logits(self, inputs: Batch) -> Tensor:
        logits: Tensor = self.model(
            **{name: values.to(self.device, non_blocking=True) for name, values in inputs.items()}
        )
        return logits

    def save(self) -> None:
        """Write the checkpoint, and replace the old one only when it is complete."""
        state = {
            "model": self.model.state_dict(),
            "best": self._best,
            "optimizer": self._optimizer.state_dict(),
            "scaler": self._scaler.state_dict(),
            "progress": self.progress,
            "schedule": self.schedule,
        }
        self.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.checkpoint) as fresh:
            torch.save(state, fresh)
        self._saved = time.monotonic()

    def resume(self) -> bool:
        """Continue from the checkpoint; return False if there is none."""
        if not self.checkpoint.exists():
            return False
        try:
            with torch.serialization.safe_globals([FitProgress, Schedule]):
                state: dict[str, Any] = torch.load(self.checkpoint, map_location="cpu")
            self.model.load_state_dict(state["model"])
            self._optimizer.load_state_dict(state["optimizer"])
            self._scaler.load_state_dict(state["scaler"])
            self._best, self.progress = state["best"], replace(state["progress"])
        except CANNOT_RESUME as error:
            raise ConfigurationError(
                f"Cannot continue from {self.checkpoint}: it is damaged, or of a run with other "
                f"tables or another base ({str(error).strip().partition(chr(10))[0]}).",
                "Repeat the original command, or leave out --resume to start over.",
            ) from None
        return True


def planned_steps(schedule: Schedule, train: Examples) -> tuple[int, int]:
    """Return the steps of the warm-up, a share of the first epoch's (SBFC, 2.2), and of all epochs.

    Where folds are added, each epoch is longer than the one before.
    """
    steps = [
        math.ceil(train.drawn(epoch, size=schedule.epoch_size, fold=schedule.fold) / schedule.batch)
        for epoch in range(schedule.epochs)
    ]
    return max(1, round(schedule.warm_up * steps[0])) if steps else 1, sum(steps)


def rate_at(schedule: Schedule, done: int, warm_up: int, total: int) -> float:
    """Return the learning rate after `done` of `total` steps.

    It rises linearly over the first `warm_up` steps, then falls.
    """
    if done < warm_up:
        return schedule.rate * (done + 1) / warm_up
    if schedule.decay == "inverse_sqrt":
        return schedule.rate * math.sqrt(warm_up / (done + 1))
    share = min(1.0, (done - warm_up) / max(1, total - warm_up))
    return schedule.rate * max(0.01, (1 + math.cos(math.pi * share)) / 2)


def loss_of(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Return the cross-entropy over languages, or the binary one for a single output.

    Logits with three dimensions are those of several readers of the same rows.
    """
    if logits.ndim == READERS:
        targets = targets.unsqueeze(1).expand(logits.shape[:2]).flatten()
        logits = logits.flatten(0, 1)
    if logits.shape[1] > 1:
        return nn.functional.cross_entropy(logits, targets, label_smoothing=smoothing)
    wanted = targets.float() * (1 - smoothing) + smoothing / 2
    return nn.functional.binary_cross_entropy_with_logits(logits[:, 0], wanted)
