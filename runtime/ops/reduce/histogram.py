"""Histograms with bins of equal width.

>>> histogram_fixed_width([0.5, 1.5, 9.0], [0.0, 2.0], nbins=2).numpy().tolist()
[1, 2]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ...kernels.tiles import in_tiles
from ..framework.attribute_parsers import DType
from ..framework.op import Ints, Name, Same, op
from ..framework.op_families import REAL, Array, require_dtype
from ..framework.static_values import integer
from ..math.arithmetic import divide
from ..math.cast import cast
from ..math.clip import clip_by_value
from ..math.elementwise import floor


@export("histogram_fixed_width")
@op
def histogram_fixed_width(
    values: Same, value_range: Same, nbins: Ints = 100, dtype: DType = dtypes.int32, name: Name = None
) -> TensorType:
    """Count the values in each of `nbins` bins that divide a range; values beyond it fall into the outer bins.

    Args:
        values: numbers.
        value_range: two numbers, the ends of the range.
        nbins: a positive number.
        dtype: of the result, int32 or int64.

    Raises InvalidArgumentError for NaN, and for an empty range.

    >>> histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy().tolist()
    [2, 1, 1, 0, 2]
    """
    require_dtype(values, REAL, "histogram_fixed_width")
    if dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"histogram_fixed_width: dtype must be int32 or int64, not {dtype.name}")
    if value_range.shape not in (None, (None,), (2,)):
        raise ValueError(f"value_range should be a vector of 2 elements, not of shape {value_range.shape}")
    count = integer(nbins)
    if count is not None and count < 1:
        raise ValueError(f"nbins should be a positive number, but got '{count}'")
    return TensorType(dtype, (count,))


@histogram_fixed_width.kernel
def _(values: Array, value_range: Array, nbins: Array, dtype: dtypes.DType) -> Array:
    low, high = (float(end) for end in value_range)
    count = int(nbins)
    if not low < high:
        raise errors.InvalidArgumentError(
            f"value_range should satisfy value_range[0] < value_range[1], but got '[{low:g}, {high:g}]'"
        )
    if count < 1:
        raise errors.InvalidArgumentError(f"nbins should be a positive number, but got '{count}'")
    bins = in_tiles(lambda tile: _bins(tile, low, high, count))(values.reshape(-1))
    return np.bincount(bins, minlength=count).astype(dtype.numpy_dtype)


def _bins(values: Array, low: float, high: float, count: int) -> Array:
    wide = values.astype(np.float64)
    if np.isnan(wide).any():
        raise errors.InvalidArgumentError("Histogram values must not contain NaN")
    wide -= low
    wide /= (high - low) / count
    return np.clip(wide, 0, count - 1, out=wide).astype(np.int64)


@export("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: Name = None,
) -> Tensor:
    """Return the bin index of each value; see `histogram_fixed_width`.

    >>> histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy().tolist()
    [0, 0, 1, 2, 4, 4]
    """
    values = convert_to_tensor(values)
    ends = convert_to_tensor(value_range, values.dtype)
    low, high = ends[0], ends[1]
    scaled = divide(values - low, high - low)
    count = convert_to_tensor(nbins, dtypes.int32)
    bins = floor(cast(count, scaled.dtype) * scaled)
    highest = cast(count - 1, scaled.dtype)
    return cast(clip_by_value(bins, cast(0, scaled.dtype), highest), dtype, name)
