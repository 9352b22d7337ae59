"""The passes, in the order in which they run.

    traced graph → inline → prune → fold → … → graph to run

A pass takes a graph and the options, and returns an equivalent graph. Its results are the same to the last
bit, unless `fast_math` allows more. It has the same side effects in the same order, and the same errors,
except for errors of dead operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..ir.graph import Graph
from ..ir.op_def import OpDef
from ..ops.arrays.reshape import permute_axes
from ..ops.collective.reductions import all_reduce
from ..ops.framework.region_ops import CALL, COND, CUSTOM, SWITCH, WHILE
from ..ops.linalg.einsum import einsum_op
from . import (
    algebraic_simplify,
    combine_all_reduce,
    constant_fold,
    cse,
    dce,
    einsum_to_matmul,
    fold_transposes,
    inline,
    licm,
    scalarize_broadcasts,
    shape_simplify,
    simplify_cond,
    simplify_loops,
    strength_reduction,
    strip_debug,
)
from .options import OptimizerOptions

Run = Callable[[Graph, OptimizerOptions], Graph]


class Pass(NamedTuple):
    """A pass: its name, the option that enables it, and the operations that it transforms.

    A pass that `counts_readers` runs on a graph without dead operations.
    """

    name: str
    run: Run
    option: str
    needs: frozenset[OpDef] | None = None
    counts_readers: bool = False

    def may_run(self, options: OptimizerOptions) -> bool:
        allowed = bool(getattr(options, self.option))
        return not allowed if self.option.startswith("disable_") else allowed


_BRANCHES = frozenset({COND, SWITCH})
_LOOPS = frozenset({WHILE})
_CALLS = frozenset({CALL, CUSTOM})
_BROADCASTS = frozenset(scalarize_broadcasts.SPREADING)
_DEBUG = frozenset(strip_debug.RULES)
_STRENGTH = frozenset(strength_reduction.RULES)

#    name, run, option, operations that the pass transforms (None: all)
PASSES: tuple[Pass, ...] = (
    Pass("inline",               inline.run,               "function_optimization",   _CALLS),
    Pass("strip_debug",          strip_debug.run,          "debug_stripper",          _DEBUG),
    Pass("dce",                  dce.run,                  "disable_model_pruning"),
    Pass("constant_fold",        constant_fold.run,        "constant_folding"),
    Pass("shape_simplify",       shape_simplify.run,       "shape_optimization"),
    Pass("algebraic_simplify",   algebraic_simplify.run,   "arithmetic_optimization", algebraic_simplify.OPS),
    Pass("strength_reduction",   strength_reduction.run,   "arithmetic_optimization", _STRENGTH),
    Pass("scalarize_broadcasts", scalarize_broadcasts.run, "arithmetic_optimization", _BROADCASTS),
    Pass("einsum_to_matmul",     einsum_to_matmul.run,     "layout_optimizer",        frozenset({einsum_op})),
    Pass("fold_transposes",      fold_transposes.run,      "layout_optimizer",        frozenset({permute_axes})),
    Pass("simplify_cond",        simplify_cond.run,        "loop_optimization",       _BRANCHES),
    Pass("simplify_loops",       simplify_loops.run,       "loop_optimization",       _LOOPS, counts_readers=True),
    Pass("licm",                 licm.run,                 "loop_optimization",       _LOOPS),
    Pass("cse",                  cse.run,                  "arithmetic_optimization"),
    Pass("combine_all_reduce",   combine_all_reduce.run,   "scoped_allocator_optimization", frozenset({all_reduce})),
    # fusion runs after these passes, which do not support fused kernels
)  # fmt: skip
