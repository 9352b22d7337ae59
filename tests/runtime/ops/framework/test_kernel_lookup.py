"""Sizes that graphs leave open: executors refuse those that do not fit, also where NumPy would compute something."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

FLOATS, NUMBERS, TEXTS = (
    np.ones,
    lambda shape: np.zeros(shape, np.int32),
    lambda shape: np.full(shape, "a", object),
)
UNFIT: dict[str, tuple[Any, Any, Any]] = {
    "a label of two sizes": (lambda x, y: tf.einsum("ij,jk->ik", x, y), FLOATS([2, 4]), FLOATS([1, 3])),
    "a length too many": (lambda x, n: tf.reverse_sequence(x, n, 1), FLOATS([1, 4]), NUMBERS([3])),
    "a matrix that is not square": (tf.linalg.triangular_solve, FLOATS([1, 4]), FLOATS([4, 2])),
    "vectors of two and three elements": (tf.linalg.cross, FLOATS([2]), FLOATS([3])),
    "texts of other shapes": (lambda x, y: tf.strings.join([x, y]), TEXTS([1]), TEXTS([2])),
    "multiples of more axes": (tf.tile, FLOATS([1, 4]), NUMBERS([3])),
    "positions of fewer axes": (lambda x, i: tf.slice(x, i, i), FLOATS([2, 4]), NUMBERS([1])),
    "indices of other rows": (lambda x, i: tf.gather(x, i, batch_dims=1), FLOATS([1, 4]), NUMBERS([0, 2])),
    "coordinates of more axes": (tf.gather_nd, FLOATS([2, 4]), NUMBERS([0, 3])),
}
WAYS: dict[str, dict[str, Any]] = {
    "interpreter": {"experimental_executor": "interpret"}, "plan": {"jit_compile": False},
    "native": {"jit_compile": True},
}  # fmt: skip


@pytest.mark.parametrize("unfit", UNFIT.values(), ids=UNFIT.keys())
def test_all_executors_refuse_sizes_that_do_not_fit(unfit: Any) -> None:
    function, *arrays = unfit
    open_sizes = [tf.TensorSpec([None] * x.ndim, tf.convert_to_tensor(x).dtype) for x in arrays]
    for options in WAYS.values():
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(function, input_signature=open_sizes, **options)(*arrays)
