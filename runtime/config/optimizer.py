"""`tf.config.optimizer`: how graphs are made faster, before they run for the first time.

The options switch passes of the optimiser (runtime/optimize/pass_table.py) on and off:

    disable_meta_optimizer     no pass at all
    disable_model_pruning      prune: what nobody needs is left out
    constant_folding           fold: what is known is computed once
    shape_optimization         shapes: known shapes become constants
    arithmetic_optimization    laws, strength, common: cheaper ways to the same bits, each taken once
    layout_optimizer           transposes: matrix products turn their operands themselves
    loop_optimization          branches, loops, invariant: known branches and rounds; what never changes in a loop
    function_optimization      inline: what a function does stands in the place of its call
    remapping                  operations are fused
    debug_stripper             strip: assertions, prints and checks for NaN are left out (off by default)
    min_graph_nodes            graphs of fewer operations stay as they are
    fast_math                  laws that hold for real numbers, not for all floats, too (off by default)
    unroll                     loops of up to so many known rounds are written out (tiny ones always are)

The last two are not TensorFlow's. Those of its options that are about other devices are kept, without effect. None
but `debug_stripper` and `fast_math` changes any result.

>>> get_jit(), get_experimental_options()["disable_meta_optimizer"]
('', False)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.missing_names import explain as _explain

_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_jit: dict[str, Any] = {"chosen": "", "allowed": True}


def get_experimental_options() -> dict[str, Any]:
    """The options that were set."""
    return dict(_options)


def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Set options of the optimiser, for graphs that have not run yet.

    >>> set_experimental_options({"disable_meta_optimizer": False})
    """
    _options.update(options)


def get_jit() -> str:
    """What `set_jit` was last given: "" or "autoclustering"."""
    return str(_jit["chosen"])


def set_jit(enabled: bool | str) -> None:
    """Allow or forbid that graphs which run for long are compiled without being asked for.

    It is allowed at first. ValueError for another value.
    """
    if enabled not in (True, False, "", "autoclustering"):
        raise ValueError(f"{enabled!r} is not a valid JIT configuration: use True, False or 'autoclustering'")
    _jit["chosen"] = "autoclustering" if enabled else ""
    _jit["allowed"] = bool(enabled)


def is_jit_allowed() -> bool:
    """Whether graphs may be compiled without being asked for."""
    return bool(_jit["allowed"])


_explain(__name__)
