"""Run fused operations: tile by tile, on one or more threads."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.deferred_signals import deferred_signals
from ....core.shapes import reduced
from ....core.thread_counts import threads_within
from ....kernels.thread_pool import run_in_pool
from .tile_codegen import FusedKernelSource, Result
from .tiling import TiledResult, TilingLayout, lay_out

_MOST_LAYOUTS = 64

_arenas: list[Any] = []
"""Unused memory for buffers. Each thread takes one arena for the time of its work."""


class Fused:
    """A fused operation: `block` computes one tile, `whole` computes small tensors at once.

    `into` has for each result the number of the argument that donates its array. Arguments after the operands are
    arrays of variables for results, or None.
    """

    def __init__(self, recipe: FusedKernelSource, into: Sequence[int | None]) -> None:
        self.recipe = recipe
        self.into = into
        self.block: Callable[..., None]
        self.whole: Callable[..., tuple[Any, ...]]
        self._layouts: dict[tuple[Any, ...], TilingLayout | None] = {}

    def bind(self, block: Callable[..., None], whole: Callable[..., tuple[Any, ...]]) -> None:
        """Set the compiled functions of the operation."""
        self.block, self.whole = block, whole

    def __call__(self, *arguments: Any) -> Sequence[Any]:
        count = len(self.recipe.region.inputs)
        operands = arguments[:count]
        shapes = tuple([x.shape for x in operands])
        try:
            layout = self._layouts[shapes]
        except KeyError:
            layout = self._laid_out(shapes)
        if layout is None:
            return self.whole(*operands)
        overwrites = len(arguments) > count and any(place is not None for place in arguments[count:])
        try:
            with deferred_signals() if overwrites else contextlib.nullcontext():
                return _Run(self, layout, arguments).results()
        except Exception:
            if overwrites:
                raise  # an operand may be half overwritten
            return self.whole(*operands)  # fails at the operation that caused the exception

    def _laid_out(self, shapes: tuple[Any, ...]) -> TilingLayout | None:
        layout = lay_out(self.recipe, shapes)
        if len(self._layouts) < _MOST_LAYOUTS:
            self._layouts[shapes] = layout
        return layout


class _Run:
    """One run of a fused operation, which several threads may share."""

    def __init__(self, fused: Fused, layout: TilingLayout, arguments: Sequence[Any]) -> None:
        self.fused = fused
        self.layout = layout
        recipe = fused.recipe
        folded = {r.reduction.inputs[0] for r in recipe.results if r.reduction is not None}
        self.operands = [
            _shaped(x, plan, value in folded)
            for x, plan, value in zip(arguments, layout.operands, recipe.region.inputs, strict=False)
        ]
        self.arrays = [
            _room(part, result, layout.blocks, None if number is None else arguments[number])
            for part, result, number in zip(layout.parts, recipe.results, fused.into, strict=True)
        ]
        self.made = [
            array if result.reduction else array.reshape(part.cut)
            for array, part, result in zip(self.arrays, layout.parts, recipe.results, strict=True)
        ]
        self.numbers = itertools.count()
        self.failures: list[Exception] = []

    def results(self) -> list[Any]:
        layout = self.layout
        threads = min(layout.blocks, threads_within()) if layout.is_shared else 1
        if threads > 1:
            run_in_pool(self.work, threads)
        else:
            self.work()
        if self.failures:
            raise self.failures[0]
        return [
            _finished(array, part, result.reduction, layout)
            for array, part, result in zip(self.arrays, layout.parts, self.fused.recipe.results, strict=True)
        ]

    def work(self) -> None:
        """Compute tiles until there are none left."""
        try:
            arena = _arenas.pop()
        except IndexError:
            arena = np.empty(0, np.uint8)
        try:
            with np.errstate(all="ignore"):
                arena, buffers = self.buffers(arena)
                for number in self.numbers:
                    if number >= self.layout.blocks or self.failures:
                        return
                    self.compute(number, buffers)
        except Exception as error:
            self.failures.append(error)
        finally:
            _arenas.append(arena)

    def buffers(self, arena: Any) -> tuple[Any, list[Any]]:
        shape = (self.layout.rows, *self.layout.shape[1:])
        dtypes = self.fused.recipe.buffers
        sizes = [-(-dtype.itemsize * math.prod(shape) // 64) * 64 for dtype in dtypes]
        if arena.size < sum(sizes):
            arena = np.empty(sum(sizes), np.uint8)
        starts = itertools.accumulate(sizes, initial=0)
        return arena, [
            np.ndarray(shape, dtype, arena, start) for dtype, start in zip(dtypes, starts, strict=False)
        ]

    def compute(self, number: int, buffers: list[Any]) -> None:
        layout = self.layout
        start = number * layout.rows
        end = min(start + layout.rows, layout.shape[0])
        given = [x[start:end] if is_cut else x for x, is_cut in self.operands]
        for array, part in zip(self.made, layout.parts, strict=True):
            given.append(array[number, ...] if part.joined else array[start:end])
        results = self.fused.recipe.results
        axes = [part.axes for part, result in zip(layout.parts, results, strict=True) if result.reduction]
        if end - start < layout.rows:
            buffers = [buffer[: end - start] for buffer in buffers]
        self.fused.block(*given, *axes, *buffers)


def _shaped(x: Any, plan: tuple[tuple[int, ...], bool] | None, is_reduced: bool) -> tuple[Any, bool]:
    """Return an operand reshaped for tiling, and whether to tile it."""
    if plan is None:
        return (x.reshape(()) if isinstance(x, np.ndarray) else x), False
    shape, is_cut = plan
    if not is_reduced and not any(x.strides):
        return x[(0,) * x.ndim], False  # one number, broadcast to the shape
    return x.reshape(shape), is_cut


def _room(part: TiledResult, result: Result, count: int, old: Any) -> Any:
    """Return an array for a result: `old` if its shape and layout fit, else a new one."""
    if result.reduction is not None:
        return np.empty((count, *part.cut) if part.joined else part.cut, result.dtype)
    is_fit = old is not None and old.shape == part.whole and old.flags.c_contiguous
    return old if is_fit else np.empty(part.whole, result.dtype)


def _finished(array: Any, part: TiledResult, reduction: Any, layout: TilingLayout) -> Any:
    """Return a result in its final form.

    Partial reductions of the tiles are combined, means are divided, and rank 0 becomes a scalar.
    """
    if reduction is None:
        return array
    if part.joined:
        array = reduction.op.reducer.compute(array, 0, array.dtype)
    if reduction.op.reducer.divides:
        count = math.prod(layout.shape) // (array.size or 1)
        with np.errstate(all="ignore"):
            array = array / array.dtype.type(count)
    array = np.reshape(array, reduced(part.whole, reduction.attrs["axis"], reduction.attrs["keepdims"]))
    return array if array.ndim else array[()]
