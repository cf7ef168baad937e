"""From a fitted model to the folder that a crawl loads: ONNX, tokenizer, config, card."""

import json
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from torch import nn

from bilingual_crawler.training.examples import Batch, Examples

MODEL, FULL_MODEL = "model.onnx", "model.fp32.onnx"
FORMAT = 1
OPSET = 17
BATCH = 256


def export(model: nn.Module, example: Batch, folder: Path) -> None:
    """Write both graphs: fp32 as torch traces it, and int8 made from it.

    Batch and length are dynamic, the number of n-grams is part of the model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model = model.eval().cpu()
    names = list(example)
    axes = {name: {0: "batch", 1: "length"} for name in names if name != "ngrams"}
    if "ngrams" in names:
        axes["ngrams"] = {0: "batch"}
    axes["logits"] = {0: "batch"}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer warns of every shape it keeps
        torch.onnx.export(
            model,
            tuple(example.values()),
            str(folder / FULL_MODEL),
            input_names=names,
            output_names=["logits"],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )
    _quantise(folder)


def _quantise(folder: Path) -> None:
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)  # onnxruntime advises on the root logger
    try:
        quantize_dynamic(
            folder / FULL_MODEL, folder / MODEL, weight_type=QuantType.QInt8, per_channel=True
        )
    finally:
        root.setLevel(level)


def write_folder(folder: Path, tokenizer: Tokenizer, config: dict[str, Any], card: str) -> None:
    """Write what stands beside the graphs."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    text = json.dumps({"format": FORMAT, **config}, indent=1, ensure_ascii=False)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card, encoding="utf-8")


def run_graph(path: Path, examples: Examples) -> NDArray[np.float32]:
    """What a written graph says of examples: logits, in their order."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    wanted = {each.name for each in session.get_inputs()}
    found: NDArray[np.float32] | None = None
    for inputs, _, rows in examples.batches(np.arange(len(examples)), BATCH):
        feed = {name: values.numpy() for name, values in inputs.items() if name in wanted}
        (logits,) = session.run(None, feed)
        if found is None:
            found = np.zeros((len(examples), logits.shape[1]), dtype=np.float32)
        found[rows] = logits
    return np.zeros((0, 1), dtype=np.float32) if found is None else found


def agreement(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The share of rows that two models put into the same class."""
    return float((decisions(one) == decisions(other)).mean()) if len(one) else 1.0


def decisions(logits: NDArray[np.float32]) -> NDArray[np.int64]:
    """The class of every row; a single output is a yes from a probability of one half."""
    if logits.shape[1] == 1:
        return (logits[:, 0] > 0).astype(np.int64)
    return np.asarray(logits.argmax(axis=1), dtype=np.int64)
