"""Sizes that an exported program does not know: vectors of JAX's symbolic dimensions, in arrays of objects.

s = shape x                    [b, 3]                 x: float32[b, 3]
n = getitem s, 0       ==>     b
y = zeros [n, 4]               zeros((b, 4))
z = cast n, float32            the value of b as an array
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...ir.graph import Operation
from ...ops.arrays.shape_ops import shape_of, size_of
from ...ops.framework.region_ops import CALL, FUSED, WHILE
from ...ops.math.cast import cast_op

Array = Any

_ARITHMETIC = frozenset({
    "add", "cast", "concat", "expand_dims", "floordiv", "floormod", "gather", "getitem", "identity", "multiply",
    "negative", "reduce_prod", "reshape", "slice", "squeeze", "stack", "subtract", "unstack",
})  # fmt: skip
"""Operations whose kernels compute sizes as they are."""

_TAKEN = frozenset({"dims", "shape", "size", "limit", "parts", "index"})
"""The parameters of operations that take sizes as they are."""


def is_sizes(value: Any) -> bool:
    """Return whether a value is a vector of sizes, or one size."""
    return isinstance(value, np.ndarray) and value.dtype.hasobject


def extent(size: Any) -> Any:
    """Return a size for arithmetic on values: a symbolic one as an array."""
    return size if isinstance(size, int) else jnp.asarray(size)


def computed(operation: Operation, inputs: Sequence[Array]) -> list[Array] | None:
    """Return the results of an operation that computes sizes from sizes; None for other operations."""
    if operation.op in (shape_of, size_of) and isinstance(inputs[0], jax.Array):
        sizes = np.array(inputs[0].shape, object)
        if all(isinstance(size, int) for size in sizes):
            return None
        return [sizes if operation.op is shape_of else np.array(np.prod(sizes), object)]
    if operation.type not in _ARITHMETIC or not any(map(is_sizes, inputs)):
        return None
    if any(isinstance(each, jax.Array) for each in inputs) or not operation.outputs[0].dtype.is_integer:
        return None
    if operation.op is cast_op:
        return [inputs[0]]
    found = operation.op.compute(*operation.op.grouped(list(inputs)), **operation.attrs)
    return [np.asarray(each, object) for each in (found if isinstance(found, (list, tuple)) else [found])]


def as_values(operation: Operation, inputs: Sequence[Array]) -> list[Array]:
    """Return the inputs with arrays in the place of sizes, unless the operation takes these."""
    if operation.op in (CALL, FUSED):
        return list(inputs)
    names = [] if operation.regions else operation.op.input_names
    first = len(operation.outputs) if operation.op is WHILE else len(inputs)
    found = list(inputs)
    for i, (operand, value) in enumerate(zip(operation.inputs, inputs, strict=True)):
        is_taken = i >= first or (names and names[min(i, len(names) - 1)] in _TAKEN)
        if is_sizes(value) and operand.dtype.is_integer and not is_taken:
            found[i] = jnp.asarray(value.tolist() if value.ndim else value.item()).astype(
                operand.dtype.numpy_dtype
            )
    return found
