"""Resizing: each axis is a product with the weights of its elements, or a choice of the nearest ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..... import dtypes
from .....core.conversion import convert_to_tensor
from .....core.shapes import normal_axis
from .....ops.arrays import gather_ops, reshape
from .....ops.linalg.matmul import matmul
from .....ops.math.cast import cast
from .registry import OperatorCall, numbers, operator, rank_of


@operator("Resize", "Upsample")
def _(call: OperatorCall, x: Any, *operands: Any) -> Any:
    roi, scales, sizes = _operands(call, operands)
    old = x.shape.as_list()
    axes = [normal_axis(axis, len(old)) for axis in call.get("axes", range(len(old)))]
    new, factors = _targets(call, old, axes, scales, sizes)
    mode = call.get("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic") or call.get("antialias", 0) or roi is not None:
        raise ValueError(f"the mode {mode}, antialiasing or a region of interest is not supported")
    for axis in axes:
        if old[axis] == new[axis] and factors[axis] == 1:
            continue
        if old[axis] is None:
            raise ValueError("an axis of unknown size is resized")
        places = _places(call, old[axis], new[axis], factors[axis])
        if mode == "nearest":
            x = gather_ops.gather(x, _nearest(call, places, old[axis]), axis=axis)
        else:
            x = _weighted(x, axis, _matrix(call, mode, places, old[axis]))
    return x


def _operands(call: OperatorCall, operands: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Return the region of interest, the factors and the sizes, of which one is missing."""
    if call.node.op == "Upsample" or call.opset < 11:
        scales = operands[0] if operands else convert_to_tensor(np.array(call.get("scales"), np.float32))
        return None, scales, None
    roi, scales, sizes = (*operands, None, None, None)[:3]
    wants_roi = call.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    return roi if wants_roi else None, scales, sizes


def _targets(
    call: OperatorCall, old: Any, axes: Any, scales: Any, sizes: Any
) -> tuple[list[Any], list[float]]:
    new, factors = list(old), [1.0] * len(old)
    if sizes is not None and sizes.shape[0] != 0:
        if call.get("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise ValueError("keeping the aspect ratio is not supported")
        for axis, size in zip(axes, numbers(sizes, "the sizes"), strict=True):
            new[axis], factors[axis] = size, size / (old[axis] or size)
        return new, factors
    if not hasattr(scales, "_array"):
        raise ValueError("the factors are computed when the model runs")
    for axis, factor in zip(axes, np.ravel(scales._array).tolist(), strict=True):
        factors[axis] = factor
        new[axis] = old[axis] if old[axis] is None or factor == 1 else math.floor(old[axis] * factor)
    return new, factors


def _places(call: OperatorCall, old: int, new: int, factor: float) -> np.ndarray[Any, Any]:
    """Return the coordinates of the new elements among the old ones."""
    default = "half_pixel" if call.opset >= 11 and call.node.op == "Resize" else "asymmetric"
    way, at = call.get("coordinate_transformation_mode", default), np.arange(new, dtype=np.float64)
    if way == "half_pixel" or (way == "pytorch_half_pixel" and new > 1):
        return (at + 0.5) / factor - 0.5
    if way == "pytorch_half_pixel":
        return at * 0
    if way == "align_corners":
        return at * ((old - 1) / (new - 1)) if new > 1 else at * 0
    if way == "asymmetric":
        return at / factor
    if way == "half_pixel_symmetric":
        return old / 2 * (1 - new / (factor * old)) + (at + 0.5) / factor - 0.5
    raise ValueError(f"the coordinates {way} are not supported")


def _nearest(call: OperatorCall, places: Any, old: int) -> Any:
    is_old = call.node.op == "Upsample" or call.opset < 11
    way = "floor" if is_old else call.get("nearest_mode", "round_prefer_floor")
    functions: dict[str, Any] = {
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    return np.clip(functions[way](places), 0, old - 1).astype(np.int64)


def _matrix(call: OperatorCall, mode: str, places: Any, old: int) -> np.ndarray[Any, Any]:
    """Return the weight of each old element in each new one."""
    low = np.floor(places)
    share = (places - low)[:, None]
    if mode == "linear":
        taps, weights = np.array([0, 1]), np.concatenate([1 - share, share], 1)
    else:
        a = call.get("cubic_coeff_a", -0.75)
        taps = np.array([-1, 0, 1, 2])
        weights = _cubic(np.abs(share - taps), a)
    sources = low[:, None].astype(np.int64) + taps
    if call.get("exclude_outside", 0):
        weights = np.where((sources < 0) | (sources >= old), 0, weights)
        weights /= weights.sum(1, keepdims=True)
    matrix = np.zeros((len(places), old), np.float32)
    np.add.at(matrix, (np.arange(len(places))[:, None], np.clip(sources, 0, old - 1)), weights)
    return matrix


def _cubic(x: Any, a: float) -> Any:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _weighted(x: Any, axis: int, matrix: Any) -> Any:
    rank, own = rank_of(x), x.dtype
    order = [*[i for i in range(rank) if i != axis], axis]
    turned = reshape.transpose(cast(x, dtypes.float32), order)
    found = matmul(turned, matrix.T) if rank > 1 else matmul(turned[None], matrix.T)[0]
    return cast(reshape.transpose(found, np.argsort(order).tolist()), own)
