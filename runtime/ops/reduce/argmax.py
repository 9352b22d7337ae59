"""The indices of the largest and smallest elements along an axis.

>>> argmax([1, 9, 9]).numpy().tolist(), argmin([float("nan"), 2.0, 1.0]).numpy().tolist()
(1, 2)
"""

from __future__ import annotations

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.export import export
from ...ir import batching
from ...ir.graph import Operand
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Name, op
from ..framework.op_families import BOOLS, REAL, Array, require_dtype

_INDICES = frozenset({dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64})


def _index_spec(x: Operand, axis: int | None, output_type: dtypes.DType, what: str) -> TensorType:
    require_dtype(x, REAL | BOOLS, what)
    if output_type not in _INDICES:
        raise errors.InvalidArgumentError(
            f"{what} gives {sorted(map(str, _INDICES))}, not {output_type}", what
        )
    axis = axis or 0
    shape = shapes.reduced(x.shape, (axis,), False)
    if x.shape is not None and x.shape[axis] == 0:
        raise ValueError(f"Reduction axis {axis} is empty in shape {shapes.show(x.shape)}")
    return TensorType(output_type, shape)


def _without_nans(x: Array, instead: float) -> Array:
    """Return the elements with `instead` in place of each NaN.

    NumPy's minimum of all elements is NaN if there is one.
    """
    if x.dtype.kind != "f" or not x.size:
        return x
    least = np.minimum.reduce(x, None)
    return x if least == least else np.where(np.isnan(x), x.dtype.type(instead), x)


@export("math.argmax", "argmax")
@op(batch=batching.along_axis)
def argmax(
    input: Input, axis: int | None = None, output_type: DType = dtypes.int64, name: Name = None
) -> TensorType:
    """Return the index of the largest element along `axis` (0 by default): the first of several, never a NaN.

    >>> argmax([[1, 9], [7, 2]], axis=1).numpy().tolist()
    [1, 0]
    """
    return _index_spec(input, axis, output_type, "argmax")


@argmax.kernel
def _(input: Array, axis: int | None, output_type: dtypes.DType) -> Array:
    return _without_nans(input, -np.inf).argmax(axis or 0).astype(output_type.numpy_dtype)


@export("math.argmin", "argmin")
@op(batch=batching.along_axis)
def argmin(
    input: Input, axis: int | None = None, output_type: DType = dtypes.int64, name: Name = None
) -> TensorType:
    """Return the index of the smallest element along `axis` (0 by default): the first of several, never a NaN.

    >>> argmin([[1, 9], [7, 2]], axis=1).numpy().tolist()
    [0, 1]
    """
    return _index_spec(input, axis, output_type, "argmin")


@argmin.kernel
def _(input: Array, axis: int | None, output_type: dtypes.DType) -> Array:
    return _without_nans(input, np.inf).argmin(axis or 0).astype(output_type.numpy_dtype)
