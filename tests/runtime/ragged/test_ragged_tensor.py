"""`tf.RaggedTensor`: how one is made, shown, indexed and converted. Values and error classes are TensorFlow's."""

import sys

import agc.runtime as tf
import pytest
from support.each_case import each_case

R = tf.RaggedTensor
EXECUTORS = ["eager", "plan", "interpret"]


def rows():
    return tf.ragged.constant([[1, 2], [3]])


def nested():
    return tf.ragged.constant([[[1, 2], [3]], []])


def uniform():
    """Two rows of numbers in each of its rows."""
    return R.from_uniform_row_length(rows(), 2)


def pairs():
    """The last axis is uniform."""
    return tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: tf.ragged.constant([[True], [False, True]]), "[[True], [False, True]]"),
        (lambda: tf.ragged.constant([["a"], []]), "[[b'a'], []]"),
        (lambda: tf.ragged.constant([[], []], ragged_rank=2), "[[], []]"),
        (lambda: R.from_row_splits([1, 2, 3], [0, 2, 2, 3]), "[[1, 2], [], [3]]"),
        (lambda: R.from_row_lengths([1, 2, 3], [2, 0, 1]), "[[1, 2], [], [3]]"),
        (lambda: R.from_value_rowids([1, 2, 3], [0, 0, 2]), "[[1, 2], [], [3]]"),
        (lambda: R.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4), "[[1, 2], [], [3], []]"),
        (lambda: R.from_row_starts([1, 2, 3], [0, 2, 2]), "[[1, 2], [], [3]]"),
        (lambda: R.from_row_limits([1, 2, 3], [2, 2, 3]), "[[1, 2], [], [3]]"),
        (lambda: R.from_uniform_row_length([1, 2, 3, 4], 2), "[[1, 2],\n [3, 4]]"),
        (lambda: R.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]]), "[[[1, 2]],\n [[3]]]"),
        (lambda: R.from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]]), "[[[1, 2]],\n [[3]]]"),
        (lambda: R.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]], [3, 2]), "[[[1, 2]], [[3]], []]"),
        (lambda: R.from_tensor([[1, 0, 2], [3, 0, 0]], padding=0), "[[1, 0, 2], [3]]"),
        (lambda: R.from_tensor([[1, 2], [3, 4]], lengths=[1, 9]), "[[1], [3, 4]]"),
        (lambda: R.from_tensor([[[1, 2], [3, 4]]], lengths=([2], [0, 1])), "[[[], [3]]]"),
        (lambda: R.from_sparse(tf.sparse.from_dense([[1, 2, 0], [3, 0, 0]])), "[[1, 2], [3]]"),
        (lambda: tf.ragged.range([3, 0, 2]), "[[0, 1, 2], [], [0, 1]]"),
        (lambda: tf.ragged.range([5, 2], [1, 0], -2), "[[5, 3], [2]]"),
    ],
)
def test_constructors_of_ragged_tensors(made, text):
    assert repr(made()) == f"<tf.RaggedTensor {text}>"


@pytest.mark.parametrize(
    "made",
    [
        lambda: R.from_row_splits([1, 2, 3], [0, 2]),
        lambda: R.from_row_splits([1, 2, 3], [1, 2, 3]),
        lambda: R.from_row_splits([1, 2, 3], [0, 3, 2, 3]),
        lambda: R.from_row_lengths([1, 2, 3], [2, 2]),
        lambda: R.from_row_lengths([1, 2, 3], [4, -1]),
        lambda: R.from_value_rowids([1, 2, 3], [0, 2, 1]),
        lambda: R.from_sparse(tf.sparse.from_dense([[1, 0, 2]])),
        lambda: tf.ragged.range([1], [4], 0),
    ],
)
def test_rows_that_do_not_fit_the_values(made):
    with pytest.raises(tf.errors.InvalidArgumentError):
        made()


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (lambda: tf.ragged.constant([[1, 2], 3]), ValueError),
        (lambda: tf.ragged.constant([[1], [2]], ragged_rank=2), ValueError),
        (lambda: tf.ragged.constant([[[1, 2]]], inner_shape=(3,)), TypeError),
        (lambda: R.from_row_splits([1], []), ValueError),
        (lambda: R.from_row_splits([1], [0.0, 1.0]), ValueError),
        (lambda: R.from_value_rowids([1, 2, 3], [0, 2]), ValueError),
        (lambda: R.from_uniform_row_length([1, 2, 3], 2), ValueError),
        (lambda: R.from_tensor([1, 2]), ValueError),
        (lambda: R.from_tensor([[1]], lengths=[1], padding=0), ValueError),
        (lambda: R.from_sparse(3), TypeError),
        (lambda: R([1, 2], [0, 2]), ValueError),
        (lambda: rows().with_values([1, 2]), ValueError),
        (lambda: rows().with_row_splits_dtype(tf.float32), ValueError),
        (lambda: bool(rows()), TypeError),
        (lambda: len(rows()), TypeError),
        (lambda: hash(rows()), TypeError),
        (lambda: tf.convert_to_tensor(rows()), ValueError),
        (lambda: rows().to_tensor(shape=[None, -2]), ValueError),
        (lambda: rows().to_tensor(shape=tf.constant([2, -2])), tf.errors.InvalidArgumentError),
    ],
)
def test_invalid_ragged_tensors_are_refused(made, error):
    with pytest.raises(error):
        made()


def test_shape_and_components():
    assert [x.shape.as_list() for x in (rows(), nested(), uniform(), pairs())] == [
        [2, None], [2, None, None], [1, 2, None], [2, None, 2]
    ]  # fmt: skip
    assert nested().ragged_rank == 2 and pairs().ragged_rank == 1
    assert repr(nested().values) == "<tf.RaggedTensor [[1, 2], [3]]>"
    assert nested().flat_values.numpy().tolist() == [1, 2, 3]
    assert [s.numpy().tolist() for s in nested().nested_row_splits] == [[0, 2, 2], [0, 2, 3]]
    assert [s.numpy().tolist() for s in nested().nested_row_lengths()] == [[2, 0], [2, 1]]
    assert [s.numpy().tolist() for s in nested().nested_value_rowids()] == [[0, 0], [0, 0, 1]]
    assert rows().row_starts().numpy().tolist() == [0, 2] and rows().row_limits().numpy().tolist() == [2, 3]
    assert rows().nrows(tf.int32).dtype is tf.int32
    assert nested().row_lengths(axis=2).to_list() == [[2, 1], []]
    assert pairs().row_lengths(axis=2).to_list() == [[2, 2], [2]]
    assert int(uniform().uniform_row_length) == 2 and rows().uniform_row_length is None
    assert tf.ragged.constant([[1]], row_splits_dtype=tf.int32).row_splits.dtype is tf.int32


def test_as_python_and_numpy():
    assert pairs().to_list() == [[[1, 2], [3, 4]], [[5, 6]]]
    assert [row.tolist() for row in rows().numpy()] == [[1, 2], [3]]
    assert R.from_uniform_row_length([1, 2, 3, 4], 2).numpy().tolist() == [[1, 2], [3, 4]]


INDEXED = {
    "0": (lambda x: x[0], [1, 2]),
    "-1": (lambda x: x[-1], [3]),
    "0:1": (lambda x: x[0:1], [[1, 2]]),
    "::-1": (lambda x: x[::-1], [[3], [1, 2]]),
    "5:": (lambda x: x[5:], []),
    "0, 1": (lambda x: x[0, 1], 2),
    ":, 0:1": (lambda x: x[:, 0:1], [[1], [3]]),
    ":, :-1": (lambda x: x[:, :-1], [[1], []]),
    ":, -1:": (lambda x: x[:, -1:], [[2], [3]]),
    ":, ::-1": (lambda x: x[:, ::-1], [[2, 1], [3]]),
    "newaxis": (lambda x: x[tf.newaxis], [[[1, 2], [3]]]),
    ":, newaxis": (lambda x: x[:, tf.newaxis], [[[1, 2]], [[3]]]),
    "..., newaxis": (lambda x: x[..., tf.newaxis], [[[1], [2]], [[3]]]),
    "a tensor": (lambda x: x[tf.constant(1)], [3]),
    "tensors": (lambda x: x[:, tf.constant(0) : tf.constant(1)], [[1], [3]]),
}


@each_case("executor", EXECUTORS)
@each_case("index", INDEXED)
def test_indexing(index, executor):
    pick, expected = INDEXED[index]
    assert plain(in_executor(pick, executor)(rows())) == expected


def in_executor(function, executor, shape=(None, None)):
    if executor == "eager":
        return function
    spec = tf.RaggedTensorSpec(shape, tf.int32)
    return tf.function(function, input_signature=[spec], experimental_executor=executor)


def plain(value):
    if isinstance(value, R):
        return value.to_list()
    return (
        tf.sparse.to_dense(value).numpy().tolist()
        if isinstance(value, tf.SparseTensor)
        else value.numpy().tolist()
    )


def test_indexing_of_more_axes():
    assert nested()[0, 1].numpy().tolist() == [3]
    assert nested()[:, :, 0:1].to_list() == [[[1], [3]], []]
    assert nested()[:, ::2, ::-1].to_list() == [[[2, 1]], []]
    assert nested()[tf.newaxis, :, :, tf.newaxis].to_list() == [[[[[1, 2]], [[3]]], []]]
    assert pairs()[..., 0].to_list() == [[1, 3], [5]]
    assert pairs()[0, :, 1].numpy().tolist() == [2, 4]
    assert uniform()[:, 1].to_list() == [[3]] and uniform()[0, 1, 0].numpy() == 3
    assert uniform()[:, 0:1].shape.as_list() == [1, 1, None]


@pytest.mark.parametrize(
    ("pick", "error"),
    [
        (lambda x: x[2], IndexError),
        (lambda x: x[-3], tf.errors.InvalidArgumentError),
        (lambda x: x[:, 0], ValueError),
        (lambda x: x[0, 5], tf.errors.InvalidArgumentError),
        (lambda x: x["a"], TypeError),
        (lambda x: x[0.5], TypeError),
    ],
)
def test_indices_that_are_refused(pick, error):
    with pytest.raises(error):
        pick(rows())


CONVERTED = {
    "to_tensor": (lambda x: x.to_tensor(), [[[1, 2], [3, 0]], [[0, 0], [0, 0]]]),
    "default": (lambda x: x.to_tensor(7), [[[1, 2], [3, 7]], [[7, 7], [7, 7]]]),
    "shape": (lambda x: x.to_tensor(shape=[1, 3, 1]), [[[1], [3], [0]]]),
    "partly": (lambda x: x.to_tensor(shape=[None, 1, None]), [[[1, 2]], [[0, 0]]]),
    "to_sparse": (lambda x: x.to_sparse(), [[[1, 2], [3, 0]], [[0, 0], [0, 0]]]),
    "merge_dims inside": (lambda x: x.merge_dims(1, 2), [[1, 2, 3], []]),
    "merge_dims outside": (lambda x: x.merge_dims(0, 1), [[1, 2], [3]]),
    "merge_dims all": (lambda x: x.merge_dims(0, 2), [1, 2, 3]),
    "bounding_shape": (lambda x: x.bounding_shape(), [2, 2, 2]),
    "with_flat_values": (lambda x: x.with_flat_values(x.flat_values * 2), [[[2, 4], [6]], []]),
    "map_flat_values": (lambda x: tf.ragged.map_flat_values(tf.add, x, x), [[[2, 4], [6]], []]),
    "from_tensor": (
        lambda x: R.from_tensor(x.to_tensor(), padding=0, ragged_rank=2),
        [[[1, 2], [3]], [[], []]],
    ),
}


@each_case("executor", EXECUTORS)
@each_case("name", CONVERTED)
def test_conversions(name, executor):
    convert, expected = CONVERTED[name]
    assert plain(in_executor(convert, executor, (None, None, None))(nested())) == expected


def test_ragged_tensors_have_a_spec():
    assert (
        repr(tf.type_spec_from_value(pairs()))
        == "RaggedTensorSpec(TensorShape([2, None, 2]), tf.int32, 1, tf.int64)"
    )
    assert repr(tf.RaggedTensorSpec([2, None, 3], tf.int32)) == (
        "RaggedTensorSpec(TensorShape([2, None, 3]), tf.int32, 2, tf.int64)"
    )
    assert tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(rows())
    assert not tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(tf.constant([[1, 2], [3, 4]]))
    common = tf.RaggedTensorSpec([2, None]).most_specific_compatible_type(tf.RaggedTensorSpec([3, None]))
    assert common == tf.RaggedTensorSpec([None, None])
    for arguments in ((None,), ([2, None], tf.int32, 2)):
        with pytest.raises(ValueError):
            tf.RaggedTensorSpec(*arguments)


def test_functions_are_traced_once_for_a_number_of_rows():
    traced = []

    @tf.function
    def total(x):
        traced.append(x.shape.as_list())
        return tf.reduce_sum(x.flat_values)

    for values in ([[1, 2], [3]], [[], [9, 9, 9]], [[1], [2], [3]]):
        total(tf.ragged.constant(values, dtype=tf.int32))
    assert traced == [[2, None], [3, None]]


def test_a_loop_over_rows_is_staged():
    @tf.function
    def lengths(x):
        count = 0
        for row in x:
            if tf.size(row) > 1:
                count += 1
        return count

    assert lengths(rows()).numpy() == 1
    concrete = lengths.get_concrete_function(tf.RaggedTensorSpec([None, None], tf.int32))
    assert concrete(tf.ragged.constant([[1, 2], [], [3, 4, 5]])).numpy() == 2


def test_ragged_tensors_are_loop_and_branch_state():
    @tf.function
    def halved(x, n):
        while n > 0:
            x = x[:, ::2]
            n -= 1
        return x

    assert halved(tf.ragged.constant([[1, 2, 3, 4], [5]]), tf.constant(2)).to_list() == [[1], [5]]

    @tf.function
    def chosen(x, first):
        return x[:1] if first else x + 1

    assert chosen(rows(), tf.constant(True)).to_list() == [[1, 2]]
    assert chosen(rows(), tf.constant(False)).to_list() == [[2, 3], [4]]


def test_shape_invariants_may_be_specs():
    @tf.function
    def repeated(x, n):
        spec = tf.RaggedTensorSpec([None, None], tf.int32)
        return tf.while_loop(
            lambda i, x: i < n, lambda i, x: (i + 1, tf.concat([x, x], 0)), (0, x), [tf.TensorShape([]), spec]
        )[1]

    assert repeated(rows(), tf.constant(1)).to_list() == [[1, 2], [3], [1, 2], [3]]


def test_reduce_retracing_takes_a_common_spec():
    @tf.function(reduce_retracing=True)
    def first(x):
        return x[0]

    for count in (1, 2, 3, 4):
        assert first(tf.ragged.constant([[5]] * count)).numpy().tolist() == [5]
    assert first.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("executor", EXECUTORS)
def test_printing(executor, capsys):
    def shown(x):
        tf.print("x:", x, {"k": x * 2}, output_stream=sys.stdout)
        return x

    in_executor(shown, executor)(tf.ragged.constant([[1, 2], [3]]))
    assert capsys.readouterr().out == "x: [[1, 2], [3]] {'k': [[2, 4], [6]]}\n"


def test_printing_of_long_rows_and_other_kinds(capsys):
    tf.print(tf.ragged.constant([list(range(9))]), tf.ragged.constant([[1.0], []]), output_stream=sys.stdout)
    tf.print(tf.sparse.from_dense([5, 0]), output_stream=sys.stdout)
    assert capsys.readouterr().out == (
        "[[0, 1, 2, ..., 6, 7, 8]] [[1.000000], []]\n'SparseTensor(indices=[[0]], values=[5], shape=[2])'\n"
    )


def test_derivatives_have_its_rows():
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    assert tape.gradient(y, x).to_list() == [[2, 4], [6]]
