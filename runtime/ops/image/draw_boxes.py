"""Draw the outlines of boxes in images.

>>> drawn_boxes([[[[0.], [0.], [0.]]]], [[[0., 0., 1., 1.]]], [[0.5]]).numpy().ravel().tolist()
[1.0, 1.0, 1.0]
"""

from __future__ import annotations

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.value_types import TensorType
from ..framework.op import Input, Name, op
from ..framework.op_families import Array, require_dtype

_COLORS = np.array(
    [
        [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
    ],
    np.float32,
)  # fmt: skip
"""The default colors of boxes, used in turn: TensorFlow's table."""


@op(name="draw_bounding_boxes")
def drawn_boxes(images: Input, boxes: Input, colors: Input, name: Name = None) -> TensorType:
    """Return `images` with the outlines of boxes; in images of one channel, the color is always 1.

    >>> drawn_boxes([[[[0.] * 3] * 2]], [[[0., 0., 1., 0.]]], [[0.5, 0.25, 1.]]).numpy().tolist()
    [[[[0.5, 0.25, 1.0], [0.0, 0.0, 0.0]]]]
    """
    require_dtype(images, frozenset({dtypes.float16, dtypes.float32}), "draw_bounding_boxes")
    require_dtype(boxes, frozenset({dtypes.float32}), "draw_bounding_boxes, `boxes`")
    require_dtype(colors, frozenset({dtypes.float32}), "draw_bounding_boxes, `colors`")
    for operand, rank, what in ((images, 4, "images"), (boxes, 3, "boxes"), (colors, 2, "colors")):
        if operand.shape is not None and len(operand.shape) != rank:
            raise ValueError(
                f"draw_bounding_boxes: `{what}` must have rank {rank}, not {shapes.show(operand.shape)}"
            )
    if images.shape is not None and images.shape[3] not in (None, 1, 3, 4):
        raise ValueError(f"draw_bounding_boxes: images must have 1, 3 or 4 channels, not {images.shape[3]}")
    return images.spec  # type: ignore[no-any-return]


@drawn_boxes.kernel
def _(images: Array, boxes: Array, colors: Array) -> Array:
    batch, height, width, channels = images.shape
    if boxes.shape[0] != batch or boxes.shape[2] != 4 or channels not in (1, 3, 4):
        raise errors.InvalidArgumentError(
            f"draw_bounding_boxes: boxes of the shape {list(boxes.shape)} do not fit images of {list(images.shape)}"
        )
    table = colors if colors.size else _COLORS
    if channels == 1:
        table = np.ones((1, 1), np.float32)
    if table.shape[1] < channels:
        raise errors.InvalidArgumentError(
            f"draw_bounding_boxes: colors must have {channels} parts: {table.shape[1]}"
        )
    found = images.copy()
    scales = np.array([height - 1, width - 1] * 2, np.float32)
    for image, some in zip(found, (boxes * scales).astype(np.int64), strict=True):
        for number, box in enumerate(some.tolist()):
            _draw(image, box, table[number % len(table), :channels])
    return found


drawn_boxes.no_gradient("the positions of outlines are discrete")


def _draw(image: Array, box: list[int], color: Array) -> None:
    height, width = image.shape[:2]
    top, left, bottom, right = box
    if top > bottom or left > right or top >= height or left >= width or bottom < 0 or right < 0:
        return
    rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
    if top >= 0:
        image[top, columns] = color
    if bottom < height:
        image[bottom, columns] = color
    if left >= 0:
        image[rows, left] = color
    if right < width:
        image[rows, right] = color
