"""Elementwise operations on dynamic shapes: sizes are checked for equality at run time.

    z = add x, y        x: float32[s, 3], y: float32[t, 3]      if s ≠ t, the plan runs;  z: float32[s, 3]

Dynamic sizes that turn out to be 1 are not broadcast here; the plan handles them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .dynamic_sizes import Size, is_sized
from .function_builder import Emitter
from .lazy_values import NO_CUTS, Buffer, Cuts, Index, LazyValue, Reshaped, Shape
from .rule_registry import RefusedError


def regrouped(node: LazyValue, shape: Shape) -> LazyValue:
    """Return the elements of `node` in row-major order, with another shape."""
    found = node.storage or node
    if found.shape == shape:
        return found
    if found.size != math.prod(shape) and not (is_sized(found.shape) or is_sized(shape)):
        raise RefusedError(f"{found.shape} and {shape} do not hold as many elements")
    if isinstance(found, Buffer):
        return found.also(shape)
    return Reshaped(
        found.dtype,
        shape,
        [found],
        lambda e, index: found.at(e, _index(e, index, found.shape)),
        cost=0,
        cuts=lambda: _cuts(found, shape),
    )


def _cuts(operand: LazyValue, shape: Shape) -> Cuts:
    """Return the axes before which loops over `shape` are not collapsed if loops over the operand are not either."""
    if not operand.is_lazy or not operand.cuts():
        return NO_CUTS
    return frozenset(first for _, (first, _) in common_axes(operand.shape, shape) if first)


def _index(e: Emitter, index: Index, shape: Shape) -> Index:
    """Return the index of the same element in another shape.

    It is divided where the axes of both shapes end together, so that readers along some axes need no division.
    """
    groups = []
    for (start, stop), (first, last) in common_axes(index.shape, shape):
        value = index.linear(e, start, stop)
        if value is None:
            return Index(shape, [(0, len(shape), index.flat(e))])
        groups.append((first, last, value))
    return Index(shape, groups)


def common_axes(one: Shape, other: Shape) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the shortest ranges of axes of two shapes that hold equally many elements, in order.

    >>> common_axes((8, 4, 6), (8, 4, 2, 3))
    [((0, 1), (0, 1)), ((1, 2), (1, 2)), ((2, 3), (2, 4))]
    >>> common_axes((6, 4), (4, 6))
    [((0, 2), (0, 2))]
    """
    if is_sized((*one, *other)) or 0 in (*one, *other) or not (one and other):
        return [((0, len(one)), (0, len(other)))]
    found = []
    i = j = start = first = 0
    left = right = 1
    while i < len(one) or j < len(other):
        if j == len(other) or (i < len(one) and left <= right):
            left *= one[i]
            i += 1
        else:
            right *= other[j]
            j += 1
        if left == right and i > start and j > first:
            found.append(((start, i), (first, j)))
            start, first, left, right = i, j, 1, 1
    if (start, first) != (len(one), len(other)):  # axes of size 1 at the end
        (start, _), (first, _) = found.pop()
        found.append(((start, len(one)), (first, len(other))))
    return found


def broadcast_size(e: Emitter, sizes: Sequence[int]) -> int:
    """Return the broadcast of `sizes`, and emit the checks that dynamic ones agree."""
    wide = [size for size in sizes if size != 1]
    if not wide:
        return 1
    first = next((size for size in wide if not isinstance(size, Size)), wide[0])
    for other in wide:
        if other != first:
            e.demand(e.b.icmp_signed("==", e.word(other), e.word(first)))
    return first


def agreeing(e: Emitter, nodes: Sequence[LazyValue], known: Any = None) -> tuple[Shape, list[LazyValue]]:
    """Return the broadcast shape of `nodes`, and the nodes reshaped so that equal sizes are the same int.

    `known` is the statically known part of that shape.
    """
    rank = max(len(node.shape) for node in nodes)
    shape = []
    for axis in range(-rank, 0):
        sizes = [node.shape[axis] for node in nodes if len(node.shape) >= -axis]
        if known is not None and known[axis] is not None:
            sizes.append(known[axis])
        shape.append(broadcast_size(e, sizes))
    return tuple(shape), [_as_wide(node, tuple(shape)) for node in nodes]


def _as_wide(node: LazyValue, shape: Shape) -> LazyValue:
    own = shape[len(shape) - len(node.shape) :]
    return regrouped(node, tuple(1 if size == 1 else w for size, w in zip(node.shape, own, strict=True)))
