"""The leaves of state that passes through regions: values that the graph carries, and static Python objects.

tensor, TensorArray      carried unchanged
number, NumPy array      carried as a constant; the dtype of a Python number is weak, and adapts to other operands
everything else          static: the same Python object on every path
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from agc.autograph.staging import Maybe, Undefined

from .. import dtypes, nest
from ..composite import components
from ..core import weak_types
from ..core.conversion import convert_to_tensor, is_tensor_like
from ..core.shapes import TensorShape
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerArray, EagerTensor, Tensor
from ..core.tensor_array import TensorArray
from ..ir.builder import Builder, eagerly
from ..ir.graph import Operand, Value
from ..ir.value_types import AnySpec, ListType, TensorType
from ..kernels.persistent_array import PersistentArray
from ..ops.framework.op import wrap

NUMBERS = (bool, int, float, complex)
_CARRIED = (Tensor, TensorArray, np.ndarray, np.generic, *NUMBERS)
_PLAIN = frozenset({SymbolicTensor, EagerTensor, *NUMBERS})


def are_plain(values: Iterable[Any]) -> bool:
    """Return whether all values are tensors and Python numbers, the common case: they are leaves, and defined."""
    return _PLAIN.issuperset(map(type, values))


def is_carried(leaf: Any) -> bool:
    """Return whether a graph carries this value; other values stay Python objects."""
    return isinstance(leaf, _CARRIED)


def can_be_carried(leaf: Any) -> bool:
    """Return whether a graph can carry this value if it must: also variables (by their value) and strings."""
    return is_carried(leaf) or is_tensor_like(leaf) or isinstance(leaf, (str, bytes))


def dtype_of(leaf: Any) -> dtypes.DType | None:
    """Return the dtype of a leaf; None for Python values, which adapt their dtype."""
    if isinstance(leaf, TensorArray) or is_weak(leaf):
        return None
    dtype = getattr(leaf, "dtype", None)
    return None if dtype is None else dtypes.as_dtype(dtype)


def is_weak(leaf: Any) -> bool:
    """Return whether the value adapts its dtype to other operands."""
    return isinstance(leaf, NUMBERS)


def carried(leaf: Any, hint: dtypes.DType | None = None) -> Any:
    """Return a leaf as an argument of operations: a tensor, or the state of a TensorArray."""
    if isinstance(leaf, TensorArray):
        return leaf._reachable()
    if isinstance(leaf, Tensor):
        return weak_types.adapted(leaf, hint) if hint is not None and weak_types.adapts(leaf, hint) else leaf
    if type(leaf) in NUMBERS:  # the conversion of these records no operation
        return convert_to_tensor(leaf, hint)
    if is_weak(leaf):
        with eagerly():
            return convert_to_tensor(leaf, hint)
    return convert_to_tensor(leaf)


def rewrapped(leaf: Any, value: Value, builder: Builder) -> Any:
    """Return a value of a graph as the same kind of object as the leaf: a tensor or a TensorArray."""
    inner = wrap(value, builder)
    return leaf.with_flow(inner) if isinstance(leaf, TensorArray) else inner


def covering(leaf: Any, *others: Any) -> Any:
    """Return the leaf without its static information that `others` do not share."""
    return leaf.covering(*others) if isinstance(leaf, TensorArray) else leaf


def spec_of(operand: Any) -> AnySpec:
    """Return the type of an operation's argument."""
    if isinstance(operand, Tensor):
        return TensorType(operand.dtype, operand.shape.sizes)
    spec: AnySpec = operand.spec
    return spec


def spec_in(leaf: Any, dtype: dtypes.DType | None) -> AnySpec:
    """Return the type of the result of `carried(leaf, dtype)`, without recording an operation."""
    if isinstance(leaf, Tensor):
        own = TensorType(leaf.dtype, leaf.shape.sizes)
        return TensorType(dtype, own.shape) if dtype is not None and weak_types.adapts(leaf, dtype) else own
    return spec_of(carried(leaf, dtype))


def describe(leaf: Any) -> str:
    """Return a leaf's type as text for messages."""
    if isinstance(leaf, Undefined):
        return f"{shown(leaf.value)}, or undefined" if isinstance(leaf, Maybe) else "undefined"
    if nest.is_composite(leaf):
        return repr(leaf._type_spec)
    if is_carried(leaf):
        return f"Python {type(leaf).__name__} {leaf!r}" if is_weak(leaf) else str(spec_of(carried(leaf)))
    if callable(leaf) and hasattr(leaf, "__name__"):
        return f"the {'class' if isinstance(leaf, type) else 'function'} `{leaf.__name__}`"
    return "None" if leaf is None else f"{type(leaf).__name__} (Python)"


def shown(value: Any) -> str:
    """Return the types of the leaves of a value, in its structure, as text for messages."""
    return str(nest.map_structure(describe, value)) if nest.is_nested(value) else describe(value)


def zeros(spec: AnySpec) -> Any:
    """Return a placeholder for a missing value: zeros, of size 1 where the size is unknown, as in row splits."""
    if isinstance(spec, TensorType):
        shape = tuple(1 if size is None else size for size in spec.shape or ())
        filler: Any = b"" if spec.dtype is dtypes.string else 0
        return EagerTensor(np.full(shape, filler, spec.dtype.numpy_dtype))
    assert isinstance(spec, ListType)
    return EagerArray(PersistentArray([]), spec)


def same_static(one: Any, other: Any) -> bool:
    """Return whether two Python objects are the same for a graph."""
    if one is other or type(one) is type(other) is Undefined:
        return True
    if type(one) is not type(other) or not isinstance(one, (str, bytes, frozenset, TensorShape, *NUMBERS)):
        return False
    return bool(one == other)


def _has_no_parts(kind: Any) -> bool:
    """Return whether values of a class are leaves, as tensors and numbers are."""
    return not (issubclass(kind, Maybe) or nest.is_nest_type(kind) or hasattr(kind, "__components__"))


_is_leaf_type: Callable[[Any], bool] = functools.lru_cache(maxsize=1024)(_has_no_parts)


def flatten(value: Any) -> list[Any]:
    """Return the leaves of a value; a variable that may be undefined has its flag as first leaf."""
    if _is_leaf_type(type(value)):
        return [value]
    if isinstance(value, Maybe):
        return [value.defined, *components.flatten(value.value)]
    return components.flatten(value)


def flatten_all(values: Sequence[Any]) -> list[Any]:
    """Return the leaves of several values."""
    return list(values) if are_plain(values) else [leaf for value in values for leaf in flatten(value)]


def flatten_named(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return (path, leaf) pairs, in the order of `flatten`; a path is written as in Python: `cell[0]`."""
    if _is_leaf_type(type(value)):
        return [(name, value)]
    if isinstance(value, Maybe):
        return [(f"{name}.defined", value.defined), *components.flatten_with_path(value.value, name)]
    return list(components.flatten_with_path(value, name))


def packed(like: Any, leaves: list[Any]) -> Any:
    """Return a value like `like` with other leaves."""
    if _is_leaf_type(type(like)) and len(leaves) == 1:
        return leaves[0]
    if isinstance(like, Maybe):
        return Maybe(like.name, components.pack_sequence_as(like.value, leaves[1:]), leaves[0])
    return components.pack_sequence_as(like, leaves)


def same_structure(one: Any, other: Any) -> bool:
    if _is_leaf_type(type(one)) and _is_leaf_type(type(other)):
        return True
    if isinstance(one, Maybe) or isinstance(other, Maybe):
        return (
            isinstance(one, Maybe)
            and isinstance(other, Maybe)
            and components.same_structure(one.value, other.value)
        )
    return components.same_structure(one, other)


def widened(value: Any, *others: Any) -> Any:
    """Return `value` with composites that cover those of `others`; see `components.widened`."""
    if _is_leaf_type(type(value)):
        return value
    if isinstance(value, Maybe):
        return Maybe(
            value.name, components.widened(value.value, *(one.value for one in others)), value.defined
        )
    return components.widened(value, *others)


def composites_differ(one: Any, other: Any) -> bool:
    """Return whether composites of two values with the same structure have different specs."""
    if isinstance(one, Maybe):
        return components.differ(one.value, other.value)
    return components.differ(one, other)


def operand_in(builder: Builder, argument: Any) -> Operand:
    """Return the operand for an operation's argument in the graph of `builder`."""
    if isinstance(argument, EagerArray):
        with builder:
            from ..ops.lists.tensor_array import array_new

            element = argument.spec.element
            argument = array_new(0, element.dtype, element.shape, True)
    return builder.operand(argument)
