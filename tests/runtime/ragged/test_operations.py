"""What TensorFlow's operations are for ragged tensors; the expected values are TensorFlow's."""

import math

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

R = tf.RaggedTensor
ROWS, NESTED, PAIRS = [[1, 2], [3]], [[[1, 2], [3]], []], [[[1, 2], [3, 4]], [[5, 6]]]

# operation: arguments are ROWS, NESTED and PAIRS (whose last axis is uniform)
TABLE = {
    # elements and broadcasting
    "x + a column": (lambda x, y, z: x + tf.constant([[10], [20]]), [[11, 12], [23]]),
    "x + a number in brackets": (lambda x, y, z: tf.add(x, [10]), [[11, 12], [13]]),
    "a column * x": (lambda x, y, z: tf.constant([[10], [20]]) * x, [[10, 20], [60]]),
    "x + more axes": (
        lambda x, y, z: x + tf.constant([[[10]], [[20]]]),
        [[[11, 12], [13]], [[21, 22], [23]]],
    ),
    "y + a column": (lambda x, y, z: y + tf.constant([[[1]], [[2]]]), [[[2, 3], [4]], []]),
    "z + a row": (lambda x, y, z: z + tf.constant([10, 20]), [[[11, 22], [13, 24]], [[15, 26]]]),
    "z + columns": (lambda x, y, z: z + tf.constant([[[10]], [[20]]]), [[[11, 12], [13, 14]], [[25, 26]]]),
    "x / 2": (lambda x, y, z: x / 2, [[0.5, 1.0], [1.5]]),
    "7 // x": (lambda x, y, z: 7 // x, [[7, 3], [2]]),
    "2 ** x": (lambda x, y, z: 2**x, [[2, 4], [8]]),
    "x >= 2": (lambda x, y, z: x >= 2, [[False, True], [True]]),
    "x == x": (lambda x, y, z: x == x, [[True, True], [True]]),
    "~": (lambda x, y, z: ~(x > 1), [[True, False], [False]]),
    "cast": (lambda x, y, z: tf.cast(x, tf.float32), [[1.0, 2.0], [3.0]]),
    "clip": (lambda x, y, z: tf.clip_by_value(x, 1, 2), [[1, 2], [2]]),
    "where": (lambda x, y, z: tf.where(x > 1, x, -x), [[-1, 2], [3]]),
    "where, a column": (lambda x, y, z: tf.where(tf.constant([[True], [False]]), x, 0), [[1, 2], [0]]),
    "where is it": (lambda x, y, z: tf.where(x > 1), [[0, 1], [1, 0]]),
    "ones_like": (lambda x, y, z: tf.ones_like(x), [[1, 1], [1]]),
    "add_n": (lambda x, y, z: tf.add_n([x, x]), [[2, 4], [6]]),
    "one_hot": (lambda x, y, z: tf.one_hot(x - 1, 2), [[[1, 0], [0, 1]], [[0, 0]]]),
    "as_string": (lambda x, y, z: tf.as_string(x), [[b"1", b"2"], [b"3"]]),
    "strings.join": (lambda x, y, z: tf.strings.join([tf.as_string(x), "!"]), [[b"1!", b"2!"], [b"3!"]]),
    "strings.reduce_join": (
        lambda x, y, z: tf.strings.reduce_join(tf.as_string(x), 1, separator="-"),
        [b"1-2", b"3"],
    ),
    "strings.reduce_join 0": (lambda x, y, z: tf.strings.reduce_join(tf.as_string(x), 0), [b"13", b"2"]),
    "strings.reduce_join nested": (
        lambda x, y, z: tf.strings.reduce_join(tf.as_string(y), [1, 2], keepdims=True),
        [[[b"123"]], [[b""]]],
    ),
    # reductions
    "sum": (lambda x, y, z: tf.reduce_sum(x), 6),
    "sum 0": (lambda x, y, z: tf.reduce_sum(x, 0), [4, 2]),
    "sum 1": (lambda x, y, z: tf.reduce_sum(x, 1), [3, 3]),
    "sum 1 keeps": (lambda x, y, z: tf.reduce_sum(x, 1, keepdims=True), [[3], [3]]),
    "sum nested 0": (lambda x, y, z: tf.reduce_sum(y, 0), [[1, 2], [3]]),
    "sum nested 1": (lambda x, y, z: tf.reduce_sum(y, 1), [[4, 2], []]),
    "sum nested 2": (lambda x, y, z: tf.reduce_sum(y, 2), [[3, 3], []]),
    "sum nested 0, 2": (lambda x, y, z: tf.reduce_sum(y, [0, 2]), [3, 3]),
    "sum nested 1 keeps": (lambda x, y, z: tf.reduce_sum(y, 1, keepdims=True), [[[4, 2]], [[]]]),
    "sum pairs 2": (lambda x, y, z: tf.reduce_sum(z, 2), [[3, 7], [11]]),
    "mean": (lambda x, y, z: tf.reduce_mean(x, 1), [1.5, 3.0]),
    "max": (lambda x, y, z: tf.reduce_max(x, 0), [3, 2]),
    "prod": (lambda x, y, z: tf.reduce_prod(x, 1), [2, 3]),
    "all": (lambda x, y, z: tf.reduce_all(x > 1, 1), [False, True]),
    "any": (lambda x, y, z: tf.reduce_any(x > 1, 1), [True, True]),
    "groups": (lambda x, y, z: tf.math.unsorted_segment_max(x, [0, 0], 2), [[3, 2], []]),
    "cumsum": (lambda x, y, z: tf.math.cumsum(x, axis=1), [[1, 3], [3]]),
    "cumsum, an empty row last": (
        lambda x, y, z: tf.math.cumsum(tf.concat([x, x[:1, :0]], 0), 1),
        [[1, 3], [3], []],
    ),
    "cumsum of columns": (lambda x, y, z: tf.math.cumsum(x), [[1, 2], [4]]),
    "cumsum of columns backwards": (
        lambda x, y, z: tf.math.cumsum(tf.concat([x[:1, :0], x], 0), -2, True, True),
        [[], [3, 0], [0]],
    ),
    "cumsum backwards": (
        lambda x, y, z: tf.math.cumsum(tf.concat([x[:1, :0], x], 0), 1, True, True),
        [[], [2, 0], [0]],
    ),
    "reshape": (lambda x, y, z: tf.reshape(x, [-1, 1]), [[1], [2], [3]]),
    "reshape pairs": (lambda x, y, z: tf.reshape(z, [-1]), [1, 2, 3, 4, 5, 6]),
    # joining, repeating, axes
    "concat 0": (lambda x, y, z: tf.concat([x, x], 0), [[1, 2], [3], [1, 2], [3]]),
    "concat 1": (lambda x, y, z: tf.concat([x, [[7], [8]]], 1), [[1, 2, 7], [3, 8]]),
    "concat nested 2": (lambda x, y, z: tf.concat([y, y], 2), [[[1, 2, 1, 2], [3, 3]], []]),
    "concat pairs 2": (lambda x, y, z: tf.concat([z, z], 2), [[[1, 2, 1, 2], [3, 4, 3, 4]], [[5, 6, 5, 6]]]),
    "stack 0": (lambda x, y, z: tf.stack([x, x]), [[[1, 2], [3]], [[1, 2], [3]]]),
    "stack 1": (lambda x, y, z: tf.stack([x, x], 1), [[[1, 2], [1, 2]], [[3], [3]]]),
    "stack -1": (lambda x, y, z: tf.stack([x, x], -1), [[[1, 1], [2, 2]], [[3, 3]]]),
    "stack with dense": (lambda x, y, z: tf.stack([x, tf.constant([[1], [2]])]), [[[1, 2], [3]], [[1], [2]]]),
    "tile": (lambda x, y, z: tf.tile(x, [2, 2]), [[1, 2, 1, 2], [3, 3], [1, 2, 1, 2], [3, 3]]),
    "tile pairs": (lambda x, y, z: tf.tile(z[:1], [1, 1, 2]), [[[1, 2, 1, 2], [3, 4, 3, 4]]]),
    "expand_dims 0": (lambda x, y, z: tf.expand_dims(x, 0), [[[1, 2], [3]]]),
    "expand_dims 1": (lambda x, y, z: tf.expand_dims(x, 1), [[[1, 2]], [[3]]]),
    "expand_dims -1": (lambda x, y, z: tf.expand_dims(x, -1), [[[1], [2]], [[3]]]),
    "squeeze": (lambda x, y, z: tf.squeeze(tf.expand_dims(x, 1), 1), [[1, 2], [3]]),
    "reverse": (lambda x, y, z: tf.reverse(x, [0, 1]), [[3], [2, 1]]),
    "split": (lambda x, y, z: tf.split(x, [1, 1])[0], [[1, 2]]),
    # picking
    "gather": (lambda x, y, z: tf.gather(x, [1, 0]), [[3], [1, 2]]),
    "gather one": (lambda x, y, z: tf.gather(x, 1), [3]),
    "gather in a matrix": (lambda x, y, z: tf.gather(x, [[0], [1]]), [[[1, 2]], [[3]]]),
    "gather by ragged": (lambda x, y, z: tf.gather([10, 20, 30, 40], x), [[20, 30], [40]]),
    "gather ragged by ragged": (lambda x, y, z: tf.gather(x, x - x), [[[1, 2], [1, 2]], [[1, 2]]]),
    "gather in batches": (lambda x, y, z: tf.gather(x, x - x, batch_dims=1), [[1, 1], [3]]),
    "gather dense in batches": (
        lambda x, y, z: tf.gather([[1, 2], [3, 4]], x - x, batch_dims=1),
        [[1, 1], [3]],
    ),
    "gather along 1": (lambda x, y, z: tf.gather(x, [0], axis=1), [[1], [3]]),
    "gather along 2": (lambda x, y, z: tf.gather(y, [0], axis=2), [[[1], [3]], []]),
    "gather_nd": (lambda x, y, z: tf.gather_nd(x, [[0, 1], [1, 0]]), [2, 3]),
    "gather_nd rows": (lambda x, y, z: tf.gather_nd(y, [[0, 1]]), [[3]]),
    "boolean_mask rows": (lambda x, y, z: tf.ragged.boolean_mask(x, [True, False]), [[1, 2]]),
    "boolean_mask": (lambda x, y, z: tf.ragged.boolean_mask(x, x != 2), [[1], [3]]),
    "boolean_mask nested": (lambda x, y, z: tf.ragged.boolean_mask(y, y != 2), [[[1], [3]], []]),
    "partitions": (lambda x, y, z: tf.ragged.stack_dynamic_partitions(x, [1, 0], 2), [[[3]], [[1, 2]]]),
    "map_fn": (lambda x, y, z: tf.map_fn(lambda row: row * 2, x), [[2, 4], [6]]),
    "map_fn gives numbers": (
        lambda x, y, z: tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.int32),
        [3, 3],
    ),
    "map_fn of nested rows": (lambda x, y, z: tf.map_fn(lambda rows: rows[:, :1], y), [[[1], [3]], []]),
    "map_fn gives rows": (
        lambda x, y, z: tf.map_fn(
            tf.range, x.row_lengths(), fn_output_signature=tf.RaggedTensorSpec([None], tf.int64)
        ),
        [[0, 1], [0]],
    ),
    "size": (lambda x, y, z: tf.size(z), 6),
    "rank": (lambda x, y, z: tf.rank(z), 3),
}


def plain(value):
    return value.to_list() if isinstance(value, R) else value.numpy().tolist()


@each_case("executor", ["eager", "plan", "interpret"])
@each_case("name", TABLE)
def test_operations(name, executor):
    operation, expected = TABLE[name]
    if executor != "eager":
        specs = [
            tf.RaggedTensorSpec([None, None], tf.int32),
            tf.RaggedTensorSpec([None, None, None], tf.int32),
            tf.RaggedTensorSpec([None, None, 2], tf.int32, ragged_rank=1),
        ]
        operation = tf.function(operation, input_signature=specs, experimental_executor=executor)
    arguments = [
        tf.ragged.constant(ROWS),
        tf.ragged.constant(NESTED),
        tf.ragged.constant(PAIRS, ragged_rank=1),
    ]
    assert plain(operation(*arguments)) == expected


def test_reductions_of_empty_rows():
    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    assert tf.reduce_max(x, 1).numpy().tolist() == [2, tf.float32.min, 3]
    assert tf.reduce_prod(x, 1).numpy().tolist() == [2, 1, 3]
    assert math.isnan(tf.reduce_mean(x, 1).numpy()[1])
    assert tf.nn.softmax(x).to_list()[1] == []
    assert tf.math.reduce_logsumexp(x, 1).numpy().tolist() == [pytest.approx(2.3132617), -math.inf, 3]
    assert tf.math.reduce_variance(x, 1).numpy().tolist()[::2] == [0.25, 0]


def test_functions_of_neural_networks():
    x = tf.ragged.constant([[-1.0, 2.0], [], [3.0]])
    assert tf.nn.relu(x).to_list() == [[0, 2], [], [3]]
    assert tf.nn.leaky_relu(x, 0.5).to_list() == [[-0.5, 2], [], [3]]
    assert tf.nn.dropout(x, 0.0).to_list() == [[-1, 2], [], [3]]
    assert tf.nn.softmax(x - x).to_list() == [[0.5, 0.5], [], [1]]


def test_uniform_axes_stay_uniform():
    uniform = R.from_uniform_row_length(tf.ragged.constant(ROWS), 2)
    assert (uniform + tf.constant([[[10], [20]]])).shape.as_list() == [1, 2, None]
    assert tf.expand_dims(tf.ragged.constant(ROWS), 1).shape.as_list() == [2, 1, None]


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x + tf.ragged.constant([[10], [20]]),
        lambda x: x + tf.constant([[1, 2], [3, 4]]),
        lambda x: x + tf.constant([[1], [2], [3]]),
        lambda x: tf.concat([x, tf.ragged.constant([[1]])], 1),
        lambda x: tf.gather(x, [2]),
        lambda x: tf.gather_nd(x, [[1, 1]]),
        lambda x: tf.squeeze(x, 1),
        lambda x: tf.ragged.boolean_mask(x, tf.ragged.constant([[True], [True, False]])),
        lambda x: tf.ragged.map_flat_values(tf.add, x, tf.ragged.constant([[1], [2, 3]])),
        lambda x: tf.ragged.stack_dynamic_partitions([1, 2], [0, 5], 2),
    ],
)
def test_mismatched_rows_are_refused(operation):
    with pytest.raises(tf.errors.InvalidArgumentError):
        operation(tf.ragged.constant(ROWS))


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: tf.reduce_sum(x, 2),
        lambda x: tf.concat([x, tf.ragged.constant(NESTED)], 0),
        lambda x: tf.concat([x, x], 2),
        lambda x: tf.expand_dims(x, 5),
        lambda x: tf.squeeze(x),
        lambda x: tf.split(x, 2, axis=1),
        lambda x: tf.sort(x),
        lambda x: tf.transpose(x),
        lambda x: tf.argmax(x, 1),
        lambda x: tf.one_hot(x, 4, axis=0),
        lambda x: x + x.with_row_splits_dtype(tf.int32),
        lambda x: tf.ragged.boolean_mask(x, [True]),
    ],
)
def test_unsupported_ragged_operations_are_refused(operation):
    with pytest.raises(ValueError):
        operation(tf.ragged.constant(ROWS))


def test_equality_never_fails():
    x = tf.ragged.constant(ROWS)
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert (x == tf.ragged.constant([[1], [2, 3]])) is False


def test_gradients_reach_the_values():
    values = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        x = R.from_row_splits(values, [0, 2, 3])
        loss = tf.reduce_sum(tf.reduce_sum(x * x, 1) * tf.constant([1.0, 10.0])) + tf.reduce_sum(
            x.to_tensor()[:, 0]
        )
    assert tape.gradient(loss, values).numpy().tolist() == [3, 4, 61]


def test_shapes_have_row_partitions():
    shape = tf.shape(tf.ragged.constant(PAIRS, ragged_rank=1))
    assert repr(shape) == "<DynamicRaggedShape lengths=[2, (2, 1), 2] num_row_partitions=1>"
    assert shape.rank == 3 and int(shape[0]) == 2 and int(shape[2]) == 2
    assert shape.inner_shape.numpy().tolist() == [3, 2]
    assert shape.row_partitions[0].row_splits().numpy().tolist() == [0, 2, 3]
    with pytest.raises(ValueError, match="Index 1 is not uniform"):
        shape[1]


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_shapes_in_graphs(executor):
    spec = tf.RaggedTensorSpec([None, None], tf.int32)

    @tf.function(input_signature=[spec], experimental_executor=executor)
    def rows_of(x):
        return tf.shape(x)[0]

    assert rows_of(tf.ragged.constant(ROWS)).numpy() == 2


def test_bincount_of_ragged_rows():
    x = tf.ragged.constant(ROWS)
    assert tf.math.bincount(x).numpy().tolist() == [0, 1, 1, 1]
    assert tf.math.bincount(x, axis=-1).numpy().tolist() == [[0, 1, 1, 0], [0, 0, 0, 1]]
    assert tf.sparse.bincount(x, axis=-1).dense_shape.numpy().tolist() == [2, 4]


def test_crosses():
    one, other = tf.ragged.constant([["a", "b"], ["c"]]), tf.ragged.constant([["d", "z"], ["e"]])
    assert tf.ragged.cross([one, other]).to_list() == [[b"a_X_d", b"a_X_z", b"b_X_d", b"b_X_z"], [b"c_X_e"]]
    assert tf.ragged.cross([tf.ragged.constant(ROWS), tf.constant([["d"], ["e"]])]).to_list() == [
        [b"1_X_d", b"2_X_d"], [b"3_X_e"]
    ]  # fmt: skip
    sparse = tf.sparse.cross([tf.constant([["a", "b"]]), tf.constant([["x"]])], separator="-")
    assert sparse.values.numpy().tolist() == [b"a-x", b"b-x"]
    with pytest.raises(TypeError, match="All inputs must be Tensor or SparseTensor"):
        tf.sparse.cross([[["a"]]])


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_dense_slices_at_ragged_indices_along_an_inner_axis(axis):
    x = np.arange(60).reshape(3, 4, 5)
    indices = tf.ragged.constant([[2], [0, 3, 1]])
    expected = [np.take(x, row, axis=axis) for row in indices.to_list()]
    for found in (tf.gather(x, indices, axis=axis), tf.function(lambda: tf.gather(x, indices, axis=axis))()):
        rows = [found[(slice(None),) * (axis % 3) + (row,)] for row in (0, 1)]
        for row, wanted in zip(rows, expected, strict=True):
            assert row.to_tensor().numpy().tolist() == wanted.tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match="inside the axis"):
        tf.gather(x, tf.ragged.constant([[9]]), axis=axis)


def test_operations_do_not_print_ragged_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(self: tf.RaggedTensor) -> str:
        raise AssertionError("printed")

    ragged = tf.ragged.constant([[1, 2], [3]])
    monkeypatch.setattr(tf.RaggedTensor, "__repr__", printed)
    assert (ragged + ragged).to_list() == [[2, 4], [6]]


def test_shapes_and_axes_of_other_types_are_refused():
    with pytest.raises(ValueError, match="reshape takes a vector of sizes"):
        tf.reshape([1.0, 2.0], tf.ragged.constant([[1], [2]]))
    message = "'complex' object cannot be interpreted as an integer"
    with pytest.raises(TypeError, match=message):
        tf.boolean_mask([1.0, 2.0], [True, False], axis=1j)
    with pytest.raises(TypeError, match=message):
        tf.sparse.expand_dims(tf.sparse.from_dense([1.0, 2.0]), axis=1j)
