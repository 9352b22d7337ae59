"""Random boxes that cover part of an object, by which images are cropped for training.

>>> sample_distorted_bounding_box([4, 4, 3], [[[0., 0., 1., 1.]]], min_object_covered=1.0).size.numpy().tolist()
[4, 4, -1]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..kernels.random import seeds
from ..ops.framework.op import Name
from ..ops.framework.op_families import wrong
from ..ops.image import distorted_boxes as ops
from ..ops.random.stateless import seed_of_two


class SampleDistortedBoundingBox(NamedTuple):
    """The result: `begin` and `size` for `tf.slice`, and the box with coordinates from 0 to 1, [1, 1, 4]."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


def _operands(image_size: Any, boxes: Any, covered: Any) -> tuple[Tensor, Tensor, Tensor]:
    return (
        convert_to_tensor(image_size),
        convert_to_tensor(boxes, dtypes.float32),
        convert_to_tensor(covered, dtypes.float32),
    )


def _options(ratios: Any, areas: Any, attempts: int | None, is_whole: bool | None) -> tuple[Any, ...]:
    low, high = (0.75, 1.33) if ratios is None else ratios
    least, largest = (0.05, 1.0) if areas is None else areas
    if not 0 < low <= high:
        raise wrong(f"aspect_ratio_range must be positive and increasing, not {ratios}")
    if not 0 < least <= largest <= 1:
        raise wrong(f"area_range must be increasing in (0, 1], not {areas}")
    count = 100 if attempts is None else attempts
    if count <= 0:
        raise wrong(f"max_attempts must be positive, not {attempts}")
    return float(low), float(high), float(least), float(largest), count, bool(is_whole)


@export("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: Name = None,
) -> SampleDistortedBoundingBox:
    """Draw a random box of an image that covers part of an object.

    Args:
        image_size: height, width and channels.
        bounding_boxes: [batch, N, 4], the objects: y1, x1, y2, x2 from 0 to 1.
        seed: the seed of the operation; 0 for numbers that differ from run to run.
        min_object_covered: the part of an object that the box covers at least.
        aspect_ratio_range: of width to height, (0.75, 1.33) by default.
        area_range: as parts of the image, (0.05, 1) by default.
        max_attempts: the number of boxes that are tried; if none fits, the result is the whole image.
        use_image_if_no_bounding_boxes: without objects, take the whole image as one.

    >>> box = sample_distorted_bounding_box([4, 4, 3], [[[0., 0., 1., 1.]]], min_object_covered=1.0)
    >>> box.begin.numpy().tolist(), box.size.numpy().tolist()
    ([0, 0, 0], [4, 4, -1])
    """
    options = _options(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    own = seeds.pair(seed) if seed else (0, 0, seeds.pair(None)[2])
    operands = _operands(image_size, bounding_boxes, min_object_covered)
    return SampleDistortedBoundingBox(*ops.distorted_box(*operands, *options, *own, name=name))


@export("image.stateless_sample_distorted_bounding_box")
def stateless_sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: Name = None,
) -> SampleDistortedBoundingBox:
    """Apply `sample_distorted_bounding_box`, determined only by the seed, two integers.

    >>> stateless_sample_distorted_bounding_box([20, 20, 3], [[[0.1, 0.1, 0.6, 0.7]]], (1, 2), 0.5).begin
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 0], dtype=int32)>
    """
    options = _options(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    operands = _operands(image_size, bounding_boxes, min_object_covered)
    return SampleDistortedBoundingBox(
        *ops.stateless_distorted_box(*operands, seed_of_two(seed), *options, name=name)
    )
