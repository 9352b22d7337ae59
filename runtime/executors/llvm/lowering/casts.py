"""Lower `cast`; convert elements and tensors.

Values out of range convert as on the processor and in NumPy: a float out of the integer range gives the smallest
integer, and narrower integers keep the low bits of the 32-bit result.
"""

from __future__ import annotations

from collections.abc import Callable

from .... import dtypes
from ..codegen.function_builder import Emitter
from ..codegen.half_floats import bfloat16_of_single, half_of_double, single_of_bfloat16
from ..codegen.lazy_values import LazyValue, Shape
from ..codegen.llvm_types import ComplexPair, Element, Register, constant, integer, ir, register_type
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import Site, elementwise, site_of


@elementwise("cast")
def cast(e: Emitter, site: Site, x: Element) -> Element:
    return converted(e, x, site.dtype, site.result)


def converted(e: Emitter, x: Element, own: dtypes.DType, wanted: dtypes.DType) -> Element:
    """Return an element converted to another dtype."""
    if own is wanted:
        return x
    if own is dtypes.bfloat16:
        return converted(e, single_of_bfloat16(e.b, x), dtypes.float32, wanted)
    if wanted is dtypes.bfloat16:
        return bfloat16_of_single(e.b, converted(e, x, own, dtypes.float32))
    if wanted.is_bool:
        return _truth(e, x, own)
    if isinstance(x, ComplexPair):
        if wanted.kind == "c":
            part = wanted.real_dtype
            return ComplexPair(*(_of_float(e, value, own.real_dtype, part) for value in x))
        return converted(e, x.re, own.real_dtype, wanted)
    if wanted.kind == "c":
        part = wanted.real_dtype
        return ComplexPair(converted(e, x, own, part), constant(part, 0))
    if own.kind == "f":
        return _of_float(e, x, own, wanted)
    return _of_integer(e, x, own, wanted)


def each(
    region: Region,
    write: Callable[..., Element],
    dtype: dtypes.DType,
    shape: Shape,
    *nodes: LazyValue,
    cost: int = 1,
) -> LazyValue:
    """Return an elementwise operation that `write(e, *elements)` emits."""
    site = site_of(dtype)
    return region.computed(lambda e, site, *elements: write(e, *elements), site, dtype, shape, nodes, cost)


def rounded(write: Callable[..., Element]) -> Callable[..., Element]:
    """Return an elementwise rule that computes bfloat16 in float32, and rounds the result."""

    def rule(e: Emitter, site: Site, *elements: Element) -> Element:
        if site.dtype is not dtypes.bfloat16:
            return write(e, site, *elements)
        wide = site._replace(dtype=dtypes.float32, result=dtypes.float32)
        found = write(e, wide, *(converted(e, x, dtypes.bfloat16, dtypes.float32) for x in elements))
        return converted(e, found, dtypes.float32, dtypes.bfloat16)

    return rule


def widened(region: Region, node: LazyValue) -> LazyValue:
    """Return float16 as float32, the dtype of its accumulators."""
    if node.dtype is not dtypes.float16:
        return node
    return as_dtype(region, node, dtypes.float32)


def as_dtype(region: Region, node: LazyValue, dtype: dtypes.DType) -> LazyValue:
    """Return the node converted to another dtype."""
    if node.dtype is dtype:
        return node
    return each(region, lambda e, x: converted(e, x, node.dtype, dtype), dtype, node.shape, node)


def _truth(e: Emitter, x: Element, own: dtypes.DType) -> Register:
    if isinstance(x, ComplexPair):
        return e.b.or_(_truth(e, x.re, own.real_dtype), _truth(e, x.im, own.real_dtype))
    if own.kind == "f":
        return e.b.fcmp_unordered("!=", x, constant(own, 0))
    return e.b.icmp_unsigned("!=", x, ir().Constant(x.type, 0))


def _of_integer(e: Emitter, x: Register, own: dtypes.DType, wanted: dtypes.DType) -> Register:
    b, kind = e.b, register_type(wanted)
    signed = own.kind == "i"
    if wanted is dtypes.float16:
        single = _of_integer(e, x, own, dtypes.float32)
        return b.fptrunc(single, kind)
    if wanted.kind == "f":
        return b.sitofp(x, kind) if signed else b.uitofp(x, kind)
    if kind.width < x.type.width:
        return b.trunc(x, kind)
    if kind.width == x.type.width:
        return x
    return b.sext(x, kind) if signed else b.zext(x, kind)


def _of_float(e: Emitter, x: Register, own: dtypes.DType, wanted: dtypes.DType) -> Register:
    b = e.b
    if wanted is dtypes.float16 and own is dtypes.float64:
        return half_of_double(b, x)
    if wanted.kind == "f":
        kind = register_type(wanted)
        return x if own is wanted else b.fpext(x, kind) if own.size < wanted.size else b.fptrunc(x, kind)
    if own is dtypes.float16:
        return _of_float(e, b.fpext(x, register_type(dtypes.float32)), dtypes.float32, wanted)
    if wanted is dtypes.uint64:
        return _unsigned(e, x, own)
    wide = 64 if wanted is dtypes.uint32 or wanted is dtypes.int64 else 32
    found = _signed(e, x, own, wide)
    return found if wide == 8 * wanted.size else b.trunc(found, register_type(wanted))


def _signed(e: Emitter, x: Register, own: dtypes.DType, bits: int) -> Register:
    """Return the integer part; the smallest integer for NaN and values out of range."""
    b, kind = e.b, integer(bits)
    limit = 2.0 ** (bits - 1)
    fits = b.and_(
        b.fcmp_ordered(">=", x, constant(own, -limit)), b.fcmp_ordered("<", x, constant(own, limit))
    )
    if own is dtypes.float64 and bits == 32:  # numbers just below the least integer truncate to it
        fits = b.and_(
            b.fcmp_ordered(">", x, constant(own, -limit - 1)), b.fcmp_ordered("<", x, constant(own, limit))
        )
    return b.select(fits, b.fptosi(x, kind), ir().Constant(kind, -(2 ** (bits - 1))))


def _unsigned(e: Emitter, x: Register, own: dtypes.DType) -> Register:
    b = e.b
    half = constant(own, 2.0**63)
    high = b.xor(_signed(e, b.fsub(x, half), own, 64), ir().Constant(integer(64), -(2**63)))
    return b.select(b.fcmp_ordered(">=", x, half), high, _signed(e, x, own, 64))


@elementwise("complex")
def _(e: Emitter, site: Site, real: Element, imaginary: Element) -> Element:
    return ComplexPair(real, imaginary)
