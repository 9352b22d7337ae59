"""The LLVM executor: compile a graph to native code for the shapes of its inputs.

    graph ──specialize──► static shapes ──lower──► LLVM IR ──engine──► native code ──entry──► callable

    availability.py          whether native code is possible here
    llvm_engine.py           LLVM itself: target machine, passes, object files, loading; object_cache.py: disk cache
    module_partition.py      division of large modules, which parallel_codegen.py compiles on several threads
    unit_text.py             modules of functions that are complete, while the rest of a graph is lowered
    opt_levels.py            the LLVM passes that a graph is worth; codegen_switches.py: those of code generation
    compile_graph.py         all steps from a graph to LLVM IR; ../../functionalize has the first ones
    value_specialization.py  specialization for the values of integers that shapes depend on
    compilation_unit.py      one graph as one LLVM module; host_addresses.py: its addresses of the process
    codegen/                 emission of IR: region_lowering.py lowers the operations of a graph,
                             index_builder.py emits indices (affine.py) and addresses,
                             materialization.py computes lazy values (lazy_values.py) in loop nests,
                             buffer_assignment.py lets buffers share memory, dynamic_sizes.py represents dynamic sizes,
                             instrumentation.py emits clocks for profiles
    lowering/                the lowering rules of operations (codegen/rule_registry.py)
    list_abi.py              TensorArrays and lists as inputs and results
    runtime_library.py       functions shared by all compiled code: memory (arena.py), the GIL
    shared_code.py           compilation of such functions in the background, while a graph is lowered
    call/                    calls from Python: native_call.py with the C extension native_call.c, else ctypes_entry.py
    diagnostics.py           messages about graphs that are not compiled
    jit_function.py          a graph for any shapes; the plan runs failed calls again, and reports the error
    tiering.py               automatic compilation of hot graphs by a thread (background_compiler.py), for which
                             calls wait (wait_budget.py); first_call_check.py compares results with the plan's
                             (result_differences.py, moved_inputs.py), trial_times.py times

A run changes no input and no variable before it has succeeded. A failed check ends the run, and the plan runs
the same inputs again, which raises the error with the line of user code.

>>> available()
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...functionalize.errors import CannotCompileError
from .availability import INSTALL, missing

if TYPE_CHECKING:
    from .compile_graph import text, text_with_origins
    from .diagnostics import CompilationError
    from .jit_function import JitFunction


def available() -> bool:
    """Return whether graphs can be compiled here: llvmlite is installed, and this is a supported CPython."""
    return missing() is None


__all__ = [
    "INSTALL",
    "CannotCompileError",
    "CompilationError",
    "JitFunction",
    "available",
    "missing",
    "text",
    "text_with_origins",
]


def __getattr__(name: str) -> Any:
    """Import a name on first access; `JitFunction` and the functions for texts come with all lowering rules."""
    if name == "JitFunction":
        from .jit_function import JitFunction

        return JitFunction
    if name == "CompilationError":
        from .diagnostics import CompilationError

        return CompilationError
    if name in ("text", "text_with_origins"):
        from . import compile_graph

        return getattr(compile_graph, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
