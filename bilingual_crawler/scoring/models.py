"""Where the models are, and what their folders contain.

A model folder holds `model.onnx`, `tokenizer.json`, `config.json` and a model card. Folders are
read through `importlib.resources`, so that a model inside a wheel, or inside an egg that is
imported as a zip file, works like one on disk.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from tokenizers import Tokenizer

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.scoring.announcements import PLACES
from bilingual_crawler.scoring.encode import Announced, Ngrams, UrlEncoder
from bilingual_crawler.scoring.pair_features import FEATURES
from bilingual_crawler.scoring.preprocess import PREPROCESSINGS, SBFC

Task = Literal["url2lang", "parallel"]
TASKS: tuple[Task, ...] = get_args(Task)

FORMAT = 1
GRAPH, TOKENIZER, CONFIG = "model.onnx", "tokenizer.json", "config.json"
PACKAGE = "bilingual_crawler"
LEAST_LENGTH, MOST_LENGTH = 8, 512
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """The contents of `config.json`."""

    task: Task
    labels: tuple[str, ...]
    max_length: int
    base: str = ""
    ngrams: Ngrams | None = None
    word_ngrams: int = 0
    compares: bool = False
    announced: Announced | None = None
    preprocessing: str = SBFC
    figures: dict[str, Any] = field(default_factory=dict)


class Model(NamedTuple):
    """The contents of a model folder, ready to run."""

    where: str
    config: ModelConfig
    encoder: UrlEncoder
    graph: bytes


def find_model(task: Task, chosen: str = "") -> Traversable:
    """Return the folder of a model: the user's choice, the package's copy, or the project's."""
    if chosen:
        folder = Path(chosen).expanduser()
        missing = [name for name in (GRAPH, TOKENIZER, CONFIG) if not (folder / name).is_file()]
        if missing:
            raise ConfigurationError(
                f"{folder} is not a model folder: it has no {' and no '.join(missing)}.",
                advice(task),
            )
        return folder
    places = list(_places(task))
    for place in places:
        if place.folder.joinpath(CONFIG).is_file() and place.folder.joinpath(GRAPH).is_file():
            return place.folder
    looked = ", ".join(dict.fromkeys(str(place.folder) for place in places))
    raise ConfigurationError(f"There is no {task} model: looked in {looked}.", advice(task))


def advice(task: str) -> str:
    """Return how to get a model."""
    return (
        f"Make one with `scrapy train {task} --data FILE --base compact --out FOLDER` and name "
        f"its folder, or install bilingual-crawler again: its own models come with it."
    )


class ModelPlace(NamedTuple):
    """A folder that may hold a model, and whose it is: of the package, project or settings."""

    owner: str
    folder: Traversable


def model_places(task: Task, chosen: str = "") -> list[ModelPlace]:
    """Return the folders of a task's models, the one that is used first.

    The folder that a user chose comes first even if it holds no model: nothing replaces it.
    """
    found = {place.folder: place for place in _chosen(chosen)}
    for place in _places(task):
        if place.folder.joinpath(CONFIG).is_file():
            found.setdefault(place.folder, place)
    return list(found.values())


def _chosen(chosen: str) -> Iterator[ModelPlace]:
    if chosen:
        yield ModelPlace("settings", Path(chosen).expanduser())


def _places(task: str) -> Iterator[ModelPlace]:
    package = files(PACKAGE)
    yield ModelPlace("package", package.joinpath("models", task))
    if isinstance(package, Path):
        yield ModelPlace("package", package.parent / "models" / task)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "scrapy.cfg").is_file():
            yield ModelPlace("project", folder / "models" / task)
            return


def load_model(folder: Traversable, task: Task) -> Model:
    """Read a model folder; report what is wrong with it and how to get a good one."""
    try:
        config = read_config(folder.joinpath(CONFIG).read_bytes(), task)
        encoder = UrlEncoder(
            _tokenizer(folder.joinpath(TOKENIZER).read_bytes()),
            config.max_length,
            config.ngrams,
            compares=config.compares,
            announced=config.announced,
            preprocessing=config.preprocessing,
            word_ngrams=config.word_ngrams,
        )
        graph = folder.joinpath(GRAPH).read_bytes()
    except (OSError, ValueError) as error:
        raise unusable(folder, task, error) from error
    return Model(str(folder), config, encoder, graph)


def unusable(folder: object, task: str, reason: object) -> ConfigurationError:
    """Return the error for a model that exists but cannot be used."""
    return ConfigurationError(
        f"The {task} model in {folder} cannot be used: {reason}.",
        advice(task),
    )


def task_of(folder: Traversable) -> Task:
    """Return the task of a model folder, so that it can be read without being told."""
    try:
        raw = json.loads(folder.joinpath(CONFIG).read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{folder} is not a model folder: its {CONFIG} cannot be read ({error}).",
            f"Name a folder with {GRAPH}, {TOKENIZER} and {CONFIG}, or {' or '.join(TASKS)}.",
        ) from error
    task = raw.get("task") if isinstance(raw, dict) else None
    if task not in TASKS:
        raise ConfigurationError(f"{folder} holds a model for {task!r}, not a model of URLs.")
    return cast("Task", task)


def read_config(data: bytes, task: Task) -> ModelConfig:
    """Check `config.json`; raise ValueError with what is wrong."""
    try:
        raw = json.loads(data)
    except ValueError as error:
        raise ValueError(f"{CONFIG} is not JSON ({error})") from error
    if not isinstance(raw, dict) or raw.get("task") != task:
        found = raw.get("task") if isinstance(raw, dict) else raw
        raise ValueError(f"{CONFIG} is that of a {found!r} model")
    if raw.get("format") != FORMAT:
        raise ValueError(
            f"{CONFIG} has format {raw.get('format')!r}; this version reads format {FORMAT}"
        )
    length = raw.get("max_length")
    if not isinstance(length, int) or not LEAST_LENGTH <= length <= MOST_LENGTH:
        raise ValueError(f"max_length in {CONFIG} must be {LEAST_LENGTH} to {MOST_LENGTH}")
    return ModelConfig(
        task=task,
        labels=_labels(raw),
        max_length=length,
        base=str(raw.get("base", "")),
        ngrams=_ngrams(raw.get("ngrams")),
        word_ngrams=_word_ngrams(raw),
        compares=_compares(raw.get("features")),
        announced=_announced(raw),
        preprocessing=_preprocessing(raw.get("preprocessing", SBFC)),
        figures=raw.get("figures") or {},
    )


def _labels(raw: dict[str, Any]) -> tuple[str, ...]:
    if raw["task"] == "parallel":
        return ()
    labels = raw.get("labels")
    if (
        not isinstance(labels, list)
        or not all(isinstance(label, str) for label in labels)
        or len(set(labels)) != len(labels)
        or not labels
    ):
        raise ValueError(f"labels in {CONFIG} must be a list of different language codes")
    return tuple(labels)


def _ngrams(raw: Any) -> Ngrams | None:
    if raw is None:
        return None
    try:
        ngrams = Ngrams(tuple(map(int, raw["sizes"])), int(raw["buckets"]), int(raw["most"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"ngrams in {CONFIG} must have sizes, buckets and most") from error
    if not ngrams.sizes or min(*ngrams.sizes, ngrams.buckets - 1, ngrams.most) < 1:
        raise ValueError(f"ngrams in {CONFIG} must have numbers above zero")
    return ngrams


def _word_ngrams(raw: dict[str, Any]) -> int:
    """Return how many n-grams of each word a model takes; 0 if it does not keep words apart."""
    found, ngrams = raw.get("word_ngrams") or 0, _ngrams(raw.get("ngrams"))
    if not isinstance(found, int) or not 0 <= found <= (ngrams.most // 2 if ngrams else 0):
        raise ValueError(f"word_ngrams in {CONFIG} must be 0 to half of the n-grams of a pair")
    return found


def _compares(raw: Any) -> bool:
    """Return True if a model takes the numbers of `pair_features`; it must know all of them."""
    if raw is None:
        return False
    if raw != len(FEATURES):
        raise ValueError(f"it compares URLs by {raw} features; this version has {len(FEATURES)}")
    return True


def _announced(raw: dict[str, Any]) -> Announced | None:
    """Return how a model takes what URLs announce; it must know all places of languages."""
    if raw.get("places") is None:
        return None
    if raw["places"] != len(PLACES):
        raise ValueError(
            f"it knows {raw['places']} places of codes; this version has {len(PLACES)}"
        )
    host, words = _ngrams(raw.get("host_ngrams")), raw.get("words")
    if raw.get("ngrams") is None or host is None or not isinstance(words, int) or words < 2:  # noqa: PLR2004 - zero is padding
        raise ValueError(f"{CONFIG} has places, so it needs ngrams, host_ngrams and words")
    return Announced(host, words, _labels(raw))


def _preprocessing(raw: Any) -> str:
    if not isinstance(raw, str) or raw not in PREPROCESSINGS:
        known = ", ".join(PREPROCESSINGS)
        raise ValueError(f"preprocessing in {CONFIG} is {raw!r}; this version has {known}")
    return raw


def _tokenizer(data: bytes) -> Tokenizer:
    try:
        return Tokenizer.from_buffer(data)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{TOKENIZER} cannot be read ({error})") from error
