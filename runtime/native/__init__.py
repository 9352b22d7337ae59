"""Native code: a graph becomes machine code for the shapes of its inputs, through LLVM.

    graph ──specialise──► one with known shapes ──lower──► LLVM ──engine──► machine code ──entry──► built-in function

engine.py       LLVM itself: the processor, the passes, object files, loading; cache.py keeps these on disk
apart.py        a part of a module, which another thread compiles (objectfiles.py) while this one goes on
levels.py       how many of these passes a graph is worth
specialise.py   shapes become known, and what follows from them constants (folding.py)
support.py      what cannot be compiled, with reasons
unit.py         one graph, one module; emitter.py writes a function
library.py      what all compiled functions share, compiled once: entry.py and dispatch.py, which Python calls (calls.py
                is what both do with arrays, arguments.py and quick.py what the second looks at), memory.py, lock.py,
                and vectorcalls.py, by which a call makes no tuple
object_layout.py  whether Python's and NumPy's objects look as objects.py says; ctypes_entry.py is for those that do not
vectors/        loops over elements in lanes, before LLVM sees them
pause.py        no garbage is looked for meanwhile
workers.py      threads that share large loops (threads.py, pool.py), and processes that fork
regions.py      the walk over operations: when lazy values (nodes.py) are computed, and in which loops
reuse.py        buffers share memory where liveness.py says that they can
metering.py     code that measures itself, for profiles
registry.py     the table of operations; its rows stand in elements.py, casts.py, reductions.py, loops.py, …
by_values.py    integers that shapes depend on: known by their values; linear.py: slices whose length is known
crossing.py     TensorArrays and lists that go in and come out; cells.py: their memory
sizes.py        sizes that are known only while the code runs: an int to compare by, and a register
lowering.py     all these steps, one after the other
trust.py        native code that nobody asked for is compared with the plan, once
running.py      a graph for any shapes; the plan runs what fails, and says why

Nothing here changes an input or a variable before a run has succeeded. A check that fails ends the run, and the plan
runs the same inputs again, which raises the error with the user's line.

>>> available()
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .engine import INSTALL, missing
from .support import CannotCompileError, CompilationError

if TYPE_CHECKING:
    from .lowering import text
    from .running import Native


def available() -> bool:
    """Whether graphs can be compiled here: llvmlite is installed, and this is a usual CPython."""
    return missing() is None


__all__ = [
    "INSTALL",
    "CannotCompileError",
    "CompilationError",
    "Native",
    "available",
    "missing",
    "text",
]


def __getattr__(name: str) -> Any:
    """`Native` and `text`, with the rules of all operations: for what is compiled, which may be nothing."""
    if name == "Native":
        from .running import Native

        return Native
    if name == "text":
        from .lowering import text

        return text
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
