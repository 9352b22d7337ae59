"""Remove debug operations: assertions, prints and checks for NaN.

    assert p, x [message='...']             ==>     y = add x, 1.0
    z = check_numerics x [message='x']
    y = add z, 1.0

The pass is enabled by `debug_stripper` only, since it changes the behavior of the program.
"""

from __future__ import annotations

from ..ir.graph import Graph, Operation
from ..ir.op_def import OpDef
from ..ops.math.check_numerics import check_numerics
from ..ops.state.print_and_assert import assert_true, print_texts
from .options import OptimizerOptions
from .rewriter import Found, Rewriter, Rule, rewrite_all


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, RULES)


def _nothing(operation: Operation, walk: Rewriter) -> Found:
    return ()


def _as_it_is(operation: Operation, walk: Rewriter) -> Found:
    return operation.inputs


RULES: dict[OpDef, Rule] = {assert_true: _nothing, print_texts: _nothing, check_numerics: _as_it_is}
