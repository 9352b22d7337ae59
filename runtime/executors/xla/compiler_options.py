"""Options of XLA's compiler for a program.

XLA's compiler for CPUs emits each kernel by MLIR, which takes milliseconds, or in an older way, which takes a quarter
to a half of that. Programs of many small kernels, such as conditionals and writes to lists, take the older way, which
JAX has up to its version 0.10, the last one for Python 3.11.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from ...ir.graph import Graph, Operation
from ...ir.value_types import ListType

Options = dict[str, bool]

_ALWAYS: Options = {"xla_allow_excess_precision": False}
"""Results of narrow floats are rounded after each operation, as in the other executors."""

_QUICK: Options = {"xla_cpu_use_fusion_emitters": False}

_MANY = 50
"""Number of operations with a kernel of their own from which the quicker way is taken."""


def options_for(graph: Graph, platform: str = "") -> Options:
    """Return the options for the program of a graph on a platform of JAX."""
    if platform != "cpu" or sum(map(_is_apart, graph.walk())) < _MANY or not _are_known():
        return _ALWAYS
    return _ALWAYS | _QUICK


def _is_apart(operation: Operation) -> bool:
    """Return whether XLA fuses an operation with no other one: it has regions, or changes a list."""
    return bool(operation.regions) or any(isinstance(value.spec, ListType) for value in operation.outputs)


@functools.cache
def _are_known() -> bool:
    """Return whether this version of XLA has the option."""
    try:
        jax.jit(lambda: jnp.float32(0)).lower().compile(compiler_options=dict(_QUICK))
    except jax.errors.JaxRuntimeError:  # "No such compile option"
        return False
    return True
