"""Each law of the table, on all combinations of special numbers: exact means to the last bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.executors import interpret
from agc.runtime.ir.graph import Constant, Graph, Operand, Operation, Value
from agc.runtime.ir.parser import parse
from agc.runtime.ir.traits import COMMUTATIVE
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY, find
from agc.runtime.optimize import OptimizerOptions, algebraic_simplify
from agc.runtime.optimize.pattern_match import CallPattern, Name, NumberPattern, Pattern, RewriteRule
from support.each_case import each_case
from support.outcomes import bits
from support.verifier import verify

find("none")  # declares all operations

INTEGERS = [0, 1, -1, 2, -3, 7, 100, -128, 127]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, 1e30, -1e-40, float("inf"), float("-inf"), float("nan")]
KINDS = {
    "b": ([dtypes.bool_], [True, False]),
    "i": ([dtypes.int8, dtypes.int32, dtypes.int64], INTEGERS),
    "u": ([dtypes.uint8, dtypes.uint32], [0, 1, 2, 7, 128, 255]),
    "f": ([dtypes.float16, dtypes.float32, dtypes.float64], FLOATS),
    "c": ([dtypes.complex64, dtypes.complex128], [0.0, -0.0, 1 + 2j, -3.5j, complex("inf"), complex("nan")]),
}
TABLE = [
    (law, kind)
    for law in (RewriteRule.read(*row) for row in algebraic_simplify.split(algebraic_simplify.EXACT))
    for kind in law.kinds
]
FAST = [RewriteRule.read(*row) for row in algebraic_simplify.split(algebraic_simplify.FAST)]
FOR = dict.fromkeys(("logical_and", "logical_or", "logical_xor"), "b") | dict.fromkeys(
    ("bitwise_and", "bitwise_or", "bitwise_xor"), "iu"
)
"""The kinds of dtypes of operations that are not for all numbers."""
ORDINARY = [-2.5, -0.75, 0.25, 1.5, 3.0]


def text(pattern: Pattern) -> str:
    if isinstance(pattern, CallPattern):
        return f"{pattern.op.name}({','.join(map(text, pattern.arguments))})"
    return pattern.name if isinstance(pattern, Name) else repr(pattern.value)


class Side:
    """A graph made of one side of a law, for vectors of this length."""

    def __init__(self, law: RewriteRule, dtype: dtypes.DType, size: int) -> None:
        self.law, self.size, self.operations = law, size, list[Operation]()
        self.names: dict[str, Value] = {}
        self.known = {"k": 3, "m": 100}
        outputs = (self.made(law.before, dtype),)
        self.graph = Graph("law", tuple(self.names.values()), tuple(self.operations), outputs)

    def made(self, pattern: Pattern, dtype: dtypes.DType) -> Operand:
        if isinstance(pattern, Name):
            if pattern.name in self.known:
                return Constant(np.array(self.known[pattern.name], dtype.numpy_dtype))
            return self.names.setdefault(pattern.name, Value(pattern.name, TensorType(dtype, (self.size,))))
        if isinstance(pattern, NumberPattern):
            return Constant(np.array(pattern.value, dtype.numpy_dtype))
        op = pattern.op
        # What is compared, or chosen from, has a dtype of its own.
        inner = [dtype] * len(pattern.arguments)
        if op.name == "where":
            inner = [dtypes.bool_, dtypes.float32, dtypes.float32]
        elif op.name in ("equal", "not_equal") and self.law.before is not pattern:
            inner = [dtypes.float32, dtypes.float32]
        inputs = [self.made(part, each) for part, each in zip(pattern.arguments, inner, strict=True)]
        value = Value(op.name, op.infer(inputs, op.attribute_defaults))
        self.operations.append(Operation(op, tuple(inputs), op.attribute_defaults, (value,)))
        return value


def columns(graph: Graph, numbers: list[Any] | None = None) -> list[Any]:
    """All combinations of numbers for the inputs of a graph: of special ones, unless others are given."""
    rows = list(itertools.product(*[numbers or KINDS[value.dtype.kind][1] for value in graph.inputs]))
    with np.errstate(all="ignore"):
        return [
            np.array([row[i] for row in rows]).astype(value.dtype.numpy_dtype)
            for i, value in enumerate(graph.inputs)
        ]


@each_case(("law", "kind"), TABLE, ids=[f"{text(law.before)}-{kind}" for law, kind in TABLE])
def test_every_exact_rule_is_used_and_exact(law: RewriteRule, kind: str) -> None:
    for dtype in KINDS[kind][0]:
        draft = Side(law, dtype, 1).graph
        given = columns(draft)
        graph = verify(Side(law, dtype, len(given[0])).graph)
        lawful = verify(algebraic_simplify.run(graph, OptimizerOptions()))
        last = graph.operations[-1]
        assert last not in lawful.operations, "the law was not used"
        (before,), (after,) = interpret(graph, given), interpret(lawful, given)
        assert bits(before) == bits(after), dtype


@pytest.mark.parametrize("law", FAST, ids=[text(law.before) for law in FAST])
def test_every_fast_math_rule_is_used_and_holds_for_reals(law: RewriteRule) -> None:
    """Where the first side is a number; the other one may be so in more places."""
    given = columns(Side(law, dtypes.float64, 1).graph, ORDINARY)
    graph = verify(Side(law, dtypes.float64, len(given[0])).graph)
    lawful = verify(algebraic_simplify.run(graph, OptimizerOptions(fast_math=True)))
    assert graph.operations[-1] not in lawful.operations, "the law was not used"
    (before,), (after,) = interpret(graph, given), interpret(lawful, given)
    known = np.isfinite(before)
    assert known.any()
    np.testing.assert_allclose(after[known], before[known], rtol=1e-12)


@pytest.mark.parametrize("name", [name for name, op in REGISTRY.items() if op.has(COMMUTATIVE)])
def test_commutative_operations_give_equal_bits(name: str) -> None:
    for kind, (kinds, numbers) in KINDS.items():
        if kind in FOR.get(name, "iufc"):
            for dtype in kinds:
                rows = list(itertools.product(numbers, repeat=2))
                with np.errstate(all="ignore"):
                    x, y = (np.array([row[i] for row in rows]).astype(dtype.numpy_dtype) for i in (0, 1))
                    assert bits(REGISTRY[name].compute(x, y)) == bits(REGISTRY[name].compute(y, x)), dtype


def test_only_constants_are_reassociated() -> None:
    graph = parse(
        "graph f(n: int32[3], m: int32[]) -> int32[3]\n"
        "  a = add n, 2                                  : int32[3]\n"
        "  b = add a, m                                  : int32[3]\n"
        "  return b\n"
    )
    assert algebraic_simplify.run(graph, OptimizerOptions()) is graph


def test_near_matches_are_not_rewritten() -> None:
    """`x * [1.0]` has rank 1, even where x has none; and the result of a choice has the shapes of both."""
    for line in (
        "multiply x, [1.0] : float32[...]",
        "multiply x, [1.0, 1.0] : float32[...]",
        "where true, x, y : float32[...]",
        "add x, 0.0 : float32[...]",
        "multiply m, [[1.0], [1.0]] : float32[2, 3]",
        "where true, m, n : float32[2, 3]",
        "multiply m, [1.0, 2.0, 1.0] : float32[3]",
        "less x, x : bool[...]",
    ):
        graph = parse(
            "graph f(x: float32[...], y: float32[...], m: float32[3], n: float32[2, 3]) -> "
            f"{line.rpartition(' : ')[2]}\n"
            f"  z = {line}\n"
            "  return z\n"
        )
        assert algebraic_simplify.run(graph, OptimizerOptions()) is graph


def test_fast_math_rules_need_the_option() -> None:
    graph = parse("graph f(x: float32[]) -> float32[]\n  y = add x, 0.0 : float32[]\n  return y\n")
    assert algebraic_simplify.run(graph, OptimizerOptions()) is graph
    assert not algebraic_simplify.run(graph, OptimizerOptions(fast_math=True)).operations
