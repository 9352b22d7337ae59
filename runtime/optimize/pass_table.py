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
from . import (
    algebraic_simplify,
    code_hoisting,
    code_sinking,
    constant_fold,
    cse,
    dce,
    fold_transposes,
    inline,
    licm,
    merge_loop_state,
    scalarize_broadcasts,
    shape_simplify,
    simplify_cond,
    simplify_loops,
    strength_reduction,
    strip_debug,
)
from .options import Options

Run = Callable[[Graph, Options], Graph]


class Pass(NamedTuple):
    """A pass: its name, the option that enables it, and the operations that it transforms.

    A pass that `counts_readers` runs on a graph without dead operations.
    """

    name: str
    run: Run
    option: str
    needs: frozenset[str] | None = None
    counts_readers: bool = False

    def may_run(self, options: Options) -> bool:
        allowed = bool(getattr(options, self.option))
        return not allowed if self.option.startswith("disable_") else allowed


#    name           run             option                     operations it transforms (None: all)
PASSES: tuple[Pass, ...] = (
    Pass("inline",      inline.run,      "function_optimization",   frozenset({"call", "custom_gradient"})),
    Pass("strip",       strip_debug.run,       "debug_stripper",          frozenset({"assert", "print",
    "check_numerics"})), Pass("prune",       dce.run,       "disable_model_pruning"),
    Pass("fold",        constant_fold.run,        "constant_folding"),
    Pass("shapes",      shape_simplify.run,      "shape_optimization"),
    Pass("laws",        algebraic_simplify.run,        "arithmetic_optimization", algebraic_simplify.TYPES),
    Pass("strength",    strength_reduction.run,    "arithmetic_optimization", frozenset(strength_reduction.RULES)),
    Pass("spreads",     scalarize_broadcasts.run,     "arithmetic_optimization",
    frozenset(scalarize_broadcasts.SPREADING)),
    Pass("transposes",  fold_transposes.run,  "layout_optimizer",        frozenset({"transpose"})),
    Pass("branches",    simplify_cond.run,    "loop_optimization",       frozenset({"cond", "switch"})),
    Pass("lift",        code_hoisting.run,        "loop_optimization",       frozenset({"cond", "switch"}),
    counts_readers=True),
    Pass("loops",       simplify_loops.run,       "loop_optimization",       frozenset({"while"}), counts_readers=True),
    Pass("states",      merge_loop_state.run,      "loop_optimization",       frozenset({"while"}),
    counts_readers=True), Pass("invariant",   licm.run,   "loop_optimization",       frozenset({"while"})),
    Pass("common",      cse.run,      "arithmetic_optimization"),
    Pass("sink",        code_sinking.run,        "loop_optimization",       frozenset({"cond", "switch"}),
    counts_readers=True),
    # fusion runs after these passes, which do not support fused kernels
)  # fmt: skip
