"""An argument that is a list with tensors, as `[tf.shape(x)[0], -1]`, becomes a tensor, and the call is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.framework.eager_calls import KeptAttributes

pytestmark = pytest.mark.usefixtures("language")

CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "reshape": (lambda x, n: tf.reshape(x, [n, -1]), lambda x, n: x.reshape(n, -1)),
    "a tuple": (lambda x, n: tf.reshape(x, (-1, n, 2)), lambda x, n: x.reshape(-1, n, 2)),
    "a keyword": (lambda x, n: tf.reshape(shape=[-1, n], tensor=x), lambda x, n: x.reshape(-1, n)),
    "a nest": (lambda x, n: tf.pad(x, [[0, n], [n, 1]]), lambda x, n: np.pad(x, [(0, n), (n, 1)])),
    "two lists": (lambda x, n: tf.slice(x, [0, n], [2, n]), lambda x, n: x[:2, n : 2 * n]),
    "fill": (lambda x, n: tf.fill([n, 2], 7.0), lambda x, n: np.full((n, 2), 7.0, np.float32)),
    "tile": (lambda x, n: tf.tile(x, [1, n]), lambda x, n: np.tile(x, [1, n])),
    "elements": (lambda x, n: x[0, :2] * [tf.cast(n, tf.float32), 2.0], lambda x, n: x[0, :2] * [n, 2.0]),
    "an axis": (lambda x, n: tf.reduce_sum([x, x * 2.0], axis=n - n), lambda x, n: x * 3.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_call_gives_what_numpy_gives(name: str) -> None:
    ours, theirs = CALLS[name]
    size = tf.Variable(1)
    for i in range(24):
        x = np.arange(24, dtype=np.float32).reshape(4, 6) + i
        n = (1, 2, 3)[i % 3]
        size.assign(n)
        for number in (tf.constant(n), size):
            found = ours(tf.constant(x), number).numpy()
            expected = theirs(x, n)
            assert found.shape == expected.shape
            assert found.dtype == np.float32
            np.testing.assert_array_equal(found, expected)


def test_items_have_gradients() -> None:
    for i in range(8):
        x, y = tf.constant(2.0 + i), tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.reduce_prod([x, y, x]) + tf.reduce_max([[x], [y * 2.0]])
        dx, dy = tape.gradient(z, [x, y])
        one, other = (1.0, 0.0) if x > 6.0 else (0.5, 1.0) if x == 6.0 else (0.0, 2.0)
        assert (dx.numpy(), dy.numpy()) == (2 * x.numpy() * 3.0 + one, x.numpy() ** 2 + other)


def test_a_tape_records_the_kept_call() -> None:
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for _ in range(8):
        with tf.GradientTape() as tape:
            tape.watch(x)
            tf.reshape(x, [tf.shape(x)[1], -1])
    assert tape._records is not None
    assert {type(record.attrs) for record in tape._records} == {KeptAttributes}


def test_the_error_is_the_same_in_each_call() -> None:
    x, number, real = tf.zeros([2, 3]), tf.constant(2), tf.constant(2.0)
    cases = [lambda: tf.reshape(x, [number, 4]), lambda: tf.reduce_sum([number, real])]
    for case in cases:
        found = []
        for _ in range(5):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                case()
            found.append(str(caught.value))
        assert len({*found}) == 1
