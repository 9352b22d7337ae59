"""Phis of tensors with dynamic sizes (codegen/dynamic_sizes.py).

y = while y0                    y has two growing buffers, and a slot for each dynamic size
y = cond p: then a, else b      the address and the sizes of whichever branch has run
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arena import HEAD
from ..codegen.dynamic_shapes import regrouped
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, LazyValue
from ..codegen.llvm_types import Register, integer, pointer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError
from .reshape import checked


class _Sizes:
    """The shape of a merged value, with a slot for each size that may differ."""

    def __init__(self, e: Emitter, sizes: Sequence[int | None]) -> None:
        self._sizes = [e.slot(integer(64)) if size is None else size for size in sizes]

    def write(self, e: Emitter, node: LazyValue) -> LazyValue:
        """Store the shape of a node, and return the node with that shape. A mismatch of a static size fails the run."""
        if len(node.shape) != len(self._sizes):
            raise RefusedError("tensors of different ranks are merged here")
        shape = []
        for size, own in zip(self._sizes, node.shape, strict=True):
            if isinstance(size, int):
                own = checked(e, own, size)
            else:
                e.b.store(e.word(own), size)
            shape.append(own)
        return regrouped(node, tuple(shape))

    def read(self, e: Emitter) -> tuple[int, ...]:
        return tuple(
            size if isinstance(size, int) else Size.of(e.b.load(size, typ=integer(64)))
            for size in self._sizes
        )


class TensorMerge:
    """The merge point of one result of all branches."""

    def __init__(self, e: Emitter, spec: Any, outcomes: Sequence[LazyValue]) -> None:
        self._dtype = outcomes[0].dtype
        self._address = e.slot(pointer())
        self._addresses: frozenset[Register] = frozenset()  # memory that may hold the result
        self._in_list = False
        self._sizes = _Sizes(
            e,
            [
                own if all(node.shape[axis : axis + 1] == (own,) for node in outcomes) else known
                for axis, (known, own) in enumerate(zip(spec.shape, outcomes[0].shape, strict=True))
            ],
        )

    def arrive(self, region: Region, node: LazyValue) -> None:
        """Store `node` as this result at the end of a branch."""
        found = region.stored(self._sizes.write(region.e, node))
        region.e.b.store(found.address, self._address)
        self._addresses |= found.addresses
        self._in_list |= found.in_list

    def read(self, e: Emitter) -> LazyValue:
        """Return the result after the branches."""
        found = Buffer(self._dtype, self._sizes.read(e), e.b.load(self._address, typ=pointer()))
        found.addresses |= self._addresses
        found.in_list = self._in_list
        return found


class KeptTensor:
    """A loop-carried tensor: the current value in one buffer, the next value in another."""

    def __init__(self, region: Region, spec: Any, node: LazyValue) -> None:
        e = region.e
        self._dtype = node.dtype
        self._now, self._other = e.growing(1), e.growing(1)
        self._sizes = _Sizes(e, spec.shape)
        self.write(region, region.settled(node))  # settle first, since the node may have other readers

    def read(self, e: Emitter) -> Buffer:
        address = e.b.gep(
            e.b.load(self._now, typ=pointer()), [e.word(HEAD)], inbounds=True, source_etype=integer(8)
        )
        found = Buffer(self._dtype, self._sizes.read(e), address, is_own=True)
        found.slot = self._now
        return found

    def write(self, region: Region, node: LazyValue) -> None:
        """Store the next value, and swap the buffers. The current value stays readable meanwhile."""
        e = region.e
        fitting = self._sizes.write(e, node)
        size: Register = e.word(math.prod(fitting.shape) * self._dtype.size)
        region.stored(fitting, Buffer(self._dtype, fitting.shape, e.fitted(self._other, size)))
        now, other = (e.b.load(slot, typ=pointer()) for slot in (self._now, self._other))
        e.b.store(other, self._now)
        e.b.store(now, self._other)


def is_open(spec: Any) -> bool:
    """Return whether a tensor has a dynamic size."""
    return None in (getattr(spec, "shape", None) or ())
