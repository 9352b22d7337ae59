"""The passes, in the order in which they run.

    traced graph → inline → prune → fold → … → graph to run

A pass takes a graph and the options, and gives a graph that does the same: the same results to the last bit
(unless `fast_math` allows more), the same effects in the same order, and the same errors, but for those of
operations that nobody needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..ir.graph import Graph
from . import (
    branches,
    common,
    fold,
    inline,
    invariant,
    laws,
    lift,
    loops,
    prune,
    shapes,
    sink,
    spreads,
    states,
    strength,
    strip,
    transposes,
)
from .options import Options

Run = Callable[[Graph, Options], Graph]


class Pass(NamedTuple):
    """A pass: its name, the option that lets it run, and the operations without which it has nothing to do.

    One that `counts_readers` wants a graph without operations that nobody needs.
    """

    name: str
    run: Run
    option: str
    needs: frozenset[str] | None = None
    counts_readers: bool = False

    def may_run(self, options: Options) -> bool:
        allowed = bool(getattr(options, self.option))
        return not allowed if self.option.startswith("disable_") else allowed


#    name           run             option                     operations it is about (None: all)
PASSES: tuple[Pass, ...] = (
    Pass("inline",      inline.run,      "function_optimization",   frozenset({"call", "custom_gradient"})),
    Pass("strip",       strip.run,       "debug_stripper",          frozenset({"assert", "print", "check_numerics"})),
    Pass("prune",       prune.run,       "disable_model_pruning"),
    Pass("fold",        fold.run,        "constant_folding"),
    Pass("shapes",      shapes.run,      "shape_optimization"),
    Pass("laws",        laws.run,        "arithmetic_optimization", laws.TYPES),
    Pass("strength",    strength.run,    "arithmetic_optimization", frozenset(strength.RULES)),
    Pass("spreads",     spreads.run,     "arithmetic_optimization", frozenset(spreads.SPREADING)),
    Pass("transposes",  transposes.run,  "layout_optimizer",        frozenset({"transpose"})),
    Pass("branches",    branches.run,    "loop_optimization",       frozenset({"cond", "switch"})),
    Pass("lift",        lift.run,        "loop_optimization",       frozenset({"cond", "switch"}), counts_readers=True),
    Pass("loops",       loops.run,       "loop_optimization",       frozenset({"while"}), counts_readers=True),
    Pass("states",      states.run,      "loop_optimization",       frozenset({"while"}), counts_readers=True),
    Pass("invariant",   invariant.run,   "loop_optimization",       frozenset({"while"})),
    Pass("common",      common.run,      "arithmetic_optimization"),
    Pass("sink",        sink.run,        "loop_optimization",       frozenset({"cond", "switch"}), counts_readers=True),
    # what fuses operations into kernels stands last: the other passes know nothing of such kernels
)  # fmt: skip
