"""Axes that only the graph knows: the same numbers and gradients as with Python numbers, errors that say which."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

X = tf.constant([[[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]], [[0.5, 2.0, 1.0], [3.0, 2.5, 8.0]]])

CALLS = {
    "reduce_sum": tf.reduce_sum,
    "reduce_mean": tf.reduce_mean,
    "reduce_max": tf.reduce_max,
    "reduce_min": tf.reduce_min,
    "reduce_prod": tf.reduce_prod,
    "reduce_logsumexp": tf.reduce_logsumexp,
    "reduce_std": tf.math.reduce_std,
    "reduce_variance": tf.math.reduce_variance,
    "reduce_euclidean_norm": tf.math.reduce_euclidean_norm,
    "count_nonzero": lambda x, axis: tf.math.count_nonzero(x > 2.0, axis),
    "reduce_all": lambda x, axis: tf.reduce_all(x > 1.0, axis),
    "reduce_any": lambda x, axis: tf.reduce_any(x > 7.0, axis),
    "keepdims": lambda x, axis: tf.reduce_sum(x, axis, keepdims=True),
    "argmax": tf.argmax,
    "argmin": lambda x, axis: tf.argmin(x, axis, output_type=tf.int32),
    "cumsum": lambda x, axis: tf.cumsum(x, axis, exclusive=True),
    "cumprod": lambda x, axis: tf.math.cumprod(x, axis, reverse=True),
    "cumulative_logsumexp": tf.math.cumulative_logsumexp,
    "l2_normalize": tf.math.l2_normalize,
    "expand_dims": tf.expand_dims,
    "concat": lambda x, axis: tf.concat([x, 2.0 * x], axis),
    "gather": lambda x, axis: tf.gather(x, [1, 0, 1], axis=axis),
    "gather a scalar": lambda x, axis: tf.gather(x, 1, axis=axis),
    "gather a matrix": lambda x, axis: tf.gather(x, [[1, 0], [0, 1]], axis=axis),
    "split": lambda x, axis: tf.concat(tf.split(x[:, :, :2], 2, axis), 0),
    "split sizes": lambda x, axis: tf.split(x, [1, -1], axis)[1],
}


@pytest.mark.parametrize("name", CALLS)
def test_one_dynamic_axis(name: str) -> None:
    call = CALLS[name]
    for executor in ("plan", "interpret"):
        late = tf.function(call, experimental_executor=executor)
        for axis in (0, 1, -1):
            expected = call(X, axis)
            found = late(X, tf.constant(axis))
            assert found.shape == expected.shape
            assert found.numpy() == pytest.approx(expected.numpy(), rel=1e-6)


@pytest.mark.parametrize("axes", [[0, 2], [-1, 0], [1], [], [2, 0, 1]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_several_dynamic_axes(axes: list[int], keepdims: bool) -> None:
    def call(x: Any, axis: Any) -> Any:
        return tf.reduce_sum(x, axis, keepdims)

    for dtype in (tf.int32, tf.int64):
        late = tf.function(call)(X, tf.constant(axes, dtype))
        assert late.numpy() == pytest.approx(call(X, axes).numpy())


def test_python_numbers_among_the_axes() -> None:
    late = tf.function(lambda x, axis: tf.reduce_max(x, [0, axis]))
    assert late(X, tf.constant(2)).numpy().tolist() == [5.0, 8.0]


@pytest.mark.parametrize(
    "name",
    ["reduce_sum", "reduce_mean", "reduce_max", "reduce_prod", "cumsum", "keepdims", "gather", "split"],
)
def test_gradients(name: str) -> None:
    @tf.function
    def gradient(x: Any, axis: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.square(CALLS[name](x, axis)))
        return tf.convert_to_tensor(tape.gradient(y, x))

    for axis in (0, -1):
        expected = gradient(X, axis).numpy()
        assert gradient(X, tf.constant(axis)).numpy() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("bounds", [(0, -1), (-1, 0), (1, 1), (0, 0), (-1, -1), (2, 0)])
def test_traced_bounds_of_a_band(bounds: Any) -> None:
    def gradient(x: Any, lower: Any, upper: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.linalg.band_part(x, lower, upper)
        return y, tape.gradient(y, x, y)

    expected = gradient(X, *bounds)
    for dtype in (tf.int32, tf.int64):
        found = tf.function(gradient)(X, *(tf.constant(bound, dtype) for bound in bounds))
        assert [each.numpy().tolist() for each in found] == [each.numpy().tolist() for each in expected]


def test_traced_bounds_that_are_too_large() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_lower must be negative or at most"):
        tf.function(tf.linalg.band_part)(X, tf.constant(5), tf.constant(0))


@pytest.mark.parametrize("name", ["gather", "split sizes"])
def test_axes_of_slices_out_of_range(name: str) -> None:
    for axis in (3, -4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range for a tensor of rank 3"):
            tf.function(CALLS[name])(X, tf.constant(axis))


def test_static_shapes_with_dynamic_axes() -> None:
    shapes = []

    @tf.function(
        input_signature=[
            tf.TensorSpec([2, None, 4]),
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec(None, tf.int32),
        ]
    )
    def f(x: Any, axis: Any, axes: Any) -> Any:
        shapes.extend(
            [tf.reduce_sum(x, axis).shape, tf.cumsum(x, axis).shape, tf.reduce_sum(x, axes).shape.rank]
        )
        return tf.reduce_sum(x, axes)

    f.get_concrete_function()
    assert shapes == [[None, None], [2, None, 4], None]


@pytest.mark.parametrize(
    ("axis", "message"),
    [(3, "axis 3 is out of range for a tensor of rank 3"), ([0, -3], r"duplicate dimension: \(0, -3\)")],
)
def test_dynamic_axes_out_of_range(axis: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(tf.reduce_sum)(X, tf.constant(axis))


def test_new_and_joined_axes_that_are_not_there() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="axis 4 is out of range for a tensor of rank 4"):
        tf.function(tf.expand_dims)(X, tf.constant(4))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="axis -4 is out of range for a tensor of rank 3"
    ):
        tf.function(lambda axis: tf.concat([X, X], axis))(tf.constant(-4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x, axis: tf.sort(x, axis),
            "sort, argument `axis`: it must be known .* tf.switch_case",
        ),
        (lambda x, axis: tf.reduce_sum(x, tf.cast(axis, tf.float32)), "float32 is not an integer dtype"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tf.function(call)(X, tf.constant(0))


@pytest.mark.parametrize(
    ("tensor", "shape"),
    [
        (lambda x, k: tf.transpose(x, tf.reverse(tf.range(tf.rank(x)), [0])), [6, 4, None]),
        (lambda x, k: tf.transpose(x, tf.roll(tf.range(tf.rank(x)), -1, 0)), [4, 6, None]),
        (lambda x, k: tf.transpose(x, tf.math.invert_permutation([2, 0, 1])), [4, 6, None]),
        (lambda x, k: tf.reduce_sum(x, tf.range(tf.rank(x) - 1)), [6]),
        (lambda x, k: tf.reshape(x, tf.cast(tf.shape(x), tf.int64)), [None, 4, 6]),
        (lambda x, k: tf.reshape(x, [-1, tf.reduce_prod(tf.shape(x)[1:])]), [None, 24]),
        (lambda x, k: tf.zeros(tf.where(tf.shape(k) > 4, tf.shape(k), 1)), [1, 5, 6]),
        (lambda x, k: tf.zeros([tf.cast(tf.math.ceil(tf.shape(k)[1] / 2), tf.int32)]), [3]),
        (lambda x, k: tf.zeros(tf.tensor_scatter_nd_update(tf.shape(k), [[0]], [9])), [9, 5, 6]),
        (lambda x, k: tf.zeros(tf.concat([tf.shape(x)[:1], tf.fill([2], 3)], 0)), [None, 3, 3]),
    ],
)
def test_static_shapes_of_what_any_operation_computes_of_sizes(tensor: Any, shape: list[int | None]) -> None:
    """An operation on constants and known sizes is computed while the function is traced, in all dtypes."""
    specs = [tf.TensorSpec([None, 4, 6]), tf.TensorSpec([4, 5, 6])]
    traced = tf.function(tensor, input_signature=specs).get_concrete_function()
    assert traced.structured_outputs.shape.as_list() == shape
    x, k = np.ones([2, 4, 6], np.float32), np.ones([4, 5, 6], np.float32)
    assert traced(x, k).numpy().tolist() == tensor(x, k).numpy().tolist()


def test_static_shapes_of_computed_sizes() -> None:
    """Sizes that arithmetic makes of known ones are known; those of unknown ones or of divisions by zero are not."""

    @tf.function(input_signature=[tf.TensorSpec([None, 12])])
    def f(x: Any) -> Any:
        stops, rows, columns = tf.constant([1, 3, 4]), tf.shape(x)[0], tf.shape(x)[1]
        steps = tf.concat([stops[:1], stops[1:] - stops[:-1], columns - stops[-1:]], 0)
        seen["parts"] = [part.shape.as_list() for part in tf.split(x, steps, axis=-1)]
        seen["half"] = x[:, : columns // 2 - 1].shape.as_list()
        seen["rows"] = tf.zeros([rows * 2, tf.maximum(columns % 5, 1)]).shape.as_list()
        uncertain = columns + (2**31 - 1), columns // tf.constant(0), rows + 1
        seen["uncertain"] = [tf.get_static_value(size) for size in uncertain]
        return x

    seen: dict[str, Any] = {}
    f.get_concrete_function()
    assert seen == {
        "parts": [[None, 1], [None, 2], [None, 1], [None, 8]],
        "half": [None, 5],
        "rows": [None, 2],
        "uncertain": [12 - 1 - 2**31, None, None],  # as int32 overflows when it runs
    }
