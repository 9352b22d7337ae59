"""JSON serialization of the structure of a function's arguments and results.

    (x, {"n": 3}), x a float32[?]     ==>     {"tuple": [{"tensor": [[null], "float32", "x"]}, {"dict": [["n", 3]]}]}
    a result of the graph             ==>     {"output": 0}
    a composite tensor                ==>     {"spec": ["RaggedTensorSpec", …]}
    an extension type                 ==>     {"extension": ["my_project.Masked.Spec", ["values", …], …]}
    a class of linear operators       ==>     {"operator": "LinearOperatorDiag"}

Python values are written like attributes of operations; objects that exist only at run time cannot be written.
"""

from __future__ import annotations

import collections
import importlib
from collections.abc import Mapping
from typing import Any

from .. import dtypes
from ..composite import registered_types
from ..composite.extension_type import ExtensionTypeSpec
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..ir.attribute_json import attribute_data, attribute_from
from ..tracing.trace import Composite, Output

SPECS = {
    "IndexedSlicesSpec": "..composite.indexed_slices",
    "LinearOperatorSpec": "..linear_operator.spec",
    "RaggedTensorSpec": "..ragged.spec",
    "SparseTensorSpec": "..sparse.tensor",
    "TensorSpec": "..core.tensor_spec",
}
"""The specs that files may name, and their modules; those of extension types are in `registered_types`."""


def write(value: Any) -> Any:
    """Return a nest of specs, outputs and Python values as data. ValueError for other values."""
    if isinstance(value, TensorSpec):
        dims = value.spec.shape
        return {"tensor": [None if dims is None else list(dims), value.dtype.name, value.name]}
    if isinstance(value, Output):
        if value.array is not None:
            raise ValueError("a TensorArray cannot be saved: return its stack()")
        return {"output": value.number}
    if isinstance(value, Composite):
        return {"composite": write(value.spec), "parts": [write(part) for part in value.parts]}
    if isinstance(value, ExtensionTypeSpec):
        fields = [[name, write(field)] for name, field in value._serialize()]
        return {"extension": [_named_extension(value), *fields]}
    if isinstance(value, TypeSpec):
        return {"spec": [_kind(value), *map(write, value._serialize())]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        pairs = zip(value._fields, value, strict=True)
        return {"namedtuple": [type(value).__name__, *[[name, write(item)] for name, item in pairs]]}
    if isinstance(value, (tuple, list)):
        return {
            type(value).__name__ if type(value) in (tuple, list) else "list": [write(item) for item in value]
        }
    if isinstance(value, Mapping):
        return {"dict": [[attribute_data(key), write(item)] for key, item in value.items()]}
    if isinstance(value, type) and hasattr(value, "solvevec"):
        return {"operator": _named_operator(value.__name__, value).__name__}
    return _python(value)


def _named_operator(name: str, expected: Any = None) -> Any:
    """Return the class of linear operators with this name; ValueError for others."""
    found = getattr(importlib.import_module("..linalg", __package__), name, None)
    if not name.startswith("LinearOperator") or found is None or expected not in (None, found):
        raise ValueError(f"values of the kind {name} cannot be saved: pass their tensors instead")
    return found


def _named_extension(spec: ExtensionTypeSpec) -> str:
    name = registered_types.name_in_files(type(spec))
    if name is None:
        kind = spec.value_type.__name__
        raise ValueError(f"{kind} has no name in files: write __name__ = 'my_project.{kind}' in its class")
    return name


def _kind(spec: TypeSpec) -> str:
    name = type(spec).__name__
    if name not in SPECS or _class(name) is not type(spec):
        kind = spec.value_type.__name__
        raise ValueError(f"values of the kind {kind} cannot be saved: pass their tensors instead")
    return name


def _python(value: Any) -> Any:
    data = attribute_data(value)
    attribute_from(data)  # raises for data that could not be read
    return {"python": data}


def read(data: Any) -> Any:
    """Return the nest that was written. ValueError, KeyError or TypeError for invalid data."""
    ((kind, content), *more) = data.items()
    if kind == "tensor":
        dims, dtype, name = content
        return TensorSpec(dims, dtypes.as_dtype(dtype), name)
    if kind == "output":
        return Output(int(content))
    if kind == "composite":
        return Composite(read(content), [read(part) for part in dict(more)["parts"]])
    if kind == "spec":
        name, *fields = content
        return _class(name)._deserialize(tuple(read(field) for field in fields))
    if kind == "extension":
        name, *fields = content
        return registered_types.restored(name, {key: read(field) for key, field in fields})
    if kind == "namedtuple":
        name, *items = content
        made: Any = collections.namedtuple(name, [field for field, _ in items])  # type: ignore[misc]
        return made(*[read(item) for _, item in items])
    if kind == "dict":
        return {attribute_from(key): read(item) for key, item in content}
    if kind in ("tuple", "list"):
        items = [read(item) for item in content]
        return tuple(items) if kind == "tuple" else items
    if kind == "operator":
        return _named_operator(content)
    if kind != "python":
        raise ValueError(f"{kind!r} is not a kind of structure")
    return attribute_from(content)


def _class(name: str) -> Any:
    if name not in SPECS:
        raise ValueError(f"{name!r} is not a kind of spec")
    return getattr(importlib.import_module(SPECS[name], __package__), name)
