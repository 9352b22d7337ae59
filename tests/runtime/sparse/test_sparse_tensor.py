"""`tf.sparse`: values, shapes and error classes are TensorFlow's."""

import agc.runtime as tf
import pytest
from support.each_case import each_case

S = tf.sparse


def small():
    """1 0 3
    0 2 0"""
    return S.from_dense([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]])


def dense(tensor):
    return S.to_dense(tensor).numpy().tolist()


OPERATIONS = {
    "add": (lambda x: S.add(x, x), [[2, 0, 6], [0, 4, 0]]),
    "add a dense tensor": (lambda x: S.add(x, tf.ones([2, 3])), [[2, 1, 4], [1, 3, 1]]),
    "concat": (lambda x: S.concat(1, [x, x]), [[1, 0, 3, 1, 0, 3], [0, 2, 0, 0, 2, 0]]),
    "expand_dims": (lambda x: S.expand_dims(x, 1), [[[1, 0, 3]], [[0, 2, 0]]]),
    "fill_empty_rows": (lambda x: S.fill_empty_rows(S.transpose(x), 9.0)[0], [[1, 0], [0, 2], [3, 0]]),
    "map_values": (lambda x: S.map_values(tf.add, x, 1.0), [[2, 0, 4], [0, 3, 0]]),
    "maximum": (lambda x: S.maximum(x, S.map_values(tf.negative, x)), [[1, 0, 3], [0, 2, 0]]),
    "reduce_max": (lambda x: S.reduce_max(x, 0), [1, 2, 3]),
    "reduce_sum": (lambda x: S.reduce_sum(x), 6),
    "reduce_sum keeps": (lambda x: S.reduce_sum(x, 1, keepdims=True), [[4], [2]]),
    "reduce_sum sparse": (lambda x: S.reduce_sum(x, 1, output_is_sparse=True), [4, 2]),
    "reset_shape": (lambda x: S.reset_shape(x, [2, 4]), [[1, 0, 3, 0], [0, 2, 0, 0]]),
    "reshape": (lambda x: S.reshape(x, [3, -1]), [[1, 0], [3, 0], [2, 0]]),
    "retain": (lambda x: S.retain(x, [True, False, True]), [[1, 0, 0], [0, 2, 0]]),
    "slice": (lambda x: S.slice(x, [0, 1], [2, 5]), [[0, 3], [2, 0]]),
    "split": (lambda x: S.split(x, 2, 1)[0], [[1, 0], [0, 2]]),
    "matmul": (lambda x: S.sparse_dense_matmul(x, tf.ones([3, 2])), [[4, 4], [2, 2]]),
    "matmul adjoint": (
        lambda x: S.sparse_dense_matmul(x, tf.ones([2, 1]), adjoint_a=True), [[1], [2], [3]]
    ),
    "matmul dense first": (lambda x: S.sparse_dense_matmul(tf.ones([1, 2]), x), [[1, 2, 3]]),
    "transpose": (lambda x: S.transpose(x), [[1, 0], [0, 2], [3, 0]]),
    "times a row": (lambda x: x * tf.constant([1.0, 10.0, 100.0]), [[1, 0, 300], [0, 20, 0]]),
    "a column times it": (lambda x: tf.constant([[1.0], [10.0]]) * x, [[1, 0, 3], [0, 20, 0]]),
    "divided": (lambda x: x / 2.0, [[0.5, 0, 1.5], [0, 1, 0]]),
    "square": (lambda x: tf.square(x), [[1, 0, 9], [0, 4, 0]]),
    "cast": (lambda x: tf.cast(x, tf.int64), [[1, 0, 3], [0, 2, 0]]),
    "shape": (lambda x: tf.shape(x), [2, 3]),
    "size": (lambda x: tf.size(x), 6),
    "rank": (lambda x: tf.rank(x), 2),
}  # fmt: skip


@each_case("executor", ["eager", "plan", "interpret"])
@each_case("name", OPERATIONS)
def test_operations(name, executor):
    operation, expected = OPERATIONS[name]

    def result(x):
        given = operation(x)
        return S.to_dense(given) if isinstance(given, tf.SparseTensor) else given

    if executor != "eager":
        spec = tf.SparseTensorSpec([None, None], tf.float32)
        result = tf.function(result, input_signature=[spec], experimental_executor=executor)
    assert result(small()).numpy().tolist() == expected


def test_repr_and_spec():
    assert repr(S.eye(1)) == (
        "SparseTensor(indices=tf.Tensor([[0 0]], shape=(1, 2), dtype=int64), values=tf.Tensor([1.], shape=(1,), "
        "dtype=float32), dense_shape=tf.Tensor([1 1], shape=(2,), dtype=int64))"
    )
    assert repr(tf.type_spec_from_value(small())) == "SparseTensorSpec(TensorShape([2, 3]), tf.float32)"
    assert tf.SparseTensorSpec([None, 3], tf.float32).is_compatible_with(small())
    assert not tf.SparseTensorSpec([None, 3], tf.int32).is_compatible_with(small())


@pytest.mark.parametrize("arguments", [([[0, 0]], [1], [2]), ([0, 0], [1], [2]), ([[0, 0]], [1, 2], [2, 2])])
def test_parts_that_do_not_fit(arguments):
    with pytest.raises(ValueError, match="not compatible"):
        tf.SparseTensor(*arguments)


@pytest.mark.parametrize(
    ("indices", "reason"),
    [
        ([[1, 1], [0, 0]], r"indices\[1\] = \[0,0\] is out of order"),
        ([[0, 0], [0, 0]], r"indices\[1\] = \[0,0\] is repeated"),
        ([[0, 0], [5, 0]], r"indices\[1\] = \[5,0\] is out of bounds: need 0 <= index < \[2,2\]"),
    ],
)
def test_dense_tensors_need_coordinates_in_order(indices, reason):
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        S.to_dense(tf.SparseTensor(indices, [1, 2], [2, 2]))


def test_order_and_default_value():
    unordered = tf.SparseTensor([[1, 1], [0, 0]], ["b", "a"], [2, 2])
    assert S.reorder(unordered).values.numpy().tolist() == [b"a", b"b"]
    assert S.to_dense(unordered, "-", validate_indices=False).numpy().tolist() == [[b"a", b"-"], [b"-", b"b"]]


def test_a_threshold_leaves_out_small_sums():
    minus = S.map_values(tf.negative, small())
    assert S.add(small(), minus).values.shape == [3]
    assert S.add(small(), minus, threshold=1).values.shape == [0]


def test_coordinates_must_agree():
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes do not match"):
        S.add(S.eye(2), S.eye(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Mismatched indices!"):
        S.map_values(tf.add, small(), S.from_dense([[1.0, 0, 0], [0, 0, 0]]))
    with pytest.raises(ValueError, match="No SparseTensor in argument list"):
        S.map_values(tf.add, 1, 2)
    with pytest.raises(TypeError, match="Input must be a SparseTensor"):
        S.reorder(tf.ones([2]))


def test_other_operations_refuse_sparse_tensors():
    for operation in (tf.exp, tf.reduce_sum, lambda x: tf.add(x, x)):
        with pytest.raises(ValueError, match=r"unsupported type .* tf\.sparse\.to_dense gives one"):
            operation(small())
    with pytest.raises(ValueError, match=r"^reduce_sum: ") as refused:
        tf.function(tf.reduce_sum)(small())
    assert (
        str(type(refused.value)("with the layer's name")) == "with the layer's name"
    )  # so Keras adds to messages
    with pytest.raises(TypeError):
        small() + 1


def test_softmax_of_stored_elements():
    values = S.softmax(small()).values.numpy().tolist()
    assert values == pytest.approx([0.11920292, 0.880797, 1.0])


@pytest.mark.parametrize(
    ("numbers", "sizes", "width"),
    [
        ([], {}, 1),
        ([], {"minlength": 3}, 3),
        ([5], {"maxlength": 2}, 2),
        ([1], {"minlength": 9, "maxlength": 4}, 4),
    ],
)
def test_the_width_of_a_sparse_bincount(numbers, sizes, width):
    counted = tf.constant(numbers, tf.int32)
    assert S.bincount(counted, **sizes).dense_shape.numpy().tolist() == [width]
    assert S.bincount(counted[None], axis=-1, **sizes).dense_shape.numpy().tolist() == [1, width]


def test_bincount():
    counts = S.bincount([[1, 1, 2], [2, 2, 0]], axis=-1)
    assert dense(counts) == [[0, 2, 1], [1, 0, 2]]
    assert dense(S.bincount([1, 1, 2], minlength=5)) == [0, 2, 1, 0, 0]
    vector = tf.SparseTensor([[1], [3], [5]], [1, 1, 2], [16])
    assert (
        dense(S.bincount(vector, axis=-1)) == tf.math.bincount(vector, axis=-1).numpy().tolist() == [0, 2, 1]
    )
    assert dense(S.bincount([1, 1, 9], maxlength=2)) == [0, 2]
    assert dense(S.bincount([[1, 1, 2]], weights=[[1.0, 2.0, 3.0]], axis=-1)) == [[0, 3, 3]]
    assert dense(S.bincount([1, 1, 2], binary_output=True)) == [0, 1, 1]


def test_segments():
    data = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert S.segment_sum(data, [0, 1, 2], [0, 0, 2], num_segments=4).numpy().tolist() == [
        [4, 6], [0, 0], [5, 6], [0, 0]
    ]  # fmt: skip
    assert S.segment_mean(data, [0, 1, 2], [0, 0, 2]).numpy().tolist() == [[2, 3], [0, 0], [5, 6]]
    assert S.segment_sqrt_n(data, [0, 1, 2], [0, 0, 2]).numpy()[0].tolist() == pytest.approx(
        [2.828427, 4.2426405]
    )
    for segments in ([1, 0, 2], [0, 0], [0, 0, 9]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            S.segment_sum(data, [0, 1, 2], segments, num_segments=3)


def test_to_indicator():
    numbers = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])
    assert S.to_indicator(numbers, 3).numpy().tolist() == [[True, False, True], [False, True, False]]


def test_rows_of_slices_that_are_masked():
    rows = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([1, 2, 3]))
    assert S.mask(rows, [1, 2]).values.numpy().tolist() == [[3.0]]


def test_sparse_tensors_change_shape_in_loops_and_branches():
    @tf.function
    def doubled(x, n):
        while n > 0:
            x = S.concat(0, [x, x])
            n -= 1
        return x

    assert doubled(S.eye(2), tf.constant(2)).shape == [8, 2]

    @tf.function
    def chosen(x, wide):
        return S.concat(1, [x, x]) if wide else x

    concrete = chosen.get_concrete_function(S.eye(2), tf.constant(True))
    assert tf.type_spec_from_value(concrete.structured_outputs) == tf.SparseTensorSpec(
        [None, None], tf.float32
    )
    assert concrete(S.eye(2), tf.constant(True)).shape == [2, 4]
    assert concrete(S.eye(2), tf.constant(False)).shape == [2, 2]


@pytest.mark.parametrize("traced", [False, True])
def test_numbers_of_a_sparse_tensor_are_counted(traced):
    numbers = tf.sparse.from_dense([[0, 1], [2, 0]])
    weights = tf.SparseTensor(numbers.indices, [0.5, 2.0], numbers.dense_shape)
    for options, expected in (
        ({}, [0, 1, 1]),
        ({"minlength": 5}, [0, 1, 1, 0, 0]),
        ({"minlength": 4, "maxlength": 2}, [0, 1]),
        ({"axis": -1, "dtype": tf.float64}, [[0, 1, 0], [0, 0, 1]]),
        ({"axis": -1, "binary_output": True, "minlength": 4}, [[0, 1, 0, 0], [0, 0, 1, 0]]),
        ({"weights": weights}, [0, 0.5, 2]),
        ({"weights": weights, "axis": -1}, [[0, 0.5, 0], [0, 0, 2]]),
    ):

        def count(numbers, options=options):
            return tf.math.bincount(numbers, **options)

        result = (tf.function(count) if traced else count)(numbers)
        assert result.numpy().tolist() == expected
        assert result.dtype is options.get(
            "dtype", tf.float32 if weights is options.get("weights") else tf.int32
        )
    assert tf.math.bincount(tf.sparse.from_dense([[0], [0]]), axis=-1).shape == [2, 0]


def test_the_sizes_of_a_sparse_tensor_become_int64():
    size = tf.constant(3)
    assert tf.SparseTensor([[0, 0]], [1.0], (size, 4)).dense_shape.dtype is tf.int64
    traced = tf.function(lambda x: tf.SparseTensor([[0, 0]], [1.0], (tf.shape(x)[0], 4)).dense_shape)
    assert traced(tf.zeros(3)).numpy().tolist() == [3, 4]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function, tf.function(jit_compile=True)])
def test_the_gradient_of_the_dense_factor_is_dense(wrap):
    """Rows of IndexedSlices would be those of `gather`, of which the product consists here."""
    factor = tf.Variable(tf.ones([3, 2]))
    matrix = tf.SparseTensor([[0, 0], [0, 2], [1, 2]], [1.0, 2.0, 3.0], [2, 3])

    def gradient():
        with tf.GradientTape() as tape:
            y = S.sparse_dense_matmul(matrix, factor)
        return tape.gradient(y, factor)

    assert isinstance(wrap(gradient)(), tf.Tensor)
    assert wrap(gradient)().numpy().tolist() == [[1, 1], [0, 0], [5, 5]]


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (
            tf.zeros([3, 1], tf.float64),
            "a sparse matrix of float32 and a dense one of float64: convert one with tf.cast",
        ),
        (tf.zeros([3]), "'b' is not a matrix: its shape is"),
        (tf.zeros([2, 1]), "inner dimension does not match"),
    ],
)
def test_factors_that_do_not_fit_a_sparse_matrix(factor: tf.Tensor, message: str) -> None:
    matrix = tf.sparse.from_dense(tf.ones([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.sparse.sparse_dense_matmul(matrix, factor)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        tf.function(tf.sparse.sparse_dense_matmul)(matrix, factor)
