"""Lower repetitions and padding, and their gradients, which are scatter-adds.

repeat x [2]                   y[i] is x[i // 2]
pad x, [(1, 2)]                [a, b]  ==>  [0, a, b, 0, 0]
pad x [mode='REFLECT']         y[i] is x at an index from a table of the mode
sum_mirrored, sum_repeated     each element of y is added to its source
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir.graph import Constant, Operation
from ..codegen.dynamic_shapes import regrouped
from ..codegen.dynamic_sizes import is_sized
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, ConstantArray, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from .boolean_mask import repeated
from .elementwise import add
from .fill import shape_of
from .reduction_codegen import reduced
from .reduction_kinds import sums
from .reshape import demand_shape, known, moved

Table = np.ndarray[Any, np.dtype[np.int64]]


def _nodes(tables: Sequence[Table | None]) -> list[LazyValue | None]:
    return [
        None if table is None else ConstantArray(np.ascontiguousarray(table, np.int64)) for table in tables
    ]


def _looked_up(
    e: Emitter, tables: Sequence[LazyValue | None], coordinates: Sequence[Register]
) -> list[Register]:
    """Return the table entries for an index."""
    pairs = zip(coordinates, tables, strict=True)
    return [p if table is None else table.at(e, Index.of(table.shape, [p])) for p, table in pairs]


def picked(region: Region, node: LazyValue, tables: Sequence[Table | None], shape: Shape) -> LazyValue:
    """Gather elements through one index table per axis; None is the identity."""
    found, nodes = region.readable(node), _nodes(tables)
    return moved(found, shape, lambda e, coordinates: _looked_up(e, nodes, coordinates), once=False)


def added_up(region: Region, node: LazyValue, tables: Sequence[Table | None], shape: Shape) -> Buffer:
    """Scatter-add elements to zeros of this shape. This is the transpose of `picked`."""
    e, nodes = region.e, _nodes(tables)
    pairs = zip(shape, tables, strict=True)
    demand_shape(e, node.shape, tuple(size if table is None else len(table) for size, table in pairs))
    source, result = region.settled(node), region.zeros(node.dtype, shape)
    site = site_of(node.dtype)
    if source.size:
        with e.nest(source.shape, parallel=False) as numbers:
            element = source.at(e, Index.of(source.shape, numbers))
            target = Index.of(shape, _looked_up(e, nodes, numbers)).flat(e)
            total = add(e, site, e.load(node.dtype, result.address, target), element)
            e.store(node.dtype, result.address, target, total)
    return result


def _repeats(operation: Operation, shape: Shape, axis: int) -> list[Table | None]:
    """Return the table of source indices along the axis."""
    operand = operation.inputs[1]
    if not isinstance(operand, Constant):
        raise RefusedError(f"`{operand.name}` must be known when the graph is compiled")
    if operand.value.size not in (1, shape[axis]):
        raise RefusedError(f"{operand.value.size} repeats do not fit {shape[axis]} elements")
    table = np.repeat(np.arange(shape[axis]), operand.value)
    return [table if dim == axis else None for dim in range(len(shape))]


@lowers("repeat", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, repeats: LazyValue) -> LazyValue:
    axis = operation.attrs["axis"]
    if is_sized(node.shape) or None in (operation.outputs[0].shape or ()):
        return repeated(region, node, repeats, axis)
    whole = regrouped(node, (node.size,) if axis is None else node.shape or (1,))
    dim = (axis or 0) % len(whole.shape)
    times = int(repeats.size) == 1 and isinstance(operation.inputs[1], Constant)
    count = int(np.asarray(operation.inputs[1].value).ravel()[0]) if times else 0
    if count:
        return moved(
            region.readable(whole),
            shape_of(operation),
            lambda e, coordinates: [
                e.over(p, count)[0] if i == dim else p for i, p in enumerate(coordinates)
            ],
            once=False,
        )
    return picked(region, whole, _repeats(operation, whole.shape, dim), shape_of(operation))


@lowers("sum_repeated")
def _(
    region: Region, operation: Operation, node: LazyValue, repeats: LazyValue, shape: LazyValue
) -> LazyValue:
    axis, wanted = operation.attrs["axis"], shape_of(operation)
    whole = wanted if axis is not None and wanted else (math.prod(wanted),)
    return regrouped(
        added_up(region, node, _repeats(operation, whole, (axis or 0) % len(whole)), whole), wanted
    )


@lowers("sum_tiles")
def _(region: Region, operation: Operation, node: LazyValue, multiples: LazyValue) -> LazyValue:
    wanted = shape_of(operation)
    pairs = list(zip(known(operation, 1).tolist(), wanted, strict=True))
    split = tuple(size for pair in pairs for size in pair)
    return reduced(
        region, regrouped(node, split), sums(node.dtype), range(0, len(split), 2), wanted, node.dtype
    )


def _mirrors(operation: Operation, shape: Shape) -> list[Table | None]:
    """Return the tables of source indices along each axis of the padded tensor."""
    mode = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}[operation.attrs["mode"]]
    pairs = [(int(before), int(after)) for before, after in known(operation, 1)]
    for (before, after), size in zip(pairs, shape, strict=True):
        if max(before, after) > size - (mode == "reflect"):
            raise RefusedError(f"mirror padding of {max(before, after)} elements exceeds the size {size}")
    return [
        np.pad(np.arange(size), pair, mode) if any(pair) else None  # type: ignore[call-overload]
        for pair, size in zip(pairs, shape, strict=True)
    ]


@lowers("pad")
def _(
    region: Region, operation: Operation, node: LazyValue, paddings: LazyValue, value: LazyValue
) -> LazyValue:
    if operation.attrs["mode"] != "CONSTANT":
        return picked(region, node, _mirrors(operation, node.shape), shape_of(operation))
    margins = [(int(before), int(after)) for before, after in known(operation, 1)]
    inner, outside = region.readable(node), region.scalar(value).value
    if not any(map(any, margins)):
        return inner
    shape = tuple(before + size + after for size, (before, after) in zip(node.shape, margins, strict=True))
    if not inner.size:
        return IndexMap(node.dtype, shape, [], lambda e, index: outside, cost=0)

    def find(e: Emitter, index: Index) -> Element:
        inside, coordinates = integer(1)(1), []
        for position, (before, after), size in zip(index.coordinates(e), margins, inner.shape, strict=True):
            own = e.minus(position, e.word(before))
            if before or after:
                inside = e.b.and_(inside, e.b.icmp_unsigned("<", own, e.word(size)))
            coordinates.append(own)
        return e.guarded(inside, lambda: inner.at(e, Index.of(inner.shape, coordinates)), outside)

    return IndexMap(node.dtype, shape, [inner], find, cost=4)


@lowers("sum_mirrored")
def _(
    region: Region, operation: Operation, node: LazyValue, paddings: LazyValue, shape: LazyValue
) -> LazyValue:
    """Add up one axis after the other, in the order of the NumPy kernel."""
    wanted = shape_of(operation)
    for axis, table in enumerate(_mirrors(operation, wanted)):
        if table is not None:
            tables = [table if dim == axis else None for dim in range(len(wanted))]
            node = added_up(region, node, tables, (*node.shape[:axis], wanted[axis], *node.shape[axis + 1 :]))
    return node
