"""Trace the gradient function of a custom gradient into a region.

    @custom_gradient
    def f(x):
        return exp(x), lambda dy: dy * f(x)    ==>    gradient dy, x
                                                        …                 f again, with a region of its own

The function is traced before anything differentiates it. So what it raises becomes a refusal: an error of those who
differentiate. A function whose gradient calls it again has no last region: see `ORDERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from ..core.symbolic_tensor import WeakDtypeError
from ..ir.builder import Builder, recording_by
from ..ir.graph import Operand
from ..ir.value_types import AnySpec

ORDERS = 3
"""The derivatives that a graph contains of a function whose gradient function calls the function again."""

DEEPEST = 24
"""How deep gradient functions may call functions with custom gradients, if these are different at each call."""

_calling: ContextVar[tuple[Any, ...]] = ContextVar("_calling", default=())
"""The functions with custom gradients whose gradient functions are being traced, the outermost first."""


class TracedGradient(NamedTuple):
    """A region under construction, its results (None where there is no gradient), and why it has none at all."""

    region: Builder
    grads: Sequence[Operand | None]
    refusal: str = ""


def traced_gradient(
    builder: Builder, function: Any, specs: Sequence[AnySpec], back: Callable[[list[Any]], Sequence[Any]]
) -> TracedGradient:
    """Trace `back`, the gradient function of `function`, which takes cotangents of these types."""
    outer = _calling.get()
    name = getattr(function, "__name__", "the function")
    if outer.count(function) >= ORDERS or len(outer) >= DEEPEST:
        return _refused(
            builder,
            specs,
            f"the gradient function of `{name}` calls `{name}` again, and a graph contains its derivatives up to order "
            f"{ORDERS} only. Differentiate eagerly, or let the gradient function compute its result by operations.",
        )
    before = _calling.set((*outer, function))
    try:
        region, dys = _opened(builder, specs)
        with region, recording_by([]):
            grads = [None if grad is None else region.operand(grad) for grad in back(dys)]
        return TracedGradient(region, grads)
    except (RecursionError, WeakDtypeError):  # the function that is traced ends, or is traced again
        raise
    except Exception as error:
        return _refused(
            builder, specs, f"the gradient function of `{name}` raises {_told(error)}{_line_of(error)}"
        )
    finally:
        _calling.reset(before)


def _opened(builder: Builder, specs: Sequence[AnySpec]) -> tuple[Builder, list[Any]]:
    region = Builder("gradient", builder)
    with region:
        return region, [region.input_tensor("dy", spec) for spec in specs]  # type: ignore[arg-type]


def _refused(builder: Builder, specs: Sequence[AnySpec], reason: str) -> TracedGradient:
    return TracedGradient(_opened(builder, specs)[0], [], reason)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _line_of(error: Exception) -> str:
    """Return where the error was raised, as text."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f" ({trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno})"
