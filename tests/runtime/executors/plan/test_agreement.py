"""The plan does what the interpreter does: results, effects and failures, on random graphs."""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from typing import Any

import agc.runtime as tf
import numpy as np
from agc.runtime import errors
from agc.runtime.executors import EXECUTORS, ObservedPlan, Plan, Runner, interpret
from agc.runtime.ir.graph import Graph, Operation
from hypothesis import given, settings
from support.random_graphs import Cell, arguments, graphs, many
from support.verifier import verify


def outcome(run: Runner, values: list[Any]) -> Any:
    """What a run gives: results or the failure's message, and the variable afterwards."""
    cell = Cell(float(values[0]._array))
    try:
        results = [(np.asarray(x).dtype, np.asarray(x).tolist()) for x in run([cell, *values[1:]])]
    except errors.OpError as error:
        results = [type(error), str(error)]
    return repr((results, cell._array.tolist()))


@settings(max_examples=many(30))
@given(graphs(), arguments())
def test_plan_and_interpreter_agree(graph: Graph, values: list[Any]) -> None:
    verify(graph)
    assert outcome(Plan(graph).run, values) == outcome(EXECUTORS["interpret"](graph), values)


class Seen:
    """An observer: by operation, its results as text, run by run."""

    def __init__(self) -> None:
        self.results: dict[Operation, list[str]] = {}

    def __call__(self, operation: Operation, results: Sequence[Any]) -> None:
        if all(isinstance(each, (np.ndarray, np.generic)) for each in results):
            texts = [f"{each.dtype} {each.tolist()}" for each in results]
            self.results.setdefault(operation, []).append(repr(texts))


@settings(max_examples=many(15))
@given(graphs(), arguments())
def test_observers_of_a_plan_see_what_those_of_the_interpreter_see(graph: Graph, values: list[Any]) -> None:
    wanted, seen = Seen(), Seen()
    plan = ObservedPlan(graph, seen)
    expected = outcome(lambda values: interpret(graph, values, wanted), values)
    assert outcome(plan.run, values) == expected
    for operation in seen.results.keys() & wanted.results.keys():
        assert seen.results[operation] == wanted.results[operation]


def test_observers_read_the_context_variables_of_the_program() -> None:
    step = contextvars.ContextVar("step", default=0)
    found = []
    graph = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1)).graph
    step.set(7)
    ObservedPlan(graph, lambda operation, results: found.append(step.get())).run([np.int32(1)])
    assert found == [7]
