"""Lower the state of random streams: advance a 128-bit counter, and keep the key.

    stream_after_drawing s, y    ==>    low + blocks, high + carry, key

The number of blocks follows from the shape of `y`.
"""

from __future__ import annotations

from .... import dtypes
from ....ir.graph import Operation
from ....ops.random.rng_state import blocks_after
from ..codegen.lazy_values import Buffer, Index, LazyValue
from ..codegen.llvm_types import Register
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers
from .casts import converted
from .reshape import demand_shape


def _moved(region: Region, state: LazyValue, blocks: Register) -> LazyValue:
    e, source = region.e, region.settled(state)
    demand_shape(e, source.shape, (3,))
    low, high, key = (source.at(e, Index.of((3,), [e.word(coordinate)])) for coordinate in range(3))
    moved = e.b.add(low, blocks)
    carry = e.b.zext(e.b.icmp_unsigned("<", moved, low), e.word(0).type)
    result = Buffer.new(e, dtypes.int64, (3,))
    for position, part in enumerate((moved, e.b.add(high, carry), key)):
        e.store(dtypes.int64, result.address, e.word(position), part)
    return result


@lowers("stream_after_drawing")
def _(region: Region, operation: Operation, state: LazyValue, drawn: LazyValue) -> LazyValue:
    return _moved(region, state, region.e.word(blocks_after(operation.attrs["drawing"], drawn.shape)))


@lowers("stream_after")
def _(region: Region, operation: Operation, state: LazyValue, count: LazyValue) -> LazyValue:
    e, blocks = region.e, region.e.word(operation.attrs["each"])
    sizes = region.settled(count)
    for position in range(count.size):
        index = Index.of(count.shape, [e.word(position)] if count.shape else [])
        blocks = e.b.mul(blocks, converted(e, sizes.at(e, index), count.dtype, dtypes.int64))
    return _moved(region, state, blocks)
