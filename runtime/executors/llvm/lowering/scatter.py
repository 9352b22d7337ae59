"""Lower scatters: into zeros, into a copy of a tensor, or in place.

    y = tensor_scatter_nd_add x, indices, updates            y ← x;  for each update, in order:  y[index] += update

Updates are applied in order, as in NumPy; with duplicate indices all updates count. A tensor without later readers is
updated in place, and so is a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .... import dtypes
from ....ir.graph import Operand, Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, Site, lowers, site_of
from .casts import rounded
from .elementwise import add, divide, larger, multiply, smaller, subtract
from .fill import asked_shape, shape_of
from .indexing import batch_rank, check_indices, coordinates, coordinates_in, in_range
from .reshape import demand_shape

Combine = Callable[[Emitter, Site, Element, Element], Element]


def _added(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    """Return the sum; for booleans, the logical or."""
    return e.b.or_(x, y) if site.dtype.is_bool else add(e, site, x, y)


_WAYS: dict[str, Combine] = {
    "add": _added,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "max": lambda e, site, x, y: larger(e, site.dtype, x, y),
    "min": lambda e, site, x, y: smaller(e, site.dtype, x, y),
    "update": lambda e, site, x, y: y,
}


def combined_at(
    region: Region,
    where: Buffer,
    updates: LazyValue,
    target: Callable[[list[Register]], Sequence[Register]],
    how: str,
    outer: int,
    shape: Sequence[int] | None = None,
) -> Buffer:
    """Combine each row of the updates with the row at the index that `target` computes.

    A row has the axes after the first `outer` ones, whose indices `target` gets and checks, also for rows without
    elements. Nothing that the updates read is in `where`, so that the elements of a row are combined at once.
    """
    e = region.e
    if (how == "sub" and where.dtype.is_bool) or (how in ("max", "min") and where.dtype.is_complex):
        raise RefusedError(f"scatter_{how} of {where.dtype.name} is not compiled")
    sizes = updates.shape if shape is None else tuple(shape)
    source = region.read_once(updates) if updates.shape == sizes else region.readable(updates)
    site, combine = site_of(where.dtype), rounded(_WAYS[how])
    if 0 in sizes[:outer]:
        return where
    if not where.size and 0 not in sizes:
        e.demand(integer(1)(0))  # no index is in bounds
        return where
    with e.nest(sizes[:outer], parallel=False) as indices:
        row = target(indices)
        with e.nest(sizes[outer:]) as inner:
            number = Index.of(where.shape, [*row, *inner]).flat(e)
            element = source.at(e, Index.of(tuple(sizes), [*indices, *inner]).within(e, source.shape))
            old = e.load(where.dtype, where.address, number)
            e.store(where.dtype, where.address, number, combine(e, site, old, element))
    return where


def _at_coordinates(
    region: Region,
    where: Buffer,
    operand: Operand,
    indices: LazyValue,
    updates: LazyValue,
    how: str,
    batch: int = 0,
) -> Buffer:
    """Scatter updates at coordinates, which are the last axis of the indices, after `batch` common axes.

    `operand` is the one that has the indices.
    """
    e = region.e
    wanted = region.readable(indices)
    rank, depth = len(indices.shape) - 1, coordinates_in(indices)
    demand_shape(e, updates.shape, (*indices.shape[:-1], *where.shape[batch + depth :]))
    known = depth == 1 and region.has_checked(operand, where.shape[batch])

    def target(indices: list[Register]) -> list[Register]:
        return [*indices[:batch], *coordinates(e, wanted, indices, depth, where.shape[batch:], known)]

    return combined_at(region, where, updates, target, how, rank)


@lowers("scatter_nd", sized=True)
def _(
    region: Region, operation: Operation, indices: LazyValue, updates: LazyValue, shape: LazyValue
) -> LazyValue:
    where = region.zeros(updates.dtype, asked_shape(region, operation, shape))
    return _at_coordinates(region, where, operation.inputs[0], indices, updates, "add")


@lowers("put_back_nd", sized=True)
def _(
    region: Region, operation: Operation, updates: LazyValue, indices: LazyValue, shape: LazyValue
) -> LazyValue:
    where = region.zeros(updates.dtype, asked_shape(region, operation, shape))
    batch = operation.attrs["batch_dims"]
    return _at_coordinates(region, where, operation.inputs[1], indices, updates, "add", batch)


@lowers(*(f"tensor_scatter_nd_{how}" for how in ("update", "add", "sub", "max", "min")))
def _(
    region: Region, operation: Operation, tensor: LazyValue, indices: LazyValue, updates: LazyValue
) -> LazyValue:
    wanted, source = region.settled(indices), region.settled(updates)
    where = region.own(operation, tensor)
    how = operation.type.rpartition("_")[2]
    return _at_coordinates(region, where, operation.inputs[1], wanted, source, how)


@lowers("scattered")
def _(
    region: Region, operation: Operation, tensor: LazyValue, indices: LazyValue, updates: LazyValue
) -> LazyValue:
    e, how = region.e, operation.attrs["how"]
    if tensor.dtype in dtypes.NARROW or (how == "div" and tensor.dtype.kind in "iu"):
        raise RefusedError(f"scatter_{how} of {tensor.dtype.name} is not compiled")
    wanted, source = region.settled(indices), region.settled(updates)
    is_nd = operation.attrs["nd"]
    known = not is_nd and check_indices(region, operation.inputs[1], wanted, tensor.shape[0])
    given = [each for each in (tensor, wanted, source) if isinstance(each, Buffer)]
    donated = known and tensor in given and region.early.donated(operation, given) == {0: 0}
    where = given[0] if donated else region.own(operation, tensor)
    if is_nd:
        return _at_coordinates(region, where, operation.inputs[1], wanted, source, how)

    def target(indices: list[Register]) -> list[Register]:
        row = wanted.at(e, Index.of(wanted.shape, indices))
        return [in_range(e, row, wanted.dtype, where.shape[0], known)]

    sizes = (*wanted.shape, *where.shape[1:])
    combined_at(region, where, source, target, how, len(wanted.shape), sizes)
    if donated:
        region.early.overwrite(operation.outputs[0])
    return where


@lowers("put_back", sized=True)
def _(
    region: Region, operation: Operation, rows: LazyValue, indices: LazyValue, shape: LazyValue
) -> LazyValue:
    e = region.e
    where = region.zeros(rows.dtype, asked_shape(region, operation, shape))
    wanted = region.readable(indices)
    axis = operation.attrs["axis"] % len(where.shape)
    batch = batch_rank(operation, indices)
    inner = len(indices.shape) - batch
    demand_shape(e, rows.shape, (*where.shape[:axis], *indices.shape[batch:], *where.shape[axis + 1 :]))
    known = region.has_checked(operation.inputs[1], where.shape[axis])

    def target(indices: list[Register]) -> list[Register]:
        chosen = wanted.at(e, Index.of(wanted.shape, [*indices[:batch], *indices[axis:]]))
        return [*indices[:axis], in_range(e, chosen, wanted.dtype, where.shape[axis], known)]

    return combined_at(region, where, rows, target, "add", axis + inner)


@lowers("take_along")
def _(region: Region, operation: Operation, node: LazyValue, indices: LazyValue) -> LazyValue:
    rows, wanted = region.readable(node), region.readable(indices)
    axis = operation.attrs["axis"] % len(node.shape)
    if not node.size or any(
        one != other
        for i, (one, other) in enumerate(zip(node.shape, indices.shape, strict=True))
        if i != axis
    ):
        raise RefusedError("indices whose shape differs from that of their operand are not compiled")

    def find(e: Emitter, index: Index) -> Element:
        indices = index.coordinates(e)
        indices[axis] = in_range(e, wanted.at(e, index), wanted.dtype, rows.shape[axis])
        return rows.at(e, Index.of(rows.shape, indices))

    return IndexMap(node.dtype, shape_of(operation), [rows, wanted], find, cost=2, once=False, fails=True)


@lowers("put_along")
def _(
    region: Region, operation: Operation, values: LazyValue, indices: LazyValue, shape: LazyValue
) -> LazyValue:
    e = region.e
    where = region.zeros(values.dtype, shape_of(operation))
    wanted = region.readable(indices)
    axis = operation.attrs["axis"] % len(where.shape)
    demand_shape(e, indices.shape, values.shape)
    demand_shape(e, values.shape, (*where.shape[:axis], values.shape[axis], *where.shape[axis + 1 :]))

    def target(indices: list[Register]) -> list[Any]:
        chosen = wanted.at(e, Index.of(wanted.shape, indices))
        position = in_range(e, chosen, wanted.dtype, where.shape[axis])
        return [*indices[:axis], position, *indices[axis + 1 :]]

    return combined_at(region, where, values, target, "add", len(values.shape))
