"""`tf.config.optimizer`: options of the graph optimizer, which runs before a graph's first execution.

The options enable or disable passes of the optimizer (runtime/optimize/pass_table.py):

    disable_meta_optimizer     no pass at all
    disable_model_pruning      dce: dead code elimination
    constant_folding           constant_fold
    shape_optimization         shape_simplify: static shapes become constants
    arithmetic_optimization    algebraic_simplify, strength_reduction, scalarize_broadcasts, cse: equal bits
    layout_optimizer           einsum_to_matmul, fold_transposes: transposes move into matrix products
    loop_optimization          simplify_cond, simplify_loops, licm: known branches and trip counts
    function_optimization      inline: inline function calls
    remapping                  fusion of operations
    scoped_allocator_optimization    combine_all_reduce: sums over processes that travel together
    debug_stripper             strip_debug: remove assertions, prints and checks for NaN (off by default)
    min_graph_nodes            graphs with fewer operations are not optimized
    channels_last              channels_last: convolutions and what surrounds them have the channels last
    fast_math                  also laws that hold for real numbers, but not for all floats (off by default)
    unroll                     unroll loops of up to this trip count (tiny ones are always unrolled)

The last three are not TensorFlow's. Options for other devices are stored without effect. Only
`debug_stripper` and `fast_math` change results.

>>> get_jit(), get_experimental_options()["disable_meta_optimizer"]
('', False)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.missing_names import explain as _explain

_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_jit: dict[str, Any] = {"chosen": "", "allowed": True, "is_deterministic": False}


def get_experimental_options() -> dict[str, Any]:
    """Return the options that were set.

    >>> get_experimental_options()["disable_model_pruning"]
    False
    """
    return dict(_options)


def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Set options of the optimizer, for graphs that have not run yet.

    >>> set_experimental_options({"disable_meta_optimizer": False})
    """
    _options.update(options)


def get_jit() -> str:
    """Return the last value given to `set_jit`: "" or "autoclustering".

    >>> get_jit()
    ''
    """
    return str(_jit["chosen"])


def set_jit(enabled: bool | str) -> None:
    """Allow or forbid automatic compilation of graphs that run for long.

    It is allowed at first. Raises ValueError for another value.

    >>> set_jit(False)
    >>> get_jit()
    ''
    >>> set_jit("autoclustering")
    """
    if enabled not in (True, False, "", "autoclustering"):
        raise ValueError(f"{enabled!r} is not a valid JIT configuration: use True, False or 'autoclustering'")
    _jit["chosen"] = "autoclustering" if enabled else ""
    _jit["allowed"] = bool(enabled)


def is_jit_allowed() -> bool:
    """Return whether graphs may be compiled automatically, at a time that depends on their speed."""
    return _jit["allowed"] and not _jit["is_deterministic"]


def set_deterministic(enabled: bool) -> None:
    """Set whether results may not depend on time; see `tf.config.experimental.enable_op_determinism`."""
    _jit["is_deterministic"] = enabled


def is_deterministic() -> bool:
    """Return whether results may not depend on time."""
    return bool(_jit["is_deterministic"])


_explain(__name__)
