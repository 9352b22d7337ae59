"""Let staged blocks change the variables of Flax's NNX modules, as any other attributes.

    while loss > 0.1:                    the variables of `model` and `optimizer` are state of the loop
        optimizer.update(model, grads)

NNX refuses changes of a variable in another trace than that which made it, for such a change would be lost. A block of
control flow is another trace of JAX. But the changes are not lost: autograph returns them from the block. So NNX is
told the trace around the block.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agc.autograph import staging

from jax.extend.core import get_opaque_trace_state


class _Blocks(threading.local):
    """The traces of the blocks that are traced now, each with the trace around it."""

    def __init__(self) -> None:
        self.levels: list[tuple[Any, Any]] = []


_blocks = _Blocks()


def of_the_same_level(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function; while it is traced, variables of the trace around it may change."""
    if "flax.nnx" not in sys.modules:
        return function
    around = _level()

    def traced(*arrays: Any) -> Any:
        _blocks.levels.append((get_opaque_trace_state(convention="nnx"), around))
        try:
            return function(*arrays)
        finally:
            _blocks.levels.pop()

    return traced


def _level() -> Any:
    """Return the trace that NNX compares: that around the blocks, if the running trace is that of a block."""
    now = get_opaque_trace_state(convention="nnx")
    return next((around for own, around in reversed(_blocks.levels) if own == now), now)


@contextmanager
def with_flax() -> Iterator[None]:
    """Prepare Flax, if it is loaded, for the trace of a function."""
    nnx = sys.modules.get("flax.nnx")
    if nnx is not None and getattr(nnx.tracers, "current_jax_trace", None) is not _level:
        nnx.tracers.current_jax_trace = _level
        staging.register_stateful(nnx.Pytree, nnx.Variable, nnx.State)
    yield
