"""NumPy's functions on traced tensors do what they do to arrays: same values, dtypes and shapes, in all executors."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import COMPLETE
from agc.runtime.interop.numpy_dispatch.functions import FUNCTIONS
from agc.runtime.interop.numpy_dispatch.ufuncs import UFUNCS
from support.each_case import each_case

MATRIX = np.array([[1.5, -2.0, 0.25], [3.0, 0.5, -1.0]], np.float32)
SQUARE = np.array([[4.0, 1.0], [1.0, 3.0]])
COUNTS = np.array([[3, 1, 2], [0, 5, 4]], np.int32)
VECTOR = np.array([0.5, -0.25, 0.75])
SMALL = np.array([1, 2, 3], np.int8)
FLAGS = np.array([True, False, True])
COMPLEX = np.array([1 + 2j, -1j], np.complex64)

CALLS = {
    "sum": lambda x: (np.sum(x), np.sum(x, axis=0), np.sum(x, 1, keepdims=True)),
    "prod": lambda x: np.prod(x, axis=-1),
    "extremes": lambda x: (np.max(x), np.min(x, axis=1), np.amax(x, 0), np.amin(x)),
    "mean and spread": lambda x: (np.mean(x), np.mean(x, axis=0), np.var(x), np.std(x, axis=1, keepdims=True)),
    "truth": lambda x: (np.all(x > 0), np.any(x > 2, axis=0), np.count_nonzero(x), np.all(x)),
    "places": lambda x: (np.argmax(x), np.argmin(x, axis=1)),
    "running": lambda x: (np.cumsum(x), np.cumsum(x, axis=1), np.cumprod(x, 0)),
    "reduce": lambda x: (np.add.reduce(x), np.maximum.reduce(x, axis=1), np.logical_or.reduce(x)),
    "concatenate": lambda x: (np.concatenate([x, x]), np.concatenate((x, x), axis=1), np.concatenate([x, x], None)),
    "stack": lambda x: (np.stack([x, x], axis=1), np.vstack([x, x]), np.hstack([x, x])),
    "columns": lambda x: np.column_stack([x[0], x[1]]),
    "reshape": lambda x: (np.reshape(x, (3, 2)), np.reshape(x, 6), np.ravel(x)),
    "turn": lambda x: (np.transpose(x), np.swapaxes(x, 0, 1), np.moveaxis(x[None], 0, -1), np.transpose(x, (1, 0))),
    "axes": lambda x: (np.squeeze(np.expand_dims(x, 0)), np.expand_dims(x, (0, 3)), np.broadcast_to(x, (2, 2, 3))),
    "axes at the end": lambda x: np.expand_dims(x, (-1, -2)),
    "choose": lambda x: (np.where(x > 1, x, 0), np.where(x > 1, x, -x)),
    "coordinates": lambda x: np.where(x > 1),
    "clip": lambda x: (np.clip(x, 0, 2), np.clip(x, None, 1), np.clip(x, 1, None)),
    "flip": lambda x: (np.flip(x), np.flip(x, 0), np.roll(x, 1), np.roll(x, 1, axis=0)),
    "repeat": lambda x: (np.repeat(x, 2), np.repeat(x, 2, axis=0), np.tile(x, 2), np.tile(x, (2, 1, 1))),
    "pad": lambda x: (np.pad(x, 1), np.pad(x, ((0, 1), (1, 0)), constant_values=7), np.pad(x, 1, "reflect")),
    "split": lambda x: (*np.split(x, 3, axis=1), *np.split(x, [1, 2], axis=1)),
    "take": lambda x: (np.take(x, [0, 5]), np.take(x, [1, 0], axis=1)),
    "order": lambda x: (np.sort(x), np.sort(x, axis=None), np.argsort(x, axis=0)),
    "like": lambda x: (np.zeros_like(x), np.ones_like(x, dtype=np.int64), np.full_like(x, 3), np.copy(x)),
    "facts": lambda x: (np.zeros(np.shape(x)), np.ones(np.ndim(x)), np.ones(np.size(x)), np.ones(np.size(x, 0))),
    "round": lambda x: np.round(x),
    "triangles": lambda x: (np.tril(x), np.triu(x), np.trace(x), np.diag(x), np.diag(x[0])),
    "products": lambda x: (np.dot(x, np.transpose(x)), np.inner(x, x), np.outer(x, x), np.dot(x[0], x[1])),
    "scaled": lambda x: (np.dot(x, 2), np.concatenate([x, [[1, 2, 3]]])),
    "tests": lambda x: (np.isclose(x, x[0]), np.allclose(x, x), np.array_equal(x, x[0]), np.isreal(x), np.iscomplex(x)),
    "kinds": lambda x: (np.zeros(int(np.iscomplexobj(x))), np.ones(int(np.isrealobj(x))), np.isposinf(x)),
    "infinities": lambda x: (np.isneginf(x), np.isposinf(-x)),
    "raise ranks": lambda x: (np.atleast_1d(x), np.atleast_2d(x[0]), np.atleast_3d(x[0]), *np.atleast_2d(x[0], x)),
    "join": lambda x: (np.append(x, x), np.append(x, x, axis=0), np.dstack([x, x]), *np.broadcast_arrays(x, x[0])),
    "split more": lambda x: (*np.hsplit(x, 3), *np.vsplit(x, 2), *np.dsplit(x[None], [1, 2])),
    "turn more": lambda x: (np.flipud(x), np.fliplr(x), *(np.rot90(x, k) for k in range(4)), np.rot90(x, 1, (1, 0))),
    "pick": lambda x: (np.compress([True, False, True], x, 1), np.compress([False, True], x)),
    "coordinates of elements": lambda x: np.nonzero(x),
    "mesh": lambda x: np.ix_(x[:, 0] > 0, np.argmax(x, axis=1)),
    "select": lambda x: np.select([x > 2, x > 0], [x, -x], 5),
    "weighted": lambda x: (np.average(x), np.average(x, 0), np.average(x, 1, x[0] > 0)),
    "weights": lambda x: np.average(x, 0, returned=True),
    "without NaN": lambda x: (np.nansum(x, 0), np.nanprod(x), np.nanmean(x, 1), np.nansum(np.where(x > 1, x, np.nan))),
    "differences": lambda x: (np.ptp(x), np.ptp(x, 0), np.diff(x), np.diff(x, 2, 1), np.diff(x > 0), np.var(x, ddof=1)),
    "polynomials": lambda x: (np.polyval(x[0], x), np.std(x, 0, ddof=1)),
    "curves": lambda x: (np.sinc(x), np.fix(x), np.angle(x, deg=True), np.divmod(x, 2), np.reshape(x, (3, 2), "F")),
    "diagonals": lambda x: (np.diagonal(x, 1), np.diagonal(x[None], 0, 1, 2), np.diagflat(x), np.trace(x, 1)),
    "vectors": lambda x: (np.cross(x, x[0]), np.kron(x, x[0]), np.vdot(x, x)),
    "contractions": lambda x: (np.tensordot(x, x, [[0], [0]]), np.einsum("ij,kj->ik", x, x)),
}  # fmt: skip

CALLS_ON_MATRICES = {
    "inverse": lambda x: (np.linalg.inv(x), np.linalg.det(x), np.linalg.cholesky(x)),
    "eigenvalues": lambda x: np.linalg.eigvalsh(x),
    "solve": lambda x: (np.linalg.solve(x, x), np.linalg.solve(x, x[0])),
    "norm": lambda x: (np.linalg.norm(x), np.linalg.norm(x, axis=0), np.linalg.norm(x, ord=1)),
    "matmul": lambda x: (np.matmul(x, x), np.ones((2, 2)) @ x, x @ np.ones((2, 2))),
    "vectors": lambda x: (np.matmul(x, x[0]), np.matmul(x[0], x), np.matmul(x[0], x[1])),
}


def agree(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            agree(one, other)
        return
    found = found.numpy() if hasattr(found, "numpy") else found
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-6)


def check(call, *arrays):
    expected = call(*arrays)
    for executor in COMPLETE:
        traced = tf.function(lambda *xs: call(*xs), autograph=False, experimental_executor=executor)
        agree(traced(*map(tf.constant, arrays)), expected)
    agree(call(*map(tf.constant, arrays)), expected)  # eager tensors are arrays to NumPy


@each_case("name", CALLS)
@each_case("array", [MATRIX, COUNTS], ids=["float32", "int32"])
def test_functions_on_traced_tensors_agree_with_numpy(name, array):
    check(CALLS[name], array)


@pytest.mark.parametrize("name", CALLS_ON_MATRICES)
def test_linear_algebra(name):
    check(CALLS_ON_MATRICES[name], SQUARE)


def test_a_rank_is_raised_only_if_it_is_known():
    signature = [tf.TensorSpec(None)]
    for raised in (np.atleast_2d, lambda x: np.tile(x, (2, 1))):
        with pytest.raises(ValueError, match="known rank"):
            tf.function(raised, input_signature=signature, autograph=False).get_concrete_function()


def operands(ufunc):
    """Arrays that the function takes."""
    kinds = {kind for loop in ufunc.types for kind in loop.split("->")[0]}
    some = [VECTOR, np.abs(VECTOR).astype(np.float32), SMALL, FLAGS]
    fit = [array for array in some if array.dtype.char in kinds or (array.dtype != bool and "d" in kinds)]
    if ufunc in (np.arccosh,):
        fit = [array + 1.5 for array in fit if array.dtype.kind == "f"]
    return fit


@each_case("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_universal_functions_compute_with_numpys_dtypes(ufunc):
    arrays = [np.ones((3, 3)) * VECTOR] if ufunc is np.matmul else operands(ufunc)
    assert arrays
    for array in arrays:
        if ufunc in (np.negative, np.subtract, np.positive, np.sign) and array.dtype == bool:
            continue  # NumPy refuses
        with np.errstate(all="ignore"):
            check(ufunc, *[array] * ufunc.nin)


def test_an_array_next_to_a_tensor_takes_its_dtype():
    @tf.function
    def f(x):
        return (
            np.ones(3) + x,
            x * np.ones(3),
            np.float64(2) * x,
            np.arange(3) - x,
            np.add(x, 1),
            np.add([1, 2, 3], x),
        )

    assert {result.dtype for result in f(tf.constant([1.0, 2.0, 3.0]))} == {tf.float32}


def test_two_tensors_are_promoted_as_arrays_are():
    check(np.add, MATRIX, COUNTS)
    check(np.true_divide, COUNTS, COUNTS + np.int32(1))
    check(lambda x, y: np.concatenate([x, y]), MATRIX, COUNTS)
    check(np.power, COUNTS, COUNTS)


def test_complex_numbers():
    check(lambda z: (np.real(z), np.imag(z), np.angle(z), np.conjugate(z), np.abs(z), np.exp(z)), COMPLEX)
    check(lambda z: (np.log2(z), np.log10(z), np.rint(z)), COMPLEX)
    odd = np.array([1 + 2j, complex(np.inf, 0), complex(0, np.nan)])
    check(lambda z: (np.isnan(z), np.isinf(z), np.isfinite(z)), odd)
    check(lambda x: (np.real(x), np.imag(x)), MATRIX)


def test_unsigned_integers():
    check(lambda x: (np.negative(x), np.abs(x), np.sign(x), np.power(x, x)), SMALL.astype(np.uint8))


def test_the_quotient_of_a_number_and_an_infinity_is_rounded_down():
    check(np.floor_divide, np.array([1.0, -1.0, 1.0]), np.array([-np.inf, np.inf, np.inf]))


def test_functions_written_for_arrays_can_be_traced():
    def standardized(x):
        return (x - np.mean(x, axis=0)) / np.std(x, axis=0)

    check(standardized, MATRIX)


def test_control_flow_around_numpys_functions():
    @tf.function
    def halved(x):
        while np.max(np.abs(x)) > 1:
            x = x / 2
        return x

    assert halved(tf.constant([3.0, -5.0])).numpy().tolist() == [0.375, -0.625]


def test_dtype_arguments_are_respected():
    check(
        lambda x: (np.sum(x, dtype=np.float64), np.mean(x, dtype=np.float64), np.add(x, x, dtype=np.float64)),
        MATRIX,
    )


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (np.linalg.matrix_rank, r"np\.linalg\.matrix_rank"),
        (np.median, r"np\.median"),
        (np.spacing, r"np\.spacing"),
        (np.add.accumulate, r"np\.add\.accumulate"),
        (lambda x: np.add(x, x, out=np.zeros(3)), r"np\.add with `out`"),
    ],
    ids=["function in a module", "function", "universal function", "method", "option"],
)
def test_an_unsupported_function_is_refused_with_an_alternative(call, what):
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=rf"{what} cannot.*tf\.numpy_function"):
        tf.function(lambda x: call(x), autograph=False)(tf.constant([1.0, 2.0, 3.0]))


def test_an_option_that_is_not_taken_is_named():
    with pytest.raises(TypeError, match=r"np\.sum on a traced tensor: .*'where'"):
        tf.function(lambda x: np.sum(x, where=[True]), autograph=False)(tf.constant([1.0]))


def test_every_function_of_the_table_has_a_case():
    called = {
        "sum", "prod", "max", "min", "amax", "amin", "mean", "var", "std", "all", "any", "argmax", "argmin", "cumsum",
        "cumprod", "count_nonzero", "concatenate", "stack", "vstack", "hstack", "column_stack", "reshape", "ravel",
        "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "broadcast_to", "where", "clip", "dot", "inner",
        "outer", "tensordot", "einsum", "trace", "diag", "tril", "triu", "flip", "roll", "repeat", "tile", "pad",
        "split", "take", "sort", "argsort", "searchsorted", "zeros_like", "empty_like", "ones_like", "full_like",
        "shape", "ndim", "size", "copy", "round", "around", "real", "imag", "angle", "norm", "inv", "det", "cholesky",
        "eigh", "eigvalsh", "solve", "isclose", "allclose", "array_equal", "isreal", "iscomplex",
        "iscomplexobj", "isrealobj", "isposinf", "isneginf", "atleast_1d", "atleast_2d", "atleast_3d", "append",
        "dstack", "broadcast_arrays", "hsplit", "vsplit", "dsplit", "flipud", "fliplr", "rot90", "compress",
        "take_along_axis", "nonzero", "ix_", "select", "average", "nansum", "nanprod", "nanmean", "ptp", "diff",
        "polyval", "sinc", "fix", "diagonal", "diagflat", "cross", "kron", "vdot",
    }  # fmt: skip
    assert {function.__name__ for function in FUNCTIONS} <= called


def test_searching():
    check(lambda x, v: (np.searchsorted(x, v), np.searchsorted(x, v, side="right")), np.sort(VECTOR), VECTOR)


def test_elements_along_an_axis():
    traced = tf.function(lambda x: np.take_along_axis(x, np.argsort(x, 1), 1), autograph=False)
    np.testing.assert_array_equal(traced(tf.constant(MATRIX)), np.sort(MATRIX, 1))


def test_unknown_shapes():
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def f(x):
        return np.size(x), np.sum(x), np.ravel(x), np.transpose(x), np.roll(x, 1), np.full_like(x, 2)

    expected = (
        np.int64(6),
        np.sum(MATRIX),
        MATRIX.ravel(),
        MATRIX.T,
        np.roll(MATRIX, 1),
        np.full_like(MATRIX, 2),
    )
    agree(f(MATRIX), expected)
    with pytest.raises(ValueError, match=r"np\.shape needs a tensor of known shape"):
        tf.function(lambda x: np.shape(x), input_signature=[tf.TensorSpec([None])])(tf.constant([1.0]))


def test_pairs_whose_squares_or_differences_are_not_finite():
    x = np.array([1e30, -np.inf, np.inf, 3.0], np.float32)
    traced = tf.function(lambda x: (np.hypot(x, x[::-1]), np.logaddexp(x, x)))
    for found, expected in zip(
        traced(tf.constant(x)), (np.hypot(x, x[::-1]), np.logaddexp(x, x)), strict=True
    ):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
