"""The same elements in another shape or order: no element is computed, each is found under another index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...ir.graph import Constant, Operation
from ..emit.emitter import Emitter
from ..emit.nodes import Buffer, Index, Mapped, Node, Shape
from ..emit.regions import Region
from ..emit.registry import RefusedError, lowers
from ..emit.types import Element, Pair, Register
from .creating import shape_of


def regrouped(node: Node, shape: Shape) -> Node:
    """The elements in row-major order, in another shape."""
    found = node.storage or node
    if found.shape == shape:
        return found
    if isinstance(found, Buffer):
        return Buffer(found.dtype, shape, found.address)
    return Mapped(
        found.dtype,
        shape,
        [found],
        lambda e, index: found.at(e, Index(found.shape, [(0, len(found.shape), index.flat(e))])),
        cost=0,
        cuts=frozenset,
    )


@lowers("reshape", "expand_dims", "squeeze", "ensure_shape")
def _(region: Region, operation: Operation, node: Node, *rest: Node) -> Node:
    return regrouped(node, shape_of(operation))


@lowers("broadcast_to")
def _(region: Region, operation: Operation, node: Node, shape: Node) -> Node:
    wide = shape_of(operation)
    found = node.storage or node
    return Mapped(
        found.dtype, wide, [found], lambda e, index: found.at(e, index.within(e, found.shape)), once=False
    )


def moved(
    node: Node,
    shape: Shape,
    place: Callable[[Emitter, list[Register]], Sequence[Register]],
    once: bool = True,
) -> Node:
    """The elements that `place` finds for the places of a result."""
    return Mapped(
        node.dtype,
        shape,
        [node],
        lambda e, index: node.at(e, Index.of(node.shape, place(e, index.places(e)))),
        once=once,
    )


@lowers("transpose")
def _(region: Region, operation: Operation, node: Node, perm: Node) -> Node:
    order = [int(axis) % len(node.shape) for axis in known(operation, 1)]
    conjugate = operation.attrs["conjugate"] and node.dtype.kind == "c"

    def find(e: Emitter, index: Index) -> Element:
        places = index.places(e)
        found = node.at(e, Index.of(node.shape, [places[order.index(axis)] for axis in range(len(order))]))
        return Pair(found.re, e.b.fneg(found.im)) if conjugate else found

    return Mapped(node.dtype, shape_of(operation), [node], find)


@lowers("matrix_transpose")
def _(region: Region, operation: Operation, node: Node) -> Node:
    if node.dtype.kind == "c":
        raise RefusedError("complex matrices are not compiled here")
    return moved(node, shape_of(operation), lambda e, places: [*places[:-2], places[-1], places[-2]])


@lowers("reverse")
def _(region: Region, operation: Operation, node: Node, axis: Node) -> Node:
    turned = {int(one) % len(node.shape) for one in known(operation, 1)}

    def place(e: Emitter, places: list[Register]) -> list[Register]:
        return [
            e.minus(e.word(size - 1), p) if i in turned else p
            for i, (p, size) in enumerate(zip(places, node.shape, strict=True))
        ]

    return moved(node, shape_of(operation), place)


@lowers("roll")
def _(region: Region, operation: Operation, node: Node, shift: Node, axis: Node) -> Node:
    moves = dict.fromkeys(range(len(node.shape)), 0)
    for one, steps in zip(known(operation, 2).ravel(), known(operation, 1).ravel(), strict=True):
        moves[int(one) % len(node.shape)] += int(steps)

    def place(e: Emitter, places: list[Register]) -> list[Register]:
        return [_wrapped(e, p, -moves[i], node.shape[i]) for i, p in enumerate(places)]

    return moved(node, shape_of(operation), place)


def _wrapped(e: Emitter, place: Register, steps: int, size: int) -> Register:
    """A place so many steps on; beyond the end it goes on at the beginning."""
    if size == 0 or steps % size == 0:
        return place
    far = e.plus(place, e.word(steps % size))
    return e.choose(e.b.icmp_signed("<", far, e.word(size)), far, e.minus(far, e.word(size)))


@lowers("tile")
def _(region: Region, operation: Operation, node: Node, multiples: Node) -> Node:
    found = region.readable(node)
    return moved(
        found,
        shape_of(operation),
        lambda e, places: [e.over(p, size)[1] for p, size in zip(places, found.shape, strict=True)],
        once=False,
    )


@lowers("meshgrid")
def _(region: Region, operation: Operation, *nodes: Node) -> list[Node]:
    shape = tuple(size for size in operation.outputs[0].shape or () if size is not None)
    swapped = operation.attrs["indexing"] == "xy" and len(nodes) > 1
    made = []
    for number, node in enumerate(nodes):
        found = region.readable(regrouped(node, (node.size,)))
        axis = 1 - number if swapped and number < 2 else number
        made.append(moved(found, shape, lambda e, places, axis=axis: [places[axis]], once=False))  # type: ignore[misc]
    return made


@lowers("stack")
def _(region: Region, operation: Operation, *nodes: Node) -> Node:
    shape = shape_of(operation)
    axis = operation.attrs["axis"] % len(shape)
    wide = [regrouped(node, (*shape[:axis], 1, *shape[axis + 1 :])) for node in nodes]
    return joined(region, wide, axis, shape)


@lowers("concat")
def _(region: Region, operation: Operation, *nodes: Node) -> Node:
    shape = shape_of(operation)
    return joined(region, nodes, operation.attrs["axis"] % len(shape), shape)


def joined(region: Region, nodes: Sequence[Node], axis: int, shape: Shape) -> Node:
    """Nodes behind each other along an axis, in memory: each is computed into its part."""
    e = region.e
    dtype = nodes[0].dtype
    where = Buffer.new(e, dtype, shape)
    begin = 0
    for node in nodes:
        if node.size:
            region.prepared([node])
            with region.loops(node.shape, [Whole(node)]) as index:
                places = index.places(e)
                places[axis] = e.plus(places[axis], e.word(begin))
                target = Index.of(shape, places).flat(e)
                e.store(dtype, where.address, target, node.at(e, index))
        begin += node.shape[axis]
    return where


class Whole(Node):
    """A node whose places along each axis are needed."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.dtype, node.shape)

    def cuts(self) -> frozenset[int]:
        return frozenset(range(1, len(self.shape)))


def known(operation: Operation, number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """An operand that must be known when the graph is compiled."""
    operand = operation.inputs[number]
    if not isinstance(operand, Constant):
        raise RefusedError(f"`{operand.name}` must be known when the graph is compiled")
    return np.asarray(operand.value, np.int64)
