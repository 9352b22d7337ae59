"""What travels through regions: the leaves of nests, sorted into what a graph carries and what stays Python.

tensor, TensorArray      carried as they are
number, NumPy array      carried as a constant; a Python number adapts its dtype to what it meets
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
from ..core.tensor import EagerArray, EagerTensor, SymbolicTensor, Tensor
from ..core.tensor_array import TensorArray
from ..ir.builder import Builder, eagerly
from ..ir.graph import Operand, Value
from ..ir.value_types import AnySpec, ListType, TensorType
from ..ops.framework.op import wrap

NUMBERS = (bool, int, float, complex)
_CARRIED = (Tensor, TensorArray, np.ndarray, np.generic, *NUMBERS)
_PLAIN = frozenset({SymbolicTensor, EagerTensor, *NUMBERS})


def are_plain(values: Iterable[Any]) -> bool:
    """Whether these are tensors and numbers, as most are: they have no parts, and none of them may be undefined."""
    return _PLAIN.issuperset(map(type, values))


def is_carried(leaf: Any) -> bool:
    """Whether a graph carries this value; what is not carried stays a Python object."""
    return isinstance(leaf, _CARRIED)


def can_be_carried(leaf: Any) -> bool:
    """Whether a graph carries this value where it must: variables (by their value) and texts as well."""
    return is_carried(leaf) or is_tensor_like(leaf) or isinstance(leaf, (str, bytes))


def dtype_of(leaf: Any) -> dtypes.DType | None:
    """The dtype that a leaf insists on; None for Python values, which adapt."""
    if isinstance(leaf, TensorArray) or is_weak(leaf):
        return None
    dtype = getattr(leaf, "dtype", None)
    return None if dtype is None else dtypes.as_dtype(dtype)


def is_weak(leaf: Any) -> bool:
    """Whether the value adapts its dtype to what it meets."""
    return isinstance(leaf, NUMBERS)


def carried(leaf: Any, hint: dtypes.DType | None = None) -> Any:
    """A leaf as an operation takes it: a tensor, or the state of a TensorArray."""
    if isinstance(leaf, TensorArray):
        return leaf._reachable()
    if isinstance(leaf, Tensor):
        return weak_types.adapted(leaf, hint) if hint is not None and weak_types.adapts(leaf, hint) else leaf
    if type(leaf) in NUMBERS:  # to convert one of these takes no operation
        return convert_to_tensor(leaf, hint)
    if is_weak(leaf):
        with eagerly():
            return convert_to_tensor(leaf, hint)
    return convert_to_tensor(leaf)


def rewrapped(leaf: Any, value: Value, builder: Builder) -> Any:
    """The value of a graph in the clothes of the leaf that it stands for."""
    inner = wrap(value, builder)
    return leaf.with_flow(inner) if isinstance(leaf, TensorArray) else inner


def covering(leaf: Any, *others: Any) -> Any:
    """The leaf, without what is known of it in Python alone, unless that goes for the others as well."""
    return leaf.covering(*others) if isinstance(leaf, TensorArray) else leaf


def spec_of(operand: Any) -> AnySpec:
    """The spec of an operation's argument."""
    if isinstance(operand, Tensor):
        return TensorType(operand.dtype, operand.shape.dims)
    spec: AnySpec = operand.spec
    return spec


def spec_in(leaf: Any, dtype: dtypes.DType | None) -> AnySpec:
    """The spec of what `carried(leaf, dtype)` gives, without recording anything."""
    if isinstance(leaf, Tensor):
        own = TensorType(leaf.dtype, leaf.shape.dims)
        return TensorType(dtype, own.shape) if dtype is not None and weak_types.adapts(leaf, dtype) else own
    return spec_of(carried(leaf, dtype))


def describe(leaf: Any) -> str:
    """A leaf's type as messages show it."""
    if isinstance(leaf, Undefined):
        return "undefined"
    if nest.is_composite(leaf):
        return repr(leaf._type_spec)
    if is_carried(leaf):
        return f"Python {type(leaf).__name__} {leaf!r}" if is_weak(leaf) else str(spec_of(carried(leaf)))
    return "None" if leaf is None else f"{type(leaf).__name__} (Python)"


def zeros(spec: AnySpec) -> Any:
    """A stand-in for a value that is not there yet: zeros, of size 0 where the size is unknown."""
    if isinstance(spec, TensorType):
        shape = tuple(size or 0 for size in spec.shape or ())
        filler: Any = b"" if spec.dtype is dtypes.string else 0
        return EagerTensor(np.full(shape, filler, spec.dtype.numpy))
    assert isinstance(spec, ListType)
    from ..ops.lists.tensor_array import PersistentArray

    return EagerArray(PersistentArray([]), spec)


def same_static(one: Any, other: Any) -> bool:
    """Whether two Python objects are the same for a graph."""
    if one is other or type(one) is type(other) is Undefined:
        return True
    if type(one) is not type(other) or not isinstance(one, (str, bytes, frozenset, *NUMBERS)):
        return False
    return bool(one == other)


def _has_no_parts(kind: Any) -> bool:
    """Whether values of a class are leaves, as tensors and numbers are."""
    return not (issubclass(kind, Maybe) or nest.is_nest_type(kind) or hasattr(kind, "__components__"))


_is_leaf_type: Callable[[Any], bool] = functools.lru_cache(maxsize=1024)(_has_no_parts)


def flatten(value: Any) -> list[Any]:
    """The leaves of a value; a variable that may be undefined has two: its flag and its value."""
    if _is_leaf_type(type(value)):
        return [value]
    if isinstance(value, Maybe):
        return [value.defined, *components.flatten(value.value)]
    return components.flatten(value)


def flatten_all(values: Sequence[Any]) -> list[Any]:
    """The leaves of several values."""
    return list(values) if are_plain(values) else [leaf for value in values for leaf in flatten(value)]


def flatten_named(name: str, value: Any) -> list[tuple[str, Any]]:
    """(path, leaf) pairs, in the order of `flatten`; a path reads like Python: `cell[0]`."""
    if _is_leaf_type(type(value)):
        return [(name, value)]
    if isinstance(value, Maybe):
        return [(f"{name}.defined", value.defined), *components.flatten_with_path(value.value, name)]
    return list(components.flatten_with_path(value, name))


def packed(like: Any, leaves: list[Any]) -> Any:
    """A value like `like` with other leaves."""
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
    """`value` with composites that cover those of values with the same structure; see `components.widened`."""
    if _is_leaf_type(type(value)):
        return value
    if isinstance(value, Maybe):
        return Maybe(
            value.name, components.widened(value.value, *(one.value for one in others)), value.defined
        )
    return components.widened(value, *others)


def composites_differ(one: Any, other: Any) -> bool:
    """Whether composites of two values with the same structure have different specs."""
    if isinstance(one, Maybe):
        return components.differ(one.value, other.value)
    return components.differ(one, other)


def operand_in(builder: Builder, argument: Any) -> Operand:
    """How the graph of `builder` refers to an operation's argument."""
    if isinstance(argument, EagerArray):
        with builder:
            from ..ops.lists.tensor_array import array_new

            element = argument.spec.element
            argument = array_new(0, element.dtype, element.shape, True)
    return builder.operand(argument)
