"""Shape specialization: a copy of a graph with static shapes and the constants that follow from them.

    graph f(x: float32[?]) -> float32[?]          graph f(x: float32[4]) -> float32[4]
      shape = shape x         : int32[1]     ==>    zeros = zeros_like x    : float32[4]
      zeros = fill shape, 0.0 : float32[?]          ...

The inference rule of each operation computes its types anew, unless its inputs are unchanged and its results
are fully static. Pure operations on constants are folded. Calls are inlined, and so are branches with a
constant predicate. Constants are propagated into regions. A graph is refused if a loop's state changes its
shape, or if a shape depends on values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..core.shapes import generalize, is_static
from ..ir.clone import are_same, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.operation_kinds import kinds_of
from ..ir.value_types import AnySpec, ListType, TensorType
from ..ops.arrays.getitem import select
from ..ops.arrays.undefined_values import blank, of_size_zero
from ..ops.framework.op_errors import FAILURES
from ..ops.framework.region_ops import CALL, COND, SWITCH, WHILE
from ..ops.state.print_and_assert import assert_true, print_texts
from ..ops.state.raise_op import raise_error
from . import list_contents
from .affine_analysis import index_of, selected_sizes
from .constants import OF_SHAPES, folded, is_foldable, of_shapes, sizes
from .errors import CannotCompileError, NeverRunsError, Reason
from .list_lengths import of_both, readers_first, sized

_ROUNDS = 8
"""Maximum number of iterations to a fixed point of the list types in a loop's state."""


def specialized(graph: Graph, arguments: Sequence[AnySpec | Constant], with_sizes: bool = False) -> Graph:
    """Return the graph for inputs of these types or constants. Raise `CannotCompileError` if that is impossible.

    With `with_sizes`, dynamic sizes are allowed.
    """
    operands = [
        given if isinstance(given, Constant) else _input(value, given)
        for value, given in zip(graph.inputs, arguments, strict=True)
    ]
    if are_same(operands, graph.inputs) and _is_final(graph):
        return graph
    found = _Writer(with_sizes).region(graph, operands, is_whole=True)
    parts = [(each.inputs, each.operations, each.outputs) for each in (found, graph)]
    return graph if all(map(are_same, *parts)) else found


def _is_final(graph: Graph) -> bool:
    """Return whether the types of all operations are final as long as the graph's inputs are unchanged."""
    for operation in graph.operations:
        if Value not in map(type, operation.inputs) and _may_be_folded(operation):
            return False
    return all(map(_has_final_types, kinds_of(graph).first))


def _input(value: Value, spec: AnySpec) -> Value:
    """Return `value` if it already has this type, else a copy that has it."""
    return value if _is_settled(value) and value.spec == spec else Value(value.name, spec)


class _Writer:
    """Writes the specialized operations of one graph."""

    def __init__(self, with_sizes: bool, whole: Graph | None = None) -> None:
        self._with_sizes = with_sizes
        self._whole = whole  # the graph, unless it is a region: regions may be written several times
        self._inlined: Graph | None = None
        self.operations: list[Operation] = []
        self._makers: dict[Value, Operation] = {}

    def region(self, graph: Graph, arguments: Sequence[Operand], is_whole: bool = False) -> Graph:
        """Specialize a region for these arguments, as a separate graph."""
        writer = _Writer(self._with_sizes, graph if is_whole else None)
        outputs = writer.inlined(graph, arguments)
        inputs = [operand for operand in arguments if isinstance(operand, Value)]
        return Graph(graph.name, inputs, tuple(readers_first(writer.operations)), outputs)

    def inlined(self, graph: Graph, arguments: Sequence[Operand]) -> list[Operand]:
        """Write a graph's operations for these arguments inline; return its outputs."""
        known: dict[Operand, Operand] = dict(zip(graph.inputs, arguments, strict=True))
        outer, self._inlined = self._inlined, graph
        for operation in graph.live_operations():
            inputs = [known.get(operand, operand) for operand in operation.inputs]
            if _says_all(operation) and are_same(inputs, operation.inputs):
                self._append(operation)
                continue
            write = _STRUCTURES.get(operation.op, _Writer._plain)
            known.update(zip(operation.outputs, write(self, operation, inputs), strict=True))
        self._inlined = outer
        return [known.get(operand, operand) for operand in graph.outputs]

    def _plain(self, operation: Operation, inputs: list[Operand]) -> Sequence[Operand]:
        specs = list_contents.filled(
            operation, inputs, sized(operation, inputs, _inferred(operation, inputs))
        )
        if operation.op is select:
            specs = [self._sliced(operation, inputs, *specs)]
        known = of_shapes(operation, inputs, specs) or folded(operation, inputs, specs)
        if known is not None:
            return known
        outputs = self._outputs(operation, specs)
        operation.op.set_elements(outputs, inputs, operation.attrs)
        if outputs and all(value.elements is not None and None not in value.elements for value in outputs):
            return [Constant(sizes(operation, v.elements, v.dtype).reshape(v.shape)) for v in outputs]
        if self._inlined is self._whole and all(map(_is_same, outputs, operation.outputs)):
            outputs = [*operation.outputs]  # so that later operations stay as they are
        self._append(with_parts(operation, inputs, (), outputs))
        return list_contents.taken(operation, inputs, outputs)

    def _sliced(self, operation: Operation, inputs: list[Operand], spec: Any) -> TensorType:
        """Return the type of a slice; lengths are static if the bounds differ by a constant."""
        whole: Any = inputs[0].spec
        if spec.shape is None or None not in spec.shape:
            return spec  # type: ignore[no-any-return]
        index = index_of(operation.attrs["key"], inputs[1:])
        return TensorType(spec.dtype, tuple(selected_sizes(index, whole.shape, self._makers)))

    def _add(
        self,
        operation: Operation,
        inputs: Sequence[Operand],
        specs: Sequence[AnySpec],
        regions: tuple[Graph, ...],
    ) -> list[Value]:
        outputs = self._outputs(operation, specs)
        self._append(with_parts(operation, inputs, regions, outputs))
        return outputs

    def _outputs(self, operation: Operation, specs: Sequence[AnySpec]) -> list[Value]:
        for spec in specs:
            _demand_known(operation, spec, self._with_sizes)
        return [Value(old.name, spec) for old, spec in zip(operation.outputs, specs, strict=True)]

    def _append(self, operation: Operation) -> None:
        self.operations.append(operation)
        self._makers.update(dict.fromkeys(operation.outputs, operation))

    def _call(self, operation: Operation, inputs: list[Operand]) -> Sequence[Operand]:
        (callee,) = operation.regions
        return self.inlined(callee, inputs)

    def _cond(self, operation: Operation, inputs: list[Operand]) -> Sequence[Operand]:
        predicate, *arguments = inputs
        then, orelse = operation.regions
        if isinstance(predicate, Constant):
            return self.inlined(then if predicate.value else orelse, arguments)
        return self._branches(operation, predicate, arguments)

    def _switch(self, operation: Operation, inputs: list[Operand]) -> Sequence[Operand]:
        index, *arguments = inputs
        if isinstance(index, Constant):
            number = int(index.value)
            regions = operation.regions
            chosen = regions[number] if 0 <= number < len(regions) else regions[-1]
            return self.inlined(chosen, arguments)
        return self._branches(operation, index, arguments)

    def _branches(self, operation: Operation, index: Operand, arguments: list[Operand]) -> Sequence[Operand]:
        regions = [self.region(region, _afresh(region, arguments)) for region in operation.regions]
        specs = [
            self._meeting(operation, column)
            for column in zip(*(region.outputs for region in regions), strict=True)
        ]
        regions = [_filled_in(region, specs) for region in regions]
        passed = [operand for operand in arguments if isinstance(operand, Value)]
        return self._add(operation, [index, *passed], specs, tuple(regions))

    def _blank(self, operation: Operation, inputs: list[Operand]) -> Sequence[Operand]:
        return [_Blank(of_size_zero(TensorType(operation.attrs["dtype"], operation.attrs["like"])))]

    def _while(self, operation: Operation, inputs: list[Operand]) -> Sequence[Operand]:
        test, body = operation.regions
        count = len(operation.outputs)
        state, invariants = inputs[:count], inputs[count:]
        specs = [operand.spec for operand in state]
        for _ in range(_ROUNDS):
            values = [Value(value.name, spec) for value, spec in zip(body.inputs, specs, strict=False)]
            region = self.region(body, [*values, *_afresh(body, invariants, count)])
            found = [output.spec for output in region.outputs]
            pairs = zip(specs, found, strict=True)
            settled = [self._settled(operation, i, *pair) for i, pair in enumerate(pairs)]
            if settled == specs:
                break
            specs = settled
        else:
            raise CannotCompileError([Reason(operation, "the types of its lists depend on each other")])
        values = [Value(value.name, spec) for value, spec in zip(test.inputs, specs, strict=False)]
        tested = self.region(test, [*values, *_afresh(test, invariants, count)])
        passed = [operand for operand in invariants if isinstance(operand, Value)]
        return self._add(operation, [*state, *passed], specs, (tested, region))

    def _meeting(self, operation: Operation, outcomes: Sequence[Operand]) -> AnySpec:
        """Return the common type of a result of branches."""
        first, *others = [each for each in outcomes if not isinstance(each, _Blank)] or outcomes
        spec = first.spec
        for other in others:
            spec = self._met(operation, spec, other.spec)
        return spec

    def _met(self, operation: Operation, one: AnySpec, other: AnySpec) -> AnySpec:
        found = self._of_both(one, other)
        if isinstance(one, ListType) and isinstance(other, ListType) and one != other:
            wide, narrow = (other, one) if other.element.covers(one.element) else (one, other)
            found = of_both(narrow.element, one, other) if wide.element.covers(narrow.element) else None
        if found is None:
            raise CannotCompileError([Reason(operation, f"its branches return {one} and {other}")])
        return found

    def _settled(self, operation: Operation, position: int, one: AnySpec, other: AnySpec) -> AnySpec:
        found = self._of_both(one, other)
        if isinstance(one, ListType) and isinstance(other, ListType) and one.element.covers(other.element):
            found = one if one == other else of_both(other.element, one, other)
        if found is None:
            name = operation.outputs[position].name
            reason = f"`{name}` changes its shape in the loop: {one} becomes {other}"
            raise CannotCompileError([Reason(operation, reason)])
        return found

    def _of_both(self, one: AnySpec, other: AnySpec) -> AnySpec | None:
        """Return the common type of two tensors, or None if their ranks or dtypes differ."""
        if one == other:
            return one
        if not self._with_sizes or not (isinstance(one, TensorType) and isinstance(other, TensorType)):
            return None
        shape = generalize(one.shape, other.shape)
        return None if shape is None or one.dtype is not other.dtype else TensorType(one.dtype, shape)


_STRUCTURES: dict[OpDef, Any] = {
    blank: _Writer._blank,
    CALL: _Writer._call,
    COND: _Writer._cond,
    SWITCH: _Writer._switch,
    WHILE: _Writer._while,
}


class _Blank(Constant):
    """An unused result of a branch. It gets the shape of the other branch's result."""

    __slots__ = ()


def _says_all(operation: Operation) -> bool:
    """Return whether an operation is final as long as its inputs are unchanged."""
    return _has_final_types(operation) and Value in map(type, operation.inputs)


def _has_final_types(operation: Operation) -> bool:
    """Return whether the types of an operation are final as long as its inputs are unchanged."""
    op = operation.op
    if operation.regions or op in OF_SHAPES or not operation.inputs:
        return False
    for value in operation.outputs:
        if not _is_settled(value) or (op.known is not None and value.dtype.is_integer):
            return False
    return True


def _may_be_folded(operation: Operation) -> bool:
    """Return whether all results of an operation are small enough to be folded."""
    return all(is_foldable(value.spec) for value in operation.outputs)


def _is_settled(value: Value) -> bool:
    spec = value.spec
    return isinstance(spec, TensorType) and is_static(spec.shape) and spec.dtype is not dtypes.string


def _is_same(new: Value, old: Value) -> bool:
    """Return whether all that is known of a result is known of the old one already."""
    return _is_settled(old) and new.spec == old.spec and new.elements == old.elements


def _filled_in(region: Graph, specs: Sequence[AnySpec]) -> Graph:
    """Replace blank results of a branch by zeros of the common shapes."""
    if not any(isinstance(output, _Blank) for output in region.outputs):
        return region
    outputs = [
        Constant(of_size_zero(spec))
        if isinstance(output, _Blank) and isinstance(spec, TensorType)
        else output
        for output, spec in zip(region.outputs, specs, strict=True)
    ]
    return Graph(region.name, region.inputs, region.operations, outputs)


def _afresh(region: Graph, arguments: Sequence[Operand], skip: int = 0) -> list[Operand]:
    """Return new inputs of a region for its non-constant arguments; constants are passed through."""
    return [
        operand if isinstance(operand, Constant) else _like(operand, value.name)
        for operand, value in zip(arguments, region.inputs[skip:], strict=True)
    ]


def _like(value: Value, name: str) -> Value:
    return Value(name, value.spec, value.elements)


def _inferred(operation: Operation, inputs: list[Operand]) -> Sequence[AnySpec]:
    if operation.op in (assert_true, raise_error, print_texts):
        return [value.spec for value in operation.outputs]
    try:
        return operation.op.infer_all(inputs, operation.attrs)
    except FAILURES as error:
        raise NeverRunsError(Reason(operation, f"these shapes are refused: {error}")) from error


def _demand_known(operation: Operation, spec: AnySpec, with_sizes: bool) -> None:
    if isinstance(spec, TensorType) and (spec.shape is None or (None in spec.shape and not with_sizes)):
        raise CannotCompileError([Reason(operation, f"the shape of its result, {spec}, depends on values")])
    if isinstance(spec, TensorType) and spec.dtype is dtypes.string:
        raise CannotCompileError([Reason(operation, "strings are not compiled")])
