"""CSE: compute common subexpressions once.

    a = multiply x, y                               a = multiply x, y
    b = multiply x, y                               s = add a, a
    s = add a, b                            ==>     z = cond p, s, a
    z = cond p, s, x, y                               then s, a
      then s, x, y                                      u = subtract s, a
        t = multiply x, y                               yield u
        u = subtract s, t                             ...
        yield u
      ...

Results of an enclosing graph become operands of a region. Reads of a variable are merged if nothing between
them can have changed it. A read after an assignment is replaced by the assigned value. Operations with other
side effects are kept. So are conditionals and loops, and operations that make lists, since their owners change
them in place.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Sequence

from ..ir import value_keys
from ..ir.clone import Substitution, clone_value, reading, substitute, with_parts, with_regions
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.structured import first_argument, is_control_flow, is_loop, state_size
from ..ir.traits import COMMUTATIVE
from ..ir.value_types import TensorType
from ..ops.state.variable_ops import read_variable
from .options import OptimizerOptions
from .rewriter import fits, visiting
from .side_effects import ASSIGN, SideEffects


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    done: dict[Graph, Graph] = {}

    def callee(graph: Graph) -> Graph:
        if graph not in done:
            done[graph] = _Common(callee).graph(graph, _Scope(None))
        return done[graph]

    return callee(graph)


class _Scope:
    """The state of one graph or region during the walk; `parent` is the enclosing scope."""

    def __init__(self, parent: _Scope | None, given: _Given | None = None) -> None:
        self.parent = parent
        self.given = given
        self.own: list[Hashable] = []  # the keys added in this scope
        self.firsts: list[Hashable] = []


class _Given:
    """The operands passed to the regions of one operation; `more` are operands to add."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.region = 0  # the number of the current region
        self.more: list[Value] = []

    @functools.cached_property
    def inner(self) -> dict[Operand, Sequence[Value]]:
        """The inputs of the regions, by operand of the operation."""
        first, state = _captured_operands(self.operation)
        columns = zip(*[region.inputs[state:] for region in self.operation.regions], strict=True)
        inner: dict[Operand, Sequence[Value]] = {}
        for operand, values in zip(self.operation.inputs[first + state :], columns, strict=True):
            inner.setdefault(operand, values)
        return inner

    def value(self, outer: Value) -> Value:
        """Return the current region's input for a value of the enclosing graph; add it if there is none."""
        if outer not in self.inner:
            self.inner[outer] = [clone_value(outer) for _ in self.operation.regions]
            self.more.append(outer)
        return self.inner[outer][self.region]


def _captured_operands(operation: Operation) -> tuple[int, int]:
    """Return the number of the first operand passed to the regions, and how many of these are loop state."""
    return first_argument(operation), state_size(operation)


Seen = tuple[Operation, _Scope]
"""An operation, and its scope."""


class _Common:
    """One walk over a graph and its regions. `names` maps inputs of regions to the outermost value."""

    def __init__(self, callee: Callable[[Graph], Graph]) -> None:
        self.callee = callee
        self.names: dict[Operand, Operand] = {}
        self.seen: dict[Hashable, Seen] = {}
        # By operation and operands, the only operation that has these; None if there are several.
        self.firsts: dict[Hashable, Seen | None] = {}
        self.constants: dict[Hashable, Constant] = {}
        self.attributes: dict[int, Hashable] = {}
        self.changes = SideEffects()
        self.versions = itertools.count(1)
        self.version = 0  # the version of all variables, renewed whenever one of them may have changed

    def graph(self, graph: Graph, scope: _Scope) -> Graph:
        known: Substitution = {}
        kept: list[Operation] = []
        is_changed = False
        for operation in graph.operations:
            current = reading(operation, known) if known else operation
            if operation.regions:
                current = self.structure(current, scope)
            found = self.read(current, scope) if operation.stateful else self.found(current, scope)
            if found is not None:
                for value, other in zip(operation.outputs, found, strict=True):
                    known[value] = other
                    self.names[value] = self.names.get(other, other)
                is_changed = True
                continue
            kept.append(current)
            if current is not operation:
                is_changed = True
        for key in scope.own:
            del self.seen[key]
        for key in scope.firsts:
            del self.firsts[key]
        if not is_changed:
            return graph
        return Graph(graph.name, graph.inputs, tuple(kept), substitute(graph.outputs, known))

    def read(self, operation: Operation, scope: _Scope) -> list[Value] | None:
        """Return the known content of a variable that the operation reads.

        None for other operations with side effects, and if the content is unknown.
        """
        if operation.op is read_variable:
            key = "content", self.names.get(operation.inputs[0], operation.inputs[0]), self.version
            if key in self.seen:
                return self.given(self.seen[key], operation, scope)
            self.keep(key, operation, scope)
        elif self.changes.may_be_made_by(operation):
            self.version = next(self.versions)
            if operation.op in ASSIGN:
                key = "content", self.names.get(operation.inputs[0], operation.inputs[0]), self.version
                self.keep(key, operation, scope)
        return None

    def found(self, operation: Operation, scope: _Scope) -> list[Value] | None:
        """Return the results of an earlier equal operation; None if there is none."""
        if operation.regions:
            return None
        for value in operation.outputs:
            if type(value.spec) is not TensorType:
                return None
        operands = self.named(operation)
        # Keys are expensive, so they are computed only if another operation has the same type and values.
        rough: Hashable = operation.op, frozenset([x for x in operands if type(x) is Value])
        if rough not in self.firsts:
            self.firsts[rough] = operation, scope
            scope.firsts.append(rough)
            return None
        before = self.firsts[rough]
        if before is not None:
            self.firsts[rough] = None
            self.keep(self.key(before[0], self.named(before[0])), *before)
        key = self.key(operation, operands)
        seen = self.seen.get(key)
        if seen is None:
            self.keep(key, operation, scope)
            return None
        return self.given(seen, operation, scope)

    def named(self, operation: Operation) -> list[Operand]:
        """Return the operands of an operation, with inputs of regions replaced by the outermost values."""
        return [self.names.get(operand, operand) for operand in operation.inputs]

    def given(self, seen: Seen, operation: Operation, scope: _Scope) -> list[Value] | None:
        """Return the results of an earlier operation, made available in the scope of `operation`."""
        first, home = seen
        if not all(map(fits, first.outputs, operation.outputs)):
            return None
        return [self.brought(value, home, scope) for value in first.outputs]

    def keep(self, key: Hashable, operation: Operation, scope: _Scope) -> None:
        if key not in self.seen:
            self.seen[key] = operation, scope
            scope.own.append(key)

    def key(self, operation: Operation, operands: list[Operand]) -> Hashable:
        """Return a key that is equal for equal operations; `operands` are the outermost values."""
        operands = [self.constant(x) if type(x) is Constant else x for x in operands]
        if operation.op.has(COMMUTATIVE):
            operands.sort(key=id)
        attrs = operation.attrs
        if not attrs:
            return (operation.op, *operands)
        known = self.attributes.get(id(attrs))
        if known is None:
            known = self.attributes[id(attrs)] = value_keys.of_attributes(attrs)
        return (operation.op, known, *operands)

    def constant(self, constant: Constant) -> Constant:
        return self.constants.setdefault(value_keys.of_constant(constant), constant)

    def brought(self, value: Value, home: _Scope, scope: _Scope) -> Value:
        """Return a value of an outer graph, passed into each region between `home` and `scope`."""
        path = []
        while scope is not home:
            assert scope.given is not None and scope.parent is not None
            path.append(scope.given)
            scope = scope.parent
        for given in reversed(path):
            inner = given.value(value)
            self.names[inner] = self.names.get(value, value)
            value = inner
        return value

    def structure(self, operation: Operation, scope: _Scope) -> Operation:
        if not is_control_flow(operation):
            return visiting(self.callee, operation)
        given = _Given(operation)
        first, state = _captured_operands(operation)
        outside = [
            self.constant(operand) if type(operand) is Constant else self.names.get(operand, operand)
            for operand in operation.inputs[first + state :]
        ]
        regions = []
        is_changing = is_loop(operation) and self.changes.may_be_made_by(operation)
        before = self.version
        for number, region in enumerate(operation.regions):
            given.region = number
            self.version = next(self.versions) if is_changing else before
            self.names.update(zip(region.inputs[state:], outside, strict=True))
            regions.append(self.graph(region, _Scope(scope, given)))
        self.version = before  # the caller counts the change for the operation as a whole
        return _given_more(operation, regions, given)


def _given_more(operation: Operation, regions: list[Graph], given: _Given) -> Operation:
    """Return the operation with the additional operands of its regions at the end."""
    if not given.more:
        return with_regions(operation, regions)
    wider = [
        Graph(
            region.name,
            (*region.inputs, *(given.inner[outer][number] for outer in given.more)),
            region.operations,
            region.outputs,
        )
        for number, region in enumerate(regions)
    ]
    return with_parts(operation, [*operation.inputs, *given.more], wider)
