"""Trace the gradient function of a custom gradient into a region.

    @custom_gradient
    def f(x):
        return exp(x), lambda dy: dy * f(x)    ==>    gradient dy, x
                                                        …                 f again, with a region of its own

The function is traced before anything differentiates it. So what it raises becomes a refusal: an error of those who
differentiate. A function whose gradient function calls it again has no last region, so `ORDERS` limits their nesting.
Until the trace ends, tapes call the gradient function itself where there is no region: functions that are recomputed
in the backward pass may contain others that are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from ..core.symbolic_tensor import WeakDtypeError
from ..ir.builder import Builder, recording_by
from ..ir.graph import Operand
from ..ir.source_location import raised_at
from ..ir.value_types import AnySpec

ORDERS = 3
"""The order of the derivatives that a graph contains of functions whose gradient functions have custom gradients.

A region inside of the regions of two gradients is of use for third derivatives only. Each order multiplies the regions,
if gradient functions call their own functions more than once.
"""

_order: ContextVar[int] = ContextVar("_order", default=0)
"""The number of gradient regions that are being traced, each inside of the one before."""


class TracedGradient(NamedTuple):
    """A region under construction, its results (None where there is no gradient), and why it has none at all."""

    region: Builder
    grads: Sequence[Operand | None]
    refusal: str = ""


def traced_gradient(
    builder: Builder, function: Any, specs: Sequence[AnySpec], back: Callable[[list[Any]], Sequence[Any]]
) -> TracedGradient:
    """Trace `back`, the gradient function of `function`, which takes cotangents of these types."""
    name = getattr(function, "__name__", "the function")
    order = _order.get()
    if order == ORDERS:
        reason = (
            f"a graph contains derivatives of functions with custom gradients up to order {ORDERS}, and this one of "
            f"`{name}` is of order {ORDERS + 1}. Differentiate in eager code instead."
        )
        return _refused(builder, specs, reason)
    before = _order.set(order + 1)
    try:
        region, dys = _opened(builder, specs)
        with region, recording_by([]):
            grads = [None if grad is None else region.operand(grad) for grad in back(dys)]
        return TracedGradient(region, grads)
    except (RecursionError, WeakDtypeError):  # the function that is traced ends, or is traced again
        raise
    except Exception as error:
        origin = raised_at(error)
        place = "" if origin is None else f" ({origin})"
        reason = f"the gradient function of `{name}` raises {type(error).__name__}: {error}{place}"
        return _refused(builder, specs, reason)
    finally:
        _order.reset(before)


def _opened(builder: Builder, specs: Sequence[AnySpec]) -> tuple[Builder, list[Any]]:
    region = Builder("gradient", builder)
    with region:
        return region, [region.input_tensor("dy", spec) for spec in specs]  # type: ignore[arg-type]


def _refused(builder: Builder, specs: Sequence[AnySpec], reason: str) -> TracedGradient:
    return TracedGradient(_opened(builder, specs)[0], [], reason)
