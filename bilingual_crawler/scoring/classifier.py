"""The two URL models of SBFC on onnxruntime: which language, and whether translations.

Each model has one session with one thread: inference runs beside a crawl and must not compete with
it. URLs of equal length go through the graph together, so that little is padded, and answers are
cached. An object may be used from several threads; it answers one question at a time.
"""

import logging
import os
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.scoring.encode import FURTHER, Rows
from bilingual_crawler.scoring.models import Model, Task, load_model, unusable

logger = logging.getLogger(__name__)

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
REMEMBERED = 20_000
"""Answers that are cached; with 200 languages each they take 16 MB."""
MOST_ROWS, MOST_TOKENS = 256, 4096
"""The largest batch; larger ones do not fit into the processor's cache."""

Numbers = NDArray[np.float32]
Folder = Traversable | str | os.PathLike[str]
QuestionT = TypeVar("QuestionT", bound=Hashable)


class _UrlModel(ABC, Generic[QuestionT]):
    """A session, its encoder and its cache: what both models have in common."""

    task: ClassVar[Task]

    def __init__(
        self,
        folder: Folder,
        *,
        provider: str = "cpu",
        threads: int = 1,
        remembered: int = REMEMBERED,
    ) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # read at every call
        place = folder if isinstance(folder, Traversable) else Path(folder)
        self._model = load_model(place, self.task)
        self._width = len(self._model.config.labels) or 1
        self._session = open_session(self._model, provider, threads)
        _check_graph(self._session, self._model, self._width)
        self.provider: str = self._session.get_providers()[0]
        logger.info("The %s model in %s runs on %s", self.task, self._model.where, self.provider)
        self._memory: OrderedDict[QuestionT, Numbers] = OrderedDict()
        self._remembered = remembered
        self._lock = threading.Lock()

    @property
    def where(self) -> str:
        """The folder of the model."""
        return self._model.where

    @cached_property
    def digest(self) -> str:
        """A short text that differs for any other model."""
        return blake2b(self._model.graph, digest_size=8).hexdigest()

    @property
    def answers(self) -> dict[QuestionT, Numbers]:
        """The answers that are cached."""
        return dict(self._memory)

    def recall(self, answers: Mapping[QuestionT, Numbers], most: int = REMEMBERED) -> None:
        """Replace the cache by answers that this model gave before; keep `most` from now on."""
        with self._lock:
            self._memory, self._remembered = OrderedDict(answers), most

    @abstractmethod
    def _encode(self, questions: Sequence[QuestionT]) -> Rows:
        """Return the questions as rows of numbers."""

    def _logits(self, questions: Sequence[QuestionT]) -> Numbers:
        """Return one row of logits per question, from the cache or from the graph."""
        result = np.empty((len(questions), self._width), dtype=np.float32)
        with self._lock:
            asked: dict[QuestionT, list[int]] = {}
            for number, question in enumerate(questions):
                known = self._memory.get(question)
                if known is None:
                    asked.setdefault(question, []).append(number)
                else:
                    self._memory.move_to_end(question)
                    result[number] = known
            if asked:
                new = list(asked)
                for question, logits in zip(new, self._infer(new), strict=True):
                    for number in asked[question]:
                        result[number] = logits
                    self._remember(question, logits)
        return result

    def _remember(self, question: QuestionT, logits: Numbers) -> None:
        if self._remembered:
            self._memory[question] = logits.copy()
            if len(self._memory) > self._remembered:
                self._memory.popitem(last=False)

    def _infer(self, questions: Sequence[QuestionT]) -> Numbers:
        rows = self._encode(questions)
        result = np.empty((len(questions), self._width), dtype=np.float32)
        for numbers in batches([len(ids) for ids in rows.ids]):
            arrays = self._model.encoder.pad(rows.take(numbers))
            (result[numbers],) = self._session.run(["logits"], arrays)
        return result


class Url2Lang(_UrlModel[str]):
    """Predicts the language of a page from its URL alone."""

    task = "url2lang"

    @property
    def labels(self) -> tuple[str, ...]:
        """The ISO 639-3 codes in the order of the columns, `unknown` among them."""
        return self._model.config.labels

    def probabilities(self, urls: Sequence[str]) -> Numbers:
        """Return one row per URL and one column per label; rows sum to one."""
        logits = self._logits(urls)
        logits -= logits.max(axis=1, keepdims=True)
        exponents: Numbers = np.exp(logits)
        exponents /= exponents.sum(axis=1, keepdims=True)
        return exponents

    def languages(self, urls: Sequence[str], top: int = 3) -> list[list[tuple[str, float]]]:
        """Return the most likely languages of each URL with their probabilities, best first."""
        table = self.probabilities(urls)
        best = np.argsort(-table, axis=1, kind="stable")[:, :top]
        return [
            [(self.labels[column], float(row[column])) for column in columns]
            for row, columns in zip(table, best, strict=True)
        ]

    def probability_of(self, urls: Sequence[str], code: str) -> Numbers:
        """Return the probability that each URL leads to a page in one language."""
        if code not in self.labels:
            raise ConfigurationError(
                f"The url2lang model in {self.where} does not know the language {code}.",
                f"It knows {', '.join(self.labels)}.",
            )
        return self.probabilities(urls)[:, self.labels.index(code)]

    def _encode(self, questions: Sequence[str]) -> Rows:
        return self._model.encoder.rows(questions)


class ParallelUrls(_UrlModel[tuple[str, str]]):
    """Predicts whether two URLs lead to translations of each other."""

    task = "parallel"

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return one number per pair, in double precision because the order of the best matters."""
        logits = self._logits(pairs)[:, 0].astype(np.float64)
        return 1.0 / (1.0 + np.exp(-np.clip(logits, -700.0, 700.0)))

    def _encode(self, questions: Sequence[tuple[str, str]]) -> Rows:
        return self._model.encoder.pair_rows(questions)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the indexes of rows for one run of the graph: similar length, not too many."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) >= MOST_ROWS or (len(batch) + 1) * lengths[number] > MOST_TOKENS):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def open_session(model: Model, provider: str, threads: int) -> Any:
    """Return a session on the requested provider, and on no other."""
    runtime = _runtime()
    if provider not in PROVIDERS:
        raise ConfigurationError(f"There is no provider {provider}; write cpu or cuda.")
    wanted = PROVIDERS[provider]
    if wanted not in runtime.get_available_providers():
        raise _no_cuda("the onnxruntime that is installed is built without it")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Weights stored as int8 are made floats once, here, and not again for every batch.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        session = runtime.InferenceSession(
            model.graph, options, providers=list(dict.fromkeys([wanted, PROVIDERS["cpu"]]))
        )
    except Exception as error:  # each way a graph can be broken has an exception of its own
        reason = str(error).partition("\n")[0]
        raise unusable(
            model.where, model.config.task, f"model.onnx is damaged or incomplete ({reason})"
        ) from error
    if session.get_providers()[0] != wanted:
        raise _no_cuda("onnxruntime found no GPU, or not the CUDA and cuDNN it needs")
    return session


def _runtime() -> Any:
    try:
        return import_module("onnxruntime")  # crawls that ask no model need none
    except ImportError as error:
        raise ConfigurationError(
            f"The models need onnxruntime, which cannot be imported ({error}).",
            "Install it with pip install 'bilingual-crawler[cpu]', or [gpu] for CUDA.",
        ) from error


def _no_cuda(reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"CUDA was requested but is not available: {reason}.",
        "Uninstall onnxruntime and install onnxruntime-gpu (pip install 'bilingual-crawler[gpu]'): "
        "the two cannot be installed together. Or ask for cpu.",
    )


def _check_graph(session: Any, model: Model, width: int) -> None:
    """Check at the start, not at the first link, that a graph fits its folder."""
    wanted = {"input_ids", "attention_mask"}
    wanted |= {"ngrams"} if model.config.ngrams else set()
    wanted |= {"features"} if model.config.compares else set()
    wanted |= set(FURTHER) if model.config.announced else set()
    inputs = {each.name for each in session.get_inputs()}
    outputs = {each.name: each.shape for each in session.get_outputs()}
    if inputs != wanted or "logits" not in outputs:
        raise unusable(
            model.where,
            model.config.task,
            f"model.onnx takes {', '.join(sorted(inputs))} and gives "
            f"{', '.join(sorted(outputs))}, not {', '.join(sorted(wanted))} and logits",
        )
    columns = outputs["logits"][-1]
    if isinstance(columns, int) and columns != width:
        raise unusable(
            model.where,
            model.config.task,
            f"model.onnx has {columns} outputs, but config.json says {width}",
        )
