"""Write a fitted model to the folder that a crawl loads: ONNX, tokenizer, config, card."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import torch
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper
from tokenizers import Tokenizer
from torch import nn

from bilingual_crawler.lab.training.examples import Batch, Examples
from bilingual_crawler.lab.training.first_token import keep_first_token
from bilingual_crawler.scoring.encode import FURTHER

MODEL, FULL_MODEL = "model.onnx", "model.fp32.onnx"
FORMAT = 1
OPSET = 17
BATCH = 256
MATRIX, SMALLEST = 2, 1024


def export(model: nn.Module, example: Batch, folder: Path) -> None:
    """Write two graphs: fp32 as torch traces it, without what is never read, and its int8 version.

    Batch size and lengths are dynamic.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model = model.eval().cpu()
    names = list(example)
    axes = {name: {0: "batch"} for name in [*names, "logits"]}
    for name, length in (
        ("input_ids", "tokens"),
        ("attention_mask", "tokens"),
        ("ngrams", "ngrams"),
        *((name, f"{name}_read") for name in FURTHER),
    ):
        if name in axes:
            axes[name][1] = length
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
    graph = onnx.load(str(folder / FULL_MODEL))
    keep_first_token(graph)
    onnx.save(graph, str(folder / FULL_MODEL))
    _quantise(graph)
    onnx.save(graph, str(folder / MODEL))


def _quantise(model: ModelProto) -> None:
    """Store the large weights in eight bits, with a scale for every row or column.

    Activations stay as they are. Dynamic quantisation rounds them by the range of the whole batch,
    so the answer for a URL would depend on the other URLs in its batch.
    """
    graph = model.graph
    tables = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    dequantised = []
    for weights in list(graph.initializer):
        values = numpy_helper.to_array(weights)
        if values.dtype != np.float32 or values.ndim != MATRIX or values.size < SMALLEST:
            continue
        axis = 0 if weights.name in tables else 1
        small, scale = rounded(values, axis)
        names = [f"{weights.name}_{part}" for part in ("int8", "scale", "zero")]
        arrays: list[NDArray[Any]] = [small, scale, np.zeros(len(scale), dtype=np.int8)]
        graph.initializer.remove(weights)
        for name, array in zip(names, arrays, strict=True):
            graph.initializer.append(numpy_helper.from_array(array, name))
        dequantised.append(helper.make_node("DequantizeLinear", names, [weights.name], axis=axis))
    nodes = [*dequantised, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def rounded(values: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix in eight bits, and the scale of every slice along an axis."""
    most = np.abs(values).max(axis=1 - axis, keepdims=True)
    scale = np.maximum(most / 127, 1e-12).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale.ravel()


def write_folder(folder: Path, tokenizer: Tokenizer, config: dict[str, Any], card: str) -> None:
    """Write the files beside the graphs."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    text = json.dumps({"format": FORMAT, **config}, indent=1, ensure_ascii=False)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card, encoding="utf-8")


def run_graph(path: Path, examples: Examples) -> NDArray[np.float32]:
    """Return the logits of a written graph for examples, in their order."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.disable_quant_qdq", "1")
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
    """Return the share of rows that two models put into the same class."""
    return float((decisions(one) == decisions(other)).mean()) if len(one) else 1.0


def decisions(logits: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the class of every row; a single output means yes from a probability of 0.5."""
    if logits.shape[1] == 1:
        return (logits[:, 0] > 0).astype(np.int64)
    return np.asarray(logits.argmax(axis=1), dtype=np.int64)
