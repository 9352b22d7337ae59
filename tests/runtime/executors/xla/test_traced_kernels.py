"""Kernels of NumPy that JAX traces: all sizes compile, also those for which the kernel takes a way of its own."""

import functools

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.shapes import num_elements
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm.diagnostics import CompilerFaultError
from agc.runtime.executors.xla import XlaFunction
from agc.runtime.executors.xla.rule_registry import RULES, TRACED
from agc.runtime.executors.xla.static_form import static_form
from agc.runtime.executors.xla.xla_function import XlaProgram
from agc.runtime.ir.graph import Graph, Operation, Value
from agc.runtime.ir.value_types import TensorType
from support.operation_examples import NAMES, REFUSALS, as_operation, calls
from support.selection import in_turn

numbers = np.random.default_rng(5)
ROWS = numbers.normal(size=(4000, 3)).astype(np.float32)  # short rows, which NumPy's kernels add by columns
MATRIX = numbers.normal(size=(600, 600)).astype(
    np.float32
)  # a product that NumPy's kernels divide into parts
UNITS = np.linspace(0, 1, 70_000, dtype=np.float32)  # which NumPy's kernels compute in tiles
IMAGES = numbers.normal(size=(3, 4, 3, 2)).astype(np.float32)  # threads of the pool resize one each
BATCH = ROWS[:3000].reshape(1000, 3, 3) + 4 * np.eye(
    3, dtype=np.float32
)  # matrices that NumPy's kernels share

CASES = {
    "sum": (lambda x: tf.reduce_sum(x, -1), ROWS),
    "mean": (lambda x: tf.reduce_mean(x, -1), ROWS),
    "standard deviation": (lambda x: tf.math.reduce_std(x, -1), ROWS),
    "norm": (lambda x: tf.norm(x, axis=-1), ROWS),
    "softmax": (lambda x: tf.nn.softmax(x), ROWS),
    "matvec": (lambda x: tf.linalg.matvec(x, x[0]), MATRIX),
    "matmul": (lambda x: x @ x, MATRIX),
    "betainc": (lambda x: tf.math.betainc(x + 1, 2.0, x), UNITS),
    "resize": (lambda x: tf.image.resize(x, [2, 5]), IMAGES),
    "pinv": (lambda x: tf.linalg.pinv(x), BATCH),
    "triangular_solve": (lambda x: tf.linalg.triangular_solve(x, x[..., :1], lower=False), BATCH),
    "a large triangle": (lambda x: tf.linalg.triangular_solve(x + 9 * tf.eye(40), x), MATRIX[:40, :40]),
    "tensordot": (lambda x: tf.gradients(tf.tensordot(x, x, [[0], [0]]) ** 2, x)[0], MATRIX),
}


@pytest.mark.parametrize("name", CASES)
def test_large_arrays_are_computed_by_xla(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_the_plan(*_: object) -> None:
        raise AssertionError("the plan computed this")

    monkeypatch.setattr(XlaFunction, "fail", in_the_plan)
    function, x = CASES[name]
    found = tf.function(function, jit_compile="xla")(tf.constant(x))
    expected = tf.function(function, jit_compile=False)(tf.constant(x))
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-3 * np.abs(expected).max())


def test_batches_of_images_of_any_length_are_resized_by_xla() -> None:
    body = functools.partial(tf.image.resize, size=[2, 5])
    signature = [tf.TensorSpec([None, 4, 3, 2])]
    resized = tf.function(lambda x: body(x), jit_compile="xla", input_signature=signature)
    for count in (3, 1, 0):
        np.testing.assert_allclose(resized(IMAGES[:count]), body(IMAGES[:count]), rtol=1e-5, atol=1e-6)


def test_faults_of_rules_are_no_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(site: object, x: object) -> object:
        raise TypeError("no such function")

    monkeypatch.setitem(RULES, "cumsum", broken)
    with pytest.raises(CompilerFaultError, match="no such function"):
        tf.function(lambda x: tf.cumsum(x), jit_compile="xla")(tf.constant([1, 2]))


def larger(x: np.ndarray, times: tuple[int, int]) -> np.ndarray:
    """An array with more rows or columns; scalars and texts as they are."""
    if not x.ndim or x.dtype.hasobject:
        return x
    return np.tile(x, (times[0], *(1,) * (x.ndim - 2), times[1])[-x.ndim :] if x.ndim > 1 else times[:1])


LARGER = [(700, 1), (1, 700), (37, 37)]


@pytest.mark.parametrize("times", LARGER, ids=["tall", "wide", "both"])
def test_examples_of_large_shapes_are_traced(times: tuple[int, int]) -> None:
    """JAX traces what NumPy computes, for each operation; nothing is compiled."""
    count = 0
    names = sorted({*RULES, *TRACED} & {*NAMES} - {"put_back"})  # an operand is its shape
    for name in [name for place, name in enumerate(names) if times in in_turn(LARGER, place)]:
        for call in calls(name)[:1]:
            made = as_operation(call, 0)
            arrays = [larger(np.asarray(value), times) for value in made[2]] if made is not None else []
            graph = None if made is None else of_shapes(made[0], made[1], arrays)
            if graph is not None and is_computed(graph, arrays):
                form, by_value = static_form(graph, arrays, ())
                XlaProgram(form, (), by_value).trace()
                count += 1
    assert count > 50


def of_shapes(operation: Operation, inputs: list[Value], arrays: list[np.ndarray]) -> Graph | None:
    """The operation for other shapes; None if it refuses these, or has results of no known or moderate size."""
    given = [
        Value(value.name, TensorType(value.dtype, x.shape)) if isinstance(value.spec, TensorType) else value
        for value, x in zip(inputs, arrays, strict=True)
    ]
    new = dict(zip(inputs, given, strict=True))
    operands = tuple([new.get(operand, operand) for operand in operation.inputs])
    try:
        specs = operation.op.infer_all(operands, operation.attrs)
    except REFUSALS:
        return None
    if not all(isinstance(spec, TensorType) and (num_elements(spec.shape) or MOST) < MOST for spec in specs):
        return None
    results = tuple([Value(value.name, spec) for value, spec in zip(operation.outputs, specs, strict=True)])
    made = Operation(operation.op, operands, operation.attrs, results)
    return Graph("example", given, [made], results)


MOST = 1_000_000


def is_computed(graph: Graph, arrays: list[np.ndarray]) -> bool:
    try:
        interpret(graph, list(arrays))
    except REFUSALS:
        return False
    return True
