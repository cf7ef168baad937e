"""Remove computations of the last transformer layer whose results are never read.

XLM-R classifies a text by its first token. The last layer needs the other tokens as keys and
values, but its results for them (queries, attention, feed-forward) are thrown away: a third to a
half of the cost of a model with one or two layers. The answers do not change.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper

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
