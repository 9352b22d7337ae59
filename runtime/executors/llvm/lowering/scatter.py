"""Lower scatters: into zeros, into a copy of a tensor, or in place.

    y = tensor_scatter_nd_add x, indices, updates            y ← x;  for each update, in order:  y[index] += update

Updates are applied in order, as in NumPy; with duplicate indices all updates count. A tensor without later readers is
updated in place, and so is a variable.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .... import dtypes
from ....ir.graph import Operand, Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Changed, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, Site, lowers, site_of
from .casts import rounded
from .elementwise import add, divide, larger, multiply, smaller, subtract
from .fill import asked_shape, shape_of
from .indexing import batch_rank, check_indices, coordinates, coordinates_in, in_range
from .reshape import demand_shape

Target = Callable[..., list[Register]]
"""Computes the index of a row from that of its update, and checks it: `target(index, is_checked=False)`."""

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


def _demand_compiled(how: str, dtype: dtypes.DType) -> None:
    if (how == "sub" and dtype.is_bool) or (how in ("max", "min") and dtype.is_complex):
        raise RefusedError(f"scatter_{how} of {dtype.name} is not compiled")


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
    _demand_compiled(how, where.dtype)
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


def _combined(
    region: Region,
    operation: Operation,
    operands: tuple[LazyValue, LazyValue, LazyValue],
    target: Target,
    outer: int,
    sizes: Shape,
) -> LazyValue:
    """Combine rows of the first operand with the updates, the last one: in a copy, or in a variable's memory.

    All indices are checked before a variable is overwritten.
    """
    e, early, (tensor, _, updates) = region.e, region.early, operands
    how = operation.attrs.get("how") or operation.type.rpartition("_")[2]
    _demand_compiled(how, tensor.dtype)
    given = [each for each in operands if isinstance(each, Buffer)]
    waits = early.may_wait(operation, tensor)
    is_donated = tensor in given and early.donated(operation, given) == {0: 0}
    if waits or is_donated:
        with e.nest(sizes[:outer], parallel=False) as indices:
            target(indices)
        target = functools.partial(target, is_checked=True)

    def write(where: Buffer) -> None:
        combined_at(region, where, updates, target, how, outer, sizes)

    if waits:
        return Changed(operands, write)
    where = given[0] if is_donated else region.own(operation, tensor)
    write(where)
    if is_donated:
        early.overwrite(operation.outputs[0])
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
    target = _rows_at(region, where.shape, operand, region.readable(indices), updates, batch)
    return combined_at(region, where, updates, target, how, len(indices.shape) - 1)


def _rows_at(
    region: Region, shape: Shape, operand: Operand, indices: LazyValue, updates: LazyValue, batch: int = 0
) -> Target:
    """Return the function that computes and checks the rows of a tensor at coordinates."""
    e, depth = region.e, coordinates_in(indices)
    demand_shape(e, updates.shape, (*indices.shape[:-1], *shape[batch + depth :]))
    known = depth == 1 and region.has_checked(operand, shape[batch])

    def target(index: list[Register], is_checked: bool = False) -> list[Register]:
        found = coordinates(e, indices, index, depth, shape[batch:], known or is_checked)
        return [*index[:batch], *found]

    return target


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


@lowers(*(f"tensor_scatter_nd_{how}" for how in ("update", "add", "sub", "max", "min")), sized=True)
def _(
    region: Region, operation: Operation, tensor: LazyValue, indices: LazyValue, updates: LazyValue
) -> LazyValue:
    wanted, source = region.settled(indices), region.settled(updates)
    return _combined_at_coordinates(region, operation, tensor, wanted, source)


def _combined_at_coordinates(
    region: Region, operation: Operation, tensor: LazyValue, indices: LazyValue, updates: LazyValue
) -> LazyValue:
    target = _rows_at(region, tensor.shape, operation.inputs[1], indices, updates)
    outer = len(indices.shape) - 1
    return _combined(region, operation, (tensor, indices, updates), target, outer, updates.shape)


@lowers("scattered", sized=True)
def _(
    region: Region, operation: Operation, tensor: LazyValue, indices: LazyValue, updates: LazyValue
) -> LazyValue:
    e, how = region.e, operation.attrs["how"]
    if tensor.dtype in dtypes.NARROW or (how == "div" and tensor.dtype.kind in "iu"):
        raise RefusedError(f"scatter_{how} of {tensor.dtype.name} is not compiled")
    wanted, source = region.settled(indices), region.settled(updates)
    if operation.attrs["nd"]:
        return _combined_at_coordinates(region, operation, tensor, wanted, source)
    sizes = (*wanted.shape, *tensor.shape[1:])
    if source.shape:
        demand_shape(e, source.shape, sizes)
    known = check_indices(region, operation.inputs[1], wanted, tensor.shape[0])

    def target(indices: list[Register], is_checked: bool = False) -> list[Register]:
        row = wanted.at(e, Index.of(wanted.shape, indices))
        return [in_range(e, row, wanted.dtype, tensor.shape[0], known or is_checked)]

    return _combined(region, operation, (tensor, wanted, source), target, len(wanted.shape), sizes)


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
