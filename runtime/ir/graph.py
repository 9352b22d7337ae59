"""The graph: a typed, structured IR in SSA form.

    graph collatz(n: int64[]) -> int64[]
      last, steps = while n, 0                      : int64[], int64[]
        test m, k
          go = not_equal m, 1                       : bool[]
          yield go
        body m, k
          ...
      return steps

A `Graph` has inputs, operations in the order of their side effects, and outputs. Operations such as `cond`
and `while` have closed regions, which are graphs themselves: everything that they use is an input. An operand
is a `Value` (an input, or the result of an earlier operation of the same graph) or a `Constant`.
"""

from __future__ import annotations

import itertools
import operator
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

import numpy as np

from .. import dtypes
from ..core import late_binding, shapes
from ..core.export import export
from .op_def import OpDef
from .source_location import Origin
from .value_types import AnySpec, TensorType, VariableType


class Value:
    """A value of a graph. `name` is a hint: the text form makes names unique.

    `elements` are the known elements of a small tensor of numbers, for shape inference. An example is (None, 3)
    for the shape of a matrix with 3 columns.
    """

    __slots__ = ("elements", "name", "spec")

    value: None = None  # not known before the graph runs

    def __init__(self, name: str, spec: AnySpec, elements: tuple[int | None, ...] | None = None) -> None:
        self.name = name
        self.spec = spec
        self.elements = elements

    @property
    def dtype(self) -> dtypes.DType:
        return self.spec.dtype  # type: ignore[union-attr]  # read for tensors only

    @property
    def shape(self) -> shapes.Dims:
        return self.spec.shape  # type: ignore[union-attr]

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.spec})"


class Constant:
    """A constant operand: an immutable array.

    `captured` is the eager tensor that the traced function used, if there was one: gradient tapes may watch it.
    """

    __slots__ = ("captured", "value")

    def __init__(self, value: Any, captured: Any = None) -> None:
        self.value: np.ndarray[Any, Any] = value
        self.captured = captured

    @classmethod
    def int32(cls, value: Any) -> Constant:
        """Return a constant of an integer, or of a nest of them."""
        return cls(np.array(value, np.int32))

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


@export("Operation")
class Operation:
    """One operation of a graph: `outputs = op inputs [attrs]`, with regions for control flow.

    >>> import agc.runtime as tf
    >>> graph = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1)).graph
    >>> (add,) = graph.get_operations()
    >>> add.name, add.type, len(add.inputs)
    ('add', 'add', 2)
    """

    __slots__ = (
        "_home", "attrs", "device", "inputs", "op", "origin", "outputs", "regions", "stateful", "type",
    )  # fmt: skip

    def __init__(
        self,
        op: OpDef,
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
        self._home: weakref.ref[Graph] | None = None  # set when the graph returns the operation to user code

    @property
    def name(self) -> str:
        """The unique name of the operation in its graph, after the graph has returned it to user code."""
        graph = self.graph
        if graph is not None:
            return graph.naming().operations[self]
        return self.outputs[0].name if self.outputs else self.op.name

    @property
    def graph(self) -> Graph | None:
        """The graph of the operation; None if the graph was deleted, or is still being built."""
        return None if self._home is None else self._home()

    @property
    def node_def(self) -> late_binding.NodeDef:
        """The node for the operation in `Graph.as_graph_def`."""
        graph = self.graph
        if graph is None:
            raise ValueError(f"the graph of {self!r} is gone")
        position = len(graph.inputs) + list(graph.operations).index(self)
        return graph.as_graph_def().node[position]

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the operation in a session, by default the session with an active `with` block."""
        late_binding.session_for(session, "execute operation using `run()`").run(self, feed_dict)

    @property
    def values(self) -> tuple[Value, ...]:
        """The results."""
        return self.outputs

    def get_attr(self, name: str) -> Any:
        """Return an attribute by name; ValueError if there is none."""
        if name not in self.attrs:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        return self.attrs[name]

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


_op_of = operator.attrgetter("op")
_ops_of = operator.attrgetter("ops")
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


@export("Graph")
class Graph:
    """A function over tensors as data; see the module's docstring. Equal graphs have the same text.

    >>> import agc.runtime as tf
    >>> graph = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1)).graph
    >>> [operation.type for operation in graph.get_operations()]
    ['add']
    """

    __slots__ = (
        "__weakref__", "_builder", "_is_scalar", "_live", "_naming", "inputs", "kinds", "name", "operations",
        "ops", "optimized_with", "outputs", "stateful",
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
        # For the current operations, and those of their regions and callees:
        self.stateful: bool = any(map(_is_stateful, operations))
        self.ops: frozenset[OpDef] = frozenset(map(_op_of, operations)).union(*map(_ops_of, self.regions()))
        self._is_scalar: bool | None = None
        self._live: tuple[Operation, ...] | None = None
        self._naming: late_binding.Naming | None = None
        self.kinds: Any = None  # of the operations, once they are known: see operation_kinds.py
        self.optimized_with: Any = None  # the options of the optimizer, if the graph is its result
        self._builder: Any = None  # the builder that adds to the graph, if it can grow

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a graph can be neither copied nor pickled: {self.name}. str(graph) is its text, which ir.parser.parse "
            "reads; as_graph_def() is the same as JSON"
        )

    @property
    def is_scalar(self) -> bool:
        """True if all values are scalars, also in regions and callees; passes on shapes skip such graphs."""
        found = self._is_scalar
        if found is None:
            found = _has_scalars_only(self) and all(map(_is_scalar, self.regions()))
            if type(self.operations) is tuple:  # a tuple does not grow
                self._is_scalar = found
        return found

    def regions(self) -> Iterator[Graph]:
        """Return the regions of all operations."""
        return _flat(map(_regions_of, self.operations))

    def get_operations(self) -> list[Operation]:
        """Return the operations in the order of their side effects, without those in regions."""
        for operation in self.operations:
            operation._home = weakref.ref(self)
        return list(self.operations)

    def naming(self) -> late_binding.Naming:
        """Return the unique names of the inputs and operations of this graph."""
        if self._naming is None or not self._naming.fits(self):
            self._naming = late_binding.Naming(self, {} if self._naming is None else self._naming.reserved)
        self._naming.extend(self)
        return self._naming

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the operation with this name, as in `Operation.name` and the graph's text.

        KeyError if there is none.
        """
        return self.naming().operation(self, name)

    def get_tensor_by_name(self, name: str) -> late_binding.SymbolicTensor:
        """Return the tensor of this graph with this name, such as "add:0".

        KeyError if there is none, ValueError for a name without a number.
        """
        return late_binding.SymbolicTensor(
            self.naming().value(name), self._builder or late_binding.Builder.of(self)
        )

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """Return the tensor or operation for itself or for its name. Raises KeyError if there is none.

        Raises ValueError for a tensor or an operation if `allow_tensor` or `allow_operation` excludes it.
        """
        if isinstance(obj, str):
            obj = self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)
        is_operation = isinstance(obj, Operation)
        if not is_operation and not isinstance(obj, late_binding.SymbolicTensor):
            raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation.")
        if not (allow_operation if is_operation else allow_tensor):
            kinds = ("an Operation", "a Tensor") if is_operation else ("a Tensor", "an Operation")
            raise ValueError(f"Name {obj.name!r} refers to {kinds[0]}, not {kinds[1]}.")
        return obj

    def as_default(self) -> AbstractContextManager[Graph]:
        """Return a context manager: operations in the block are added to this graph, and not computed.

        Raises RuntimeError for a graph that is complete, such as the graph of a function.
        """
        return late_binding.as_default(self)

    def finalize(self) -> None:
        """Make the graph read-only: adding an operation raises RuntimeError from now on."""
        if self._builder is not None:
            self._builder.is_final = True

    @property
    def finalized(self) -> bool:
        """True if the graph is read-only."""
        return (self._builder is None and bool(self.operations)) or getattr(self._builder, "is_final", False)

    def control_dependencies(self, control_inputs: Any) -> AbstractContextManager[None]:
        """Return a context manager: operations in the block run after `control_inputs`."""
        return late_binding.control_dependencies(control_inputs)

    def add_to_collection(self, name: str, value: Any) -> None:
        """Add a value to a collection of the graph."""
        self.get_collection_ref(name).append(value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """Return the items of a collection; with `scope`, only those with a name that starts with a match."""
        found = list(self.get_collection_ref(name))
        if scope is None:
            return found
        return [item for item in found if re.match(scope, getattr(item, "name", "\0"))]

    def get_collection_ref(self, name: str) -> list[Any]:
        """Return a collection itself, not a copy."""
        return late_binding.builder_of(self).collections.setdefault(name, [])

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Return the unique name that an operation called `name` would get, and reserve it if `mark_as_used`."""
        return self.naming().next(getattr(self._builder, "scope", "") + name, mark_as_used)

    def made_by(self, value: Value) -> Operation:
        """Return the operation that defines `value`; for an input, an operation of type `placeholder`."""
        found = next((each for each in self.get_operations() if value in each.outputs), None)
        return late_binding.placeholder_of(value) if found is None else found

    def as_graph_def(self) -> late_binding.GraphDef:
        """Return the graph in a serializable form: readable JSON, see ir/json_format.py."""
        return late_binding.GraphDef(self)

    def live_operations(self) -> tuple[Operation, ...]:
        """Return the live operations: stateful ones, and those with results that a live operation or an
        output uses.

        The others do not run: this is the "non-strict" execution of TensorFlow's user guide.
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
        if type(self.operations) is tuple:  # a tuple does not grow
            self._live = live
        return live

    def keep_live(self) -> None:
        """Note that all operations are live."""
        self._live = tuple(self.operations)

    def walk(self) -> Iterator[Operation]:
        """Yield every operation, including those in regions; those of a callee once, however often it is called."""
        pending, seen = [self], {self}
        while pending:
            for operation in pending.pop().operations:
                yield operation
                for region in operation.regions:
                    if region not in seen:
                        seen.add(region)
                        pending.append(region)

    @property
    def variables(self) -> tuple[Value, ...]:
        """The inputs that are references to variables."""
        return tuple(value for value in self.inputs if isinstance(value.spec, VariableType))

    def __str__(self) -> str:
        return late_binding.print_graph(self).rstrip("\n")

    @property
    def signature(self) -> str:
        """The first line of the text: the name, the inputs and the types of the results."""
        return str(self).partition("\n")[0].removeprefix("graph ")

    def _repr_html_(self) -> str:
        from ..core.html_repr import folded_html, text_html

        return folded_html(self.signature, text_html(str(self)), is_open=len(self.operations) < 60)

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {len(self.inputs)} inputs, {len(self.operations)} operations>"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Graph) else NotImplemented

    __hash__ = object.__hash__
