"""Operations that gradients are made of: opposites of reductions and of broadcasting."""

from __future__ import annotations

from ..ir.graph import Operation
from .creating import shape_of
from .nodes import Mapped, Node
from .reductions import reduced, sums
from .regions import Region
from .registry import lowers
from .shaping import regrouped


@lowers("spread")
def _(region: Region, operation: Operation, node: Node, shape: Node) -> Node:
    """What was reduced to one element gets that everywhere."""
    wide = shape_of(operation)
    axis = operation.attrs["axis"]
    gone = range(len(wide)) if axis is None else [one % len(wide) for one in axis]
    narrow = regrouped(region.readable(node), tuple(1 if i in gone else size for i, size in enumerate(wide)))
    return Mapped(
        narrow.dtype, wide, [narrow], lambda e, index: narrow.at(e, index.within(e, narrow.shape)), once=False
    )


@lowers("sum_to")
def _(region: Region, operation: Operation, node: Node, shape: Node) -> Node:
    """Sums along the axes that a tensor of this shape is broadcast along."""
    wanted = shape_of(operation)
    if wanted == node.shape:
        return node
    skipped = len(node.shape) - len(wanted)
    axes = [
        axis
        for axis, size in enumerate(node.shape)
        if axis < skipped or (wanted[axis - skipped] == 1 and size != 1)
    ]
    left = tuple(size for axis, size in enumerate(node.shape) if axis not in axes)
    return regrouped(region.settled(reduced(region, node, sums(node.dtype), axes, left, node.dtype)), wanted)
