"""The kinds of reductions: the initial value and the combining operation.

reduce_sum      0, then total + x        LLVM may reassociate
reduce_max     -∞, then the larger one, or NaN
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .... import dtypes
from ....kernels.extremes import highest, lowest
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import ComplexPair, Element, Register, constant, register_type
from ..codegen.rule_registry import site_of
from .elementwise import add, larger, multiply, smaller

Combine = Callable[[Emitter, Element, Element], Element]


class ReductionKind:
    """The initial value and the combining operation of a reduction; `wide` is the dtype of the accumulator."""

    def __init__(self, wide: dtypes.DType, start: Any, combine: Combine) -> None:
        self.wide = wide
        self.start = start
        self.combine = combine


def sums(dtype: dtypes.DType) -> ReductionKind:
    """Return the kind of a sum. LLVM may reassociate."""
    wide = dtypes.float32 if dtype is dtypes.float16 else dtype
    site = site_of(wide)

    def combine(e: Emitter, x: Element, y: Element) -> Element:
        if wide.kind == "f":
            return e.b.fadd(x, y, flags=("reassoc",))
        if isinstance(x, ComplexPair):
            return ComplexPair(*(e.b.fadd(a, b, flags=("reassoc",)) for a, b in zip(x, y, strict=True)))
        return add(e, site, x, y)

    return ReductionKind(wide, 0, combine)


def products(dtype: dtypes.DType) -> ReductionKind:
    """Return the kind of a product."""
    site = site_of(dtype)
    return ReductionKind(dtype, 1, lambda e, x, y: multiply(e, site, x, y))


def maxima(dtype: dtypes.DType, zeros_have_signs: bool = True) -> ReductionKind:
    """Return the kind of a maximum; NaN if an element is NaN.

    Unless `zeros_have_signs`, the maximum of 0.0 and -0.0 is either of them, which is faster.
    """
    flags = () if zeros_have_signs else ("nsz",)

    def combine(e: Emitter, x: Element, y: Element) -> Element:
        return e.intrinsic("maximum", x, y, flags=flags) if dtype.kind == "f" else larger(e, dtype, x, y)

    return ReductionKind(dtype, lowest(dtype.numpy_dtype), combine)


def minima(dtype: dtypes.DType) -> ReductionKind:
    """Return the kind of a minimum; NaN if an element is NaN."""

    def combine(e: Emitter, x: Element, y: Element) -> Element:
        return e.intrinsic("minimum", x, y) if dtype.kind == "f" else smaller(e, dtype, x, y)

    return ReductionKind(dtype, highest(dtype.numpy_dtype), combine)


def new_slot(e: Emitter, dtype: dtypes.DType, start: Any = None) -> list[Register]:
    slots = [e.slot(register_type(dtype)) for _ in range(2 if dtype.kind == "c" else 1)]
    if start is not None:
        put(e, slots, constant(dtype, start))
    return slots


def put(e: Emitter, slots: Sequence[Register], element: Element) -> None:
    parts = element if isinstance(element, ComplexPair) else (element,)
    for slot, part in zip(slots, parts, strict=True):
        e.b.store(part, slot)


def get(e: Emitter, dtype: dtypes.DType, slots: Sequence[Register]) -> Element:
    parts = [e.b.load(slot, typ=register_type(dtype)) for slot in slots]
    return ComplexPair(*parts) if len(parts) == 2 else parts[0]
