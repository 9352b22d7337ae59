"""The types of a concrete function's arguments and results, as `structured_input_signature` and others show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import nest
from ..composite import components
from ..core import shapes
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..ir.value_types import AnySpec, TensorType
from .cache_key import Identity, is_tensor_argument, key_of
from .trace import Composite, Output, input_name, spec_of_argument
from .trace_type import TraceType
from .variables_in_composites import spec_of


def signature_spec(leaf: Any) -> Any:
    """Return the TensorSpec, TypeSpec, key or value of an argument; it keeps no tensor or object alive."""
    if isinstance(leaf, TypeSpec):
        return leaf
    if nest.is_composite(leaf):
        return spec_of(leaf)
    if not is_tensor_argument(leaf):
        key = key_of(leaf)
        return key if isinstance(key, (Identity, TraceType)) else leaf
    spec = spec_of_argument(leaf)
    return TensorSpec(spec.shape, spec.dtype) if isinstance(spec, TensorType) else leaf


def named_specs(value: Any, path: str) -> Any:
    """Return `value` with a name in each TensorSpec: its own name, or one from the path of the leaf."""
    flat = [
        TensorSpec(leaf.shape, leaf.dtype, leaf.name or input_name(path_))
        if type(leaf) is TensorSpec
        else leaf
        for path_, leaf in nest.flatten_with_path(value, path)
    ]
    return nest.pack_sequence_as(value, flat)


def result_spec(leaf: Any, specs: Sequence[AnySpec]) -> Any:
    """Return the TensorSpec or TypeSpec of a result, or its Python value; `specs` are those of the graph's outputs."""
    if isinstance(leaf, Composite):
        return leaf.spec
    if not isinstance(leaf, Output):
        return leaf
    spec = specs[leaf.number]
    return TensorSpec(spec.shape, spec.dtype) if isinstance(spec, TensorType) else leaf.array


def result_shape(leaf: Any) -> Any:
    """Return the shape of a result; for a composite, the shapes of its components in their structure."""
    if components.is_composite_spec(leaf):
        return nest.map_structure(result_shape, leaf._component_specs)
    return getattr(leaf, "shape", shapes.TensorShape(None))


def result_dtype(leaf: Any) -> Any:
    """Return the dtype of a result; for a composite, the dtypes of its components in their structure."""
    if components.is_composite_spec(leaf):
        return nest.map_structure(result_dtype, leaf._component_specs)
    return getattr(leaf, "dtype", None)
