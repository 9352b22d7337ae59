"""The array API's namespace itself: how one comes to it, what it tells, which dtypes it promotes, what it refuses."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.interop import array_api as xp

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def of(dtype):
    return xp.ones(2, dtype=getattr(xp, dtype))


def test_tensors_lead_to_their_namespace():
    assert X.__array_namespace__() is xp
    assert X.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match=r"there is version 2024\.12"):
        X.__array_namespace__(api_version="2050.12")


def test_a_library_written_for_the_standard_works_in_a_graph():
    def normalized(x):
        space = x.__array_namespace__()
        return x / space.linalg.vector_norm(x, axis=-1, keepdims=True)

    traced = tf.function(normalized, input_signature=[tf.TensorSpec([None, None])])
    np.testing.assert_allclose(traced(X).numpy(), normalized(X).numpy())
    np.testing.assert_allclose(tf.norm(traced(X), axis=-1).numpy(), [1, 1], rtol=1e-6)


def test_gradients_pass_through():
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = xp.sum(xp.hypot(X, xp.asarray(0.0)) + xp.logaddexp(X, X) + xp.linalg.cholesky(xp.eye(2)))
    np.testing.assert_allclose(tape.gradient(y, X).numpy(), np.full((2, 2), 2.0), rtol=1e-6)


@pytest.mark.parametrize("module", [xp, xp.linalg, xp.fft])
def test_all_names_exist(module):
    assert all(hasattr(module, name) for name in module.__all__)
    assert len({*module.__all__}) == len(module.__all__)


def test_the_namespace_describes_its_capabilities():
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    assert info.devices() == [X.device] == [info.default_device()]
    assert info.default_dtypes() == {
        "real floating": tf.float32,
        "complex floating": tf.complex64,
        "integral": tf.int32,
        "indexing": tf.int64,
    }
    assert [*info.dtypes(kind="real floating")] == ["float32", "float64"]
    assert [*info.dtypes(kind=("bool", "signed integer"))] == ["bool", "int8", "int16", "int32", "int64"]
    assert len(info.dtypes()) == 13
    with pytest.raises(ValueError, match="unsupported kind: 'float'"):
        info.dtypes(kind="float")


def test_defaults():
    created = [xp.asarray(1), xp.asarray(1.0), xp.asarray(1j), xp.asarray([True]), xp.zeros(1), xp.arange(3)]
    names = [each.dtype.name for each in (*created, xp.full(2, 3), xp.full(2, 3.0), xp.linspace(0, 1, 3))]
    assert names == [
        "int32",
        "float32",
        "complex64",
        "bool",
        "float32",
        "int32",
        "int32",
        "float32",
        "float32",
    ]
    sums = [xp.sum(of(name)).dtype.name for name in ("int8", "uint8", "int32", "uint64", "float32")]
    assert sums == ["int32", "uint32", "int32", "uint64", "float32"]
    assert xp.argmax(X).dtype is xp.nonzero(X)[0].dtype is xp.argsort(X).dtype is tf.int64


def test_limits():
    numbers = xp.finfo(xp.complex64)
    assert (numbers.bits, numbers.dtype, numbers.eps) == (32, tf.float32, 2.0**-23)
    assert (xp.iinfo(xp.uint8).max, xp.iinfo(of("int16")).min, xp.iinfo(xp.int64).bits) == (255, -(2**15), 64)


def test_kinds():
    assert xp.isdtype(xp.float32, "real floating")
    assert xp.isdtype(xp.uint8, ("bool", "unsigned integer"))
    assert not xp.isdtype(xp.bool, "numeric")
    assert xp.isdtype(xp.int8, xp.int8)
    with pytest.raises(ValueError, match="Unrecognized data type kind: 'float'"):
        xp.isdtype(xp.int8, "float")


@pytest.mark.parametrize(
    ("given", "promoted"),
    [
        ((xp.int8, xp.int16), xp.int16),
        ((xp.uint8, xp.int8), xp.int16),
        ((xp.uint32, xp.int8), xp.int64),
        ((xp.uint8, xp.uint64), xp.uint64),
        ((xp.float32, xp.float64), xp.float64),
        ((xp.float64, xp.complex64), xp.complex128),
        ((xp.int8, 3), xp.int8),
        ((xp.float32, 3, 2.5), xp.float32),
        ((xp.float64, 1j), xp.complex128),
        ((xp.bool, True), xp.bool),
    ],
)
def test_promotion(given, promoted):
    assert xp.result_type(*given) is promoted


@pytest.mark.parametrize(
    "given",
    [
        (xp.uint64, xp.int8),
        (xp.int32, xp.float32),
        (xp.bool, xp.int8),
        (xp.int8, 1.5),
        (xp.int8, True),
        (xp.bool, 1),
    ],
)
def test_promotion_left_open_by_the_standard_is_refused(given):
    with pytest.raises(TypeError, match="use astype"):
        xp.result_type(*given)


def test_casts():
    assert xp.can_cast(xp.int8, xp.int16)
    assert not xp.can_cast(xp.int16, xp.int8)
    assert not xp.can_cast(of("int8"), xp.float32)
    with pytest.raises(TypeError, match=r"take real\(x\) or imag\(x\)"):
        xp.astype(of("complex64"), xp.float32)


def test_bfloat16_is_a_floating_dtype():
    x = tf.constant([1.0, 2.0], tf.bfloat16)
    assert xp.add(x, 1).dtype is xp.exp(x).dtype is tf.bfloat16
    assert xp.result_type(x, xp.float32) is tf.float32


def test_asarray():
    x = xp.asarray(X)
    assert x is X
    assert xp.asarray(np.array([1, 2])).dtype is tf.int64
    assert xp.asarray(memoryview(b"ab")).numpy().tolist() == [97, 98]
    assert xp.asarray([X, X]).shape == (2, 2, 2)
    with pytest.raises(ValueError, match="asarray copies list"):
        xp.asarray([1], copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        xp.asarray(X, dtype=xp.float64, copy=False)
    with pytest.raises(TypeError, match="string is not a dtype of the array API"):
        xp.asarray(["a"], dtype="string")


def test_exchange_with_numpy():
    array = np.arange(3)
    assert xp.from_dlpack(array).numpy().tolist() == [0, 1, 2]
    copied = xp.from_dlpack(array, copy=True)
    array[0] = 7
    assert copied.numpy().tolist() == [0, 1, 2]


def test_every_nan_counts_as_a_unique_element():
    found = xp.unique_all(xp.asarray([np.nan, 1.0, np.nan, 1.0]))
    assert found.counts.numpy().tolist() == [2, 1, 1]
    assert found.indices.numpy().tolist() == [1, 0, 2]
    assert not xp.isin(xp.asarray([np.nan]), xp.asarray([np.nan])).numpy().any()
    assert xp.unique_values(xp.asarray([3, 1, 3])).numpy().tolist() == [1, 3]


def test_the_order_of_equal_elements_is_kept():
    x = xp.asarray([1, 2, 1, 2])
    assert xp.argsort(x, descending=True).numpy().tolist() == [1, 3, 0, 2]
    assert xp.sort(x, descending=True).numpy().tolist() == [2, 2, 1, 1]


def test_empty_arrays():
    empty = xp.zeros((0, 3))
    assert xp.sum(empty).numpy() == 0
    assert xp.concat([empty, empty]).shape == (0, 3)
    assert [each.shape for each in xp.unique_all(empty)] == [(0,), (0,), (0, 3), (0,)]
    assert xp.linalg.diagonal(xp.zeros((2, 0, 3))).shape == (2, 0)
    assert xp.linalg.diagonal(xp.ones((2, 2, 3)), offset=3).shape == (2, 0)
    assert xp.fft.fft(xp.zeros((0, 4))).shape == (0, 4)
    assert xp.cumulative_sum(xp.zeros(0), include_initial=True).numpy().tolist() == [0]
    assert xp.matmul(xp.zeros((2, 0)), xp.zeros((0, 3))).numpy().tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: xp.add(of("int8"), of("float32")), TypeError, "int8 and float32 are not promoted"),
        (lambda: xp.add(of("uint8"), 300), TypeError, "Cannot convert 300"),
        (lambda: xp.add(1, 2), TypeError, "add needs at least one array"),
        (lambda: xp.sin(of("int32")), TypeError, "sin takes arrays of floating-point dtypes, not int32: use astype"),
        (lambda: xp.logical_not(X), TypeError, "logical_not takes arrays of bool dtypes, not float32"),
        (lambda: xp.sum(of("bool")), TypeError, "sum takes arrays of numeric dtypes, not bool"),
        (lambda: xp.expand_dims(X, axis=4), IndexError, "axis 4 is out of bounds for an array of 3 dimensions"),
        (lambda: xp.squeeze(X, axis=0), ValueError, "axis 0 is of size 2, not 1"),
        (lambda: xp.sum(X, axis=2), IndexError, "sum: axis 2 is out of bounds"),
        (lambda: xp.take(X, xp.asarray([0])), ValueError, "take needs an axis"),
        (lambda: xp.cumulative_sum(X), ValueError, "cumulative_sum needs an axis"),
        (lambda: xp.nonzero(xp.asarray(1)), ValueError, "one dimension or more"),
        (lambda: xp.vecdot(xp.ones(3), xp.ones(2)), ValueError, "vecdot: axis -1 has the sizes 3 and 2"),
        (lambda: xp.linalg.cross(X, X), ValueError, "vectors of 3 elements, not 2"),
        (lambda: xp.linalg.matrix_norm(X, ord=3), ValueError, "matrix_norm: ord is"),
        (lambda: xp.linalg.qr(X, mode="r"), ValueError, "qr: mode is"),
        (lambda: xp.fft.fft(X, norm="unitary"), ValueError, "fft: norm is"),
        (lambda: xp.fft.rfft(of("complex64")), TypeError, "rfft takes arrays of real floating dtypes"),
        (lambda: xp.meshgrid(X[0], indexing="yx"), ValueError, "indexing is 'xy' or 'ij'"),
        (lambda: xp.zeros(2, device="GPU:0"), ValueError, "there is no device 'GPU:0'"),
        (lambda: xp.moveaxis(X, (0, 0), (0, 1)), ValueError, "without duplicates"),
        (lambda: xp.finfo(xp.int8), TypeError, "finfo takes arrays of floating-point dtypes, not int8"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_function_that_needs_the_rank_names_ensure_shape():
    with pytest.raises(ValueError, match=r"flip needs an array of known rank: set it with tf\.ensure_shape"):
        tf.function(xp.flip, input_signature=[tf.TensorSpec(None)])(X)


def test_operators_stay_tensorflows():
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a int8 tensor but is a int16"):
        of("int8") + of("int16")
    for name in ("T", "mT", "size", "to_device"):
        with pytest.raises(AttributeError, match=": write "):
            getattr(X, name)
