"""Fusion: merge elementwise operations on big tensors, and reductions of their results, into fused
operations.

    a = multiply x, x     : float32[1000000]         s = fused x           : float32[]
    b = exp a             : float32[1000000]           body x
    s = reduce_sum b      : float32[]           ==>      a = multiply x, x : float32[1000000]
                                                         b = exp a         : float32[1000000]
                                                         s = reduce_sum b  : float32[]
                                                         yield s

A fusion group grows along the operations of a graph. It is closed and emitted before another operation uses
its results, and before a side effect. A group that is closed takes later reductions of its values, as in the
gradients of normalized tensors: they read what is in the cache, and their results are small. Tensors known to be
small are not fused. Tensors of unknown size are fused; the kernel then decides at run time.
"""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Sequence

from ..config import optimizer
from ..core import shapes
from ..ir.clone import Substitution, are_same, renewed, substitute, with_regions
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.value_types import TensorType
from ..ops.framework.fusion_traits import cost, reduces, works_on_elements
from ..ops.framework.region_ops import FUSED
from ..ops.state.variable_ops import read_variable
from .delay_growth import delayed
from .options import OptimizerOptions
from .speculation import is_speculatable

SMALLEST = 1 << 15
"""Tensors of fewer elements are not worth it."""

PAYS_ALONE = 1_000_000.0
"""The nanoseconds from which fusing a single operation is worth it, since threads share the work."""


def run(graph: Graph, options: OptimizerOptions | None = None) -> Graph:
    """Return the graph with fused operations, also in its regions and callees.

    The option `remapping` turns the pass off. It runs after all other passes, for executors that support
    fusion.
    """
    if graph.is_scalar:
        return graph
    chosen = OptimizerOptions.chosen(optimizer.get_experimental_options()) if options is None else options
    return _fused(graph, {}) if chosen.remapping and not chosen.disable_meta_optimizer else graph


def _fused(graph: Graph, done: dict[Graph, Graph]) -> Graph:
    if graph not in done:
        done[graph] = _Fusing(graph, done).run()
    return done[graph]


class _Group:
    """A fusion group. `shape` is the shape of all values except results of reductions."""

    def __init__(self, shape: shapes.Dims) -> None:
        self.shape = shape
        self.operations: list[Operation] = []
        self.ends: set[Operand] = set()  # results of reductions

    def is_worth_it(self) -> bool:
        assert self.shape is not None
        total = sum(map(cost, self.operations))
        if None in self.shape:
            return len(self.operations) > 1
        size = math.prod(size or 0 for size in self.shape)
        return len(self.operations) > 1 or size * total >= PAYS_ALONE


class _Fusing:
    def __init__(self, graph: Graph, done: dict[Graph, Graph]) -> None:
        self.graph = graph
        self.done = done
        self.made: list[Operation] = []
        self.open: dict[Operand, _Group] = {}  # by result
        self.live = delayed(graph.live_operations())
        self.joined: set[Operation] = set()

    @functools.cached_property
    def order(self) -> dict[Operation, int]:
        return {operation: position for position, operation in enumerate(self.live)}

    @functools.cached_property
    def readers(self) -> collections.Counter[Operand]:
        """The number of uses of each value."""
        readers = collections.Counter(self.graph.outputs)
        for operation in self.live:
            readers.update(operation.inputs)
        return readers

    @functools.cached_property
    def users(self) -> dict[Operand, list[Operation]]:
        """The operations that use each value."""
        users = collections.defaultdict(list)
        for operation in self.live:
            for operand in dict.fromkeys(operation.inputs):
                users[operand].append(operation)
        return users

    def run(self) -> Graph:
        for operation in self.live:
            if operation in self.joined:
                continue
            shape = _domain(operation)
            if shape is None:
                if self.open:
                    self.close(operation.inputs)
                    # An array that `read_variable` returns is never changed, so it may be read later.
                    if operation.stateful and operation.op is not read_variable:
                        self.close(tuple(self.open))
                self.made.append(self.entered(operation))
            else:
                self.join(operation, shape)
        self.close(tuple(self.open))
        if are_same(self.made, self.graph.operations):
            return self.graph
        return Graph(self.graph.name, self.graph.inputs, tuple(self.made), self.graph.outputs)

    def entered(self, operation: Operation) -> Operation:
        if not operation.regions or operation.op is FUSED:
            return operation
        regions = [_fused(region, self.done) for region in operation.regions]
        return with_regions(operation, regions)

    def join(self, operation: Operation, shape: shapes.Dims) -> None:
        """Add an operation to the groups of its operands, which are merged, or to a new group."""
        met = [(operand, self.open[operand]) for operand in operation.inputs if operand in self.open]
        self.close([operand for operand, group in met if group.shape != shape or operand in group.ends])
        groups = list(dict.fromkeys(group for operand, group in met if operand in self.open))
        group = max(groups, key=lambda group: len(group.operations)) if groups else _Group(shape)
        for other in groups:
            if other is not group:
                group.operations += other.operations
                group.ends |= other.ends
                self.open.update(dict.fromkeys((each.outputs[0] for each in other.operations), group))
        self.add(group, operation)

    def add(self, group: _Group, operation: Operation) -> None:
        self.joined.add(operation)
        group.operations.append(operation)
        self.open[operation.outputs[0]] = group
        if reduces(operation):
            group.ends.add(operation.outputs[0])

    def close(self, operands: Sequence[Operand]) -> None:
        """Close and emit the open groups that compute these operands."""
        for operand in operands:
            group = self.open.get(operand)
            if group is not None:
                self.take_reductions(group)
                for operation in group.operations:
                    del self.open[operation.outputs[0]]
                self.made += [self.one(group.operations)] if group.is_worth_it() else group.operations

    def take_reductions(self, group: _Group) -> None:
        """Add later reductions of the group's values, or of an operation on these that only reductions use."""
        for value in [operation.outputs[0] for operation in group.operations]:
            for user in self.users[value]:
                added = [user]
                if user.op.reducer is None and len(user.outputs) == 1:
                    added += [each for each in self.users[user.outputs[0]] if each.op.reducer is not None]
                    if self.readers[user.outputs[0]] >= len(added):
                        continue
                if all(self.may_join(each, group, user.outputs) for each in added):
                    for each in added:
                        self.add(group, each)

    def may_join(self, operation: Operation, group: _Group, more: tuple[Value, ...]) -> bool:
        """Return whether an operation may run with a group: it reads values of the group or `more` of them only."""
        return (
            operation not in self.joined
            and _domain(operation) == group.shape
            and is_speculatable(operation)
            and all(
                isinstance(x, Constant) or x in more or (self.open.get(x) is group and x not in group.ends)
                for x in operation.inputs
            )
        )

    def one(self, operations: list[Operation]) -> Operation:
        """Return the fused operation of a group."""
        operations.sort(key=self.order.__getitem__)
        inside = collections.Counter(operand for each in operations for operand in each.inputs)
        given = [each.outputs[0] for each in operations]
        return fused(operations, [value for value in given if inside[value] < self.readers[value]])


def fused(operations: Sequence[Operation], results: Sequence[Value]) -> Operation:
    """Return one operation that does what `operations` do, and returns `results`, some of their results."""
    given: list[Operand] = []
    known: Substitution = {}
    inner = []
    inputs = []
    for operation in operations:
        for operand in operation.inputs:
            if operand not in known and not (isinstance(operand, Constant) and not operand.value.ndim):
                name = operand.name if isinstance(operand, Value) else "constant"
                known[operand] = stand_in = Value(name, operand.spec)
                given.append(operand)
                inputs.append(stand_in)
        inner.append(renewed(operation, known))
    region = Graph("body", tuple(inputs), tuple(inner), substitute(results, known))
    return Operation(FUSED, tuple(given), {}, tuple(results), (region,), operations[-1].origin)


def _domain(operation: Operation) -> shapes.Dims:
    """Return the shape that an operation iterates over; None if it is not fusible or known to be small."""
    is_reduction = operation.op.reducer is not None
    values = operation.inputs if is_reduction else operation.outputs
    spec = values[0].spec if values else None
    shape = spec.shape if isinstance(spec, TensorType) else None
    if not shape or (None not in shape and math.prod(shape) < SMALLEST):  # type: ignore[arg-type]
        return None
    if not (reduces if is_reduction else works_on_elements)(operation):
        return None
    return shape if all(_is_within(operand.spec, shape) for operand in operation.inputs) else None


def _is_within(spec: object, shape: tuple[int | None, ...]) -> bool:
    return isinstance(spec, TensorType) and spec.shape is not None and len(spec.shape) <= len(shape)
