"""Constant folding: results of operations on constants, and of rank and size of static shapes.

n = size x       x: float32[2, 3]      ==>     6
y = multiply 6, 2                      ==>     12
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.fp_errors import quietly
from ..dtypes import DType
from ..ir.graph import Constant, Operand, Operation, Value
from ..ir.value_types import AnySpec, TensorType
from ..ops.arrays.shape_ops import rank_of, size_of
from ..ops.framework.constant_results import computed
from ..ops.framework.region_ops import CUSTOM
from ..ops.state.print_and_assert import assert_true
from ..ops.state.raise_op import raise_error
from .errors import NeverRunsError, Reason

LARGEST_FOLDED = 4096
"""The maximum number of elements of a folded result."""

OF_SHAPES = frozenset({size_of, rank_of})
"""Operations that depend on shapes only."""


def of_shapes(
    operation: Operation, inputs: Sequence[Operand], specs: Sequence[AnySpec]
) -> list[Constant] | None:
    """Return the constant results of `size` and `rank` if the shape is known, else None."""
    if operation.op not in OF_SHAPES:
        return None
    spec, shape = specs[0], getattr(inputs[0].spec, "shape", None)
    if not isinstance(spec, TensorType) or shape is None or (operation.op is size_of and None in shape):
        return None
    found = len(shape) if operation.op is rank_of else math.prod(size or 0 for size in shape)
    return [Constant(sizes(operation, found, spec.dtype))]


def sizes(operation: Operation, numbers: Any, dtype: DType) -> Any:
    """Return sizes as an array of the operation's dtype; NeverRunsError if it cannot hold them."""
    try:
        return np.array(numbers, dtype.numpy_dtype)
    except OverflowError:
        raise NeverRunsError(Reason(operation, f"{dtype.name} cannot hold {numbers}")) from None


@quietly
def folded(
    operation: Operation, inputs: Sequence[Operand], specs: Sequence[AnySpec]
) -> list[Constant] | None:
    """Return the results of a pure operation on constants, or None if it is not folded."""
    if operation.stateful or operation.regions or not all(isinstance(x, Constant) for x in inputs):
        return None
    if not all(map(is_foldable, specs)):
        return None
    if operation.op in (assert_true, raise_error, CUSTOM):
        return None
    outputs = tuple(Value(f"r{i}", spec) for i, spec in enumerate(specs))
    results = computed(Operation(operation.op, tuple(inputs), operation.attrs, outputs))
    if results is None:  # it fails again at run time, with an error that has a location
        return None
    arrays = [np.asarray(result.value) for result in results]
    if any(array.dtype.kind in "OV" for array in arrays):
        return None
    return [
        Constant(np.asarray(array, spec.dtype.numpy_dtype))  # type: ignore[union-attr]
        for array, spec in zip(arrays, specs, strict=True)
    ]


def is_foldable(spec: AnySpec) -> bool:
    """Return whether a result of this type is small enough to be folded."""
    return isinstance(spec, TensorType) and _size(spec) <= LARGEST_FOLDED


def _size(spec: TensorType) -> float:
    if spec.shape is None or None in spec.shape:
        return float("inf")
    return float(np.prod(spec.shape, dtype=np.float64))  # type: ignore[arg-type]
