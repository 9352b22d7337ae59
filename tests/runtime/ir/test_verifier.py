"""A graph that breaks a rule is refused, with the lines around the fault."""

from __future__ import annotations

from collections.abc import Callable

import agc.runtime  # noqa: F401  (declares the operations)
import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.parser import parse
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY
from support.verifier import VerificationError, verify

F, N, B = TensorType(dtypes.float32, ()), TensorType(dtypes.int32, ()), TensorType(dtypes.bool_, ())
ONE = Constant(np.array(1, np.float32))


def negative(x: Value, y: Value) -> Operation:
    return Operation(REGISTRY["negative"], (x,), {}, (y,))


def graph_of(*operations: Operation, inputs: tuple[Value, ...] = ()) -> Graph:
    return Graph("g", inputs, operations, operations[-1].outputs)


def used_before_defined() -> Graph:
    x, y, z = Value("x", F), Value("y", F), Value("z", F)
    return graph_of(negative(y, z), negative(x, y), inputs=(x,))


def assigned_twice() -> Graph:
    x, y = Value("x", F), Value("y", F)
    return graph_of(negative(x, y), negative(x, y), inputs=(x,))


def wrong_type() -> Graph:
    x = Value("x", F)
    return graph_of(negative(x, Value("y", N)), inputs=(x,))


def wrong_operands() -> Graph:
    x, y = Value("x", F), Value("y", N)
    operation = Operation(REGISTRY["logical_not"], (x,), {}, (Value("z", B),))
    return graph_of(operation, inputs=(x, y))


def undefined_output() -> Graph:
    return Graph("g", (), (), (Value("lost", F),))


def open_region() -> Graph:
    x, y = Value("x", F), Value("y", F)
    inner = Value("inner", F)
    region = Graph("then", (), (negative(x, inner),), (inner,))
    return graph_of(
        Operation(REGISTRY["cond"], (Constant(np.array(True)),), {}, (y,), (region, region)), inputs=(x,)
    )


def branch_of_another_type() -> Graph:
    branch = Graph("then", (), (), (ONE,))
    other = Graph("else", (), (), (Constant(np.array(1, np.int32)),))
    return graph_of(
        Operation(REGISTRY["cond"], (Constant(np.array(True)),), {}, (Value("y", F),), (branch, other))
    )


def predicate_of_another_type() -> Graph:
    branch = Graph("then", (), (), (ONE,))
    return graph_of(Operation(REGISTRY["cond"], (ONE,), {}, (Value("y", F),), (branch, branch)))


def missing_region() -> Graph:
    branch = Graph("then", (), (), (ONE,))
    return graph_of(Operation(REGISTRY["cond"], (Constant(np.array(True)),), {}, (Value("y", F),), (branch,)))


def switch_without_branches() -> Graph:
    return graph_of(Operation(REGISTRY["switch"], (Constant(np.array(0, np.int32)),), {}, (Value("y", F),)))


def callee_given_too_much() -> Graph:
    callee = Graph("f", (), (), (ONE,))
    return graph_of(Operation(REGISTRY["call"], (ONE,), {}, (Value("y", F),), (callee,)))


def loop_whose_test_is_no_bool() -> Graph:
    x, y, z = Value("x", F), Value("x", F), Value("y", F)
    test, body = Graph("test", (x,), (), (x,)), Graph("body", (y,), (), (y,))
    return graph_of(Operation(REGISTRY["while"], (ONE,), {}, (z,), (test, body)))


def body_that_changes_the_type() -> Graph:
    x, y, z = Value("x", F), Value("x", F), Value("y", F)
    test, body = Graph("test", (x,), (), (Constant(np.array(False)),)), Graph("body", (y,), (), (y, y))
    return graph_of(Operation(REGISTRY["while"], (ONE,), {}, (z,), (test, body)))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (used_before_defined, "`y` is not defined in this graph before its use"),
        (assigned_twice, "`y` is assigned a second time"),
        (wrong_type, "negative gives float32[], not int32[]"),
        (wrong_operands, "logical_not does not accept these operands: "),
        (undefined_output, "`lost` is not defined in this graph before its use"),
        (open_region, "`x` is not defined in this graph before its use"),
        (branch_of_another_type, "`else` yields int32[] where float32[] is wanted"),
        (predicate_of_another_type, "the first operand of cond is not bool[]"),
        (missing_region, "cond has 1 regions instead of 2"),
        (switch_without_branches, "switch has no branches"),
        (callee_given_too_much, "`f` takes nothing but is given float32[]"),
        (loop_whose_test_is_no_bool, "the test of while yields float32[], not one bool[]"),
        (body_that_changes_the_type, "`body` yields float32[], float32[] where float32[] is wanted"),
    ],
)
def test_broken_rules(make: Callable[[], Graph], reason: str) -> None:
    with pytest.raises(VerificationError) as caught:
        verify(make())
    assert caught.value.message.startswith(reason)


def test_the_lines_around_the_fault_are_shown() -> None:
    with pytest.raises(VerificationError) as caught:
        verify(used_before_defined())
    assert caught.value.message == (
        "`y` is not defined in this graph before its use\n"
        "     1 | graph g(x: float32[]) -> float32[]\n"
        " >   2 |   z = negative ?y                               : float32[]\n"
        "     3 |   y = negative x                                : float32[]\n"
        "     4 |   return y"
    )


def test_a_declared_shape_may_be_narrower_than_the_inferred() -> None:
    """What `set_shape` said stays; what contradicts the rule does not."""
    known = "graph g(x: float32[?]) -> float32[2]\n  y = negative x : float32[2]\n  return y"
    assert verify(parse(known, check=False)).outputs[0].spec == TensorType(dtypes.float32, (2,))
    with pytest.raises(VerificationError, match="negative gives"):
        verify(parse(known.replace("float32[?]", "float32[3]"), check=False))


def test_a_long_graph_and_a_shared_callee_are_checked_once() -> None:
    """Calls of calls of calls: 2**30 paths lead to the innermost graph."""
    x = Value("x", F)
    callee = Graph("f", (x,), (), (x,))
    for _ in range(30):
        x, y, z = Value("x", F), Value("y", F), Value("z", F)
        calls = tuple(
            Operation(REGISTRY["call"], (before,), {}, (after,), (callee,))
            for before, after in ((x, y), (y, z))
        )
        callee = Graph("f", (x,), calls, (z,))
    assert verify(callee) is callee
    assert parse(str(callee), check=False) == callee
