"""TensorArray: values are immutable in a graph, loops carry it, errors name the index."""

import agc.runtime as tf
import numpy as np
import pytest

EXECUTORS = pytest.mark.parametrize("executor", ["plan", "interpret"])


def test_eager():
    ta = tf.TensorArray(tf.float32, size=2)
    ta.write(0, 1.0)  # in place, as in TensorFlow
    ta = ta.write(1, 2.0)
    assert ta.stack().numpy().tolist() == [1.0, 2.0]
    assert ta.read(1).numpy() == 2.0
    assert ta.gather([1, 0]).numpy().tolist() == [2.0, 1.0]
    assert ta.size().numpy() == len(ta) == 2


def test_unstack_scatter_concat():
    ta = tf.TensorArray(tf.int32, size=2).unstack([[1, 2], [3, 4]])
    assert ta.concat().numpy().tolist() == [1, 2, 3, 4]
    ta = tf.TensorArray(tf.int32, size=3).scatter([2, 0], [7, 8])
    assert ta.stack().numpy().tolist() == [8, 0, 7]


@EXECUTORS
def test_written_in_a_loop(executor):
    @tf.function(experimental_executor=executor)
    def squares(n):
        ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            ta = ta.write(i, i * i)
        return ta.stack()

    assert squares(tf.constant(4)).numpy().tolist() == [0, 1, 4, 9]
    assert squares(tf.constant(0)).numpy().tolist() == []


@EXECUTORS
def test_an_old_version_keeps_its_elements(executor):
    @tf.function(experimental_executor=executor)
    def f():
        old = tf.TensorArray(tf.int32, size=2).write(0, 1)
        new = old.write(0, 5).write(1, 6)
        return old.stack(), new.stack(), old.write(1, 9).stack(), new.read(1)

    results = [result.numpy().tolist() for result in f()]
    assert results == [[1, 0], [5, 6], [1, 9], 6]


def test_the_element_shape_is_inferred_from_writes():
    @tf.function
    def f(n):
        ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            ta = ta.write(i, tf.zeros([3]))
        return ta.stack()

    assert f.get_concrete_function(tf.constant(1)).structured_outputs.shape == [None, 3]


def test_the_static_size_survives_loops_and_branches():
    """Through loops and branches as well; what may grow, or is one of two arrays, has an unknown number."""
    known = {}

    def array(size, **options):
        return tf.TensorArray(tf.float32, size, element_shape=[2], **options)

    @tf.function
    def f(x, n):
        looped, grown, replaced, chosen, either = (
            array(3),
            array(3, dynamic_size=True),
            array(3),
            array(3),
            array(3),
        )
        for i in tf.range(n):
            replaced = array(4)
            looped, grown = looped.write(i, x[i]), grown.write(i, x[i])
            assert looped.stack().shape[0] == 3
        if n > 1:
            chosen, either = chosen.write(0, x[0]), array(4)
        known.update({
            "looped": looped.stack().shape[0],
            "grown": grown.stack().shape[0],
            "replaced": replaced.stack().shape[0],
            "chosen": chosen.stack().shape[0],
            "either": either.stack().shape[0],
            "concat": looped.concat().shape[0],
            "unstack": array(tf.shape(x)[0]).unstack(x).stack().shape[0],
            "scatter": array(5).scatter([4], x[:1]).stack().shape[0],
            "given": array(n).stack().shape[0],
            "size": tf.get_static_value(looped.size()),
        })  # fmt: skip
        return looped.stack()

    assert f(tf.ones([3, 2]), tf.constant(3)).shape == [3, 2]
    assert known == {
        "looped": 3, "grown": None, "replaced": None, "chosen": 3, "either": None, "concat": 6, "unstack": 3,
        "scatter": 5, "given": None, "size": 3,
    }  # fmt: skip


def test_no_array_has_fewer_elements_than_none():
    assert tf.TensorArray(tf.float32, -1).size() == 0


def test_a_graph_serves_arrays_of_all_sizes():
    f = tf.function(lambda ta: ta.stack())
    arrays = [tf.TensorArray(tf.int32, size).unstack(tf.range(size)) for size in (2, 3)]
    assert [f(array).numpy().tolist() for array in arrays] == [[0, 1], [0, 1, 2]]
    assert f.experimental_get_tracing_count() == 1


@EXECUTORS
def test_scatter_of_any_number_of_rows(executor):
    signature = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 2])]

    @tf.function(input_signature=signature, experimental_executor=executor)
    def f(indices, rows):
        with tf.GradientTape() as tape:
            tape.watch(rows)
            ta = tf.TensorArray(tf.float32, 3, element_shape=[2]).scatter(indices, rows)
            result = ta.stack()
        return result, tape.gradient(result, rows, tf.constant([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))

    result, gradient = f([2, 0], [[1.0, 2.0], [3.0, 4.0]])
    assert result.numpy().tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]
    assert gradient.numpy().tolist() == [[3.0, 3.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    "mistake, message",
    [
        (lambda: tf.TensorArray(tf.int32, 3).scatter([0, 1], [1]), "1 elements to 2 indices"),
        (lambda: tf.TensorArray(tf.int32, 3).scatter([0, 3], [1, 2]), "write to index 3 but"),
        (lambda: tf.TensorArray(tf.int32, 3).scatter([0.0], [1]), "must be integers, not float32"),
        (lambda: tf.TensorArray(tf.int32, 3).scatter(0, [1]), "must be a vector"),
        (lambda: tf.TensorArray(tf.int32, 3).scatter([0], 1), "at least one axis"),
        (lambda: tf.TensorArray(tf.int32, size=1).write(1, 0), "not resizeable and size is: 1"),
        (lambda: tf.TensorArray(tf.int32, size=1).read(3), "read from index 3 but array size is: 1"),
        (lambda: tf.TensorArray(tf.int32, size=2).write(0, [1]).write(1, [1, 2]), "shape of the other"),
        (lambda: tf.TensorArray(tf.int32, size=1).stack(), "never written"),
    ],
)
def test_refused(mistake, message):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError), match=message):
        mistake()


@pytest.mark.parametrize("index", [3, -1])
@pytest.mark.parametrize("given", [int, np.int64, tf.constant, tf.Variable])
def test_indices_out_of_range(index, given):
    """Eager code raises another error than graphs, as in TensorFlow."""

    def read(array, at):
        return array.read(at)

    def write(array, at):
        return array.write(at, 5).stack()

    for use in (read, write):
        for run, error in (
            (use, tf.errors.OutOfRangeError),
            (tf.function(use), tf.errors.InvalidArgumentError),
        ):
            array = tf.TensorArray(tf.int32, 3).unstack([1, 2, 3])
            with pytest.raises(error, match=str(index)):
                run(array, given(index))
            assert array.stack().numpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("given", [int, np.int8, np.uint64, tf.constant, tf.Variable, np.array])
def test_indices_of_any_integer_type(given):
    for _ in range(3):  # the third call is a kept one
        array = tf.TensorArray(tf.int32, 0, dynamic_size=True).write(given(0), 7).write(given(2), 9)
        assert [int(array.read(given(i))) for i in range(3)] == [7, 0, 9]


def test_an_eager_array_is_copied_into_a_graph():
    ta = tf.TensorArray(tf.int32, size=2).write(0, 1).write(1, 2)

    @tf.function
    def f(x):
        return ta.write(0, x).stack()

    assert f(tf.constant(9)).numpy().tolist() == [9, 2]
    assert ta.stack().numpy().tolist() == [1, 2]


def test_as_argument_and_result():
    f = tf.function(lambda ta, x: ta.write(0, x))
    ta = f(tf.TensorArray(tf.int32, size=1), tf.constant(5))
    assert ta.stack().numpy().tolist() == [5]


@pytest.mark.parametrize("staged", [False, True])
def test_elements_of_different_shapes(staged):
    def both(x):
        array = tf.TensorArray(tf.int32, size=2, infer_shape=False).write(0, x[:1]).write(1, x[1:])
        parts = tf.TensorArray(tf.int32, size=2, infer_shape=False).split(x, [1, 2])
        parts.close()
        return array.concat(), parts.read(1), parts.concat()

    results = (tf.function(both) if staged else both)(tf.constant([1, 2, 3]))
    assert [result.numpy().tolist() for result in results] == [[1, 2, 3], [2, 3], [1, 2, 3]]
    for lengths, message in (([1, 1], "sum of lengths is 2"), ([3], "2 vs. 1")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tf.TensorArray(tf.int32, size=2, infer_shape=False).split([1, 2, 3], lengths)
    with pytest.raises(NotImplementedError, match="GradientTape"):
        tf.TensorArray(tf.int32, size=1).grad("loss")


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.string], ids=lambda dtype: dtype.name)
def test_elements_of_different_shapes_are_not_stacked(dtype):
    def stacked(x):
        return tf.TensorArray(dtype, size=2, infer_shape=False).write(0, x[:1]).write(1, x[1:]).stack()

    x = tf.constant(["a", "b", "c"]) if dtype is tf.string else tf.ones(3, dtype)
    for f in (stacked, tf.function(stacked, input_signature=[tf.TensorSpec([None], dtype)])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="different shapes"):
            f(x)


@pytest.mark.parametrize("index", [1.5, 1.0, "1"])
def test_an_index_is_an_integer(index):
    def read(i):
        return tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0]).read(i)

    def written(i):
        return tf.TensorArray(tf.float32, size=2).write(i, 1.0).stack()

    for f in (read, written):
        for given in (index, tf.constant(index)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="must be an integer, not"):
                f(given)
        with pytest.raises(TypeError, match="must be an integer, not"):
            tf.function(f)(tf.constant(index))


def test_gradients_through_parts():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
            loss = 5.0 * tf.reduce_sum(parts.read(0)) + 7.0 * tf.reduce_sum(parts.read(1) ** 2)
        return tape.gradient(loss, x)

    assert f(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [5.0, 28.0, 42.0]


def test_a_dynamic_number_of_rows_is_scattered():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.float32)])
    def scattered(places, rows):
        with tf.GradientTape() as tape:
            tape.watch(rows)
            total = tf.reduce_sum(
                tf.TensorArray(tf.float32, size=4).scatter(places, rows).stack() * [1.0, 2, 4, 8]
            )
        return total, tape.gradient(total, rows)

    total, slope = scattered([3, 0], [10.0, 100.0])
    assert (float(total), slope.numpy().tolist()) == (180, [8, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 4"):
        scattered([3, 4], [1.0, 1.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        scattered([3, 2], [1.0])


def test_unwritten_string_elements_are_empty():
    array = tf.TensorArray(tf.string, size=0, dynamic_size=True).write(1, "x").unstack(["y"])
    assert array.write(3, "z").stack().numpy().tolist() == [b"y", b"x", b"", b"z"]
    assert tf.TensorArray(tf.string, 2).unstack(["a", "bc"]).stack().numpy().tolist() == [b"a", b"bc"]
    assert tf.scatter_nd([[1], [1]], ["a", "b"], [2]).numpy().tolist() == [b"", b"ab"]
