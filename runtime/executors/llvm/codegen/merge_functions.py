"""Function merging: loop nests that differ only in addresses and sizes become one function.

    for i < 1000: w[i] ← w[i] - 0.1 * g[i]               twins(w, g, 1000)
    …                                            ==>     …
    for i < 50: v[i] ← v[i] - 0.1 * h[i]                 twins(v, h, 50)

Most nests of a training step are like this, since each variable has its own. A nest that is not worth a call
stays inline: nests of a few instructions, and small nests that run often. The pass runs on the finished IR.
"""

from __future__ import annotations

import functools
import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from ..background_compiler import pausing
from .liveness import operands_of, targets_of
from .llvm_types import integer, ir
from .outlining import (
    OutermostLoopNest,
    fill,
    instructions_of,
    is_slot,
    name_arguments,
    never_meet,
    new_part,
    replace_by,
)

_WORTH = 9
"""Minimum number of instructions for which merging pays off: a copy loop has eight."""

_SHORT = 64
"""Inner loops with at most this trip count may be unrolled fully."""

Thing = TypeVar("Thing")

_NAMED = re.compile(r"(loop|group)\d+")


def merge_identical_nests(
    function: Any, nests: Sequence[OutermostLoopNest], users: Users
) -> list[OutermostLoopNest]:
    """Merge the equal nests of a function into one function for each group; return the other nests."""
    rest = {
        id(nest): nest for nest in pausing(nests) if len(_operations(nest)) >= _WORTH and users.is_apart(nest)
    }
    for some in _alike([*rest.values()], _operations):
        forms = [Form(nest, users.own_slots(nest)) for nest in pausing(some)]
        for twins in _alike(forms, lambda form: form.key):
            _share(function, twins)
            for form in twins:
                del rest[id(form.nest)]
    return [*rest.values()]


class ParallelBodies:
    """The distinct bodies of the parallel loops of a module.

    A body reads its live-in values from memory, so that equal bodies need no further parameters.
    """

    def __init__(self, module: Any) -> None:
        self._module = module
        self._alike: dict[tuple[str, ...], list[Any]] = defaultdict(list)  # by opcodes
        self._forms: dict[Any, Any] = {}  # of bodies that have others with the same opcodes

    def is_new(self, run: Any) -> bool:
        """Return whether no other body equals that of a call; otherwise let the call run that one."""
        body = run.args[0]
        others = self._alike[tuple(each.opname for each in instructions_of(body.blocks))]
        others.append(body)
        if len(others) == 1:
            return True
        for each in others if len(others) == 2 else [body]:
            first = self._forms.setdefault(_form_of_body(each), each)
        if first is not body:
            run.operands[1] = first
            del self._module.globals[body.name]
        return first is body


def _form_of_body(body: Any) -> tuple[Any, ...]:
    """Return what equal bodies have in common."""
    entry, *blocks, leave = body.blocks
    slots = [each for each in entry.instructions if is_slot(each)]
    form = Form(OutermostLoopNest(entry, blocks, leave), slots)
    loaded = [*body.args, *(each for each in entry.instructions if each.opname == "load")]
    return form.key, tuple(form.numbers), tuple(loaded.index(value) for value in form.given)


def _operations(nest: OutermostLoopNest) -> list[str]:
    """Return the opcodes of a nest's instructions."""
    return [each.opname for block in nest.blocks for each in block.instructions]


def _alike(things: Sequence[Thing], key: Callable[[Thing], Any]) -> list[list[Thing]]:
    """Group things by key; return the groups with more than one member."""
    found: dict[Any, list[Thing]] = defaultdict(list)
    for each in things:
        found[tuple(key(each))].append(each)
    return [some for some in found.values() if len(some) > 1]


class _Used(NamedTuple):
    """Maps from blocks and slots to the blocks that use their values, and from blocks to the slots that they use."""

    blocks: dict[Any, set[Any]]
    slots: dict[Any, set[Any]]
    slots_of: dict[Any, dict[Any, None]]


class Users:
    """The blocks that use each stack slot, and the values of each block."""

    def __init__(self, function: Any) -> None:
        self._function = function

    @functools.cached_property
    def _found(self) -> _Used:
        blocks: dict[Any, set[Any]] = defaultdict(set)
        slots: dict[Any, set[Any]] = defaultdict(set)
        slots_of: dict[Any, dict[Any, None]] = defaultdict(dict)
        for block in pausing(self._function.blocks):
            for instruction in block.instructions:
                for operand in operands_of(instruction):
                    made_by = getattr(operand, "opname", None)
                    if made_by == "alloca":
                        slots[operand].add(block)
                        slots_of[block][operand] = None
                    elif made_by is not None:
                        blocks[operand.parent].add(block)
        return _Used(blocks, slots, slots_of)

    def own_slots(self, nest: OutermostLoopNest) -> list[Any]:
        """Return the stack slots that only this nest uses."""
        blocks = set(nest.blocks)
        used = dict.fromkeys(slot for block in nest.blocks for slot in self._found.slots_of[block])
        return [slot for slot in used if self._found.slots[slot] <= blocks]

    def is_apart(self, nest: OutermostLoopNest) -> bool:
        """Return whether a nest has no live-out values, and exits only to the block after it."""
        blocks = set(nest.blocks)
        return all(
            self._found.blocks[block] <= blocks and {*blocks, nest.after}.issuperset(targets_of(block))
            for block in nest.blocks
        )


class Form:
    """A canonical form of a nest: `key` is equal for mergeable nests; `given` and `numbers` may differ.

    `given` are the live-in values and `numbers` the constants that become parameters. Small trip counts of
    inner loops belong to the key, since LLVM may unroll those loops.
    """

    def __init__(self, nest: OutermostLoopNest, slots: Sequence[Any]) -> None:
        self.nest = nest
        self.slots = slots
        self.given: dict[Any, int] = {}  # live-in values, in the order of their uses
        self.numbers: list[int] = []
        self.sites: list[tuple[Any, int]] = []  # the operands that hold the numbers
        inside = [*nest.blocks, *slots, *(each for block in nest.blocks for each in block.instructions)]
        self._own = {value: f"own {i}" for i, value in enumerate([nest.before, nest.after, *inside])}
        self._names: dict[str, int] = {}
        described = [self._described(each) for block in nest.blocks for each in block.instructions]
        kinds = [str(slot.allocated_type) for slot in slots], [str(value.type) for value in self.given]
        self.key = (*described, *map(tuple, kinds))

    def _described(self, instruction: Any) -> tuple[Any, ...]:
        facts = instruction.__dict__
        described = [
            instruction.opname,
            str(instruction.type),
            *(facts.get("op"), facts.get("inbounds"), facts.get("align")),
            *instruction.flags,
        ]
        if "source_etype" in facts:
            described.append(str(instruction.source_etype))
        if "fastmath" in facts:
            described += sorted(instruction.fastmath)
        described += map(self._metadata_key, instruction.metadata.values())
        for i, each in enumerate(_operands(instruction)):
            described.append(self._operand(instruction, i, each))
        return tuple(described)

    def _operand(self, instruction: Any, position: int, operand: Any) -> str:
        if isinstance(operand, ir().Constant):
            if not _is_number(operand) or (len(self.nest.blocks) > 1 and operand.constant <= _SHORT):
                return str(operand)
            self.numbers.append(operand.constant)
            self.sites.append((instruction, position))
            return "number"
        if isinstance(operand, (ir().Function, ir().GlobalVariable)):
            return str(operand.name)
        return self._own.get(operand) or f"given {self.given.setdefault(operand, len(self.given))}"

    def _metadata_key(self, node: Any) -> Any:
        """Return loop metadata in canonical form: loops and access groups are numbered within the nest."""
        if isinstance(node, ir().MDValue):
            return tuple(map(self._metadata_key, node.operands))
        name = str(getattr(node, "string", node))
        return self._names.setdefault(name, len(self._names)) if _NAMED.fullmatch(name) else name

    def put(self, number: int, value: Any) -> None:
        """Replace a number by `value` in its instruction."""
        instruction, position = self.sites[number]
        operands = _operands(instruction)
        operands[position] = value
        if instruction.opname == "phi":
            instruction.incomings = list(zip(operands[::2], operands[1::2], strict=True))
            return
        instruction.operands = operands
        if instruction.opname == "getelementptr":
            instruction.pointer, *instruction.indices = operands


def _operands(instruction: Any) -> list[Any]:
    """Return all operands of an instruction, including blocks."""
    if instruction.opname == "phi":
        return [each for incoming in instruction.incomings for each in incoming]
    return list(instruction.operands)


def _is_number(constant: Any) -> bool:
    return bool(constant.type == integer(64)) and isinstance(constant.constant, int)


def _share(function: Any, forms: Sequence[Form]) -> None:
    """Outline the first nest, and replace all nests by calls of it."""
    first = forms[0]
    columns = list(zip(*(form.numbers for form in forms), strict=True))
    sizes = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
    kinds = [*(value.type for value in first.given), *[integer(64)] * len(sizes)]
    part = new_part(function.module, function.scope, kinds, "twins")
    part.attributes.add("noinline")
    name_arguments(part, all(never_meet(form.given) for form in forms))
    for which, form in enumerate(forms):
        b = replace_by(form.nest.before)
        b.call(part, [*form.given, *(integer(64)(column[which] // math.gcd(*column)) for column in sizes)])
        b.branch(form.nest.after)
        if form is not first:
            _forget(form)

    def with_sizes(b: Any) -> dict[Any, Any]:
        given = part.args[len(first.given) :]
        counted = {column: _counted(b, column, x) for column, x in zip(sizes, given, strict=True)}
        for number, column in enumerate(columns):
            if column in counted:
                first.put(number, counted[column])
        return dict(zip(first.given, part.args, strict=False))

    fill(part, first.nest, first.slots, with_sizes)


def _counted(b: Any, sizes: Sequence[int], given: Any) -> Any:
    """Emit a size as the product of an argument and the common divisor, which LLVM can then see."""
    divisor = math.gcd(*sizes)
    return given if divisor == 1 else b.mul(given, integer(64)(divisor), flags=("nuw", "nsw"))


def _forget(form: Form) -> None:
    """Mark a nest and its slots as removed from their function; see `without_moved`."""
    for each in (*form.nest.blocks, *form.slots):
        each.parent = None
