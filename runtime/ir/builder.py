"""Graph builders: a stack of builders, each of which records the operations of one function or region.

    with Builder("body", parent) as body:      # operations that are called now go to `body`
        ...
    graph = body.finish(outputs)

If a tensor of an outer builder is used inside, it is *captured*: it becomes an input of the inner graph. The
outer value is stored in `body.captures`, and becomes an operand of the operation that owns the region. So
regions are closed by construction. Variables are captured in the same way, by reference.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from agc.autograph import staging
from agc.autograph.api import Diagnostic, Note, Where, running

from .. import errors
from ..core.devices import wanted
from ..core.fast_path_guard import FastPathBlocker, block_fast_path, busy, found_recorders
from ..core.symbolic_tensor import KnownTensor, SymbolicArray, SymbolicTensor
from ..core.tensor import EagerTensor
from ..core.user_lines import name_line
from .graph import Constant, Graph, Operand, Operation, Value
from .op_def import OpDef
from .source_location import Call, Origin, user_call
from .value_types import AnySpec, TensorType

if TYPE_CHECKING:
    from .tensor_placeholders import TensorPlaceholders


class Recorder(Protocol):
    """The interface of gradient tapes: callbacks for operations as they are executed or recorded."""

    def computed(
        self, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], outputs: Sequence[Any]
    ) -> None:
        """Record an operation that was executed eagerly."""

    def added(self, operation: Operation, builder: Builder) -> None:
        """Record an operation that was added to the graph of `builder`."""

    def grown(self, operation: Operation, added: Sequence[Value]) -> None:
        """Record that outputs were added to an operation of a graph, for its gradient."""


class _Bottom:
    builder: Builder | None = None


_bottom = _Bottom()  # for all threads: the builder that records operations outside of all blocks


class _Stack(threading.local):
    def __init__(self) -> None:
        self.builders: list[Builder | None] = [_bottom.builder]
        self.recorders: list[Recorder] = []
        self.replica: Hashable = None  # the replica of a strategy that this thread runs
        self.eager = True  # no graph is being built: the first check of eager calls
        self.plain = True  # there is no recorder either
        self.building = False  # whether a graph is being built
        self.mark = FastPathBlocker()
        self.settle()

    def push(self, builder: Builder | None) -> None:
        self.builders.append(builder)
        self.settle()

    def pop(self) -> None:
        self.builders.pop()
        self.settle()

    def settle(self) -> None:
        building = self.builders[-1] is not None
        if building is not self.building:
            self.building = building
            staging.building(building)
        self.eager = not building and self.replica is None
        self.eager_recorders = self.recorders if self.eager else None  # one look-up for the C extension
        found_recorders.clear()
        self.settle_recorders()

    def settle_recorders(self) -> None:
        plain = self.eager and not self.recorders
        if plain is not self.plain:
            self.plain = plain
            if plain:
                busy.remove(self.mark.sign)
            else:
                busy.append(self.mark.sign)


stack = _Stack()
"""The builders and recorders of this thread. Hot paths read `stack.eager` and `stack.plain` directly."""


def bottom() -> Builder | None:
    """Return the builder that records operations outside of all blocks; None if they run eagerly."""
    return _bottom.builder


def set_bottom(builder: Builder | None) -> None:
    """Let a builder record operations outside of all blocks, in this thread and new ones."""
    _bottom.builder = builder
    block_fast_path("a graph for what no block claims", builder is not None)
    stack.builders[0] = builder
    stack.settle()


def current() -> Builder | None:
    """Return the builder that records operations in this thread; None if they run eagerly."""
    return stack.builders[-1]


def is_plain() -> bool:
    """Return whether operations run eagerly, and there is no recorder."""
    return stack.plain


def recorders() -> list[Recorder]:
    """Return the recorders of this thread, the innermost last."""
    return stack.recorders


def start_recording(recorder: Recorder) -> None:
    stack.recorders.append(recorder)
    stack.settle_recorders()


def stop_recording(recorder: Recorder) -> None:
    recorders = stack.recorders
    recorders[:] = [other for other in recorders if other is not recorder]
    stack.settle_recorders()


@contextlib.contextmanager
def recording_by(recorders: Sequence[Recorder]) -> Iterator[None]:
    """Replace all recorders by `recorders` in the `with` block."""
    before = list(stack.recorders)
    try:  # around all changes, which Ctrl-C may interrupt
        stack.recorders[:] = recorders
        stack.settle()
        yield
    finally:
        stack.recorders[:] = before
        stack.settle()


class Builder:
    """The builder of one graph. It can capture tensors of the enclosing builder `parent`.

    A region captures variables through its parent; the graph of a function captures them itself.
    """

    executor = "plan"  # which will run the graph of a function
    keeps_constants = False  # whether `tf.constant` adds an operation to the graph

    def __init__(self, name: str, parent: Builder | None = None, is_function: bool = False) -> None:
        self.name = name
        self.parent = parent
        self.is_function = is_function or parent is None
        self.inputs: list[Value] = []
        self.operations: list[Operation] = []
        self.captures: dict[Hashable, Value] = {}
        self.outers: dict[Value, Hashable] = {}  # by captured input, the outer value or reference
        self._discarded: set[Value] = set()
        self._named: tuple[tuple[int, int], str] | None = None  # the call site that named the newest value
        self.make_variable: Callable[..., Any] | None = None  # set while variables may be created
        self.root: Builder = self if parent is None else parent.root
        self._graph: Graph | None = None
        # Gradient functions of operations whose regions have none: see autodiff/traced_gradient.py.
        self.untraced: dict[Operation, Callable[[list[Any]], Sequence[Any]]] = {}
        if parent is None:
            # State of a trace as a whole:
            self.entered: FrameType | None = None  # the frame that started the trace
            self.shown_texts: TensorPlaceholders | None = None
            self.refusals: list[Exception] = []  # errors to raise at the end, if they were not raised before
            self.cleaning: set[tuple[str, range]] = set()  # `finally` blocks that run when a branch fails
            self.watch: Callable[[OpDef], None] | None = None  # called before each stateful operation
            self.scope = ""  # the prefix of names: see name_scopes.py
            self.scope_counts: dict[str, int] = {}
            self.stand_ins: dict[int, tuple[Any, SymbolicTensor]] = {}  # for known arrays that a tape watches

    @classmethod
    def of(cls, graph: Graph) -> Builder:
        """Return a builder for a finished graph, which owns the tensors for the graph's values."""
        builder = cls(graph.name)
        builder.inputs, builder.operations = list(graph.inputs), list(graph.operations)
        builder._graph = graph
        return builder

    @property
    def graph(self) -> Graph:
        """The graph, as far as it is built."""
        if self._graph is None:
            self._graph = Graph(self.name, self.inputs, self.operations, ())
        return self._graph

    @property
    def shown(self) -> TensorPlaceholders:
        """The placeholder texts for tensors of this trace."""
        from .tensor_placeholders import TensorPlaceholders  # few programs print tensors during a trace

        root = self.root
        if root.shown_texts is None:
            root.shown_texts = TensorPlaceholders()
        return root.shown_texts

    def __enter__(self) -> Builder:
        if self.parent is None:
            self.entered = sys._getframe(1)
        stack.push(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stack.pop()
        if self.parent is None:
            self.entered = None
        if error is not None:
            name_line(error, trace)

    def input(self, name: str, spec: AnySpec) -> Value:
        """Add an input to the graph, and return it."""
        value = Value(name, spec)
        self.inputs.append(value)
        return value

    @property
    def function(self) -> Builder:
        """The builder of the enclosing function's graph, or this builder if it builds a function."""
        builder = self
        while not builder.is_function and builder.parent is not None:
            builder = builder.parent
        return builder

    def in_function(self) -> bool:
        """Return whether this builds the graph of a function or a region in one, not the outermost graph."""
        return self.function is not self.root

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise errors.InternalError(
            "constants and control dependencies belong to graphs for sessions; this graph keeps the program's order"
        )

    constant = operations_of = after = no_op = _refuse

    def input_tensor(self, name: str, spec: TensorType) -> SymbolicTensor:
        return SymbolicTensor(self.input(name, spec), self)

    def operand(self, argument: Any) -> Operand:
        """Return the operand for a tensor, the state of a TensorArray, or a variable.

        The operand is a value of this graph, a captured value, or a constant.
        """
        if type(argument) is SymbolicTensor:  # the most frequent case
            if argument._builder is self:
                return argument._value
            return self.captured(argument._value, argument._builder)
        if isinstance(argument, (SymbolicTensor, SymbolicArray)):
            if type(argument) is KnownTensor:
                return Constant(argument._array)
            return self.captured(argument._value, argument._builder)
        if isinstance(argument, EagerTensor):
            stand_in = self.stand_in(argument) if self.root.stand_ins else None
            return Constant(argument._array, argument) if stand_in is None else self.operand(stand_in)
        return self.captured_variable(argument)

    def stand_in(self, tensor: EagerTensor) -> SymbolicTensor | None:
        """Return the value in the graph for a known tensor that a tape watches; None if there is none."""
        found = self.root.stand_ins.get(id(tensor._array))
        return found[1] if found is not None and self.is_inside(found[1]._builder) else None

    def outermost(self, value: Value) -> tuple[Hashable, Builder]:
        """Return the outermost value or variable reference that a value captures, and its builder."""
        outer = self.outers.get(value)
        if outer is None:
            return value, self
        if not isinstance(outer, Value):
            return outer, self
        assert self.parent is not None
        return self.parent.outermost(outer)

    def captured(self, value: Value, owner: Builder) -> Value:
        """Return the input that captures `value`, which belongs to the enclosing builder `owner`."""
        if owner is self:
            return value
        found = self.captures.get(value)
        if found is not None:
            return found
        if self.parent is None:
            raise owner.out_of_reach(value, f"`{self.name}` uses")
        outer = self.parent.captured(value, owner)
        return self._capture(outer, value.name, value.spec, also=value)

    def origin_of(self, value: Value) -> Origin | None:
        """Return the source line of a value of this graph; None for inputs."""
        return next((op.origin for op in reversed(self.operations) if value in op.outputs), None)

    def is_over(self) -> bool:
        """Return whether the function's trace has ended, so that its tensors get no value any more."""
        return not self.root.keeps_constants and all(
            builder is None or builder.root is not self.root for builder in stack.builders
        )

    def is_out_of_reach(self, tensor: SymbolicTensor) -> bool:
        """Return whether this graph cannot use `tensor`, since the tensor's graph does not enclose it."""
        return type(tensor) is not KnownTensor and not self.is_inside(tensor._builder)

    def out_of_reach(self, value: Value, use: str) -> errors.InaccessibleTensorError:
        """Return the error for a value of this graph outside of it; `use` is a verb phrase before "a traced tensor"."""
        made, name = self.origin_of(value), f"`{self.function.name}`"
        where = None if made is None else Where(made.filename, made.line, function=made.function)
        place = name if self.is_function else f"a branch or loop of {name}"
        return errors.InaccessibleTensorError(
            Diagnostic(
                "AGC283",
                f"`{value.name}` ({value.spec}) is used outside of {place}, whose graph computes it",
                running(),
                notes=() if where is None else (Note(where, "made here"),),
                why=f"{use} a traced tensor, which has a value only in its own graph",
                fix=f"return it from {name}, and use the returned tensor; an attribute or global variable "
                "that a staged block changes belongs in a tf.Variable, and items that it appends to a list in a "
                "tf.TensorArray",
            )
        )

    def captured_variable(self, variable: Any) -> Value:
        """Return the input that captures `variable`."""
        reference = variable.ref()
        found = self.captures.get(reference)
        if found is not None:
            return found
        if self.is_function:
            return self._capture(reference, variable.short_name, variable.spec)
        assert self.parent is not None
        outer = self.parent.captured_variable(variable)
        return self._capture(outer, variable.short_name, variable.spec, also=reference)

    def is_inside(self, owner: Builder) -> bool:
        """Return whether this is `owner`, or builds a region or function inside of it."""
        builder: Builder | None = self
        while builder is not None and builder is not owner:
            builder = builder.parent
        return builder is owner

    def _capture(self, outer: Hashable, name: str, spec: AnySpec, also: Hashable = None) -> Value:
        value = self.captures.get(outer) or self.input(name, spec)
        if isinstance(outer, Value):
            value.elements = outer.elements
        self.capture_as(value, outer)
        if also is not None:
            self.captures[also] = value
        return value

    def capture_as(self, value: Value, outer: Hashable) -> None:
        """Record that an input captures an outer value or reference."""
        self.captures[outer] = value
        self.outers.setdefault(value, outer)

    def input_for(self, outer: Hashable) -> Value:
        """Return the input that captures an outer value, and add it if there is none."""
        found = self.captures.get(outer)
        if found is None:
            assert isinstance(outer, Value)
            found = self._capture(outer, outer.name, outer.spec)
        return found

    def captured_outer(self) -> list[Hashable]:
        """Return the outer values and references of the captured inputs, in the order of these inputs."""
        return [self.outers[value] for value in self.inputs if value in self.outers]

    def add(
        self,
        op: OpDef,
        inputs: Sequence[Operand],
        attrs: Mapping[str, Any],
        specs: Sequence[AnySpec],
        regions: tuple[Graph, ...] = (),
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Record one operation; `names` are name hints for its outputs."""
        if op.stateful and self.root.watch is not None:
            self.root.watch(op)
        call = user_call()
        requested_names = names or self._name_hints(op, call, len(specs))
        if self.root.scope:
            requested_names = [self.root.scope + requested_name for requested_name in requested_names]
        outputs = tuple(map(Value, requested_names, specs))
        origin = None if call is None else call.origin
        operation = Operation(op, tuple(inputs), attrs, outputs, regions, origin, wanted())
        self.operations.append(operation)
        for recorder in stack.recorders:
            recorder.added(operation, self)
        return outputs

    def _name_hints(self, op: OpDef, call: Call | None, count: int) -> Sequence[str]:
        """Return name hints for the outputs.

        This is the variable of user code for the last operation of a call with an assigned result. All others
        have the name of the operation.
        """
        if call is None or call.name is None or count != 1:
            return (op.name,) * count
        if not call.is_direct:
            if self._named is not None and self._named[0] == call.site and self.operations:
                previous = self.operations[-1]
                for value in previous.outputs:
                    value.name = self.root.scope + previous.op.name
            self._named = (call.site, call.name)
        return (call.name,)

    def discard(self, tensor: Any) -> None:
        """Mark the operations that compute `tensor` for removal, unless something else uses their results."""
        value = getattr(tensor, "_value", None)
        if value is not None:
            self._discarded.add(value)

    def finish(self, outputs: Sequence[Operand], inputs: Sequence[Value] | None = None) -> Graph:
        """Return the graph with these outputs; `inputs` may reorder the inputs."""
        kept = self._kept_operations(outputs) if self._discarded else self.operations
        return Graph(self.name, tuple(self.inputs if inputs is None else inputs), tuple(kept), tuple(outputs))

    def _kept_operations(self, outputs: Sequence[Operand]) -> list[Operation]:
        uses = Counter(operand for operation in self.operations for operand in operation.inputs)
        uses.update(outputs)
        unwanted = set(self._discarded)
        kept = []
        for operation in reversed(self.operations):
            read = any(uses[value] for value in operation.outputs)
            if read or operation.stateful or unwanted.isdisjoint(operation.outputs):
                kept.append(operation)
                continue
            uses.subtract(operation.inputs)
            unwanted.update(operand for operand in operation.inputs if isinstance(operand, Value))
        return kept[::-1]


class eagerly:  # noqa: N801  (used like a function: `with eagerly():`)
    """A block in which operations run eagerly, even while a graph is being built."""

    def __enter__(self) -> None:
        stack.push(None)

    def __exit__(self, *exception: object) -> None:
        stack.pop()
