"""Sentence vectors from a model that the user has; neither pairing nor alignment needs one.

A folder with `model.onnx` and `tokenizer.json` runs on onnxruntime, as the URL models do: its
first output is either a vector a sentence or one a token, and then their mean is taken. Any
other name is left to the library sentence-transformers.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.errors import ConfigurationError

GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"
BATCH = 64
LONGEST = 256
"""Tokens of a sentence that are looked at."""
TOKEN_OUTPUT_NDIM = 3

Vectors = NDArray[np.float64]


def load_encoder(name: str) -> Callable[[list[str]], Vectors]:
    """What turns sentences into vectors, by the model of that name or in that folder."""
    folder = Path(name).expanduser()
    if (folder / GRAPH).is_file() and (folder / TOKENIZER).is_file():
        return _OnnxEncoder(folder)
    if folder.is_dir() and not (folder / "modules.json").is_file():
        raise ConfigurationError(
            f"{folder} holds no sentence model: it needs {GRAPH} and {TOKENIZER}, or the files"
            " of sentence-transformers (modules.json)."
        )
    try:
        library = import_module("sentence_transformers")
    except ImportError:
        raise ConfigurationError(
            f"The sentence model {name} needs the library sentence-transformers: pip install"
            f" sentence-transformers, or name a folder with {GRAPH} and {TOKENIZER}."
        ) from None
    try:
        model = library.SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The sentence model {name} cannot be read: {error}") from error
    return lambda texts: np.asarray(model.encode(texts, show_progress_bar=False), np.float64)


class _OnnxEncoder:
    """A folder's model, asked a batch at a time."""

    def __init__(self, folder: Path) -> None:
        try:
            runtime: Any = import_module("onnxruntime")
            tokenizers: Any = import_module("tokenizers")
        except ImportError as error:
            raise ConfigurationError(
                f"A sentence model needs {error.name}: pip install 'bilingual-crawler[cpu]'."
            ) from None
        try:
            self._session = runtime.InferenceSession(
                (folder / GRAPH).read_bytes(), providers=["CPUExecutionProvider"]
            )
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        except Exception as error:  # both libraries raise Exception itself
            raise ConfigurationError(
                f"The sentence model in {folder} cannot be read: {error}"
            ) from error
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()
        self._inputs = {each.name for each in self._session.get_inputs()}

    def __call__(self, texts: list[str]) -> Vectors:
        """A vector a text, in order."""
        parts = [self._encode(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, 1))

    def _encode(self, texts: list[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.asarray([each.ids for each in encoded], dtype=np.int64)
        mask = np.asarray([each.attention_mask for each in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        asked = {name: value for name, value in given.items() if name in self._inputs}
        output = np.asarray(self._session.run(None, asked)[0], dtype=np.float64)
        if output.ndim < TOKEN_OUTPUT_NDIM:
            return output
        weights = mask[:, :, None].astype(np.float64)
        means: Vectors = (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        return means
