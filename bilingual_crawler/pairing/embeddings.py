"""How close two pages are according to the user's sentence model, beyond chance.

The vector of a document is the mean of the normalised vectors of its title and first paragraphs. It
is made once, when the page is read, and kept with its profile. All pages of a site are close to
each other, and how close depends on the model; so the cosine of two pages is compared with the mean
cosine of each to the other pages in the other's language. 0 is no closer than those, 1 is the same
vector.
"""

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.known_pages import KnownPage

GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"
BATCH = 64
LONGEST = 256
"""Tokens of a sentence that are read."""
TOKEN_OUTPUT_NDIM = 3

Vectors = NDArray[np.float64]


def load_encoder(name: str) -> Callable[[list[str]], Vectors]:
    """Return an encoder of sentences: the model of that name, or in that folder.

    A folder with `model.onnx` and `tokenizer.json` runs on onnxruntime, as the URL models do: its
    first output is one vector per sentence, or one per token, whose mean is taken. Any other name
    is left to the library sentence-transformers.
    """
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
    """The model in a folder, asked in batches."""

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
        """Return one vector per text, in order."""
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


MOST_TEXTS = 8
"""The most texts per page: a title and paragraphs."""
LONGEST_TEXT = 500
MARK = 4
"""Bytes before a vector that identify its model."""

Vector = NDArray[np.float64]
Encoder = Callable[[list[str]], NDArray[np.float64]]


class TextEmbedder:
    """Makes document vectors: the mark of the model, then numbers of two bytes each."""

    def __init__(self, encoder: Encoder, name: str) -> None:
        """`name` identifies the model: vectors of different models are not compared."""
        self._encoder = encoder
        self._mark = crc32(name.encode("utf-8", "surrogatepass")).to_bytes(MARK, "big")

    def __call__(self, document: Document) -> bytes:
        """Return the vector of a document; empty if it has no text or the model gives no answer."""
        paragraphs = (each.text.strip()[:LONGEST_TEXT] for each in document.main_paragraphs)
        wanted = dict.fromkeys((document.title.strip()[:LONGEST_TEXT], *paragraphs))
        texts = [_encodable(text) for text in wanted if text][:MOST_TEXTS]
        if not texts:
            return b""
        vectors = np.asarray(self._encoder(texts), np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        mean = (vectors / np.where(lengths > 0, lengths, 1.0)).mean(axis=0)
        length = float(np.linalg.norm(mean))
        if not isfinite(length) or length == 0:
            return b""
        packed: bytes = (mean / length).astype(np.float16).tobytes()
        return self._mark + packed


class Nearness:
    """The vectors of all pages, by site, language and model.

    Two-byte numbers add up exactly in eight bytes, so the order of the pages does not matter.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, bytes], Vector] = {}
        self._pages: Counter[tuple[str, str, bytes]] = Counter()

    def __bool__(self) -> bool:
        """Return True if any page had a vector."""
        return bool(self._pages)

    def add(self, page: KnownPage) -> None:
        """Count the vector of one more page, if it has one."""
        packed = page.page.profile.vector
        if packed:
            place = _place(page)
            self._pages[place] += 1
            self._sums[place] = self._sums.get(place, 0.0) + _unpacked(packed)

    def compare(self, first: KnownPage, second: KnownPage) -> float | None:
        """Return how close two pages are beyond chance, at most 1; None without two vectors."""
        one, other = first.page.profile.vector, second.page.profile.vector
        if not one or len(one) != len(other) or one[:MARK] != other[:MARK]:
            return None
        mine, theirs = _unpacked(one), _unpacked(other)
        cosine = float(mine @ theirs)
        by_chance = [
            float(vector @ (self._sums[place] - rival)) / max(1, self._pages[place] - 1)
            for vector, rival, place in (
                (mine, theirs, _place(second)),
                (theirs, mine, _place(first)),
            )
        ]
        expected = min(max(0.0, sum(by_chance) / 2), 0.99)
        return max(-1.0, min(1.0, (cosine - expected) / (1 - expected)))


def _place(page: KnownPage) -> tuple[str, str, bytes]:
    packed = page.page.profile.vector
    return page.site, page.page.language, packed[:MARK] + len(packed).to_bytes(4, "big")


def _unpacked(packed: bytes) -> Vector:
    return np.frombuffer(packed, np.float16, offset=MARK).astype(np.float64)


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which tokenizers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")
