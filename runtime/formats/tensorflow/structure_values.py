"""Nests of arguments and results in TensorFlow's saved models, as nests of Python.

tuple_value { values { tensor_spec_value { … } } values { bool_value: true } }     ==>     (TensorSpec(…), True)
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from ... import dtypes, nest
from ...composite import registered_types
from ...composite.indexed_slices import IndexedSlicesSpec
from ...core.tensor_spec import TensorSpec
from ...core.type_spec import TypeSpec
from ...errors import UnimplementedError
from ...ragged.spec import RaggedTensorSpec
from ...sparse.tensor import SparseTensorSpec
from .attribute_values import read_shape
from .structure_messages import StructuredValue, TypeSpecProto

COMPOSITES: dict[int, type[TypeSpec]] = {1: SparseTensorSpec, 2: IndexedSlicesSpec, 3: RaggedTensorSpec}
"""The specs of composite values by TensorFlow's numbers; both sides store what `_serialize` returns."""

EXTENSION = 13
"""TensorFlow's number for specs of extension types, which have names of their own."""

_DEEPEST = 50


def read_structure(message: StructuredValue, depth: int = 0) -> Any:
    """Return the nest of a message. ValueError for an invalid one, UnimplementedError for a spec that is not here."""
    kind = message.WhichOneof("kind")
    value: Any = getattr(message, kind) if kind else None
    if depth > _DEEPEST:
        raise ValueError("an argument is nested too deeply")
    if kind is None or kind == "none_value":
        return None
    if kind == "float64_value":
        return float(value)
    if kind in ("int64_value", "string_value", "bool_value"):
        return {"int64_value": int, "string_value": str, "bool_value": bool}[kind](value)
    if kind == "tensor_shape_value":
        return read_shape(value)
    if kind == "tensor_dtype_value":
        return dtypes.as_dtype(value)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        return TensorSpec(read_shape(value.shape), dtypes.as_dtype(value.dtype), value.name or None)
    if kind == "type_spec_value":
        return _composite(value, depth)
    if kind in ("list_value", "tuple_value"):
        items = [read_structure(item, depth + 1) for item in value.values]
        return items if kind == "list_value" else tuple(items)
    if kind == "dict_value":
        return {key: read_structure(item, depth + 1) for key, item in value.fields.items()}
    if kind == "named_tuple_value":
        made: Any = collections.namedtuple(value.name, [pair.key for pair in value.values])  # type: ignore[misc]
        return made(*[read_structure(pair.value, depth + 1) for pair in value.values])
    raise UnimplementedError(f"an argument of a function is a {kind.removesuffix('_value')}")


def _composite(message: TypeSpecProto, depth: int) -> TypeSpec:
    kind = COMPOSITES.get(message.type_spec_class)
    if message.type_spec_class == EXTENSION:
        fields = dict(read_structure(message.type_state, depth + 1))
        return registered_types.restored(message.type_spec_class_name, fields)
    if kind is None:
        raise UnimplementedError(f"an argument of a function is a {message.type_spec_class_name}")
    state = read_structure(message.type_state, depth + 1)
    spec: TypeSpec = kind(*state)
    return spec


def flat_specs(structure: Any) -> list[TensorSpec]:
    """Return the specs of the tensors in a nest, those of composite values included.

    >>> flat_specs({"a": TensorSpec([2]), "b": 3})
    [TensorSpec(shape=(2,), dtype=tf.float32, name=None)]
    """
    leaves = nest.flatten(structure)
    return [
        spec
        for leaf in leaves
        for spec in (
            [leaf] if isinstance(leaf, TensorSpec) else leaf.flatten() if isinstance(leaf, TypeSpec) else []
        )
    ]


def flat_tensors(structure: Any, values: Any) -> list[Any]:
    """Return the tensors of values in the nest of their specs, in the order of `flat_specs`."""
    found = []
    for spec, value in zip(nest.flatten(structure), nest.flatten(values), strict=True):
        if isinstance(spec, TensorSpec):
            found.append(value)
        elif isinstance(spec, TypeSpec):
            found += spec.to_tensors(value)
    return found


def packed(structure: Any, tensors: Sequence[Any]) -> Any:
    """Return the nest with these tensors in the places of its specs. ValueError for another number of tensors."""
    if len(tensors) != len(flat_specs(structure)):
        raise ValueError(f"a function has {len(tensors)} results, not {len(flat_specs(structure))}")
    given = iter(tensors)
    leaves = []
    for leaf in nest.flatten(structure):
        if isinstance(leaf, TensorSpec):
            leaves.append(next(given))
        elif isinstance(leaf, TypeSpec):
            leaves.append(leaf.from_tensors([next(given) for _ in leaf.flatten()]))
        else:
            leaves.append(leaf)
    return nest.pack_sequence_as(structure, leaves)
