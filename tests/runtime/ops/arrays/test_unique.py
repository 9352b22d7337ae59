"""unique."""

import agc.runtime as tf
import numpy as np
import pytest


def test_unique_keeps_the_order_of_first_appearance() -> None:
    y, idx = tf.unique([3, 1, 3, 2, 1])
    assert (y.numpy().tolist(), idx.numpy().tolist()) == ([3, 1, 2], [0, 1, 0, 2, 1])
    assert tf.unique(["b", "a", "b"]).y.numpy().tolist() == [b"b", b"a"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="unique expects a 1D vector"):
        tf.unique([[1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out_idx must be int32 or int64, not float32"):
        tf.unique([1], tf.float32)


def test_unique_of_many_numbers() -> None:
    x = np.random.RandomState(0).randint(-50, 50, 3000)
    wanted = list(dict.fromkeys(x.tolist()))
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        y, idx = tf.unique(x.astype(dtype))
        assert y.numpy().tolist() == wanted
        assert y.numpy()[idx].tolist() == x.tolist()


def test_every_nan_is_unique() -> None:
    assert tf.unique([1.0, np.nan, 1.0, np.nan]).idx.numpy().tolist() == [0, 1, 0, 2]
    assert tf.unique_with_counts([np.nan, np.nan]).count.numpy().tolist() == [1, 1]
