"""`Session`: runs the requested parts of a graph, and holds the values of its variables.

fetches, feeds  →  the needed operations, as a separate graph  →  plan  →  arrays
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from ... import nest
from ...composite import components
from ...core import shapes
from ...core.conversion import to_array
from ...core.symbolic_tensor import SymbolicTensor
from ...core.tensor import EagerTensor, Reference, Tensor
from ...core.variable import Variable
from ...executors import EXECUTORS, Runner
from ...ir.builder import eagerly
from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.value_types import TensorType, VariableType
from ...ops.arrays.placeholder import const
from .graph_builder import GraphBuilder, as_default, builder_of, get_default_graph
from .variable_store import SessionVariable

MOST_PLANS = 1_000


class _Sessions(threading.local):
    def __init__(self) -> None:
        self.open: list[Session] = []


_sessions = _Sessions()


def get_default_session() -> Session | None:
    """Return the innermost session whose `with` block is active in this thread."""
    return _sessions.open[-1] if _sessions.open else None


class _Part(NamedTuple):
    """An executable part of the graph: its variables, and its runner."""

    references: list[Any]
    run: Runner


class Session:
    """Runs a graph.

    Args:
        target: the machine; "" for this process. ValueError for other machines.
        graph: a `tf.Graph`; the default graph when None.
        config: accepted, no effect.

    >>> from agc.runtime import Graph, constant
    >>> with Graph().as_default() as graph:
    ...     y = constant(2) * 3
    >>> with Session(graph=graph) as session:
    ...     session.run(y)
    np.int32(6)
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if target:
            raise ValueError(f"this runtime cannot connect to other machines: target {target!r}")
        self.graph = get_default_graph() if graph is None else graph
        self.sess_str = target
        self._builder: GraphBuilder = builder_of(self.graph)
        self._cells: dict[Reference, SessionVariable] = {}
        self._parts: dict[Any, _Part] = {}
        self._is_open = True
        self._blocks: list[Any] = []
        self._lock = threading.RLock()

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Return the values of the fetches in their structure: arrays for tensors and variables, None for operations.

        Args:
            fetches: a tensor, variable, operation, or name of one, or a nest of these.
            feed_dict: the values of placeholders, or other tensors, for this run.

        Raises RuntimeError when the session is closed, ValueError or TypeError for a value that does not belong to
        the graph or does not fit. Raises InvalidArgumentError for a placeholder that is needed and not fed.
        """
        if not self._is_open:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self.graph.operations and not self.graph.inputs:
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )
        leaves = [self._fetched(leaf) for leaf in nest.flatten(fetches, expand_composites=True)]
        feeds = self._fed(feed_dict or {})
        with self._lock:
            part = self._part(tuple(leaves), tuple(feeds))
            cells = [self._cell(reference) for reference in part.references]
            with eagerly():
                results = iter(part.run([*feeds.values(), *cells]))
            values = [None if isinstance(leaf, Operation) else _value(next(results)) for leaf in leaves]
        return _packed(fetches, values)

    def _fetched(self, leaf: Any) -> Any:
        """Return the graph's form of a fetch: an operand, an operation, or a variable's reference."""
        if isinstance(leaf, str):
            leaf = self.graph.as_graph_element(leaf)
        if isinstance(leaf, Variable):
            return (
                self._builder.captured_variable(leaf)
                if getattr(leaf, "_owner", None) is self._builder
                else self._refused(leaf)
            )
        if isinstance(leaf, EagerTensor):
            return Constant(leaf._array)
        if isinstance(leaf, SymbolicTensor):
            return leaf._value if leaf._builder is self._builder else self._refused(leaf)
        if isinstance(leaf, Operation):
            return leaf if leaf in self.graph.naming().operations else self._refused(leaf)
        raise TypeError(
            f"Fetch argument {leaf!r} has invalid type {type(leaf)}, must be a string or Tensor. (Can not convert a "
            f"{type(leaf).__name__} into a Tensor or Operation.)"
        )

    def _refused(self, leaf: Any) -> Any:
        raise ValueError(
            f"Fetch argument {leaf!r} cannot be interpreted as a Tensor. (It is not an element of this graph.)"
        )

    def _fed(self, feed_dict: Mapping[Any, Any]) -> dict[Value, Any]:
        feeds: dict[Value, Any] = {}
        for key, given in feed_dict.items():
            target = key.deref() if isinstance(key, Reference) else key
            target = self.graph.as_graph_element(target) if isinstance(target, str) else target
            for tensor, value in _pairs(target, given):
                fed = self._target(tensor)
                feeds[fed] = _array_for(tensor, value)
        return feeds

    def _target(self, tensor: Any) -> Value:
        if not isinstance(tensor, SymbolicTensor) or tensor._builder is not self._builder:
            raise TypeError(
                f"Cannot interpret feed_dict key as Tensor: {tensor!r} is not an element of this graph."
            )
        if tensor.op.op is const:
            raise ValueError(
                f"{tensor.name} is a constant, and cannot be fed: make it a placeholder_with_default"
            )
        value: Value = tensor._value
        return value

    def _part(self, fetches: tuple[Any, ...], feeds: tuple[Value, ...]) -> _Part:
        key = (fetches, feeds)
        found = self._parts.get(key)
        if found is None:
            if len(self._parts) >= MOST_PLANS:
                self._parts.clear()
            found = self._parts[key] = self._made(fetches, feeds)
        return found

    def _made(self, fetches: Sequence[Any], feeds: tuple[Value, ...]) -> _Part:
        outputs: list[Operand] = [leaf for leaf in fetches if not isinstance(leaf, Operation)]
        operations = self._needed(fetches, set(feeds))
        used = {operand for operation in operations for operand in operation.inputs}.union(outputs)
        references = [value for value in self._builder.inputs if value in used and value not in feeds]
        outer = dict(zip(self._builder.inputs, self._builder.captured_outer(), strict=True))
        # A fetched variable is read at the end, after its assignments.
        read, results = _with_reads(outputs)
        graph = Graph("run", (*feeds, *references), (*operations, *read), tuple(results))
        return _Part([outer[value] for value in references], EXECUTORS["plan"](graph))

    def _needed(self, fetches: Sequence[Any], fed: set[Value]) -> list[Operation]:
        """Return the operations that the fetches need, in graph order, without those that only compute fed values."""
        made_by = {value: operation for operation in self.graph.operations for value in operation.outputs}
        pending: list[Operation] = []
        for leaf in fetches:
            if isinstance(leaf, Operation):
                pending.append(leaf)
            elif leaf in made_by and leaf not in fed:
                pending.append(made_by[leaf])
        needed: set[Operation] = set()
        while pending:
            operation = pending.pop()
            if operation in needed or (operation.outputs and fed.issuperset(operation.outputs)):
                continue
            clash = fed.intersection(operation.outputs)
            if clash:
                raise ValueError(
                    f"some results of {operation.name!r} are fed, and others are needed: feed all of them"
                )
            needed.add(operation)
            pending += [made_by[x] for x in operation.inputs if x in made_by and x not in fed]
            pending += self._builder.controls.get(operation, ())
        return [operation for operation in self.graph.operations if operation in needed]

    def _cell(self, reference: Reference) -> Any:
        """Return the holder of a variable's value: this session's cell, unless the variable has a value of its own."""
        if reference.deref()._owner is None:
            return reference.deref()
        found = self._cells.get(reference)
        if found is None:
            found = self._cells[reference] = SessionVariable(reference.deref())
        return found

    def load(self, variable: Variable, value: Any) -> None:
        """Assign a variable's value in this session."""
        self._cell(variable.ref()).fill(variable.fitting(value))

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None) -> Callable[..., Any]:
        """Return a function of the values of `feed_list` that runs the fetches."""
        keys = [key.ref() if isinstance(key, Tensor) else key for key in feed_list or ()]
        return lambda *values: self.run(fetches, dict(zip(keys, values, strict=True)))

    def as_default(self) -> _AsDefault:
        """Return a block in which `tensor.eval()` and `operation.run()` use this session."""
        return _AsDefault(self, False)

    def __enter__(self) -> Session:
        block = _AsDefault(self, True)
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._blocks.pop().__exit__(kind, error, trace)
        self.close()

    def close(self) -> None:
        """Release the values of the variables; the session cannot run again."""
        self._is_open = False
        self._cells.clear()
        self._parts.clear()

    def list_devices(self) -> list[Any]:
        """Return the session's devices: those of `tf.config.list_logical_devices`."""
        from ...config.devices import list_logical_devices

        return list(list_logical_devices())


class InteractiveSession(Session):
    """A session that is the default one, with its graph, from its creation until it is closed."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._block = _AsDefault(self, True)
        self._block.__enter__()

    def close(self) -> None:
        """Close the session, and restore the previous default."""
        if self._is_open:
            self._block.__exit__(None, None, None)
        super().close()


class _AsDefault:
    def __init__(self, session: Session, with_graph: bool) -> None:
        self.session = session
        self.graph = as_default(session.graph) if with_graph else None

    def __enter__(self) -> Session:
        _sessions.open.append(self.session)
        if self.graph is not None:
            self.graph.__enter__()
        return self.session

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.graph is not None:
            self.graph.__exit__(kind, error, trace)
        _sessions.open.remove(self.session)


def session_for(given: Session | None, what: str) -> Session:
    """Return the given session, or the default one. Raises ValueError when there is none."""
    found = given or get_default_session()
    if found is None:
        raise ValueError(
            f"Cannot {what}: No default session is registered. Use `with sess.as_default()` or pass an explicit "
            f"session to `{what.split(' using ')[-1].strip('`()')}(session=sess)`"
        )
    return found


def _with_reads(outputs: list[Operand]) -> tuple[list[Operation], list[Operand]]:
    from ...ops.state.variable_ops import read_variable

    reads, results = [], []
    for operand in outputs:
        if isinstance(operand.spec, VariableType):
            value = Value("read", operand.spec.content)
            reads.append(Operation(read_variable, (operand,), {}, (value,)))
            operand = value
        results.append(operand)
    return reads, results


def _value(result: Any) -> Any:
    array = np.array(result)
    return array if array.ndim else array[()]


def _packed(fetches: Any, values: list[Any]) -> Any:
    """Pack the values in the structure of the fetches; components of composite tensors become arrays."""
    return nest.pack_sequence_as(fetches, values, expand_composites=True)


def _pairs(target: Any, given: Any) -> list[tuple[Any, Any]]:
    """Return the tensors of a feed_dict key and their values: several for a tuple or a composite tensor."""
    if nest.is_composite(target):
        wanted = components.flatten(target)
        is_split = isinstance(given, tuple) and len(given) == len(wanted)
        return list(zip(wanted, given if is_split else components.flatten(given), strict=True))
    if isinstance(target, (tuple, list)):
        return list(zip(nest.flatten(target), nest.flatten(given), strict=True))
    return [(target, given)]


def _array_for(tensor: Any, given: Any) -> Any:
    if isinstance(given, SymbolicTensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
            f"strings, lists, numpy ndarrays. For reference, the tensor object was {given} which was passed to the "
            f"feed with key {tensor}."
        )
    spec = TensorType(tensor.dtype, tensor.shape.sizes)
    source = given._array if isinstance(given, EagerTensor) else given
    try:
        array = to_array(source, tensor.dtype)
    except TypeError:
        array = np.asarray(source).astype(spec.dtype.numpy_dtype)  # round numbers, as TensorFlow does
    if not shapes.compatible(spec.shape, array.shape):
        raise ValueError(
            f"Cannot feed value of shape {shapes.show(array.shape)} for Tensor {tensor.name}, which has shape "
            f"{shapes.show(spec.shape)}"
        )
    return array
