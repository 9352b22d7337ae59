"""Graphs that grow while they are the default graph: each operation called is appended to them.

    graph = Graph()
    with graph.as_default():
        total = tf.constant(1) + 2          # total.graph is graph; no value is computed

Control dependencies (`control_dependencies`) are stored apart from the graph: a session runs only the operations
that its fetches need.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ... import autograph_backend as plugged_in  # noqa: F401  (so what is added is staged)
from ... import nest
from ...core.symbolic_tensor import KnownTensor, SymbolicTensor
from ...core.tensor import EagerTensor
from ...ir import builder as building
from ...ir.builder import Builder, current
from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.op_def import OpDef
from ...ir.value_types import AnySpec
from ...ops.arrays.placeholder import const, nothing

GLOBAL_VARIABLES = "variables"
LOCAL_VARIABLES = "local_variables"
TRAINABLE_VARIABLES = "trainable_variables"


class GraphBuilder(Builder):
    """The builder of a graph that sessions run."""

    keeps_constants = True

    def __init__(self, graph: Graph) -> None:
        super().__init__("graph", is_function=True)
        self._graph = graph
        graph.inputs, graph.operations = self.inputs, self.operations
        self.controls: dict[Operation, tuple[Operation, ...]] = {}
        self.wanted_before: list[tuple[Operation, ...]] = [()]
        self.collections: dict[str, list[Any]] = {}
        self.is_final = False
        self.scopes: Any = None  # set by variable_scope.py

    def add(
        self,
        op: OpDef,
        inputs: Sequence[Operand],
        attrs: Mapping[str, Any],
        specs: Sequence[AnySpec],
        regions: tuple[Graph, ...] = (),
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Append an operation under its own name; Python variable names are not used."""
        if self.is_final:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        outputs = super().add(op, inputs, attrs, specs, regions, names or (op.name,) * len(specs))
        if self.wanted_before[-1]:
            self.controls[self.operations[-1]] = self.wanted_before[-1]
        return outputs

    def captured(self, value: Value, owner: Builder) -> Value:
        """Return a value of this graph. Raises ValueError for a value of another graph."""
        if owner is not self:
            raise ValueError(
                f"`{value.name}` ({value.spec}) must be from the same graph as the operation that takes it"
            )
        return value

    def constant(self, tensor: EagerTensor, name: str | None) -> KnownTensor:
        """Return a tensor of the graph with a known value."""
        (value,) = self.add(
            const, [Constant(tensor._array)], {}, [Constant(tensor._array).spec], (), [name or "Const"]
        )
        return KnownTensor(value, self, tensor._array)

    def no_op(self, before: Sequence[Operation], name: str | None = None) -> Operation:
        """Add an operation that does nothing but depend on others."""
        self.add(nothing, [], {}, [])
        made = self.operations[-1]
        self.controls[made] = (*self.wanted_before[-1], *before)
        return made

    def operations_of(self, items: Any) -> list[Operation]:
        """Return the operations in `items`, and those that compute its tensors; nests are flattened."""
        found = []
        for item in nest.flatten(list(items)):
            if isinstance(item, Operation):
                found.append(item)
            elif isinstance(item, SymbolicTensor) and item._builder is self:
                found.append(item.op)
            elif item is not None and not isinstance(item, EagerTensor) and not hasattr(item, "initializer"):
                raise TypeError(f"expected operations and tensors of this graph, not {item!r}")
        return found

    @contextlib.contextmanager
    def after(self, before: Sequence[Operation] | None) -> Iterator[None]:
        """Make operations of this block depend on `before`; None clears the dependencies of enclosing blocks."""
        around = self.wanted_before[-1]
        self.wanted_before.append(() if before is None else (*around, *before))
        try:
            yield
        finally:
            self.wanted_before.pop()


def builder_of(graph: Graph) -> GraphBuilder:
    """Return the builder of a graph. Raises RuntimeError for a complete graph, such as a function's."""
    if graph._builder is None:
        if graph.operations or graph.inputs or graph.outputs:
            raise RuntimeError(f"{graph!r} is complete: nothing can be added to it")
        graph._builder = GraphBuilder(graph)
    found: GraphBuilder = graph._builder
    return found


@contextlib.contextmanager
def as_default(graph: Graph) -> Iterator[Graph]:
    """Append the operations of this block to the graph."""
    with builder_of(graph):
        yield graph


class _Default:
    graph: Graph | None = None


_default = _Default()


def get_default_graph() -> Graph:
    """Return the graph that operations are added to, or would be with `disable_eager_execution`."""
    builder = current()
    if builder is not None:
        return builder.graph
    if _default.graph is None:
        _default.graph = Graph()
        builder_of(_default.graph)
    return _default.graph


def reset_default_graph() -> None:
    """Replace the default graph by a new one. Raises AssertionError inside of `Graph.as_default()`."""
    builder = current()
    if builder is not None and builder is not building.bottom():
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs.")
    _default.graph = None
    if builder is not None:
        _default.graph = Graph()
        building.set_bottom(builder_of(_default.graph))


def disable_eager_execution() -> None:
    """Append all operations to the default graph, in every thread. Call it before anything else."""
    if current() is None:
        building.set_bottom(builder_of(get_default_graph()))


def enable_eager_execution() -> None:
    """Run operations eagerly again: undo `disable_eager_execution`."""
    building.set_bottom(None)
