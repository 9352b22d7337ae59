"""Every prefix of the passes does what the traced graph does: results to the last bit, effects and failures."""

from __future__ import annotations

from typing import Any

import numpy as np
from agc.runtime import errors
from agc.runtime.execute import Plan, interpret
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.verify import verify
from agc.runtime.optimise import PASSES, optimise
from hypothesis import given, settings
from random_graphs import Cell, arguments, graphs

NEEDED = "prune"
"""The pass from which on all that is left is needed: what a call computes beside it may fail before."""


def bits(result: Any) -> tuple[Any, ...]:
    """A result to the last bit; all NaNs are one."""
    array = np.asarray(result)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.full((), np.nan, array.dtype), array)
    return array.dtype, array.shape, array.tobytes()


def outcome(run: Any, values: list[Any]) -> tuple[Any, ...]:
    """The results or the failure's message, and the variable afterwards."""
    cell = Cell(float(values[0]._array))
    try:
        results = [bits(x) for x in run([cell, *values[1:]])]
    except errors.OpError as error:
        results = [type(error), str(error)]
    return results, bits(cell._array)


def failed(found: tuple[Any, ...]) -> bool:
    return len(found[0]) == 2 and isinstance(found[0][0], type)


def interpreted(graph: Graph) -> Any:
    return lambda values: interpret(graph, values)


@settings(max_examples=150, deadline=None)
@given(graphs(), arguments())
def test_every_pass_on_random_graphs(graph: Graph, values: list[Any]) -> None:
    traced = outcome(interpreted(graph), values)
    strict = None
    for each in PASSES:
        passed = verify(optimise(graph, after=each.name))
        found = outcome(interpreted(passed), values)
        if not failed(traced):
            assert found == traced, each.name
        if strict is not None:
            assert found == strict, each.name
        if each.name == NEEDED:
            strict = found
    last = verify(optimise(graph))
    assert outcome(interpreted(last), values) == strict
    assert outcome(Plan(last).run, values) == strict
