"""Lower stateless random numbers, with the formulas of `agc.runtime.kernels.random.distributions`.

uniform, integers      bit-identical to the interpreter
normal                 Box-Muller: two words make two numbers, rounded after each step as in the interpreter;
                       float64 differs by some ulp, as its logarithms and sines do
truncated              groups of four (two of float64), each of which draws until it is full
"""

from __future__ import annotations

import math
from typing import Any

from .... import dtypes
from ....ir.graph import Operation
from ....kernels.random.distributions import BLOCKS_PER_ELEMENT
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, constant, integer, ir, memory_type, pointer, register_type
from ..codegen.region_lowering import Region
from ..codegen.routine_builder import Routine, StackSlot
from ..codegen.rule_registry import lowers
from .casts import converted
from .fill import shape_of
from .philox import PhiloxBlocks, joined, stream_of, words_of


def uniform_of(b: Any, dtype: dtypes.DType, word: Register, low: Register = None) -> Register:
    """Return a number in [0, 1) from the low bits of a word; float64 takes the lower half from a second word."""
    kind = register_type(dtype)
    if dtype is dtypes.float64:
        high = b.or_(b.and_(word, integer(32)(0xFFFFF)), integer(32)(0x3FF00000))
        bits = joined(b, low, high)
    elif dtype is dtypes.float32:
        bits = b.or_(b.and_(word, integer(32)(0x7FFFFF)), integer(32)(0x3F800000))
    else:
        bits = b.trunc(b.or_(b.and_(word, integer(32)(0x3FF)), integer(32)(0x3C00)), integer(16))
    return b.fsub(b.bitcast(bits, kind), constant(dtype, 1))


def _each(region: Region, operation: Operation, seed: LazyValue, write: Any) -> LazyValue:
    """Return numbers that `write(b, *words)` makes of one word each, or of two words for 64-bit numbers."""
    (value,) = operation.outputs
    shape, count = shape_of(operation), 2 if value.dtype.size == 8 else 1
    memory = words_of(region, stream_of(region, seed), count * math.prod(shape))

    def find(e: Emitter, index: Index) -> Element:
        first = e.times(index.flat(e), count)
        return write(
            e.b, *(e.load(dtypes.uint32, memory.address, e.plus(first, e.word(i))) for i in range(count))
        )

    return IndexMap(value.dtype, shape, [memory], find, cost=3, cuts=frozenset)


@lowers("stateless_random_uniform")
def _(region: Region, operation: Operation, shape: LazyValue, seed: LazyValue) -> LazyValue:
    dtype = operation.attrs["dtype"]
    return _each(region, operation, seed, lambda b, *words: uniform_of(b, dtype, *words))


@lowers("full_integers")
def _(region: Region, operation: Operation, shape: LazyValue, seed: LazyValue) -> LazyValue:
    return _each(
        region, operation, seed, lambda b, *words: joined(b, *words) if len(words) == 2 else words[0]
    )


@lowers("stateless_random_integers")
def _(
    region: Region,
    operation: Operation,
    shape: LazyValue,
    seed: LazyValue,
    minval: LazyValue,
    maxval: LazyValue,
) -> LazyValue:
    e, dtype = region.e, minval.dtype
    low, high = (converted(e, region.register(node), dtype, dtypes.int64) for node in (minval, maxval))
    e.demand(e.b.icmp_signed("<", low, high))
    choices = e.b.sub(high, low)

    def write(b: Any, *words: Register) -> Register:
        drawn = joined(b, *words) if len(words) == 2 else b.zext(words[0], integer(64))
        number = b.add(b.urem(drawn, choices), low)
        return number if dtype.size == 8 else b.trunc(number, register_type(dtype))

    return _each(region, operation, seed, write)


def _wide(dtype: dtypes.DType) -> dtypes.DType:
    return dtypes.float64 if dtype is dtypes.float64 else dtypes.float32


def _function(b: Any, name: str, x: Register) -> Register:
    from ..libm import FUNCTIONS

    return b.call(FUNCTIONS[name].declare(b.module, ir().DoubleType()), [x])


def _intrinsic(b: Any, name: str, x: Register) -> Register:
    full = f"llvm.{name}.{x.type.intrinsic_name}"
    found = b.module.globals.get(full) or ir().Function(b.module, ir().FunctionType(x.type, [x.type]), full)
    return b.call(found, [x])


def _normals(b: Any, dtype: dtypes.DType, words: list[Register]) -> list[Register]:
    """Return as many normal numbers as there are uniform ones; functions of float32 are evaluated in float64."""
    size = 2 if dtype is dtypes.float64 else 1
    double, kind = ir().DoubleType(), register_type(dtype)

    def widened(x: Register) -> Register:
        return x if kind == double else b.fpext(x, double)

    def rounded(x: Register) -> Register:
        return x if kind == double else b.fptrunc(x, kind)

    units = [widened(uniform_of(b, dtype, *words[i : i + size])) for i in range(0, len(words), size)]
    found = []
    for first, second in zip(units[0::2], units[1::2], strict=True):
        least = double(float(dtype.numpy_dtype.type(1.0e-7)))
        clipped = b.select(b.fcmp_ordered(">", first, least), first, least)
        logarithm = rounded(_function(b, "log", clipped))
        radius = _intrinsic(b, "sqrt", b.fmul(constant(dtype, -2), logarithm))
        angle = widened(rounded(b.fmul(double(2 * math.pi), second)))
        found += [b.fmul(rounded(_function(b, name, angle)), radius) for name in ("sin", "cos")]
    return found


@lowers("stateless_random_normal")
def _(region: Region, operation: Operation, shape: LazyValue, seed: LazyValue) -> LazyValue:
    e, dtype = region.e, operation.attrs["dtype"]
    wide, sizes = _wide(dtype), shape_of(operation)
    stream = stream_of(region, seed)
    each = 2 if wide is dtypes.float64 else 4
    blocks = -(-math.prod(sizes) // each)
    memory = Buffer.new(e, dtype, (blocks * each,))
    if blocks:
        with e.nest([blocks]) as (number,):
            for position, normal in enumerate(_normals(e.b, wide, stream.block(e.b, number))):
                target = e.plus(e.times(number, each), e.word(position))
                e.store(dtype, memory.address, target, converted(e, normal, wide, dtype))
    return Buffer(dtype, sizes, memory.address)


@lowers("stateless_random_truncated_normal")
def _(region: Region, operation: Operation, shape: LazyValue, seed: LazyValue) -> LazyValue:
    e, dtype = region.e, operation.attrs["dtype"]
    wide, sizes = _wide(dtype), shape_of(operation)
    each = 2 if wide is dtypes.float64 else 4
    groups = -(-math.prod(sizes) // each)
    memory = Buffer.new(e, wide, (groups * each,))
    _truncated(region, wide)
    e.call(_name(wide), ir().VoidType(), *stream_of(region, seed), memory.address, e.word(groups))
    found = Buffer(wide, sizes, memory.address)
    if wide is dtype:
        return found
    return IndexMap(dtype, sizes, [found], lambda e, index: converted(e, found.at(e, index), wide, dtype))


def _name(wide: dtypes.DType) -> str:
    return f"agc_truncated_{wide.name}"


def _truncated(region: Region, wide: dtypes.DType) -> None:
    """Define the function that fills groups, on first use."""
    module = region.e.module
    if _name(wide) in module.globals:
        return
    each = 2 if wide is dtypes.float64 else 4
    r = Routine(module, _name(wide), [integer(32)] * 2 + [integer(64)] * 2 + [pointer(), integer(64)])
    *parts, memory, groups = r.arguments
    with r.counting(r.word(0), groups) as group:
        kept, used = r.cell(r.word(0)), r.cell(r.word(0))
        run = r.b.mul(group, r.word(each * BLOCKS_PER_ELEMENT // 4))
        with r.loop(lambda: r.b.icmp_signed("<", kept.get(), r.word(each))):
            block = PhiloxBlocks(*parts).block(r.b, r.b.add(run, used.get()))
            used.set(r.b.add(used.get(), r.word(1)))
            for normal in _normals(r.b, wide, block):
                _keep(
                    r, wide, normal, kept, each, r.at(memory_type(wide), memory, r.b.mul(group, r.word(each)))
                )
    r.finish()


def _keep(
    r: Routine, wide: dtypes.DType, normal: Register, kept: StackSlot, each: int, memory: Register
) -> None:
    """Append a number to its group, if it is small enough and the group is not full."""
    small = r.b.fcmp_ordered("<", _intrinsic(r.b, "fabs", normal), constant(wide, 2))
    with r.where(r.b.and_(small, r.b.icmp_signed("<", kept.get(), r.word(each)))):
        r.store(memory, kept.get(), normal)
        kept.set(r.b.add(kept.get(), r.word(1)))
