"""Lower searches and permutations: searchsorted, reverse_sequence, unravel_index, in_top_k and others.

searchsorted x, v          branch-free binary search, unrolled
reverse_sequence x, n      y[b, i] is x[b, n[b] - 1 - i] if i < n[b]
"""

from __future__ import annotations

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .boolean_mask import most
from .casts import converted
from .elementwise import compared
from .fill import shape_of
from .indexing import in_range
from .merge_sort import before
from .reduction_kinds import get, new_slot, put
from .reshape import known


@lowers("searchsorted")
def _(region: Region, operation: Operation, sequence: LazyValue, values: LazyValue) -> LazyValue:
    (value,) = operation.outputs
    if sequence.dtype.kind == "c":
        raise RefusedError("the order of complex numbers is not compiled")
    rows, wanted = region.settled(sequence), region.readable(values)
    size, is_left = sequence.shape[-1], operation.attrs["side"] == "left"
    batch = len(sequence.shape) - 1

    def find(e: Emitter, index: Index) -> Element:
        found = place_of(e, rows, index.coordinates(e)[:batch], wanted.at(e, index), is_left)
        return converted(e, found, dtypes.int64, value.dtype)

    return IndexMap(value.dtype, values.shape, [rows, wanted], find, cost=4 * size.bit_length(), once=False)


def place_of(e: Emitter, rows: LazyValue, batch: list[Register], own: Element, is_left: bool) -> Register:
    """Return the insertion index of an element in a sorted row: before equal elements if `is_left`, else after them."""
    kind, size = "u" if rows.dtype.is_bool else rows.dtype.kind, rows.shape[-1]
    found = e.word(0)
    for step in (1 << bit for bit in reversed(range(size.bit_length()))):
        further = e.plus(found, e.word(step))
        is_inside = e.b.icmp_signed("<=", further, e.word(size))
        last = e.choose(is_inside, e.minus(further, e.word(1)), e.word(0))
        other = rows.at(e, Index.of(rows.shape, [*batch, last]))
        goes = before(e.b, kind, other, own) if is_left else e.b.not_(before(e.b, kind, own, other))
        found = e.choose(e.b.and_(is_inside, goes), further, found)
    return found


@lowers("sequence_mask", sized=True)
def _(region: Region, operation: Operation, lengths: LazyValue, maxlen: LazyValue) -> LazyValue:
    (value,) = operation.outputs
    known = (value.shape or ())[-1]
    ends = region.readable(lengths)
    size = most(region, ends, maxlen) if known is None else known

    def find(e: Emitter, index: Index) -> Element:
        *batch, position = index.coordinates(e)
        end = converted(e, ends.at(e, Index.of(ends.shape, batch)), ends.dtype, dtypes.int64)
        return converted(e, e.b.icmp_signed("<", position, end), dtypes.bool_, value.dtype)

    return IndexMap(value.dtype, (*lengths.shape, size), [ends], find, once=False)


@lowers("reverse_sequence")
def _(region: Region, operation: Operation, node: LazyValue, lengths: LazyValue) -> LazyValue:
    rank = len(node.shape)
    along, batch = (operation.attrs[name] % rank for name in ("seq_axis", "batch_axis"))
    found, ends = region.readable(node), region.readable(lengths)

    def find(e: Emitter, index: Index) -> Element:
        coordinates = index.coordinates(e)
        end = converted(e, ends.at(e, Index.of(ends.shape, [coordinates[batch]])), ends.dtype, dtypes.int64)
        fits = e.b.icmp_unsigned("<=", end, e.word(node.shape[along]))
        e.demand(fits)
        turned = e.b.sub(e.b.sub(end, e.word(1)), coordinates[along])
        is_turned = e.b.and_(fits, e.b.icmp_signed("<", coordinates[along], end))
        coordinates[along] = e.choose(is_turned, turned, coordinates[along])
        return found.at(e, Index.of(node.shape, coordinates))

    return IndexMap(node.dtype, node.shape, [found, ends], find, cost=2, once=False, fails=True)


@lowers("invert_permutation", "inverse_permutation")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    """Scatter the indices, and check that no element is left at -1; otherwise it is no permutation."""
    e, shape = region.e, node.shape
    source, result = region.settled(node), Buffer.new(e, node.dtype, node.shape)
    if not source.size:
        return result
    with e.nest(shape) as numbers:
        e.store(node.dtype, result.address, numbers[0], constant(node.dtype, -1))
    with e.nest(shape, parallel=False) as numbers:
        position = in_range(e, source.at(e, Index.of(shape, numbers)), node.dtype, shape[0])
        e.store(node.dtype, result.address, position, converted(e, numbers[0], dtypes.int64, node.dtype))
    with e.nest(shape, parallel=False) as numbers:
        e.demand(
            e.b.icmp_signed(">=", e.load(node.dtype, result.address, numbers[0]), constant(node.dtype, 0))
        )
    return result


@lowers("unravel_index")
def _(region: Region, operation: Operation, indices: LazyValue, dims: LazyValue) -> LazyValue:
    sizes = [int(size) for size in known(operation, 1)]
    shape = shape_of(operation)
    numbers = region.readable(indices)
    whole = 1
    for size in sizes:
        whole *= size

    def find(e: Emitter, index: Index) -> Element:
        axis, *coordinates = index.coordinates(e)
        own = in_range(e, numbers.at(e, Index.of(numbers.shape, coordinates)), numbers.dtype, whole)
        found, stride = e.word(0), 1
        for position in reversed(range(len(sizes))):
            here = e.over(e.over(own, stride)[0], max(sizes[position], 1))[1]
            found = e.choose(e.b.icmp_unsigned("==", axis, e.word(position)), here, found)
            stride *= max(sizes[position], 1)
        return converted(e, found, dtypes.int64, indices.dtype)

    return IndexMap(indices.dtype, shape, [numbers], find, cost=4 * len(sizes), once=False, fails=True)


@lowers("in_top_k")
def _(
    region: Region, operation: Operation, targets: LazyValue, predictions: LazyValue, k: LazyValue
) -> LazyValue:
    """Emit whether fewer than k predictions exceed the target's, and all predictions of the row are finite."""
    e, count = region.e, region.integer(k)
    rows, wanted = region.settled(predictions), region.settled(targets)
    batch, classes = predictions.shape
    result = Buffer.new(e, dtypes.bool_, (batch,))
    if not batch or not classes:
        return region.zeros(dtypes.bool_, (batch,))
    larger, is_finite = new_slot(e, dtypes.int64, 0), new_slot(e, dtypes.bool_, True)
    with e.nest([batch], parallel=False) as (row,):
        put(e, larger, e.word(0))
        put(e, is_finite, integer(1)(1))
        target = converted(e, wanted.at(e, Index.of((batch,), [row])), wanted.dtype, dtypes.int64)
        valid = e.b.icmp_unsigned("<", target, e.word(classes))
        own = rows.at(e, Index.of(rows.shape, [row, e.choose(valid, target, e.word(0))]))
        with e.nest([classes], parallel=False) as (column,):
            other = rows.at(e, Index.of(rows.shape, [row, column]))
            better = e.b.zext(compared(e, "f", ">", other, own), integer(64))
            put(e, larger, e.b.add(get(e, dtypes.int64, larger), better))
            size = e.intrinsic("fabs", other)
            finite = e.b.fcmp_ordered("<", size, constant(rows.dtype, float("inf")))
            put(e, is_finite, e.b.and_(get(e, dtypes.bool_, is_finite), finite))
        few = e.b.icmp_signed("<", get(e, dtypes.int64, larger), count)
        found = e.b.and_(e.b.and_(valid, few), get(e, dtypes.bool_, is_finite))
        e.store(dtypes.bool_, result.address, row, found)
    return result
