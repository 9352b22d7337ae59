"""Write the loops over tiles of rows: all operations of a group, on some rows at a time.

    for number in range(matrices):                 k' ← k[number];  v' ← v[number]
        for part in range(parts):                  q' ← q[number, part]
            …                                      o[number, part] ← softmax (q' · k'ᵀ) · v'

Small matrices run several at a time instead, and then there is no inner loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ir.clone import clone_value, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.source_location import Origin
from ..ir.value_types import AnySpec
from ..ops.arrays.concat_split import join
from ..ops.arrays.getitem import select
from ..ops.arrays.reshape import reshape
from ..ops.framework.region_ops import WHILE
from ..ops.linalg.matmul import matmul_op
from ..ops.lists.tensor_array import array_new, array_stack, array_write
from ..ops.math.arithmetic import add, floordiv, floormod, multiply
from .row_groups import Exit, RowGroup, Shape, static_shape
from .tile_sizes import Tiling


class LoopBody:
    """A list of operations that grows, in a graph or a region."""

    def __init__(self, origin: Origin | None) -> None:
        self.origin = origin
        self.operations: list[Operation] = []

    def add(self, op: OpDef, inputs: Sequence[Operand], output: Value | None = None, **attrs: Any) -> Value:
        """Add an operation; return its result, which is `output` if given."""
        value = output or Value(op.name, op.infer(list(inputs), attrs))
        self.operations.append(Operation(op, tuple(inputs), attrs, (value,), (), self.origin))
        return value

    def again(self, operation: Operation, inputs: Sequence[Operand], attrs: dict[str, Any]) -> Value:
        """Add an operation once more, on other operands."""
        value = Value(operation.outputs[0].name, operation.op.infer(list(inputs), attrs))
        self.operations.append(with_parts(operation, inputs, outputs=[value], attrs=attrs))
        return value

    def reshape(self, value: Operand, sizes: Sequence[int], output: Value | None = None) -> Value:
        return self.add(reshape, [value, Constant.int32(sizes)], output)

    def item(self, value: Operand, *numbers: Operand) -> Value:
        return self.add(select, [value, *numbers], key=", ".join("_" * len(numbers)))

    def loop(
        self,
        count: int,
        states: Sequence[Operand],
        given: Sequence[Operand],
        write: Callable[[LoopBody, Operand, Sequence[Operand], Sequence[Operand]], Sequence[Operand]],
    ) -> Sequence[Operand]:
        """Add a loop; `write(body, number, states, given)` adds an iteration and returns its new states."""
        if count == 1:
            return write(self, Constant.int32(0), states, given)
        initial = [Constant.int32(0), *states, *given]
        inputs = [_like(operand) for operand in initial]
        number, held, fixed = inputs[0], inputs[1 : len(states) + 1], inputs[len(states) + 1 :]
        body = LoopBody(self.origin)
        following = body.add(add, [number, Constant.int32(1)])
        found = [following, *write(body, number, held, fixed)]
        regions = (
            Graph("test", tuple(map(clone_value, inputs)), (), (Constant(np.array(True)),)),
            Graph("body", tuple(inputs), tuple(body.operations), tuple(found)),
        )
        outputs = tuple(map(clone_value, inputs[: len(found)]))
        attrs = {"maximum_iterations": count}
        self.operations.append(Operation(WHILE, tuple(initial), attrs, outputs, regions, self.origin))
        return outputs[1:]


def _like(operand: Operand) -> Value:
    spec: AnySpec = operand.spec
    return Value(getattr(operand, "name", "value"), spec)


Key = tuple[Operand, bool]
"""An operand, and whether a tile reads all of its rows."""


class _Part(NamedTuple):
    """An operand as tiles read it: an item for each matrix, for each part of its rows, for both, or itself."""

    value: Operand
    lead: Shape
    by_part: bool

    @property
    def by_matrix(self) -> bool:
        return math.prod(self.lead) > 1


def add_loops(body: LoopBody, group: RowGroup, loops: Sequence[TiledGroup]) -> None:
    """Add loops that follow each other in the rows of a group, and the results of the exits."""
    found = [each.add_to(body) for each in loops]
    for operation, kind in group.exits.items():
        (old,) = operation.outputs
        if len(found) == 1:
            body.reshape(found[0][operation], static_shape(old) or (), old)
            continue
        pieces = [
            body.reshape(results[operation], each.shape_of(operation))
            for each, results in zip(loops, found, strict=True)
        ]
        if kind is Exit.SUM:
            body.add(add, pieces, old)
        else:
            body.add(join, pieces, old, axis=len(group.shape) - 2)


class TiledGroup:
    """The loops that compute the exits of a group, or some rows of them; `add_to` adds them to a graph's operations."""

    def __init__(self, group: RowGroup, tiles: Tiling) -> None:
        self.group, self.tiles = group, tiles
        self.is_part = tiles.all_rows < group.shape[-2]
        self.lead = group.shape[:-2]
        self.batch = (tiles.matrices,) if tiles.matrices > 1 else ()
        inside = {value for operation in group.operations for value in operation.outputs}
        self.operands: dict[Key, None] = {}
        for operation in group.operations:
            for place, operand in enumerate(operation.inputs):
                if operand not in inside and not (type(operand) is Constant and not operand.value.ndim):
                    self.operands[operand, self._is_whole(operation, place)] = None
        self.sums = [each for each, kind in group.exits.items() if kind is Exit.SUM and tiles.parts > 1]
        self.rows = [each for each in group.exits if each not in self.sums]

    def _is_whole(self, operation: Operation, place: int) -> bool:
        """Return whether an operation on a tile reads all rows of an operand."""
        return operation.op is matmul_op and place == 1 and self.group.exits.get(operation) is not Exit.SUM

    def fits(self) -> bool:
        """Return whether the operands of tiles of several matrices have a matrix for each of these, or one for all."""
        count = math.prod(self.lead)
        return not self.batch or all(
            math.prod(self._lead_of(each)) in (1, count) for each, _ in self.operands
        )

    def _lead_of(self, operand: Operand) -> Shape:
        shape: Any = static_shape(operand)
        return (*(1,) * (len(self.lead) - len(shape[:-2])), *shape[:-2])

    def add_to(self, body: LoopBody) -> dict[Operation, Value]:
        """Add the loops, and return the stacked results of the exits."""
        self.parts = {key: self._prepared(body, *key) for key in self.operands}
        lists = [self._list(body, operation) for operation in self.rows + self.sums]
        given = [part.value for part in self.parts.values()]
        found = body.loop(self.tiles.steps, lists, given, self._step)
        stacked = {}
        for operation, one in zip(self.rows + self.sums, found, strict=True):
            dtype, shape, size = operation.outputs[0].dtype, self._shape(operation), self._count(operation)
            stacked[operation] = body.add(array_stack, [one], dtype=dtype, element_shape=shape, size=size)
        return stacked

    def shape_of(self, operation: Operation) -> Shape:
        """Return the shape of the rows of an exit's result that the loops compute."""
        shape: Any = static_shape(operation.outputs[0])
        if self.group.exits[operation] is Exit.SUM:
            return shape  # type: ignore[no-any-return]
        axis = len(self.lead)
        return (*shape[:axis], self.tiles.all_rows, *shape[axis + 1 :])

    def _prepared(self, body: LoopBody, operand: Operand, is_whole: bool) -> _Part:
        """Add the reshaping of an operand, so that its items are what tiles read."""
        shape: Any = static_shape(operand)
        if not shape:
            return _Part(operand, (), False)
        rows, width = (1, *shape)[-2:]
        if self.is_part and not is_whole and rows > 1:
            start, rows = self.tiles.start, self.tiles.all_rows
            operand = body.add(select, [operand], key=f"..., {start}:{start + rows}, :")
        by_part = not is_whole and rows > 1 and self.tiles.parts > 1
        lead = self._lead_of(operand)
        own = (self.tiles.parts, self.tiles.rows, width) if by_part else (rows, width)
        if (count := math.prod(lead)) > 1:
            own = (count // self.tiles.matrices, *self.batch, *own)
        return _Part(body.reshape(operand, own), lead, by_part)

    def _step(
        self, body: LoopBody, number: Operand, states: Sequence[Operand], given: Sequence[Operand]
    ) -> Sequence[Operand]:
        """Add the tiles of one matrix, or of those that run together; return the new lists."""
        count = len(self.rows)
        places: dict[Shape, Operand] = {}
        for part in self.parts.values():
            if part.by_matrix and part.lead not in places:
                places[part.lead] = self._place(body, number, part.lead)
        values = [
            body.item(value, places[part.lead]) if part.by_matrix and not part.by_part else value
            for part, value in zip(self.parts.values(), given, strict=True)
        ]
        first = (
            number
            if self.tiles.parts == 1
            else body.add(multiply, [number, Constant.int32(self.tiles.parts)])
        )
        zeros = [
            Constant(np.zeros(self._shape(each), each.outputs[0].dtype.numpy_dtype)) for each in self.sums
        ]

        def write(
            body: LoopBody, part: Operand, states: Sequence[Operand], given: Sequence[Operand]
        ) -> Sequence[Operand]:
            first, leads, values = given[0], given[1 : len(places) + 1], given[len(places) + 1 :]
            at = first if self.tiles.parts == 1 else body.add(add, [first, part])
            views = self._views(body, part, dict(zip(places, leads, strict=True)), values)
            return self._tile(body, at, states, views)

        given = [first, *places.values(), *values]
        found = body.loop(self.tiles.parts, [*states[:count], *zeros], given, write)
        totals = zip(states[count:], found[count:], strict=True)
        written = [body.add(array_write, [one, number, total], infer_shape=True) for one, total in totals]
        return [*found[:count], *written]

    def _place(self, body: LoopBody, number: Operand, lead: Shape) -> Operand:
        """Add the number of the matrix of an operand, which may have fewer matrices than the tensor."""
        if lead == self.lead:
            return number
        place: Operand = Constant.int32(0)
        for axis, size in enumerate(lead):
            if size > 1:
                later = math.prod(self.lead[axis + 1 :])
                along = body.add(
                    floormod, [body.add(floordiv, [number, Constant.int32(later)]), Constant.int32(size)]
                )
                place = body.add(add, [body.add(multiply, [place, Constant.int32(size)]), along])
        return place

    def _views(
        self, body: LoopBody, part: Operand, places: dict[Shape, Operand], values: Sequence[Operand]
    ) -> dict[Key, Operand]:
        """Add the items that a tile reads."""
        found = {}
        for (key, each), value in zip(self.parts.items(), values, strict=True):
            where = [places[each.lead], part] if each.by_matrix else [part]
            found[key] = body.item(value, *where) if each.by_part else value
        return found

    def _count(self, operation: Operation) -> int:
        """Return the number of the results of an exit that are put together."""
        return self.tiles.steps * (1 if operation in self.sums else self.tiles.parts)

    def _shape(self, operation: Operation) -> Shape:
        """Return the shape of each of these results."""
        shape: Any = static_shape(operation.outputs[0])
        if self.group.exits[operation] is Exit.SUM:
            return (*self.batch, *shape[-2:])
        return (*self.batch, self.tiles.rows, *shape[len(self.lead) + 1 :])

    def _list(self, body: LoopBody, operation: Operation) -> Value:
        shape, dtype = self._shape(operation), operation.outputs[0].dtype
        count = Constant.int32(self._count(operation))
        return body.add(array_new, [count], dtype=dtype, element_shape=shape, dynamic=False)

    def _tile(
        self, body: LoopBody, at: Operand, states: Sequence[Operand], views: dict[Key, Operand]
    ) -> Sequence[Operand]:
        """Add the operations on a tile; return the new lists and sums."""
        known: dict[Operand, Operand] = {}
        for operation in self.group.operations:
            inputs = [
                known[operand] if operand in known
                else views.get((operand, self._is_whole(operation, place)), operand)
                for place, operand in enumerate(operation.inputs)
            ]  # fmt: skip
            known[operation.outputs[0]] = body.again(operation, inputs, _on_matrices(operation))
        found = [known[operation.outputs[0]] for operation in self.rows + self.sums]
        count = len(self.rows)
        lists, totals = states[:count], states[count:]
        written = [
            body.add(array_write, [one, at, value], infer_shape=True)
            for one, value in zip(lists, found[:count], strict=True)
        ]
        added = [body.add(add, [total, value]) for total, value in zip(totals, found[count:], strict=True)]
        return [*written, *added]


def _on_matrices(operation: Operation) -> dict[str, Any]:
    """Return the attributes of an operation on tensors of another rank, where the last axis is the same."""
    attrs = dict(operation.attrs)
    if "axis" in attrs:
        attrs["axis"] = (-1,) if isinstance(attrs["axis"], tuple) else -1
    return attrs
