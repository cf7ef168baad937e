"""Write a fitted model to the folder that a crawl loads: ONNX, tokenizer, config, card.

XLM-R classifies a text by its first token. The last layer needs the other tokens as keys and
values, but its results for them (queries, attention, feed-forward) are thrown away: a third to a
half of the cost of a model with one or two layers. `keep_first_token` removes these computations;
the answers do not change.
"""

import json
import warnings
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime as ort
import torch
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper
from tokenizers import Tokenizer
from torch import nn

from bilingual_crawler.lab.training.examples import Batch, Examples
from bilingual_crawler.scoring.encode import FURTHER

TOKENS, QUERIES = 1, 2
"""The axis of the tokens in the hidden states, and of the queries in the mask."""
_NAME = "first_token"


class _UnknownGraphError(Exception):
    """The graph is not an encoder whose first token is classified."""


class _Attention(NamedTuple):
    """The nodes of a layer that must change, and the two tensors to shorten for them."""

    hidden: str
    mask: str
    query: NodeProto
    split: NodeProto
    masked: NodeProto
    join: NodeProto
    residual: NodeProto


def keep_first_token(model: ModelProto) -> bool:
    """Make the last layer compute only the first token; change the graph in place.

    Return False if the graph does not look as expected. It is then left as it was: correct, only
    slower.
    """
    graph = model.graph
    nodes = _Nodes(graph)
    try:
        found = nodes.last_attention()
        split, join = (nodes.shape_after(each, TOKENS) for each in (found.split, found.join))
    except _UnknownGraphError:
        return False
    hidden = _first(graph, found.hidden, TOKENS)
    mask = _first(graph, found.mask, QUERIES)
    for node, old, new in (
        (found.query, found.hidden, hidden),
        (found.residual, found.hidden, hidden),
        (found.masked, found.mask, mask),
    ):
        node.input[list(node.input).index(old)] = new
    found.split.input[1] = _numbers(graph, "split", [0, 1, *split])
    found.join.input[1] = _numbers(graph, "join", [0, 1, *join])
    return True


def _first(graph: GraphProto, name: str, axis: int) -> str:
    """Add a node that takes the first slice of a tensor along an axis; return its output's name."""
    taken = f"{name}_{_NAME}"
    numbers = {f"from_{axis}": 0, f"to_{axis}": 1, f"axis_{axis}": axis}
    inputs = [_numbers(graph, each, [number]) for each, number in numbers.items()]
    node = helper.make_node("Slice", [name, *inputs], [taken])
    place = next(number for number, each in enumerate(graph.node) if name in each.output)
    graph.node.insert(place + 1, node)
    return taken


def _numbers(graph: GraphProto, name: str, values: Sequence[int]) -> str:
    full = f"{_NAME}_{name}"
    graph.initializer.append(numpy_helper.from_array(np.array(values, dtype=np.int64), full))
    return full


class _Nodes:
    """A graph that can be walked in both directions."""

    def __init__(self, graph: GraphProto) -> None:
        self._nodes = list(graph.node)
        self._makers: dict[str, NodeProto] = {
            name: node for node in self._nodes for name in node.output
        }
        self._users: defaultdict[str, list[NodeProto]] = defaultdict(list)
        for node in self._nodes:
            for name in node.input:
                self._users[name].append(node)
        self._constants = {each.name: each for each in graph.initializer}

    def last_attention(self) -> _Attention:
        """Return the attention of the layer whose first token is classified."""
        softmax = self._last_softmax()
        masked = self._maker(softmax.input[0], "Add")
        scores, mask = self._scores_and_mask(masked)
        split = self._back(scores.input[0], "Reshape", through=("Transpose", "Mul", "Div"))
        biased = self._maker(split.input[0], "Add")
        query = next(filter(None, (self._maybe(each, "MatMul") for each in biased.input)), None)
        if query is None:
            raise _UnknownGraphError
        hidden = query.input[0]
        join = self._user(self._user(self._user(softmax, "MatMul"), "Transpose"), "Reshape")
        residuals = [node for node in self._users[hidden] if node.op_type == "Add"]
        if len(residuals) != 1:
            raise _UnknownGraphError
        return _Attention(hidden, mask, query, split, masked, join, residuals[0])

    def shape_after(self, reshape: NodeProto, axis: int) -> list[int]:
        """Return the dimensions of a shape after an axis; they must be constant."""
        parts = self._maker(reshape.input[1], "Concat").input[axis + 1 :]
        numbers = [self._constant(part) for part in parts]
        if not all(numbers):
            raise _UnknownGraphError
        return [number for each in numbers for number in each]

    def _last_softmax(self) -> NodeProto:
        """Return the softmax of the last layer, before the only reader of its output."""
        for node in self._nodes:
            axis = [each.i for each in node.attribute if each.name == "axis"]
            if node.op_type != "Gather" or axis != [TOKENS] or self._constant(node.input[1]) != [0]:
                continue
            normal = self._maybe(node.input[0], "LayerNormalization")
            if normal is not None and self._users[normal.output[0]] == [node]:
                found = [each for each in self._ancestors(node) if each.op_type == "Softmax"]
                if found:
                    return found[-1]
        raise _UnknownGraphError

    def _ancestors(self, node: NodeProto) -> list[NodeProto]:
        """Return all nodes that a node depends on, in the order of execution."""
        waiting, seen = list(node.input), set[str]()
        while waiting:
            maker = self._makers.get(waiting.pop())
            if maker is not None and maker.output[0] not in seen:
                seen.add(maker.output[0])
                waiting.extend(maker.input)
        return [each for each in self._nodes if each.output[0] in seen]

    def _scores_and_mask(self, masked: NodeProto) -> tuple[NodeProto, str]:
        for scores, mask in (masked.input, reversed(masked.input)):
            try:
                return self._back(scores, "MatMul", through=("Mul", "Div")), mask
            except _UnknownGraphError:
                continue
        raise _UnknownGraphError

    def _back(self, name: str, wanted: str, through: Sequence[str]) -> NodeProto:
        """Return the node that makes a tensor, before nodes that only reshape or scale it."""
        node = self._makers.get(name)
        while node is not None and node.op_type in through:
            node = self._makers.get(node.input[0])
        if node is None or node.op_type != wanted:
            raise _UnknownGraphError
        return node

    def _maker(self, name: str, wanted: str) -> NodeProto:
        return self._back(name, wanted, ())

    def _maybe(self, name: str, wanted: str) -> NodeProto | None:
        node = self._makers.get(name)
        return node if node is not None and node.op_type == wanted else None

    def _user(self, node: NodeProto, wanted: str) -> NodeProto:
        users = self._users[node.output[0]]
        if len(users) != 1 or users[0].op_type != wanted:
            raise _UnknownGraphError
        return users[0]

    def _constant(self, name: str) -> list[int]:
        """Return the integers of a constant; nothing for a computed tensor."""
        node = self._makers.get(name)
        if name in self._constants:
            tensor = self._constants[name]
        elif node is not None and node.op_type == "Constant":
            tensor = node.attribute[0].t
        else:
            return []
        return [int(number) for number in numpy_helper.to_array(tensor).ravel()]


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
