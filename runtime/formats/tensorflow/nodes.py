"""Nodes of TensorFlow's graphs, made by calls that have the names of TensorFlow's operations.

to.Sum(x, [0], keep_dims=True)     ==>     node { name: "Sum" op: "Sum" input: "x" input: "Const"
                                                  attr { key: "T" … } attr { key: "keep_dims" … } }

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
from ...core import shapes
from ...ir.graph import Constant
from ...storage.tensor_protos import NUMBERS, serialized
from .graph_messages import AttrValue, NodeDef, TensorShapeProto
from .signatures import NodeArgument, NodeSignature, signature

TYPE_NUMBERS = NUMBERS | {"resource": 20, "variant": 21}

READS = frozenset(
    {"ReadVariableOp", "VarIsInitializedOp", "ResourceGather", "ResourceGatherNd", "LookupTableFindV2"}
)
"""Operations that read state: they run in any order between two others with effects."""

UNORDERED = frozenset({"VarHandleOp", "Placeholder", "HashTableV2", "MutableHashTableV2"})
"""Operations that TensorFlow counts as stateful, but that have no effect."""

_FIELDS = {
    "int": "i",
    "float": "f",
    "bool": "b",
    "string": "s",
    "type": "type",
    "shape": "shape",
    "tensor": "tensor",
}
_NUMBERED = re.compile(r"\.(\d+)$")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_./-]")


class NodeResult:
    """One result of a node, or a parameter of a function."""

    __slots__ = ("argument", "dtype", "index", "node", "number", "spec")

    def __init__(self, node: GraphNode, argument: str, number: int, index: int, dtype: str) -> None:
        self.node = node
        self.argument = argument
        self.number = number  # among the results of the argument
        self.index = index  # among all results
        self.dtype = dtype
        self.spec: Any = None  # the type in agc's graph, if this is a value of that

    def text(self, in_function: bool) -> str:
        """Return the name of the result in an input of another node."""
        if in_function and self.node.signature is not None:
            return f"{self.node.name}:{self.argument}:{self.number}"
        return f"{self.node.name}:{self.index}" if self.index else self.node.name

    @property
    def shape(self) -> shapes.Dims:
        """The shape, as far as agc's graph has it."""
        return self.spec.shape if self.spec is not None else None

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def kind(self) -> str:
        """The kind of the dtype, as in NumPy: `f` for floats, `iu` for integers, `c`, `b`, `O` for strings."""
        return "f" if self.dtype.startswith(("bfloat", "float")) else dtypes.as_dtype(self.dtype).numpy.kind


class GraphNode:
    """A node that gets its name when the graph is written; one without a signature is a parameter."""

    __slots__ = ("attributes", "controls", "inputs", "name", "op", "signature", "values")

    def __init__(self, op: str, found: NodeSignature | None, inputs: Sequence[NodeResult]) -> None:
        self.op = op
        self.signature = found
        self.inputs = inputs
        self.controls: list[GraphNode] = []
        self.attributes: dict[str, Any] = {}
        self.name = ""

    def message(self, in_function: bool) -> NodeDef:
        """Return the node as a message."""
        message = NodeDef(name=self.name, op=self.op)
        names = [each.text(in_function) for each in self.inputs]
        message.input.extend(names + [f"^{node.name}" for node in self.controls])
        known = self.signature.attributes if self.signature is not None else {}
        for name, value in self.attributes.items():
            if name not in known or value != known[name].default or known[name].default is None:
                encode_attribute(message.attr[name], known[name].kind if name in known else "", value)
        return message


def encode_attribute(message: AttrValue, kind: str, value: Any) -> None:
    """Set the value of an attribute; without a kind it has that of the Python value."""
    if kind == "func":
        message.func.name = value
    elif kind.startswith("list("):
        message.list.SetInParent()
        for item in value:
            _add_item(message.list, kind[5:-1], item)
    elif kind == "shape":
        encode_shape(message.shape, value)
        message.shape.SetInParent()
    else:
        kind = kind or {bool: "bool", int: "int", bytes: "string", str: "string"}[type(value)]
        setattr(message, _FIELDS[kind], _plain(kind, value))


def _add_item(message: Any, kind: str, item: Any) -> None:
    if kind == "func":
        message.func.add().name = item
    elif kind == "shape":
        encode_shape(message.shape.add(), item)
    else:
        getattr(message, _FIELDS[kind]).append(_plain(kind, item))


def _plain(kind: str, value: Any) -> Any:
    if kind == "type":
        return TYPE_NUMBERS[value]
    return value.encode() if kind == "string" and isinstance(value, str) else value


def encode_shape(message: TensorShapeProto, shape: shapes.Dims) -> None:
    """Set the dimensions of a shape message; unknown ones are -1."""
    if shape is None:
        message.unknown_rank = True
    else:
        for size in shape:
            message.dim.add(size=-1 if size is None else size)


class Body:
    """The nodes of a graph or of a function, in the order in which they are made."""

    def __init__(self, in_function: bool) -> None:
        self.in_function = in_function
        self.nodes: list[GraphNode] = []
        self.parameters: list[GraphNode] = []
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
        attributes = {name: _name_of(value) for name, value in attributes.items()}
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
        self.parameters.append(node)
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
    if isinstance(value, Constant):
        value = value.value
    if isinstance(value, (np.ndarray, np.generic)) and dtype is None:
        return np.asarray(value)
    if isinstance(value, str):
        value = value.encode()
    if (
        dtype == "string"
        or isinstance(value, bytes)
        or (isinstance(value, list) and value and isinstance(value[0], (str, bytes)))
    ):
        return np.array(
            [item.encode() if isinstance(item, str) else item for item in value]
            if isinstance(value, list)
            else value,
            object,
        )
    array = np.asarray(value)
    if dtype is not None:
        return array.astype(dtypes.as_dtype(dtype).numpy)
    return array.astype(
        np.float32
        if array.dtype.kind == "f" and array.size
        else np.int32
        if array.dtype.kind != "b"
        else bool
    )


def _name_of(value: Any) -> Any:
    return (
        value.name if isinstance(value, dtypes.DType) else list(value) if isinstance(value, tuple) else value
    )
