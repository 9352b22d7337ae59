"""Tensors that are computed in blocks of rows, which elementwise operations read while they are in the cache.

    y = conv x, w                 for each block of rows:
    z = relu (y + b)      ==>         y' ← windows of x · w           a block, in scratch memory
                                      z[rows] ← relu (y' + b)

A row is a vector along the last axis. The block sizes depend on the shapes alone, not on the number of threads.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from .... import dtypes
from .dynamic_sizes import Size
from .function_builder import Emitter
from .lazy_values import Buffer, Cuts, Index, LazyValue, Shape
from .llvm_types import Element, Register, integer
from .parallel_loops import count as count_of_threads

BYTES = 1 << 19
"""The bytes of a block with all that is read and written for it: half of the L2 cache of a common processor."""

_ALIGNED = 64


class RowBlock(NamedTuple):
    """A block of rows: `length` indices from `first` on along `axis`, all of later axes, one of each earlier axis."""

    axis: int
    outer: list[Register]
    """The indices along the earlier axes."""
    first: Register
    length: int
    start: Register
    """The number of the first row."""
    rows: int

    def starts(self, e: Emitter, rank: int) -> list[Register]:
        """Return the first index along each axis."""
        return [*self.outer, self.first, *(e.word(0) for _ in range(rank - self.axis - 1))]

    def counts(self, sizes: Sequence[int]) -> list[int]:
        """Return the number of indices along each axis."""
        return [1] * self.axis + [self.length, *sizes[self.axis + 1 :]]


class RowBlocks:
    """A division of the rows of a tensor, whose axes but the last have these sizes, into blocks.

    >>> RowBlocks((8, 56, 56), 200).step, RowBlocks((64, 7, 7), 200).axis
    (3, 0)
    """

    def __init__(self, sizes: Sequence[int], most: int, multiple: int = 1) -> None:
        self.sizes = tuple(sizes)
        inner = [math.prod(self.sizes[axis + 1 :]) for axis in range(len(self.sizes))]
        self.axis = next(axis for axis, rows in enumerate(inner) if rows <= most or axis == len(inner) - 1)
        self.size, self.inner = self.sizes[self.axis], inner[self.axis]
        pieces = -(-self.size // max(most // self.inner, 1))
        self.step = -(-self.size // pieces)
        if self.axis == len(self.sizes) - 2:
            self.step = -(-self.step // multiple) * multiple
        self.pieces = -(-self.size // self.step)
        self.count = math.prod(self.sizes[: self.axis]) * self.pieces
        self.rows = self.step * self.inner

    def over(self, sizes: Sequence[int]) -> RowBlocks:
        """Return the same blocks of a tensor with longer rows."""
        found = copy.copy(self)
        found.sizes = tuple(sizes)
        return found

    def at(self, e: Emitter, number: Register) -> RowBlock:
        """Return the block with this number."""
        outer, piece = e.over(number, self.pieces)
        first = e.times(piece, self.step)
        length: int = self.step
        if self.size % self.step:
            rest = e.minus(e.word(self.size), first)
            length = Size.of(e.intrinsic("smin", rest, e.word(self.step)))
        start = e.plus(e.times(outer, self.size * self.inner), e.times(first, self.inner))
        indices: list[Register] = []
        for size in reversed(self.sizes[: self.axis]):
            outer, index = e.over(outer, size)
            indices.insert(0, index)
        return RowBlock(self.axis, indices, first, length, start, length * self.inner)


class Blockwise(LazyValue):
    """A tensor that is computed in blocks of rows. All its operands are in memory."""

    in_blocks = True
    cost = 1 << 20
    work = 1
    """The multiplications of each element."""
    row_multiple = 1
    """A divisor of the numbers of indices along the last but one axis of rows that blocks have."""

    def __init__(self, dtype: dtypes.DType, shape: Shape, operands: Sequence[LazyValue]) -> None:
        super().__init__(dtype, shape)
        self.operands = operands
        self._address: Register = None
        self._is_whole = False

    @property
    def is_lazy(self) -> bool:
        return self.storage is None

    def row_bytes(self) -> int:
        """Return the bytes that are read and written for a row."""
        raise NotImplementedError

    def fewest_rows(self) -> int:
        """Return the number of rows below which blocks are slow, even where they do not fit into the cache."""
        return 1

    def scratch_bytes(self, blocks: RowBlocks) -> int:
        """Return the bytes of memory that `write` needs besides the result."""
        return 0

    def around(self, e: Emitter) -> Any:
        """Return the context in which the loop over blocks is emitted."""
        return ExitStack()

    def write(
        self, e: Emitter, block: RowBlock, blocks: RowBlocks, scratch: Register, target: Register
    ) -> None:
        """Emit the computation of a block, stored at `target`."""
        raise NotImplementedError

    def stands_at(self, address: Register, is_whole: bool) -> None:
        """Read elements at this address from now on: of the current block, or of the whole tensor."""
        self._address, self._is_whole = address, is_whole

    def element(self, e: Emitter, index: Index) -> Element:
        return e.load(self.dtype, self._address, index.flat(e) if self._is_whole else index.local)


class Scratch:
    """Memory of `size` bytes for each thread that runs iterations of a parallel loop, which has `rounds` of them."""

    def __init__(self, e: Emitter, size: int, rounds: int) -> None:
        self.e, self.size = e, -(-size // _ALIGNED) * _ALIGNED
        self.threads = min(count_of_threads(), rounds)
        self.address = e.buffer(max(self.threads * self.size, 1))
        self.flags: Register = None
        if self.threads > 1:
            self.flags = e.buffer(self.threads * _ALIGNED)
            e.clear(self.flags, self.threads * _ALIGNED)

    @contextmanager
    def claimed(self) -> Iterator[Register]:
        """Yield the address of memory that no other thread uses while the code emitted here runs."""
        if self.flags is None:
            yield self.address
            return
        e, before = self.e, self.e.b.block
        look, found = e.block("claim"), e.block("claimed")
        e.b.branch(look)
        e.b.position_at_end(look)
        number = e.b.phi(integer(64), "scratch")
        flag = e.b.gep(self.flags, [e.times(number, _ALIGNED)], source_etype=integer(8))
        was_free = e.b.icmp_unsigned(
            "==", e.b.atomic_rmw("xchg", flag, integer(64)(1), "seq_cst"), integer(64)(0)
        )
        following = e.b.add(number, e.word(1))
        other = e.b.select(e.b.icmp_unsigned("<", following, e.word(self.threads)), following, e.word(0))
        number.add_incoming(e.word(0), before)
        number.add_incoming(other, look)
        e.b.cbranch(was_free, found, look)
        e.b.position_at_end(found)
        yield e.b.gep(self.address, [e.times(number, self.size)], source_etype=integer(8))
        e.b.atomic_rmw("xchg", flag, integer(64)(0), "seq_cst")


def fill(
    e: Emitter, wanted: Sequence[tuple[LazyValue, Buffer]], order: Sequence[LazyValue], cuts: Cuts
) -> None:
    """Emit one loop over blocks that computes nodes of one shape; `order` has them and their lazy operands."""
    shape, targets = wanted[0][0].shape, dict(wanted)
    sources = [node for node in order if isinstance(node, Blockwise)]
    blocks = RowBlocks(
        shape[:-1], _most_rows(shape, sources), math.lcm(*(node.row_multiple for node in sources))
    )
    places, size = {}, max(node.scratch_bytes(blocks) for node in sources)
    for node in sources:
        if node not in targets:
            places[node] = size = -(-size // _ALIGNED) * _ALIGNED
            size += blocks.rows * shape[-1] * node.dtype.size
    with ExitStack() as contexts:
        for node in sources:
            contexts.enter_context(node.around(e))
        scratch = Scratch(e, size, blocks.count)
        work = blocks.rows * shape[-1] * sum(node.work for node in sources)
        with e.nest([blocks.count], inner=max(work // 8, 1)) as (number,), scratch.claimed() as memory:
            block = blocks.at(e, number)
            for node in sources:
                _write(e, node, block, blocks, memory, places.get(node), targets)
            _write_others(e, [pair for pair in wanted if pair[0] not in sources], order, block, shape, cuts)
    for node in sources:
        node.stands_at(None, False)


def _most_rows(shape: Shape, sources: Sequence[Blockwise]) -> int:
    """Return how many rows fit into the cache; large tensors have at least some blocks for each thread."""
    rows, work = math.prod(shape[:-1]), shape[-1] * sum(node.work for node in sources)
    fitting = max(BYTES // sum(node.row_bytes() for node in sources), 1)
    shared = max(-(-rows // _PIECES), -(-_LEAST_WORK // work))
    return max(min(fitting, shared), *(node.fewest_rows() for node in sources), 1)


_PIECES = 32
"""The number of blocks into which a large tensor is divided at least, so that threads finish at the same time."""

_LEAST_WORK = 1 << 20
"""The multiplications of a block that is worth the call of BLAS."""


def _write(
    e: Emitter, node: Blockwise, block: RowBlock, blocks: RowBlocks, memory: Register, place: int | None,
    targets: dict[LazyValue, Buffer],
) -> None:  # fmt: skip
    size, whole = node.shape[-1] * node.dtype.size, targets.get(node)
    if whole is None:
        target = e.b.gep(memory, [e.word(place or 0)], source_etype=integer(8))
        node.stands_at(target, False)
    else:
        target = e.b.gep(whole.address, [e.times(block.start, size)], source_etype=integer(8))
        node.stands_at(whole.address, True)
    node.write(e, block, blocks, memory, target)


def _write_others(
    e: Emitter,
    wanted: Sequence[tuple[LazyValue, Buffer]],
    order: Sequence[LazyValue],
    block: RowBlock,
    shape: Shape,
    cuts: Cuts,
) -> None:
    """Emit the elementwise operations on a block."""
    if not wanted:
        return
    rank, width = len(shape), shape[-1]
    is_flat = not cuts - {0, rank}
    with e.nest([block.rows * width] if is_flat else [block.rows, width]) as numbers:
        if is_flat:
            index = Index(shape, [(0, rank, e.plus(e.times(block.start, width), numbers[0]))])
            index.local = numbers[0]
        else:
            row, column = numbers
            index = Index(shape, [(0, rank - 1, e.plus(block.start, row)), (rank - 1, rank, column)])
            index.local = e.plus(e.times(row, width), column)
        for node in order:
            node.at(e, index)
        for node, where in wanted:
            e.store(node.dtype, where.address, index.flat(e), node.at(e, index))
