"""Regions of images: the best boxes, and values between the pixels."""

from __future__ import annotations

import itertools
from typing import Any

from ..... import dtypes
from .....core.conversion import convert_to_tensor
from .....ops.arrays.concat_split import concat, stack
from .....ops.arrays.creation import fill
from .....ops.arrays.gather_ops import gather
from .....ops.arrays.reshape import reshape
from .....ops.arrays.shape_ops import shape
from .....ops.arrays.where_ops import choose
from .....ops.image.non_max_suppression import suppress
from .....ops.math import arithmetic, elementwise
from .....ops.math.cast import cast
from .....ops.math.clip import clip_by_value
from .registry import OperatorCall, numbers, operator, rank_of


@operator("NonMaxSuppression")
def _(
    call: OperatorCall, boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None
) -> Any:
    batches, classes = scores.shape.as_list()[:2]
    if batches is None or classes is None:
        raise ValueError("the number of images or classes is not known")
    count = min(max(0 if most is None else numbers(most, "the number of boxes")[0], 0), dtypes.int32.max)
    limits = [
        convert_to_tensor(default) if value is None else reshape(value, [])
        for value, default in ((overlap, 0.0), (least, float("-inf")))
    ]
    found = [convert_to_tensor([[0, 0, 0]], dtypes.int64)[:0]]
    for image, kind in itertools.product(range(batches), range(classes)):
        corners = _corners(boxes[image]) if call.get("center_point_box", 0) else boxes[image]
        kept = cast(suppress(corners, scores[image, kind], count, *limits, 0.0)[0], dtypes.int64)
        own = [fill(shape(kept), convert_to_tensor(number, dtypes.int64)) for number in (image, kind)]
        found.append(stack([*own, kept], 1))
    return concat(found, 0)


def _corners(boxes: Any) -> Any:
    """Return y, x of two opposite corners for x, y of the centers, widths and heights."""
    x, y, width, height = (boxes[:, i] for i in range(4))
    return stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2], 1)


@operator("GridSample")
def _(call: OperatorCall, x: Any, grid: Any) -> Any:
    mode = call.choice("mode", "linear", "bilinear", "nearest", "cubic", "bicubic")
    padding = call.choice("padding_mode", "zeros", "border", "reflection")
    own, n = shape(x), rank_of(x) - 2
    pixels = reshape(x, [own[0], own[1], -1])
    aligned = bool(call.get("align_corners", 0))
    found: Any = 0.0
    axes = []
    for i in range(n):  # the grid has the coordinates in the order x, y, …
        size, place = own[2 + i], grid[..., n - 1 - i]
        real = cast(size, place.dtype)
        place = (place + 1.0) / 2.0 * (real - 1.0) if aligned else ((place + 1.0) * real - 1.0) / 2.0
        if padding != "reflection":  # farther pixels are like these
            place = clip_by_value(place, -3.0, real + 2.0)
        axes.append([_pixel(at, weight, size, padding, aligned) for at, weight in _taps(place, mode)])
    for taps in itertools.product(*axes):
        place, factor = taps[0]
        for i, (at, weight) in enumerate(taps[1:], 1):
            place, factor = place * own[2 + i] + at, factor * weight
        values = gather(pixels, reshape(place, [own[0], -1]), axis=2, batch_dims=1)
        found = found + values * reshape(factor, [own[0], 1, -1])
    return reshape(found, concat([own[:2], shape(grid)[1:-1]], 0))


def _taps(place: Any, mode: str) -> list[tuple[Any, Any]]:
    """Return the pixels around places on an axis, and their weights (cubic: Keys, with a = -0.75)."""
    if mode == "nearest":
        near = elementwise.round(place)
        return [(near, near * 0.0 + 1.0)]
    first = elementwise.floor(place)
    t = place - first
    if mode.endswith("linear"):
        return [(first, 1.0 - t), (first + 1.0, t)]
    a = -0.75
    inner = [((a + 2) * s - (a + 3)) * s * s + 1 for s in (t, 1.0 - t)]
    outer = [((a * s - 5 * a) * s + 8 * a) * s - 4 * a for s in (t + 1.0, 2.0 - t)]
    return list(
        zip([first - 1.0, first, first + 1.0, first + 2.0], [outer[0], *inner, outer[1]], strict=True)
    )


def _pixel(at: Any, weight: Any, size: Any, padding: str, aligned: bool) -> tuple[Any, Any]:
    """Return the index of a pixel that may be outside of the image, and its weight."""
    own = cast(size, at.dtype)
    if padding == "zeros":
        weight = choose(arithmetic.maximum(-at, at - own + 1.0) > 0.0, weight * 0.0, weight)
    elif padding == "reflection":
        period = arithmetic.maximum(2.0 * own - 2.0, 1.0) if aligned else 2.0 * own
        at = arithmetic.floormod(at, period)
        at = arithmetic.minimum(at, period - at - (0.0 if aligned else 1.0))
    return cast(clip_by_value(at, 0.0, own - 1.0), dtypes.int32), weight
