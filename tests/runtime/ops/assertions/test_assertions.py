"""tf.debugging and tf.Assert: the messages are those of TensorFlow 2.21, without its names of nodes."""

import contextlib

import agc.runtime as tf
import numpy as np
import pytest

debugging = tf.debugging
STAGED = pytest.mark.parametrize("staged", [False, True])
ANY = tf.TensorSpec(None, tf.int32)


def message_of(call, kind=tf.errors.InvalidArgumentError):
    with pytest.raises(kind) as raised:
        call()
    return str(raised.value)


def test_the_message_lists_the_differing_elements():
    text = message_of(lambda: debugging.assert_equal([1, 2], [1, 3], message="my msg"))
    assert text == (
        "my msg\nCondition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\n"
        "Corresponding x values:\n[2]\nCorresponding y values:\n[3]\n"
        "First 2 elements of x:\n[1 2]\nFirst 2 elements of y:\n[1 3]"
    )
    scalars = message_of(lambda: debugging.assert_less_equal(3, 2))
    assert scalars == (
        "Condition x <= y did not hold.\nFirst 1 elements of x:\n[3]\nFirst 1 elements of y:\n[2]"
    )
    short = message_of(lambda: debugging.assert_greater(tf.range(20), tf.range(20) + 1, summarize=2))
    assert "Indices of first 2 different values:\n[[0]\n [1]]\nCorresponding x values:\n[0 1]" in short


@pytest.mark.parametrize(
    "check, x, text",
    [
        (debugging.assert_positive, [1, 0], "Condition x > 0 did not hold element-wise:\nx (shape=(2,) dtype=int32)"),
        (debugging.assert_negative, 0.0, "Condition x < 0 did not hold element-wise:"),
        (debugging.assert_non_negative, -1, "Condition x >= 0 did not hold element-wise:"),
        (debugging.assert_non_positive, 1.5, "Condition x <= 0 did not hold element-wise:"),
    ],
)  # fmt: skip
def test_signs(check, x, text):
    assert message_of(lambda: check(x)).startswith(text)
    assert message_of(lambda: check(x, message="hm")).startswith("hm.  \n")


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_in_a_graph_the_message_shows_the_first_elements(executor):
    @tf.function(experimental_executor=executor, input_signature=[ANY])
    def f(x):
        debugging.assert_equal(x, [1, 2, 3, 4, 5], message="mm")
        return x

    assert f(tf.range(1, 6)).shape == [5]
    text = message_of(lambda: f(tf.constant([4, 1, 2, 3, 4])))
    assert "[mm] [Condition x == y did not hold element-wise:] [x (x:0) = ] [4 1 2...] [y (shape=(5,)" in text
    assert "= ] [1 2 3...]" in text
    assert "test_assertions.py" in text


def test_static_values_are_checked_while_tracing():
    runs = []

    @tf.function
    def f(x):
        runs.append("traced")
        debugging.assert_less(2, 1)
        return x

    assert "x < y did not hold element-wise" in message_of(lambda: f.get_concrete_function(tf.constant(1)))
    assert runs == ["traced"]


def test_an_assertion_of_a_branch_that_does_not_run():
    @tf.function
    def f(x):
        if x > 0:
            tf.Assert(False, ["positive", x])
        return x

    assert f(tf.constant(-1)).numpy() == -1
    assert "assertion failed: [positive] [3]" in message_of(lambda: f(tf.constant(3)))


@pytest.mark.parametrize(
    "data, summarize, text",
    [
        ([[[1, 2], [3, 4]], 1.5, "s", ["s", "t"], True], None, "[[1 2][3...]...] [1.5] [s] [s t] [1]"),
        ([[[1, 2], [3, 4]], [[[1.5]]], 1 / 3, tf.range(7)], 5, "[[1 2][3 4]] [[[1.5]]] [0.333333343] [0 1 2 3 4...]"),
        ([list(range(5)), 'a"b\n'], -1, '[0 1 2 3 4] [a\\"b\\n]'),
    ],
)  # fmt: skip
def test_data_in_a_graph(data, summarize, text):
    failing = tf.function(lambda ok: tf.Assert(ok, data, summarize=summarize))
    assert f"assertion failed: {text} [op assert]" in message_of(lambda: failing(tf.constant(False)))


def test_assert_in_eager_code():
    tf.Assert(True, [])
    text = message_of(lambda: tf.Assert(tf.constant(False), ["data", [1, 2, 3, 4], 0.1]))
    assert text == (
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'data'\n1, 2, 3, ...\n0.1"
    )
    with pytest.raises(TypeError, match="must be a sequence"):
        tf.Assert(True, tf.constant([1]))
    with pytest.raises(ValueError, match="scalar"):
        tf.function(lambda x: tf.Assert(x > 0, ["x"]))(tf.constant([1, 2]))


def test_nearness():
    debugging.assert_near([1.0, 2.0], [1.1, 2.0], atol=0.2, rtol=0.0)
    debugging.assert_near(tf.constant(1.0, tf.float64), 1.0)
    assert "tolerance" in message_of(lambda: debugging.assert_near(1.0, 1.1, message="hm"))
    with pytest.raises(ValueError, match="int32"):
        debugging.assert_near(1, 1)


@STAGED
@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda x: debugging.assert_rank(x, 2), ValueError, r"must have rank 2\.  Received rank 1, shape \(1,\)"),
        (lambda x: debugging.assert_rank(x, 2, message="rm"), ValueError, r"^rm\.  Tensor"),
        (lambda x: debugging.assert_rank_at_least(x, 2), ValueError, r"must have rank at least 2\.  Received rank 1"),
        (lambda x: debugging.assert_rank_in(x, (2, 3)), ValueError, r"must have rank in \(2, 3\)\.  Received rank 1"),
        (lambda x: debugging.assert_rank(x, [1]), ValueError, r"Rank must be a scalar"),
        (lambda x: debugging.assert_rank(x, 1.0), TypeError, r"integer"),
        (lambda x: debugging.assert_scalar(x), ValueError, r"Expected scalar shape.*, saw shape: \(1,\)\."),
        (lambda x: debugging.assert_integer(x / 2), TypeError, r'Expected "x" to be integer type\.  Found: '),
        (lambda x: debugging.assert_type(x, tf.float32), TypeError, r"must be of type tf\.float32; got tf\.int32"),
        (lambda x: debugging.assert_proper_iterable(x), TypeError, r'"proper" iterable'),
        (lambda x: debugging.assert_proper_iterable("abc"), TypeError, r'"proper" iterable'),
        (lambda x: debugging.assert_proper_iterable(3), TypeError, r"to be iterable"),
        (lambda x: debugging.assert_same_float_dtype([x]), ValueError, r"Expected floating point type, got"),
        (lambda x: debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)]), ValueError,
         r"must be of the same type \(<dtype: 'float32'>\) as"),
    ],
)  # fmt: skip
def test_kinds(staged, call, kind, text):
    with pytest.raises(kind, match=text):
        (tf.function(call) if staged else call)(tf.constant([1]))


def test_kinds_that_hold():
    x = tf.constant([1])
    debugging.assert_rank(x, 1)
    debugging.assert_rank_at_least(x, 0)
    debugging.assert_rank_in(x, (1, 3))
    debugging.assert_scalar(3)
    debugging.assert_integer(x)
    debugging.assert_type(x, tf.int32)
    debugging.assert_proper_iterable([1])
    assert debugging.assert_same_float_dtype([tf.constant(1.0), None]) is tf.float32
    assert debugging.assert_same_float_dtype() is tf.float32
    numbers = [debugging.is_numeric_tensor(value) for value in (x, tf.constant("a"), 1, tf.constant(True))]
    assert numbers == [True, False, False, False]


@pytest.mark.parametrize(
    "check, text",
    [
        (lambda x: debugging.assert_rank(x, 2), r"\[Tensor x:0 must have rank\] \[2\] \[Received shape: \] \[1\]"),
        (lambda x: debugging.assert_rank_at_least(x, 2, message="m"), r"\[m\.  \] \[Tensor x:0 must have rank at "),
        (lambda x: debugging.assert_rank_in(x, (2, 3)), r"must have rank in\] \[2\] \[3\] \[Received shape: \] \[1\]"),
        (lambda x: debugging.assert_shapes([(x, ("N", 3))]), r"must have rank\] \[2\]"),
    ],
)  # fmt: skip
def test_a_dynamic_rank_is_checked_at_run_time(check, text):
    @tf.function(input_signature=[ANY])
    def f(x):
        check(x)
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        f(tf.constant([1]))
    f(tf.constant([[1, 2, 3]]))


@STAGED
def test_shapes_that_fit_each_other(staged):
    def check(x, w, y):
        debugging.assert_shapes([(x, ("N", "D")), (w, "D"), (y, (None,)), (tf.reduce_sum(y), "")])
        debugging.assert_shapes(
            {"x": "D"} and [(w, ("D",)), (x, (..., "D")), (x, "*3"), (tf.constant(1), (1,))]
        )

    arguments = tf.zeros([2, 3]), tf.zeros([3]), tf.zeros([4])
    (tf.function(check) if staged else check)(*arguments)


@STAGED
@pytest.mark.parametrize(
    "shapes, text",
    [
        (("N", 3), r"Specified explicitly\.  Tensor .* dimension 1 must have size 3\.  Received size 2, shape"),
        (("N", "N"), r"Specified by tensor .* dimension 0\.  Tensor .* dimension 1 must have size 1\."),
        (("N",), r"must have rank in \(0, 1\)\.  Received rank 2"),
        ((..., 3), r"dimension -1 must have size 3"),
        ((2, ...), r"only allowed as the first entry"),
        (3.5, r"must be an iterable"),
    ],
)  # fmt: skip
def test_shapes_that_do_not_fit(staged, shapes, text):
    def check(x):
        debugging.assert_shapes([(x, shapes)])

    with pytest.raises(ValueError, match=text):
        (tf.function(check) if staged else check)(tf.constant([[1, 2]]))


def test_assertions_of_dynamic_shape():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def f(x):
        debugging.assert_shapes([(x, ("N", "N"))], message="square")
        return x

    f(tf.zeros([2, 2], tf.int32))
    text = message_of(lambda: f(tf.constant([[1, 2]])))
    assert (
        "[square.  ] [Specified by tensor x:0 dimension 0] [Tensor x:0 dimension] [1] [must have size] [1]"
        in text
    )
    assert "[Received shape: ] [1 2]" in text


@STAGED
@pytest.mark.parametrize(
    "values, text",
    [
        ([1.0, np.inf], "m : Tensor had Inf values"),
        ([np.nan], "m : Tensor had NaN values"),
        ([-np.inf, np.nan], "m : Tensor had Inf and NaN values"),
    ],
)
def test_numbers_that_are_not_finite(staged, values, text):
    for check in (debugging.check_numerics, debugging.assert_all_finite):
        call = lambda x, check=check: check(x, "m")  # noqa: E731
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            (tf.function(call) if staged else call)(tf.constant(values))
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match="int32"):
            (tf.function(call) if staged else call)(tf.constant(1))


def test_switches():
    assert not debugging.get_log_device_placement()
    debugging.set_log_device_placement(True)
    assert debugging.get_log_device_placement()
    debugging.set_log_device_placement(False)
    debugging.disable_traceback_filtering()
    assert not debugging.is_traceback_filtering_enabled()
    debugging.enable_traceback_filtering()
    assert debugging.is_traceback_filtering_enabled()


def test_errors_are_made_as_in_tensorflow():
    error = tf.errors.NotFoundError(None, None, "no such file")
    assert (str(error), error.message, error.error_code, error.op, error.node_def) == (
        "no such file", "no such file", tf.errors.NOT_FOUND, None, None,
    )  # fmt: skip
    assert tf.errors.OpError(None, None, "odd", 7).error_code == 7
    assert tf.errors.OutOfRangeError(node_def=None, op=None, message="end").message == "end"
    assert (tf.errors.OK, tf.errors.UNAUTHENTICATED) == (0, 16)


@pytest.mark.parametrize("shape", [(), (1,), "N"])
@pytest.mark.parametrize(
    ("value", "fits"), [(1.0, True), ([1.0], True), ([0.0, 0.0], False), ([[1.0]], False)]
)
def test_an_empty_shape_or_one_size_mean_a_scalar_or_a_vector(shape, value, fits):
    fits = fits or (shape == "N" and np.ndim(value) == 1)

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def checked(x):
        debugging.assert_shapes([(x, shape)])
        return x

    def eager(x):
        debugging.assert_shapes([(x, shape)])

    for function in (checked, eager):
        with (
            contextlib.nullcontext() if fits else pytest.raises((ValueError, tf.errors.InvalidArgumentError))
        ):
            function(tf.constant(value))
