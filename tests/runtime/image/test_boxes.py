"""Boxes: numbers from TensorFlow 2.21, the same in graphs whose sizes are unknown, refusals."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

BOXES = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]],
    "f",
)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], "f")


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.ravel(found), np.ravel(expected), rtol=1e-5, atol=1e-6)


def test_non_max_suppression_keeps_the_best_boxes() -> None:
    assert tf.image.non_max_suppression(BOXES, SCORES, 3).numpy().tolist() == [3, 0, 5]
    assert tf.image.non_max_suppression(BOXES[:, [2, 3, 0, 1]], SCORES, 3).numpy().tolist() == [3, 0, 5]
    assert tf.image.non_max_suppression(BOXES, SCORES, 30, score_threshold=0.4).numpy().tolist() == [3, 0]
    assert tf.image.non_max_suppression(BOXES, SCORES, 0).shape == (0,)
    indices, scores = tf.image.non_max_suppression_with_scores(BOXES, SCORES, 6, soft_nms_sigma=0.5)
    assert indices.numpy().tolist() == [3, 0, 1, 5, 4, 2]
    close(scores, [0.95, 0.9, 0.38400355, 0.3, 0.2560026, 0.19697244])
    indices, count = tf.image.non_max_suppression_padded(
        np.stack([BOXES, BOXES[::-1]]),
        np.stack([SCORES] * 2),
        5,
        score_threshold=0.4,
        pad_to_max_output_size=True,
    )
    assert indices.numpy().tolist() == [[3, 0, 0, 0, 0], [3, 0, 1, 0, 0]]
    assert count.numpy().tolist() == [2, 3]
    overlaps = np.array([[1, 0.7, 0.1], [0.7, 1, 0.1], [0.1, 0.1, 1]], "f")
    assert tf.image.non_max_suppression_overlaps(overlaps, [0.1, 0.3, 0.2], 3).numpy().tolist() == [1, 2]


@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 400])
def test_many_boxes_are_those_of_one_comparison_after_another(count: int) -> None:
    drawn = np.random.default_rng(count)
    corners, scores = drawn.random((count, 4)).astype("f"), drawn.integers(0, 50, count).astype("f")
    expected: list[int] = []
    low, high = np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:])
    area = (high - low).prod(1)
    for box in np.argsort(-scores, kind="stable").tolist():
        sides = np.minimum(high[box], high[expected]) - np.maximum(low[box], low[expected])
        shared = np.maximum(sides, 0).prod(1)
        if not (shared / (area[box] + area[expected] - shared) > 0.3).any():
            expected.append(box)
    for most in (0, 3, count):
        found = tf.image.non_max_suppression(corners, scores, most, 0.3)
        assert found.numpy().tolist() == expected[:most]


def test_classes_together() -> None:
    scores = np.array([[[0.9, 0.1], [0.8, 0.7], [0.2, 0.6]]], "f")
    found = tf.image.combined_non_max_suppression(
        BOXES[None, :3, None] * 0.5, scores, 2, 3, score_threshold=0.15
    )
    close(found.nmsed_scores, [0.9, 0.7, 0.0])
    close(found.nmsed_classes, [0, 1, 0])
    close(found.nmsed_boxes[0, 1], [0, 0.05, 0.5, 0.55])
    assert found.valid_detections.numpy().tolist() == [2]
    padded = tf.image.combined_non_max_suppression(BOXES[None, :3, None], scores, 1, 9, pad_per_class=True)
    assert padded.nmsed_scores.shape == (1, 2)


def test_overlaps_of_nan_count_as_too_large() -> None:
    overlaps = np.array([[1, np.nan, 0], [np.nan, 1, 0], [0, 0, 1]], "f")
    found = tf.image.non_max_suppression_overlaps(overlaps, [0.9, 0.8, 0.7], 3, score_threshold=0.0)
    assert found.numpy().tolist() == [0, 2]
    boxes = np.array([[0, 0, 1, 1], [0, np.nan, 1, 1], [2, 2, 3, 3]], "f")
    best = tf.image.non_max_suppression(boxes, [0.9, 0.8, 0.7], 3, score_threshold=0.0)
    assert best.numpy().tolist() == [0, 2]


def test_boxes_in_graphs_of_unknown_size() -> None:
    @tf.function(
        input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)]
    )
    def traced(boxes: Any, scores: Any, most: Any) -> Any:
        return tf.image.non_max_suppression(boxes, scores, most), tf.image.non_max_suppression_padded(
            boxes, scores, most, pad_to_max_output_size=True
        )

    indices, (padded, count) = traced(BOXES, SCORES, 4)
    assert indices.numpy().tolist() == [3, 0, 5]
    assert padded.numpy().tolist() == [3, 0, 5, 0] and count.numpy() == 3
    assert traced(BOXES[:0], SCORES[:0], 4)[0].shape == (0,)
    for boxes, scores, most in ((BOXES, SCORES[:2], 3), (BOXES, SCORES, -1)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            traced(boxes, scores, most)
    with pytest.raises(tf.errors.InvalidArgumentError, match="iou_threshold"):
        tf.image.non_max_suppression(BOXES, SCORES, 3, iou_threshold=1.5)


def test_crop_and_resize() -> None:
    image = np.arange(12, dtype="f").reshape(1, 3, 4, 1)
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.75, 1.5]]
    found = tf.image.crop_and_resize(image, boxes, [0, 0], [2, 3], extrapolation_value=-1.0)
    close(found[0], [0, 1.5, 3, 8, 9.5, 11])
    close(found[1], [3.5, 5, -1, 7.5, 9, -1])
    close(tf.image.crop_and_resize(image, boxes, [0, 0], [1, 1]), [5.5, 7])
    close(tf.image.crop_and_resize(image, boxes, [0, 0], [2, 2], "nearest")[0], [0, 3, 8, 11])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.crop_and_resize(image, boxes, [0, 1], [2, 2])
    with tf.GradientTape() as tape:
        tape.watch([x := tf.constant(image), places := tf.constant(boxes)])
        y = tf.reduce_sum(tf.image.crop_and_resize(x, places, [0, 0], [2, 3]))
    of_image, of_boxes = tape.gradient(y, [x, places])
    close(tf.reduce_sum(of_image), 10)
    # Only the middle column of the first crop lies between elements: half of 3 columns, in each of 2 rows.
    close(of_boxes[0], [0, 3, 0, 3])


@pytest.mark.parametrize("end", [np.nan, np.inf])
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_crops_of_boxes_that_are_not_finite(wrap: Any, end: float) -> None:
    crop = wrap(lambda boxes: tf.image.crop_and_resize(np.ones((1, 3, 4, 1), "f"), boxes, [0], [1, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="finite"):
        crop(tf.constant([[0.0, 0.0, end, 1.0]]))


def test_outlines() -> None:
    image = np.zeros((1, 6, 7, 3), "f")
    drawn = tf.image.draw_bounding_boxes(
        image, [[[0.1, 0.2, 0.8, 0.9], [0.5, 0.5, 1.5, 0.7]]], [[0.5] * 3, [0.2] * 3]
    )
    assert drawn.numpy()[0, :, :, 1].astype(float).round(1).tolist() == [
        [0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.0],
        [0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0],
        [0.0, 0.5, 0.0, 0.2, 0.2, 0.5, 0.0],
        [0.0, 0.5, 0.0, 0.2, 0.2, 0.5, 0.0],
        [0.0, 0.5, 0.5, 0.2, 0.2, 0.5, 0.0],
        [0.0, 0.0, 0.0, 0.2, 0.2, 0.0, 0.0],
    ]
    assert not image.any()
