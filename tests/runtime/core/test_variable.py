"""Variables: creation, assignment, and what is refused."""

import copy
import gc
import pickle
import weakref
from unittest import mock

import agc.runtime as tf
import numpy as np
import pytest


def test_assignment():
    v = tf.Variable([1.0, 2.0], name="w")
    assert v.assign([3.0, 4.0]).ref() == v.ref()
    v.assign_add([1.0, 1.0])
    v.assign_sub([0.5, 0.5])
    assert v.numpy().tolist() == [3.5, 4.5]
    assert (v.name, v.dtype, v.shape, v.trainable) == ("w:0", tf.float32, (2,), True)
    assert v.assign([0.0, 0.0], read_value=False) is None


def test_operators_and_conversion():
    v = tf.Variable(3)
    assert (v + 1).numpy() == (1 + v).numpy() == 4
    assert (v == 3).numpy()
    assert int(v) == 3
    assert [10, 20, 30, 40][v] == 40
    assert np.asarray(tf.Variable([1, 2])).tolist() == [1, 2]
    assert repr(v) == "<tf.Variable 'Variable:0' shape=() dtype=int32, numpy=3>"


def test_a_new_variable_has_memory_of_its_own():
    array = np.ones(2, np.float32)
    first = tf.Variable(array)
    array[0] = 7
    second = tf.Variable(first)
    second.assign_add([1.0, 1.0])
    assert first.numpy().tolist() == [1.0, 1.0]
    assert copy.deepcopy(second).assign([0.0, 0.0]).numpy().tolist() == [0.0, 0.0]
    assert second.numpy().tolist() == [2.0, 2.0]


@pytest.mark.parametrize("eagerly", [True, False])
def test_parts_are_updated_in_place(eagerly):
    v = tf.Variable([1, 2, 3, 4])

    def update(i):
        v.scatter_nd_add([[i]], [10])
        v.scatter_nd_sub([[i], [i + 1]], [1, 1])
        v.scatter_nd_update([[3]], [0])
        return v.gather_nd([[i], [3]])

    part = (update if eagerly else tf.function(update))(tf.constant(1))
    assert part.numpy().tolist() == [11, 0]
    assert v.numpy().tolist() == [1, 11, 2, 0]


def test_a_shape_that_varies():
    v = tf.Variable([1.0], shape=tf.TensorShape([None]))
    v.assign([1.0, 2.0, 3.0])
    assert v.shape == [None]
    assert v.numpy().shape == (3,)


@pytest.mark.parametrize(
    "mistake, error",
    [
        (lambda: tf.Variable(), ValueError),
        (lambda: tf.Variable([1.0]).assign([1.0, 2.0]), ValueError),
        (lambda: tf.Variable([1]).assign(tf.constant([1.0])), ValueError),
        (lambda: tf.Variable([1]).assign([1.5]), TypeError),
        (lambda: tf.Variable([1.0], shape=[2]), ValueError),
        (lambda: hash(tf.Variable(1)), TypeError),
    ],
)
def test_refused(mistake, error):
    with pytest.raises(error):
        mistake()


@pytest.mark.parametrize("executor", [None, "plan", "interpret"])
def test_counting_up_to_a_limit(executor):
    n = tf.Variable(3)
    step = n.count_up_to if executor is None else tf.function(n.count_up_to, experimental_executor=executor)
    assert [int(step(5)), int(step(5)), int(n)] == [3, 4, 5]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 5"):
        step(5)
    assert int(n.read_value_no_copy()) == 5


@pytest.mark.parametrize("value, message", [(1.0, "int32 and int64"), ([1], "scalar variables")])
def test_count_up_to_refuses_other_variables(value, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.Variable(value).count_up_to(4)


def test_references_are_sorted():
    one, other = tf.Variable(1), tf.Variable(1)
    assert (one.ref() < other.ref()) is not (other.ref() < one.ref())


def test_references_are_hashable():
    v, w = tf.Variable(1), tf.Variable(1)
    assert {v.ref(), v.ref()} == {v.ref()}
    assert v.ref() != w.ref()
    assert v.ref().deref() is v


def test_parts_are_assigned() -> None:
    def change(v, i):
        v[i].assign(9.0)
        v[1:3].assign([7.0, 8.0])
        if i > 1:
            v[:1].assign_sub([1.0])
        for j in range(i):
            v[j].assign_add(10.0)
        return v[-1].assign(0.5)[0]

    for run in (change, tf.function(change), tf.function(change, experimental_executor="interpret")):
        v = tf.Variable([1.0, 2.0, 3.0, 4.0])
        assert float(run(v, tf.constant(2))) == 10.0
        assert v.numpy().tolist() == [10.0, 17.0, 8.0, 0.5]
    with pytest.raises(AttributeError, match="no attribute 'assign'"):
        tf.constant([1.0])[0].assign(2.0)


class TestCreation:
    """Messages and results are TensorFlow 2.21's."""

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({}, "The `initial_value` arg to `tf.Variable` must be specified"),
            (
                {"initial_value": 1.0, "aggregation": "x"},
                "Invalid variable aggregation mode: x for variable: None",
            ),
            ({"initial_value": 1.0, "synchronization": 3}, "Invalid variable synchronization mode: 3"),
            ({"initial_value": 1.0, "constraint": 3}, "Argument `constraint` must be None or a callable"),
            ({"initial_value": 1.0, "name": 3}, "name for name_scope must be a string"),
            ({"initial_value": 1.0, "variable_def": object()}, "`variable_def`"),
            (
                {"initial_value": [1.0], "shape": [3]},
                "is not compatible with the explicitly supplied `shape`",
            ),
            ({"initial_value": [1.0], "shape": [3], "validate_shape": False}, "is not compatible"),
            (
                {"initial_value": tf.constant(1), "dtype": tf.float32},
                "initial_value: Tensor conversion requested",
            ),
        ],
    )
    def test_invalid_options_are_refused(self, options, message):
        with pytest.raises(ValueError, match=message):
            tf.Variable(**options)

    def test_options_are_kept(self):
        v = tf.Variable(
            lambda: tf.ones([2]),
            aggregation=tf.VariableAggregation.SUM,
            synchronization=tf.VariableSynchronization.ON_READ,
            constraint=tf.nn.relu,
        )
        assert (v.aggregation.name, v.synchronization.name, v.trainable) == ("SUM", "ON_READ", False)
        assert v.constraint is tf.nn.relu
        assert tf.Variable(1.0).trainable
        assert v.numpy().tolist() == [1.0, 1.0]

    def test_a_shape_is_learned(self):
        v = tf.Variable([2.0], shape=[None])
        v.set_shape([1])
        assert v.shape == [1]
        with pytest.raises(ValueError, match="not compatible"):
            v.set_shape([2])

    def test_creating_a_variable_again_names_the_line(self):
        @tf.function
        def f():
            return tf.Variable(1.0)

        with pytest.raises(
            ValueError, match=r"only supports singleton(.|\n)*--> .*test_variable\.py:\d+:\d+, in f"
        ):
            f()


class TestWhatAssigningGives:
    def test_the_same_variable_under_another_name(self):
        v = tf.Variable([1.0, 2.0], name="w", trainable=False)
        x = v.assign([3.0, 4.0])
        assert (
            repr(x)
            == "<tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([3., 4.], dtype=float32)>"
        )
        assert (x.shape, x.dtype, x.trainable) == (v.shape, v.dtype, False)
        v.assign([7.0, 8.0])
        assert x.numpy().tolist() == [7.0, 8.0]
        x.assign_add([1.0, 1.0]).assign_sub([2.0, 0.0])
        assert v.numpy().tolist() == [6.0, 9.0]

    def test_in_a_graph(self):
        v = tf.Variable(1)

        @tf.function
        def f():
            x = v.assign_add(1)
            x.assign_add(10)
            return x, v + 0

        assert [int(r) for r in f()] == [12, 12]
        assert len(f.get_concrete_function().variables) == 1

    def test_gradients_reach_the_variable(self):
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = v.assign_add(1.0) * v
        assert tape.gradient(y, v).numpy() == 8.0

    def test_only_a_reference_keeps_the_variable_alive(self):
        v = tf.Variable(1)
        alive = weakref.ref(v)
        x = v.assign(2)
        del v
        gc.collect()
        assert x.numpy() == 2
        assert alive() is not None
        del x
        gc.collect()
        assert alive() is None


class TestOperatorsAndNames:
    @pytest.mark.parametrize(("owner", "name"), [(tf.Variable, "assign"), (type(tf.constant(0)), "__add__")])
    def test_a_mock_with_the_specification_of_a_method_gets_the_object(self, owner, name):
        """So do the mocks of Keras's own tests."""
        value = tf.constant(1) if owner is not tf.Variable else tf.Variable(1)
        getattr(value, name)(2)  # methods may be replaced when the first eager operation runs
        with mock.patch.object(owner, name, autospec=True) as method:
            getattr(value, name)(3)
        method.assert_called_once_with(value, 3)

    def test_methods_are_pickled_by_their_names(self):
        tf.Variable(1).assign(2)
        assert (
            pickle.loads(pickle.dumps(tf.Variable.assign))
            is copy.copy(tf.Variable.assign)
            is tf.Variable.assign
        )

    @pytest.mark.parametrize("operator", ["iadd", "isub", "imul", "itruediv", "ipow"])
    def test_in_place_operators_are_refused(self, operator):
        with pytest.raises(RuntimeError, match=r"with `tf.Variable`s is not supported. Use `variable.assign"):
            getattr(__import__("operator"), operator)(tf.Variable(2.0), 1.0)

    def test_hashing(self):
        v = tf.Variable(2)
        with pytest.raises(
            TypeError, match=r"Variable is unhashable. .*\(Variable: <tf.Variable 'Variable:0'"
        ):
            hash(v)
        assert v.ref() == v.ref() == v.experimental_ref()
        assert {v.ref(): 1}[v.ref()] == 1
        assert v.ref().deref() is v

    def test_session_attributes_are_refused(self):
        v = tf.Variable(2.0)
        assert v.initializer is None
        assert v.is_initialized().numpy()
        assert v.initialized_value().numpy() == 2.0
        with pytest.raises(RuntimeError, match="not supported when eager"):
            _ = v.initial_value
        with pytest.raises(RuntimeError, match="not supported when eager"):
            v.eval()

    def test_copies(self):
        v = tf.Variable([2.0], name="q", trainable=False, shape=[None])
        assert copy.copy(v) is v
        for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
            other.assign([3.0, 4.0])
            assert (other.name, other.trainable, other.shape) == ("q:0", False, [None])
            assert v.numpy().tolist() == [2.0]

    @pytest.mark.parametrize("dtype", [tf.bool, tf.string])
    def test_assign_add_refuses_dtypes_without_addition(self, dtype):
        value = "a" if dtype is tf.string else True
        v = tf.Variable(value)
        with pytest.raises(tf.errors.InvalidArgumentError, match="assign_add does not take"):
            v.assign_add(value)
        with pytest.raises(TypeError, match="assign_add does not take"):
            tf.function(lambda: v.assign_add(value))()

    @pytest.mark.parametrize("shape", [[2], [None]])
    def test_sums_do_not_broadcast(self, shape):
        v = tf.Variable([1.0, 2.0], shape=shape)
        with pytest.raises(tf.errors.InvalidArgumentError, match="shapes must be equal"):
            v.assign_add([1.0])
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="shapes must be equal"):
            tf.function(lambda: v.assign_sub([1.0]))()

    def test_a_part_of_strings(self):
        v = tf.Variable(["a", "b"])
        v[0].assign("z")
        assert v.numpy().tolist() == [b"z", b"b"]
        assert v.numpy()[0] == b"z"


def everywhere(update):
    """The results of `update(v)` on a new variable: eagerly, as a plan, by the interpreter."""
    results = []
    for wrap in (
        lambda f: f,
        tf.function,
        lambda f: tf.function(f, experimental_executor="interpret"),
    ):
        v = tf.Variable([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]])
        wrap(lambda v=v: update(v))()
        results.append(v.numpy().tolist())
    assert results[0] == results[1] == results[2]
    return results[0]


class TestScatter:
    """Rows and elements; the numbers are TensorFlow 2.21's."""

    @pytest.mark.parametrize(
        ("how", "expected"),
        [
            ("add", [[21.0, 2.0], [3.0, -4.0], [15.0, 7.0]]),
            ("sub", [[-19.0, 2.0], [3.0, -4.0], [-5.0, 5.0]]),
            ("mul", [[100.0, 0.0], [3.0, -4.0], [50.0, 6.0]]),
            ("max", [[10.0, 2.0], [3.0, -4.0], [10.0, 6.0]]),
            ("min", [[1.0, 0.0], [3.0, -4.0], [5.0, 1.0]]),
            ("update", [[10.0, 0.0], [3.0, -4.0], [10.0, 1.0]]),
        ],
    )
    def test_rows(self, how, expected):
        rows = tf.IndexedSlices(tf.constant([[10.0, 0.0], [10.0, 0.0], [10.0, 1.0]]), tf.constant([0, 0, 2]))
        assert everywhere(lambda v: getattr(v, f"scatter_{how}")(rows)) == expected

    def test_quotients(self):
        rows = tf.IndexedSlices(tf.constant([[2.0, 4.0]]), tf.constant([1]))
        assert everywhere(lambda v: v.scatter_div(rows))[1] == [1.5, -1.0]
        v = tf.Variable([1, -7, 9])
        v.scatter_div(tf.IndexedSlices([2, 2, 2, -2], [0, 1, 2, 2]))
        assert v.numpy().tolist() == [0, -3, -2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            v.scatter_div(tf.IndexedSlices([0], [0]))

    def test_a_scalar_for_all_rows(self):
        v = tf.Variable([1.0, 2.0, 3.0])
        v.scatter_add(tf.IndexedSlices(tf.constant(5.0), tf.constant([0, 0, 2])))
        assert v.numpy().tolist() == [11.0, 2.0, 8.0]

    @pytest.mark.parametrize(
        ("how", "expected"),
        [("add", 7.0), ("sub", -3.0), ("max", 5.0), ("min", 2.0), ("update", 5.0)],
    )
    def test_elements(self, how, expected):
        result = everywhere(lambda v: getattr(v, f"scatter_nd_{how}")([[0, 1]], [5.0]))
        assert result == [[1.0, expected], [3.0, -4.0], [5.0, 6.0]]

    def test_batches(self):
        rows = tf.IndexedSlices(tf.constant([[9.0], [8.0], [7.0]]), tf.constant([[1], [0], [0]]))
        expected = [[1.0, 9.0], [8.0, -4.0], [7.0, 6.0]]
        assert everywhere(lambda v: v.batch_scatter_update(rows)) == expected

    def test_strings_and_bfloat16(self):
        v = tf.Variable(["a", "b"])
        assert v.scatter_update(tf.IndexedSlices(["z"], [1])).numpy().tolist() == [b"a", b"z"]
        w = tf.Variable([1, 2], dtype=tf.bfloat16)
        assert tf.cast(w.scatter_add(tf.IndexedSlices([1, 1], [0, 0])), tf.float32).numpy().tolist() == [
            3.0,
            2.0,
        ]

    def test_a_tensor_that_was_read_keeps_its_value(self):
        v = tf.Variable([1, 2])
        before = v.value()
        v.scatter_nd_update([[0]], [9])
        assert before.numpy().tolist() == [1, 2]

    def test_sparse_read(self):
        assert tf.Variable([1.0, 2.0]).sparse_read([1, 0]).numpy().tolist() == [2.0, 1.0]

    def test_invalid_sparse_updates_are_refused(self):
        v = tf.Variable([1.0, 2.0])
        with pytest.raises(TypeError, match=r"`sparse_delta` must be a `tf.IndexedSlices`"):
            v.scatter_add(3.0)
        with pytest.raises(ValueError, match="Tensor conversion requested dtype float32"):
            v.scatter_add(tf.IndexedSlices(tf.constant([5]), tf.constant([0])))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 7 is not in \[0, 2\)"):
            v.scatter_add(tf.IndexedSlices(tf.constant([2.0]), tf.constant([7])))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = \[5\] does not index into"):
            v.scatter_nd_add([[5]], [1.0])
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"indices\[0\] = \[4294967296\] does not index"
        ):
            v.scatter_nd_add(np.array([[2**32]]), [1.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Must have updates\.shape"):
            v.scatter_add(tf.IndexedSlices(tf.constant([2.0, 2.0]), tf.constant([0])))
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
            tf.function(lambda i: v.scatter_add(tf.IndexedSlices([2.0], [i])))(tf.constant(9))
        with pytest.raises(tf.errors.InvalidArgumentError, match="scatter_max does not take"):
            tf.Variable([1j]).scatter_max(tf.IndexedSlices([1j], [0]))


def test_a_variable_has_an_identity() -> None:
    v, w = tf.Variable([1.0], name="kernel"), tf.Variable([1.0], name="kernel")
    assert v.handle is v.handle
    assert v.handle is not w.handle
    assert (v.handle.dtype, v.handle.shape, v.handle.variable is v) == (tf.resource, [], True)
    assert v._unique_id == v._unique_id != w._unique_id
    assert v._unique_id.startswith("kernel_")
    assert v._shared_name == "kernel"
    assigned = v.assign([2.0])
    assert (assigned.handle, assigned._unique_id) == (v.handle, v._unique_id)
    assert copy.deepcopy(v).handle is not v.handle
