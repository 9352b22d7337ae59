"""Every example of an operation in the manuals that can be compiled gives what the interpreter gives.

The examples of one module of operations are one graph, so that LLVM starts a few dozen times only.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.execute import interpret
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.specs import Spec
from agc.runtime.native import CannotCompileError, Native, rules, running
from agc.runtime.native.emit.registry import ELEMENTWISE, LOWERINGS
from agc.runtime.ops.declare import REGISTRY
from operation_examples import NAMES, Call, calls

MOST = 5  # examples of one operation
STRUCTURE = {"array_", "list_"}  # of several calls each: test_arrays.py has these

WITHOUT_EXAMPLE = {"identity_matrix", "ones", "raise", "range", "zeros"}
"""Operations that take nothing but what shapes depend on, for which see test_by_values.py; and the one that fails."""

ROOMS: dict[str, list[str]] = defaultdict(list)
for _name in NAMES:
    if (_name in ELEMENTWISE or _name in LOWERINGS) and not _name.startswith(tuple(STRUCTURE)):
        ROOMS[REGISTRY[_name].rule.__module__.removeprefix("agc.runtime.")].append(_name)


def operation(call: Call, number: int) -> tuple[Operation, list[Value], list[Any]] | None:
    """The call as an operation of a graph, and its inputs; shapes and integers behind the first are constants."""
    arrays = [np.asarray(array) for array in call.arrays]
    if any(array.dtype.kind not in "biufc" for array in arrays):
        return None
    operands: list[Any] = []
    kinds = [kind for _, kind in call.op._inputs]
    starts_with_shape = kinds[:1] == ["Ints"] and set(kinds) != {"Ints"}
    for place, array in enumerate(arrays):
        if (place or starts_with_shape) and array.dtype.kind in "iu":
            operands.append(Constant(array))
        else:
            operands.append(Value(f"x{number}_{place}", Spec(dtypes.as_dtype(array.dtype), array.shape)))
    specs = call.specs(operands)
    outputs = tuple(Value(f"r{number}_{place}", spec) for place, spec in enumerate(specs))
    inputs = [operand for operand in operands if isinstance(operand, Value)]
    given = [array for operand, array in zip(operands, arrays, strict=True) if isinstance(operand, Value)]
    return Operation(call.op, tuple(operands), call.attrs, outputs), inputs, given


def compiles(made: Operation, inputs: list[Value]) -> bool:
    graph = Graph("one", inputs, [made], list(made.outputs))
    try:
        running.lowered(graph, [value.spec for value in inputs])
    except CannotCompileError:
        return False
    return True


def of_room(room: str) -> tuple[Graph, list[Any]]:
    """The examples that compile, as one graph, and the values of its inputs."""
    operations, inputs, values = [], [], []
    for name in ROOMS[room]:
        for call in calls(name)[:MOST]:
            if isinstance(call.outcome(*call.arrays), type):
                continue  # it shows a refusal
            made = operation(call, len(operations))
            if made is not None and compiles(*made[:2]):
                operations.append(made[0])
                inputs += made[1]
                values += made[2]
    outputs = [output for made in operations for output in made.outputs]
    return Graph("examples", inputs, operations, outputs), values


def close(found: Any, wanted: Any) -> bool:
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if found.dtype.kind not in "fc":
        return bool(np.array_equal(found, wanted))
    bound = 32 * np.finfo(found.dtype).eps
    return bool(np.allclose(found, wanted, rtol=bound, atol=bound, equal_nan=True))


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_examples_agree_with_the_interpreter(room: str) -> None:
    graph, values = of_room(room)
    compiled = {made.type for made in graph.operations}
    assert set(ROOMS[room]) - compiled - WITHOUT_EXAMPLE == set(), (
        "these have rules, and no example that compiles"
    )
    expected = [np.asarray(result) for result in interpret(graph, list(values))]
    found = [np.asarray(result) for result in Native(graph).run(list(values))]
    makers = [made.type for made in graph.operations for _ in made.outputs]
    wrong = [
        (maker, one, other)
        for maker, one, other in zip(makers, found, expected, strict=True)
        if not close(one, other)
    ]
    assert wrong == []


def test_most_operations_are_compiled() -> None:
    assert {"elements", "functions"} <= set(rules.__all__)
    assert len(ELEMENTWISE) + len(LOWERINGS) >= 280
