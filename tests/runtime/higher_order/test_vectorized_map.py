"""vectorized_map: the results of map_fn, by operations on all rows at once. Values agree with TensorFlow 2.21."""

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

WAYS = pytest.mark.parametrize("way", ["eager", "plan", "interpret"])
ROWS = tf.constant(np.arange(1.0, 25.0, dtype=np.float32).reshape(4, 2, 3) / 7)
W = tf.constant([[1.0, -2.0], [0.5, 3.0]])


def run(way, call, *args):
    return call(*args) if way == "eager" else tf.function(call, experimental_executor=way)(*args)


FUNCTIONS = {
    "arithmetic": lambda x: x * 2 + x[0],
    "fewer axes beside more": lambda x: x[:, 0] + tf.ones([5, 2, 2]),
    "a captured matrix": lambda x: W @ x,
    "rows by rows": lambda x: tf.matmul(x, x, transpose_b=True),
    "reductions": lambda x: (tf.reduce_sum(x), tf.reduce_mean(x, -1), tf.reduce_max(x, 0, keepdims=True)),
    "norm": tf.norm,
    "shapes": lambda x: (
        tf.reshape(x, [3, -1]),
        tf.transpose(x),
        tf.expand_dims(x, 0),
        x[..., None],
        tf.shape(x),
    ),
    "squeeze": lambda x: (tf.squeeze(x[:1]), tf.squeeze(x[:1], 0)),
    "joining": lambda x: (
        tf.concat([x, tf.ones([1, 3])], 0),
        tf.stack([x, x], axis=-1),
        tf.unstack(x, axis=1),
    ),
    "broadcast": lambda x: (tf.broadcast_to(x[0], [2, 3]), tf.tile(x, [1, 2]), tf.pad(x, [[1, 0], [0, 1]])),
    "choices": lambda x: tf.where(x > 1.5, x, -1.0),
    "softmax": lambda x: (tf.nn.softmax(x), tf.nn.softmax(x, axis=0), tf.cumsum(x, axis=1)),
    "products": lambda x: (
        tf.einsum("ij,kj->ik", x, x),
        tf.tensordot(W, x, 1),
        tf.tensordot(x, x, [[0, 1], [0, 1]]),
    ),
    "kinds": lambda x: (tf.cast(x, tf.int32), tf.ones_like(x), tf.argmax(x, 1), tf.reverse(x, [1])),
    "gather": lambda x: (
        tf.gather(x, [1, 0]),
        tf.gather(x, [2, 0], axis=1),
        x[tf.cast(x[0, 0], tf.int32) % 2],
    ),
    "gather of one": lambda x: tf.gather(W, tf.cast(x[0], tf.int32) % 2),
    "matrices": lambda x: tf.linalg.inv(x @ tf.transpose(x) + tf.eye(2)),
    "triangular systems": lambda x: (
        tf.linalg.triangular_solve(x[:, :2], x[0, 0] * tf.ones([4, 2, 1])),
        tf.linalg.triangular_solve(x[:, :2] * tf.ones([4, 1, 1]), x),
        tf.linalg.triangular_solve(W * tf.ones([4, 1, 1]), x),
    ),
    "no rule": lambda x: tf.sort(x, axis=-1),
    "the same in all rows": lambda x: tf.reduce_sum(W),
    "a nest": lambda x: {"a": x, "b": (x + 1, None)},
}


@WAYS
@each_case("name", FUNCTIONS)
def test_results_equal_those_of_map_fn(way, name):
    f = FUNCTIONS[name]
    results = tf.nest.flatten(run(way, lambda x: tf.vectorized_map(f, x), ROWS))
    one_by_one = [tf.nest.flatten(f(row)) for row in tf.unstack(ROWS)]
    for place, result in enumerate(results):
        if result is None:
            assert one_by_one[0][place] is None
            continue
        expected = np.stack([row[place].numpy() for row in one_by_one])
        assert result.dtype == one_by_one[0][place].dtype
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)


@WAYS
def test_control_flow_is_done_row_by_row(way):
    def steps(n):
        count = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    counts = run(way, lambda x: tf.vectorized_map(steps, x), tf.constant([1, 6, 27]))
    assert counts.numpy().tolist() == [0, 8, 111]


@WAYS
def test_arguments_of_one_row_are_broadcast(way):
    sums = run(
        way, lambda x, y: tf.vectorized_map(lambda p: p[0] + p[1], (x, y)), tf.range(3), tf.constant([5])
    )
    assert sums.numpy().tolist() == [5, 6, 7]


def test_an_unknown_number_of_rows():
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        return tf.vectorized_map(
            lambda row: (tf.reduce_sum(row), tf.reshape(row, [3, 1]) * [[1.0, 2.0]], W), x
        )

    outputs = f.get_concrete_function().structured_outputs
    assert [spec.shape.as_list() for spec in outputs] == [[None], [None, 3, 2], [None, 2, 2]]
    for count in (0, 2):
        assert [part.shape[0] for part in f(tf.ones([count, 3]))] == [count] * 3


def test_the_graph_has_one_batched_operation():
    f = tf.function(lambda x: tf.vectorized_map(lambda row: tf.nn.relu(W @ row) + 1.0, x))
    kinds = [operation.type for operation in f.get_concrete_function(ROWS).graph.walk()]
    assert kinds == ["matmul", "relu", "add"]


def test_variables_are_read_and_effects_keep_their_order():
    v, seen = tf.Variable(2.0), tf.Variable(0.0)

    def f(x):
        return x * v

    def counting(x):
        seen.assign_add(1.0)
        return x + seen

    assert tf.vectorized_map(f, tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert tf.vectorized_map(counting, tf.constant([1.0, 1.0])).numpy().tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match=r"tf\.map_fn"):
        tf.vectorized_map(counting, tf.constant([1.0]), fallback_to_while_loop=False)


def test_every_row_has_its_own_random_numbers():
    numbers = tf.vectorized_map(lambda x: x + tf.random.uniform([2]), tf.zeros([3, 2])).numpy()
    assert len(set(numbers.ravel().tolist())) == 6


def test_gradients():
    w = tf.Variable(W)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.vectorized_map(lambda x: tf.square(w @ x), ROWS))
    with tf.GradientTape() as expected:
        same = tf.reduce_sum(tf.square(w @ ROWS))
    np.testing.assert_allclose(tape.gradient(loss, w).numpy(), expected.gradient(same, w).numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: tf.vectorized_map(3, tf.range(2)), TypeError, "callable"),
        (lambda: tf.vectorized_map(lambda x: x, 3), ValueError, "scalars"),
        (lambda: tf.vectorized_map(lambda x: x, []), ValueError, "at least one tensor"),
        (
            lambda: tf.vectorized_map(lambda p: p, (tf.range(2), tf.range(3))),
            ValueError,
            "cannot be mapped together",
        ),
        (
            lambda: tf.vectorized_map(lambda x: tf.sort(x), ROWS, fallback_to_while_loop=False),
            ValueError,
            "sort",
        ),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_refused(call, error, message, staged):
    with pytest.raises(error, match=message):
        (tf.function(call) if staged else call)()


def test_vectorized_map_traces_under_run_functions_eagerly() -> None:
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.vectorized_map(lambda x: x * 2, tf.constant([1, 2])).numpy().tolist() == [2, 4]
        assert tf.config.functions_run_eagerly()
    finally:
        tf.config.run_functions_eagerly(False)
