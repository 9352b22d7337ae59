"""Remove debug operations: assertions, prints and checks for NaN.

    assert p, x [message='...']             ==>     y = add x, 1.0
    z = check_numerics x [message='x']
    y = add z, 1.0

The pass is enabled by `debug_stripper` only, since it changes the behavior of the program.
"""

from __future__ import annotations

from ..ir.graph import Graph, Operation
from .options import Options
from .rewriter import Found, Rewriter, rewrite_all


def run(graph: Graph, options: Options) -> Graph:
    return rewrite_all(graph, {"assert": _nothing, "print": _nothing, "check_numerics": _as_it_is})


def _nothing(operation: Operation, walk: Rewriter) -> Found:
    return ()


def _as_it_is(operation: Operation, walk: Rewriter) -> Found:
    return operation.inputs
