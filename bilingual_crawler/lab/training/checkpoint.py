"""Read a sequence classifier of transformers from a folder or from the Hugging Face hub.

The authors of SBFC publish two: `Transducens/xlm-roberta-base-url2lang`, whose languages are named
by `id2lang` in its config.json, and `Transducens/xlm-roberta-base-parallel-urls-classifier`, whose
training has one output, though two are an option. Their own programs save the encoder and the heads
of several tasks apart; that layout is read too. Anyone can publish a checkpoint, so only tensors,
JSON and text are read from it: weights are never unpickled as Python objects, and code beside a
model is not fetched.
"""

import json
import pickle
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

import pycld2
import torch
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from transformers import (
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
    XLMRobertaTokenizer,
)

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.labels import NO_LANGUAGE
from bilingual_crawler.languages import language_code
from bilingual_crawler.languages.table import language_of_cld2, language_of_tag
from bilingual_crawler.scoring.models import UNKNOWN

CONFIG, CARD = "config.json", "README.md"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
TOKENIZERS = ("tokenizer.json", "sentencepiece.bpe.model")
SMALL_FILES = (CONFIG, CARD, *TOKENIZERS, "tokenizer_config.json", "special_tokens_map.json")
MODEL_TYPE = "xlm-roberta"
SHAPE = (
    *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"),
    *("intermediate_size", "hidden_act", "max_position_embeddings", "type_vocab_size"),
    *("layer_norm_eps", "pad_token_id", "bos_token_id", "eos_token_id"),
)
"""The entries of config.json that decide what a model computes."""
ENCODER, HEAD, OUTPUTS = "roberta.", "classifier.", "classifier.out_proj.weight"
TASKS_OF_AUTHORS = ("language-identification", "urls_classification")
UNUSED = ("roberta.pooler.", "roberta.embeddings.position_ids", "lm_head.")
"""Weights that a classifier does not use but may come with."""
HUB_TIMEOUT = 30
MOST_BYTES = (1 << 31) - (1 << 20)
"""An ONNX file cannot be larger."""
_HUB_NAME = re.compile(r"(?:[\w.-]+/)?[\w-][\w.-]*")
_LICENSE = re.compile(r"^license:[ \t]*([\w.-]{1,40})[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"[a-z]{3}")

State = dict[str, Tensor]


class Checkpoint(NamedTuple):
    """A classifier as it was published."""

    name: str
    folder: Path
    config: dict[str, Any]
    model: XLMRobertaForSequenceClassification
    outputs: int
    license: str


def read_checkpoint(source: str) -> Checkpoint:
    """Read config.json and the weights of a folder, or of a model of the hub."""
    folder = locate(source)
    config = _config(folder)
    state = _one_task(_weights(folder))
    if OUTPUTS not in state:
        found = ", ".join(map(str, config.get("architectures") or ["no architecture"]))
        raise ConfigurationError(
            f"{source} is not a sequence classifier: its weights have no {HEAD}out_proj"
            f" (config.json names {found}).",
            "Name a checkpoint that was fine-tuned to classify, or train one: scrapy train --help.",
        )
    outputs = len(state[OUTPUTS])
    model = _model(source, config, state, outputs)
    return Checkpoint(source, folder, config, model, outputs, _license(folder))


def locate(source: str) -> Path:
    """Return the folder of a checkpoint; one of the hub is downloaded."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder
    if not _HUB_NAME.fullmatch(source):
        raise ConfigurationError(
            f"There is no folder {source}, and it is not a name of the hub.",
            "Write a folder, or OWNER/NAME such as Transducens/xlm-roberta-base-url2lang.",
        )
    try:
        listed = HfApi().model_info(source, timeout=HUB_TIMEOUT).siblings or ()
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise ConfigurationError(
            f"There is no folder {source}, and no public model of that name on the hub.",
            "Write a folder, or OWNER/NAME such as Transducens/xlm-roberta-base-url2lang.",
        ) from error
    except Exception as error:  # noqa: BLE001 - the client's HTTP library changes with its version
        return _downloaded_before(source, error)
    files = {each.rfilename for each in listed}
    weights = next((each for each in WEIGHTS if each in files), WEIGHTS[0])
    try:
        return _snapshot(source, weights)
    except Exception as error:
        raise _no_hub(source, error) from error


def _downloaded_before(source: str, reason: Exception) -> Path:
    for weights in WEIGHTS:
        try:
            folder = _snapshot(source, weights, local_files_only=True)
        except OSError:
            continue
        if (folder / weights).is_file():
            return folder
    raise _no_hub(source, reason) from reason


def _snapshot(source: str, weights: str, *, local_files_only: bool = False) -> Path:
    files = [*SMALL_FILES, weights]
    return Path(snapshot_download(source, allow_patterns=files, local_files_only=local_files_only))


def _no_hub(source: str, error: Exception) -> ConfigurationError:
    said = str(error).strip().partition("\n")[0] or type(error).__name__
    name = source.rpartition("/")[2]
    return ConfigurationError(
        f"There is no folder {source}, and the Hugging Face hub cannot be asked for it: {said}.",
        f"Where there is a connection, run `hf download {source} --local-dir {name}` (it comes with"
        f" huggingface_hub), copy that folder here, and name it instead.",
    )


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / CONFIG).read_bytes())
    except OSError as error:
        raise ConfigurationError(
            f"{folder} is not a checkpoint: its {CONFIG} cannot be read ({error.strerror}).",
            f"A checkpoint has {CONFIG}, {' or '.join(WEIGHTS)}, and {' or '.join(TOKENIZERS)}.",
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"{folder / CONFIG} is not JSON: {error}.") from error
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != MODEL_TYPE:
        raise ConfigurationError(
            f"{folder} holds a model of type {kind!r}; only {MODEL_TYPE} can be converted."
        )
    assert isinstance(config, dict)
    return config


def _weights(folder: Path) -> Mapping[str, Any]:
    for name in WEIGHTS:
        path = folder / name
        if not path.is_file():
            continue
        try:
            if path.suffix == ".safetensors":
                return load_file(path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of protocols that other programs pickle with
                found = torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, EOFError, SafetensorError, pickle.UnpicklingError) as error:
            raise ConfigurationError(
                f"{path} cannot be read as tensors, and nothing else is read from a checkpoint:"
                f" {str(error).partition(chr(10))[0]}",
                "It is damaged, or not a file of weights: download it again.",
            ) from error
        if isinstance(found, Mapping):
            return found
        raise ConfigurationError(f"{path} holds no table of weights.")
    raise ConfigurationError(
        f"{folder} has no weights: there is no {' and no '.join(WEIGHTS)}.",
        "Download the whole checkpoint, in one file of weights.",
    )


def _one_task(found: Mapping[str, Any]) -> State:
    """Return weights by the names of transformers; the authors' programs nest them by task."""
    heads = found.get("tasks")
    if not isinstance(heads, Mapping) or not isinstance(found.get("encoder"), Mapping):
        return {name: value for name, value in found.items() if isinstance(value, Tensor)}
    task = next((each for each in TASKS_OF_AUTHORS if f"{each}.out_proj.weight" in heads), "")
    named = {f"{ENCODER}{name}": value for name, value in found["encoder"].items()}
    head = {
        f"{HEAD}{name.removeprefix(f'{task}.')}": value
        for name, value in heads.items()
        if task and name.startswith(f"{task}.")
    }
    return named | head


def _model(
    source: str, config: Mapping[str, Any], state: State, outputs: int
) -> XLMRobertaForSequenceClassification:
    bytes_in_all = 4 * sum(value.numel() for value in state.values())
    if bytes_in_all > MOST_BYTES:
        raise ConfigurationError(
            f"{source} has {bytes_in_all / 1e9:.1f} GB of weights; an ONNX file holds 2 GB.",
            "Convert a smaller model, such as one of the size of xlm-roberta-base.",
        )
    shape: dict[str, Any] = {name: config[name] for name in SHAPE if name in config}
    shape |= {"num_labels": outputs, "attn_implementation": "eager"}
    try:
        made: Any = XLMRobertaForSequenceClassification(XLMRobertaConfig(**shape))
        missing, further = made.load_state_dict(state, strict=False)
    except Exception as error:  # each wrong number in config.json has an exception of its own
        reason = str(error).strip() or type(error).__name__
        raise _mismatch(source, reason.splitlines()[-1].strip()) from error
    if missing:
        raise _mismatch(source, f"there is no {missing[0]}")
    if further := [name for name in further if not name.startswith(UNUSED)]:
        raise _mismatch(source, f"nothing uses {further[0]}")
    return cast("XLMRobertaForSequenceClassification", made.float().eval())


def _mismatch(source: str, reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"The weights of {source} do not fit its {CONFIG}: {reason}.",
        f"Download both again; they must be of the same {MODEL_TYPE} model.",
    )


def read_tokenizer(checkpoint: Checkpoint, instead: str = "") -> Tokenizer:
    """Return the tokenizer of a checkpoint, or of another one that was named instead."""
    own, pieces = ((checkpoint.folder / each).is_file() for each in TOKENIZERS)
    advice = (
        "Put the tokenizer.json of the model that it was fine-tuned from beside its weights, or"
        " name that model: --tokenizer xlm-roberta-base, or a folder."
    )
    if not (instead or own or pieces):
        raise ConfigurationError(
            f"{checkpoint.name} has no tokenizer: there is no {' and no '.join(TOKENIZERS)}.",
            advice,
        )
    if not (instead or own) and find_spec("sentencepiece") is None:
        raise ConfigurationError(
            f"{checkpoint.name} has no tokenizer.json, and {TOKENIZERS[1]} can only be read with"
            " the package sentencepiece, which is not installed.",
            advice,
        )
    try:
        tokenizer = _tokenizer(instead or str(checkpoint.folder))
    except Exception as error:  # the library raises nothing narrower
        said = str(error).strip().partition("\n")[0]
        raise ConfigurationError(
            f"The tokenizer of {instead or checkpoint.name} cannot be read: {said}.", advice
        ) from error
    rows, size = checkpoint.model.config.vocab_size, tokenizer.get_vocab_size()
    if size > rows:
        raise ConfigurationError(
            f"The tokenizer has {size:,} tokens, but the model knows {rows:,}: it belongs to"
            " another model."
        )
    return tokenizer


def _tokenizer(place: str) -> Tokenizer:
    """Read a tokenizer as that of XLM-R, whatever class its files name: that might be code."""
    own = Path(place).expanduser() / TOKENIZERS[0]
    if own.is_file():
        return Tokenizer.from_file(str(own))
    return cast("Tokenizer", XLMRobertaTokenizer.from_pretrained(place).backend_tokenizer)


def label_names(checkpoint: Checkpoint, given: Sequence[str] = ()) -> list[str]:
    """Return what a checkpoint calls its outputs, in their order; `given` names replace them."""
    if given:
        names = list(given)
    else:
        table = checkpoint.config.get("id2lang") or checkpoint.config.get("id2label") or {}
        table = table if isinstance(table, dict) else {}
        names = [table[str(n)] for n in range(checkpoint.outputs) if str(n) in table]
    if len(names) != checkpoint.outputs or not all(isinstance(name, str) for name in names):
        where = "The file of labels" if given else f"{CONFIG} of {checkpoint.name}"
        raise ConfigurationError(
            f"{where} names {len(names)} labels, but the model has {checkpoint.outputs} outputs.",
            "Write one language per line, in the order of the outputs, and add --labels FILE.",
        )
    return names


def language_labels(names: Sequence[str]) -> Iterator[str]:
    """Yield the ISO 639-3 code of each label, or `unknown`.

    A label is a code, a name, a BCP 47 tag or a name of CLD2. Three letters that the table of
    languages does not have are kept: ISO 639-3 has many more languages.
    """
    for number, name in enumerate(names):
        word = name.strip().lower()
        if word in NO_LANGUAGE:
            yield UNKNOWN
        elif code := _code(word):
            yield code
        else:
            raise ConfigurationError(
                f"Output {number} is called {name[:40]!r}, which names no language.",
                "Write one language per line, in the order of the outputs, and add --labels FILE.",
            )


def _code(word: str) -> str | None:
    if code := language_code(word):
        return code
    if found := _cld2_names().get(word):
        return found
    if "-" in word or "_" in word:
        tagged = language_of_tag(word)
        if tagged is not None:
            return tagged.code
    return word if _CODE.fullmatch(word) else None


@cache
def _cld2_names() -> dict[str, str]:
    """Return the codes of the languages that CLD2 names; scripts and jokes are not languages."""
    found = ((name.lower(), language_of_cld2(code)) for name, code in pycld2.LANGUAGES)
    return {name: language.code for name, language in found if language is not None}


def _license(folder: Path) -> str:
    try:
        text = (folder / CARD).read_text(encoding="utf-8", errors="replace")[:4096]
    except OSError:
        return ""
    found = _LICENSE.search(text)
    return found[1] if found else ""
