"""Functionalization of variables: each is read once at the beginning, threaded through as a value, and returned.

    graph f(v: ref float32[]) -> float32[]              graph f(v: float32[]) -> float32[], float32[]
      x = read_variable v        : float32[]      ==>     y = add v, 1.0          : float32[]
      y = assign_add v, 1.0      : float32[]              return y, y
      return y

So a run has no effects before it has succeeded; then the final values are assigned. Regions take the
variables that they use as inputs, and return those that they assign; loops carry these in their state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core import shapes
from ..ir.clone import reading, substitute, with_parts
from ..ir.graph import Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.value_types import TensorType, VariableType
from ..ops.framework.region_ops import CALL, COND, CUSTOM, SWITCH, WHILE
from ..ops.math.arithmetic import add, subtract
from ..ops.random.rng_state import generator_state, stream_after
from ..ops.state.variable_ops import assign_add_variable, assign_sub_variable, assign_variable, read_variable
from ..ops.state.variable_scatter import scatter_variable, scattered
from .errors import CannotCompileError, Reason

Cells = dict[int, Operand]
"""The current values of variables, by index of the graph's input."""


def without_variables(graph: Graph) -> tuple[Graph, list[int]]:
    """Return the functional graph, and the inputs that it assigns: their final values follow its outputs."""
    inputs = [_plain(value) for value in graph.inputs]
    keys = {value: i for i, value in enumerate(graph.inputs) if isinstance(value.spec, VariableType)}
    if not keys:
        return graph, []
    cells: Cells = {i: inputs[i] for i in keys.values()}
    writer = _Writer(graph, dict(zip(graph.inputs, inputs, strict=True)), keys, cells)
    assigned = [i for i in keys.values() if cells[i] is not inputs[i]]
    outputs = [*writer.outputs, *[cells[i] for i in assigned]]
    plain = Graph(graph.name, inputs, tuple(writer.operations), outputs)
    if next(graph.regions(), None) is None:
        plain.optimized_with = graph.optimized_with  # there is no new state of loops and branches to simplify
    return plain, assigned


def _plain(value: Value) -> Value:
    return Value(value.name, value.spec.content) if isinstance(value.spec, VariableType) else value


class _Writer:
    """Rewrites one graph. `cells` hold the variables' initial values, and their final values when it is done."""

    def __init__(
        self, graph: Graph, known: dict[Operand, Operand], keys: Mapping[Value, int], cells: Cells
    ) -> None:
        self.operations: list[Operation] = []
        self._known = known
        self._keys = keys
        self._cells = cells
        for operation in graph.live_operations():
            write = _ON_VARIABLES.get(operation.op)
            if write is not None:
                write(self, operation)
            elif operation.op is CUSTOM:  # this graph is not differentiated any more
                known.update(zip(operation.outputs, map(self._operand, operation.inputs), strict=False))
            elif keys.keys().isdisjoint(operation.inputs):
                self.operations.append(reading(operation, known))
            elif operation.op in (COND, SWITCH, CALL):
                self._branches(operation)
            elif operation.op is WHILE:
                self._loop(operation)
            else:
                raise CannotCompileError([Reason(operation, "variables are not compiled here")])
        self.outputs = [known.get(operand, operand) for operand in graph.outputs]

    def _operand(self, operand: Operand) -> Operand:
        return self._known.get(operand, operand)

    def _key(self, operand: Operand) -> int:
        assert isinstance(operand, Value)
        return self._keys[operand]

    def _read(self, operation: Operation) -> None:
        (variable,) = operation.inputs
        self._known[operation.outputs[0]] = self._cells[self._key(variable)]

    def _assign(self, operation: Operation) -> None:
        variable, value = operation.inputs
        self._known[operation.outputs[0]] = self._cells[self._key(variable)] = self._operand(value)

    def _change(self, operation: Operation) -> None:
        variable, value = operation.inputs
        key = self._key(variable)
        new, old = self._operand(value), self._cells[key]
        if (
            old.spec != new.spec
            or not isinstance(old.spec, TensorType)
            or not shapes.is_static(old.spec.shape)
        ):
            raise CannotCompileError(
                [Reason(operation, "the shapes of variable and value are not known to be equal")]
            )
        changed = Value(operation.outputs[0].name, old.spec)
        op = add if operation.op is assign_add_variable else subtract
        self.operations.append(
            Operation(op, (old, new), {}, (changed,), (), operation.origin, operation.device)
        )
        self._known[operation.outputs[0]] = self._cells[key] = changed

    def _scatter(self, operation: Operation) -> None:
        variable, *rest = operation.inputs
        key = self._key(variable)
        old = self._cells[key]
        changed = Value(operation.outputs[0].name, old.spec)
        inputs = (old, *map(self._operand, rest))
        self.operations.append(
            Operation(scattered, inputs, operation.attrs, (changed,), (), operation.origin, operation.device)
        )
        self._known[operation.outputs[0]] = self._cells[key] = changed

    def _generate(self, operation: Operation) -> None:
        """Map the result to a generator's state, and advance the state by some blocks."""
        variable, blocks = operation.inputs
        key = self._key(variable)
        old = self._cells[key]
        if getattr(old.spec, "shape", None) != (3,):
            raise CannotCompileError(
                [Reason(operation, "only generators of the algorithm Philox are compiled")]
            )
        moved = Value("state", old.spec)
        self.operations.append(
            Operation(
                stream_after,
                (old, self._operand(blocks)),
                {"each": 1},
                (moved,),
                (),
                operation.origin,
                operation.device,
            )
        )
        self._known[operation.outputs[0]], self._cells[key] = old, moved

    def _branches(self, operation: Operation) -> None:
        first = 0 if operation.op is CALL else 1
        plain, keys = self._parted(operation.inputs[first:])
        written = sorted(
            {key for region in operation.regions for key in _assigned(region, first, operation, self._keys)}
        )
        regions = tuple(
            self._region(region, operation.inputs[first:], keys, written) for region in operation.regions
        )
        self._attach(operation, [*operation.inputs[:first], *plain], keys, [], written, regions)

    def _loop(self, operation: Operation) -> None:
        test, body = operation.regions
        count = len(operation.outputs)
        plain, keys = self._parted(operation.inputs)
        written = sorted(_assigned(body, 0, operation, self._keys))
        if _assigned(test, 0, operation, self._keys):
            raise CannotCompileError([Reason(operation, "its test assigns a variable")])
        others = [key for key in keys if key not in written]
        regions = (
            self._region(test, operation.inputs, others, [], count, written),
            self._region(body, operation.inputs, others, written, count, written),
        )
        self._attach(operation, plain, others, written, written, regions, count)

    def _attach(
        self,
        operation: Operation,
        plain: Sequence[Operand],
        read: Sequence[int],
        state: Sequence[int],
        written: Sequence[int],
        regions: tuple[Graph, ...],
        count: int | None = None,
    ) -> None:
        """Add an operation that takes the values of variables. The loop state follows its first `count` inputs."""
        position = len(plain) if count is None else count
        start = [self._cells[key] for key in state]
        inputs = [*plain[:position], *start, *plain[position:], *[self._cells[key] for key in read]]
        made = {key: Value("variable", self._cells[key].spec) for key in written}
        outputs = *operation.outputs, *made.values()
        self.operations.append(with_parts(operation, substitute(inputs, self._known), regions, outputs))
        self._cells.update(made)

    def _parted(self, operands: Sequence[Operand]) -> tuple[list[Operand], list[int]]:
        plain = [operand for operand in operands if not isinstance(operand.spec, VariableType)]
        keys = [self._key(operand) for operand in operands if isinstance(operand.spec, VariableType)]
        return plain, list(dict.fromkeys(keys))

    def _region(
        self,
        region: Graph,
        operands: Sequence[Operand],
        read: Sequence[int],
        written: Sequence[int],
        count: int | None = None,
        state: Sequence[int] = (),
    ) -> Graph:
        """Rewrite a region with the values of variables as additional inputs; its state follows the first `count`."""
        keys = {
            value: self._key(operand)
            for value, operand in zip(region.inputs, operands, strict=True)
            if isinstance(operand.spec, VariableType)
        }
        plain = [value for value in region.inputs if value not in keys]
        cells: Cells = {key: Value("variable", self._cells[key].spec) for key in (*state, *read)}
        own = dict(cells)
        known: dict[Operand, Operand] = {value: value for value in plain}
        writer = _Writer(region, known, keys, cells)
        position = len(plain) if count is None else count
        inputs: list[Any] = [
            *plain[:position],
            *[own[key] for key in state],
            *plain[position:],
            *[own[key] for key in read],
        ]
        outputs = [*writer.outputs, *[cells[key] for key in written]]
        return Graph(region.name, inputs, tuple(writer.operations), outputs)


def _assigned(region: Graph, first: int, operation: Operation, keys: Mapping[Value, int]) -> set[int]:
    """Return the variables that a region assigns, including its nested regions."""
    operands = operation.inputs[first:]
    own = {
        value: keys[operand]
        for value, operand in zip(region.inputs, operands, strict=True)
        if isinstance(operand, Value) and operand in keys
    }
    found = set()
    for inner in region.operations:
        if inner.op in _ON_VARIABLES and inner.op is not read_variable:
            found.add(own[inner.inputs[0]])  # type: ignore[index]
        start = 1 if inner.op in (COND, SWITCH) else 0
        for each in inner.regions if inner.op is not CUSTOM else ():
            found |= _assigned(each, start, inner, own)
    return found


_ON_VARIABLES: dict[OpDef, Callable[[_Writer, Operation], None]] = {
    read_variable: _Writer._read,
    assign_variable: _Writer._assign,
    assign_add_variable: _Writer._change,
    assign_sub_variable: _Writer._change,
    scatter_variable: _Writer._scatter,
    generator_state: _Writer._generate,
}
