"""Operands have numbers: results their positions, inputs and large constants those below 0."""

from __future__ import annotations

import numpy as np
from agc.runtime.ir.graph import Constant, Graph
from agc.runtime.ir.parser import parse
from agc.runtime.optimize.operand_numbers import FIXED, OperandNumbers

STEPS = parse("""\
graph steps(x: float32[4], w: float32[4]) -> float32[2], float32[4]
  a, b = split x [axis=0, num=2]                : float32[2], float32[2]
  c = add a, 1.0                                : float32[2]
  d = add b, c                                  : float32[2]
  e = multiply x, w                             : float32[4]
  return d, x
""")


def numbers_of(graph: Graph) -> OperandNumbers:
    return OperandNumbers(graph.operations, graph.outputs)


def test_results_have_their_positions_and_inputs_numbers_below() -> None:
    numbers = numbers_of(STEPS)
    assert [value.name for value in numbers.results] == ["a", "b", "c", "d", "e"]
    assert numbers.first_result == [0, 2, 3, 4, 5]
    assert numbers.read_in(0, 2) == [-1, 0, FIXED]
    assert numbers.read_in(2, 4) == [1, 2, -1, -2]
    assert [numbers.operand(number) for number in (2, -1, -2)] == [numbers.results[2], *STEPS.inputs]


def test_the_last_use_of_an_output_is_after_all_operations() -> None:
    assert numbers_of(STEPS).last_uses_in(0, 2) == [1, 2, 2]
    assert numbers_of(STEPS).last_uses_in(2, 4) == [4, -1]


def test_large_constants_are_operands() -> None:
    table = np.arange(100, dtype=np.float32)
    tables = Constant(table), Constant(table), Constant(np.ones(100, np.float32))
    add = STEPS.operations[1]
    operations = [type(add)(add.op, (each, each), {}, (), (), add.origin) for each in tables]
    numbers = OperandNumbers(operations, ())
    assert numbers.read_in(0, 3) == [-1, -1, -1, -1, FIXED, FIXED]
    assert numbers.operand(-1) is tables[0]
