"""map_fn, foldl, foldr, scan: values and structures are those that TensorFlow 2.21 gives."""

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

INTEGERS = tf.RaggedTensorSpec([None], tf.int32)
WAYS = pytest.mark.parametrize("way", ["eager", "plan", "interpret"])


def run(way, call, *args):
    """The results as Python values, from eager code or from a graph."""
    call = call if way == "eager" else tf.function(call, experimental_executor=way)
    return tf.nest.map_structure(lambda leaf: leaf.numpy().tolist(), call(*args))


@WAYS
def test_map_fn_maps_rows(way):
    xs, ys = tf.constant([1, 2, 3]), tf.constant([[1.0], [2.0], [3.0]])
    assert run(way, lambda x: tf.map_fn(lambda row: row * row, x), xs) == [1, 4, 9]
    like = {"s": tf.int32, "t": (tf.float32,)}
    pairs = lambda x, y: tf.map_fn(lambda p: {"s": p[0] + 1, "t": (p[1],)}, (x, y), fn_output_signature=like)  # noqa: E731
    both = run(way, pairs, xs, ys)
    assert both == {"s": [2, 3, 4], "t": ([[1.0], [2.0], [3.0]],)}
    assert run(way, lambda x: tf.map_fn(lambda row: 1, x, dtype=tf.float32), xs) == [1.0, 1.0, 1.0]


class Interval(tf.experimental.BatchableExtensionType):
    low: tf.Tensor
    high: tf.Tensor
    unit: str = "m"


@WAYS
def test_map_fn_maps_the_fields_of_batchable_extension_types(way):
    def widened(low, high):
        def wider(pair):
            one, factor = pair
            assert (one.low.shape, one.unit) == ([], "km")
            return Interval(one.low * factor, one.high * factor, one.unit)

        given = Interval(low, high, "km"), tf.constant([2.0, 3.0])
        scalar = Interval.Spec(tf.TensorSpec([]), tf.TensorSpec([]), "km")
        found = tf.map_fn(wider, given, fn_output_signature=scalar)
        assert (type(found), found.unit) == (Interval, "km")
        return found.low, found.high, tf.map_fn(lambda one: one.high - one.low, found, tf.float32)

    low, high = tf.constant([1.0, 2.0]), tf.constant([2.0, 5.0])
    assert run(way, widened, low, high) == ([2.0, 6.0], [4.0, 15.0], [2.0, 9.0])


@WAYS
def test_map_fn_of_no_rows(way):
    spec = tf.TensorSpec([3], tf.float32)
    none = run(way, lambda x: tf.map_fn(lambda r: r, x, fn_output_signature=spec), tf.zeros([0, 3]))
    assert none == []
    mapped = tf.function(lambda x: tf.map_fn(lambda r: r + 1, x))
    assert mapped(tf.zeros([0, 3])).shape == [0, 3]


def test_shapes_in_a_graph():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x):
        return tf.map_fn(tf.reduce_sum, x), tf.map_fn(lambda row: row, x), tf.scan(lambda a, row: a + row, x)

    result = f.get_concrete_function().structured_outputs
    assert [spec.shape.as_list() for spec in result] == [[None], [None, 2], [None, 2]]
    known = tf.function(lambda x: tf.map_fn(lambda row: row, x)).get_concrete_function(tf.zeros([4, 2]))
    assert known.structured_outputs.shape == [4, 2]


def test_an_unknown_rank():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)])
    def f(x):
        return tf.map_fn(lambda row: row * 2, x), tf.foldl(lambda a, row: a + row, x)

    mapped, folded = f(tf.constant([[1, 2], [3, 4]]))
    assert (mapped.numpy().tolist(), folded.numpy().tolist()) == ([[2, 4], [6, 8]], [4, 6])


@WAYS
def test_control_flow_in_the_function(way):
    def steps(n):
        count = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    assert run(way, lambda x: tf.map_fn(steps, x), tf.constant([1, 6, 27])) == [0, 8, 111]


@WAYS
@each_case(
    "call, expected",
    [
        (lambda x: tf.foldl(lambda a, r: a - r, x), -8),
        (lambda x: tf.foldr(lambda a, r: a - r, x), -2),
        (lambda x: tf.foldl(lambda a, r: a + r, x, initializer=10), 20),
        (lambda x: tf.foldr(lambda a, r: a * 10 + r, x, initializer=tf.constant(0)), 4321),
        (lambda x: tf.foldl(lambda a, r: (a[0] + r[0], a[1] * r[1]), (x, x)), (10, 24)),
        (lambda x: tf.foldl(lambda a, r: (a[0] + r, a[1] - r), x, initializer=(0, 10)), (10, 0)),
        (lambda x: tf.scan(lambda a, r: a + r, x), [1, 3, 6, 10]),
        (lambda x: tf.scan(lambda a, r: a + r, x, initializer=10), [11, 13, 16, 20]),
        (lambda x: tf.scan(lambda a, r: a + r, x, reverse=True), [10, 9, 7, 4]),
        (lambda x: tf.scan(lambda a, r: a - r, x, initializer=0, reverse=True), [-10, -9, -7, -4]),
        (lambda x: tf.scan(lambda a, _: (a[1], a[0] + a[1]), x, initializer=(0, 1)), ([1, 1, 2, 3], [1, 2, 3, 5])),
        (lambda x: tf.scan(lambda a, r: {"k": a["k"] + r}, x, initializer={"k": tf.constant([0, 0])}),
         {"k": [[1, 1], [3, 3], [6, 6], [10, 10]]}),
        (lambda x: tf.scan(lambda a, r: a + r, x[:0], initializer=1), []),
        (lambda x: tf.foldl(lambda a, r: a + r, x[:0], initializer=1), 1),
    ],
)  # fmt: skip
def test_folding(way, call, expected):
    assert run(way, call, tf.constant([1, 2, 3, 4])) == expected


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    "call, expected",
    [
        (lambda x: tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.int32), [3, 0, 12]),
        (lambda x: tf.map_fn(tf.reduce_sum, x, fn_output_signature=np.int32), [3, 0, 12]),
        (lambda x: tf.map_fn(tf.reduce_sum, x, dtype=np.dtype("int32")), [3, 0, 12]),
        (lambda x: tf.map_fn(lambda row: row * 2, x), [[2, 4], [], [6, 8, 10]]),
        (lambda x: tf.map_fn(tf.range, [2, 0, 1] * tf.ones([3], tf.int32), fn_output_signature=INTEGERS),
         [[0, 1], [], [0]]),
        (lambda x: tf.map_fn(lambda p: p[0] * p[1], (x, tf.constant([1, 10, 100])), fn_output_signature=INTEGERS),
         [[1, 2], [], [300, 400, 500]]),
        (lambda x: tf.map_fn(lambda row: row + 1, tf.ragged.constant([[[1], [2, 3]], []])), [[[2], [3, 4]], []]),
        (lambda x: tf.map_fn(lambda row: row, x[:0]), []),
        (lambda x: tf.foldl(lambda a, row: a + tf.reduce_sum(row), x, initializer=0), 15),
    ],
)  # fmt: skip
def test_ragged_rows(staged, call, expected):
    rows = tf.ragged.constant([[1, 2], [], [3, 4, 5]])
    result = (tf.function(call) if staged else call)(rows)
    assert (result.to_list() if isinstance(result, tf.RaggedTensor) else result.numpy().tolist()) == expected


REFUSED = (ValueError, TypeError, tf.errors.OpError)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: tf.map_fn(lambda x: x, 3), ValueError, "1\\+ dimensional"),
        (lambda: tf.map_fn(lambda x: x, []), ValueError, "does not contain any Tensors"),
        (lambda: tf.map_fn(lambda x: x, ([1, 2], [1, 2, 3])), ValueError, "must be 1\\+"),
        (lambda: tf.map_fn(lambda p: p, (tf.range(2), tf.range(3))), ValueError, "2 and 3 are not compatible"),
        (lambda: tf.map_fn(lambda x: (x, x), tf.range(2)), ValueError, "of `fn_output_signature`, by default"),
        (lambda: tf.map_fn(lambda x: tf.cast(x, tf.int64), tf.range(2)), REFUSED, "fn_output_signature"),
        (lambda: tf.map_fn(tf.range, tf.range(1, 3)), REFUSED, "shape"),
        (lambda: tf.map_fn(3, tf.range(2)), TypeError, "callable"),
        (lambda: tf.foldl(lambda a, x: a, tf.zeros([0])), tf.errors.OpError, "index 0 but array size is: 0"),
        (lambda: tf.scan(lambda a, x: (a, x), tf.range(2), initializer=0), ValueError, "same nested structure"),
        (lambda: tf.scan(lambda a, x: tf.cast(x, tf.int64), tf.range(3), initializer=0), REFUSED, "int64"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("staged", [False, True])
def test_refused(call, error, message, staged):
    with pytest.raises(error, match=message):
        tf.function(call)() if staged else call()


SPARSE = tf.sparse.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0], [3, 4])


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
class TestSparseRows:
    def test_a_function_takes_sparse_rows(self, wrap):
        totals = wrap(lambda x: tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=tf.float32))
        assert totals(SPARSE).numpy().tolist() == [1.0, 5.0, 0.0]

    def test_results_are_sparse_like_the_rows(self, wrap):
        doubled = wrap(lambda x: tf.map_fn(lambda row: row * 2.0, x))(SPARSE)
        assert tf.sparse.to_dense(doubled).numpy().tolist() == [[0, 2, 0, 0], [4, 0, 6, 0], [0, 0, 0, 0]]

    def test_the_shape_covers_all_rows(self, wrap):
        def row(n):
            return tf.sparse.SparseTensor(tf.zeros([0, 1], tf.int64), tf.zeros([0]), tf.cast([n], tf.int64))

        spec = tf.SparseTensorSpec([None], tf.float32)
        found = wrap(lambda n: tf.map_fn(row, n, fn_output_signature=spec))(tf.constant([2, 3]))
        assert found.dense_shape.numpy().tolist() == [2, 3]

    def test_matrices_are_multiplied_row_by_row(self, wrap):
        matrices = tf.sparse.SparseTensor([[0, 1, 0], [1, 0, 1], [1, 2, 0]], [1.0, 2.0, 3.0], [2, 3, 2])
        product = wrap(
            lambda a, b: tf.map_fn(
                lambda pair: tf.sparse.sparse_dense_matmul(*pair), (a, b), fn_output_signature=tf.float32
            )
        )
        expected = tf.matmul(tf.sparse.to_dense(matrices), tf.ones([2, 2, 2]))
        assert product(matrices, tf.ones([2, 2, 2])).numpy().tolist() == expected.numpy().tolist()


def test_rows_of_an_unknown_number():
    @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.float32)])
    def totals(x):
        return tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=tf.float32)

    assert totals(SPARSE).numpy().tolist() == [1.0, 5.0, 0.0]


def test_dense_results_do_not_fit_a_sparse_signature():
    with pytest.raises(TypeError, match="not a SparseTensor"):
        tf.map_fn(lambda row: 1.0, SPARSE)


def test_eager_loops_pass_the_given_values_to_the_body():
    _, total = tf.while_loop(lambda i, x: i < 10, lambda i, x: (i + 1, x + i), (0, np.array(0)))
    assert total == 45 and total.dtype == tf.int64


@pytest.mark.parametrize("dtype", [np.float64, np.dtype("float64"), "float64", float, tf.float64])
def test_the_results_of_map_fn_may_be_described_by_a_dtype_of_numpy(dtype):
    found = tf.map_fn(
        lambda row: tf.cast(row, dtype), tf.constant([[1, 3], [2, 4]]), fn_output_signature=dtype
    )
    assert (found.dtype, found.numpy().tolist()) == (tf.as_dtype(dtype), [[1.0, 3.0], [2.0, 4.0]])
