"""`tf.config.optimizer`: wishes for how graphs are made faster. Kept, without effect on any result.

>>> get_jit(), get_experimental_options()["disable_meta_optimizer"]
('', False)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_jit = {"chosen": ""}


def get_experimental_options() -> dict[str, Any]:
    """The options that were set."""
    return dict(_options)


def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Keep options for a graph optimiser."""
    _options.update(options)


def get_jit() -> str:
    """What `set_jit` was last given: "" or "autoclustering"."""
    return _jit["chosen"]


def set_jit(enabled: bool | str) -> None:
    """Allow a native compiler to take parts of graphs; there is none. ValueError for another value."""
    if enabled not in (True, False, "", "autoclustering"):
        raise ValueError(f"{enabled!r} is not a valid JIT configuration: use True, False or 'autoclustering'")
    _jit["chosen"] = "autoclustering" if enabled else ""
