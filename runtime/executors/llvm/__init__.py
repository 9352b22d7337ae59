"""Native code: a graph becomes machine code for the shapes of its inputs, through LLVM.

    graph ──specialise──► one with known shapes ──lower──► LLVM ──engine──► machine code ──entry──► built-in function

llvm_engine.py       LLVM itself: the processor, the passes, object files, loading; object_cache.py keeps these on disk
split_module.py        a part of a module, which another thread compiles (parallel_codegen.py) while this one goes on
opt_levels.py       how many of these passes a graph is worth
shape_specialization.py   shapes become known, and what follows from them constants (constant_folding.py)
diagnostics.py      what cannot be compiled, with reasons
compilation_unit.py         one graph, one module; function_builder.py writes a function
runtime_library.py      what all compiled functions share, compiled once: entry_stub.py and dispatch_stub.py,
which Python calls (call_codegen.py
                is what both do with arrays, unpack_arguments.py and call_descriptor.py what the second looks
                at), arena.py, gil.py, and vectorcall.py, by which a call makes no tuple
layout_check.py  whether Python's and NumPy's objects look as cpython_layout.py says; ctypes_entry.py is for
those that do not vectors/        loops over elements in lanes, before LLVM sees them
gc_pause.py        no garbage is looked for meanwhile
worker_threads.py      threads that share large loops (threads.py, thread_pool_ir.py), and processes that fork
region_codegen.py      the walk over operations: when lazy values (nodes.py) are computed, and in which loops
buffer_assignment.py        buffers share memory where liveness.py says that they can
instrumentation.py     code that measures itself, for profiles
registry.py     the table of operations; its rows stand in elements.py, casts.py, reductions.py, loops.py, …
value_specialization.py    integers that shapes depend on: known by their values; affine_analysis.py: slices
whose length is known list_abi.py     TensorArrays and lists that go in and come out; cells.py: their memory
sizes.py        sizes that are known only while the code runs: an int to compare by, and a register
compile_graph.py     all these steps, one after the other
first_call_check.py        native code that nobody asked for is compared with the plan, once
jit_function.py      a graph for any shapes; the plan runs what fails, and says why

Nothing here changes an input or a variable before a run has succeeded. A check that fails ends the run, and the plan
runs the same inputs again, which raises the error with the user's line.

>>> available()
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .diagnostics import CannotCompileError, CompilationError
from .llvm_engine import INSTALL, missing

if TYPE_CHECKING:
    from .compile_graph import text
    from .jit_function import JitFunction


def available() -> bool:
    """Whether graphs can be compiled here: llvmlite is installed, and this is a usual CPython."""
    return missing() is None


__all__ = [
    "INSTALL",
    "CannotCompileError",
    "CompilationError",
    "JitFunction",
    "available",
    "missing",
    "text",
]


def __getattr__(name: str) -> Any:
    """`JitFunction` and `text`, with the rules of all operations: for what is compiled, which may be nothing."""
    if name == "JitFunction":
        from .jit_function import JitFunction

        return JitFunction
    if name == "text":
        from .compile_graph import text

        return text
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
