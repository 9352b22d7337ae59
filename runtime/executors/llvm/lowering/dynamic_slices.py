"""Slices with dynamic bounds or dynamic sizes (codegen/dynamic_sizes.py).

y = getitem x, n [key=':_']        y has the elements before n, and at most those of x
y = getitem x [key='::-1']         y[i] is x[s - 1 - i], where s is the size of both
y = getitem x, i [key='_']         rows of static size, which are views if the memory is not written
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....functionalize.affine_analysis import index_of
from ....ir.graph import Operand, Operation
from ....ops.arrays.getitem import matched
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue, Shape
from ..codegen.llvm_types import Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError
from ..codegen.scalar_builder import is_known

Part = tuple[int, Any]
"""An axis of the operand and its selection: (start, step) for an axis of the result, or an index in a register."""


def counted(e: Emitter, position: Register, size: int) -> Register:
    """Return an index, which may be negative, with a bounds check."""
    zero = e.word(0)
    found = e.b.select(e.b.icmp_signed("<", position, zero), e.b.add(position, e.word(size)), position)
    e.demand(e.b.icmp_unsigned("<", found, e.word(size)))
    return found


def sized_parts(
    region: Region,
    operation: Operation,
    shape: Shape,
    operands: Sequence[Operand],
    holes: Sequence[LazyValue],
) -> tuple[list[Part | None], Shape]:
    """Return the selection of a key and its shape, for dynamic sizes."""
    e = region.e
    nodes = dict(zip(operands, holes, strict=True))
    parts: list[Part | None] = []
    sizes: list[int] = []

    def bound(given: Any) -> Register | None:
        return None if given is None else region.integer(nodes[given]) if given in nodes else e.word(given)

    for item, axis in matched(index_of(operation.attrs["key"], list(operands)), len(shape)):
        if item is None:
            sizes.append(1)
            parts.append(None)
        elif isinstance(item, slice):
            step = 1 if item.step is None else item.step
            if not isinstance(step, int):
                raise RefusedError("the step of a slice is not known when the graph is compiled")
            start, size = slice_of(e, bound(item.start), bound(item.stop), step, shape[axis])
            parts.append((axis, (start, step)))
            sizes.append(size)
        else:
            position = region.integer(nodes[item]) if item in nodes else e.word(item)
            parts.append((axis, counted(e, position, shape[axis])))
    return parts, tuple(sizes)


def slice_of(
    e: Emitter, start: Register | None, stop: Register | None, step: int, size: int
) -> tuple[Register, int]:
    """Return the start and the length of a slice by Python's rules: bounds are clipped, or count from the end."""
    if start is None and stop is None and step in (1, -1):
        return (e.word(0) if step == 1 else e.word(size - 1)), size
    if not isinstance(size, Size) and all(x is None or is_known(x) for x in (start, stop)):
        first, last = (None if x is None else x.constant for x in (start, stop))
        ends = slice(first, last, step).indices(size)
        return e.word(ends[0]), len(range(*ends))
    least, most = (e.word(0), e.word(size)) if step > 0 else (e.word(-1), e.word(size - 1))
    first, last = (
        default if given is None else _within(e, given, e.word(size), least, most)
        for given, default in ((start, least if step > 0 else most), (stop, most if step > 0 else least))
    )
    distance = e.b.sub(last, first) if step > 0 else e.b.sub(first, last)
    count = e.b.sdiv(e.b.add(distance, e.word(abs(step) - 1)), e.word(abs(step)))
    return first, Size.of(e.choose(e.b.icmp_signed(">", distance, e.word(0)), count, e.word(0)))


def _within(e: Emitter, position: Register, size: Register, least: Register, most: Register) -> Register:
    """Return a bound of a slice, which may be negative, clipped to the range."""
    zero = e.word(0)
    found = e.choose(e.b.icmp_signed("<", position, zero), e.b.add(position, size), position)
    high = e.choose(e.b.icmp_signed(">", found, most), most, found)
    return e.choose(e.b.icmp_signed("<", high, least), least, high)


def are_rows(parts: Sequence[Part | None], shape: Shape, found: Shape) -> bool:
    """Return whether a key selects one index along the first axes, and everything along the others."""
    first = len(shape) - len(found)
    return (
        bool(found)
        and 0 < first <= len(parts)
        and found == shape[first:]
        and all(part is not None and not isinstance(part[1], tuple) for part in parts[:first])
        and all(part is not None and _is_all(part[1]) for part in parts[first:])
    )


def _is_all(position: Any) -> bool:
    """Return whether a slice begins at the first element and has step 1."""
    return (
        isinstance(position, tuple)
        and position[1] == 1
        and is_known(position[0])
        and position[0].constant == 0
    )


def rows(e: Emitter, source: Buffer, parts: Sequence[Part | None], shape: Shape) -> Buffer:
    """Return selected rows as a view of the buffer."""
    count = len(source.shape) - len(shape)
    numbers = [part[1] for part in parts[:count] if part is not None]
    row = Index.of(source.shape[:count], numbers).flat(e)
    size = math.prod(shape) * source.dtype.size
    address = e.b.gep(source.address, [e.times(row, size)], inbounds=True, source_etype=integer(8))
    found = Buffer(source.dtype, shape, address)
    found.addresses = source.addresses
    return found
