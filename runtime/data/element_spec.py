"""Elements of datasets: nests of tensors with specs, and flat rows of arrays inside of pipelines.

    {"x": tensor, "y": (tensor, None)}     the element, as users see it
    {"x": TensorSpec(…), "y": (…, None…)}  its spec
    [array, array]                         its row: the form that the stages of a pipeline pass on

Tuples, dicts and dataclasses are nests; a list is a tensor, as everywhere in `tf.data`. A dataset in an
element is one leaf, an array of rank 0 and dtype variant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, MappingView, Sequence
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..composite import components
from ..core import shapes
from ..core.conversion import convert_to_tensor
from ..core.mixed_literals import first, leaves
from ..core.tensor import EagerTensor, Tensor
from ..core.tensor_array import TensorArray
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..ir.value_types import TensorType

Row = Sequence[Any]
"""The leaves of an element: arrays, or NumPy scalars for numbers of rank 0."""


class NoneTensorSpec(TypeSpec):
    """The spec of None in elements."""

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return type(None)

    @property
    def _component_specs(self) -> tuple[()]:
        return ()

    def _serialize(self) -> tuple[()]:
        return ()

    def _to_components(self, value: Any) -> tuple[()]:
        return ()

    def _from_components(self, components: Any) -> None:
        return None

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)


def is_structure(value: Any) -> bool:
    """Return whether an element is a nest: a tuple, dict or dataclass, but not a list."""
    return nest.is_nested(value) and not isinstance(value, (list, deque, MappingView))


def normalized(value: Any) -> Any:
    """Return an element with tensors as leaves."""
    if isinstance(value, Tensor) or value is None or nest.is_composite(value):
        return value
    if is_structure(value):
        return nest.rebuilt(value, [normalized(child) for _, child in nest.children(value)])
    if isinstance(value, TensorArray):
        return value.stack()
    return convert_to_tensor(value, _dtype_of_arrays(value))


def _dtype_of_arrays(value: Any) -> Any:
    """Return the common dtype of a list of NumPy arrays; None for everything else."""
    if not isinstance(value, list) or not isinstance(first(value), np.ndarray):
        return None
    kinds = {leaf.dtype if isinstance(leaf, np.ndarray) else None for leaf in leaves(value)}
    return kinds.pop() if len(kinds) == 1 else None


def spec_of(element: Any) -> Any:
    """Return the spec of a normalized element."""
    if element is None:
        return NoneTensorSpec()
    if isinstance(element, Tensor):
        return TensorSpec(element.shape, element.dtype)
    if nest.is_composite(element):
        return element._type_spec
    return nest.rebuilt(element, [spec_of(child) for _, child in nest.children(element)])


def leaf_specs(spec: Any) -> list[TensorType]:
    """Return the types of a row's leaves."""
    return [leaf.spec for part in nest.flatten(spec) for leaf in part.flatten()]


def leaves_of(element: Any) -> list[Any]:
    """Return the tensors of a normalized element, in the order of its row."""
    return [leaf for leaf in components.flatten(element) if leaf is not None]


def row_of(element: Any) -> list[Any]:
    """Return the row of a normalized element."""
    return [leaf._array for leaf in leaves_of(element)]


def made(spec: Any, leaves: Iterable[Any]) -> Any:
    """Return the element with these tensors as leaves."""
    return components.made(spec, iter(leaves))


def packer(spec: Any) -> Callable[[Row], Any]:
    """Return a function that converts a row to an element."""
    leaf_types = [leaf.dtype.numpy_dtype for leaf in leaf_specs(spec)]
    if isinstance(spec, TensorSpec):
        (only,) = leaf_types
        return lambda row: EagerTensor(row[0] if type(row[0]) is np.ndarray else np.asarray(row[0], only))

    def tensors(row: Row) -> list[EagerTensor]:
        return [
            EagerTensor(leaf if type(leaf) is np.ndarray else np.asarray(leaf, kind))
            for leaf, kind in zip(row, leaf_types, strict=True)
        ]

    if type(spec) is tuple and all(isinstance(part, TensorSpec) for part in spec):
        return lambda row: tuple(tensors(row))
    return lambda row: made(spec, tensors(row))


def mapped_spec(change: Callable[[TensorSpec], Any], spec: Any, what: str) -> Any:
    """Return the spec with `change` applied to its TensorSpecs; TypeError for specs that `what` does not support."""
    if isinstance(spec, NoneTensorSpec):
        return spec
    if isinstance(spec, TensorSpec):
        return change(spec)
    if isinstance(spec, TypeSpec):
        raise TypeError(f"{what} cannot take elements with {spec!r}")
    return nest.rebuilt(spec, [mapped_spec(change, child, what) for _, child in nest.children(spec)])


def generalized(one: Any, other: Any) -> Any | None:
    """Return the most precise spec that covers both; None when structures or dtypes differ."""
    if isinstance(one, TensorSpec) and isinstance(other, TensorSpec):
        if one.dtype is not other.dtype:
            return None
        return TensorSpec(shapes.generalize(one.spec.shape, other.spec.shape), one.dtype)
    if isinstance(one, TypeSpec):
        return one.most_specific_common_supertype([other]) if type(one) is type(other) else None
    if not is_structure(one) or not nest.same_structure(_blank(one), _blank(other)):
        return None
    pairs = zip(nest.children(one), nest.children(other), strict=True)
    parts = [generalized(a, b) for (_, a), (_, b) in pairs]
    return None if any(part is None for part in parts) else nest.rebuilt(one, parts)


def _blank(spec: Any) -> Any:
    """Return the structure without its leaves."""
    return nest.rebuilt(spec, [None] * len(nest.children(spec))) if is_structure(spec) else None


def fitted(row: Row, spec: Any, what: str) -> Row:
    """Return the row if its leaves match the spec; InvalidArgumentError otherwise."""
    return fitted_leaves(row, leaf_specs(spec), what)


def fitted_leaves(row: Row, types: Sequence[TensorType], what: str) -> Row:
    """Return the row if its leaves have these types; InvalidArgumentError otherwise."""
    for position, (leaf, wanted) in enumerate(zip(row, types, strict=True)):
        if dtypes.of_array(leaf) is not wanted.dtype or not shapes.compatible(wanted.shape, leaf.shape):
            found = TensorType(dtypes.of_array(leaf), leaf.shape)
            raise errors.InvalidArgumentError(f"{what}: component {position} is {found}, expected {wanted}")
    return row


VARIANT = dtypes.variant.numpy_dtype


def boxed(value: Any) -> np.ndarray[Any, Any]:
    """Return a Python object as an array of rank 0 and dtype variant."""
    array = np.empty((), VARIANT)
    array[()] = (value,)
    return array


def unboxed(array: Any) -> Any:
    return array.item()[0]
