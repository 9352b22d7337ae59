"""Lower searchsorted, and sort, argsort and top_k where few elements are kept; NumPy sorts many elements sooner.

    values [7.0, 3.0, 9.0]  ──►  keys, integers in the order of the result  ──►  the least keys, and their positions

A scan keeps the least keys so far in order. It inserts a key that is less than the last of them, after equal ones, so
the order is stable. Most keys are not inserted: blocks of them are compared at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, integer, ir, memory_type, pointer
from ..codegen.region_lowering import Region
from ..codegen.routine_builder import Routine
from ..codegen.rule_registry import RefusedError, lowers
from .casts import converted
from .elementwise import compared

_FEW, _KEPT, _MOVES = 32, 128, 1 << 22
"""The most elements that are kept out of any number, and out of so many that at most this many are moved."""

_ALL = 64
"""The most elements that are all kept."""

_BLOCK = 64
"""Bytes of the keys that are compared at once."""


class _Order:
    """The first elements along an axis in order; `positions` and `value` read them.

    `rows` are the sizes of the other axes. Each row of the memory begins with a key that is not greater than any.
    """

    def __init__(
        self, region: Region, node: LazyValue, axis: int, is_descending: bool, count: int | None = None
    ) -> None:
        self.size, self.axis = node.shape[axis], axis % len(node.shape)
        self.count = self.size if count is None else count
        if not node.size or not self.count or self.count > self._most():
            raise RefusedError("kernels sort many elements as fast")
        e, self.source = region.e, region.settled(node)
        self.rows = (*node.shape[: self.axis], *node.shape[self.axis + 1 :])
        key = dtypes.int64 if node.dtype.size == 8 else dtypes.int32
        keys = Buffer.new(e, key, (*self.rows, self.size))
        with e.nest(keys.shape, each_once=True) as place:
            index = Index.of(keys.shape, place)
            found = _key(e, node.dtype, self._at(e, place[:-1], place[-1]))
            e.store(key, keys.address, index.flat(e), e.b.not_(found) if is_descending else found)
        kept, self.places = (
            Buffer.new(e, each, (*self.rows, self.count + 1)) for each in (key, dtypes.int32)
        )
        select = _selection(e.module, 8 * key.size)
        with e.nest(self.rows, inner=self.size) as row:
            number = Index.of(self.rows, row).flat(e)
            addresses = [
                e.place(memory_type(each.dtype), each.address, e.times(number, each.shape[-1]))
                for each in (keys, kept, self.places)
            ]
            e.b.call(select, [*addresses, e.word(self.size), e.word(self.count)])

    def _most(self) -> int:
        if self.count == self.size:
            return _ALL
        return _FEW if self.count * self.size > _MOVES else _KEPT

    def _at(self, e: Emitter, row: list[Register], along: Register) -> Element:
        coordinates = [*row[: self.axis], along, *row[self.axis :]]
        return self.source.at(e, Index.of(self.source.shape, coordinates))

    def _place(self, e: Emitter, index: Index) -> tuple[list[Register], Register]:
        """Return the row of an element of the result, and its position in the source."""
        row = index.coordinates(e)
        along = row.pop(self.axis)
        place = Index.of(self.places.shape, [*row, e.plus(along, e.word(1))])
        return row, self.places.at(e, place)

    def positions(self, dtype: dtypes.DType) -> LazyValue:
        def find(e: Emitter, index: Index) -> Element:
            return converted(e, self._place(e, index)[1], dtypes.int32, dtype)

        return IndexMap(dtype, self._shape, [self.places], find)

    def values(self) -> LazyValue:
        def find(e: Emitter, index: Index) -> Element:
            row, along = self._place(e, index)
            return self._at(e, row, converted(e, along, dtypes.int32, dtypes.int64))

        return IndexMap(self.source.dtype, self._shape, [self.source, self.places], find)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (*self.rows[: self.axis], self.count, *self.rows[self.axis :])


@lowers("sort", "argsort")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    order = _Order(region, node, operation.attrs["axis"], operation.attrs["direction"] == "DESCENDING")
    return order.values() if operation.type == "sort" else order.positions(dtypes.int32)


@lowers("top_k")
def _(region: Region, operation: Operation, node: LazyValue, count: LazyValue) -> list[LazyValue]:
    largest = operation.outputs[0].shape or ()
    order = _Order(region, node, -1, is_descending=True, count=largest[-1])
    return [order.values(), order.positions(operation.outputs[1].dtype)]


@lowers("searchsorted")
def _(region: Region, operation: Operation, ordered: LazyValue, values: LazyValue) -> LazyValue:
    (value,), kind = operation.outputs, ordered.dtype.kind
    if kind == "c":
        raise RefusedError("complex numbers have no order")
    rows, wanted = region.readable(ordered), region.readable(values)
    if len(rows.shape) > 1 and rows.shape[:-1] != wanted.shape[:-1]:
        raise RefusedError("values with other leading axes than the sequences are not compiled")

    def is_less(e: Emitter, x: Element, y: Element) -> Register:
        """Emit `x < y`; NaN is greater than any number."""
        found = compared(e, kind, "<", x, y)
        if kind != "f":
            return found
        return e.b.or_(found, e.b.and_(e.b.fcmp_ordered("ord", x, x), e.b.fcmp_unordered("uno", y, y)))

    def find(e: Emitter, index: Index) -> Element:
        own = wanted.at(e, index)
        is_before: dict[str, Callable[[Element], Register]] = {
            "left": lambda other: is_less(e, other, own),
            "right": lambda other: e.b.not_(is_less(e, own, other)),
        }
        batch = index.coordinates(e)[:-1] if len(rows.shape) > 1 else []
        place = insertion_point(e, rows, batch, is_before[operation.attrs["side"]])
        return converted(e, place, dtypes.int64, value.dtype)

    return IndexMap(value.dtype, values.shape, [rows, wanted], find, cost=40, once=False)


def insertion_point(
    e: Emitter, rows: LazyValue, batch: list[Register], is_before: Callable[[Element], Register]
) -> Register:
    """Return the number of elements of a sorted row for which `is_before` is true: a binary search."""
    size, found = rows.shape[-1], e.word(0)
    for step in (1 << bit for bit in reversed(range(size.bit_length()))):
        further = e.plus(found, e.word(step))
        is_inside = e.b.icmp_signed("<=", further, e.word(size))
        last = e.choose(is_inside, e.minus(further, e.word(1)), e.word(0))
        other = rows.at(e, Index.of(rows.shape, [*batch, last]))
        found = e.choose(e.b.and_(is_inside, is_before(other)), further, found)
    return found


def _key(e: Emitter, dtype: dtypes.DType, x: Element) -> Register:
    """Return a signed integer in the order of the elements: -0.0 equals 0.0, and NaN is greater than any number."""
    if dtype.kind == "f":
        if dtype is dtypes.float16:
            x, dtype = converted(e, x, dtype, dtypes.float32), dtypes.float32
        kind = integer(8 * dtype.size)
        number = e.b.fadd(x, ir().Constant(x.type, 0.0))
        is_nan = e.b.fcmp_unordered("uno", number, number)
        whole, last = e.b.bitcast(number, kind), kind(kind.width - 1)
        magnitude = e.b.and_(e.b.ashr(whole, last), kind(2 ** (kind.width - 1) - 1))
        return e.b.select(is_nan, kind(2 ** (kind.width - 1) - 1), e.b.xor(whole, magnitude))
    if dtype.kind not in "iub":
        raise RefusedError("complex numbers have no order")
    if dtype.is_unsigned and dtype.size >= 4:
        return e.b.xor(x, x.type(-(2 ** (x.type.width - 1))))
    return converted(e, x, dtype, dtypes.int64 if dtype.size == 8 else dtypes.int32)


def _selection(module: Any, bits: int) -> Any:
    """Return a function `(keys, kept, places, size, count)`; define it if necessary."""
    name, key, place = f"agc_select_{bits}", integer(bits), integer(32)
    if name in module.globals:
        return module.globals[name]
    r = Routine(module, name, [*[pointer()] * 3, integer(64), integer(64)])
    keys, kept, places, size, count = r.arguments
    b, one, lanes = r.b, r.word(1), 8 * _BLOCK // bits
    r.store(kept, r.word(0), key(-(2 ** (bits - 1))))

    def insert(number: Register, last: Register) -> None:
        new, at = r.load(key, keys, number), r.cell(last)
        with r.loop(lambda: b.icmp_signed(">", r.load(key, kept, b.sub(at.get(), one)), new)):
            before = b.sub(at.get(), one)
            for kind, memory in ((key, kept), (place, places)):
                r.store(memory, at.get(), r.load(kind, memory, before))
            at.set(before)
        r.store(kept, at.get(), new)
        r.store(places, at.get(), b.trunc(number, place))

    def insert_if_less(number: Register) -> None:
        with r.where(b.icmp_signed("<", r.load(key, keys, number), r.load(key, kept, count))):
            insert(number, count)

    with r.counting(r.word(0), count) as number:
        insert(number, b.add(number, one))
    block = ir().VectorType(key, lanes)
    stop = b.sub(size, b.srem(b.sub(size, count), r.word(lanes)))
    with r.counting(count, stop, lanes) as first:
        some = b.load(r.at(key, keys, first), align=bits // 8, typ=block)
        last = b.insert_element(
            ir().Constant(block, ir().Undefined), r.load(key, kept, count), integer(32)(0)
        )
        every = b.shuffle_vector(last, last, ir().Constant(ir().VectorType(integer(32), lanes), [0] * lanes))
        is_less = b.bitcast(b.icmp_signed("<", some, every), integer(lanes))
        with (
            r.where(b.icmp_unsigned("!=", is_less, integer(lanes)(0))),
            r.counting(first, b.add(first, r.word(lanes))) as number,
        ):
            insert_if_less(number)
    with r.counting(stop, size) as number:
        insert_if_less(number)
    return r.finish()
