"""Assertions about static facts such as dtypes and ranks: `tf.debugging.assert_rank` …

Static facts are checked at once, with a ValueError or TypeError. An unknown rank is checked when the graph
runs.

>>> assert_rank(convert_to_tensor([1, 2]), 1)
>>> assert_type(convert_to_tensor(0.5), dtypes.float32)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.tensor import EagerTensor, Tensor
from ..arrays import shape_ops
from ..arrays.concat_split import stack
from ..framework.effects_as_operations import returns_operation
from ..math import comparison
from ..reduce import reductions
from .assert_op import name_of, require


@export("debugging.assert_rank", "assert_rank")
@returns_operation
def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise ValueError unless `x` has this rank; for an unknown rank, InvalidArgumentError when the graph runs.

    >>> import agc.runtime as tf
    >>> tf.debugging.assert_rank(tf.zeros([2, 3]), 2)
    >>> tf.debugging.assert_rank(tf.zeros([2, 3]), 1)
    Traceback (most recent call last):
        ...
    ValueError: ...
    """
    check_rank(convert_to_tensor(x), [rank], "rank", message)


@export("debugging.assert_rank_at_least")
@returns_operation
def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise ValueError unless the rank of `x` is at least `rank`; otherwise as `assert_rank`.

    >>> import agc.runtime as tf
    >>> tf.debugging.assert_rank_at_least(tf.zeros([2, 2]), 1)
    """
    check_rank(convert_to_tensor(x), [rank], "rank at least", message)


@export("debugging.assert_rank_in")
@returns_operation
def assert_rank_in(x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None) -> None:
    """Raise ValueError unless `x` has one of these ranks; otherwise as `assert_rank`.

    >>> import agc.runtime as tf
    >>> tf.debugging.assert_rank_in(tf.zeros([2]), (0, 1))
    """
    check_rank(convert_to_tensor(x), list(ranks), "rank in", message)


def check_rank(x: Tensor, ranks: Sequence[Any], relation: str, message: str | None) -> None:
    """Check the rank of `x` against `ranks` by `relation`: equal, at least, or one of them."""
    wanted = [_as_rank(rank) for rank in ranks]
    known = [int(rank) for rank in wanted if isinstance(rank, EagerTensor)]
    said = f"{message}.  " if message else ""
    if x.shape.rank is not None and len(known) == len(wanted):
        found = x.shape.rank
        if not (found >= known[0] if relation == "rank at least" else found in known):
            shown = tuple(known) if relation == "rank in" else known[0]
            raise ValueError(
                f"{said}Tensor {name_of(x)} must have {relation} {shown}.  Received rank {found}, shape {x.shape}"
            )
        return
    actual = shape_ops.rank(x)
    compare = comparison.greater_equal if relation == "rank at least" else comparison.equal
    holds = reductions.reduce_any(stack([compare(actual, rank) for rank in wanted]))
    data = [
        said,
        f"Tensor {name_of(x)} must have {relation}",
        *wanted,
        "Received shape: ",
        shape_ops.shape(x),
    ]
    require(holds, "assertion failed:", data)


def _as_rank(rank: Any) -> Tensor:
    tensor = convert_to_tensor(rank)
    if tensor.shape.rank not in (0, None):
        raise ValueError("Rank must be a scalar.")
    if not tensor.dtype.is_integer:
        raise TypeError(f"rank must be an integer; got {tensor.dtype!r}")
    return tensor


@export("debugging.assert_scalar")
def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise ValueError unless `tensor` is statically a scalar.

    >>> assert_scalar(3)
    """
    found = convert_to_tensor(tensor)
    if found.shape.rank != 0:
        called = f" for {name_of(found)}" if name_of(found) else ""
        said = f"{message}.  " if message else ""
        raise ValueError(f"{said}Expected scalar shape{called}, saw shape: {found.shape}.")


@export("debugging.assert_integer")
@returns_operation
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise TypeError unless `x` has an integer dtype.

    >>> import agc.runtime as tf
    >>> tf.debugging.assert_integer(tf.constant(1))
    """
    found = convert_to_tensor(x)
    if not found.dtype.is_integer:
        said = f"{message}.  " if message else ""
        raise TypeError(
            f'{said}Expected "x" to be integer type.  Found: {name_of(found) or "tensor"} of dtype {found.dtype}'
        )


@export("debugging.assert_type")
@returns_operation
def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise TypeError unless `tensor` has this dtype.

    >>> import agc.runtime as tf
    >>> tf.debugging.assert_type(tf.constant(1), tf.int32)
    """
    found, wanted = convert_to_tensor(tensor), dtypes.as_dtype(tf_type)
    if found.dtype is not wanted:
        said = f"{message}.  " if message else ""
        raise TypeError(f"{said}{name_of(found) or 'tensor'} must be of type {wanted!r}; got {found.dtype!r}")


@export("debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> dtypes.DType:
    """Return the floating dtype that all tensors have, and that is `dtype` if it is given; float32 for no tensors.

    Raises ValueError if dtypes differ or are not floating. Entries that are None are ignored.

    >>> assert_same_float_dtype([convert_to_tensor(1.0), None])
    tf.float32
    """
    expected = None if dtype is None else dtypes.as_dtype(dtype)
    first: Any = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        if expected is None:
            expected, first = tensor.dtype, tensor
        elif tensor.dtype is not expected:
            like = "" if first is None else f" as {name_of(first) or first}"
            raise ValueError(
                f"{name_of(tensor) or tensor}, type={tensor.dtype}, must be of the same type ({expected}){like}."
            )
    expected = dtypes.float32 if expected is None else expected
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected}.")
    return expected


@export("debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Raise TypeError unless `values` is an iterable other than a tensor, array or string.

    >>> assert_proper_iterable([1, 2])
    >>> assert_proper_iterable("ab")
    Traceback (most recent call last):
        ...
    TypeError: Expected argument "values" to be a "proper" iterable.  Found: <class 'str'>
    """
    if is_tensor_like(values) or isinstance(values, (np.ndarray, str, bytes)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@export("debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Return whether `tensor` is a tensor of numbers.

    >>> is_numeric_tensor(convert_to_tensor(1)), is_numeric_tensor(convert_to_tensor("a")), is_numeric_tensor(1)
    (True, False, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric
