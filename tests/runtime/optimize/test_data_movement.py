"""Chains of casts and of transposes are merged only where the result is the same."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.executors import interpret
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.parser import parse
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY, find
from agc.runtime.optimize import OptimizerOptions, algebraic_simplify
from support.outcomes import bits

find("none")  # declares all operations

DTYPES = [
    dtypes.bool_, dtypes.int8, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint32, dtypes.uint64,
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128,
]  # fmt: skip
NUMBERS = [
    0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.7, 127.0, 255.0, 257.0, -129.0, 65503.0, 65519.0, 70000.0, 1e-8, 1e-40,
    2.0**24 + 1, 2.0**31 - 1, 2.0**53 - 1, -(2.0**63), 1e30, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
BITS = [0, 1, 255, 257, 65519, 2**24 + 1, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]


def numbers(dtype: dtypes.DType) -> Any:
    with np.errstate(all="ignore"):
        kind = np.dtype(dtype.numpy_dtype).kind
        return (
            np.array(BITS, np.uint64).astype(dtype.numpy_dtype)
            if kind in "iu"
            else np.array(NUMBERS).astype(dtype.numpy_dtype)
        )


def chains(first: dtypes.DType) -> Graph:
    """All casts of a vector to a dtype, and from there to another one."""
    cast = REGISTRY["cast"]
    x = Value("x", TensorType(first, (numbers(first).size,)))
    operations, outputs = [], []
    for middle, last in itertools.product(DTYPES, DTYPES):
        before: Value = x
        for dtype in (middle, last):
            after = Value("y", TensorType(dtype, x.shape))
            operations.append(Operation(cast, (before,), {"dtype": dtype}, (after,)))
            before = after
        outputs.append(before)
    return Graph("chains", (x,), tuple(operations), tuple(outputs))


@pytest.mark.parametrize("first", DTYPES, ids=[dtype.name for dtype in DTYPES])
def test_a_redundant_intermediate_cast_is_removed(first: dtypes.DType) -> None:
    graph = chains(first)
    lawful = algebraic_simplify.run(graph, OptimizerOptions())
    assert lawful is not graph
    given = [numbers(first)]
    names = [f"{middle.name} {last.name}" for middle, last in itertools.product(DTYPES, DTYPES)]
    pairs = zip(names, interpret(graph, given), interpret(lawful, given), strict=True)
    assert [name for name, before, after in pairs if bits(before) != bits(after)] == []


def test_two_transposes_become_one() -> None:
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    transpose = REGISTRY["transpose"]
    for one, other in itertools.product(itertools.permutations(range(3)), repeat=2):
        source = Value("x", TensorType(dtypes.float32, x.shape))
        operations: list[Operation] = []
        operand = source
        for order in (one, other):
            operands = (operand, Constant(np.array(order, np.int32)))
            attrs = {"conjugate": False}
            operand = Value("t", transpose.infer(list(operands), attrs))
            operations.append(Operation(transpose, operands, attrs, (operand,)))
        graph = Graph("two", (source,), tuple(operations), (operand,))
        lawful = algebraic_simplify.run(graph, OptimizerOptions())
        assert len(lawful.live_operations()) < 2, (one, other)
        np.testing.assert_array_equal(interpret(lawful, [x])[0], x.transpose(one).transpose(other))


def test_a_reshape_that_may_fail_is_kept() -> None:
    graph = parse(
        "graph f(x: float32[?], n: int32[2]) -> float32[6]\n"
        "  y = reshape x, n                              : float32[?, ?]\n"
        "  z = reshape y, [6]                            : float32[6]\n"
        "  return z\n"
    )
    assert algebraic_simplify.run(graph, OptimizerOptions()) is graph
