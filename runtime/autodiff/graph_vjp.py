"""The VJP of a graph, as a graph.

    graph f(x) -> y            forward f(x) -> y, a           backward f(dy, x, a) -> dx
      a = sin x         ==>      a = sin x              and     da = multiply dy, a ...
      y = multiply a, x          y = multiply a, x

`GraphVjp` differentiates the operations of a finished graph. The *residuals* are the values of the forward graph that
the backward graph reads. The forward graph returns them after its own results. The original graph is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence, Set
from typing import Any

from ..core.shapes import is_static, merge
from ..core.tensor import EagerTensor
from ..ir.builder import Builder
from ..ir.clone import with_parts
from ..ir.graph import Graph, Operand, Operation, Value
from ..ir.traits import SIZE_QUERY
from ..ir.value_types import AnySpec, ListType, TensorType, VariableType
from ..ops.arrays.creation import zeros_like
from ..ops.arrays.undefined_values import of_size_zero
from ..ops.framework.op import wrap
from ..ops.lists.tensor_list import list_new
from ..ops.state.variable_ops import read_variable
from .backprop import gradients
from .sparse_gradients import taken_apart
from .tape_records import GraphRecord


class GraphVjp:
    """The VJP of `graph`.

    Args:
        given: for each output, whether it has a cotangent.
        wanted: for each input, whether its cotangent is needed.
        form: converts the cotangent of an input, given with its index; it may be in parts.
        unrecorded: values that carry no gradient, since a tape did not record what computes them.

    Attributes: `grads`, the cotangents of the inputs (None if there is none); `forward` and `back`, the builders of
    both graphs; `originals`, a map from the operations of the forward graph to those of `graph` that they are
    copies of.
    """

    def __init__(
        self,
        graph: Graph,
        given: Sequence[bool],
        wanted: Sequence[bool],
        form: Callable[[Any, int], Any],
        unrecorded: Set[Value] = frozenset(),
    ) -> None:
        self.graph = graph
        self.forward = Builder(graph.name)
        self.forward.inputs = list(graph.inputs)
        self.originals = {with_parts(operation): operation for operation in graph.operations}
        self.forward.operations = list(self.originals)
        self.back = Builder(f"{graph.name}_gradient", self.forward, is_function=True)
        records = [
            GraphRecord(operation, self.forward, unrecorded)
            for operation in self.forward.operations
            if not unrecorded or unrecorded.isdisjoint(operation.outputs)
        ]
        sources = [wrap(value, self.forward) for value in graph.inputs]
        chosen = [i for i, want in enumerate(wanted) if want]
        with self.back:
            targets = self._targets(given)
            found = gradients(records, targets, [sources[i] for i in chosen], in_parts=True)
            formed = {i: form(grad, i) for i, grad in zip(chosen, found, strict=True)}
        self.grads: list[Any] = [formed.get(i) for i in range(len(sources))]

    def _targets(self, given: Sequence[bool]) -> list[tuple[Any, Any]]:
        targets = []
        for output, is_given in zip(self.graph.outputs, given, strict=True):
            if is_given:
                name = f"d_{output.name}" if isinstance(output, Value) else "d_constant"
                grad = wrap(self.back.input(name, output.spec), self.back)
                if isinstance(output, Value):
                    targets.append((wrap(output, self.forward), grad))
        return targets

    @property
    def sizes(self) -> list[int]:
        """The number of tensors in the cotangent of each input."""
        return [len(taken_apart(grad)) for grad in self.grads]

    @property
    def has_gradient(self) -> list[bool]:
        return [grad is not None for grad in self.grads]

    def fill(self, needed: Sequence[bool]) -> None:
        """Set the cotangent to zeros for the inputs that need one and have none."""
        with self.back:
            for i, need in enumerate(needed):
                if need and self.grads[i] is None:
                    self.grads[i] = zeros_for(wrap(self.graph.inputs[i], self.forward))

    def outputs(self, flags: Sequence[bool]) -> list[Operand]:
        """Return the cotangents of the flagged inputs as operands of the backward graph."""
        found = []
        for value, grad, flag in zip(self.graph.inputs, self.grads, flags, strict=True):
            if flag:
                parts = [self.back.operand(part) for part in taken_apart(grad)]
                if len(parts) == 1:
                    _sharpen(parts[0], value.spec)
                found += parts
        return found

    def saved(self, steady: Container[Value] = ()) -> list[Value]:
        """Return the residuals in the order of the backward graph's inputs. Call this last.

        Values in `steady` are free residuals: the backward graph measures them itself.
        """
        self._drop_what_is_unused()
        self._hoist(steady)
        read = self._read(self.back.operations)
        for outer, inner in list(self.back.captures.items()):
            if inner not in read:
                del self.back.captures[outer]
                self.back.inputs[:] = [value for value in self.back.inputs if value is not inner]
        return [outer for outer in self.back.captured_outer() if isinstance(outer, Value)]

    def _drop_what_is_unused(self) -> None:
        """Drop operations of unused cotangents, so that they need no residuals."""
        needed = self._read(())
        kept = []
        for operation in reversed(self.back.operations):
            if operation.stateful or not needed.isdisjoint(operation.outputs):
                kept.append(operation)
                needed.update(operation.inputs)
        self.back.operations = kept[::-1]

    def _read(self, operations: Sequence[Operation]) -> set[Operand]:
        """Return the operands of `operations` of the backward graph, and its results."""
        read = {operand for operation in operations for operand in operation.inputs}
        return read.union(self.back.operand(part) for grad in self.grads for part in taken_apart(grad))

    def _hoist(self, steady: Container[Value]) -> None:
        """Move size queries to the forward graph, unless the backward graph has their operands anyway.

        So the residuals are a few integers.
        """
        originals: dict[Operand, Hashable] = dict(self.back.outers.items())
        read = self._read([each for each in self.back.operations if not each.op.has(SIZE_QUERY)])
        kept = []
        for operation in self.back.operations:
            known = [_measured(operand, originals) for operand in operation.inputs]
            is_there = any(x is None or x in steady for x in known) or not read.isdisjoint(operation.inputs)
            if is_there or not operation.op.has(SIZE_QUERY):
                kept.append(operation)
                continue
            (inner,) = operation.outputs
            outer = Value(inner.name, inner.spec, inner.elements)
            self.forward.operations.append(
                Operation(operation.op, tuple(known), operation.attrs, (outer,), (), operation.origin)  # type: ignore[arg-type]
            )
            self.back.inputs.append(inner)
            self.back.capture_as(inner, outer)
        self.back.operations = kept

    def forward_graph(self, extra: Sequence[Operand]) -> Graph:
        """Return the forward graph with the residuals as additional outputs."""
        outputs = (*self.graph.outputs, *extra)
        return Graph(self.graph.name, tuple(self.forward.inputs), tuple(self.forward.operations), outputs)


def _measured(operand: Operand, originals: Mapping[Operand, Hashable]) -> Value | None:
    """Return the value of the forward graph that an input of the backward graph corresponds to."""
    found = originals.get(operand)
    return found if isinstance(found, Value) else None


def content(spec: AnySpec) -> AnySpec:
    """Return the type of a cotangent: for a variable, that of its contents."""
    return spec.content if isinstance(spec, VariableType) else spec


def _sharpen(operand: Operand, spec: AnySpec) -> None:
    """Refine the shape of a cotangent by that of its primal."""
    like = content(spec)
    if isinstance(operand, Value) and isinstance(operand.spec, TensorType) and isinstance(like, TensorType):
        operand.spec = operand.spec.with_shape(merge(operand.spec.shape, like.shape))


def zeros_for(x: Any) -> Any:
    """Return a cotangent of zeros, made in the current builder."""
    spec = x.spec if not hasattr(x, "dtype") else TensorType(x.dtype, x.shape.sizes)
    like = content(spec)
    if isinstance(like, ListType):
        from ..ops.lists.nested_lists import new_list  # few programs have lists of tensors

        return new_list(like)
    if is_static(like.shape):  # type: ignore[union-attr]
        return blank(like)  # type: ignore[arg-type]
    if isinstance(spec, VariableType):
        x = read_variable(x)
    return zeros_like(x)


def blank(spec: TensorType) -> EagerTensor:
    """Return zeros that take no memory; unknown dimensions have size 0."""
    return EagerTensor(of_size_zero(spec))


def making_list(spec: ListType, known: dict[ListType, Value]) -> list[Operation]:
    """Return detached operations, the last of which makes an empty list.

    A list of lists is made like a list with the type of its elements, which is in `known` afterwards.
    """
    made = Value("none", spec)
    if not isinstance(spec.element, ListType):
        attrs = {"dtype": spec.element.dtype, "element_shape": spec.element.shape}
        return [Operation(list_new, (), attrs, (made,))]
    from ..ops.lists.nested_lists import list_of_lists  # few lists contain lists

    inner: list[Operation] = []
    if spec.element not in known:
        inner = making_list(spec.element, known)
        known[spec.element] = inner[-1].outputs[0]
    return [*inner, Operation(list_of_lists, (known[spec.element],), {}, (made,))]
