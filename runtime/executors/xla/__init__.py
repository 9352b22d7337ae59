"""The XLA executor: trace a whole graph with JAX for the shapes of its inputs, and run the program that XLA makes.

    graph ──functionalize──► static form ──region_trace──► jaxpr ──jax.jit──► XLA program ──xla_function──► runner

    library.py          JAX itself, imported at the first use; the scope in which 64-bit types exist
    static_form.py      the graph without variables and streams, with static shapes
    region_trace.py     computes the operations of a graph with values that JAX traces; failed checks are a flag
    structured.py       conditionals and loops
    rule_registry.py    the table of operations: a rule, the kernel traced with jax.numpy, or a reason
    numpy_namespace.py  kernels with jax.numpy in the place of NumPy
    kernel_array.py     the arrays that such kernels see and change; kernel_substitutes.py their loops and LAPACK
    symbolic_sizes.py   sizes that an exported program does not know
    rules/              the rules of operations
    buffers.py          the arrays of JAX whose memory arrays of NumPy show
    xla_program.py      a graph of static shapes as one program, which overwrites the state that it is given
    compiler_options.py options of XLA's compiler
    xla_function.py     a graph for any shapes; the plan runs failed calls again, and reports the error
    spmd_program.py     a program of several devices, each with inputs of its own; spmd_function.py runs them

A run that fails gives variables their old values back. A failed check is a flag among the results; the plan then runs
the same inputs again, and raises the error with the line of user code.

>>> missing() is None or "pip install" in missing()
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .library import (
    AXIS,
    INSTALL,
    MissingDeviceError,
    available,
    chosen_devices,
    has_several_cpus,
    local_devices,
    missing,
    started_devices,
)

if TYPE_CHECKING:
    from .rule_registry import operation_kinds
    from .spmd_function import compiled
    from .xla_function import XlaFunction

__all__ = [
    "AXIS", "INSTALL", "MissingDeviceError", "XlaFunction", "available", "chosen_devices", "compiled",
    "has_several_cpus", "local_devices", "missing", "operation_kinds", "started_devices",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a name at its first use, together with JAX and all rules."""
    if name == "XlaFunction":
        from .xla_function import XlaFunction

        return XlaFunction
    if name == "compiled":
        from .spmd_function import compiled

        return compiled
    if name == "operation_kinds":
        from . import xla_function  # noqa: F401  (registers the rules)
        from .rule_registry import operation_kinds

        return operation_kinds
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
