"""Buffer donation: compute results into the arrays of operands that die.

    b = multiply a, a : float32[128, 128]            b = np.multiply(a, a, out=a)
    s.1 = add s, b : float32[128, 128]        ==>    s = np.add(s, b, out=s)
    assign_sub_variable v, c                         update_into(v, np.subtract, c, c)
    d = add b, c                                     d_place = own_array(v, None, b)
    assign_variable v, d                             d = np.add(b, c, out=d_place)

An array is owned if the plan has made it and no operation keeps it, or returns it or a view of it. After the
last use of an owned value, a result of the same type may reuse its array. The state of a loop is owned if
each iteration makes it anew. The initial state is copied then, unless it is owned as well.

A value that is assigned right after its computation is written into the variable's present array, if a run finds that
nothing else refers to that array (own_arrays.py).

This is worth it for big arrays only: arrays of a few kilobytes come from NumPy's cache of free memory at no
cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from ...ir.graph import Graph, Operand, Operation, Value
from ...ir.op_def import OpDef
from ...ir.structured import is_fused, is_loop
from ...ir.traits import FRESH_RESULT, MAY_ALIAS
from ...ir.value_types import TensorType, VariableType
from ...ops.framework import narrow_floats
from ...ops.framework.fusion_traits import reduces, works_on_elements
from ...ops.linalg.matmul import matmul_op
from ...ops.state.variable_ops import assign_add_variable, assign_sub_variable, assign_variable, read_variable
from .elementwise_templates import formula
from .peephole import product

BIG = 1 << 14
"""Arrays of fewer bytes are left to NumPy."""

_UPDATES: dict[OpDef, str] = {assign_add_variable: "add", assign_sub_variable: "subtract"}
"""Operations that make a new array for a variable; they may reuse the array of the added operand."""


class DonationContext(Protocol):
    """The state that the analyses of one plan share."""

    owned: dict[Operation, frozenset[int]]  # the owned states of loops analyzed so far

    def may_take(self, operation: Operation, result: int, operand: int) -> bool:
        """Return whether result number `result` of a fused operation may reuse operand number `operand`."""


def is_big(value: object) -> bool:
    """Return whether a value is an array of known size that is big enough for buffer donation."""
    spec = value.spec if isinstance(value, Value) else None
    if not isinstance(spec, TensorType) or not spec.shape or None in spec.shape:
        return False
    size = spec.dtype.numpy_dtype.itemsize * math.prod(spec.shape)  # type: ignore[arg-type]
    return size >= BIG and spec.dtype.kind in "biufc" and not narrow_floats.is_narrow(spec)


def makes_new(operation: Operation) -> bool:
    """Return whether the results are new arrays that alias no operand, and no operand is kept."""
    if is_fused(operation):
        return all(map(makes_new, operation.regions[0].operations))
    if operation.op.has(FRESH_RESULT) or reduces(operation):
        return True
    return works_on_elements(operation) and not operation.op.has(MAY_ALIAS)


def updates(operation: Operation) -> bool:
    """Return whether an operation adds a big array to a variable of its type without keeping the array."""
    if operation.op not in _UPDATES:
        return False
    variable, value = operation.inputs
    return is_big(value) and isinstance(variable.spec, VariableType) and variable.spec.content == value.spec


def written(operation: Operation) -> str | None:
    """Return the template of a call with `out={o}` that computes the operation; None if there is none."""
    if len(operation.outputs) != 1 or operation.regions:
        return None
    if updates(operation):
        return f"update_into({{0}}, np.{_UPDATES[operation.op]}, {{1}}, {{o}})"
    if operation.op is matmul_op:
        operands = None if narrow_floats.is_used_by(operation) else product(operation)
        return None if operands is None else f"np.matmul({operands.replace(' @', ',')}, out={{o}})"
    if not works_on_elements(operation):
        return None
    statements = formula(operation).statements
    is_call = len(statements) == 1 and statements[0].startswith("np.") and "{zero}" not in statements[0]
    return statements[0] if is_call and "copyto" not in statements[0] else None


class BufferOwnership:
    """The ownership of the arrays of one graph; `given` are the inputs that are owned.

    Attributes:
        into: By result, the operand that donates its array.
        assigned: By result, the variable whose array it may overwrite, and the operand with the old value, if any.
        states: By loop, the numbers of its owned states.
    """

    def __init__(
        self,
        graph: Graph,
        live: Sequence[Operation],
        context: DonationContext,
        given: frozenset[Operand] = frozenset(),
    ) -> None:
        self.graph = graph
        self.live = live
        self.context = context
        self.outputs = set(graph.outputs)
        self.new: set[Operand] = set(given)
        self.leaks: set[Operand] = set()  # values read by operations that may keep them
        self.handed: set[Operand] = set()  # operands that become the state of a loop
        self.last: dict[Operand, int] = {}
        self.into: dict[Operand, Operand] = {}
        self.assigned: dict[Value, tuple[Operand, Operand | None]] = {}
        self.states: dict[Operation, frozenset[int]] = {}
        self._written: dict[Operation, str | None] = {}
        if not graph.is_scalar and any(is_big(value) for operation in live for value in operation.outputs):
            self._read()
            self._take()
            self._assign()

    def written(self, operation: Operation) -> str | None:
        """Return the template of a call with `out={o}` that computes the operation; None if there is none."""
        if operation not in self._written:
            self._written[operation] = written(operation)
        return self._written[operation]

    def _read(self) -> None:
        for position, operation in enumerate(self.live):
            self.last.update(dict.fromkeys(operation.inputs, position))
            if is_loop(operation):
                self._enter(operation)
            elif makes_new(operation):
                self.new.update(operation.outputs)
            elif updates(operation):
                pass  # its result is the variable's array
            else:
                self.leaks.update(operation.inputs)

    def _enter(self, loop: Operation) -> None:
        owned = owned_states(loop, self.context)
        if not owned:
            self.leaks.update(loop.inputs)
            return
        self.states[loop] = owned
        for number, operand in enumerate(loop.inputs):
            if number in owned:
                self.new.add(loop.outputs[number])
                self.handed.add(operand)
            else:
                self.leaks.add(operand)

    def owns(self, operand: Operand) -> bool:
        """Return whether the plan alone holds the array of `operand`, as long as the graph runs."""
        return operand in self.new and operand not in self.leaks

    def dies(self, operand: Operand, operation: Operation) -> bool:
        """Return whether an owned array is free after `operation`, which reads it once."""
        return (
            self.owns(operand)
            and operand not in self.outputs
            and self.live[self.last[operand]] is operation
            and (operand not in self.handed or (is_loop(operation) and operation.inputs.count(operand) == 1))
        )

    def _take(self) -> None:
        for operation in self.live:
            if is_fused(operation):
                self._take_fused(operation)
            elif operation.outputs and is_big(operation.outputs[0]) and self.written(operation) is not None:
                self._take_one(operation)

    def _take_one(self, operation: Operation) -> None:
        if operation.op is matmul_op:
            return
        (value,) = operation.outputs
        if updates(operation):
            new = operation.inputs[1]
            if self.dies(new, operation):
                self.into[value] = new
            return
        reuses = formula(operation).reuses
        for number, operand in enumerate(operation.inputs):
            fits = reuses is None or (number in reuses and operation.inputs.count(operand) == 1)
            if fits and operand.spec == value.spec and self.dies(operand, operation):
                self.into[value] = operand
                return

    def _take_fused(self, operation: Operation) -> None:
        for number, value in enumerate(operation.outputs):
            for position, operand in enumerate(operation.inputs):
                fits = is_big(value) and operand.spec == value.spec and operand not in self.into.values()
                if (
                    fits
                    and self.dies(operand, operation)
                    and self.context.may_take(operation, number, position)
                ):
                    self.into[value] = operand
                    break

    def _assign(self) -> None:
        """Find the results that only assignments separate from their own assignment to a variable of their type."""
        reads: dict[Operand, Operand] = {
            each.outputs[0]: each.inputs[0] for each in self.live if each.op is read_variable
        }
        makers: dict[Operand, Operation] = {}
        for operation in self.live:
            if operation.op is not assign_variable:
                makers = dict.fromkeys(operation.outputs, operation)
                continue
            variable, value = operation.inputs
            fits = isinstance(variable.spec, VariableType) and variable.spec.content == value.spec
            if isinstance(value, Value) and value in makers and fits and is_big(value):
                olds = [each for each in makers[value].inputs if reads.get(each) is variable]
                if self._may_overwrite(makers[value], value, olds):
                    self.assigned[value] = variable, olds[0] if olds else None

    def _may_overwrite(self, operation: Operation, value: Value, olds: Sequence[Operand]) -> bool:
        """Return whether a result may be computed into the array of the operands in `olds`."""
        if any(old in self.outputs or self.live[self.last[old]] is not operation for old in olds):
            return False
        positions = [operation.inputs.index(old) for old in olds]
        is_once = all(operation.inputs.count(old) == 1 for old in olds)
        if is_fused(operation):
            number = list(operation.outputs).index(value)
            return all(self.context.may_take(operation, number, position) for position in positions)
        if self.written(operation) is None or (olds and operation.op is matmul_op):
            return False
        reuses = formula(operation).reuses if olds else None
        return reuses is None or (set(positions) <= set(reuses) and is_once)

    def root(self, operand: Operand) -> Operand:
        """Return the first value that was stored in the array of `operand`."""
        while operand in self.into:
            operand = self.into[operand]
        return operand


def owned_states(loop: Operation, context: DonationContext) -> frozenset[int]:
    """Return the numbers of the loop's states that each iteration makes anew and the next one overwrites."""
    if loop not in context.owned:
        context.owned[loop] = _owned_states(loop, context)
    return context.owned[loop]


def _owned_states(loop: Operation, context: DonationContext) -> frozenset[int]:
    test, body = loop.regions
    candidates = {
        number: body.inputs[number]
        for number, value in enumerate(loop.outputs)
        if is_big(value) and _is_changed(loop, body, number)
    }
    if not candidates:
        return frozenset()
    watched = BufferOwnership(test, test.live_operations(), context)
    inside = BufferOwnership(body, body.live_operations(), context, frozenset(candidates.values()))
    overwritten = set(map(inside.root, inside.into))
    return frozenset(
        number
        for number, value in candidates.items()
        if value in overwritten
        and inside.owns(value)
        and inside.owns(body.outputs[number])
        and body.outputs[number] not in inside.handed
        and test.inputs[number] not in watched.leaks | watched.outputs
    )


def _is_changed(loop: Operation, body: Graph, number: int) -> bool:
    """Return whether each iteration yields a new value of the state, of the same type and only once."""
    old, new = body.inputs[number], body.outputs[number]
    own = isinstance(new, Value) and new not in body.inputs and list(body.outputs).count(new) == 1
    fits = old.spec == new.spec == loop.outputs[number].spec == loop.inputs[number].spec
    return own and fits and old not in body.outputs


def body_of(loop: Operation, owned: frozenset[int], context: DonationContext) -> BufferOwnership:
    """Return the ownership in the body of a loop whose states with the numbers `owned` are owned."""
    body = loop.regions[1]
    given: Any = frozenset(body.inputs[number] for number in owned)
    return BufferOwnership(body, body.live_operations(), context, given)
