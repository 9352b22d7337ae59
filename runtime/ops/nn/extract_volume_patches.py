"""Extract windows of volumes, stored as channels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.export import export
from ...ir.value_types import TensorType
from ..arrays.concat_split import concat, stack
from ..arrays.ranges import range as count_up
from ..arrays.reshape import reshape, transpose
from ..arrays.shape_ops import shape, size
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Name, op
from ..framework.op_families import REAL, Array, require_dtype
from ..reduce.reductions import reduce_prod
from ..reduce.segments import unsorted_segment_sum


@export("extract_volume_patches")
@op
def extract_volume_patches(
    input: Input, ksizes: Axes, strides: Axes, padding: str, name: Name = None
) -> TensorType:
    """Extract the patches of volumes [batch, depth, rows, columns, channels], flat in the last axis.

    Args:
        ksizes: the sizes of a patch, [1, depth, rows, columns, 1].
        strides: the distances between adjacent patches, [1, depth, rows, columns, 1].
        padding: "VALID", or "SAME" for as many patches as there are strides, with zeros around the volume.

    >>> volume = np.arange(4.0, dtype=np.float32).reshape(1, 1, 2, 2, 1)
    >>> extract_volume_patches(volume, [1, 1, 2, 1, 1], [1, 1, 1, 1, 1], "VALID").numpy().tolist()
    [[[[[0.0, 2.0], [1.0, 3.0]]]]]
    """
    require_dtype(input, REAL, "extract_volume_patches")
    sizes, steps = _window(ksizes, "ksizes"), _window(strides, "strides")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be 'SAME' or 'VALID', not {padding!r}")
    if input.shape is None:
        return TensorType(input.dtype, (None,) * 5)
    if len(input.shape) != 5:
        raise ValueError(f"extract_volume_patches: the input must have rank 5, not {len(input.shape)}")
    batch, *volume, channels = input.shape
    counts = [
        None if known is None else _window_count(known, width, step, padding)
        for known, width, step in zip(volume, sizes, steps, strict=True)
    ]
    return TensorType(
        input.dtype, (batch, *counts, None if channels is None else channels * math.prod(sizes))
    )


def _window(sizes: Any, what: str) -> tuple[int, int, int]:
    if sizes is None or len(sizes) != 5 or sizes[0] != 1 or sizes[4] != 1 or min(sizes) < 1:
        raise ValueError(f"{what} must be five positive numbers, the first and last of them 1, not {sizes}")
    return sizes[1], sizes[2], sizes[3]


def _window_count(size: int, width: int, step: int, padding: str) -> int:
    count = -(-size // step) if padding == "SAME" else (size - width) // step + 1
    if count < 0 or (size < width and padding == "VALID"):
        raise ValueError(f"extract_volume_patches: patches of {width} do not fit into {size}")
    return count


@extract_volume_patches.kernel
def _(input: Array, ksizes: tuple[int, ...], strides: tuple[int, ...], padding: str) -> Array:
    sizes, steps = ksizes[1:4], strides[1:4]
    margins = [(0, 0)]
    for extent, width, step in zip(input.shape[1:4], sizes, steps, strict=True):
        count = _window_count(extent, width, step, padding)
        missing = max((count - 1) * step + width - extent, 0) if padding == "SAME" else 0
        margins.append((missing // 2, missing - missing // 2))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(input, [*margins, (0, 0)]), sizes, (1, 2, 3))
    chosen = windows[:, :: steps[0], :: steps[1], :: steps[2]]
    patches = np.moveaxis(chosen, 4, 7)
    return patches.reshape(*patches.shape[:4], math.prod(patches.shape[4:]))


@extract_volume_patches.gradient
def _(dy: Any, y: Any, input: Any, ksizes: Any, strides: Any, padding: str) -> Any:
    """Sum the cotangents of each element's copies: indices identify the copies, and 0 marks the padding."""
    sizes = shape(input)
    count = reduce_prod(sizes[1:])
    numbers = reshape(count_up(1, count + 1), concat([[1], sizes[1:]], 0))
    positions = reshape(extract_volume_patches(numbers, ksizes, strides, padding), [-1])
    flat = transpose(reshape(dy, stack([sizes[0], size(positions)])))
    return reshape(transpose(unsorted_segment_sum(flat, positions - 1, count)), sizes)
