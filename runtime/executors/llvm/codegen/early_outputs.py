"""Store large outputs as soon as their operands are computed, in the memory of the variables that they replace.

    g = matmul x, d                          nest: m[i] ← m[i] + (g[i] - m[i]) * 0.1
    m.1 = add m, …(g)               ==>
    h = matmul …                             h may use the memory of g
    return m.1

An output replaces a variable's old value in place if nothing else reads that value any more. From the first such
nest on, a run must not fail, for the old values are lost. If code that may fail follows, `TooLateError` is raised,
and the function is lowered again with all such nests at its end.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ....ir.graph import Operand, Operation, Value
from ....ir.structured import is_call
from ....ir.traits import TOTAL
from ....ir.value_types import TensorType
from .element_formulas import element_rule
from .lazy_values import Buffer, Changed, LazyElementwise, LazyValue
from .llvm_types import Register
from .materialization import Values
from .output_groups import output_groups
from .use_lists import memory_of

BIG = 1 << 18
"""Bytes from which an output is stored early: until then, its operands need memory."""

STORING = {"array_write", "list_append", "list_set"}
"""Operations that store a value which may be computed later, together with other values."""


class Donation(enum.Enum):
    """The nests in which outputs may overwrite the old values of variables."""

    EARLY = enum.auto()
    LAST = enum.auto()
    NEVER = enum.auto()


def _checks(operation: Operation) -> bool:
    """Return whether an operation probably checks values, such as indices, or runs code that does."""
    if operation.stateful or operation.regions:
        return not is_call(operation)
    given = (operand for operand in operation.inputs if isinstance(operand, Value))
    return not operation.op.has(TOTAL) and any(_is_discrete(each.spec) for each in given)


def _is_discrete(spec: Any) -> bool:
    return not isinstance(spec, TensorType) or spec.dtype.kind in "iub"


class EarlyOutputs:
    """The outputs of a function. `targets` have their memory, `donors` the inputs whose memory they may use.

    `overwritten` has the numbers of the outputs that are in the memory of their donors.
    """

    def __init__(
        self,
        region: Values,
        outputs: Sequence[Operand],
        targets: Sequence[Buffer | None],
        donors: Mapping[int, LazyValue],
        donation: Donation,
        operations: Sequence[Operation],
    ) -> None:
        self.overwritten: set[int] = set()
        self._last_check = next(filter(_checks, reversed(operations)), None)  # until it is lowered
        self._region = region
        self._targets = list(targets)
        self._donors = donors
        self._is_early = donation is Donation.EARLY
        self._pending: list[tuple[int, LazyValue]] = []
        self._numbers: dict[Value, list[int]] = defaultdict(list)
        self._first: dict[Value, int] = {}  # the first output of each value
        for number, (value, target) in enumerate(zip(outputs, targets, strict=False)):
            if target is not None and isinstance(value, Value):
                self._first.setdefault(value, number)
                if target.bytes >= BIG:
                    self._numbers[value].append(number)

    def before(self, operation: Operation) -> None:
        """Store what is complete before an operation that is not fused with it."""
        if (self._pending or self._region.items) and element_rule(operation.op) is None:
            self._flush()
            if operation.type not in STORING:
                self._store([], [])

    def after(self, operation: Operation, results: Sequence[LazyValue]) -> None:
        """Note the outputs among the results of an operation."""
        if operation is self._last_check:
            self._last_check = None
        if self._is_early and self._numbers:
            for value, node in zip(operation.outputs, results, strict=True):
                if not isinstance(node, Changed):
                    self._pending += [(number, node) for number in self._numbers.get(value, ())[:1]]

    def target(self, value: Value) -> Buffer | None:
        """Return the memory of an output that a call may store there; None for other values."""
        number = self._first.get(value)
        return None if number is None else self._targets[number]

    def donated(self, operation: Operation, given: Sequence[Buffer]) -> dict[int, int]:
        """Return the results of a call that are outputs and may overwrite one of its operands, which is their donor.

        There are none before an operation that probably checks values: after them, no check may fail. The last of these
        operations may itself overwrite an operand, after its own checks.
        """
        found: dict[int, int] = {}
        is_safe = self._is_early and (self._last_check is None or self._last_check is operation)
        for i, value in enumerate(operation.outputs if is_safe else ()):
            donor = self._donors.get(self._first.get(value, -1))
            if not isinstance(donor, Buffer) or self._region.readers.is_read_outside(donor, set()):
                continue
            places = [k for k, each in enumerate(given) if donor.address in each.addresses]
            if len(places) == 1 and (donor.shape, donor.dtype) == (value.shape, value.dtype):
                found[i] = places[0]
        return found

    def may_wait(self, operation: Operation, tensor: LazyValue) -> bool:
        """Return whether the result of an operation that changes `tensor` may wait for the end of the function.

        It replaces a variable, and nothing else reads it; `tensor` is the variable's old value.
        """
        (value,) = operation.outputs
        donor = self._donors.get(self._first.get(value, -1))
        if not isinstance(donor, Buffer) or (donor.shape, donor.dtype) != (value.shape, value.dtype):
            return False
        return tensor is donor and self._region.readers.is_only_output(value)

    def overwrite(self, value: Value) -> None:
        """Record that a call has stored an output in the memory of its donor."""
        number = self._first[value]
        self.overwritten.add(number)
        self._targets[number] = None
        self._region.e.commit()

    def finish(self, outputs: Sequence[LazyValue]) -> None:
        """Store all outputs."""
        self._flush()
        targets = list(enumerate(self._targets))
        self._store(outputs, [None if i in self._donors else target for i, target in targets])
        self._pending = [(i, outputs[i]) for i in self._donors if self._targets[i] is not None]
        self._flush()
        self._region.store_outputs(
            outputs, [self._targets[i] if i in self._donors else None for i, _ in targets]
        )

    def _store(self, outputs: Sequence[LazyValue], targets: Sequence[Buffer | None]) -> None:
        """Store outputs, and the values that are computed in lists."""
        items, self._region.items = self._region.items, []
        nodes, places = [node for node, _ in items], [place for _, place in items]
        self._region.store_outputs([*nodes, *outputs], [*places, *targets])

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        by_shape: dict[tuple[int, ...], dict[LazyValue, int]] = defaultdict(dict)
        for number, node in pending:
            if node.is_lazy and not isinstance(node, Changed):
                by_shape[node.shape].setdefault(node, number)
        for numbers in by_shape.values():
            for nodes in output_groups(numbers):
                self._store_group({node: numbers[node] for node in nodes if node.is_lazy})
        for number, node in pending:
            if isinstance(node, Changed):
                self._store_changed(number, node)

    def _store_changed(self, number: int, node: Changed) -> None:
        """Store an output that is a variable's old value with changed elements, if possible in the same memory."""
        target, donor = self._targets[number], node.operands[0]
        assert target is not None and isinstance(donor, Buffer)
        is_read = any(not donor.addresses.isdisjoint(memory_of(each)) for each in node.operands[1:])
        if not is_read and not self._region.readers.is_read_outside(donor, {node}):
            target = donor
            self.overwritten.add(number)
            self._region.e.commit()
        self._region.stored(donor, target)
        node.write(target)
        self._region.keep([(node, target)])
        self._targets[number] = None

    def _store_group(self, numbers: Mapping[LazyValue, int]) -> None:
        """Store a group of lazy outputs in one nest."""
        if not numbers:
            return
        order = self._region.prepared([*numbers], takes_blocks=True)
        inside = set(order)
        reading: dict[Register, list[LazyValue]] = defaultdict(list)
        for node in order:
            for address in memory_of(node):
                reading[address].append(node)
        wanted = []
        for node, number in numbers.items():
            target, donor = self._targets[number], self._donors.get(number)
            assert target is not None
            if donor is not None and self._may_overwrite(donor, node, reading, inside, numbers):
                target = Buffer(node.dtype, node.shape, donor.address)  # type: ignore[attr-defined]
                self.overwritten.add(number)
            wanted.append((node, target))
            self._targets[number] = None
        if not self.overwritten.isdisjoint(numbers.values()):
            self._region.e.commit()
        self._region.compute(wanted)

    def _may_overwrite(
        self,
        old: LazyValue,
        new: LazyValue,
        reading: Mapping[Register, Sequence[LazyValue]],
        inside: set[LazyValue],
        stored: Mapping[LazyValue, int],
    ) -> bool:
        """Return whether the nest of the nodes `inside` reads `old` last, and where it writes `new`.

        `reading` has the nodes that read each address, `stored` those that the nest stores.
        """
        if not isinstance(old, Buffer) or (old.shape, old.dtype) != (new.shape, new.dtype):
            return False
        readers = self._region.readers
        if readers.is_read_outside(old, inside):
            return False
        for node in reading.get(old.address, ()):
            if not isinstance(node, LazyElementwise) or (
                node not in stored and readers.has_others(node, inside)
            ):
                return False
            for operand in node.operands:
                is_here = operand.shape == node.shape and (operand is old or operand in inside)
                if old.address in memory_of(operand) and not is_here:
                    return False
        return True
