"""The graph: typed, structured, every value assigned once.

    graph collatz(n: int64[]) -> int64[]
      last, steps = while n, 0                      : int64[], int64[]
        test m, k
          go = not_equal m, 1                       : bool[]
          yield go
        body m, k
          ...
      return steps

A `Graph` has inputs, operations in the order of their effects, and outputs. Operations such as `cond` and
`while` hold closed regions, which are graphs themselves: all that they use is passed in. An operand is a
`Value` (an input, or the result of an earlier operation of the same graph) or a `Constant`.
"""

from __future__ import annotations

import itertools
import operator
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import dtypes
from ..core import shapes
from .source_location import Origin
from .value_types import AnySpec, TensorType, VariableType

if TYPE_CHECKING:
    from ..core.tensor import SymbolicTensor
    from ..ops.framework.op import Op
    from .graph_def import GraphDef, NodeDef
    from .tensorflow_names import Naming


class Value:
    """A value of a graph. `name` is a wish: the text form makes names unique.

    `elements` is what is known of a vector of integers before the graph runs, e.g. (None, 3) for the shape of a
    matrix with 3 columns: shape rules use it.
    """

    __slots__ = ("elements", "name", "spec")

    value: None = None  # not known before the graph runs

    def __init__(self, name: str, spec: AnySpec, elements: tuple[int | None, ...] | None = None) -> None:
        self.name = name
        self.spec = spec
        self.elements = elements

    @property
    def dtype(self) -> dtypes.DType:
        return self.spec.dtype  # type: ignore[union-attr]  # which tensors alone are asked for

    @property
    def shape(self) -> shapes.Dims:
        return self.spec.shape  # type: ignore[union-attr]

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.spec})"


class Constant:
    """An operand that is known: an array that nobody changes any more."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: np.ndarray[Any, Any] = value

    @property
    def dtype(self) -> dtypes.DType:
        return dtypes.of_array(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.value.shape
        return shape

    @property
    def spec(self) -> TensorType:
        return TensorType(dtypes.of_array(self.value), self.value.shape)

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


Operand = Value | Constant


class Operation:
    """One step of a graph: `outputs = op inputs [attrs]`, with regions for control flow."""

    __slots__ = (
        "_home", "attrs", "device", "inputs", "op", "origin", "outputs", "regions", "stateful", "type",
    )  # fmt: skip

    def __init__(
        self,
        op: Op,
        inputs: tuple[Operand, ...],
        attrs: Mapping[str, Any],
        outputs: tuple[Value, ...],
        regions: tuple[Graph, ...] = (),
        origin: Origin | None = None,
        device: str = "",
    ) -> None:
        self.op = op
        self.type: str = op.name
        self.inputs: tuple[Operand, ...] = inputs
        self.attrs: Mapping[str, Any] = attrs
        self.outputs: tuple[Value, ...] = outputs
        self.regions: tuple[Graph, ...] = regions
        self.origin = origin
        self.device = device
        self.stateful: bool = op.stateful or (bool(regions) and any(map(_is_stateful, regions)))
        self._home: weakref.ref[Graph] | None = None  # set when a graph hands it out

    @property
    def name(self) -> str:
        """The name that tells it from the other operations of its graph, once that has handed it out."""
        graph = self.graph
        if graph is not None:
            return graph.naming().operations[self]
        return self.outputs[0].name if self.outputs else self.op.name

    @property
    def graph(self) -> Graph | None:
        """The graph that it belongs to; None when that is gone, or still being built."""
        return None if self._home is None else self._home()

    @property
    def node_def(self) -> NodeDef:
        """The operation as `Graph.as_graph_def` has it."""
        graph = self.graph
        if graph is None:
            raise ValueError(f"the graph of {self!r} is gone")
        place = len(graph.inputs) + list(graph.operations).index(self)
        return graph.as_graph_def().node[place]

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the operation in a session, by default the one whose block is running."""
        from ..compat.sessions.session import session_for

        session_for(session, "execute operation using `run()`").run(self, feed_dict)

    @property
    def values(self) -> tuple[Value, ...]:
        """The results."""
        return self.outputs

    def get_attr(self, name: str) -> Any:
        """An attribute by name; ValueError when there is none."""
        if name not in self.attrs:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        return self.attrs[name]

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


_type_of = operator.attrgetter("type")
_types_of = operator.attrgetter("types")
_spec_of = operator.attrgetter("spec")
_shape_of = operator.attrgetter("shape")
_inputs_of = operator.attrgetter("inputs")
_outputs_of = operator.attrgetter("outputs")
_regions_of = operator.attrgetter("regions")
_is_stateful = operator.attrgetter("stateful")
_is_scalar = operator.attrgetter("is_scalar")
_flat = itertools.chain.from_iterable

_TENSORS = frozenset({TensorType})
_SCALARS = frozenset({()})


def _has_scalars_only(graph: Graph) -> bool:
    specs = [*map(_spec_of, graph.inputs), *map(_spec_of, _flat(map(_outputs_of, graph.operations)))]
    if not (_TENSORS.issuperset(map(type, specs)) and _SCALARS.issuperset(map(_shape_of, specs))):
        return False
    operands = _flat(map(_inputs_of, graph.operations))
    return not any(operand.value.ndim for operand in operands if type(operand) is Constant)


class Graph:
    """A function over tensors as data; see the module's docstring. Equal graphs have the same text."""

    __slots__ = (
        "__weakref__", "_builder", "_is_scalar", "_live", "_naming", "inputs", "name", "operations", "outputs",
        "stateful", "types",
    )  # fmt: skip

    def __init__(
        self,
        name: str = "graph",
        inputs: Sequence[Value] = (),
        operations: Sequence[Operation] = (),
        outputs: Sequence[Operand] = (),
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.operations = operations
        self.outputs = outputs
        # Of the operations that there are now, and of those of their regions and callees:
        self.stateful: bool = any(map(_is_stateful, operations))
        self.types: frozenset[str] = frozenset(map(_type_of, operations)).union(
            *map(_types_of, self.regions())
        )
        self._is_scalar: bool | None = None
        self._live: tuple[Operation, ...] | None = None
        self._naming: Naming | None = None
        self._builder: Any = None  # what adds to the graph, if it is one that grows

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a graph can be neither copied nor pickled: {self.name}. str(graph) is its text, which ir.parse.parse "
            "reads; as_graph_def() is the same as JSON"
        )

    @property
    def is_scalar(self) -> bool:
        """Whether there are only scalars in it, also in regions and callees: many looks at shapes are idle then."""
        found = self._is_scalar
        if found is None:
            found = _has_scalars_only(self) and all(map(_is_scalar, self.regions()))
            if type(self.operations) is tuple:  # it does not grow
                self._is_scalar = found
        return found

    def regions(self) -> Iterator[Graph]:
        """The regions of all operations."""
        return _flat(map(_regions_of, self.operations))

    def get_operations(self) -> list[Operation]:
        """The operations in the order of their effects (those of regions belong to their own graphs)."""
        for operation in self.operations:
            operation._home = weakref.ref(self)
        return list(self.operations)

    def naming(self) -> Naming:
        """The names that tell the inputs and operations of this graph apart."""
        if self._naming is None or self._naming.size != len(self.inputs) + len(self.operations):
            from .tensorflow_names import Naming  # when first asked for: what only runs needs no such names

            self._naming = Naming(self)
        return self._naming

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation with this name, as `Operation.name` and the graph's text have it; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        wanted = self.naming().in_tensorflows_way(name)
        for operation in self.get_operations():
            if self.naming().operations[operation] == wanted:
                return operation
        for value in self.inputs:
            if self.naming().values[value] == f"{wanted}:0":
                return self.made_by(value)
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """The tensor with this name, such as "add:0", of this graph. KeyError if there is none, ValueError for a name
        without a number."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        head, colon, _ = name.rpartition(":")
        if not colon:
            raise ValueError(
                f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of the form "
                '"<op_name>:<output_index>".'
            )
        wanted = f"{self.naming().in_tensorflows_way(head)}:{name[len(head) + 1 :]}"
        for value, known in self.naming().values.items():
            if known == wanted:
                return self._tensor(value)
        raise KeyError(f"The name {name!r} refers to a Tensor which does not exist.")

    def _tensor(self, value: Value) -> SymbolicTensor:
        from ..core.tensor import SymbolicTensor
        from .builder import Builder

        return SymbolicTensor(value, self._builder or Builder.of(self))

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or operation that an object or a name stands for. KeyError if there is none."""
        if not isinstance(obj, str):
            return obj
        return self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)

    def as_default(self) -> AbstractContextManager[Graph]:
        """A block whose operations become parts of this graph, and are not computed.

        Raises RuntimeError for a graph that is complete, such as that of a function.
        """
        from ..compat.sessions.graph_builder import as_default

        return as_default(self)

    def finalize(self) -> None:
        """Refuse further operations: to add one is a RuntimeError from now on."""
        if self._builder is not None:
            self._builder.is_final = True

    @property
    def finalized(self) -> bool:
        """Whether operations can be added no more."""
        return (self._builder is None and bool(self.operations)) or getattr(self._builder, "is_final", False)

    def control_dependencies(self, control_inputs: Any) -> AbstractContextManager[None]:
        """A block whose operations run behind others."""
        from ..control_flow.control_dependencies import control_dependencies

        return control_dependencies(control_inputs)

    def add_to_collection(self, name: str, value: Any) -> None:
        """Put something into a collection of the graph."""
        self.get_collection_ref(name).append(value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """What is in a collection; with `scope`, what has a name that begins so."""
        found = list(self.get_collection_ref(name))
        if scope is None:
            return found
        return [item for item in found if re.match(scope, getattr(item, "name", "\0"))]

    def get_collection_ref(self, name: str) -> list[Any]:
        """A collection itself."""
        from ..compat.sessions.graph_builder import builder_of

        return builder_of(self).collections.setdefault(name, [])

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name that an operation would get."""
        return self.naming().next(name)

    def made_by(self, value: Value) -> Operation:
        """The operation that gives `value`; for an input one of the type `placeholder`."""
        from ..ops.arrays.placeholder import placeholder_of

        found = next((each for each in self.get_operations() if value in each.outputs), None)
        return placeholder_of(value) if found is None else found

    def as_graph_def(self) -> GraphDef:
        """The graph in a form that can be written down: readable JSON, see ir/json_format.py."""
        from .graph_def import GraphDef

        return GraphDef(self)

    def live_operations(self) -> tuple[Operation, ...]:
        """The operations that a run needs: those with effects, and those that something needed reads.

        The others are not run: this is the "non-strict" execution of TensorFlow's user guide.
        """
        if self._live is not None:
            return self._live
        needed: set[Operand] = set(self.outputs)
        found = []
        for operation in reversed(self.operations):
            if operation.stateful or not needed.isdisjoint(operation.outputs):
                needed.update(operation.inputs)
                found.append(operation)
        live = tuple(found[::-1])
        if type(self.operations) is tuple:  # it does not grow
            self._live = live
        return live

    def walk(self) -> Iterator[Operation]:
        """Every operation, those of regions included."""
        pending: list[Graph] = [self]
        while pending:
            for operation in pending.pop().operations:
                yield operation
                pending.extend(operation.regions)

    @property
    def variables(self) -> tuple[Value, ...]:
        """The inputs that are references to variables."""
        return tuple(value for value in self.inputs if isinstance(value.spec, VariableType))

    def __str__(self) -> str:
        from .printer import print_graph

        return print_graph(self).rstrip("\n")

    def _repr_html_(self) -> str:
        from ..core.html_repr import text_html

        return text_html(str(self))

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {len(self.inputs)} inputs, {len(self.operations)} operations>"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Graph) else NotImplemented

    __hash__ = object.__hash__
