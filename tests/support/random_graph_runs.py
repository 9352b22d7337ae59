"""Random graphs in a compiler give the results and failures of the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
from agc.runtime import errors
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm import CompilationError
from agc.runtime.functionalize.variables import without_variables
from agc.runtime.ir.graph import Graph

from .lazy_interpreter import interpret_lazily
from .random_graphs import Cell


def lazily(graph: Graph) -> Any:
    """Return a runner that computes needed values only: of those assigned to a variable, the last one."""
    plain, assigned = without_variables(graph)

    def run(values: list[Any]) -> Any:
        results = interpret_lazily(plain, [getattr(value, "_array", value) for value in values])
        for i, last in zip(assigned, results[len(graph.outputs) :], strict=True):
            values[i]._array = np.asarray(last)
        return results[: len(graph.outputs)]

    return run


def outcome(executor: Any, graph: Graph, values: list[Any]) -> Any:
    """Run a graph; return its results and the variable afterwards, or the class and message of the failure."""
    cell = Cell(float(values[0]._array))
    try:
        results = executor(graph)([cell, *values[1:]])
    except CompilationError:
        raise
    except errors.OpError as error:
        return type(error), str(error)
    return [*map(np.asarray, results), cell._array]


def assert_agreement(compiler: str, graph: Graph, values: list[Any]) -> None:
    """Assert that the executor with this name agrees with the interpreter, or fails as it does."""
    wanted, found = (outcome(EXECUTORS[name], graph, values) for name in ("interpret", compiler))
    if isinstance(wanted, tuple) and found != wanted:
        wanted = outcome(lazily, graph, values)
    if isinstance(wanted, tuple):
        assert found == wanted
        return
    for one, other in zip(wanted, found, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind == "f":
            np.testing.assert_allclose(other, one, rtol=1e-6)
        else:
            np.testing.assert_array_equal(other, one)
