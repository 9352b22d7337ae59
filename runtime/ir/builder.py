"""Building graphs: a stack of builders, each of which records the operations of one function or region.

    with Builder("body", parent) as body:      # operations that are called now go to `body`
        ...
    graph = body.finish(outputs)

A tensor of an outer builder that is used inside is *captured*: it becomes an input of the inner graph, and the
outer value stands in `body.captures`, to be passed in by the operation that owns the region. So regions are
closed by construction. Variables are captured in the same way, by reference.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from .. import errors
from ..core.devices import wanted
from ..core.fast_path_guard import FastPathBlocker, block_fast_path, busy
from ..core.tensor import EagerTensor, KnownTensor, SymbolicArray, SymbolicTensor
from .graph import Constant, Graph, Operand, Operation, Value
from .source_location import Call, Origin, user_call
from .value_types import AnySpec, TensorType

if TYPE_CHECKING:
    from ..ops.framework.op import Op
    from .tensor_placeholders import TensorPlaceholders


class Recorder(Protocol):
    """What is told of operations as they happen: a gradient tape."""

    def computed(
        self, op: Op, inputs: Sequence[Any], attrs: Mapping[str, Any], outputs: Sequence[Any]
    ) -> None:
        """An operation ran at once."""

    def added(self, operation: Operation, builder: Builder) -> None:
        """An operation became part of the graph that `builder` builds."""

    def grown(self, operation: Operation, added: Sequence[Value]) -> None:
        """An operation of a graph was given more outputs, for a way back through it."""


class _Bottom:
    builder: Builder | None = None


_bottom = _Bottom()  # of all threads: what records operations that no block claims


class _Stack(threading.local):
    def __init__(self) -> None:
        self.builders: list[Builder | None] = [_bottom.builder]
        self.recorders: list[Recorder] = []
        self.plain = True  # no graph is being built, and nobody records: what eager calls ask first
        self.mark = FastPathBlocker()
        self.settle()

    def push(self, builder: Builder | None) -> None:
        self.builders.append(builder)
        self.settle()

    def pop(self) -> None:
        self.builders.pop()
        self.settle()

    def settle(self) -> None:
        plain = self.builders[-1] is None and not self.recorders
        if plain is not self.plain:
            self.plain = plain
            if plain:
                busy.remove(self.mark.sign)
            else:
                busy.append(self.mark.sign)


stack = _Stack()
"""What this thread records: calls that must be fast read `stack.plain` themselves."""


def bottom() -> Builder | None:
    """What records the operations that no block claims; None when they run at once."""
    return _bottom.builder


def set_bottom(builder: Builder | None) -> None:
    """Let a builder record the operations that no block claims, in this thread and new ones."""
    _bottom.builder = builder
    block_fast_path("a graph for what no block claims", builder is not None)
    stack.builders[0] = builder
    stack.settle()


def current() -> Builder | None:
    """The builder that records operations in this thread; None when they run at once."""
    return stack.builders[-1]


def is_plain() -> bool:
    """Whether operations run at once, and nobody wants to know."""
    return stack.plain


def recorders() -> list[Recorder]:
    """Those that record operations in this thread, the innermost last."""
    return stack.recorders


def start_recording(recorder: Recorder) -> None:
    stack.recorders.append(recorder)
    stack.settle()


def stop_recording(recorder: Recorder) -> None:
    stack.recorders[:] = [other for other in stack.recorders if other is not recorder]
    stack.settle()


@contextlib.contextmanager
def recording_by(recorders: Sequence[Recorder]) -> Iterator[None]:
    """Nobody but these records in the `with` block."""
    before = list(stack.recorders)
    stack.recorders[:] = recorders
    stack.settle()
    try:
        yield
    finally:
        stack.recorders[:] = before
        stack.settle()


class Builder:
    """Records one graph. `parent` is the builder around it, whose tensors may be captured.

    A region refers to variables through its parent; the graph of a function holds on to them by itself.
    """

    keeps_constants = False  # whether what `tf.constant` makes is an operation of the graph

    def __init__(self, name: str, parent: Builder | None = None, is_function: bool = False) -> None:
        self.name = name
        self.parent = parent
        self.is_function = is_function or parent is None
        self.inputs: list[Value] = []
        self.operations: list[Operation] = []
        self.captures: dict[Hashable, Value] = {}
        self.outers: dict[Value, Hashable] = {}  # what the inputs stand for that are captured
        self._discarded: set[Value] = set()
        self._named: tuple[tuple[int, int], str] | None = None  # the call that gave the newest value its name
        self.make_variable: Callable[..., Any] | None = None  # set while variables may be made
        self.root: Builder = self if parent is None else parent.root
        self._graph: Graph | None = None
        if parent is None:
            # What belongs to a trace as a whole:
            self.entered: FrameType | None = None  # who started it
            self.shown_texts: TensorPlaceholders | None = None
            self.refusals: list[Exception] = []  # errors to be raised at its end, if they were not before
            self.cleaning: set[tuple[str, range]] = set()  # `finally` blocks that a failing branch passes
            self.watch: Callable[[Op], None] | None = None  # asked before each operation with effects
            self.scope = ""  # what names begin with: see name_scopes.py
            self.scope_counts: dict[str, int] = {}
            self.stand_ins: dict[int, tuple[Any, SymbolicTensor]] = {}  # for known arrays that a tape watches

    @classmethod
    def of(cls, graph: Graph) -> Builder:
        """A builder that stands for a finished graph: the owner of tensors that show its values."""
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
        """The texts that stand for tensors of this trace."""
        from .tensor_placeholders import (
            TensorPlaceholders,  # when first used: few programs show tensors while they are traced
        )

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

    def input(self, name: str, spec: AnySpec) -> Value:
        """A new input of the graph."""
        value = Value(name, spec)
        self.inputs.append(value)
        return value

    @property
    def function(self) -> Builder:
        """The builder of the function's graph that this builds a region of, or this one."""
        builder = self
        while not builder.is_function and builder.parent is not None:
            builder = builder.parent
        return builder

    def in_function(self) -> bool:
        """Whether this builds the graph of a function, or a region in one, and not the outermost graph."""
        return self.function is not self.root

    def constant(self, tensor: EagerTensor, name: str | None) -> Any:
        """A known tensor as an operation, in a graph that keeps them."""
        raise errors.InternalError("this graph keeps no constants")

    def operations_of(self, items: Any) -> list[Operation]:
        """The operations that are meant, in a graph for sessions."""
        raise errors.InternalError("the order of this graph is that of the program")

    def after(self, before: Sequence[Operation] | None) -> AbstractContextManager[None]:
        """A block whose operations bring others along, in a graph for sessions."""
        raise errors.InternalError("the order of this graph is that of the program")

    def no_op(self, before: Sequence[Operation], name: str | None = None) -> Operation:
        """An operation that brings others along, in a graph for sessions."""
        raise errors.InternalError("the order of this graph is that of the program")

    def input_tensor(self, name: str, spec: TensorType) -> SymbolicTensor:
        return SymbolicTensor(self.input(name, spec), self)

    def operand(self, argument: Any) -> Operand:
        """How this graph refers to a tensor, the state of a TensorArray, or a variable.

        That is its own value, a captured one, or a constant.
        """
        if type(argument) is SymbolicTensor:  # as most are
            if argument._builder is self:
                return argument._value
            return self.captured(argument._value, argument._builder)
        if isinstance(argument, (SymbolicTensor, SymbolicArray)):
            if type(argument) is KnownTensor:
                return Constant(argument._array)
            return self.captured(argument._value, argument._builder)
        if isinstance(argument, EagerTensor):
            stand_in = self.stand_in(argument) if self.root.stand_ins else None
            return Constant(argument._array) if stand_in is None else self.operand(stand_in)
        return self.captured_variable(argument)

    def stand_in(self, tensor: EagerTensor) -> SymbolicTensor | None:
        """The value of the graph that a known tensor is, if a tape watches it."""
        found = self.root.stand_ins.get(id(tensor._array))
        return found[1] if found is not None and self._inside(found[1]._builder) else None

    def outermost(self, value: Value) -> tuple[Hashable, Builder]:
        """What a value stands for, where that was made: a value, or the Reference to a variable."""
        outer = self.outers.get(value)
        if outer is None:
            return value, self
        if not isinstance(outer, Value):
            return outer, self
        assert self.parent is not None
        return self.parent.outermost(outer)

    def captured(self, value: Value, owner: Builder) -> Value:
        """The input that stands for `value`, which the surrounding builder `owner` makes."""
        if owner is self:
            return value
        found = self.captures.get(value)
        if found is not None:
            return found
        if self.parent is None:
            raise errors.InaccessibleTensorError(owner.out_of_reach(value, f"`{self.name}`"))
        outer = self.parent.captured(value, owner)
        return self._capture(outer, value.name, value.spec, also=value)

    def origin_of(self, value: Value) -> Origin | None:
        """The line that a value of this graph comes from; None for its inputs."""
        return next((op.origin for op in reversed(self.operations) if value in op.outputs), None)

    def is_over(self) -> bool:
        """Whether the function that this belongs to has been traced: what it made gets no value any more."""
        return not self.root.keeps_constants and all(
            builder is None or builder.root is not self.root for builder in stack.builders
        )

    def is_out_of_reach(self, tensor: SymbolicTensor) -> bool:
        """Whether this graph cannot use a tensor, which was made in a graph that it does not stand in."""
        return type(tensor) is not KnownTensor and not self._inside(tensor._builder)

    def out_of_reach(self, value: Value, user: str = "eager code") -> str:
        """What to say of a value of this graph that `user`, which is not inside of it, wants to read."""
        made = self.origin_of(value)
        place = f" at {made}" if made is not None else ""
        return (
            f"`{value.name}` ({value.spec}) was made in `{self.name}`{place}, which is out of reach of {user}. "
            "Return it from the function or block that makes it, and use the returned tensor. (A Python list that "
            "a staged loop appends to is filled once, while tracing: collect values in a tf.TensorArray.)"
        )

    def captured_variable(self, variable: Any) -> Value:
        """The input that refers to `variable`."""
        reference = variable.ref()
        found = self.captures.get(reference)
        if found is not None:
            return found
        if self.is_function:
            return self._capture(reference, variable.short_name, variable.spec)
        assert self.parent is not None
        outer = self.parent.captured_variable(variable)
        return self._capture(outer, variable.short_name, variable.spec, also=reference)

    def _inside(self, owner: Builder) -> bool:
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
        """Let an input stand for something of the surroundings."""
        self.captures[outer] = value
        self.outers.setdefault(value, outer)

    def input_for(self, outer: Hashable) -> Value:
        """The input that stands for something of the surroundings, captured now if it is not yet."""
        found = self.captures.get(outer)
        if found is None:
            assert isinstance(outer, Value)
            found = self._capture(outer, outer.name, outer.spec)
        return found

    def captured_outer(self) -> list[Hashable]:
        """What the surroundings must pass in for the captured inputs, in the order of those inputs."""
        return [self.outers[value] for value in self.inputs if value in self.outers]

    def add(
        self,
        op: Op,
        inputs: Sequence[Operand],
        attrs: Mapping[str, Any],
        specs: Sequence[AnySpec],
        regions: tuple[Graph, ...] = (),
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Record one operation; `names` are wishes for its outputs."""
        if op.stateful and self.root.watch is not None:
            self.root.watch(op)
        call = user_call()
        wishes = names or self._wishes(op, call, len(specs))
        if self.root.scope:
            wishes = [self.root.scope + wish for wish in wishes]
        outputs = tuple(map(Value, wishes, specs))
        origin = None if call is None else call.origin
        operation = Operation(op, tuple(inputs), attrs, outputs, regions, origin, wanted())
        self.operations.append(operation)
        for recorder in stack.recorders:
            recorder.added(operation, self)
        return outputs

    def _wishes(self, op: Op, call: Call | None, count: int) -> Sequence[str]:
        """The user's variable for the last operation of a call whose result is assigned; else the operation's name."""
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
        """Leave out what computes `tensor`, unless something else turns out to need it."""
        value = getattr(tensor, "_value", None)
        if value is not None:
            self._discarded.add(value)

    def finish(self, outputs: Sequence[Operand], inputs: Sequence[Value] | None = None) -> Graph:
        """The graph that gives `outputs`; `inputs` may put the inputs in another order."""
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
    """Operations in this block run at once, even while a graph is being built."""

    def __enter__(self) -> None:
        stack.push(None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stack.pop()
