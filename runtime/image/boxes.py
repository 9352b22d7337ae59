"""Boxes in images: non-maximum suppression, crops, and outlines.

A box is [y1, x1, y2, x2].

>>> boxes = [[0., 0., 1., 1.], [0., 0., 1., 1.1], [2., 2., 3., 3.]]
>>> non_max_suppression(boxes, [0.5, 0.75, 0.25], 2).numpy().tolist()
[1, 2]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.shape_ops import size
from ..ops.arrays.where_ops import where
from ..ops.assertions.assert_op import Assert
from ..ops.framework.op import Name
from ..ops.image import non_max_suppression as suppressing
from ..ops.image.draw_boxes import drawn_boxes
from ..ops.math.cast import cast
from ..ops.math.elementwise import ceil, floor, is_finite
from ..ops.reduce.reductions import reduce_all, reduce_prod
from .batch_rank import size_of


def _scores(boxes: Any, scores: Any, *thresholds: Any) -> list[Tensor]:
    """Return boxes, scores and thresholds as tensors, the thresholds with the dtype of the scores."""
    one = convert_to_tensor(boxes)
    other = convert_to_tensor(scores, None if isinstance(scores, Tensor) else one.dtype)
    return [one, other, *(cast(threshold, other.dtype) for threshold in thresholds)]


@export("image.non_max_suppression")
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: Name = None,
) -> Tensor:
    """Return the indices of boxes that overlap no better one by more than `iou_threshold`, best first.

    Args:
        boxes: [number, 4], float: the coordinates y, x of two opposite corners.
        scores: [number]. Boxes whose score is at most `score_threshold` are left out.
        max_output_size: the largest number of indices.

    >>> non_max_suppression([[0., 0., 1., 1.], [0., 0., 1., 1.1]], [0.5, 0.75], 2).numpy().tolist()
    [1]
    """
    own = _scores(boxes, scores, iou_threshold, score_threshold, 0.0)
    return suppressing.suppress(*own[:2], max_output_size, *own[2:], name=name)[0]  # type: ignore[no-any-return]


@export("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: Name = None,
) -> tuple[Tensor, Tensor]:
    """Return the results of `non_max_suppression`, and the scores.

    With `soft_nms_sigma`, overlaps lower the scores instead.

    >>> boxes = [[0., 0., 1., 1.], [0., 0., 1., 1.]]
    >>> non_max_suppression_with_scores(boxes, [0.5, 0.75], 2)[1].numpy().tolist()
    [0.75]
    """
    own = _scores(boxes, scores, iou_threshold, score_threshold, soft_nms_sigma)
    indices, left = suppressing.suppress(*own[:2], max_output_size, *own[2:], name=name)
    return indices, left


@export("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: Name = None,
) -> Tensor:
    """Apply `non_max_suppression` to a matrix that has the overlap of each pair of boxes.

    >>> non_max_suppression_overlaps([[1., 0.9], [0.9, 1.]], [0.5, 0.75], 2).numpy().tolist()
    [1]
    """
    own = _scores(overlaps, scores, overlap_threshold, score_threshold)
    return suppressing.suppress_overlaps(*own[:2], max_output_size, *own[2:], name=name)  # type: ignore[no-any-return]


@export("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: Name = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """Return `non_max_suppression` padded with zeros to `max_output_size`, and the number of indices.

    It also takes batches.

    Args:
        pad_to_max_output_size: required for batches.
        sorted_input, canonicalized_coordinates, tile_size: accepted for compatibility; the result is the same.

    >>> indices, count = non_max_suppression_padded([[[0., 0., 1., 1.]]], [[0.5]], 3, pad_to_max_output_size=True)
    >>> indices.numpy().tolist(), count.numpy().tolist()
    ([[0, 0, 0]], [1])
    """
    own = _scores(boxes, scores, iou_threshold, score_threshold)
    batches = own[0].shape.rank
    if batches is None or batches < 2:
        raise ValueError("non_max_suppression_padded: the rank of `boxes` must be known, at least 2")
    if not pad_to_max_output_size:
        if batches > 2:
            raise ValueError("'pad_to_max_output_size' must be True for batches of boxes")
        indices = non_max_suppression(own[0], own[1], max_output_size, own[2], own[3], name)
        return indices, size(indices)
    outer = shape_of(own[1])[:-1]
    count = stack([reduce_prod(outer)])
    flat = [reshape(x, concat([count, shape_of(x)[batches - 2 :]], 0)) for x in own[:2]]
    indices, counts = suppressing.suppress_padded(*flat, max_output_size, *own[2:], name=name)
    whole = concat([outer, shape_of(indices)[1:]], 0)
    return reshape(indices, whole), reshape(counts, outer)


class CombinedNonMaxSuppression(NamedTuple):
    """The result of `combined_non_max_suppression`."""

    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor


@export("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: Name = None,
) -> CombinedNonMaxSuppression:
    """Return the best boxes of all classes in each image of a batch, padded with zeros.

    Args:
        boxes: [batch, number, classes or 1, 4].
        scores: [batch, number, classes].
        pad_per_class: return at most `max_output_size_per_class` results for each class.
        clip_boxes: clip coordinates to the range from 0 to 1.

    >>> found = combined_non_max_suppression([[[[0., 0., 1., 2.]]]], [[[0.5]]], 1, 1)
    >>> found.nmsed_boxes.numpy().tolist(), found.valid_detections.numpy().tolist()
    ([[[0.0, 0.0, 1.0, 1.0]]], [1])
    """
    own = _scores(boxes, scores, iou_threshold, score_threshold)
    return CombinedNonMaxSuppression(
        *suppressing.suppress_classes(
            *own[:2], max_output_size_per_class, max_total_size, *own[2:], pad_per_class, clip_boxes, name
        )
    )


@export("image.crop_and_resize")
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: Name = None,
) -> Tensor:
    """Return crops of the boxes, resized to `crop_size`, as float32.

    Args:
        image: [batch, height, width, channels].
        boxes: [number, 4]; normalized coordinates, which may lie outside of 0 to 1.
        box_indices: [number], the image of each box.
        method: "bilinear" or "nearest".
        extrapolation_value: the value outside of the image.

    >>> crop_and_resize([[[[1.], [3.]]]], [[0., 0., 1., 1.]], [0], [1, 3]).numpy().ravel().tolist()
    [1.0, 2.0, 3.0]
    """
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"crop_and_resize: `method` must be 'bilinear' or 'nearest', not {method!r}")
    images, corners = convert_to_tensor(image), cast(boxes, dtypes.float32)
    for x, rank, what in ((images, 4, "image"), (corners, 2, "boxes")):
        if x.shape.rank not in (rank, None):
            raise ValueError(f"crop_and_resize: `{what}` must have rank {rank}, not the shape {x.shape}")
    Assert(reduce_all(is_finite(corners)), ["crop_and_resize: boxes must be finite:", corners])
    owners = reshape(cast(box_indices, dtypes.int32), stack([shape_of(corners)[0]]))
    wanted = convert_to_tensor(crop_size, dtypes.int32)
    ys = _positions(corners[:, 0], corners[:, 2], wanted[0], size_of(images, 1))
    xs = _positions(corners[:, 1], corners[:, 3], wanted[1], size_of(images, 2))
    found = _Grid(images, owners, ys, xs).values(method)
    height, width = (cast(size_of(images, axis) - 1, dtypes.float32) for axis in (1, 2))
    inside = ((ys >= 0) & (ys <= height))[:, :, None] & ((xs >= 0) & (xs <= width))[:, None, :]
    return where(expand_dims(inside, -1), found, cast(extrapolation_value, dtypes.float32), name)  # type: ignore[no-any-return]


def _positions(start: Tensor, end: Tensor, count: Tensor, length: Any) -> Tensor:
    """Return the positions of the crop's elements along one axis: [number, count]."""
    last = cast(length - 1, dtypes.float32)
    steps = cast(counted(count), dtypes.float32)
    scale = (end - start) * last / cast(count - 1, dtypes.float32)
    single = 0.5 * (start + end) * last
    spread = (start * last)[:, None] + steps * where(count > 1, scale, start * 0)[:, None]
    return where(count > 1, spread, single[:, None])  # type: ignore[no-any-return]


class _Grid(NamedTuple):
    """Elements of images, at the intersections of rows and columns."""

    images: Tensor
    owners: Tensor
    ys: Tensor
    xs: Tensor

    def values(self, method: str) -> Tensor:
        if method == "nearest":
            return self._at(floor(self.ys + 0.5), floor(self.xs + 0.5))
        top, left = floor(self.ys), floor(self.xs)
        bottom, right = ceil(self.ys), ceil(self.xs)
        down, across = (self.ys - top)[:, :, None, None], (self.xs - left)[:, None, :, None]
        above, below = self._at(top, left), self._at(bottom, left)
        above = above + (self._at(top, right) - above) * across
        below = below + (self._at(bottom, right) - below) * across
        return above + (below - above) * down  # type: ignore[no-any-return]

    def _at(self, ys: Tensor, xs: Tensor) -> Tensor:
        height, width = (size_of(self.images, axis) for axis in (1, 2))
        rows = cast(self.owners, dtypes.int64)[:, None] * cast(height, dtypes.int64) + _kept(ys, height)
        places = (rows * cast(width, dtypes.int64))[:, :, None] + _kept(xs, width)[:, None, :]
        whole = shape_of(self.images)
        elements = reshape(self.images, stack([whole[0] * whole[1] * whole[2], whole[3]]))
        return cast(gather(elements, places), dtypes.float32)


def _kept(positions: Tensor, length: Any) -> Tensor:
    """Return indices clipped to the image."""
    last = cast(length - 1, dtypes.float32)
    return cast(where(positions < 0, positions * 0, where(positions > last, last, positions)), dtypes.int64)


@export("image.draw_bounding_boxes")
def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, colors: Any, name: Name = None) -> Tensor:
    """Draw the outlines of boxes into `images`.

    Args:
        images: float, [batch, height, width, channels], with 1, 3 or 4 channels.
        boxes: [batch, number, 4]; coordinates from 0 to 1.
        colors: [number, channels], used in turn; None for a table of ten.

    >>> draw_bounding_boxes([[[[0.]] * 3] * 3], [[[0., 0., 1., 1.]]], None).numpy()[0, :, :, 0].tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    """
    palette = [[0.0] * 0] if colors is None else colors
    return drawn_boxes(images, cast(boxes, dtypes.float32), cast(palette, dtypes.float32), name)  # type: ignore[no-any-return]
