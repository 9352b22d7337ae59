"""Buffer assignment: buffers that are never live at the same time share memory, as in register allocation.

    a 4 MB ├──────┤                            ┌─────────┬───┐
    b 1 MB    ├───────┤               ==>      │ a, c    │ b │       5 MB rather than 7
    c 2 MB         ├──────┤                    └─────────┴───┘

Buffers are assigned from the largest to the smallest, each to the first slot without a conflict. A loop nest
may compute a buffer element by element in place of another buffer that is dead after the nest:

    for i: b[i] ← a[i] * 2      ==>      for i: a[i] ← a[i] * 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..background_compiler import pausing
from .liveness import BORN, PROMISE, Addresses, BufferLiveness, bits, operands_of
from .llvm_types import ir

_MOST_TRIED = 256
"""The number of slots, the newest ones, that are tried for a buffer."""


class ElementwiseNest(NamedTuple):
    """A loop nest that writes each element once: the blocks around it, and pairs (read, written) of buffers.

    `threads` is the call that runs the nest in the thread pool, or None.
    """

    before: Any
    after: Any
    pairs: list[tuple[Any, Any]]
    threads: Any


class BufferSlot:
    """Memory that is shared by some buffers."""

    def __init__(self) -> None:
        self.members = 0
        self.conflicts = 0  # of all members
        self.promises: list[Any] = []

    @property
    def size(self) -> int:
        """The size in bytes of the largest buffer, which is the first."""
        return self.promises[0].size  # type: ignore[no-any-return]


def assign_buffers(
    blocks: Sequence[Any],
    start: Any,
    promises: Sequence[Any],
    nests: Sequence[ElementwiseNest],
    small: int,
    addresses: Addresses,
) -> list[BufferSlot]:
    """Assign the buffers of a function to slots; buffers up to `small` bytes never share a slot with larger ones."""
    live = BufferLiveness(blocks, addresses)
    replacing = _replacing(blocks, nests, addresses, live)
    conflicts = _conflicts(live, start, len(promises), replacing)
    found: list[BufferSlot] = []
    first, large = 0, sum(promise.size > small for promise in promises)
    for i, number in enumerate(pausing(sorted(range(len(promises)), key=lambda i: -promises[i].size))):
        if i == large:
            first = len(found)
        mask, own = conflicts[number], 1 << number
        tried = found[max(first, len(found) - _MOST_TRIED) :]
        free = (each for each in tried if not (each.members & mask or each.conflicts & own))
        slot = next(free, None)
        replaced = replacing.get(number)
        if slot is not None and replaced:
            slot = next((each for each in (slot, *free) if each.members & replaced), slot)
        if slot is None:
            found.append(slot := BufferSlot())
        slot.members |= own
        slot.conflicts |= mask
        slot.promises.append(promises[number])
    return found


def _conflicts(live: BufferLiveness, start: Any, count: int, replacing: dict[int, int]) -> list[int]:
    """Return for each buffer the mask of buffers that are live when it is born.

    Two buffers conflict if one is in the mask of the other.
    """
    found = [0] * count
    for number, others in live.births():
        found[number] |= others & ~replacing.get(number, 0)
    always, lost = live.at_start[start], live.addresses.lost & live.addresses.buffers
    for number in bits(always):
        found[number] |= always
    for number in bits(lost):
        found[number] |= live.addresses.buffers
    return [mask & ~(1 << number) for number, mask in enumerate(found)]


def _replacing(
    blocks: Sequence[Any], nests: Sequence[ElementwiseNest], addresses: Addresses, live: BufferLiveness
) -> dict[int, int]:
    """Return for each buffer the buffers that it may overwrite while it is computed: they are dead after the nest."""
    births: dict[Any, list[Any]] = {}
    for block in pausing(blocks):
        for each in block.instructions:
            if each.opname == BORN:
                births.setdefault(each.promise, []).append(block)
    held = addresses.held([nest.threads.args[1] for nest in nests if nest.threads])
    found: dict[int, int] = {}
    for nest in nests:
        after = live.at_start[nest.after] | held
        for read, written in nest.pairs:
            a, b = addresses.number[read], addresses.number[written]
            is_free = not after >> a & 1 and not held >> b & 1
            if is_free and births.get(written) == [nest.before] and _waits(nest, written, b, addresses):
                found[b] = found.get(b, 0) | 1 << a
    return found


def _waits(nest: ElementwiseNest, promise: Any, number: int, addresses: Addresses) -> bool:
    """Return whether a buffer that is born in the block before a nest is not touched before the nest."""
    is_born = False
    for each in nest.before.instructions:
        if each.opname == BORN and each.promise is promise:
            is_born = True
        elif is_born and each is not nest.threads and addresses.touched(each) >> number & 1:
            return False
    return is_born


def pairs(blocks: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return the pairs (read, written) of buffers in which each element is read before its index is written."""
    uses = _Uses(blocks)
    written = [promise for promise in uses.stores if uses.is_plain(promise) and promise not in uses.loads]
    read = [promise for promise in uses.loads if uses.is_plain(promise) and promise not in uses.stores]
    return [(a, b) for b in written for a in read if uses.goes_beside(a, b)]


class _Uses:
    """The accesses of a nest to buffers: (block, position in the block, indices, bits).

    The indices are those of all `getelementptr` between the buffer and the access.
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        self.loads: dict[Any, list[tuple[Any, int, Any, int]]] = {}
        self.stores: dict[Any, list[tuple[Any, int, Any, int]]] = {}
        self._other: set[Any] = set()
        # By address: the buffer, the indices, and the bits of the last one.
        self._addresses: dict[Any, tuple[Any, Any, int]] = {}
        for block in blocks:
            for i, each in enumerate(block.instructions):
                operands = operands_of(each)
                if each.opname == "getelementptr" and self._is_address(each, operands):
                    continue
                if each.opname == "load" and operands[0] in self._addresses:
                    self._enter(self.loads, operands[0], block, i)
                elif (
                    each.opname == "store"
                    and operands[1] in self._addresses
                    and operands[0] not in self._addresses
                ):
                    self._enter(self.stores, operands[1], block, i)
                else:
                    values = (
                        x for x in operands if not isinstance(x, ir().Constant)
                    )  # they are slow to hash
                    self._other.update(self._addresses[x][0] if x in self._addresses else x for x in values)

    def _is_address(self, each: Any, operands: Sequence[Any]) -> bool:
        """Enter the address of an element of a buffer."""
        whole, *indices = operands
        is_buffer = getattr(whole, "opname", None) == PROMISE
        if len(indices) != 1 or not (is_buffer or whole in self._addresses):
            return False
        buffer, before, _ = (whole, (), 0) if is_buffer else self._addresses[whole]
        width, index = _width(each.source_etype), getattr(indices[0], "constant", None)
        step = width, id(indices[0]) if index is None else ("constant", index)
        self._addresses[each] = buffer, (*before, step), width
        return True

    def _enter(self, table: dict[Any, Any], address: Any, block: Any, i: int) -> None:
        promise, indices, width = self._addresses[address]
        table.setdefault(promise, []).append((block, i, indices, width))

    def is_plain(self, promise: Any) -> bool:
        """Return whether a buffer is only loaded and stored."""
        return promise not in self._other

    def goes_beside(self, read: Any, written: Any) -> bool:
        loads, stores = self.loads[read], self.stores[written]
        block, first, _, width = stores[0]
        stored = {indices for _, _, indices, _ in stores}
        return all(b is block and w == width for b, _, _, w in (*loads, *stores)) and all(
            i < first and indices in stored for _, i, indices, _ in loads
        )


def _width(kind: Any) -> int:
    return getattr(kind, "width", None) or {"half": 16, "float": 32, "double": 64}[str(kind)]
