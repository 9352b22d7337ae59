"""Graphs that grow while they are the default: each operation that is called becomes a part of them.

    graph = Graph()
    with graph.as_default():
        total = tf.constant(1) + 2          # total.graph is graph; nothing is computed

What must run before an operation (`control_dependencies`) is kept beside the graph: a session runs only what it is
asked for, and what that needs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import autograph_backend as plugged_in  # noqa: F401  (so what is added is staged)
from ... import nest
from ...core.tensor import EagerTensor, KnownTensor, SymbolicTensor
from ...ir import builder as building
from ...ir.builder import Builder, current
from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.value_types import AnySpec
from ...ops.arrays.placeholder import const, nothing

if TYPE_CHECKING:
    from ...ops.framework.op import Op

GLOBAL_VARIABLES = "variables"
LOCAL_VARIABLES = "local_variables"
TRAINABLE_VARIABLES = "trainable_variables"


class GraphBuilder(Builder):
    """Adds to a graph that sessions run."""

    keeps_constants = True

    def __init__(self, graph: Graph) -> None:
        super().__init__("graph", is_function=True)
        self._graph = graph
        graph.inputs, graph.operations = self.inputs, self.operations
        self.controls: dict[Operation, tuple[Operation, ...]] = {}
        self.wanted_before: list[tuple[Operation, ...]] = [()]
        self.collections: dict[str, list[Any]] = {}
        self.is_final = False
        self.scopes: Any = None  # of variable_scope.py

    def add(
        self,
        op: Op,
        inputs: Sequence[Operand],
        attrs: Mapping[str, Any],
        specs: Sequence[AnySpec],
        regions: tuple[Graph, ...] = (),
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Record one operation, under its own name: variables of Python say nothing of a graph."""
        if self.is_final:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        outputs = super().add(op, inputs, attrs, specs, regions, names or (op.name,) * len(specs))
        if self.wanted_before[-1]:
            self.controls[self.operations[-1]] = self.wanted_before[-1]
        return outputs

    def captured(self, value: Value, owner: Builder) -> Value:
        """A value of this graph. Raises ValueError for one of another."""
        if owner is not self:
            raise ValueError(
                f"`{value.name}` ({value.spec}) must be from the same graph as the operation that takes it"
            )
        return value

    def constant(self, tensor: EagerTensor, name: str | None) -> KnownTensor:
        """A tensor of the graph with a known value."""
        (value,) = self.add(
            const, [Constant(tensor._array)], {}, [Constant(tensor._array).spec], (), [name or "Const"]
        )
        return KnownTensor(value, self, tensor._array)

    def no_op(self, before: Sequence[Operation], name: str | None = None) -> Operation:
        """An operation that does nothing but have others run before it."""
        self.add(nothing, [], {}, [])
        made = self.operations[-1]
        self.controls[made] = (*self.wanted_before[-1], *before)
        return made

    def operations_of(self, items: Any) -> list[Operation]:
        """The operations that are meant: themselves, and those of tensors; nests are taken apart."""
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
        """Operations of this block run after others; None takes back what blocks around it say."""
        around = self.wanted_before[-1]
        self.wanted_before.append(() if before is None else (*around, *before))
        try:
            yield
        finally:
            self.wanted_before.pop()


def builder_of(graph: Graph) -> GraphBuilder:
    """What adds to a graph. Raises RuntimeError for one that is complete, such as that of a function."""
    if graph._builder is None:
        if graph.operations or graph.inputs or graph.outputs:
            raise RuntimeError(f"{graph!r} is complete: nothing can be added to it")
        graph._builder = GraphBuilder(graph)
    found: GraphBuilder = graph._builder
    return found


@contextlib.contextmanager
def as_default(graph: Graph) -> Iterator[Graph]:
    """Let operations of this block become parts of the graph."""
    with builder_of(graph):
        yield graph


class _Default:
    graph: Graph | None = None


_default = _Default()


def get_default_graph() -> Graph:
    """The graph that operations are added to, or would be with `disable_eager_execution`."""
    builder = current()
    if builder is not None:
        return builder.graph
    if _default.graph is None:
        _default.graph = Graph()
        builder_of(_default.graph)
    return _default.graph


def reset_default_graph() -> None:
    """Begin with a new default graph. Raises AssertionError inside of `Graph.as_default()`."""
    builder = current()
    if builder is not None and builder is not building.bottom():
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs.")
    _default.graph = None
    if builder is not None:
        _default.graph = Graph()
        building.set_bottom(builder_of(_default.graph))


def disable_eager_execution() -> None:
    """Let all operations become parts of the default graph, in every thread. Call it first of all."""
    if current() is None:
        building.set_bottom(builder_of(get_default_graph()))


def enable_eager_execution() -> None:
    """Let operations run at once again: take `disable_eager_execution` back."""
    building.set_bottom(None)
