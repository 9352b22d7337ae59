"""The attributes of TensorFlow's nodes as values of Python, and back.

attr { key: "strides" value { list { i: 1 i: 2 } } }     ⇄     {"strides": [1, 2]}
"""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.shapes import Dims, TensorShape
from ...storage import tensor_protos
from .graph_messages import AttrValue, NodeDef, TensorShapeProto
from .signatures import NodeSignature

TYPE_NUMBERS = tensor_protos.NUMBERS | {"resource": 20, "variant": 21}

_FIELDS = {
    "type": "type", "shape": "shape", "int": "i", "float": "f", "bool": "b", "string": "s", "tensor": "tensor",
    "func": "func",
}  # fmt: skip


def read_shape(message: TensorShapeProto) -> TensorShape:
    """Return a shape, of which dimensions or the rank may be unknown."""
    if message.unknown_rank:
        return TensorShape(None)
    return TensorShape([None if dim.size < 0 else dim.size for dim in message.dim])


def encode_shape(message: TensorShapeProto, shape: Dims) -> None:
    """Set the dimensions of a shape message, which becomes present; unknown ones are -1."""
    message.SetInParent()
    if shape is None:
        message.unknown_rank = True
    else:
        for size in shape:
            message.dim.add(size=-1 if size is None else size)


def read_attributes(node: NodeDef, signature: NodeSignature) -> dict[str, Any]:
    """Return the attributes of a node by name, those that it leaves out with their defaults.

    Raises ValueError for an attribute of another kind, and a required one that is missing.
    """
    found = {}
    for name, (kind, default) in signature.attributes.items():
        if name in node.attr:
            try:
                found[name] = _value(node.attr[name], kind)
            except (TypeError, ValueError) as error:
                message = f"the attribute {name!r} of the node {node.name!r} of {node.op}: {error}"
                raise ValueError(message) from error
        elif default is not None:
            found[name] = _default(default, kind)
        elif kind not in ("type", "list(type)", "int", "shape", "list(shape)"):
            raise ValueError(f"the node {node.name!r} of {node.op} lacks the attribute {name!r}")
    return found


def _value(message: AttrValue, kind: str) -> Any:
    inner = kind.removeprefix("list(").removesuffix(")")
    if inner not in _FIELDS:
        raise ValueError(f"{kind} is not a kind of attribute")
    if kind.startswith("list("):
        return [_scalar(item, inner) for item in getattr(message.list, _FIELDS[inner])]
    present = message.WhichOneof("value")
    if present is not None and present != _FIELDS[inner]:
        raise ValueError(f"an attribute is of the kind {present!r}, not {inner!r}")
    return _scalar(getattr(message, _FIELDS[inner]), inner)


def _scalar(value: Any, kind: str) -> Any:
    if kind == "type":
        return dtypes.as_dtype(value)
    if kind == "shape":
        return read_shape(value)
    if kind == "string":
        return bytes(value).decode("utf-8", "surrogateescape")
    if kind == "tensor":
        return tensor_protos.parsed(value)
    if kind == "func":
        return value.name
    return {"int": int, "float": float, "bool": bool}[kind](value)


def _default(value: Any, kind: str) -> Any:
    if kind == "type":
        return dtypes.as_dtype(value)
    if kind == "list(type)":
        return [dtypes.as_dtype(item) for item in value]
    return value


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
    else:
        kind = kind or {bool: "bool", int: "int", bytes: "string", str: "string"}[type(value)]
        setattr(message, _FIELDS[kind], _encoded(kind, value))


def _add_item(message: Any, kind: str, item: Any) -> None:
    if kind == "func":
        message.func.add().name = item
    elif kind == "shape":
        encode_shape(message.shape.add(), item)
    else:
        getattr(message, _FIELDS[kind]).append(_encoded(kind, item))


def _encoded(kind: str, value: Any) -> Any:
    if kind == "type":
        return TYPE_NUMBERS[value]
    return value.encode() if kind == "string" and isinstance(value, str) else value
