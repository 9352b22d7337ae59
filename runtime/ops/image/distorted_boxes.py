"""Operations that draw a random box of an image, so that it covers enough of an object.

>>> stateless_distorted_box([20, 20, 3], [[[0.1, 0.1, 0.6, 0.7]]], 0.5, [1, 2])[0]
<tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 0], dtype=int32)>
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...ir.traits import DRAWS_RANDOM
from ...ir.value_types import TensorType
from ...kernels.images.distorted_boxes import Limits, PixelBox, drawn, objects
from ...kernels.random import seeds
from ...kernels.random.philox import Stream
from ..framework.op import Input, Name, op
from ..framework.op_families import Array, require_dtype
from ..random.stateless import seeded, stream_of


def _rule(image_size: Any, boxes: Any, covered: Any) -> tuple[TensorType, ...]:
    name = "sample_distorted_bounding_box"
    whole = frozenset(map(dtypes.as_dtype, ("uint8", "int8", "int16", "int32", "int64")))
    require_dtype(image_size, whole, f"{name}, `image_size`")
    for operand, what in ((boxes, "bounding_boxes"), (covered, "min_object_covered")):
        require_dtype(operand, frozenset({dtypes.float32}), f"{name}, `{what}`")
    if image_size.shape not in (None, (None,), (3,)):
        raise ValueError(f"{name}: image_size must contain 3 elements, not the shape {image_size.shape}")
    if boxes.shape is not None and (len(boxes.shape) != 3 or boxes.shape[2] not in (4, None)):
        raise ValueError(f"{name}: bounding_boxes must have the shape [batch, N, 4], not {boxes.shape}")
    return (
        TensorType(image_size.dtype, (3,)),
        TensorType(image_size.dtype, (3,)),
        TensorType(dtypes.float32, (1, 1, 4)),
    )


def _results(
    stream: Stream,
    image_size: Array,
    boxes: Array,
    covered: Array,
    limits: Limits,
    attempts: int,
    is_whole: bool,
) -> tuple[Array, Array, Array]:
    """Return the begin and the size of the drawn box for `tf.slice`, and its coordinates from 0 to 1."""
    height, width = image_size.tolist()[:2]
    if not ((boxes >= 0) & (boxes <= 1)).all():  # also for NaN
        raise errors.InvalidArgumentError("All bounding box coordinates must be in [0.0, 1.0]")
    found = objects(boxes, height, width)
    if not found and not is_whole:
        raise errors.InvalidArgumentError(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not "
            "provide any bounding boxes."
        )
    box = drawn(
        stream, height, width, found or [PixelBox(0, 0, height, width)], covered.item(), limits, attempts
    )
    begin = np.array([box.y, box.x, 0], image_size.dtype)
    size = np.array([box.y_end - box.y, box.x_end - box.x, -1], image_size.dtype)
    parts = np.array(box, np.float32) / np.array([height, width, height, width], np.float32)
    return begin, size, parts[None, None]


@op(name="sample_distorted_bounding_box", stateful=True, traits=DRAWS_RANDOM)
def distorted_box(
    image_size: Input, boxes: Input, covered: Input, least_ratio: float = 0.75, largest_ratio: float = 1.33,
    least_area: float = 0.05, largest_area: float = 1.0, attempts: int = 100, is_whole: bool = False,
    seed: int = 0, seed2: int = 0, stream: int = 0, name: Name = None,
) -> tuple[TensorType, ...]:  # fmt: skip
    """Draw a box; see `tf.image.sample_distorted_bounding_box`.

    >>> distorted_box([20, 20, 3], [[[0.0, 0.0, 1.0, 1.0]]], 1.0)[1]
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([20, 20, -1], dtype=int32)>
    """
    return _rule(image_size, boxes, covered)


@distorted_box.kernel
def _(
    image_size: Array, boxes: Array, covered: Array, least_ratio: float, largest_ratio: float,
    least_area: float, largest_area: float, attempts: int, is_whole: bool, seed: int, seed2: int, stream: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    source = seeds.stream("distorted box", seed, seed2, stream)
    limits = Limits(least_ratio, largest_ratio, least_area, largest_area)
    return _results(source, image_size, boxes, covered, limits, attempts, is_whole)


distorted_box.no_gradient("the drawn box is discrete")


@op(name="stateless_sample_distorted_bounding_box")
def stateless_distorted_box(
    image_size: Input, boxes: Input, covered: Input, seed: Input, least_ratio: float = 0.75,
    largest_ratio: float = 1.33, least_area: float = 0.05, largest_area: float = 1.0, attempts: int = 100,
    is_whole: bool = False, name: Name = None,
) -> tuple[TensorType, ...]:  # fmt: skip
    """Draw a box by the seed alone; see `tf.image.stateless_sample_distorted_bounding_box`.

    >>> stateless_distorted_box([20, 20, 3], [[[0.0, 0.0, 1.0, 1.0]]], 1.0, [1, 2])[1]
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([20, 20, -1], dtype=int32)>
    """
    seeded(TensorType(dtypes.float32, ()), seed)
    return _rule(image_size, boxes, covered)


@stateless_distorted_box.kernel
def _(
    image_size: Array, boxes: Array, covered: Array, seed: Array, least_ratio: float, largest_ratio: float,
    least_area: float, largest_area: float, attempts: int, is_whole: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    limits = Limits(least_ratio, largest_ratio, least_area, largest_area)
    return _results(stream_of(seed), image_size, boxes, covered, limits, attempts, is_whole)


stateless_distorted_box.no_gradient("the drawn box is discrete")
