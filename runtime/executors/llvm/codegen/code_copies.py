"""Emit equal code once: the lowering rules write the first one, the others are copies of its instructions.

    s = reduce_sum (x * y)              call part, x, y, s             emitted by rules, like the function `part`
    t = reduce_sum (u * v)      ==>     call part, u, v, t             a copy, with other operands

The layers of a network mostly have a few different shapes. A copy takes a fraction of the time: a parallel loop is only
a call in the function around it. Code is copied only if it has no other effect on the emitter than instructions, and
if it refers to no other value of the function than the given ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from .buffer_assignment import ElementwiseNest
from .liveness import BORN, promised
from .llvm_types import Register, ir
from .memory_builder import Storage
from .outlining import OutermostLoopNest

_LOOP = "llvm.loop"

_TEXTS = ("_StrCaching__cached_str", "_StringReferenceCaching__cached_refstr")
"""The texts that llvmlite keeps for an instruction."""

_REFUSED = frozenset({"switch", "indirectbr", "invoke", "landingpad"})
"""Instructions with other fields than operands."""


class _Marks(NamedTuple):
    """The state of an emitter before some code: sizes of lists, counts, and facts that the code must not change."""

    block: Any
    instructions: int
    blocks: int
    sizes: Sequence[int]
    counts: tuple[int, int, int]
    facts: tuple[Any, ...]


class _Sample(NamedTuple):
    """Emitted code: the registers that it was given, and everything that it added."""

    given: Sequence[Register]
    slots: Sequence[Any]
    promises: Sequence[Any]
    on_stack: Sequence[Any]
    nests: Sequence[ElementwiseNest]
    wholes: Sequence[OutermostLoopNest]
    ends: Sequence[tuple[Any, int]]
    blocks: Sequence[tuple[Any, Sequence[Any]]]
    """The blocks with their instructions; the first block has other instructions before them."""
    end: Any
    counts: tuple[int, int, int]

    def is_closed(self, others: Iterable[Any]) -> bool:
        """Return whether the code refers only to what it was given, to its own values, to `others` and the module."""
        known = {*map(id, self.given), *map(id, others), *map(id, self.slots), *map(id, self.promises)}
        instructions = [each for _, some in self.blocks for each in some]
        known.update(map(id, instructions))
        known.update(id(block) for block, _ in self.blocks)
        used: list[Any] = [self.end, *self.on_stack, *(block for block, _ in self.ends)]
        for each in instructions:
            used += _operands(each)
        for nest in self.nests:
            used += [nest.before, nest.after, *(buffer for pair in nest.pairs for buffer in pair)]
            used += [nest.threads] if nest.threads is not None else []
        for whole in self.wholes:
            used += [whole.before, whole.after, *whole.blocks]
        shared = ir().Constant, ir().Function, ir().GlobalVariable
        if any(each.opname in _REFUSED for each in instructions) or any(
            each.opname != "alloca" for each in self.slots
        ):
            return False
        return all(id(each) in known or isinstance(each, shared) for each in used)


class CopiedCode(Storage):
    """Emitter that copies code that it has emitted before."""

    _nests: list[ElementwiseNest]
    _wholes: list[OutermostLoopNest]
    _ends: list[tuple[Any, int]]
    _stopped: Register
    _loops: int
    _cost: int
    _total: int
    work: int
    memo: dict[Any, Any]

    def __init__(self, module: Any, function: Any, b: Any, top: Any) -> None:
        super().__init__(module, function, b, top)
        self._samples: dict[Hashable, _Sample] = {}

    @property
    def copies(self) -> bool:
        """Return whether code may be a copy: it is in no loop nest, and its origin does not matter."""
        raise NotImplementedError

    def _surroundings(self) -> Hashable:
        """Return what decides about code besides its key."""
        raise NotImplementedError

    def _facts(self) -> tuple[Any, ...]:
        """Return what code changes that has other effects than instructions."""
        raise NotImplementedError

    def emitted(self, key: Hashable, given: Sequence[Register], emit: Callable[[], None]) -> None:
        """Emit code by `emit`, or by a copy of the code with the same key.

        The key determines the code, but for the registers that it is given.
        """
        key = key, self._surroundings()
        sample = self._samples.get(key)
        if sample is not None:
            return self._copied(sample, given)
        marks = self._marks()
        outer, self.memo, self._levels[0].known = self.memo, {}, {}
        try:
            emit()
        finally:
            self.memo = outer
        sample = self._sample(marks, given)
        if marks.facts == self._facts() and sample.is_closed([self._stopped, self.function.args[-1]]):
            self._samples[key] = sample
        return None

    def _lists(self) -> list[list[Any]]:
        """Return the lists that code is noted in."""
        slots = self._top.block.instructions
        return [slots, self._promises, self._on_stack, self._nests, self._wholes, self._ends]

    def _marks(self) -> _Marks:
        block, sizes = self.b.block, [*map(len, self._lists())]
        counts = self.work, self._cost, self._total
        return _Marks(block, len(block.instructions), len(self.function.blocks), sizes, counts, self._facts())

    def _sample(self, marks: _Marks, given: Sequence[Register]) -> _Sample:
        """Return what was emitted since the marks."""
        blocks = [(each, [*each.instructions]) for each in self.function.blocks[marks.blocks :]]
        blocks.insert(0, (marks.block, marks.block.instructions[marks.instructions :]))
        lists = [some[size:] for some, size in zip(self._lists(), marks.sizes, strict=True)]
        slots, promises, on_stack, nests, wholes, ends = lists
        work, cost, total = marks.counts
        counts = self.work - work, self._cost - cost, self._total - total
        end = self.b.block
        return _Sample(given, slots, promises, on_stack, nests, wholes, ends, blocks, end, counts)

    def _copied(self, sample: _Sample, given: Sequence[Register]) -> None:
        new = {id(old): register for old, register in zip(sample.given, given, strict=True)}
        for slot in sample.slots:
            made = new[id(slot)] = _copy(slot, self._top.block)
            self._top._insert(made)
        for promise in sample.promises:
            made = new[id(promise)] = promised(self._top.block, promise.size)
            self._promises.append(made)
        (first, _), *others = sample.blocks
        new[id(first)] = self.b.block
        for block, _ in others:
            new[id(block)] = self.function.append_basic_block(block.name.partition(".")[0])
        for block, instructions in sample.blocks:
            self._copy_block(new[id(block)], instructions, new)
        for _, instructions in sample.blocks:
            for each in instructions:
                self._redirect(new[id(each)], new)
        self.b.position_at_end(new[id(sample.end)])
        self._take_note(sample, new)

    def _copy_block(self, block: Any, instructions: Sequence[Any], new: dict[int, Any]) -> None:
        for each in instructions:
            made = new[id(each)] = _copy(each, block)
            block.instructions.append(made)
            if isinstance(made, ir().instructions.Terminator):
                block.terminator = made

    def _redirect(self, made: Any, new: dict[int, Any]) -> None:
        """Replace the operands of a copied instruction, and the metadata of a loop, which is distinct."""
        if made.opname == "phi":
            made.incomings = [(new.get(id(x), x), new.get(id(y), y)) for x, y in made.incomings]
        elif made.opname == BORN:
            made.promise = new[id(made.promise)]
        else:
            made.operands = _renewed(made.operands, new)
            if made.opname == "getelementptr":
                made.pointer, *made.indices = made.operands
        if made.metadata:
            made.metadata = dict(made.metadata)
        if _LOOP in made.metadata:
            self._loops += 1
            _, *properties = made.metadata[_LOOP].operands
            made.metadata[_LOOP] = self.module.add_metadata([f"loop{self._loops}", *properties])

    def _take_note(self, sample: _Sample, new: dict[int, Any]) -> None:
        """Note the nests and buffers of a copy, as the code around nests does."""
        self._on_stack += _renewed(sample.on_stack, new)
        for before, after, pairs, threads in sample.nests:
            copied = [(new.get(id(a), a), new.get(id(b), b)) for a, b in pairs]
            call = None if threads is None else new[id(threads)]
            self._nests.append(ElementwiseNest(new[id(before)], new[id(after)], copied, call))
        for whole in sample.wholes:
            before, after = new[id(whole.before)], new[id(whole.after)]
            self._wholes.append(OutermostLoopNest(before, _renewed(whole.blocks, new), after, whole.cost))
        self._ends += [(new[id(block)], code) for block, code in sample.ends]
        work, cost, total = sample.counts
        self.work, self._cost, self._total = self.work + work, self._cost + cost, self._total + total


def _copy(instruction: Any, block: Any) -> Any:
    """Return a copy of an instruction, in another block and with another name."""
    made = object.__new__(type(instruction))
    made.__dict__.update(instruction.__dict__)
    for text in _TEXTS:
        made.__dict__.pop(text, None)
    made.parent = block
    made.name = ""
    return made


def _operands(instruction: Any) -> Sequence[Any]:
    """Return all operands of an instruction, including blocks, and the buffer that is born."""
    if instruction.opname == "phi":
        return [each for incoming in instruction.incomings for each in incoming]
    if instruction.opname == BORN:
        return [instruction.promise]
    return instruction.operands  # type: ignore[no-any-return]


def _renewed(values: Iterable[Any], new: dict[int, Any]) -> list[Any]:
    return [new.get(id(each), each) for each in values]
