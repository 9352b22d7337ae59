"""Options of loops: the number of iterations, and the shapes of loop variables."""

import agc.runtime as tf
import pytest
from agc import autograph

set_loop_options = tf.autograph.experimental.set_loop_options

both_executors = pytest.mark.parametrize("executor", ["plan", "interpret"])


def counted(n):
    rounds = 0
    while n > 0:
        set_loop_options(maximum_iterations=3, parallel_iterations=1, swap_memory=True)
        n -= 1
        if n == 7:
            break
        rounds += 1
    return n, rounds


def nested(n):
    total = 0
    for i in tf.range(n):
        set_loop_options(maximum_iterations=tf.constant(4))
        if i == 1:
            continue
        for _ in tf.range(i):
            tf.autograph.experimental.set_loop_options(maximum_iterations=1)
            total += 1
        total += 10
    return total


@both_executors
def test_maximum_iterations_ends_a_staged_loop(executor):
    f = tf.function(counted, experimental_executor=executor)
    assert [[int(part) for part in f(tf.constant(n))] for n in (2, 9, 20)] == [[0, 2], [7, 1], [17, 3]]
    assert int(tf.function(nested, experimental_executor=executor)(tf.constant(9))) == 32


def test_python_loops_ignore_loop_options():
    assert autograph.convert(counted)(20) == counted(20) == (7, 12)


def test_loops_that_suspend_a_generator_ignore_loop_options():
    def halves(n):
        while n > 1:
            set_loop_options(maximum_iterations=3)
            n //= 2
            yield n

    assert list(autograph.convert(halves)(40)) == [20, 10, 5, 2, 1]


def test_a_limited_loop_runs_the_effects_of_its_test_as_often_as_python():
    asked = tf.Variable(0)

    def more(n):
        asked.assign_add(1)
        return n > 0

    @tf.function
    def f(n):
        while more(n):
            set_loop_options(maximum_iterations=9)
            n -= 1
        return n

    assert int(f(tf.constant(3))) == 0
    assert int(asked) == 4


def test_shape_invariants_allow_a_varying_shape():
    @tf.function
    def f(x):
        i = tf.constant(0)
        while i < 3:
            set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            x = tf.concat([x, x], 0)
            i += 1
        return x

    assert f(tf.constant([1.0])).shape == (8,)
    assert f.get_concrete_function(tf.constant([1.0])).structured_outputs.shape == [None]

    @tf.function
    def narrow(x):
        while tf.size(x) < 9:
            set_loop_options(shape_invariants=[(x, tf.TensorShape([1]))])
            x = tf.concat([x, x], 0)
        return x

    with pytest.raises(ValueError, match="the loop changes the type of `x`"):
        narrow(tf.constant([1.0]))


COMPOSITES = [
    (lambda: tf.ragged.constant([[1, 2], [3]]), [None, None], tf.RaggedTensorSpec([None, None], tf.int32)),
    (
        lambda: tf.SparseTensor([[0, 1]], [1.0], [2, 2]),
        [None, None],
        tf.SparseTensorSpec([None, None], tf.float32),
    ),
    (
        lambda: tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([0]), tf.constant([3, 2])),
        [None, 2],
        tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int32, tf.int32),
    ),
]


def twice(value):
    if isinstance(value, tf.IndexedSlices):
        parts = [tf.concat([part, part], 0) for part in (value.values, value.indices)]
        return tf.IndexedSlices(*parts, value.dense_shape)
    return (
        tf.concat([value] * 2, 0) if isinstance(value, tf.RaggedTensor) else tf.sparse.concat(0, [value] * 2)
    )


@both_executors
@pytest.mark.parametrize("is_spec", [True, False])
@pytest.mark.parametrize("make, shape, spec", COMPOSITES, ids=["ragged", "sparse", "slices"])
def test_shape_invariants_of_composites(make, shape, spec, is_spec, executor):
    said = spec if is_spec else tf.TensorShape(shape)

    @tf.function(experimental_executor=executor)
    def doubled(n):
        value = make()
        for _ in tf.range(n):
            set_loop_options(shape_invariants=[(value, said)])
            value = twice(value)
        return value

    found, expected = doubled(tf.constant(2)), twice(twice(make()))
    pairs = zip(tf.nest.flatten(found, True), tf.nest.flatten(expected, True), strict=True)
    assert all(one.numpy().tolist() == other.numpy().tolist() for one, other in pairs)


@pytest.mark.parametrize(
    "said, error",
    [
        (tf.TensorShape([2, None]), "AGC204.*row_splits"),
        (tf.TensorShape([None]), "ragged_rank"),
        (tf.SparseTensorSpec([None, None], tf.int32), "not a spec of a RaggedTensor"),
    ],
)
def test_shape_invariants_of_composites_are_checked(said, error):
    @tf.function
    def doubled(n):
        value = tf.ragged.constant([[1, 2], [3]])
        for _ in tf.range(n):
            set_loop_options(shape_invariants=[(value, said)])
            value = twice(value)
        return value

    with pytest.raises((TypeError, ValueError), match=error):
        doubled(tf.constant(2))


def test_shape_invariants_in_the_structure_of_a_dict():
    @tf.function
    def doubled(n):
        state = {"a": tf.constant([1]), "b": [tf.constant([2.0])]}
        for _ in tf.range(n):
            set_loop_options(shape_invariants=[(state, {"b": [[None]], "a": tf.TensorShape([None])})])
            state = {"a": tf.concat([state["a"]] * 2, 0), "b": [tf.concat(state["b"] * 2, 0)]}
        return state

    found = doubled(tf.constant(2))
    assert found["a"].numpy().tolist() == [1] * 4
    assert found["b"][0].numpy().tolist() == [2.0] * 4


def test_shape_invariants_hold_while_other_variables_change_their_structure():
    @tf.function
    def stopped(n):
        x = tf.zeros([0])
        for last in tf.range(n):  # `last` has no value before the loop
            set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            if last == 3:
                break
            x = tf.concat([x, [1.0]], 0)
        else:
            last = -1
        return last, x

    @tf.function
    def paired(n):
        x, pair = tf.zeros([0]), None
        for i in tf.range(n):
            set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            x = tf.concat([x, [1.0]], 0)
            pair = (i, x)
        return pair

    assert [value.numpy().tolist() for value in stopped(tf.constant(2))] == [-1, [1.0, 1.0]]
    assert [value.numpy().tolist() for value in stopped(tf.constant(5))] == [3, [1.0, 1.0, 1.0]]
    assert [value.numpy().tolist() for value in paired(tf.constant(2))] == [1, [1.0, 1.0]]


def test_shape_invariants_name_loop_variables_only():
    @tf.function
    def f(x):
        other = tf.constant(1)
        while x < 3:
            set_loop_options(shape_invariants=[(other, tf.TensorShape([]))])
            x += 1
        return x

    with pytest.raises(ValueError, match="name a tensor that the loop changes"):
        f(tf.constant(1))


def test_loop_options_must_come_first_in_the_body():
    def late(n):
        while n > 0:
            n -= 1
            set_loop_options(maximum_iterations=3)
        return n

    def outside(n):
        set_loop_options(maximum_iterations=3)
        return n

    def hidden(n, options):
        while n > 0:
            set_loop_options(**options)
            n -= 1

    def misspelt(n):
        while n > 0:
            set_loop_options(maximum_iteration=3)
            n -= 1
        return n

    for f, said in (
        (misspelt, "did you mean `maximum_iterations`"),
        (late, "first statement"),
        (outside, "first statement"),
        (hidden, "must be written as keyword"),
    ):
        with pytest.raises(autograph.ConversionError, match=said) as caught:
            autograph.convert(f)
        assert caught.value.diagnostic.code == "AGC111"
    assert late(5) == 0


def test_a_user_function_with_the_same_name_is_no_loop_option():
    def own(n):
        total = []

        def set_loop_options(k):
            total.append(k)

        while n > 0:
            set_loop_options(n)
            n -= 1
        return total

    assert own(3) == [3, 2, 1]
