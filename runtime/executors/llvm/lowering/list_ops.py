"""Lower operations on whole lists: sums of gradients, and concatenations.

s.1 = array_sum s, t           s[i] ← s[i] + t[i]; the shorter list is padded with zeros
s.1 = array_add s, y, i        s has one element; y is added at the key i:  s[0][i] ← s[0][i] + y
s.1 = list_extend s, t         the elements of t after those of s
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .... import dtypes
from ....functionalize.list_lengths import SizedSpec
from ....ir.graph import Operation
from ....ops.lists.accumulator_list import ROWS
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue, Scalar
from ..codegen.llvm_types import Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from . import elementwise
from .casts import rounded
from .dynamic_slices import sized_parts
from .indexing import in_range, key_parts, selected
from .list_memory import Cells, List, Lists, One, UnallocatedArray, copied, made
from .reshape import known
from .scatter import combined_at
from .tensor_arrays import cells_of, changed, own_value

add = rounded(elementwise.add)


@contextmanager
def times(e: Emitter, count: Register) -> Iterator[Register]:
    """Emit a loop with a dynamic trip count; yield the induction variable."""
    slot = e.slot(integer(64))
    e.b.store(e.word(0), slot)
    head, body, after = e.block("head"), e.block("iteration"), e.block("after")
    e.b.branch(head)
    with e.into(head):
        number = e.b.load(slot, typ=integer(64))
        e.b.cbranch(e.b.icmp_signed("<", number, count), body, after)
        with e.into(body):
            yield number
            e.b.store(e.plus(number, e.word(1)), slot)
            e.b.branch(head)
    e.b.position_at_end(after)


@lowers("array_one")
def _(region: Region, operation: Operation, index: LazyValue, value: LazyValue) -> LazyValue:
    position = region.integer(index)
    region.e.demand(region.e.b.icmp_signed(">=", position, region.e.word(0)))
    return One(position, region.stored(value) if value.shape else region.scalar(value))


@lowers("array_sum")
def _(region: Region, operation: Operation, one: LazyValue, other: LazyValue) -> LazyValue:
    e = region.e
    if isinstance(one, One):
        one, other = other, one
    if isinstance(one, Lists) or isinstance(other, Lists):
        raise RefusedError("sums of lists of lists are not compiled")
    spec: Any = operation.outputs[0].spec
    is_free = not isinstance(one, List) or (not one.is_shared and region.is_last_read(operation, one))
    cells = made(e, one, spec.element).cells
    if not is_free or cells.size is not None:
        cells = copied(e, cells, None)
    site = site_of(cells.dtype)
    if isinstance(other, One):
        cells.demand_shape(e, other.value.shape)
        cells.extend_to(e, e.plus(other.index, e.word(1)))
        position = cells.at(e, other.index)
        with region.loops(cells.shape, []) as index:
            number = index.flat(e)
            total = add(e, site, e.load(cells.dtype, position, number), other.value.at(e, index))
            e.store(cells.dtype, position, number, total)
        return List(cells)
    more = made(e, other, spec.element).cells
    cells.demand_shape(e, more.shape)
    cells.extend_to(e, more.length(e))
    into, source = cells.address(e), more.address(e)
    with times(e, e.times(more.length(e), int(np.prod(cells.shape)))) as number:
        total = add(e, site, e.load(cells.dtype, into, number), e.load(cells.dtype, source, number))
        e.store(cells.dtype, into, number, total)
    return List(cells)


@lowers("array_add", sized=True)
def _(
    region: Region, operation: Operation, array: LazyValue, value: LazyValue, *rest: LazyValue
) -> LazyValue:
    e = region.e
    parts = rest[:-1]
    cells = changed(region, operation, array, grows=True).cells
    cells.extend_to(e, e.word(1))
    where = Buffer(cells.dtype, cells.shape, cells.address(e))
    source = region.settled(value)
    if operation.attrs["key"] == ROWS:
        wanted = region.settled(parts[0])
        outer = len(wanted.shape)

        def target(coordinates: list[Register]) -> list[Register]:
            return [
                in_range(e, wanted.at(e, Index.of(wanted.shape, coordinates)), wanted.dtype, where.shape[0])
            ]
    else:
        outer = len(source.shape)
        holes = operation.inputs[2:-1]
        if None in operation.inputs[1].spec.shape:  # type: ignore[union-attr, operator]
            chosen, _ = sized_parts(region, operation, where.shape, holes, parts)
        else:
            chosen = key_parts(region, operation, where.shape, holes, parts, value.shape)

        def target(coordinates: list[Register]) -> list[Register]:
            return selected(e, chosen, coordinates)

    combined_at(region, where, source, target, "add", outer)
    return List(cells)


@lowers("array_concat", sized=True)
def _(region: Region, operation: Operation, array: LazyValue) -> LazyValue:
    """Return all elements as one tensor, with the memory layout of the list."""
    cells = cells_of(array)
    length = Size.of(cells.length(region.e)) if cells.size is None else cells.size
    if not cells.shape:
        raise RefusedError("scalars of a TensorArray are concatenated")
    shape = (length * cells.shape[0], *cells.shape[1:])
    where = Buffer(cells.dtype, shape, cells.address(region.e))
    return region.stored(where, Buffer.new(region.e, cells.dtype, shape))


@lowers("array_split")
def _(
    region: Region, operation: Operation, array: LazyValue, value: LazyValue, lengths: LazyValue
) -> LazyValue:
    e = region.e
    spec: Any = operation.outputs[0].spec
    sizes = set(known(operation, 2).tolist())
    if len(sizes) != 1 or not isinstance(spec, SizedSpec):
        raise RefusedError("parts of different sizes are not compiled")
    size = array.known if isinstance(array, UnallocatedArray) else getattr(cells_of(array), "size", None)
    if size != spec.size or sizes.pop() * spec.size != value.shape[0]:
        raise RefusedError("the parts do not make up all elements")
    cells = Cells(e, spec.element, spec.size, False)
    region.stored(own_value(region, operation, value), Buffer(cells.dtype, value.shape, cells.address(e)))
    return List(cells)


@lowers("list_extend")
def _(region: Region, operation: Operation, array: LazyValue, other: LazyValue) -> LazyValue:
    e = region.e
    spec: Any = operation.outputs[0].spec
    cells = changed(region, operation, array, grows=True).cells
    append_all(e, cells, made(e, other, spec.element).cells)
    return List(cells)


def append_all(e: Emitter, cells: Cells, more: Cells) -> None:
    """Append the elements of `more`, which has other memory."""
    if (cells.dtype, cells.shape) != (more.dtype, more.shape):
        raise RefusedError("lists with different element types are merged here")
    length, count = cells.length(e), more.length(e)
    cells.reserve(e, e.plus(length, count))
    e.copy_some(cells.at(e, length), more.address(e), e.times(count, cells.bytes))
    cells.resize(e, e.plus(length, count))


@lowers("list_extend_rows", sized=True)
def _(region: Region, operation: Operation, array: LazyValue, rows: LazyValue) -> LazyValue:
    e = region.e
    cells = changed(region, operation, array, grows=True).cells
    cells.demand_shape(e, rows.shape[1:])
    length = cells.length(e)
    end = e.plus(length, e.word(rows.shape[0]))
    cells.reserve(e, end)
    region.stored(own_value(region, operation, rows), Buffer(cells.dtype, rows.shape, cells.at(e, length)))
    cells.resize(e, end)
    return List(cells)


@lowers("list_reverse")
def _(region: Region, operation: Operation, array: LazyValue) -> LazyValue:
    e = region.e
    spec: Any = operation.outputs[0].spec
    source = made(e, array, spec.element).cells
    cells = Cells(e, spec.element, None, False)
    length = source.length(e)
    cells.reset(e, length)
    with times(e, length) as number:
        last = e.b.sub(e.b.sub(length, e.word(1)), number)
        e.copy(cells.at(e, number), source.at(e, last), cells.bytes)
    return List(cells)


@lowers("list_count")
def _(region: Region, operation: Operation, array: LazyValue, value: LazyValue) -> LazyValue:
    e = region.e
    cells, wanted = cells_of(array), region.scalar(value)
    if cells.shape or cells.dtype.kind not in "iub":
        raise RefusedError("only integers are counted in lists")
    total = e.slot(integer(32))
    e.b.store(integer(32)(0), total)
    address = cells.address(e)
    with times(e, cells.length(e)) as number:
        equal = e.b.icmp_unsigned("==", e.load(cells.dtype, address, number), wanted.value)
        e.b.store(e.b.add(e.b.load(total, typ=integer(32)), e.b.zext(equal, integer(32))), total)
    return Scalar(dtypes.int32, e.b.load(total, typ=integer(32)))
