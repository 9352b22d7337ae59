"""tf.experimental.numpy: NumPy's functions, dtypes, operators and keys on tensors, eagerly and in graphs."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.tensor import Tensor
from agc.runtime.core.variable import Variable
from agc.runtime.executors import COMPLETE
from agc.runtime.experimental.numpy import behavior
from agc.runtime.experimental.numpy.promotion import Rules
from support import answers

tnp = tf.experimental.numpy
X = np.array([[1.0, 2.0, -3.0], [5.0, 0.5, 7.0]], np.float32)
RECORDED = [
    text for text, answer in answers.read() if text.startswith("tnp.") and "(x" in text and answer[0] != "!"
]


@pytest.fixture
def numpy_behavior():
    """Enable NumPy's behavior in one test, and restore the classes and rules afterwards."""
    names = {*behavior.METHODS, *(f"__{name}__" for name in behavior.NAMES), "__getitem__"}
    saved = [
        (kind, name, vars(kind)[name]) for kind in (Tensor, Variable) for name in names if name in vars(kind)
    ]
    yield tnp.experimental_enable_numpy_behavior
    for name in behavior.METHODS:
        delattr(Tensor, name)
    for kind, name, value in saved:
        setattr(kind, name, value)
    Rules.prefer_float32, Rules.mode = False, "legacy"


@pytest.mark.parametrize("executor", COMPLETE)
def test_graphs_compute_what_eager_calls_do(executor):
    names = {"tnp": tnp, "tf": tf, "np": np, "c": tf.constant}
    calls = [compile(f"lambda x: {text}", text, "eval") for text in RECORDED]
    functions = [eval(code, names) for code in calls]
    results = {}

    def is_tensor(text, function):
        results[text] = tf.nest.flatten(function(tf.constant(X)))
        return all(tf.is_tensor(leaf) for leaf in results[text])

    kept = {text: f for text, f in zip(RECORDED, functions, strict=True) if is_tensor(text, f)}
    assert len(kept) > 200
    traced = tf.function(
        lambda x: {text: tf.nest.flatten(f(x)) for text, f in kept.items()},
        autograph=False,
        experimental_executor=executor,
    )
    for text, found in traced(tf.constant(X)).items():
        for leaf, expected in zip(found, results[text], strict=True):
            assert leaf.dtype == expected.dtype, text
            np.testing.assert_allclose(leaf, expected, rtol=1e-5, atol=1e-6, err_msg=text)


@pytest.mark.parametrize(
    "text",
    [
        "tnp.sinc(x)", "tnp.cbrt(x)", "tnp.hypot(x, 2.)", "tnp.logaddexp2(x, x[0])", "tnp.average(x, 1, [1., 2., 3.])",
        "tnp.kron(x, x[0])", "tnp.cross(x, x[0])", "tnp.polyval(x[0], x)", "tnp.std(x)", "tnp.nanmean(x)",
        "tnp.trace(x)", "tnp.diff(x)", "tnp.take_along_axis(x, [[0], [1]], 1)", "tnp.linspace(x[0], x[1], 3)",
        "tnp.heaviside(x, 1.) * x",
        "tnp.geomspace(tnp.abs(x[0]), 9., 3)", "tnp.vander(x[0])",
        "tnp.select([x > 1.5, x > 0], [x * x, 3 * x])",
    ],
)  # fmt: skip
def test_gradients(text):
    function = eval(f"lambda x: {text}", {"tnp": tnp})
    theoretical, numeric = tf.test.compute_gradient(function, [tf.constant(X, tf.float64)])
    np.testing.assert_allclose(theoretical[0], numeric[0], rtol=1e-4, atol=1e-5)


def test_all_names_exist():
    assert all(hasattr(tnp, name) for name in tnp.__all__)
    assert tnp.ndarray is tf.Tensor
    with pytest.raises(AttributeError, match="Did you mean 'arange'"):
        tnp.arrange  # noqa: B018


def test_values_of_functions_that_tensorflow_refuses():
    assert tnp.round([1.234, 5.678], 1).numpy().tolist() == [1.2, 5.7]
    assert [axis.numpy().tolist() for axis in tnp.where([[0, 3], [4, 0]])] == [[0, 1], [1, 0]]
    assert tnp.var([1.0, 3.0], ddof=1).numpy() == 2.0
    assert tnp.linspace([0, 1], [2, 3], 3, axis=1).numpy().tolist() == [[0, 1, 2], [1, 2, 3]]
    with pytest.raises(OverflowError):
        tnp.add(tf.constant(1, tf.int8), 1000)


@pytest.mark.parametrize(
    ("mode", "operands", "dtype"),
    [
        ("all", (tf.float32, tf.int64), "float32"), ("all", (tf.float16, tf.bfloat16), "float32"),
        ("all", (tf.int32, 1.5), "float64"), ("all", (tf.bool, 1.5), "float32"), ("all", (tf.float32, 1j), "complex64"),
        ("safe", (tf.uint8, tf.int8), "int16"), ("safe", (tf.float32, tf.int16), "float32"),
        ("safe", (tf.float32, tf.int32), TypeError), ("safe", (tf.int32, 1.5), TypeError),
        ("safe", (tf.uint16, tf.int8), TypeError), ("safe", (tf.float64, tf.int64), TypeError),
        ("legacy", (tf.float32, tf.int32), "float64"), ("legacy", (tf.uint64, tf.int8), "float64"),
    ],
)  # fmt: skip
def test_modes_of_promotion(numpy_behavior, mode, operands, dtype):
    numpy_behavior(dtype_conversion_mode=mode)
    if dtype is TypeError:
        with pytest.raises(TypeError, match="disallowed"):
            tnp.result_type(*operands)
    else:
        assert tnp.result_type(*operands).name == dtype


def test_float32_can_be_preferred(numpy_behavior):
    numpy_behavior(prefer_float32=True)
    assert tnp.array([1.5]).dtype == tnp.add(1.0, 2).dtype == tf.float32
    assert (tf.ones(2) * np.float64(3)).dtype == tf.float32
    assert tnp.zeros(2).dtype == tf.float64  # as in TensorFlow


@pytest.mark.parametrize("executor", [None, *COMPLETE])
def test_operators_promote(numpy_behavior, executor):
    numpy_behavior()

    def f(x, n):
        return n + 1.5, x + n, 2 * x, n / n, n @ n, x == n, n // 2.0, x > np.array([1.0, 2.5]), -x, 1 - n

    f = f if executor is None else tf.function(f, experimental_executor=executor)
    found = f(tf.constant([1.0, 2.0]), tf.Variable([1, 2]))
    assert [each.dtype.name for each in found] == [
        "float64", "float64", "float32", "float64", "int32", "bool", "float64", "bool", "float32", "int32",
    ]  # fmt: skip
    assert [np.asarray(each).tolist() for each in found] == [
        [2.5, 3.5], [2, 4], [2, 4], [1, 1], 5, [True, True], [0, 1], [False, False], [-1, -2], [0, -1],
    ]  # fmt: skip


KEYS = (
    "[0, 1]", "[-1]", "[[0, 1], [1, 0]]", ":, [2, 0]", "..., [0, 2]", "[0, 1], [1, 2]", "None, [1]", "[True, False]",
    ":, [True, False, True]", "x > 1", "np.array([1, 0])", "1:, [0]", "[0, 1], 1", "..., None, 0", ":, None, [0, 1]",
    "[[0]], [0, 1]", "[0, 1], :, None", "0", "(0, 1), (1, 2)", "(0, 1),", ":, (True, False, True)",
    "0, range(2)", ":, ()",
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_those_of_numpy(numpy_behavior, key):
    numpy_behavior()
    expected = eval(f"x[{key}]", {"x": X, "np": np})
    for function in (
        lambda x: eval(f"x[{key}]", {"x": x, "np": np}),
        tf.function(lambda x: eval(f"x[{key}]", {"x": x, "np": np})),
    ):
        np.testing.assert_array_equal(function(tf.constant(X)), expected)


def test_keys_apart_from_each_other(numpy_behavior):
    numpy_behavior()
    cube = np.arange(24).reshape(2, 3, 4)
    x = tf.constant(cube)
    np.testing.assert_array_equal(x[[0, 1], :, [1, 2]], cube[[0, 1], :, [1, 2]])
    np.testing.assert_array_equal(x[:, [0, 1], [1, 2]], cube[:, [0, 1], [1, 2]])
    np.testing.assert_array_equal(x[0, :, [1, 2]], cube[0][:, [1, 2]])  # TensorFlow selects the integer first
    with pytest.raises(tf.errors.InvalidArgumentError):
        x[[5]]


def test_methods(numpy_behavior):
    numpy_behavior()
    x = tf.constant(X)
    for call in (
        lambda x: x.T, lambda x: x.astype("int32"), lambda x: x.reshape(3, 2), lambda x: x.reshape([-1]),
        lambda x: x.reshape(3, 2, order="F"), lambda x: x.ravel(), lambda x: x.clip(0, 2),
        lambda x: x.transpose((1, 0)),
        lambda x: x.flatten(), lambda x: x.max(axis=0), lambda x: x.min(), lambda x: x.mean(1),
        lambda x: x.size,
    ):  # fmt: skip
        np.testing.assert_array_equal(call(x), call(X))
        np.testing.assert_array_equal(tf.function(call)(x), call(X))
    assert x.tolist() == X.tolist()
    assert x.data is x


def test_variables_keep_the_indexing_of_tensorflow(numpy_behavior):
    numpy_behavior()
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    variable[:, 0].assign([5.0, 6.0])
    assert variable.numpy().tolist() == [[5.0, 2.0], [6.0, 4.0]]
    assert (variable[[0, 1]].shape, tf.constant(variable)[[0, 1]].shape) == ([], [2, 2])


def test_off_keeps_the_operators(numpy_behavior):
    numpy_behavior(dtype_conversion_mode="off")
    assert tf.constant(X).T.shape == (3, 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1) + tf.constant(1.0)
    with pytest.raises(ValueError, match="one of off, legacy, safe, all"):
        numpy_behavior(dtype_conversion_mode="some")


def test_random_numbers_repeat_with_the_seed():
    draws = []
    for _ in range(2):
        tnp.random.seed(3)
        draws.append([
            tnp.random.rand(2, 3), tnp.random.randn(2), tnp.random.randint(3, 9, (50,)), tnp.random.poisson([1.0, 5.0]),
            tnp.random.uniform([0.0, 5.0], 6.0), tnp.random.standard_normal(4), tnp.random.random(),
        ])  # fmt: skip
    for one, other in zip(*draws, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [draw.shape for draw in draws[0]] == [(2, 3), (2,), (50,), (2,), (2,), (4,), ()]
    integers = draws[0][2].numpy()
    assert (integers >= 3).all() and (integers < 9).all()
