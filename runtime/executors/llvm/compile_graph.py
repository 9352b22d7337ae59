"""The steps from a graph to LLVM IR, and the reasons why a graph cannot be compiled.

    graph ──prepare──► no variables ──specialize──► static shapes ──optimize──► unit ──► LLVM IR

Each step raises `CannotCompileError` with its reasons.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.shapes import num_elements
from ...functionalize.errors import CannotCompileError
from ...functionalize.random import with_streams
from ...ir.graph import Constant, Graph
from ...ir.source_location import Origin
from ...ir.value_types import ListType, VariableType
from . import availability, list_abi, llvm_engine
from .codegen.llvm_types import STORED
from .diagnostics import CompilationError, FaultBoundary
from .parallel_codegen import Tasks

_FEWEST = 1024
"""The number of elements from which a variable is overwritten by its new value, if all together are many."""


def prepared(graph: Graph) -> tuple[Graph, list[int]]:
    """Return the functional form of a graph, and the variable inputs whose new values follow its outputs."""
    from ...functionalize.variables import without_variables

    reasons = _of_inputs(graph) or _of_results(graph)
    if reasons:
        raise CannotCompileError(reasons)
    return without_variables(graph)


def _of_inputs(graph: Graph) -> list[str]:
    """Return the reasons why inputs cannot be passed to native code."""
    reasons = []
    for value in graph.inputs:
        spec = value.spec.content if isinstance(value.spec, VariableType) else value.spec
        if isinstance(spec, ListType):
            list_abi.demand_compiled(spec)
        elif spec.dtype not in STORED and not any(value in each.inputs for each in graph.operations):
            reasons.append(f"`{value.name}` is {spec}, which is not compiled")
    return reasons


def _of_results(graph: Graph) -> list[str]:
    """Return the reasons why results cannot come from native code. Operations report their own dtypes."""
    reasons = []
    for output in graph.outputs:
        if isinstance(output, Constant):
            if output.dtype not in STORED:
                text = f"the result {output.value.tolist()!r} is a constant of {output.dtype.name}"
                reasons.append(f"{text}, which is not compiled: return it from a function around this one")
        elif isinstance(output.spec, ListType):
            list_abi.demand_compiled(output.spec)
    return reasons


def refused(graph: Graph, refusal: CannotCompileError) -> CompilationError:
    """Return the error for a graph that must be compiled, but cannot be."""
    fix = (
        "leave these operations out of the function, or use jit_compile=None, which compiles only what it can"
    )
    return CompilationError(graph.name, refusal.reasons, fix)


def lowered(
    graph: Graph,
    arguments: Sequence[Any],
    assigned: Sequence[int] = (),
    is_measured: bool = False,
    with_sizes: bool = True,
    is_located: bool = False,
    tasks: Tasks | None = None,
) -> Any:
    """Lower a graph without variables, for inputs of these types or constants, to a `CompilationUnit`.

    `assigned` are the inputs whose new values are the last outputs. With `is_measured`, the code is
    instrumented for a profile. Without `with_sizes`, all shapes must be static. With `is_located`, the unit has the
    operation of each instruction. With `tasks`, LLVM begins with complete functions. Raise `CannotCompileError` with
    the reasons.
    """
    why = availability.missing()
    if why is not None:
        raise CannotCompileError([why])
    from . import unit_cache

    given = (i for i, argument in enumerate(arguments) if not isinstance(argument, Constant))
    places = {number: place for place, number in enumerate(given)}
    first = len(graph.outputs) - len(assigned)
    donors = {first + i: places[number] for i, number in enumerate(assigned)}
    is_kept = tasks is not None and not is_measured and not is_located
    key = unit_cache.key(graph, arguments, donors, with_sizes) if is_kept else None
    unit = unit_cache.read(key) if key is not None else None
    if unit is None:
        optimized = _optimized(graph, arguments, with_sizes)
        if reasons := _of_results(optimized):  # known inputs turn operations of other dtypes into constants
            raise CannotCompileError(reasons)
        unit = _unit(optimized, is_measured, donors, is_located, tasks)
    unit.key = key
    if any(len(graph.outputs) - 1 - i in unit.sized for i in range(len(assigned))):
        raise CannotCompileError(["the new shape of a variable depends on values"])
    unit.assigned = [number for i, number in donors.items() if i not in unit.overwritten]
    return unit


def _optimized(graph: Graph, arguments: Sequence[Any], with_sizes: bool) -> Graph:
    """Return the optimized graph for inputs of these types or constants."""
    from ...functionalize.shapes import specialized
    from ...optimize import OptimizerOptions, dce, optimize_for_shapes, regroup_products, schedule_updates
    from ...optimize import widen_narrow_floats as widen
    from .codegen.element_formulas import computes

    needed = dce.run(graph, OptimizerOptions())  # dead operations must not be reasons to refuse the graph
    plain = widen.run(optimize_for_shapes(specialized(needed, arguments, with_sizes)), computes)
    return schedule_updates.run(regroup_products.run(plain))


def _unit(
    graph: Graph, is_measured: bool, donors: Mapping[int, int], is_located: bool, tasks: Tasks | None
) -> Any:
    """Lower a graph whose outputs may use the memory of the inputs in `donors`."""
    from ...optimize import outline_repeats
    from . import runtime_library
    from .codegen.check_builder import TooLateError
    from .codegen.early_outputs import Donation
    from .codegen_switches import FEWEST, passes
    from .compilation_unit import LONG, CompilationUnit

    if tasks is not None:
        runtime_library.begin()  # not earlier: threads that import modules at once hinder each other
        tasks.enter_context(passes(FEWEST))  # setting the switches takes time
    sizes = {i: num_elements(graph.inputs[number].shape) or 0 for i, number in donors.items()}
    total = sum(sizes.values())
    large = {i: donors[i] for i in donors if sizes[i] >= _FEWEST and total > LONG}
    outlined = graph if is_measured or is_located else outline_repeats.run(graph)
    with contextlib.suppress(TooLateError):
        return CompilationUnit(outlined, is_measured, large, Donation.EARLY, is_located, tasks)
    with contextlib.suppress(TooLateError):
        return CompilationUnit(graph, is_measured, large, Donation.LAST, is_located, tasks)
    return CompilationUnit(
        graph, is_measured, {}, Donation.LAST, is_located, tasks
    )  # the nests themselves may fail


def text(graph: Graph) -> str:
    """Return the optimized LLVM IR of a graph with static shapes."""
    return llvm_engine.optimized(*_unit_of(graph).code())


def text_with_origins(graph: Graph) -> tuple[str, list[Origin | None]]:
    """Return the optimized LLVM IR of a graph with static shapes, and the origin of each of its lines."""
    from .line_info import LineInfo

    unit = _unit_of(graph, is_located=True)
    info = LineInfo(unit.module, unit.located)
    return info.split(llvm_engine.optimized(*unit.code()))


def _unit_of(graph: Graph, is_located: bool = False) -> Any:
    why = availability.missing()
    if why is not None:
        raise ValueError(f"there is no native code: {why}")
    try:
        with FaultBoundary(graph):
            plain, _ = prepared(with_streams(graph)[0])
            return lowered(plain, [value.spec for value in plain.inputs], is_located=is_located)
    except CannotCompileError as refusal:
        raise refused(graph, refusal) from None
