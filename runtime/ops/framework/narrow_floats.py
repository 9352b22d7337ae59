"""Floats narrower than NumPy's native ones: kernels compute in float32, and the results are rounded.

    add(x: bfloat16[2], y: bfloat16[2])    ==>    bfloat16(add_kernel(float32(x), float32(y)))

A float32 represents every such number exactly, so an operation that only moves elements returns them
unchanged. TensorFlow computes most operations on bfloat16 in the same way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes
from ...ir.op_def import OpDef
from ...ir.value_types import TensorType

if TYPE_CHECKING:
    from ...ir.graph import Operation

EXACT = frozenset({"bitcast", "unsorted_segment_max", "unsorted_segment_min"})
"""Operations with kernels that need the original elements: for their bits, or for the limits of the dtype."""


def is_narrow(spec: object) -> bool:
    """Return whether a value's type is a tensor of a narrow float."""
    return isinstance(spec, TensorType) and isinstance(spec.dtype, dtypes.NarrowFloat)


def kernel(op: OpDef, inputs: Sequence[object], results: Sequence[object]) -> Callable[..., Any]:
    """Return the kernel for inputs and results of these types.

    Operations on variables and TensorArrays get the original elements.
    """
    specs = [*inputs, *results]
    keeps = op.name in EXACT or not all(isinstance(spec, TensorType) for spec in specs)
    if keeps or not any(map(is_narrow, specs)):
        return op.compute
    return widened(op.compute, tuple(results))


def is_used_by(operation: Operation) -> bool:
    """Return whether an operation of a graph has an operand or a result that is a narrow float."""
    for operand in operation.inputs:
        if operand.value is None:
            if is_narrow(operand.spec):
                return True
        elif operand.value.dtype in dtypes.NARROW:
            return True
    return any([is_narrow(value.spec) for value in operation.outputs])  # noqa: C419  (a list is faster)


def kernel_of(operation: Operation) -> Callable[..., Any]:
    """Return the kernel that an executor runs for an operation of a graph."""
    if not is_used_by(operation):
        return operation.op.compute
    return kernel(
        operation.op,
        [operand.spec for operand in operation.inputs],
        [value.spec for value in operation.outputs],
    )


def widened(compute: Callable[..., Any], results: tuple[Any, ...]) -> Callable[..., Any]:
    """Wrap the kernel: convert narrow floats to float32 before the call, and round the results after it."""

    @functools.wraps(compute)
    def computed(*inputs: Any, **attrs: Any) -> Any:
        found = compute(*map(_wide, inputs), **attrs)
        if isinstance(found, (tuple, list)):
            return [_narrowed(item, spec) for item, spec in zip(found, results, strict=True)]
        return _narrowed(found, results[0]) if results else found

    return computed


def _wide(value: Any) -> Any:
    if isinstance(value, list):
        return [_wide(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype in dtypes.NARROW:
        return value.astype(np.float32)
    return value


def _narrowed(value: Any, spec: Any) -> Any:
    return np.asarray(value).astype(spec.dtype.numpy_dtype) if is_narrow(spec) else value
