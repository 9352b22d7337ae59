"""py_function and numpy_function: calls back into Python; classes of errors are those of TensorFlow 2.21."""

import contextvars

import agc.runtime as tf
import numpy as np
import pytest

STAGED = pytest.mark.parametrize("staged", [False, True])
EXECUTORS = pytest.mark.parametrize("executor", ["plan", "interpret"])


@STAGED
def test_py_function_passes_tensors(staged):
    def both(x):
        kind = tf.py_function(lambda t: type(t).__name__, [x], tf.string)
        total, difference = tf.py_function(lambda a, b: (a + b, a - b), [x, 1], [tf.int32, tf.int32])
        return kind, total, difference, tf.py_function(tf.executing_eagerly, [], tf.bool)

    results = (tf.function(both) if staged else both)(tf.constant(4))
    assert [result.numpy() for result in results] == [b"EagerTensor", 5, 3, True]


@EXECUTORS
def test_effects_happen_at_each_run_in_order(executor):
    seen = []

    @tf.function(experimental_executor=executor)
    def f(n):
        for i in tf.range(n):
            tf.py_function(lambda i: seen.append(int(i)), [i], [])
        return n

    f(tf.constant(3))
    f(tf.constant(2))
    assert seen == [0, 1, 2, 0, 1]


@EXECUTORS
def test_numpy_function_passes_arrays(executor):
    @tf.function(experimental_executor=executor)
    def f(x, text):
        sinh = tf.numpy_function(np.sinh, [x], tf.float32)
        shouted, kind = tf.numpy_function(
            lambda t, a: (t + b"!", type(a).__name__), [text, x], [tf.string, tf.string]
        )
        return sinh, shouted, kind

    sinh, shouted, kind = f(tf.constant([1.0, 2.0]), tf.constant("hey"))
    assert sinh.numpy() == pytest.approx(np.sinh([1.0, 2.0]), rel=1e-6)
    assert (shouted.numpy(), kind.numpy()) == (b"hey!", b"ndarray")


def test_the_arrays_belong_to_the_function():
    def spoil(x):
        x[:] = 0
        return x

    x = tf.constant([1, 2])
    assert tf.function(lambda x: tf.numpy_function(spoil, [x], tf.int32))(x).numpy().tolist() == [0, 0]
    assert x.numpy().tolist() == [1, 2]


def test_a_stateless_call_runs_only_if_needed():
    calls = []

    @tf.function
    def f(x):
        tf.numpy_function(lambda x: calls.append("pure") or x, [x], tf.int32, stateful=False)
        tf.numpy_function(lambda x: calls.append("stateful") or x, [x], tf.int32)
        return x

    f(tf.constant(1))
    assert calls == ["stateful"]


@STAGED
@pytest.mark.parametrize("stateful", [False, True])
def test_functions_read_and_write_the_context_variables_of_the_program(staged, stateful):
    step = contextvars.ContextVar("step", default=0)

    def count(x):
        step.set(step.get() + 1)
        return x + step.get()

    def counted(x):
        return tf.numpy_function(count, [x], tf.int64, stateful=stateful)

    step.set(7)
    run = tf.function(counted, jit_compile=False) if staged else counted
    assert [int(run(tf.constant(0, tf.int64))) for _ in range(3)] == [8, 9, 10]
    assert step.get() == 10


@STAGED
def test_as_decorators(staged):
    @tf.py_function(Tout=tf.int32)
    def twice(x):
        return 2 * x

    @tf.numpy_function(Tout=tf.float32)
    def half(x):
        return np.float32(x / 2)

    def f(x):
        return twice(x), half(tf.cast(x, tf.float32))

    assert [float(y) for y in (tf.function(f) if staged else f)(tf.constant(3))] == [6.0, 1.5]


def test_shapes_are_unknown_unless_declared():
    @tf.function
    def f(x):
        a = tf.py_function(lambda x: x, [x], tf.int32)
        b = tf.py_function(lambda x: x, [x], tf.TensorSpec([None], tf.int32))
        return a, b, tf.ensure_shape(a, [2])

    outputs = f.get_concrete_function(tf.constant([1, 2])).structured_outputs
    assert [spec.shape.rank for spec in outputs] == [None, 1, 1]
    wrong = tf.function(lambda x: tf.py_function(lambda x: x, [x], tf.TensorSpec([3], tf.int32)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        wrong(tf.constant([1, 2]))


def raising(error):
    def fail(x):
        raise error

    return fail


@STAGED
@pytest.mark.parametrize(
    "error, kind",
    [
        (ValueError("oh"), tf.errors.InvalidArgumentError),
        (TypeError("oh"), tf.errors.InvalidArgumentError),
        (StopIteration("oh"), tf.errors.OutOfRangeError),
        (MemoryError("oh"), tf.errors.ResourceExhaustedError),
        (NotImplementedError("oh"), tf.errors.UnimplementedError),
        (KeyError("oh"), tf.errors.UnknownError),
    ],
)
def test_exceptions_become_the_runtimes(staged, error, kind):
    def f(x):
        return tf.py_function(raising(error), [x], tf.int32)

    with pytest.raises(
        kind, match=rf"{type(error).__name__}: .*oh(.|\n)*test_py_function.py:\d+, in fail"
    ) as raised:
        (tf.function(f) if staged else f)(tf.constant(1))
    assert raised.value.__cause__ is error


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: tf.py_function(lambda x: tf.cast(x, tf.float32), [x], tf.int32), "int32"),
        (
            lambda x: tf.py_function(lambda x: x, [x], [tf.int32, tf.int32]),
            "returns 1 values, but expects to see 2",
        ),
        (
            lambda x: tf.numpy_function(lambda x: (x, x), [x], tf.int32),
            "returns 2 values, but expects to see 1",
        ),
        (lambda x: tf.numpy_function(lambda x: 3.0, [x], tf.float32), "is float64, but expects float32"),
    ],
)
def test_results_of_another_dtype_than_declared(call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(call)(tf.constant(1))


@STAGED
@pytest.mark.parametrize("make", [tf.py_function, tf.numpy_function])
def test_refused(staged, make):
    with pytest.raises(TypeError, match="Tout"):
        (tf.function if staged else lambda f: f)(lambda: make(lambda x: x, [1]))()
    with pytest.raises(ValueError, match="callable"):
        (tf.function if staged else lambda f: f)(lambda: make(3, [1], tf.int32))()


def test_eager_numpy_function_ignores_the_declared_dtype():
    assert tf.numpy_function(lambda x: x.astype(np.float64), [[1.0]], tf.float32).dtype == tf.float64
    with pytest.raises(KeyError):
        tf.numpy_function(raising(KeyError("oh")), [1], tf.int32)


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_gradients_through_py_function(executor):
    def cube(x, y):
        return x**3 * y, tf.reduce_sum(x)

    @tf.function(experimental_executor=executor)
    def f(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            first, second = tf.py_function(cube, [x, y], [tf.float32, tf.float32])
            loss = tf.reduce_sum(first) + 2 * second
        return tape.gradient(loss, [x, y])

    dx, dy = f(tf.constant([1.0, 2.0]), tf.constant(3.0))
    assert dx.numpy().tolist() == [11.0, 38.0]
    assert dy.numpy() == 9.0
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda x: x * x, [x], tf.float32)
    assert tape.gradient(y, x).numpy() == 4.0
