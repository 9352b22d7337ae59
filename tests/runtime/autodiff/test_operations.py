"""Each operation's gradient, to second order, is what differences say.

The inputs are those of the examples in the manuals (numbers as float64, moved a little away from where functions
have corners) and those of the table below. A function of one number is made of an operation: the sum of its
results, with weights, along a line through the inputs. Its derivatives by the tape are compared with Richardson's
extrapolation of central differences.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.framework.op import REGISTRY, Op
from support.each_case import each_case
from support.operation_examples import NAMES, REFUSALS, Call, calls


def shown(name: str) -> list[Call]:
    """The examples of an operation, but for those of layers, which are large."""
    return [call for call in calls(name) if ".keras" not in call.module]


SMOOTH = {
    "acosh": [[1.5, 2.5]], "atanh": [[0.3, -0.4]], "asin": [[0.3, -0.4]], "acos": [[0.3, -0.4]],
    "log": [[0.5, 2.0]], "rsqrt": [[0.5, 2.0]], "reciprocal": [[0.5, -2.0]], "sqrt": [[0.5, 2.0]],
    "log1p": [[0.5, 2.0]], "lgamma": [[0.5, 2.5]],
    "relu": [[-1.0, 2.0]], "abs": [[-1.0, 2.0]], "elu": [[-1.0, 2.0]],
    "erfinv": [[0.5, -0.3]], "erfcinv": [[0.5, 1.3]], "ndtri": [[0.5, 0.3]], "expint": [[0.5, 1.3]],
    "spence": [[0.5, 1.3]],
    "reduce_logsumexp": [[0.5, 2.0]], "cumprod": [[0.5, 2.0, -1.5]],
    "cholesky": [[[4.0, 1.0], [1.0, 3.0]]], "eigh": [[[4.0, 1.0], [1.0, 3.0]]],
}  # fmt: skip
"""First inputs in place of the examples', where these lie at the edge of what a function is defined on."""

SQUARE = np.array([[2.0, 0.5, -0.3], [0.7, 1.5, 0.2], [0.1, -0.6, 1.2]])
BATCH = np.array([[[2.0, 0.5], [0.7, 1.5]], [[1.0, -0.5], [0.4, 2.5]]])
SYMMETRIC = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])

ONLY_THE_LAST = {"betainc", "polygamma", "zeta"}
"""Operations with derivatives by their last argument alone, as in TensorFlow."""

ARBITRARY_PHASES = {"eigh", "svd"}
"""Operations whose complex vectors may be turned in the complex plane: they are squared."""

SYMMETRIC_INPUTS = {"cholesky", "eigh"}
"""Operations that read one triangle of a matrix, which stands for both."""

CASES: dict[str, list[tuple[list[Any], dict[str, Any]]]] = {
    **{
        name: [([[[1.5], [-2.5]], [[0.7, 1.3, -0.4]]], {}), ([1.25, [0.7, 2.3]], {})]
        for name in ("add", "subtract", "multiply", "realdiv", "squared_difference", "maximum", "minimum", "atan2",
                     "divide_no_nan", "multiply_no_nan", "xdivy", "floormod", "truncatemod")
    },
    "pow": [([[[1.5], [2.5]], [[0.7, 1.3, -0.4]]], {})],
    "cumprod": [
        ([[[1.5, 2.0], [0.0, -3.0], [0.7, 0.0], [0.0, 1.2]]], {"axis": 0, "exclusive": exclusive, "reverse": reverse})
        for exclusive in (False, True) for reverse in (False, True)
    ],
    "product_of_others": [([[[1.5, 2.0, 0.0], [0.0, -3.0, 0.0]]], {"axis": axis}) for axis in ([0], [1], [1, 0])],
    "recurrence": [([[1.5, 0.0, 2.0], [0.7, 0.5, -2.0]], {"axis": 0, "reverse": True})],
    "xlogy": [([[[1.5], [-2.5]], [[0.7, 1.3, 0.4]]], {})],
    "matmul": [
        ([np.arange(6.0).reshape(2, 3) / 3, np.arange(12.0).reshape(3, 4) / 5], {}),
        ([np.arange(6.0).reshape(3, 2) / 3, np.arange(12.0).reshape(4, 3) / 5],
         {"transpose_a": True, "transpose_b": True}),
        ([np.arange(12.0).reshape(2, 3, 2) / 3, np.arange(12.0).reshape(3, 4) / 5], {"adjoint_a": True}),
    ],
    "matvec": [([np.arange(6.0).reshape(2, 3) / 3, [0.5, 1.5]], {"transpose_a": True})],
    "einsum": [
        ([[np.arange(6.0).reshape(2, 3) / 3, np.arange(3.0)]], {"equation": "ij,j->i"}),
        ([[np.arange(4.0).reshape(2, 2) / 3, np.arange(3.0)]], {"equation": "ii,k->i"}),
        ([[np.arange(12.0).reshape(2, 2, 3) / 3, np.arange(6.0).reshape(3, 2)]], {"equation": "...ij,jk->...ik"}),
        ([[np.arange(4.0).reshape(2, 2) / 3]], {"equation": "ii"}),
    ],
    "tensordot": [
        ([np.arange(6.0).reshape(2, 3) / 3, np.arange(6.0).reshape(3, 2)], {"axes_a": [1], "axes_b": [0]}),
        ([np.arange(12.0).reshape(2, 3, 2) / 3, np.arange(12.0).reshape(3, 2, 2)],
         {"axes_a": [2, 1], "axes_b": [1, 0]}),
    ],
    "reduce_prod": [([[[1.5, 2.0, 0.0], [0.0, 3.0, 0.0]]], {"axis": [0, 1]}),
                    ([[[1.5, 2.0, -1.0], [0.5, 3.0, 1.0]]], {"axis": [0]}),
                    ([[[1.5, 2.0], [0.5, 3.0]]], {"axis": [1], "keepdims": True})],
    "reduce_mean": [([[[1.5, 2.0, -1.0], [0.5, 3.0, 1.0]]], {"axis": [-1]})],
    "reduce_variance": [([[[1.5, 2.0, -1.0], [0.5, 3.0, 1.0]]], {"axis": [-1]})],
    "reduce_std": [([[[1.5, 2.0, -1.0], [0.5, 3.0, 1.0]]], {"axis": [0], "keepdims": True})],
    "reduce_logsumexp": [([[[1.5, 2.0, -1.0], [0.5, 3.0, 1.0]]], {"axis": [0]})],
    "gather": [([[[1.0, 2.0], [3.0, 4.0]], [[0, 1], [1, 1]]], {"axis": 1, "batch_dims": 1}),
               ([[[1.0, 2.0], [3.0, 4.0]], [1, 1, 0]], {})],
    "bias_add": [([np.arange(12.0).reshape(2, 3, 2), [1.0, 2.0, 3.0]], {"data_format": "NCHW"})],
    "getitem": [([[[1.0, 2.0], [3.0, 4.0]], [1]], {"key": "_, ::-1"})],
    "setitem": [([[[1.0, 2.0], [3.0, 4.0]], 5.0, []], {"key": "0"})],
    "pad": [([[[1.0, 2.0], [3.0, 4.0]], [[1, 0], [0, 1]], 0.5], {"mode": "REFLECT"})],
    "all_reduce": [([[[1.0, 2.0], 3.0]], {}), ([[[[1.0, 2.0]], [3.0]]], {"reduction": "mean"})],
    "concat": [([[[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]]], {"axis": 0})],
    "inv": [([SQUARE], {}), ([BATCH], {"adjoint": True})],
    "det": [([SQUARE], {}), ([BATCH], {})],
    "slogdet": [([SQUARE], {}), ([BATCH], {})],
    "solve": [([SQUARE, [[1.0, 2.0], [0.5, 1.0], [2.0, -1.0]]], {}), ([BATCH, BATCH], {"adjoint": True})],
    "triangular_solve": [([SQUARE, [[1.0], [0.5], [2.0]]], {}),
                         ([SQUARE, [[1.0], [0.5], [2.0]]], {"lower": False, "adjoint": True}),
                         ([BATCH, [[1.0], [0.5]]], {}), ([BATCH[0], [[[1.0], [0.5]]] * 2], {"adjoint": True})],
    "banded_triangular_solve": [
        ([[[1.5, 2.0, 1.0], [9.0, 0.5, -1.0]], [[1.0], [0.5], [2.0]]], {}),
        ([[[1.5, 2.0, 1.0], [9.0, 0.5, -1.0], [9.0, 9.0, 0.7]], [[[1.0], [0.5], [2.0]]] * 2],
         {"lower": True, "adjoint": True}),
        ([[[0.5, 2.0, 1.0], [2.0, 0.5, -1.0]], [[1.0], [0.5], [2.0]]], {"lower": False, "adjoint": True}),
    ],
    "cholesky": [([SYMMETRIC], {})],
    "eigh": [([SYMMETRIC], {})],
    "qr": [([SQUARE], {}), ([SQUARE[:, :2]], {}), ([SQUARE[:2]], {})],
    "svd": [([SQUARE], {}), ([SQUARE[:, :2]], {}), ([SQUARE[:2]], {}), ([BATCH], {"compute_uv": False}),
            ([SQUARE[:, :2]], {"full_matrices": True}), ([SQUARE[:2]], {"full_matrices": True})],
    "betainc": [([1.5, [0.7, 2.0], [0.3, 0.6]], {})], "polygamma": [([[2.0, 1.0], [0.7, 2.5]], {})],
    "zeta": [([[2.5, 3.0], [0.7, 2.5]], {})],
    "sparse_softmax_cross_entropy": [([[2, 0], [[0.5, 1.0, -0.3], [0.2, 0.1, 2.0]]], {})],
    "cumulative_logsumexp": [([[[0.5, 2.0, -1.0]]], {"axis": 1})],
    "linspace": [([[0.5, 1.0], 2.0, 4], {"axis": 1})],
}  # fmt: skip
"""More inputs, with attributes."""

UNDIFFERENTIATED = {"dilation2d_backprop_filter", "dilation2d_backprop_input", "random_shuffle"}
"""Operations that say so when a gradient reaches them, with LookupError."""

NOT_BY_THEMSELVES = {
    "eig": "the phases of eigenvectors are arbitrary: see ops/test_decomposition_gradients.py",
    "max_pool_grad": "one of its inputs has to be the maximum of another",
    "gamma_variates": "numbers that are drawn have derivatives by another rule: see its gradient",
    "dynamic_stitch": "its indices and data are one list: see test_expressions.py",
    "py_function": "its function is no tensor",
    "lrn": "it takes float32 and smaller: see test_expressions.py",
    "ctc_loss_and_gradient": "one of its results is the gradient of the other",
    "igamma_slope": "only its second argument has derivatives",
    "softmax_cross_entropy": "the labels of one row have to sum to one",
    "max_pool_grad_grad": "one of its inputs has to be the maximum of another",
    "fake_quantize": "its gradient passes straight through the rounding: see nn/test_fake_quantization.py",
    "fake_quantize_gradient": "it takes float32 only: see nn/test_fake_quantization.py",
}
"""Operations whose inputs cannot be moved one without the other, or not as float64."""

NO_TENSORS = ("array_", "list_", "read_variable")
"""Prefixes of operations on lists and variables, which test_control_flow.py and test_indexed_slices.py have."""

FIRST_ORDER = {
    "dilation2d": "TensorFlow has no second derivative, either",
    "igamma": "there is no second derivative by the first argument, as in TensorFlow", "igammac": "the same",
}  # fmt: skip
"""Operations whose first derivatives are all that there is."""


def declared(op: Op) -> bool:
    return op.differentiate is not None or op.has_no_gradient is not None


@each_case("name", NAMES)
def test_every_float_operation_declares_its_gradient(name: str) -> None:
    op = REGISTRY[name]
    if declared(op) or name in UNDIFFERENTIATED or not _takes_and_gives_fractions(name):
        return
    pytest.fail(
        f"{name} takes and gives fractions, and nothing says how gradients pass through it. Write `@{name}.gradient` "
        f"below its kernel (see Op.gradient in runtime/ops/framework/op.py), or `{name}.no_gradient(reason)` where "
        "there is none mathematically"
    )


def _takes_and_gives_fractions(name: str) -> bool:
    for call in shown(name):
        for turned in (_as_fractions(call), call):
            if turned is None or not any(np.asarray(a).dtype.kind in "fc" for a in turned.arrays):
                continue
            if any(
                np.asarray(r).dtype.kind in "fc"
                for r in turned.outcome(*turned.arrays)
                if not isinstance(r, type)
            ):
                return True
    return False


def _as_fractions(call: Call) -> Call | None:
    """The call with float64 in place of what may be any number; None when the operation does not take that."""
    op = call.op
    kinds = dict(op.operand_parameters)
    places = [place for place, _ in op.operand_parameters]
    groups = op.grouped(list(call.arrays))
    turned: list[Any] = []
    for place, argument in zip(places, groups, strict=True):
        many = isinstance(argument, list)
        items = argument if many else [argument]
        turned.extend(_fractions(a) if kinds[place] in ("Input", "Same", "Inputs") else a for a in items)
    for arrays in (turned, _first_only(turned, call.arrays)):
        new = Call(op, arrays, call.attrs)
        try:
            new.specs([EagerOperand(a) for a in arrays])
        except REFUSALS:
            continue  # the operation takes no such fractions
        if isinstance(new.outcome(*arrays), tuple):
            return new
    return None


def _first_only(turned: list[Any], arrays: list[Any]) -> list[Any]:
    return [turned[0], *arrays[1:]] if arrays else []


def EagerOperand(array: Any) -> Any:
    from agc.runtime.ir.graph import Constant

    return Constant(np.asarray(array))


def _fractions(array: Any) -> Any:
    array = np.asarray(array)
    if array.dtype.kind not in "iuf" or array.dtype == bool:
        return array
    array = np.nan_to_num(array.astype(np.float64), nan=0.5, posinf=2.0, neginf=-2.0)
    array = np.where(np.abs(array) > 1e3, 3.0, array)  # differences of large numbers say little
    steps = np.linspace(0.07, 0.31, array.size).reshape(array.shape)
    return array.astype(np.float64) + steps


@functools.cache
def cases(op: Op) -> list[tuple[list[Any], dict[str, Any]]]:
    """Inputs and attributes to differentiate the operation at; of those that differ in fractions only, the last."""
    found = {}
    for arrays, attrs in every_case(op):
        kinds = [
            (a.shape, a.dtype, None if a.dtype.kind in "fc" else a.tolist()) for a in map(np.asarray, arrays)
        ]
        found[repr((kinds, sorted(attrs.items())))] = arrays, attrs
    return list(found.values())


def every_case(op: Op) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for call in shown(op.name):
        turned = _as_fractions(call)
        if turned is not None:
            arrays = list(turned.arrays)
            if op.name in SMOOTH:
                arrays[0] = np.array(SMOOTH[op.name][0])
            yield arrays, dict(call.attrs)
    for inputs, attrs in CASES.get(op.name, ()):
        yield _bound(op, inputs, attrs)


def _bound(op: Op, inputs: list[Any], attrs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    flat: list[Any] = []
    for (_, kind), value in zip(op.operand_parameters, inputs, strict=True):
        values = value if kind in ("Inputs", "Tensors") else [value]
        for item in values:
            flat.append(
                np.asarray(
                    item,
                    np.int32
                    if kind == "Ints" or (kind == "Inputs" and op.name in ("getitem", "setitem"))
                    else None,
                )
            )
    given = {name: reader(attrs[name]) for _, name, reader in op.attribute_parameters if name in attrs}
    return flat, op.attribute_defaults | given


def weighted(op: Op, attrs: dict[str, Any], arrays: list[Any], direction: list[Any]) -> Callable[[Any], Any]:
    """A function of one number: what the operation gives along a line through the inputs."""

    kinds = {tf.as_dtype(d.dtype) for d in direction if d is not None}
    starts = [tf.constant(a) for a in arrays]
    ways = [None if d is None else tf.constant(d) for d in direction]

    def along(t: Any) -> Any:
        moved = [
            start if way is None else start + way * tf.cast(t, way.dtype)
            for start, way in zip(starts, ways, strict=True)
        ]
        results = op.run(moved, attrs)
        total = tf.constant(0.0, tf.float64)
        for result in results if isinstance(results, list) else [results]:
            parts = fractional_parts(result, op.name in ARBITRARY_PHASES) if counts(result, kinds) else []
            for place, part in enumerate(parts):
                total += tf.reduce_sum(part * weights(tuple(part.shape), place))
        return total

    return along


@functools.cache
def weights(shape: tuple[int, ...], place: int) -> Any:
    return tf.constant(np.cos(np.arange(np.prod(shape, dtype=int)) + 1.0 + place).reshape(shape))


def counts(result: Any, kinds: set[Any]) -> bool:
    """Whether a result is as exact as the inputs that are moved."""
    return result.dtype not in (tf.float32, tf.complex64) or tf.float32 in kinds


def fractional_parts(result: Any, without_phases: bool) -> list[Any]:
    """A tensor of fractions as float64; the real and the imaginary part of one of complex128; nothing of another."""
    if result.dtype.is_complex and without_phases:
        return [tf.math.real(result * tf.math.conj(result))]
    if result.dtype.is_complex:
        return [tf.cast(part, tf.float64) for part in (tf.math.real(result), tf.math.imag(result))]
    return [tf.cast(result, tf.float64)] if result.dtype in (tf.float64, tf.float32) else []


def difference(f: Callable[[float], float], h: float = 1e-3) -> float:
    """The derivative at 0, from central differences of two widths."""
    wide, narrow = (f(2 * h) - f(-2 * h)) / (4 * h), (f(h) - f(-h)) / (2 * h)
    return (4 * narrow - wide) / 3


def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def derivative(t: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = f(t)
        return tape.gradient(y, t, unconnected_gradients="zero")

    return derivative


@each_case("name", [name for name in NAMES if REGISTRY[name].differentiate is not None])
def test_gradients_agree_with_finite_differences(name: str) -> None:
    if name in NOT_BY_THEMSELVES or name.startswith(NO_TENSORS):
        return
    orders = [check(REGISTRY[name], arrays, attrs) for arrays, attrs in cases(REGISTRY[name])]
    assert max(orders, default=0) == (1 if name in FIRST_ORDER else 2), (
        f"nothing is known of {name}'s gradient: give it inputs in CASES at which it has one"
    )


def check(op: Op, arrays: list[Any], attrs: dict[str, Any]) -> int:
    """Compare; up to which order there was something to compare."""
    direction = [direction_of(np.asarray(a)) for a in arrays]
    if op.name in ONLY_THE_LAST:
        direction[:-1] = [None] * (len(direction) - 1)
    if op.name in SYMMETRIC_INPUTS:
        direction = [d if d is None else d + np.conj(np.swapaxes(d, -1, -2)) for d in direction]
    if all(d is None for d in direction):
        return 0
    f = weighted(op, attrs, arrays, direction)
    if not np.isfinite(f(tf.constant(0.0, tf.float64)).numpy()):
        return 0

    def value(t: float) -> float:
        return float(f(tf.constant(t, tf.float64)))

    first = slope(f)
    try:
        at_zero = float(first(tf.constant(0.0, tf.float64)))
    except tf.errors.UnimplementedError:
        return 0  # which says for what attributes there is none
    assert at_zero == pytest.approx(difference(value), rel=1e-6, abs=1e-7)
    try:
        second = float(slope(first)(tf.constant(0.0, tf.float64)))
    except (LookupError, tf.errors.UnimplementedError):
        return 1  # which says that there are no second derivatives
    expected = difference(lambda t: float(first(tf.constant(t, tf.float64))))
    assert second == pytest.approx(expected, rel=1e-5, abs=1e-6)
    return 2


@each_case("name", [name for name in NAMES if REGISTRY[name].differentiate is not None])
def test_gradients_of_float32(name: str) -> None:
    for arrays, attrs in [] if name in COMPUTE_FLOAT32 else few_cases(name):
        narrow = [np.float32(a) if np.asarray(a).dtype == np.float64 else a for a in arrays]
        found = [along_all(REGISTRY[name], attrs, given) for given in (arrays, narrow)]
        if found[0] is not None and abs(found[0]) < 1e4:  # there are poles among the examples
            assert found[1] == pytest.approx(found[0], rel=2e-3, abs=2e-3)


COMPUTE_FLOAT32 = {"cast", "resize", "resize_grad"}
"""Operations that give float32 for float64, which the table leaves out then."""


def few_cases(name: str) -> list[tuple[list[Any], dict[str, Any]]]:
    """The last of the cases, which are those that were thought of most."""
    return [] if name in NOT_BY_THEMSELVES else cases(REGISTRY[name])[-2:]


def along_all(op: Op, attrs: dict[str, Any], arrays: list[Any]) -> float | None:
    """The derivative along a line through all inputs that are fractions; None where there is none."""
    direction = [direction_of(np.asarray(a)) for a in arrays]
    call = Call(op, arrays, attrs)
    if all(d is None for d in direction) or not isinstance(call.outcome(*arrays), tuple):
        return None
    f = weighted(op, attrs, arrays, direction)
    try:
        return float(slope(f)(tf.constant(0.0, tf.float64)))
    except tf.errors.OpError:
        return None


def direction_of(array: Any) -> Any:
    """Where an input is moved to; None for whole numbers."""
    if array.dtype not in (np.float32, np.float64, np.complex128):
        return None
    found = np.sin(np.arange(array.size) + 2.0).reshape(array.shape).astype(array.real.dtype)
    return found if array.dtype.kind == "f" else found + 1j * np.cos(found * 3.0)


@each_case("name", [name for name in NAMES if REGISTRY[name].differentiate is not None])
def test_gradients_of_complex_numbers(name: str) -> None:
    for arrays, attrs in few_cases(name):
        turned = [as_complex(REGISTRY[name], a) for a in arrays]
        call = Call(REGISTRY[name], turned, attrs)
        try:
            call.specs([EagerOperand(a) for a in turned])
        except REFUSALS:
            continue  # the operation takes no complex numbers
        if isinstance(call.outcome(*turned), tuple):
            check(REGISTRY[name], turned, attrs)


def as_complex(op: Op, array: Any) -> Any:
    array = np.asarray(array)
    if array.dtype != np.float64:
        return array
    imaginary = np.linspace(0.4, -0.3, array.size).reshape(array.shape)
    if op.name in SYMMETRIC_INPUTS:
        imaginary = imaginary - np.swapaxes(imaginary, -1, -2)
    return array + 1j * imaginary
