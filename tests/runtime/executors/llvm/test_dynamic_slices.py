"""Native slices with dynamic bounds select the elements that NumPy selects."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np


def test_a_slice_with_wrapped_bounds_follows_numpy() -> None:
    rows = np.arange(300.0)

    @tf.function(jit_compile=True)
    def part(x: Any, i: Any) -> Any:
        return x[i : i + 3]

    for place, wanted in ((120, rows[120:123]), (126, rows[126:-127]), (-3, rows[-3:0])):
        np.testing.assert_array_equal(part(tf.constant(rows), tf.constant(place, tf.int8)), wanted)


def test_a_slice_from_a_constant_to_a_computed_end() -> None:
    @tf.function(jit_compile=True)
    def part(x: Any, i: Any) -> Any:
        return x[2 : i + 5 - i]

    assert part(tf.range(9), tf.constant(70)).numpy().tolist() == [2, 3, 4]
