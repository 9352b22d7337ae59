"""Random boxes that cover part of an object: numbers from TensorFlow 2.21, in graphs too, and refusals."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import COMPLETE

OBJECTS = [[[0.1, 0.2, 0.5, 0.6], [0.3, 0.4, 0.9, 1.0]]]
EXPECTED = {
    (1, 2): ([23, 123, 0], [142, 129, -1], [0.115, 0.41, 0.825, 0.84]),
    (3, 4): ([32, 68, 0], [66, 79, -1], [0.16, 0.22666667, 0.49, 0.49]),
    (5, 6): ([13, 22, 0], [173, 181, -1], [0.065, 0.07333333, 0.93, 0.67666667]),
}


def by_seed(seed: Any) -> Any:
    return tf.image.stateless_sample_distorted_bounding_box(
        [200, 300, 3], OBJECTS, seed, min_object_covered=0.5, area_range=(0.08, 1.0)
    )


@pytest.mark.parametrize("executor", [None, *COMPLETE])
def test_boxes_of_stateless_seeds_are_those_of_tensorflow(executor: Any) -> None:
    run = by_seed if executor is None else tf.function(by_seed, experimental_executor=executor)
    for seed, (begin, size, box) in EXPECTED.items():
        found = run(tf.constant(seed))
        assert found.begin.numpy().tolist() == begin and found.size.numpy().tolist() == size
        np.testing.assert_allclose(found.bboxes.numpy(), [[box]], rtol=1e-6)


def test_boxes_of_the_global_seed_continue_a_stream_as_in_tensorflow() -> None:
    tf.random.set_seed(3)
    found = [tf.image.sample_distorted_bounding_box([200, 300, 3], OBJECTS, seed=5) for _ in range(3)]
    assert [box.begin.numpy().tolist() for box in found] == [[18, 145, 0], [14, 71, 0], [9, 8, 0]]
    assert [box.size.numpy().tolist() for box in found] == [[119, 117, -1], [159, 183, -1], [178, 187, -1]]


def test_a_dataset_crops_images() -> None:
    def crop(image: Any) -> Any:
        box = tf.image.sample_distorted_bounding_box(
            tf.shape(image), tf.zeros([1, 0, 4]), use_image_if_no_bounding_boxes=True
        )
        part = tf.slice(image, box.begin, box.size)
        part.set_shape([None, None, 3])
        return tf.image.resize(part, [8, 8])

    images = tf.data.Dataset.from_tensor_slices(tf.random.uniform([4, 20, 30, 3])).map(crop)
    assert [image.shape for image in images] == [(8, 8, 3)] * 4


def test_without_a_fitting_box_the_result_is_the_whole_image() -> None:
    found = tf.image.stateless_sample_distorted_bounding_box(
        [20, 30, 3], OBJECTS, (1, 2), 1.0, None, (0.01, 0.02)
    )
    assert found.begin.numpy().tolist() == [0, 0, 0] and found.size.numpy().tolist() == [20, 30, -1]


@pytest.mark.parametrize(
    ("boxes", "options", "message"),
    [
        (np.zeros((1, 0, 4), "f"), {}, "No bounding boxes provided"),
        ([[[0.0, 0.0, 2.0, 1.0]]], {}, r"must be in \[0.0, 1.0\]"),
        ([[[0.0, 0.0, np.nan, 1.0]]], {}, r"must be in \[0.0, 1.0\]"),
        (OBJECTS, {"max_attempts": 0}, "max_attempts must be positive"),
        (OBJECTS, {"area_range": (0.0, 2.0)}, "area_range must be increasing"),
        (OBJECTS, {"aspect_ratio_range": (2.0, 1.0)}, "aspect_ratio_range must be positive"),
    ],
)
def test_images_without_objects_and_impossible_ranges_are_refused(
    boxes: Any, options: Any, message: str
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.image.stateless_sample_distorted_bounding_box([20, 30, 3], boxes, (1, 2), **options)
