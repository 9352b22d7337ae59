"""Arrays of several processes: sums, gathered rows and copies, computed by the engine that joins the processes.

reduced([a, b])     the engine adds up one flat buffer     ==>     [sum of a, sum of b], in all processes

An engine moves flat buffers. Packing, dtypes and uneven sizes are handled here, for all engines.
"""

from __future__ import annotations

import contextlib
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import errors
from .collective_transcript import results_of

Array = NDArray[Any]


class CollectiveEngine(Protocol):
    """Processes that call the same methods, in the same order. Each method waits for all processes."""

    rank: int
    size: int
    mesh: Any
    """JAX's mesh of one device of each process, for programs of all processes; None if there are no such programs."""

    def run(self, what: str, call: Callable[[], Any]) -> Any:
        """Return the result of a call that runs a program of all processes."""

    def all_reduce(self, flat: Array, reduction: str) -> Array:
        """Return the vector of sums, products, minima or maxima over the processes; all give the same length."""

    def all_gather(self, flat: Array) -> Array:
        """Return a matrix with the vector of each process as a row; all give the same length."""


class SingleProcess:
    """The engine of a program that runs in one process."""

    rank = 0
    size = 1
    mesh = None

    def run(self, what: str, call: Callable[[], Any]) -> Any:
        """Return the result of the call."""
        return call()

    def all_reduce(self, flat: Array, reduction: str) -> Array:
        """Return the vector of the only process."""
        return flat

    def all_gather(self, flat: Array) -> Array:
        """Return the vector of the only process as a row."""
        return flat[None]


class _Active:
    """The engine of this process, and those of threads that are replicas."""

    def __init__(self) -> None:
        self._of_process: CollectiveEngine = SingleProcess()
        self._of_thread = threading.local()

    @property
    def engine(self) -> CollectiveEngine:
        """The engine of this thread if it is a replica, else that of the process."""
        return getattr(self._of_thread, "engine", None) or self._of_process

    @engine.setter
    def engine(self, engine: CollectiveEngine) -> None:
        self._of_process = engine

    @contextlib.contextmanager
    def in_thread(self, engine: CollectiveEngine) -> Iterator[None]:
        """Give this thread an engine of its own in the block."""
        before = getattr(self._of_thread, "engine", None)
        self._of_thread.engine = engine
        try:
            yield
        finally:
            self._of_thread.engine = before


active = _Active()
"""The active engines. A strategy of several processes replaces that of the process."""


def reduced(arrays: Sequence[Array], reduction: str, bytes_per_pack: int = 0) -> list[Array]:
    """Return the arrays reduced over the processes: `reduction` is sum, mean, min or max.

    Arrays of one dtype travel in one buffer, or in buffers of about `bytes_per_pack` if that is not 0.
    """
    return list(results_of(len(arrays), lambda: _reduced(arrays, reduction, bytes_per_pack)))


def _reduced(arrays: Sequence[Array], reduction: str, bytes_per_pack: int) -> list[Array]:
    engine = active.engine
    results: list[Array] = [np.empty(0)] * len(arrays)
    for pack in _packs([np.asarray(array) for array in arrays], bytes_per_pack):
        flat = np.concatenate([array.reshape(-1) for _, array in pack])
        total = _total(engine, flat, reduction) if flat.size else flat
        start = 0
        for position, array in pack:
            results[position] = np.array(total[start : start + array.size]).reshape(array.shape)
            start += array.size
    return results


def _total(engine: CollectiveEngine, flat: Array, reduction: str) -> Array:
    if flat.dtype.kind == "c":
        return _total(engine, flat.view(flat.real.dtype), reduction).view(flat.dtype)
    wide = flat.astype(_WIDER.get((flat.dtype.kind, flat.dtype.itemsize), flat.dtype), copy=False)
    total = engine.all_reduce(wide, "sum" if reduction == "mean" else reduction)
    total = total / wide.dtype.type(engine.size) if reduction == "mean" else total
    return total.astype(flat.dtype)


_WIDER = {
    ("f", 2): np.dtype(np.float32),
    ("V", 2): np.dtype(np.float32),  # bfloat16
    ("i", 1): np.dtype(np.int32),
    ("i", 2): np.dtype(np.int32),
    ("u", 1): np.dtype(np.uint32),
    ("u", 2): np.dtype(np.uint32),
}
"""The dtype in which small numbers are added up, by kind and size. Integers wrap as in their own dtype."""


def _packs(arrays: Sequence[Array], limit: int) -> list[list[tuple[int, Array]]]:
    """Return the arrays with their positions, grouped by dtype and size."""
    packs: list[list[tuple[int, Array]]] = []
    open_packs: dict[np.dtype[Any], list[tuple[int, Array]]] = {}
    for position, array in enumerate(arrays):
        pack = open_packs.get(array.dtype)
        if pack is None or (limit and sum(one.nbytes for _, one in pack) + array.nbytes > limit):
            pack = open_packs[array.dtype] = []
            packs.append(pack)
        pack.append((position, array))
    return packs


def sizes_of(size: int) -> list[int]:
    """Return the number that each process gives, in the order of the processes."""
    return [int(one) for one in active.engine.all_gather(np.array([size], np.int64))[:, 0]]


def gathered(array: Array, axis: int) -> Array:
    """Return the arrays of all processes joined along an axis, in which their sizes may differ."""
    return _one(lambda: _gathered(array, axis))


def _one(run: Callable[[], Array]) -> Array:
    (result,) = results_of(1, lambda: [run()])
    return result  # type: ignore[no-any-return]


def _gathered(array: Array, axis: int) -> Array:
    engine = active.engine
    rows = np.moveaxis(np.asarray(array), axis, 0)
    facts = engine.all_gather(
        np.array([len(rows), rows[:1].size, rows.ndim, zlib.crc32(rows.dtype.name.encode())], np.int64)
    )
    counts = [int(count) for count in facts[:, 0]]
    row_sizes = {int(size) for count, size in zip(counts, facts[:, 1], strict=True) if count}
    if len(row_sizes) > 1 or len({tuple(kind) for kind in facts[:, 2:].tolist()}) > 1:
        raise errors.InvalidArgumentError(
            f"all_gather joins tensors of one dtype that differ in the size of axis {axis} only; process {engine.rank} "
            f"gives the shape {np.shape(array)}"
        )
    row_bytes = max(row_sizes, default=0) * rows.dtype.itemsize
    if not row_bytes:
        return np.moveaxis(np.empty((sum(counts), *rows.shape[1:]), rows.dtype), 0, axis)
    sent = np.zeros(max(counts) * row_bytes, np.uint8)
    sent[: rows.nbytes] = np.ascontiguousarray(rows).reshape(-1).view(np.uint8)
    parts = [part[: count * row_bytes] for part, count in zip(engine.all_gather(sent), counts, strict=True)]
    joined = np.concatenate(parts).view(rows.dtype).reshape(sum(counts), *rows.shape[1:])
    return np.moveaxis(joined, 0, axis)


def scattered(array: Array, size: int, axis: int) -> Array:
    """Return the part of this process of the sum over the processes: `size` rows along an axis."""
    return _one(lambda: _scattered(array, size, axis))


def _scattered(array: Array, size: int, axis: int) -> Array:
    counts = sizes_of(size)
    (total,) = _reduced([array], "sum", 0)
    start = sum(counts[: active.engine.rank])
    if sum(counts) != total.shape[axis]:
        raise errors.InvalidArgumentError(
            f"reduce_scatter gives {sum(counts)} rows to the processes, but axis {axis} has {total.shape[axis]}"
        )
    part: Array = np.take(total, np.arange(start, start + size), axis)
    return part


def copied(array: Array, root: int) -> Array:
    """Return the array of the process `root`; all processes give arrays of the same shape and dtype."""
    return _one(lambda: _copied(array, root))


def _copied(array: Array, root: int) -> Array:
    engine = active.engine
    if not 0 <= root < engine.size:
        raise errors.InvalidArgumentError(f"process {root} is not one of the {engine.size} processes")
    array = np.asarray(array)
    bits = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if engine.size > 1 and bits.size:
        words = np.zeros(-(-bits.size // 4), np.uint32)
        if engine.rank == root:
            words.view(np.uint8)[: bits.size] = bits
        bits = engine.all_reduce(words, "sum").view(np.uint8)[: bits.size]
    return np.array(bits).view(array.dtype).reshape(array.shape)


def reduced_to(array: Array, root: int) -> Array:
    """Return the sum over the processes in the process `root`, and zeros in the others."""
    (total,) = reduced([array], "sum")
    return total if active.engine.rank == root else np.zeros_like(total)
