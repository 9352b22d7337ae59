"""Lower reshapes, transposes and similar operations to index mappings; no element is computed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from .... import dtypes
from ....ir.graph import Constant, Operation
from ..codegen.dynamic_shapes import regrouped
from ..codegen.dynamic_sizes import Size, is_sized
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import ComplexPair, Element, Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .casts import converted
from .fill import asked_shape, shape_of, size_at


@lowers("expand_dims", "squeeze", "ensure_shape", sized=True, moves=True)
def _(region: Region, operation: Operation, node: LazyValue, *rest: LazyValue) -> LazyValue:
    (value,) = operation.outputs
    sizes = value.shape or ()
    if None in sizes or is_sized(node.shape):
        if operation.type == "ensure_shape":
            pairs = zip(node.shape, sizes, strict=True)
            return regrouped(node, tuple(checked(region.e, own, size) for own, size in pairs))
        own = iter([*_unknown_sizes(region.e, operation, node.shape)])
        sizes = tuple(next(own) if size is None else size for size in sizes)
    return regrouped(node, sizes)  # type: ignore[arg-type]


def _unknown_sizes(e: Emitter, operation: Operation, shape: Shape) -> Iterator[int]:
    """Yield the sizes of the axes that stay and whose size the graph does not know; emit checks for the others."""
    removed = operation.attrs["axis"] if operation.type == "squeeze" else ()
    gone = {axis % len(shape) for axis in removed or ()}
    for axis, known in enumerate(operation.inputs[0].shape or ()):
        if axis in gone:
            checked(e, shape[axis], 1)
        elif known is None:
            yield shape[axis]


@lowers("optimization_barrier", sized=True, moves=True)
def _(region: Region, operation: Operation, node: LazyValue, *after: LazyValue) -> LazyValue:
    return node


def checked(e: Emitter, own: int, wanted: int | None) -> int:
    """Emit a check that the size `own` equals `wanted`; return the size."""
    if wanted is None or wanted == own:
        return own
    e.demand(e.b.icmp_signed("==", e.word(own), e.word(wanted)))
    return own if isinstance(wanted, Size) else wanted


def demand_shape(e: Emitter, shape: Shape, wanted: Shape) -> None:
    """Emit checks that a tensor has the shape `wanted`, which keeps its readers within its memory."""
    if len(shape) != len(wanted):
        raise RefusedError(f"the shape {shape} is not {wanted}")
    for own, size in zip(shape, wanted, strict=True):
        checked(e, own, size)


@lowers("reshape", sized=True, moves=True)
def _(region: Region, operation: Operation, node: LazyValue, asked: LazyValue) -> LazyValue:
    sizes = operation.outputs[0].shape or ()
    if None in sizes or is_sized(node.shape):
        return regrouped(node, _reshaped(region, operation, node, asked))
    operand = operation.inputs[1]
    if not isinstance(operand, Constant):
        for axis, size in enumerate(shape_of(operation)):
            if operand.elements is None or operand.elements[axis] is None:
                _demand_said(region, asked, axis, size)
    return regrouped(node, shape_of(operation))


def _demand_said(region: Region, requested: LazyValue, axis: int, size: int) -> None:
    """Emit a check that element `axis` of the vector is `size`, or -1."""
    e, found = region.e, region.settled(requested)
    said = converted(e, found.at(e, Index.of(found.shape, [e.word(axis)])), found.dtype, dtypes.int64)
    fits = e.b.icmp_signed("==", said, e.word(size))
    e.demand(e.b.or_(fits, e.b.icmp_signed("==", said, e.word(-1))))


def _reshaped(region: Region, operation: Operation, node: LazyValue, requested: LazyValue) -> Shape:
    """Return the shape that a vector demands, of which at most one size is inferred from the others."""
    e, sizes, operand = region.e, operation.outputs[0].shape or (), operation.inputs[1]
    known = operand.value.ravel().tolist() if isinstance(operand, Constant) else operand.elements
    unknown = [axis for axis, size in enumerate(sizes) if size is None]
    if known is not None:
        unknown = [axis for axis in unknown if known[axis] == -1] or unknown[:1]
    elif len(unknown) > 1:
        raise RefusedError("the inferred dimension is not known when the graph is compiled")
    shape = {
        axis: size_at(region, requested, axis) if size is None else size
        for axis, size in enumerate(sizes)
        if axis not in unknown
    }
    rest = math.prod(shape.values())
    for axis in unknown:
        shape[axis] = _over(e, node, rest)
        if not isinstance(operand, Constant):
            _demand_said(region, requested, axis, shape[axis])
    if not unknown:
        checked(e, node.size, rest)
    if known is not None and -1 in known:
        _demand_some(e, math.prod(size for axis, size in shape.items() if known[axis] != -1))
    return tuple(shape[axis] for axis in range(len(sizes)))


def _demand_some(e: Emitter, rest: int) -> None:
    """Emit a check that `rest` is nonzero, so that the missing size can be inferred."""
    if isinstance(rest, Size):
        e.demand(e.b.icmp_signed(">", e.word(rest), e.word(0)))
    elif rest == 0:
        raise RefusedError("no dimension can be inferred if another one is 0")


def _over(e: Emitter, node: LazyValue, rest: int) -> int:
    """Return the number of elements divided by `rest`; a remainder fails the check."""
    _demand_some(e, rest)
    for size in node.shape:
        if size * rest == node.size:
            return size
    if rest == 1:
        return node.size
    count, left = e.over(e.word(node.size), rest)
    e.demand(e.b.icmp_signed("==", left, e.word(0)))
    return Size.of(count)


@lowers("broadcast_to", sized=True, moves=True)
def _(region: Region, operation: Operation, node: LazyValue, shape: LazyValue) -> LazyValue:
    wide = asked_shape(region, operation, shape)
    found = node.storage or node
    if is_sized(wide) or is_sized(node.shape):
        pairs = zip(found.shape, wide[len(wide) - len(found.shape) :], strict=True)
        fitting = [(own, size if own == 1 else checked(region.e, size, own)) for own, size in pairs]
        found = regrouped(found, tuple(1 if own == 1 else size for own, size in fitting))
        wide = (*wide[: len(wide) - len(fitting)], *(size for _, size in fitting))
    return IndexMap(
        found.dtype, wide, [found], lambda e, index: found.at(e, index.within(e, found.shape)), once=False
    )


def moved(
    node: LazyValue,
    shape: Shape,
    source_of: Callable[[Emitter, list[Register]], Sequence[Register]],
    once: bool = True,
) -> LazyValue:
    """Return the elements of `node` at the indices that `source_of` computes from those of the result."""
    return IndexMap(
        node.dtype,
        shape,
        [node],
        lambda e, index: node.at(e, Index.of(node.shape, source_of(e, index.coordinates(e)))),
        once=once,
    )


@lowers("transpose", sized=True, moves=True)
def _(region: Region, operation: Operation, node: LazyValue, perm: LazyValue) -> LazyValue:
    order = [int(axis) % len(node.shape) for axis in known(operation, 1)]
    conjugate = operation.attrs["conjugate"] and node.dtype.kind == "c"

    def find(e: Emitter, index: Index) -> Element:
        coordinates = index.coordinates(e)
        found = node.at(
            e, Index.of(node.shape, [coordinates[order.index(axis)] for axis in range(len(order))])
        )
        return ComplexPair(found.re, e.b.fneg(found.im)) if conjugate else found

    return IndexMap(node.dtype, tuple(node.shape[axis] for axis in order), [node], find)


@lowers("matrix_transpose", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    if node.dtype.kind == "c":
        raise RefusedError("complex matrices are not compiled here")
    shape = (*node.shape[:-2], node.shape[-1], node.shape[-2])
    return moved(node, shape, lambda e, coordinates: [*coordinates[:-2], coordinates[-1], coordinates[-2]])


@lowers("reverse", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, axis: LazyValue) -> LazyValue:
    turned = {int(one) % len(node.shape) for one in known(operation, 1) if node.shape}  # a scalar has no axes

    def source_of(e: Emitter, coordinates: list[Register]) -> list[Register]:
        return [
            e.minus(e.word(size - 1), p) if i in turned else p
            for i, (p, size) in enumerate(zip(coordinates, node.shape, strict=True))
        ]

    return moved(node, node.shape, source_of)


@lowers("roll")
def _(region: Region, operation: Operation, node: LazyValue, shift: LazyValue, axis: LazyValue) -> LazyValue:
    rank, axes = len(node.shape), known(operation, 2).ravel()
    if not all(-rank <= one < rank for one in axes):
        region.e.demand(integer(1)(0))  # the plan raises the error
        return node
    moves = dict.fromkeys(range(rank), 0)
    for one, steps in zip(axes, known(operation, 1).ravel(), strict=True):
        moves[int(one) % rank] += int(steps)

    shape = shape_of(operation)
    around = moves[len(shape) - 1] % max(shape[-1], 1)
    pieces = [(shape[-1] - around, around), (0, shape[-1] - around)] if around else [(0, shape[-1])]

    def piece(start: int, size: int) -> LazyValue:
        def source_of(e: Emitter, coordinates: list[Register]) -> list[Register]:
            *outer, last = coordinates
            outer = [_wrapped(e, at, moves[axis], shape[axis]) for axis, at in enumerate(outer)]
            return [*outer, e.plus(last, e.word(start))]

        return moved(node, (*shape[:-1], size), source_of)

    found = [piece(*each) for each in pieces]
    return joined(region, found, len(shape) - 1, shape) if around else found[0]


def _wrapped(e: Emitter, coordinate: Register, steps: int, size: int) -> Register:
    """Return the index from which a roll by `steps` takes an element."""
    if size == 0 or steps % size == 0:
        return coordinate
    far = e.plus(coordinate, e.word(-steps % size))
    return e.choose(e.b.icmp_signed("<", far, e.word(size)), far, e.minus(far, e.word(size)))


@lowers("tile", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, multiples: LazyValue) -> LazyValue:
    found, operand = region.readable(node), operation.inputs[1]
    known = operand.value.ravel().tolist() if isinstance(operand, Constant) else None
    shape = (
        tuple(
            size * (known[axis] if known is not None else size_at(region, multiples, axis))
            for axis, size in enumerate(found.shape)
        )
        if None in (operation.outputs[0].shape or ()) or is_sized(found.shape)
        else shape_of(operation)
    )
    return moved(
        found,
        shape,
        lambda e, coordinates: [e.over(p, size)[1] for p, size in zip(coordinates, found.shape, strict=True)],
        once=False,
    )


@lowers("meshgrid")
def _(region: Region, operation: Operation, *nodes: LazyValue) -> list[LazyValue]:
    shape = tuple(size for size in operation.outputs[0].shape or () if size is not None)
    swapped = operation.attrs["indexing"] == "xy" and len(nodes) > 1
    made = []
    for number, node in enumerate(nodes):
        found = region.readable(regrouped(node, (node.size,)))
        axis = 1 - number if swapped and number < 2 else number
        made.append(moved(found, shape, lambda e, coordinates, axis=axis: [coordinates[axis]], once=False))  # type: ignore[misc]
    return made


@lowers("stack", sized=True)
def _(region: Region, operation: Operation, *nodes: LazyValue) -> LazyValue:
    check = functools.partial(checked, region.e)
    one = [functools.reduce(check, sizes) for sizes in zip(*(node.shape for node in nodes), strict=True)]
    axis = operation.attrs["axis"] % (len(one) + 1)
    shape = (*one[:axis], len(nodes), *one[axis:])
    wide = [regrouped(node, (*shape[:axis], 1, *shape[axis + 1 :])) for node in nodes]
    return joined(region, wide, axis, shape)


@lowers("concat", sized=True)
def _(region: Region, operation: Operation, *nodes: LazyValue) -> LazyValue:
    rank = len(nodes[0].shape)
    axis = operation.attrs["axis"] % rank
    shape = [
        sum(node.shape[axis] for node in nodes)
        if dim == axis
        else functools.reduce(
            lambda one, node: checked(region.e, node.shape[dim], one), nodes, nodes[0].shape[dim]
        )
        for dim in range(rank)
    ]
    return joined(region, nodes, axis, tuple(shape))


def joined(region: Region, nodes: Sequence[LazyValue], axis: int, shape: Shape) -> LazyValue:
    """Concatenate nodes along an axis; each is computed directly into its part of the result."""
    e = region.e
    dtype = nodes[0].dtype
    where = Buffer.new(e, dtype, shape)
    begin = 0
    for node in nodes:
        if node.size:
            region.prepared([node])
            with region.loops(node.shape, [Whole(node)]) as index:
                coordinates = index.coordinates(e)
                coordinates[axis] = e.plus(coordinates[axis], e.word(begin))
                target = Index.of(shape, coordinates).flat(e)
                e.store(dtype, where.address, target, node.at(e, index))
        begin += node.shape[axis]
    return where


class Whole(LazyValue):
    """A node whose index is needed along each axis."""

    def __init__(self, node: LazyValue) -> None:
        super().__init__(node.dtype, node.shape)

    def cuts(self) -> frozenset[int]:
        return frozenset(range(1, len(self.shape)))


def known(operation: Operation, number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return an operand that must be a compile-time constant."""
    operand = operation.inputs[number]
    if not isinstance(operand, Constant):
        raise RefusedError(f"`{operand.name}` must be known when the graph is compiled")
    return np.asarray(operand.value, np.int64)
