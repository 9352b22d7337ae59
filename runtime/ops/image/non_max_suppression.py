"""Greedy non-maximum suppression: keep the best of overlapping boxes.

    Select the box with the highest score, discard the boxes that overlap it by more than a threshold, and repeat.
    With a `sigma`, no box is discarded: each overlap `o` with a selected box multiplies a score by
    `exp(-o² / (2 sigma))` (Bodla et al., 2017, "Soft-NMS").

A box is [y1, x1, y2, x2], any two opposite corners. The overlap of two boxes is their intersection over
union.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.value_types import TensorType
from ...kernels.orders import stable_order
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.op_families import Array, require_dtype
from ..framework.static_values import integer

_SCORES = frozenset({dtypes.float16, dtypes.bfloat16, dtypes.float32})


def _with_rank(operand: Any, rank: int, what: str) -> None:
    if operand.shape is not None and len(operand.shape) != rank:
        raise ValueError(f"{what} must have rank {rank}, not the shape {shapes.show(operand.shape)}")


def _check_pairs(boxes: Any, scores: Any, axis: int, what: str) -> None:
    one = boxes.shape[axis] if boxes.shape is not None else None
    other = scores.shape[axis] if scores.shape is not None else None
    if one != other and None not in (one, other):
        raise ValueError(
            f"{what}: scores has incompatible shape (Dimensions must be equal, but are {one} and {other})"
        )


@op
def suppress(
    boxes: Same,
    scores: Same,
    max_output_size: Ints,
    iou_threshold: Input,
    score_threshold: Input,
    soft_nms_sigma: Input,
    name: Name = None,
) -> tuple[TensorType, TensorType]:
    """Return the indices of boxes that do not overlap, best first, and their scores.

    Args:
        boxes: [number, 4].
        scores: [number]; boxes with scores up to `score_threshold` are discarded.
        max_output_size, iou_threshold, score_threshold, soft_nms_sigma: scalars.

    >>> boxes = [[0., 0., 1., 1.], [0., 0., 1., 1.1], [2., 2., 3., 3.]]
    >>> suppress(boxes, [0.5, 0.75, 0.25], 3, 0.5, 0.0, 0.0)[0].numpy().tolist()
    [1, 2]
    """
    require_dtype(scores, _SCORES, "non_max_suppression")
    _with_rank(boxes, 2, "non_max_suppression: boxes")
    _with_rank(scores, 1, "non_max_suppression: scores")
    if boxes.shape is not None and boxes.shape[1] not in (4, None):
        raise ValueError(f"non_max_suppression: boxes must have 4 columns, not {boxes.shape[1]}")
    _check_pairs(boxes, scores, 0, "non_max_suppression")
    for operand in (max_output_size, iou_threshold, score_threshold, soft_nms_sigma):
        _with_rank(operand, 0, "non_max_suppression: sizes and thresholds")
    for operand in (iou_threshold, score_threshold, soft_nms_sigma):
        require_dtype(operand, _SCORES, "non_max_suppression, a threshold")
    return TensorType(dtypes.int32, (None,)), TensorType(scores.dtype, (None,))


@suppress.kernel
def _(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array,
      soft_nms_sigma: Array) -> tuple[Array, Array]:  # fmt: skip
    wide = boxes.astype(np.float32, copy=False)
    if wide.ndim != 2 or wide.shape[1] != 4 or scores.shape != wide.shape[:1]:
        raise errors.InvalidArgumentError(
            f"non_max_suppression: scores of the shape {list(scores.shape)} do not fit boxes of {list(boxes.shape)}"
        )
    chosen, left = greedy(
        scores.astype(np.float32), wide, int(max_output_size), float(iou_threshold), float(score_threshold),
        float(soft_nms_sigma),
    )  # fmt: skip
    return chosen, left.astype(scores.dtype)


suppress.no_gradient("as in TensorFlow: the selection of boxes is discrete")


Overlaps = Callable[[Any, Any], Array]
"""A function of two indices of boxes that returns the matrix of the boxes' overlaps."""

_BLOCK = 64


def corners_overlap(boxes: Array) -> Overlaps:
    """Return a function that computes the overlaps of some boxes with others."""
    (y1, x1), (y2, x2) = np.minimum(boxes[:, :2], boxes[:, 2:]).T, np.maximum(boxes[:, :2], boxes[:, 2:]).T
    corners = np.ascontiguousarray([y1, x1, y2, x2, (y2 - y1) * (x2 - x1)])
    has_empty = bool((corners[4] <= 0).any())

    def overlap(some: Any, others: Any) -> Array:
        one, two = corners[:, some, None], corners[:, None, others]
        height = np.minimum(one[2], two[2]) - np.maximum(one[0], two[0])
        width = np.minimum(one[3], two[3]) - np.maximum(one[1], two[1])
        shared = np.maximum(height, 0) * np.maximum(width, 0)
        both = one[4] + two[4] - shared
        if not has_empty:
            return shared / both
        usable = ~((one[4] <= 0) | (two[4] <= 0))
        return np.divide(shared, both, out=np.zeros_like(shared), where=usable)

    return overlap


def greedy(
    scores: Array, boxes: Array, most: int, threshold: float, least: float, sigma: float
) -> tuple[Array, Array]:
    """Return the indices of the selected boxes, and their scores at the time of selection."""
    if not 0 <= threshold <= 1:
        raise errors.InvalidArgumentError("iou_threshold must be in [0, 1]")
    if sigma < 0:
        raise errors.InvalidArgumentError("soft_nms_sigma must be non-negative")
    order = _best_first(scores, most, least)
    overlap = corners_overlap(boxes[order])
    if sigma:
        places, kept = _softened(scores[order], overlap, most, least, sigma)
        return order[places], kept
    chosen = order[_separate(overlap, len(order), most, threshold)]
    return chosen, scores[chosen]


def _best_first(scores: Array, most: int, least: float) -> Array:
    """Return the indices of the scores above `least`, the largest one first."""
    if most < 0:
        raise errors.InvalidArgumentError("output size must be non-negative")
    order = stable_order(scores, is_descending=True)
    return order[scores[order] > least].astype(np.int32)


def _separate(overlap: Overlaps, count: int, most: int, threshold: float) -> Array:
    """Return the numbers of items that do not overlap an earlier one; blocks of them are compared at once.

    An overlap of NaN counts as too large.
    """
    chosen = np.zeros(0, np.int64)
    for start in range(0, count, _BLOCK):
        if len(chosen) >= most:
            break
        block = np.arange(start, min(start + _BLOCK, count))
        block = block[(overlap(block, chosen) <= threshold).all(1)]
        close = ~(overlap(block, block) <= threshold)
        stays = np.ones(len(block), bool)
        for one in np.flatnonzero(close.sum(0) > close.diagonal()):
            if stays[one]:
                stays[one + 1 :] &= ~close[one + 1 :, one]
        chosen = np.concatenate([chosen, block[stays]])
    return chosen[:most]


def _softened(
    current: Array, overlap: Overlaps, most: int, least: float, sigma: float
) -> tuple[Array, Array]:
    chosen: list[int] = []
    kept: list[Any] = []
    while len(current) and len(chosen) < most:
        best = int(np.argmax(current))
        if np.isnan(current[best]):
            current[np.isnan(current)] = -np.inf
            continue
        if not current[best] > least:
            break
        chosen.append(best)
        kept.append(current[best])
        shares = overlap(slice(best, best + 1), slice(None))[0]
        current *= np.exp(np.float32(-0.5 / sigma) * shares * shares)
        current[best] = -np.inf
    return np.array(chosen, np.int64), np.array(kept, np.float32)


@op
def suppress_overlaps(
    overlaps: Input,
    scores: Input,
    max_output_size: Ints,
    overlap_threshold: Input,
    score_threshold: Input,
    name: Name = None,
) -> TensorType:
    """Return the indices without a larger overlap with a better item; `overlaps` is [number, number].

    >>> suppress_overlaps([[1., 0.9], [0.9, 1.]], [0.5, 0.75], 3, 0.5, 0.0).numpy().tolist()
    [1]
    """
    for operand in (overlaps, scores, overlap_threshold, score_threshold):
        require_dtype(operand, frozenset({dtypes.float32}), "non_max_suppression_overlaps")
    _with_rank(overlaps, 2, "non_max_suppression_overlaps: overlaps")
    _with_rank(scores, 1, "non_max_suppression_overlaps: scores")
    _check_pairs(overlaps, scores, 0, "non_max_suppression_overlaps")
    for operand in (max_output_size, overlap_threshold, score_threshold):
        _with_rank(operand, 0, "non_max_suppression_overlaps: sizes and thresholds")
    return TensorType(dtypes.int32, (None,))


@suppress_overlaps.kernel
def _(overlaps: Array, scores: Array, max_output_size: Array, overlap_threshold: Array, score_threshold: Array
      ) -> Array:  # fmt: skip
    if overlaps.shape != (len(scores), len(scores)):
        raise errors.InvalidArgumentError(
            f"overlaps must be square, one row for each score: {list(overlaps.shape)}"
        )
    most, threshold = int(max_output_size), float(overlap_threshold)
    order = _best_first(scores, most, float(score_threshold))
    places = _separate(
        lambda some, others: overlaps[np.ix_(order[some], order[others])], len(order), most, threshold
    )
    return order[places]


@op
def suppress_padded(
    boxes: Same,
    scores: Same,
    max_output_size: Ints,
    iou_threshold: Input,
    score_threshold: Input,
    name: Name = None,
) -> tuple[TensorType, TensorType]:
    """Compute `suppress` for batches of boxes: indices padded with zeros, and the number of valid indices.

    >>> boxes = [[[0., 0., 1., 1.], [0., 0., 1., 1.1], [2., 2., 3., 3.]]]
    >>> indices, count = suppress_padded(boxes, [[0.5, 0.75, 0.25]], 3, 0.5, 0.0)
    >>> indices.numpy().tolist(), count.numpy().tolist()
    ([[1, 2, 0]], [2])
    """
    require_dtype(scores, _SCORES, "non_max_suppression_padded")
    _with_rank(boxes, 3, "non_max_suppression_padded: boxes")
    _with_rank(scores, 2, "non_max_suppression_padded: scores")
    for axis in (0, 1):
        _check_pairs(boxes, scores, axis, "non_max_suppression_padded")
    for operand in (iou_threshold, score_threshold):
        require_dtype(operand, _SCORES, "non_max_suppression_padded, a threshold")
        _with_rank(operand, 0, "non_max_suppression_padded: thresholds")
    batch = (scores.shape or boxes.shape or (None,))[0]
    most = integer(max_output_size)
    if most is not None and most < 0:
        raise ValueError("output size must be non-negative")
    return TensorType(dtypes.int32, (batch, most)), TensorType(dtypes.int32, (batch,))


@suppress_padded.kernel
def _(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array
      ) -> tuple[Array, Array]:  # fmt: skip
    most = int(max_output_size)
    if boxes.ndim != 3 or boxes.shape[2] != 4 or scores.shape != boxes.shape[:2] or most < 0:
        raise errors.InvalidArgumentError(
            f"non_max_suppression_padded: {list(scores.shape)} scores, {list(boxes.shape)} boxes, size {most}"
        )
    found, counts = np.zeros((len(boxes), most), np.int32), np.zeros(len(boxes), np.int32)
    for row, (some, own) in enumerate(zip(boxes.astype(np.float32), scores.astype(np.float32), strict=True)):
        chosen, _ = greedy(own, some, most, float(iou_threshold), float(score_threshold), 0.0)
        found[row, : len(chosen)], counts[row] = chosen, len(chosen)
    return found, counts


@op
def suppress_classes(
    boxes: Input,
    scores: Input,
    max_output_size_per_class: Ints,
    max_total_size: Ints,
    iou_threshold: Input,
    score_threshold: Input,
    pad_per_class: bool,
    clip_boxes: bool,
    name: Name = None,
) -> tuple[TensorType, TensorType, TensorType, TensorType]:
    """Suppress the boxes of each class separately; return the best boxes, scores, classes, and their number.

    >>> found = suppress_classes([[[[0., 0., 1., 1.]]]], [[[0.5]]], 1, 2, 0.5, 0.0, False, True)
    >>> found[1].numpy().tolist(), found[3].numpy().tolist()
    ([[0.5, 0.0]], [1])
    """
    what = "combined_non_max_suppression"
    for operand in (boxes, scores, iou_threshold, score_threshold):
        require_dtype(operand, frozenset({dtypes.float32}), what)
    _with_rank(boxes, 4, f"{what}: boxes")
    _with_rank(scores, 3, f"{what}: scores")
    for axis in (0, 1):
        _check_pairs(boxes, scores, axis, what)
    one, other = (None if x.shape is None else x.shape[2] for x in (boxes, scores))
    if one not in (1, None, other) and other is not None:
        raise ValueError(
            f"{what}: boxes must be for all classes together, or for each of {other}, not for {one}"
        )
    for operand in (iou_threshold, score_threshold):
        _with_rank(operand, 0, f"{what}: thresholds")
    batch = (scores.shape or boxes.shape or (None,))[0]
    most, each = integer(max_total_size), integer(max_output_size_per_class)
    if (most is not None and most < 1) or (each is not None and each < 1):
        raise ValueError(f"{what}: max_total_size and max_output_size_per_class must be > 0")
    size = most
    if pad_per_class:
        size = None if None in (most, each, other) else min(most or 0, (each or 0) * (other or 0))
    kind = dtypes.float32
    return (
        TensorType(kind, (batch, size, 4)),
        TensorType(kind, (batch, size)),
        TensorType(kind, (batch, size)),
        TensorType(dtypes.int32, (batch,)),
    )


@suppress_classes.kernel
def _(boxes: Array, scores: Array, max_output_size_per_class: Array, max_total_size: Array, iou_threshold: Array,
      score_threshold: Array, pad_per_class: bool, clip_boxes: bool) -> tuple[Array, ...]:  # fmt: skip
    batch, number, classes = scores.shape
    each, most = int(max_output_size_per_class), int(max_total_size)
    if boxes.shape not in ((batch, number, 1, 4), (batch, number, classes, 4)) or min(each, most) < 1:
        raise errors.InvalidArgumentError(
            f"combined_non_max_suppression: boxes of the shape {list(boxes.shape)} do not fit scores of "
            f"{list(scores.shape)}, or a size is not positive: {each}, {most}"
        )
    size = min(most, each * classes) if pad_per_class else most
    found_boxes, values = np.zeros((batch, size, 4), np.float32), np.zeros((batch, size), np.float32)
    kinds, counts = np.zeros((batch, size), np.float32), np.zeros(batch, np.int32)
    for row in range(batch):
        found = _each_class(boxes[row], scores[row], each, float(iou_threshold), float(score_threshold))
        order = np.argsort(-found[1], kind="stable")[:size]
        counts[row] = len(order)
        for target, source in zip((found_boxes, values, kinds), found, strict=True):
            target[row, : len(order)] = source[order]
    return np.clip(found_boxes, 0, 1) if clip_boxes else found_boxes, values, kinds, counts


suppress_classes.no_gradient("as in TensorFlow: the selection of boxes is discrete")


def _each_class(
    boxes: Array, scores: Array, each: int, threshold: float, least: float
) -> tuple[Array, Array, Array]:
    found_boxes, values, kinds = (
        [np.zeros((0, 4), np.float32)],
        [np.zeros(0, np.float32)],
        [np.zeros(0, np.float32)],
    )
    for kind in range(scores.shape[1]):
        own = boxes[:, kind if boxes.shape[1] > 1 else 0]
        chosen, kept = greedy(scores[:, kind], own, each, threshold, least, 0.0)
        found_boxes.append(own[chosen])
        values.append(kept)
        kinds.append(np.full(len(chosen), kind, np.float32))
    return np.concatenate(found_boxes), np.concatenate(values), np.concatenate(kinds)
