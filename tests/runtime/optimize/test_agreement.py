"""Every prefix of the passes does what the traced graph does: results to the last bit, effects and failures.

An operation that fails, but whose result nobody needs, may be left out. So where one without effects fails, the graphs
are compared as a lazy interpreter runs them, for which only needed failures count. A law may find that a result is not
needed, as `x < x` is false whatever `x` is; without laws all such failures stay.
"""

from __future__ import annotations

from typing import Any

from agc.runtime import errors
from agc.runtime.executors import Plan, interpret
from agc.runtime.ir.graph import Graph
from agc.runtime.optimize import PASSES, OptimizerOptions, optimize
from hypothesis import given, settings
from support.doubled_graphs import doubled_graphs
from support.lazy_interpreter import interpret_lazily
from support.outcomes import bits
from support.random_graphs import Cell, arguments, graphs, many
from support.verifier import verify


def outcome(run: Any, graph: Graph, values: list[Any]) -> tuple[Any, ...]:
    """The results, the failure, and the variable afterwards."""
    cell = Cell(float(values[0]._array))
    results: list[Any] = []
    failure = None
    try:
        results = [bits(x) for x in run(graph, [cell, *values[1:]])]
    except errors.OpError as error:
        failure = error
    return results, failure and str(failure), bits(cell._array)


def check(before: Graph, after: Graph, values: list[Any]) -> None:
    """Demand that two graphs do the same."""
    expected = outcome(interpret, before, values)
    is_effect = expected[1] is not None and "[op assert]" in expected[1]
    if expected[1] is None or is_effect:
        assert outcome(interpret, after, values) == expected
        assert outcome(lambda graph, values: Plan(graph).run(values), after, values) == expected
    else:
        results, failure, cell = outcome(interpret_lazily, after, values)
        wanted = outcome(interpret_lazily, before, values)
        if failure is None and wanted[1] is not None:
            lawless = optimize(before, OptimizerOptions(arithmetic_optimization=False))
            results, failure, cell = outcome(interpret_lazily, lawless, values)
        assert (results, failure is None, cell) == (wanted[0], wanted[1] is None, wanted[2])


@settings(max_examples=many(12))
@given(graphs(), arguments())
def test_every_pass_on_random_graphs(graph: Graph, values: list[Any]) -> None:
    for each in PASSES:
        check(graph, verify(optimize(graph, after=each.name)), values)
    check(graph, verify(optimize(graph)), values)


@settings(max_examples=many(12))
@given(doubled_graphs(), arguments())
def test_duplicated_subgraphs_agree_after_optimization(graph: Graph, values: list[Any]) -> None:
    check(graph, verify(optimize(graph)), values)
