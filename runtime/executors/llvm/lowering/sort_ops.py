"""Lower `sort`, `argsort` and `top_k`. Each row along an axis is copied, sorted, and stored in the result.

Descending index orders are stable too: the row is reversed, sorted, and read from its end. `sort` only
reverses the ascending order, which makes a difference for zeros of both signs.
"""

from __future__ import annotations

from collections.abc import Callable

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue
from ..codegen.llvm_types import Element, Register, ir
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .casts import converted
from .merge_sort import sorting


class _Rows:
    """Memory for a row and for the original indices of its elements."""

    def __init__(self, e: Emitter, dtype: dtypes.DType, size: int, with_places: bool) -> None:
        self.dtype, self.size = dtype, size
        self.keys, self.spare_keys = (Buffer.new(e, dtype, (size,)) for _ in range(2))
        count = size if with_places else 0
        self.numbers, self.spare_numbers = (Buffer.new(e, dtypes.int64, (count,)) for _ in range(2))

    def key(self, e: Emitter, number: Register) -> Element:
        return self.keys.at(e, Index.of((self.size,), [number]))

    def original_index(self, e: Emitter, number: Register) -> Register:
        return e.load(dtypes.int64, self.numbers.address, number)


def in_order(
    region: Region,
    node: LazyValue,
    axis: int,
    is_descending: bool,
    with_places: bool,
    count: int,
    put: Callable[[_Rows, list[Register], Register, Register], None],
) -> None:
    """Sort along an axis, and emit `put(row, indices, number, here)` for the first `count` elements.

    `here` is the position of element `number` in the sorted row.
    """
    if node.dtype.kind == "c":
        raise RefusedError("the order of complex numbers is not compiled")
    e, size = region.e, node.shape[axis]
    source = region.settled(node)
    others = [dim for dim in range(len(node.shape)) if dim != axis]
    if not source.size or not count:
        return
    row = _Rows(e, node.dtype, size, with_places)
    last = e.word(size - 1)
    with e.nest([node.shape[dim] for dim in others], parallel=False) as outer:
        coordinates = dict(zip(others, outer, strict=True))
        with e.nest([size]) as (number,):
            here = e.b.sub(last, number) if is_descending and with_places else number
            index = Index.of(node.shape, [coordinates.get(dim, here) for dim in range(len(node.shape))])
            e.store(node.dtype, row.keys.address, number, source.at(e, index))
            if with_places:
                e.store(dtypes.int64, row.numbers.address, number, here)
        addresses = [x.address for x in (row.keys, row.numbers, row.spare_keys, row.spare_numbers)]
        state = e.function.args[-1], e.stopped()
        e.call(_function(region, node.dtype, with_places), ir().VoidType(), *addresses, e.word(size), *state)
        with e.nest([count]) as (number,):
            put(row, [coordinates.get(dim, number) for dim in range(len(node.shape))], number,
                e.b.sub(last, number) if is_descending else number)  # fmt: skip


def _function(region: Region, dtype: dtypes.DType, with_places: bool) -> str:
    return str(sorting(region.e.module, dtype, with_places).name)


@lowers("sort", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    e, axis = region.e, operation.attrs["axis"] % len(node.shape)
    result = Buffer.new(e, node.dtype, node.shape)

    def put(row: _Rows, coordinates: list[Register], number: Register, here: Register) -> None:
        e.store(node.dtype, result.address, Index.of(node.shape, coordinates).flat(e), row.key(e, here))

    in_order(region, node, axis, operation.attrs["direction"] == "DESCENDING", False, node.shape[axis], put)
    return result


@lowers("argsort", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    e, axis = region.e, operation.attrs["axis"] % len(node.shape)
    result = Buffer.new(e, dtypes.int32, node.shape)

    def put(row: _Rows, coordinates: list[Register], number: Register, here: Register) -> None:
        found = converted(e, row.original_index(e, here), dtypes.int64, dtypes.int32)
        e.store(dtypes.int32, result.address, Index.of(node.shape, coordinates).flat(e), found)

    in_order(region, node, axis, operation.attrs["direction"] == "DESCENDING", True, node.shape[axis], put)
    return result


@lowers("top_k")
def _(region: Region, operation: Operation, node: LazyValue, k: LazyValue) -> list[LazyValue]:
    e, axis = region.e, len(node.shape) - 1
    shape = tuple(size for size in operation.outputs[0].shape or () if size is not None)
    values = Buffer.new(e, node.dtype, shape)
    indices = Buffer.new(e, operation.outputs[1].dtype, shape)

    def put(row: _Rows, coordinates: list[Register], number: Register, here: Register) -> None:
        target = Index.of(shape, coordinates).flat(e)
        e.store(node.dtype, values.address, target, row.key(e, here))
        found = converted(e, row.original_index(e, here), dtypes.int64, indices.dtype)
        e.store(indices.dtype, indices.address, target, found)

    in_order(region, node, axis, True, True, shape[-1], put)
    return [values, indices]
