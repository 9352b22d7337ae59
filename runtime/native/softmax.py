"""What a network's last layer has, written with rules for elements and with reductions.

softmax x                              e^(x - max x) / Σ e^(x - max x)
sparse_softmax_cross_entropy l, x      log Σ e^(x - max x) - (x - max x)[l]
"""

from __future__ import annotations

from .. import dtypes
from ..ir.graph import Operation
from .casts import converted
from .creating import shape_of
from .emitter import Emitter
from .nodes import Index, Mapped, Node
from .reductions import Kind, maxima, reduced, sums
from .regions import Region
from .registry import ELEMENTWISE, RefusedError, Site, lowers
from .shaping import regrouped
from .types import Element


def each(region: Region, name: str, *nodes: Node) -> Node:
    """An operation on the elements of nodes, of which the first one has the largest shape."""
    rule = ELEMENTWISE.get(name)
    if rule is None:
        raise RefusedError(f"there is no native code for {name}")
    first = nodes[0]
    site = Site(name, first.dtype, first.dtype, {}, False)
    return region.computed(rule.write, site, first.dtype, first.shape, nodes, rule.cost)


def _along(region: Region, node: Node, kind: Kind, axis: int) -> Node:
    """A reduction along one axis, which stays with one element."""
    shape = tuple(1 if i == axis else size for i, size in enumerate(node.shape))
    gone = tuple(size for i, size in enumerate(node.shape) if i != axis)
    return regrouped(region.settled(reduced(region, node, kind, (axis,), gone, node.dtype)), shape)


def _shifted(region: Region, logits: Node, axis: int) -> Node:
    """The same distribution, whose largest logit is 0."""
    return each(region, "subtract", logits, _along(region, logits, maxima(logits.dtype), axis))


def _axis(operation: Operation, logits: Node) -> int:
    if not logits.size:
        raise RefusedError("there are no logits")
    return int(operation.attrs["axis"]) % len(logits.shape)


@lowers("softmax")
def _(region: Region, operation: Operation, logits: Node) -> Node:
    axis = _axis(operation, logits)
    weights = each(region, "exp", _shifted(region, logits, axis))
    region.stored(weights)
    return each(region, "realdiv", weights, _along(region, weights, sums(weights.dtype), axis))


@lowers("log_softmax")
def _(region: Region, operation: Operation, logits: Node) -> Node:
    axis = _axis(operation, logits)
    shifted = _shifted(region, logits, axis)
    total = _along(region, each(region, "exp", shifted), sums(logits.dtype), axis)
    return each(region, "subtract", shifted, each(region, "log", total))


@lowers("sparse_softmax_cross_entropy")
def _(region: Region, operation: Operation, labels: Node, logits: Node) -> Node:
    if logits.dtype is dtypes.float16 or not logits.size:
        raise RefusedError(f"{logits.dtype.name} logits of shape {logits.shape} are not compiled here")
    axis = len(logits.shape) - 1
    shifted = _shifted(region, logits, axis)
    total = _along(region, each(region, "exp", shifted), sums(logits.dtype), axis)
    rows = region.readable(labels)
    whole = region.stored(shifted)
    classes = logits.shape[-1]

    def chosen(e: Emitter, index: Index) -> Element:
        label = converted(e, rows.at(e, index), rows.dtype, dtypes.int64)
        inside = e.b.icmp_unsigned("<", label, e.word(classes))
        e.demand(inside)
        places = [*index.places(e), e.choose(inside, label, e.word(0))]
        return whole.at(e, Index.of(whole.shape, places))

    shape = shape_of(operation)
    picked = Mapped(logits.dtype, shape, [rows, whole], chosen, cost=4, fails=True)
    return each(region, "subtract", each(region, "log", regrouped(total, shape)), region.settled(picked))


@lowers("softmax_cross_entropy")
def _(region: Region, operation: Operation, labels: Node, logits: Node) -> Node:
    if logits.dtype is dtypes.float16 or not logits.size:
        raise RefusedError(f"{logits.dtype.name} logits of shape {logits.shape} are not compiled here")
    axis = len(logits.shape) - 1
    shifted = _shifted(region, logits, axis)
    total = each(region, "log", _along(region, each(region, "exp", shifted), sums(logits.dtype), axis))
    losses = each(region, "multiply", each(region, "subtract", _wide(region, total, logits), shifted), labels)
    return reduced(region, losses, sums(logits.dtype), (axis,), shape_of(operation), logits.dtype)


def _wide(region: Region, node: Node, like: Node) -> Node:
    """A node broadcast to the shape of another."""
    return Mapped(
        node.dtype, like.shape, [node], lambda e, index: node.at(e, index.within(e, node.shape)), once=False
    )
