"""Tiling: cut tensors of given shapes into tiles.

    x: 64, 100, 128     y: 128            three axes; the first two are merged, since each operand has
    whole: 6400, 128    rows: 128         both or neither. A tile has 128 rows of x, and the whole of y.

The first of the merged axes is cut. If all operands have all axes, there is only one merged axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ....ir.graph import Constant, Operand
from .tile_codegen import FusedKernelSource

SMALLEST = 1 << 15
"""Tensors of fewer elements are not cut."""

WORTH = 150_000.0
"""Work of fewer nanoseconds is not cut: one thread calls NumPy for the whole tensors in less time."""

CACHE = 1024 * 1024
"""The most bytes of all tiles and buffers in use at once: most of a core's own cache."""

MOST = 1 << 17
LEAST = 1 << 15
"""The largest and the smallest number of elements of a tile."""

PAYS = 1_000_000.0
"""Nanoseconds of work from which more threads are used …"""

LONG = 25_000.0
"""… if NumPy calls take this long on average: a thread waits about as long for the GIL between calls.

Calls may be half as long if there is twice as much work.
"""

_TILES = 16
"""The least number of tiles if these are larger than the cache, so that calls are long."""

Shape = tuple[int, ...]


class TiledResult(NamedTuple):
    """The layout of a result: the shape before reduction, the merged shape to cut, and the axes to reduce.

    If `joined`, each tile has its own partial result, and the partial results are reduced in the end.
    """

    whole: Shape
    cut: Shape
    axes: Shape
    joined: bool


class TilingLayout(NamedTuple):
    """A tiling. `operands` has the shape of each operand and whether to cut it; None for a single element.

    Threads share the tiles if `is_shared`.
    """

    shape: Shape
    operands: tuple[tuple[Shape, bool] | None, ...]
    parts: tuple[TiledResult, ...]
    rows: int
    blocks: int
    is_shared: bool


def lay_out(recipe: FusedKernelSource, given: Sequence[Shape]) -> TilingLayout | None:
    """Return the layout for operands of these shapes; None if one call for the whole is faster."""
    shapes = _shapes(recipe, given)
    if shapes is None:
        return None
    whole = max(shapes.values(), key=math.prod)
    size = math.prod(whole)
    if (
        size < SMALLEST
        or size * recipe.cost < WORTH
        or any(shapes[operation.outputs[0]] != whole for operation in recipe.region.operations)
    ):
        return None
    operands = [_aligned(shape, len(whole)) for shape in given]
    reduced = [_axes(result.reduction, len(whole)) for result in recipe.results]
    groups = _merged(whole, operands, reduced)
    sizes = tuple(math.prod(whole[i] for i in group) for group in groups)
    row = math.prod(sizes[1:])
    if row > MOST:
        return None
    elements = _elements(recipe, given, size)
    rows = max(1, min(elements, size) // row)
    return TilingLayout(
        sizes,
        tuple(_operand(shape, groups) for shape in operands),
        tuple(
            _part(shapes[value], sizes, groups, axes)
            for value, axes in zip(recipe.region.outputs, reduced, strict=True)
        ),
        rows,
        -(-sizes[0] // rows),
        _is_shared(size * recipe.cost, elements * _call(recipe)),
    )


def _shapes(recipe: FusedKernelSource, given: Sequence[Shape]) -> dict[Operand, Shape] | None:
    """Return the shapes of all values, before reductions; None if some do not broadcast."""
    shapes: dict[Operand, Shape] = dict(zip(recipe.region.inputs, given, strict=True))
    for operation in recipe.region.operations:
        found = [
            operand.value.shape if isinstance(operand, Constant) else shapes[operand]
            for operand in operation.inputs
        ]
        try:
            shapes[operation.outputs[0]] = np.broadcast_shapes(*found)
        except ValueError:
            return None
    return shapes


def _axes(reduction: Any, rank: int) -> frozenset[int] | None:
    if reduction is None:
        return None
    axes = reduction.attrs["axis"]
    return frozenset(range(rank) if axes is None else (axis % rank for axis in axes))


def _aligned(shape: Shape, rank: int) -> Shape:
    return (1,) * (rank - len(shape)) + shape


def _merged(whole: Shape, operands: list[Shape], reduced: list[frozenset[int] | None]) -> list[list[int]]:
    """Return neighboring axes in groups.

    Each operand has all axes of a group or none, and each reduction reduces all or none.
    """
    groups: list[list[int]] = []
    last: Any = None
    for i, size in enumerate(whole):
        kind = [*(shape[i] == 1 for shape in operands), *(axes is not None and i in axes for axes in reduced)]
        if size == 1 and groups:
            groups[-1].append(i)
        elif groups and (kind == last or math.prod(whole[j] for j in groups[-1]) == 1):
            groups[-1].append(i)
            last = kind
        else:
            groups.append([i])
            last = kind
    return groups


def _operand(shape: Shape, groups: list[list[int]]) -> tuple[Shape, bool] | None:
    sizes = tuple(math.prod(shape[i] for i in group) for group in groups)
    return None if math.prod(sizes) == 1 else (sizes, sizes[0] > 1)


def _part(whole: Shape, sizes: Shape, groups: list[list[int]], axes: frozenset[int] | None) -> TiledResult:
    if axes is None:
        return TiledResult(whole, sizes, (), False)
    # An axis of size 1 may be in a group of another kind: only the larger axes count.
    gone = tuple(i for i, group in enumerate(groups) if _is_gone(group, whole, axes))
    left = tuple(size for i, size in enumerate(sizes) if i not in gone)
    return TiledResult(whole, left, gone, 0 in gone)


def _is_gone(group: list[int], whole: Shape, axes: frozenset[int]) -> bool:
    big = [i for i in group if whole[i] > 1] or group
    return all(i in axes for i in big)


def _is_shared(work: float, call: float) -> bool:
    return work >= PAYS and call >= LONG / 2 and work * call >= PAYS * LONG


def _call(recipe: FusedKernelSource) -> float:
    """Return the nanoseconds per element of a NumPy call, on average."""
    return recipe.cost / len(recipe.region.operations)


def _elements(recipe: FusedKernelSource, given: Sequence[Shape], size: int) -> int:
    """Return the number of elements of a tile, as a power of two: as many as fit into the cache.

    If threads may share the work, calls should be long. The number of threads makes no difference, so that sums
    are the same on every machine.
    """
    tensors = [
        value.dtype.size for value, shape in zip(recipe.region.inputs, given, strict=True) if len(shape)
    ]
    results = [np.dtype(result.dtype).itemsize for result in recipe.results if result.reduction is None]
    buffers = [np.dtype(dtype).itemsize for dtype in recipe.buffers]
    most = max(LEAST, _power(CACHE // sum((*tensors, *results, *buffers))))
    if size * recipe.cost >= 2 * PAYS:
        most = max(most, min(_power(size // _TILES or 1), _power(int(2 * LONG / _call(recipe)) or 1)))
    return min(MOST, most)


def _power(number: int) -> int:
    """Return the largest power of two that is at most `number`."""
    return 1 << number.bit_length() - 1
