"""The nodes of a graph or function that is being written, made by calls with the names of TensorFlow's operations.

to.Sum(x, [0], keep_dims=True)     ==>     GraphNode("Const", …), GraphNode("Sum", [x, const], {"T": …, …})

Attributes that follow from the inputs, such as `T`, are added. Python numbers become constants of the dtype that
the other inputs have. Nodes with effects run in the order in which they are made.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...ir.graph import Constant
from ...storage.tensor_protos import serialized
from .graph_messages import NodeDef
from .nodes import GraphNode, NodeResult
from .signatures import NodeArgument, NodeSignature, signature

READS = frozenset(
    {"ReadVariableOp", "VarIsInitializedOp", "ResourceGather", "ResourceGatherNd", "LookupTableFindV2"}
)
"""Operations that read state: they run in any order between two others with effects."""

UNORDERED = frozenset({"VarHandleOp", "Placeholder", "HashTableV2", "MutableHashTableV2"})
"""Operations that TensorFlow counts as stateful, but that have no effect."""

_NUMBERED = re.compile(r"\.(\d+)$")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_./-]")


class Body:
    """The nodes of a graph or of a function, in the order in which they are made."""

    def __init__(self, in_function: bool) -> None:
        self.in_function = in_function
        self.nodes: list[GraphNode] = []
        self.outputs: list[Any] = []  # the types of the results of the operation that is being written
        self.lists_grow = False  # whether a TensorArray of the program may grow
        self.last_effects: list[GraphNode] = []  # what an effect that follows must wait for
        self._last_write: list[GraphNode] = []
        self._taken: dict[str, int] = {}
        self._constants: dict[Any, NodeResult] = {}

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if not op[0].isupper():
            raise AttributeError(op)
        return functools.partial(self.add, op)

    def add(self, op: str, *inputs: Any, **attributes: Any) -> Any:
        """Add a node. Return its result, a list of several results, or the node if there are none."""
        found = signature(op)
        assert found is not None, f"TensorFlow's operation {op} is not in the table"
        unknown = [name for name in attributes if name not in found.attributes and not name.startswith("_")]
        assert not unknown, f"{op} has no attributes {unknown}"
        attributes = {name: _attribute_value(value) for name, value in attributes.items()}
        flat = self._operands(found, inputs, attributes)
        node = GraphNode(op, found, flat)
        node.attributes = attributes
        self._order(node)
        self.nodes.append(node)
        return _results(node, found)

    def _operands(
        self, found: NodeSignature, given: Sequence[Any], attributes: dict[str, Any]
    ) -> list[NodeResult]:
        assert len(given) == len(found.inputs), f"{found.name} takes {len(found.inputs)} inputs"
        for argument, value in zip(found.inputs, given, strict=True):
            _infer(argument, value, found, attributes)
        flat: list[NodeResult] = []
        for argument, value in zip(found.inputs, given, strict=True):
            dtype = attributes.get(
                argument.kind, None if argument.kind in found.attributes else argument.kind
            )
            for item in value if argument.is_list or argument.number else [value]:
                if not isinstance(item, NodeResult):
                    item = self.const(item, None if argument.is_list else dtype)
                    if argument.kind in found.attributes and not argument.is_list:
                        attributes.setdefault(argument.kind, item.dtype)
                flat.append(item)
        return flat

    def const(self, value: Any, dtype: str | None = None) -> NodeResult:
        """Return a constant; without a dtype, Python's integers become int32, its floats float32."""
        array = _array(value, dtype)
        content = self.content(array)
        known = self._constants.get(content)
        if known is None:
            known = self._constants[content] = self.add(
                "Const", value=content, dtype=dtypes.of_array(array).name
            )
        return known

    @staticmethod
    def content(value: Any) -> bytes:
        """Return a constant as a TensorProto."""
        return serialized(_array(value, None))

    def _order(self, node: GraphNode) -> None:
        """Make a node with effects wait for the effects before it."""
        assert node.signature is not None
        if not node.signature.is_stateful or node.op in UNORDERED:
            return
        if node.op in READS:
            node.controls += self._last_write
            self.last_effects = [*self.last_effects, node]
        else:
            node.controls += self.last_effects or self._last_write
            self._last_write = self.last_effects = [node]

    def forget_effects(self) -> None:
        """Let the nodes that follow be independent of the effects so far."""
        self.last_effects, self._last_write = [], []

    def parameter(self, name: str, dtype: str) -> NodeResult:
        """Add a parameter of the function."""
        node = GraphNode("", None, ())
        node.name = self.unique(name)
        return NodeResult(node, "", 0, 0, dtype)

    def unique(self, wanted: str) -> str:
        """Return a name that no other node has."""
        base = _ILLEGAL.sub("_", _NUMBERED.sub(r"_\1", wanted)).lstrip("_/-") or "value"
        number = self._taken.get(base)
        self._taken[base] = 0 if number is None else number + 1
        if number is None:
            return base
        return self.unique(f"{base}_{number + 1}")

    def name_nodes(self, start: int, scope: str, results: Iterable[NodeResult]) -> None:
        """Name the nodes from number `start` on, which an operation called `scope` has made."""
        new = [node for node in self.nodes[start:] if not node.name]
        main = next((result.node for result in results if not result.node.name), new[-1] if new else None)
        for node in new:
            if node is main:
                node.name = self.unique(scope)
        for node in new:
            if not node.name:
                node.name = self.unique(f"{scope}/{node.op}")

    def messages(self) -> list[NodeDef]:
        """Return the nodes as messages."""
        return [node.message(self.in_function) for node in self.nodes]


def _results(node: GraphNode, found: NodeSignature) -> Any:
    results: list[NodeResult] = []
    for argument in found.outputs:
        for number, dtype in enumerate(_dtypes(argument, found, node.attributes)):
            results.append(NodeResult(node, argument.name, number, len(results), dtype))
    if len(found.outputs) == 1 and not (found.outputs[0].is_list or found.outputs[0].number):
        return results[0]
    return results if found.outputs else node


def _dtypes(argument: NodeArgument, found: NodeSignature, attributes: dict[str, Any]) -> Sequence[str]:
    if argument.is_list:
        return _attribute(argument.kind, found, attributes)  # type: ignore[no-any-return]
    kind = argument.kind
    dtype = _attribute(kind, found, attributes) if kind in found.attributes else kind
    return [dtype] * (_attribute(argument.number, found, attributes) if argument.number else 1)


def _attribute(name: str, found: NodeSignature, attributes: dict[str, Any]) -> Any:
    return attributes.get(name, found.attributes[name].default)


def _infer(argument: NodeArgument, value: Any, found: NodeSignature, attributes: dict[str, Any]) -> None:
    """Set the attributes that follow from an input."""
    items = value if argument.is_list or argument.number else [value]
    if argument.number:
        attributes[argument.number] = len(items)
    if argument.is_list:
        attributes.setdefault(
            argument.kind, [item.dtype if isinstance(item, NodeResult) else _dtype_of(item) for item in items]
        )
    elif argument.kind in found.attributes:
        dtype = next((item.dtype for item in items if isinstance(item, NodeResult)), None)
        if dtype is not None:
            attributes.setdefault(argument.kind, dtype)


def _dtype_of(value: Any) -> str:
    return dtypes.of_array(_array(value, None)).name


def _array(value: Any, dtype: str | None) -> np.ndarray[Any, Any]:
    """Return a value as an array; without a dtype, Python's integers become int32, its floats float32."""
    if isinstance(value, Constant):
        value = value.value
    if isinstance(value, (np.ndarray, np.generic)) and dtype is None:
        return np.asarray(value)
    if dtype == "string" or _is_text(value):
        texts = [_as_bytes(item) for item in value] if isinstance(value, list) else _as_bytes(value)
        return np.array(texts, object)
    array = np.asarray(value)
    if dtype is None:
        dtype = (
            "bool"
            if array.dtype.kind == "b"
            else "float32"
            if array.dtype.kind == "f" and array.size
            else "int32"
        )
    return array.astype(dtypes.as_dtype(dtype).numpy_dtype)


def _is_text(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, (str, bytes))


def _as_bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _attribute_value(value: Any) -> Any:
    """Return an attribute as signatures have it: dtypes by name, and lists."""
    if isinstance(value, dtypes.DType):
        return value.name
    return list(value) if isinstance(value, tuple) else value
