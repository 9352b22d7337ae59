"""Results of operations on constants, while a function is traced and while its graph is optimized.

order = tf.reverse(tf.range(tf.rank(x)), [0])     x: float32[?, 4]: the elements of `order` are (1, 0), so that
y = tf.transpose(x, order)                        y is float32[4, ?]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.fp_errors import quietly
from ...core.shapes import num_elements
from ...ir.graph import Constant, Operand, Operation, Value
from ...ir.op_def import OpDef
from ...ir.value_types import TensorType
from . import narrow_floats
from .kernel_results import returns_many

MOST = 1 << 16
"""The number of bytes that a folded result may have in any case."""

_MOST_ELEMENTS = 32
"""The size of results that are computed while a function is traced, and of their operands."""


@quietly
def computed(operation: Operation) -> list[Constant] | None:
    """Return the results of an operation on constants; None if they are too big or the operation fails."""
    specs = [value.spec for value in operation.outputs]
    arrays: list[Any] = [operand.value for operand in operation.inputs]
    allowed = max(MOST, sum(array.nbytes for array in arrays))
    if not specs or sum(map(_bytes, specs)) > allowed:
        return None
    op = operation.op
    try:
        results = narrow_floats.kernel_of(operation)(*op.grouped(arrays), **operation.attrs)
    except Exception:
        return None  # an error of any kernel is raised and reported at run time
    many = [results] if len(specs) == 1 and not returns_many(op) else results
    return [_constant(result, spec) for result, spec in zip(many, specs, strict=True)]


def set_elements(
    op: OpDef, results: Sequence[Value], operands: Sequence[Operand], attrs: Mapping[str, Any]
) -> None:
    """Set the elements of small tensors of numbers that follow from operands whose elements are all known."""
    known = []
    for operand in operands:
        constant = _known(operand)
        if constant is None:
            return
        known.append(constant)
    if not known or op.stateful or not all(map(_is_small, results)):
        return
    found = computed(Operation(op, tuple(known), attrs, tuple(results)))
    for value, result in zip(results, found or (), strict=False):
        value.elements = tuple(result.value.ravel().tolist())


def _is_small(value: Value) -> bool:
    """Return whether a result is a small tensor of booleans, integers or floats, with a known shape."""
    spec = value.spec
    if not isinstance(spec, TensorType):
        return False
    dtype, count = spec.dtype, num_elements(spec.shape)
    is_plain = dtype.is_bool or dtype.is_integer or dtype.is_floating
    return is_plain and count is not None and count <= _MOST_ELEMENTS


def _known(operand: Operand) -> Constant | None:
    """Return an operand as a constant if all its elements are known, and not many."""
    if isinstance(operand, Constant):
        return operand if operand.value.size <= _MOST_ELEMENTS else None
    if operand.elements is None or None in operand.elements or num_elements(operand.shape) is None:
        return None
    return Constant(np.array(operand.elements, operand.dtype.numpy_dtype).reshape(operand.shape))


def _bytes(spec: Any) -> float:
    count = num_elements(spec.shape) if isinstance(spec, TensorType) else None
    return float("inf") if count is None else count * spec.dtype.numpy_dtype.itemsize


def _constant(result: Any, spec: Any) -> Constant:
    array = result if type(result) is np.ndarray else np.asarray(result, spec.dtype.numpy_dtype)
    return Constant(array)
