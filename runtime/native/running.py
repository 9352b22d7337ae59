"""Graphs that run as native code: one compilation for each combination of shapes.

>>> from agc.runtime import constant, function
>>> double = function(lambda x: x + x).get_concrete_function(constant([1, 2]))
>>> Native(double.graph).run([np.array([3, 4], np.int32)])
(array([6, 8], dtype=int32),)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..execute.plan import Plan
from ..ir.graph import Graph
from ..ir.specs import RefSpec, Spec
from . import engine
from .support import CannotCompileError, Reason

_MOST_SHAPES = 64

Compiled = Callable[[list[Any]], Sequence[Any]]


class Native:
    """A graph, compiled when it is first run with some shapes; `CannotCompileError` where that is not possible."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._plan: Plan | None = None
        self._compiled: dict[Any, Compiled] = {}
        self._references = [i for i, value in enumerate(graph.inputs) if isinstance(value.spec, RefSpec)]

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The outputs for the values of the inputs."""
        arrays = self._arrays(arguments)
        key = tuple([array.shape for array in arrays])
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = self.compiled(arrays)
        return compiled(arrays)

    def _arrays(self, arguments: Sequence[Any]) -> list[Any]:
        return [argument if type(argument) is np.ndarray else np.asarray(argument) for argument in arguments]

    def compiled(self, arrays: Sequence[Any]) -> Compiled:
        """The code for inputs like these."""
        specs = [
            Spec(value.dtype, array.shape) for value, array in zip(self.graph.inputs, arrays, strict=True)
        ]
        made = compile(self.graph, specs, self._ordered, self.fail)
        if len(self._compiled) >= _MOST_SHAPES:
            self._compiled.pop(next(iter(self._compiled)))
        self._compiled[tuple([array.shape for array in arrays])] = made
        return made

    def _ordered(self, arguments: list[Any]) -> Sequence[Any]:
        """Run inputs that are not as the code wants them: of another order in memory, or of other shapes."""
        arrays = [
            np.require(np.asarray(argument), value.dtype.numpy, ["C", "A"]).view(np.ndarray)
            for argument, value in zip(arguments, self.graph.inputs, strict=True)
        ]
        if all(given is array for given, array in zip(arguments, arrays, strict=True)):
            return self.fail(arguments)
        return self.run(arrays)

    def fail(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run the plan, which raises the error that the native code has met."""
        if self._plan is None:
            self._plan = Plan(self.graph)
        return self._plan.run(arguments)


def compile(
    graph: Graph,
    specs: Sequence[Any],
    mismatch: Callable[[list[Any]], Any],
    failed: Callable[[list[Any]], Any],
) -> Compiled:
    """The native code of a graph for inputs of these specs, as a function of a list of arrays.

    It calls `mismatch` with a list that it cannot read as it is, and `failed` where a check fails. Raises
    `CannotCompileError` with the reasons.
    """
    from .entry import declare_symbols, entry

    why = engine.missing()
    if why is not None:
        raise CannotCompileError([Reason(graph.operations[0], why)] if graph.operations else [])
    declare_symbols()
    unit = lowered(graph, specs)
    return entry(unit, engine.Code(engine.assembled(unit.text())), mismatch, failed)


def lowered(graph: Graph, specs: Sequence[Any]) -> Any:
    """The unit of a graph for inputs of these specs."""
    from . import branches, casts, creating, elements, gemm, loops, reductions, shaping  # noqa: F401  (they enter rows)
    from .entry import EntryWriter
    from .specialise import specialised
    from .unit import Unit

    unit = Unit(specialised(graph, specs))
    EntryWriter(unit)
    return unit
