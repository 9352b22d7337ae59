"""Options of the optimizer: the toggles of `tf.config.optimizer`, under TensorFlow's names.

>>> OptimizerOptions.chosen({"constant_folding": False}).constant_folding
False
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..config import optimizer


class OptimizerOptions(NamedTuple):
    """The passes that may run, and their limits."""

    disable_meta_optimizer: bool = False
    disable_model_pruning: bool = False
    constant_folding: bool = True
    shape_optimization: bool = True
    arithmetic_optimization: bool = True
    loop_optimization: bool = True
    function_optimization: bool = True
    layout_optimizer: bool = True
    remapping: bool = True
    scoped_allocator_optimization: bool = True
    debug_stripper: bool = False
    min_graph_nodes: int = 0
    channels_last: bool = True
    fast_math: bool = False
    unroll: int = 0

    @staticmethod
    def chosen(requested: Mapping[str, Any]) -> OptimizerOptions:
        """Return the options with these settings; settings for other devices are ignored."""
        known = {name: value for name, value in requested.items() if name in OptimizerOptions._fields}
        return OptimizerOptions(**known)


def may_change_loops(options: OptimizerOptions | None) -> bool:
    """Return whether passes after the optimizer may change loops, by `options` or else those of the program."""
    chosen = OptimizerOptions.chosen(optimizer.get_experimental_options()) if options is None else options
    return chosen.loop_optimization and not chosen.disable_meta_optimizer
