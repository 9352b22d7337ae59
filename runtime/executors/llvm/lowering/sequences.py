"""Lower sequences in batches, of different lengths.

sequence_mask n            y[b, i] is i < n[b]
reverse_sequence x, n      y[b, i] is x[b, n[b] - 1 - i] if i < n[b]
"""

from __future__ import annotations

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers
from .boolean_mask import most
from .casts import converted


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

    def checked_end(e: Emitter, row: Register) -> tuple[Register, Register]:
        end = converted(e, ends.at(e, Index.of(ends.shape, [row])), ends.dtype, dtypes.int64)
        fits = e.b.icmp_unsigned("<=", end, e.word(node.shape[along]))
        e.demand(fits)
        return end, fits

    if not node.size:  # no element is computed, but the lengths are checked
        with region.e.nest(ends.shape, parallel=False) as (row,):
            checked_end(region.e, row)

    def find(e: Emitter, index: Index) -> Element:
        coordinates = index.coordinates(e)
        end, fits = checked_end(e, coordinates[batch])
        turned = e.b.sub(e.b.sub(end, e.word(1)), coordinates[along])
        is_turned = e.b.and_(fits, e.b.icmp_signed("<", coordinates[along], end))
        coordinates[along] = e.choose(is_turned, turned, coordinates[along])
        return found.at(e, Index.of(node.shape, coordinates))

    return IndexMap(node.dtype, node.shape, [found, ends], find, cost=2, once=False, fails=True)
