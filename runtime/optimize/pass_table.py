"""The passes, in the order in which they run.

    traced graph → inline → strip_debug → dce → … → graph to run

A pass takes a graph and the options, and returns an equivalent graph. Its results are the same to the last
bit, unless `fast_math` allows more. It has the same side effects in the same order, and the same errors,
except for errors of dead operations.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import NamedTuple

from ..ir.graph import Graph
from . import algebraic_simplify, constant_fold, cse, dce, shape_simplify
from .options import OptimizerOptions

Run = Callable[[Graph, OptimizerOptions], Graph]


class Pass(NamedTuple):
    """A pass: its name, the option that enables it, and the types of the operations that it transforms.

    A pass that `counts_readers` runs on a graph without dead operations.
    """

    name: str
    run: Run
    option: str
    needs: frozenset[str] | None = None
    counts_readers: bool = False

    def may_run(self, options: OptimizerOptions) -> bool:
        allowed = bool(getattr(options, self.option))
        return not allowed if self.option.startswith("disable_") else allowed


def _late(module: str) -> Run:
    """Return the pass in `module`, which is imported when the pass first runs: most graphs do not need it."""

    def run(graph: Graph, options: OptimizerOptions) -> Graph:
        late: Run = importlib.import_module(f".{module}", __package__).run
        return late(graph, options)

    return run


_BROADCASTS = frozenset({"broadcast_to", "expand_dims", "fill", "reshape", "spread", "squeeze"})
_STRENGTH = frozenset({"floordiv", "floormod", "pow", "realdiv"})
_BRANCHES = frozenset({"cond", "switch"})
_LOOPS = frozenset({"while"})
_CHANNELS = frozenset({"conv", "conv_backprop_filter", "conv_backprop_input"})
_CALLS = frozenset({"call", "custom_gradient"})
_DEBUG = frozenset({"assert", "check_numerics", "print"})
_REDUCED = frozenset({"all_reduce"})

#    name, run, option, types of the operations that the pass transforms (None: all)
PASSES: tuple[Pass, ...] = (
    Pass("inline",               _late("inline"),             "function_optimization",   _CALLS),
    Pass("strip_debug",          _late("strip_debug"),        "debug_stripper",          _DEBUG),
    Pass("dce",                  dce.run,                     "disable_model_pruning"),
    Pass("constant_fold",        constant_fold.run,           "constant_folding"),
    Pass("shape_simplify",       shape_simplify.run,          "shape_optimization"),
    Pass("algebraic_simplify",   algebraic_simplify.run,      "arithmetic_optimization", algebraic_simplify.OPS),
    Pass("strength_reduction",   _late("strength_reduction"), "arithmetic_optimization", _STRENGTH),
    Pass("scalarize_broadcasts", _late("scalarize_broadcasts"), "arithmetic_optimization", _BROADCASTS),
    Pass("einsum_to_matmul",     _late("einsum_to_matmul"),   "layout_optimizer",        frozenset({"einsum"})),
    Pass("channels_last",        _late("channels_last"),      "channels_last",           _CHANNELS),
    Pass("fold_transposes",      _late("fold_transposes"),    "layout_optimizer",        frozenset({"transpose"})),
    Pass("simplify_cond",        _late("simplify_cond"),      "loop_optimization",       _BRANCHES),
    Pass("simplify_loops",       _late("simplify_loops"),     "loop_optimization",       _LOOPS, counts_readers=True),
    Pass("licm",                 _late("licm"),               "loop_optimization",       _LOOPS),
    Pass("cse",                  cse.run,                     "arithmetic_optimization"),
    Pass("combine_all_reduce",   _late("combine_all_reduce"), "scoped_allocator_optimization", _REDUCED),
    # fusion runs after these passes, which do not support fused kernels
)  # fmt: skip
