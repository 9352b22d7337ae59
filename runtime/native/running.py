"""Graphs that run as native code: one compilation for each combination of shapes.

>>> from agc.runtime import constant, function
>>> double = function(lambda x: x + x).get_concrete_function(constant([1, 2]))
>>> Native(double.graph).run([np.array([3, 4], np.int32)])
(array([6, 8], dtype=int32),)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from ..execute.plan import Plan
from ..ir.graph import Constant, Graph
from ..ir.specs import ArraySpec, RefSpec, Spec
from . import engine
from .support import CannotCompileError, CompilationError, CompilerFaultError, NeverRunsError, Reason
from .types import COMPILED

_MOST_SHAPES = 64

Compiled = Callable[[Sequence[Any]], Any]

_FAILED = object()


class Native:
    """A graph, compiled for each combination of shapes that it is run with.

    Where that is not possible, `run` raises CompilationError with the reasons.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._plan: Plan | None = None
        self._code: dict[Any, Compiled] = {}
        self._assigned: list[int] = []
        self._variables = [i for i, value in enumerate(graph.inputs) if isinstance(value.spec, RefSpec)]

    @property
    def shortest(self) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
        """The code itself, where it does all that `run` does: without variables, and for the only shapes there are."""
        if self._variables or not all(_is_fixed(value.spec) for value in self.graph.inputs):
            return None
        return next(iter(self._code.values()), None)

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The outputs for the values of the inputs; variables are assigned when all else is done."""
        try:
            results = self._run(arguments)
        except NeverRunsError:
            return self.fail(arguments)
        except CannotCompileError as refusal:
            raise refused(self.graph, refusal) from None
        return self.fail(arguments) if results is _FAILED else results

    def demand(self, arguments: Sequence[Any]) -> None:
        """Compile for inputs like these; raises what `run` would where that cannot be."""
        try:
            self.compiled(self.arrays(arguments))
        except NeverRunsError:
            return
        except CannotCompileError as refusal:
            raise refused(self.graph, refusal) from None

    def _run(self, arguments: Sequence[Any]) -> Any:
        arrays = self.arrays(arguments)
        if len(self._variables) > 1 and len({id(arguments[i]) for i in self._variables}) < len(
            self._variables
        ):
            return _FAILED  # one variable under two names: the plan knows in which order they change
        code = self._code.get(_shapes(arrays))
        if code is None:
            code = self.compiled(arrays)
        results = code(arrays)
        if not self._assigned or results is _FAILED:
            return results
        count = len(self.graph.outputs)
        for i, array in zip(self._assigned, results[count:], strict=True):
            arguments[i]._array = array
        return results[:count]

    def arrays(self, arguments: Sequence[Any]) -> list[Any]:
        """The inputs, with what variables hold in their places."""
        arrays = list(arguments)
        for i in self._variables:
            arrays[i] = arguments[i]._array
        return arrays

    def compiled(self, arrays: Sequence[Any]) -> Compiled:
        """The code for inputs like these. What goes wrong in the compiler itself is a CompilerFaultError."""
        shapes = _shapes(arrays)
        with Fence(self.graph):
            graph, self._assigned = prepared(self.graph)
            specs = [
                Spec(value.dtype, shape) if isinstance(value.spec, Spec) else value.spec
                for value, shape in zip(graph.inputs, shapes, strict=True)
            ]
            failed = _failed if self._variables else self.fail
            code = compile(graph, specs, functools.partial(self._mismatched, shapes), failed, self._assigned)
        if len(self._code) >= _MOST_SHAPES:
            self._code.pop(next(iter(self._code)))
        self._code[shapes] = code
        return code

    def _mismatched(self, shapes: Any, arrays: Sequence[Any]) -> Any:
        """Run what the code for some shapes cannot read: other shapes, or arrays such as views of others."""
        if _shapes(arrays) != shapes:
            return self._run(arrays)
        plain = [
            np.require(np.asarray(array), _dtype(value), ["C", "A"]).view(np.ndarray)
            for array, value in zip(arrays, self.graph.inputs, strict=True)
        ]
        if type(arrays) is list and all(given is array for given, array in zip(arrays, plain, strict=True)):
            return _FAILED if self._variables else self.fail(arrays)
        return self._code[shapes](plain)

    def fail(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run the plan, which raises the error that the native code has met."""
        if self._plan is None:
            self._plan = Plan(self.graph)
        return self._plan.run(arguments)


def _failed(arrays: Sequence[Any]) -> Any:
    return _FAILED


def _shapes(arrays: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([np.shape(array) for array in arrays])


def _is_fixed(spec: Any) -> bool:
    return isinstance(spec, Spec) and spec.shape is not None and None not in spec.shape


def _dtype(value: Any) -> Any:
    spec = value.spec.content if isinstance(value.spec, RefSpec) else value.spec
    return spec.dtype.numpy


def prepared(graph: Graph) -> tuple[Graph, list[int]]:
    """The graph as it is compiled, and the numbers of the inputs whose last values follow its outputs."""
    from .variables import without_variables

    reasons = _of_inputs(graph) or _of_results(graph)
    if reasons:
        raise CannotCompileError(reasons)
    return without_variables(graph)


def _of_inputs(graph: Graph) -> list[str]:
    """Why the inputs cannot be given to native code."""
    reasons = []
    for value in graph.inputs:
        spec = value.spec.content if isinstance(value.spec, RefSpec) else value.spec
        if isinstance(spec, ArraySpec):
            reasons.append(f"`{value.name}` is a TensorArray, or a list")
        elif spec.dtype not in COMPILED and not any(value in each.inputs for each in graph.operations):
            reasons.append(f"`{value.name}` is {spec}, which is not compiled")
    return reasons


def _of_results(graph: Graph) -> list[Reason | str]:
    """Why the results cannot come from native code; those of an operation with such a dtype, it says itself."""
    makers = {value: operation for operation in graph.operations for value in operation.outputs}
    reasons: list[Reason | str] = []
    for output in graph.outputs:
        if isinstance(output, Constant):
            if output.dtype not in COMPILED:
                reasons.append(f"a result is a constant of {output.dtype.name}, which is not compiled")
        elif isinstance(output.spec, ArraySpec):
            reasons.append(Reason(makers[output], "its result, a TensorArray or a list, leaves the function"))
    return reasons


class Fence:
    """A block in which errors that the compiler should not raise become those of agc."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, (CannotCompileError, CompilationError)):
            raise CompilerFaultError(self._graph.name, error) from getattr(error, "__cause__", None) or error


def refused(graph: Graph, refusal: CannotCompileError) -> CompilationError:
    """The error for a graph that was to be compiled by all means."""
    fix = "leave these operations out of the function, or take jit_compile=None, which compiles where it can"
    return CompilationError(graph.name, refusal.reasons, fix)


def compile(
    graph: Graph,
    specs: Sequence[Any],
    mismatch: Callable[[list[Any]], Any],
    failed: Callable[[list[Any]], Any],
    assigned: Sequence[int] = (),
) -> Compiled:
    """The native code of a graph for inputs of these specs, as a function of a list of arrays.

    It calls `mismatch` with a list that it cannot read as it is, and `failed` where a check fails. Raises
    `CannotCompileError` with the reasons. `assigned` are the inputs whose new values are the last outputs.
    """
    why = engine.missing()
    if why is not None:
        raise CannotCompileError([why])
    from .entry import declare_symbols, entry

    declare_symbols()
    unit = lowered(graph, specs, assigned)
    return entry(unit, engine.Code(engine.assembled(unit.text())), mismatch, failed)


def lowered(graph: Graph, specs: Sequence[Any], assigned: Sequence[int] = ()) -> Any:
    """The unit of a graph without variables for inputs of these specs."""
    from ..optimise import optimise
    from . import rows  # noqa: F401  (the table of operations is filled)
    from .entry import EntryWriter
    from .specialise import specialised
    from .unit import Unit

    unit = Unit(optimise(specialised(graph, specs)))
    EntryWriter(unit, assigned)
    return unit


def text(graph: Graph) -> str:
    """What a graph whose shapes are known becomes in LLVM's language, after LLVM's passes.

    Raises ValueError without a compiler, and CompilationError for what cannot be compiled.
    """
    why = engine.missing()
    if why is not None:
        raise ValueError(f"there is no native code: {why}")
    try:
        with Fence(graph):
            plain, _ = prepared(graph)
            unit = lowered(plain, [value.spec for value in plain.inputs])
            return str(engine.optimised(unit.text()))
    except CannotCompileError as refusal:
        raise refused(graph, refusal) from None
