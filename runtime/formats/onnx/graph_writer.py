"""Write the operations of a graph as nodes: rules for plain operations, subgraphs for control flow.

cond    ⇒ If        the branches read outer values directly
while   ⇒ Loop      the test runs before the loop and at the end of its body (loops.py)
switch  ⇒ If in If
call    ⇒ the nodes of the called function

Operations that cannot be expressed are collected, so that one error lists them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...functionalize.errors import Reason
from ...ir.graph import Constant, Graph, Operand, Operation
from ...ir.value_types import ListType, TensorType
from ...ops.arrays.placeholder import nothing
from ...ops.framework.region_ops import CALL, COND, CUSTOM, FUSED, SWITCH
from ...ops.state.print_and_assert import assert_true, print_texts
from ...ops.state.raise_op import raise_error
from .emitter import NodeEmitter
from .inexpressible import INEXPRESSIBLE
from .onnx_types import DTYPES, InexpressibleError, helper, value_info
from .registry import RULES
from .values import Ref

Refs = dict[Operand, Ref]


class GraphWriter:
    """Writes graphs and their regions with one emitter. `reasons` are the operations that have no form in ONNX."""

    def __init__(self, emitter: NodeEmitter, refuse: dict[str, str]) -> None:
        self.e = emitter
        self.reasons: list[Reason] = []
        self.notes: list[Reason] = []  # operations that are left out, such as `print`
        self._refuse = refuse

    def region(self, graph: Graph, arguments: Sequence[Ref]) -> list[Ref]:
        """Write the operations of a graph with values for its inputs; return its results."""
        known: Refs = dict(zip(graph.inputs, arguments, strict=True))
        self.find_elements(graph)
        for operation in graph.live_operations():
            self.operation(operation, known)
        return [self.ref(operand, known) for operand in graph.outputs]

    def find_elements(self, graph: Graph) -> None:
        """Find the shapes of the elements of new lists: those of the list that the next operation makes of it."""
        for operation in graph.operations:
            for value in operation.inputs:
                if isinstance(value.spec, ListType) and value not in self.e.elements:
                    shapes = [
                        shape_of(each.spec) for each in operation.outputs if isinstance(each.spec, ListType)
                    ]
                    known = [shape[1:] for shape in shapes if shape is not None]
                    if known:
                        self.e.elements[value] = known[0]

    def ref(self, operand: Operand, known: Refs) -> Ref:
        """Return the value of an operand."""
        if isinstance(operand, Constant):
            return self.e.const(operand.value, operand.dtype)
        return known[operand]

    def operation(self, operation: Operation, known: Refs) -> None:
        """Write one operation, and enter its results in `known`."""
        self.e.hint = operation.outputs[0].name if operation.outputs else operation.type
        try:
            inputs = [self.ref(operand, known) for operand in operation.inputs]
            results = self._results(operation, inputs)
        except InexpressibleError as error:
            self.reasons.append(Reason(operation, str(error)))
            results = [_dummy(self.e, value) for value in operation.outputs]
        for value, result in zip(operation.outputs, results, strict=True):
            shape = shape_of(value.spec)
            result.shape = shape if shape is not None or not result.is_unwritten else result.shape
            known[value] = result

    def _results(self, operation: Operation, inputs: list[Ref]) -> Sequence[Ref]:
        structured = STRUCTURED.get(operation.op)
        if structured is not None:
            made: Sequence[Ref] = structured(self, operation, inputs)
            return made
        _check_dtypes(operation)
        name = operation.type
        if name in IGNORED:
            self.notes.append(Reason(operation, IGNORED[name]))
            return inputs[: len(operation.outputs)]
        if name in self._refuse:
            raise InexpressibleError(self._refuse[name])
        if name not in RULES:
            raise InexpressibleError(
                INEXPRESSIBLE.get(name, "it is not an operation of agc: only its kernel defines it")
            )
        found = RULES[name](self.e, operation, *inputs)
        found = [found] if isinstance(found, Ref) else list(found)
        return [self._own(ref) if ref in inputs or ref.value is not None else ref for ref in found]

    def _own(self, ref: Ref) -> Ref:
        """Return another record for a value, so that its shape can be refined."""
        return Ref(self.e, ref.name, ref.dtype, ref.shape, ref.value)

    def call(self, operation: Operation, inputs: list[Ref]) -> list[Ref]:
        """Write the nodes of a called function."""
        (callee,) = operation.regions
        return [self._own(ref) for ref in self.region(callee, inputs)]

    def given(self, operation: Operation, inputs: list[Ref]) -> list[Ref]:
        """Return the results of an operation with a gradient of its own: its first operands."""
        return [self._own(ref) for ref in inputs[: len(operation.outputs)]]

    def cond(self, operation: Operation, inputs: list[Ref]) -> Sequence[Ref]:
        """Write a conditional."""
        predicate, *arguments = inputs
        return self.branch(operation, predicate, operation.regions, arguments)

    def switch(self, operation: Operation, inputs: list[Ref]) -> Sequence[Ref]:
        """Write a selection among several regions, as conditionals in each other's else-branch."""
        index, *arguments = inputs
        return self._cases(operation, index, 0, arguments)

    def _cases(self, operation: Operation, index: Ref, number: int, arguments: list[Ref]) -> Sequence[Ref]:
        """Write the regions from a number on. The last region also runs for a number that no region has."""
        region, *rest = operation.regions[number:]
        if not rest:
            return self.region(region, arguments)
        is_this = index.equals(number)
        return self._if(
            operation,
            is_this,
            lambda: self.region(region, arguments),
            lambda: self._cases(operation, index, number + 1, arguments),
        )

    def branch(
        self, operation: Operation, predicate: Ref, regions: Sequence[Graph], arguments: list[Ref]
    ) -> Sequence[Ref]:
        then, otherwise = regions
        return self._if(
            operation,
            predicate,
            lambda: self.region(then, arguments),
            lambda: self.region(otherwise, arguments),
        )

    def _if(self, operation: Operation, predicate: Ref, then: Any, otherwise: Any) -> Sequence[Ref]:
        if not operation.outputs:
            self._leave_out_effects(operation)
            return []
        hint, e = self.e.hint, self.e
        branches = [self.subgraph(operation, write) for write in (then, otherwise)]
        results = []
        for value in operation.outputs:
            e.hint = value.name
            results.append(Ref(e, e.fresh(), dtype_of(value.spec), shape_of(value.spec)))
        e.hint = hint
        attrs = {"then_branch": branches[0], "else_branch": branches[1]}
        e.add("If", [predicate.name], [ref.name for ref in results], attrs)
        return results

    def _leave_out_effects(self, operation: Operation) -> None:
        """Note the effects in a conditional without results, which is not written; record those that are refused."""
        effects = [each for region in operation.regions for each in region.walk() if each.op.stateful]
        for each in effects:
            if each.type in LEFT_OUT_WITH_BRANCH:
                self.notes.append(Reason(each, LEFT_OUT_WITH_BRANCH[each.type]))
            elif each.type in INEXPRESSIBLE:
                self.reasons.append(Reason(each, INEXPRESSIBLE[each.type]))

    def subgraph(self, operation: Operation, write: Any) -> Any:
        """Return a subgraph without inputs, whose results are those that `write` returns."""
        outer = self.e.begin()
        results = [self.renamed(ref) for ref in write()]
        specs = [value.spec for value in operation.outputs]
        infos = [info(name, spec) for name, spec in zip(results, specs, strict=True)]
        return helper.make_graph(self.e.end(outer), self.e.fresh(f"{operation.type}_branch"), [], infos)

    def renamed(self, ref: Ref) -> str:
        """Return a new name for a value: the results of a subgraph must be its own."""
        name = self.e.fresh(f"{ref.name}_out")
        self.e.add("Identity", [ref.name], [name], {})
        return name


def _check_dtypes(operation: Operation) -> None:
    for operand in (*operation.inputs, *operation.outputs):
        name = dtype_of(operand.spec).name
        if name not in DTYPES:
            raise InexpressibleError(f"ONNX has no operators on {name} numbers")


def _dummy(e: NodeEmitter, value: Any) -> Ref:
    """Return a value for the result of a refused operation, so that writing goes on to find other reasons."""
    return Ref(e, e.fresh("refused"), dtype_of(value.spec), shape_of(value.spec))


def dtype_of(spec: Any) -> Any:
    """Return the dtype of a tensor, or of the elements of a list."""
    if isinstance(spec, ListType):
        if isinstance(spec.element, ListType):
            raise InexpressibleError("lists of lists have no form in ONNX")
        return spec.element.dtype
    return spec.dtype if isinstance(spec, TensorType) else spec.content.dtype


def shape_of(spec: Any) -> Any:
    """Return the shape of a tensor; that of a list, which ONNX has as the stack of its elements."""
    if isinstance(spec, ListType):
        element = spec.element.shape
        return None if element is None else (None, *element)
    return spec.shape if isinstance(spec, TensorType) else spec.content.shape


def info(name: str, spec: Any) -> Any:
    """Return the declaration of a value of a type."""
    return value_info(name, dtype_of(spec), shape_of(spec))


IGNORED = {
    assert_true.name: "it is left out: ONNX has no assertions",
    print_texts.name: "it is left out: ONNX does not print",
    nothing.name: "it does nothing",
}
"""The operations that are left out, and what the warning about them says."""

LEFT_OUT_WITH_BRANCH = {**IGNORED, raise_error.name: "it is left out: ONNX has no exceptions"}
"""The effects that are left out in a conditional without results."""


STRUCTURED: dict[Any, Any] = {
    COND: GraphWriter.cond,
    SWITCH: GraphWriter.switch,
    CALL: GraphWriter.call,
    FUSED: GraphWriter.call,
    CUSTOM: GraphWriter.given,
}
"""The writers of operations with regions; loops.py adds that of `while`."""
