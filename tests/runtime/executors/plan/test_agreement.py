"""The plan does what the interpreter does: results, effects and failures, on random graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from agc.runtime import errors
from agc.runtime.executors import EXECUTORS, Plan, Runner
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.verifier import verify
from hypothesis import given, settings
from support.random_graphs import Cell, arguments, graphs, many


def outcome(run: Runner, values: list[Any]) -> Any:
    """What a run gives: results or the failure's message, and the variable afterwards."""
    cell = Cell(float(values[0]._array))
    try:
        results = [(np.asarray(x).dtype, np.asarray(x).tolist()) for x in run([cell, *values[1:]])]
    except errors.OpError as error:
        results = [type(error), str(error)]
    return repr((results, cell._array.tolist()))


@settings(max_examples=many(60))
@given(graphs(), arguments())
def test_plan_and_interpreter_agree(graph: Graph, values: list[Any]) -> None:
    verify(graph)
    assert outcome(Plan(graph).run, values) == outcome(EXECUTORS["interpret"](graph), values)
