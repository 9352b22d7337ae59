"""Find operations whose large results need not be in memory, as each row of them depends on rows of the operands.

    s = matmul q, k [transpose_b=True]     : float32[8, 4096, 4096]     a row-wise operation
    p = softmax s                          : float32[8, 4096, 4096]     another one
    o = matmul p, v                        : float32[8, 4096, 64]       an exit: its result is small, row by row
    w = matmul p, d [transpose_a=True]     : float32[8, 4096, 64]       an exit that adds up products of rows

A large result is left out of memory if row-wise operations and exits are all that read it. Exits that do not depend on
each other are a group, and run together.
"""

from __future__ import annotations

import enum
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.shapes import is_static
from ..ir.graph import Graph, Operand, Operation
from ..ir.operation_kinds import kinds_of
from ..ir.value_types import TensorType
from ..ops.framework import narrow_floats
from ..ops.framework.fusion_traits import works_on_elements
from ..ops.linalg.matmul import matmul_op
from ..ops.nn.activations import log_softmax, softmax

Shape = tuple[int, ...]


class Exit(enum.Enum):
    """The kinds of exits: the results for parts of the rows are either rows of the whole result, or added up."""

    ROWS = enum.auto()
    SUM = enum.auto()


class RowGroup(NamedTuple):
    """Exits that do not depend on each other, and the row-wise operations that they need, in order."""

    shape: Shape
    operations: list[Operation]
    exits: dict[Operation, Exit]


def static_shape(operand: Operand) -> Shape | None:
    """Return the shape of a tensor if it is fully known."""
    spec = operand.spec
    return spec.shape if isinstance(spec, TensorType) and is_static(spec.shape) else None  # type: ignore[return-value]


def row_groups(graph: Graph, shape: Shape) -> list[RowGroup]:
    """Return the groups of operations for large tensors of this shape, in the order in which they can run."""
    return _Analysis(graph, shape).groups()


class _Analysis:
    def __init__(self, graph: Graph, shape: Shape) -> None:
        self.graph, self.shape, self.small = graph, shape, (*shape[:-1], 1)
        self.operations = graph.live_operations()
        self.users: dict[Operand, list[Operation]] = defaultdict(list)
        for operation in self.operations:
            for operand in dict.fromkeys(operation.inputs):
                self.users[operand].append(operation)
        self.inside: dict[Operand, Operation] = {}
        self.exits: dict[Operation, Exit] = {}
        banned: set[Operation] = set()
        while True:
            self._find(banned)
            escaping = {self.inside[value] for value in self.inside if self._escapes(value)}
            if not escaping:
                break
            banned |= escaping

    def _find(self, banned: set[Operation]) -> None:
        """Find the row-wise operations and their exits."""
        self.inside, self.exits = {}, {}
        for operation in self.operations:
            if operation not in banned and self._is_row_wise(operation):
                self.inside[operation.outputs[0]] = operation
            elif (kind := self._exit(operation)) is not None:
                self.exits[operation] = kind
        outputs = set(self.graph.outputs)
        for value, operation in self.inside.items():
            is_read = any(user not in self.exits and not self._is_inside(user) for user in self.users[value])
            if static_shape(value) == self.small and (is_read or value in outputs):
                self.exits[operation] = Exit.ROWS

    def _is_inside(self, operation: Operation) -> bool:
        return len(operation.outputs) == 1 and operation.outputs[0] in self.inside

    def _is_row_wise(self, operation: Operation) -> bool:
        if len(operation.outputs) != 1 or operation.stateful or operation.regions:
            return False
        found = static_shape(operation.outputs[0])
        if any(static_shape(operand) is None for operand in operation.inputs):
            return False
        if found == self.small:
            is_row_wise = works_on_elements(operation) or is_row_reduction(operation, keepdims=True)
            return is_row_wise and any(operand in self.inside for operand in operation.inputs)
        if found != self.shape:
            return False
        if operation.op is matmul_op:
            return not is_turned(operation) and operation.inputs[1] not in self.inside
        is_softmax = operation.op in (softmax, log_softmax)
        return works_on_elements(operation) or (
            is_softmax and _is_last(operation.attrs["axis"], len(self.shape))
        )

    def _exit(self, operation: Operation) -> Exit | None:
        """Return the kind of exit that an operation is, which is not row-wise."""
        if len(operation.outputs) != 1 or self.inside.keys().isdisjoint(operation.inputs):
            return None
        if operation.op is matmul_op:
            rows, other = operation.inputs
            if static_shape(rows) != self.shape or rows not in self.inside or other in self.inside:
                return None
            if static_shape(other) is None or not is_turned(operation):
                return Exit.ROWS if static_shape(other) is not None else None
            return None if narrow_floats.is_used_by(operation) else Exit.SUM
        return Exit.ROWS if is_row_reduction(operation, keepdims=False) else None

    def _escapes(self, value: Operand) -> bool:
        """Return whether a large result is needed as a whole."""
        if static_shape(value) != self.shape:
            return False
        readers = self.users[value]
        return value in self.graph.outputs or not all(
            user in self.exits or self._is_inside(user) for user in readers
        )

    def groups(self) -> list[RowGroup]:
        levels: dict[Operand, int] = {}
        exits: dict[int, dict[Operation, Exit]] = defaultdict(dict)
        for operation in self.operations:
            level = max((levels.get(operand, 0) for operand in operation.inputs), default=0)
            if operation in self.exits:
                exits[level][operation] = self.exits[operation]
                levels |= dict.fromkeys(operation.outputs, level if self._is_inside(operation) else level + 1)
            else:
                levels |= dict.fromkeys(operation.outputs, level)
        return [self._group(found) for _, found in sorted(exits.items(), key=lambda item: item[0])]

    def _group(self, exits: dict[Operation, Exit]) -> RowGroup:
        needed, pending = set(exits), list(exits)
        while pending:
            for operand in pending.pop().inputs:
                maker = self.inside.get(operand)
                if maker is not None and maker not in needed:
                    needed.add(maker)
                    pending.append(maker)
        return RowGroup(self.shape, [each for each in self.operations if each in needed], exits)


def is_turned(product: Operation) -> bool:
    """Return whether the first factor of a matrix product is transposed."""
    return bool(product.attrs["transpose_a"] or product.attrs["adjoint_a"])


def is_row_reduction(operation: Operation, keepdims: bool) -> bool:
    """Return whether an operation reduces the last axis of its operand."""
    if operation.op.reducer is None or bool(operation.attrs.get("keepdims")) is not keepdims:
        return False
    axis, shape = operation.attrs.get("axis"), static_shape(operation.inputs[0])
    return bool(axis is not None and shape and len(axis) == 1 and _is_last(axis[0], len(shape)))


def _is_last(axis: Any, rank: int) -> bool:
    return axis in (-1, rank - 1)


def large_shapes(graph: Graph, least: int) -> Sequence[Shape]:
    """Return the shapes of matrices of at least so many bytes that operations of a graph compute."""
    specs = [value.spec for operation in kinds_of(graph).first for value in operation.outputs]
    found: Any = dict.fromkeys([(spec.shape, spec.dtype) for spec in specs if isinstance(spec, TensorType)])
    large = [
        shape
        for shape, dtype in found
        if shape and len(shape) > 1 and is_static(shape)
        if min(shape[-2:]) > 1 and math.prod(shape) * dtype.size >= least
    ]
    return [*dict.fromkeys(large)]
