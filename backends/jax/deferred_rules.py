"""Stage the rules of the user's that JAX runs later: those of `jax.custom_vjp`, `custom_jvp` and `custom_vmap`.

    f.defvjp(forward, backward)     `backward` runs when the caller of the compiled function differentiates it

By then the converted function that has called `f` is over, and with it the time in which its control flow is staged. So
each rule is staged by itself. That happens at the first call of `f` in a converted function.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from agc.arrays import is_running, staged
from agc.autograph.api import is_user_code

import jax
import jax.custom_batching

from .library import LIBRARY

_RULES: dict[type, tuple[str, ...]] = {
    jax.custom_vjp: ("fun", "fwd", "bwd"),
    jax.custom_jvp: ("fun", "jvp"),
    jax.custom_batching.custom_vmap: ("fun", "vmap_rule"),
}


def _stage_rules_of(kind: Any, names: tuple[str, ...]) -> None:
    call = kind.__call__

    @functools.wraps(call)
    def staging_rules(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_running() and "_agc_rules_are_staged" not in vars(self):
            self._agc_rules_are_staged = True
            for name in names:
                rule = getattr(self, name, None)
                if isinstance(rule, FunctionType) and is_user_code(rule):
                    setattr(self, name, staged(rule, LIBRARY))
        return call(self, *args, **kwargs)

    kind.__call__ = staging_rules


for _kind, _names in _RULES.items():
    _stage_rules_of(_kind, _names)
