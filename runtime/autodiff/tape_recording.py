"""The operations that a tape records: those whose inputs are watched, or depend on a watched tensor.

A tape of eager code records eager operations. A tape that is made while a graph is being built records the operations
of that graph. Trainable variables are watched when they are read, other tensors after a call of `watch`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Self

from .. import nest
from ..core.abstract_value import abstract_value_of
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from ..ir.builder import Builder, current, start_recording, stop_recording
from ..ir.graph import Operation, Value
from ..ir.op_def import OpDef
from ..ir.source_location import own_files, site
from ..ops.framework.eager_calls import native
from ..ops.math.cast import identity
from .tape_records import (
    EagerRecord,
    GraphRecord,
    Key,
    Record,
    carries_gradient,
    is_continuous,
    key_of,
    spec_carries_gradient,
)
from .targets import tensor_in


class _TapeState:
    """The slots of a tape that the C extension reads."""

    __slots__ = (
        "__dict__", "__weakref__", "_alive", "_builder", "_records", "_tracked", "_variables",
        "_watch_accessed_variables", "_watched",
    )  # fmt: skip


class TapeRecording(_TapeState):
    """A `with` block whose operations are recorded; the base class of `GradientTape`."""

    def __init__(self, watch_accessed_variables: bool) -> None:
        self._watch_accessed_variables = watch_accessed_variables
        self._records: list[Record] | None = None  # from `__enter__` until the gradients were computed
        self._tracked: set[Key] = set()
        self._watched: dict[Key, int] = {}  # keys, and the first record in which each counts
        self._alive: list[Any] = []  # keys are identities, so the objects are kept alive
        self._variables: dict[int, Variable] = {}
        self._builder: Builder | None = None
        self._unrecorded: set[Value] = set()  # results of operations in regions during `stop_recording`
        self._recording = self._entered = False

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._recording:
            self._stop()

    def _start(self) -> None:
        if self._recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an already-active tape."
            )
        if self._records is None and not self._entered:
            self._records = []
        elif self._records is None:
            self._forget()
        self._builder = current()
        self._recording = self._entered = True
        start_recording(self)

    def _stop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._recording = False
        stop_recording(self)

    def _forget(self) -> None:
        self._records = []
        self._tracked, self._watched, self._alive, self._variables = set(), {}, [], {}

    def computed(
        self, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], outputs: Sequence[Any]
    ) -> None:
        """Record an operation that ran eagerly, if one of its inputs is watched or depends on a watched tensor."""
        computed_fast(self, op, inputs, attrs, outputs)

    def _accessed(self, inputs: Sequence[Any]) -> None:
        """Watch the trainable variables that an operation reads or assigns, unless the tape shall not."""
        if self._watch_accessed_variables:
            for x in inputs:
                if type(x) is EagerTensor or id(x) in self._variables:
                    continue
                if isinstance(x, Variable) and x.trainable and is_continuous(x.dtype):
                    self._watch(x)

    def added(self, operation: Operation, builder: Builder) -> None:
        """Record an operation that was added to a graph."""
        if self._builder is not None and builder.is_inside(self._builder):
            self.keep(GraphRecord(operation, builder, self._unrecorded))

    @property
    def is_in_graph(self) -> bool:
        """True if the tape records the operations of a graph."""
        return self._builder is not None

    @property
    def still_records(self) -> bool:
        """True while the tape still has its records."""
        return self._records is not None

    def wants(self, inputs: Sequence[Any]) -> list[bool]:
        """Return for each input of an eager operation whether it is watched or depends on a watched tensor."""
        if self._builder is not None:
            return [False] * len(inputs)
        self._accessed(inputs)
        return [key_of(x) in self._tracked for x in inputs]

    def tracked(self, keys: Set[Key]) -> Set[Key]:
        """Return the keys of eager tensors that are watched or depend on a watched tensor."""
        return self._tracked & keys if self._builder is None else frozenset()

    def keep(self, record: Record) -> None:
        """Record an operation if one of its inputs is watched or depends on a watched tensor."""
        if keep_fast is not None and keep_fast(self, record):
            return
        self._accessed(record.inputs)
        if any(key_of(x) in self._tracked and carries_gradient(x) for x in record.inputs):
            assert self._records is not None
            self._records.append(record)
            if self._builder is None:
                record.site = site()
            self._tracked.update(key_of(y) for y in record.outputs if carries_gradient(y))

    def grown(self, operation: Operation, added: Sequence[Value]) -> None:
        """Track the outputs that were added to an operation of a graph for its VJP."""
        if not self._tracked.isdisjoint(operation.outputs):
            self._tracked.update(value for value in added if spec_carries_gradient(value.spec))

    def watch(self, tensor: Any) -> None:
        """Record operations on a tensor or variable, or on each of a nest of them, from now on."""
        for x in nest.flatten(list(map(tensor_in, nest.flatten(tensor)))):
            if not isinstance(x, (Tensor, Variable)):
                raise ValueError(
                    f"Passed in object {x} of type {type(x).__name__!r}, not tf.Tensor or tf.Variable"
                )
            if not is_continuous(x.dtype):
                warn(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.%s",
                    x.dtype.name,
                )
                continue
            self._watch(x)

    def _watch(self, x: Any) -> None:
        if isinstance(x, Variable):
            x = x._here
            self._variables[id(x)] = x
        elif type(x) is EagerTensor and self._builder is not None:
            x = _with_a_value(x, self._builder)
        key = key_of(x)
        if key not in self._tracked:
            assert self._records is not None
            self._tracked.add(key)
            self._watched[key] = len(self._records)
            self._alive.append(x)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the watched variables, in the order in which they were watched."""
        return tuple(self._variables.values())

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Suspend recording in the `with` block.

        Raises RuntimeError when the tape does not record.
        """
        if not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._stop()
        region, before = self._enclosed_region()
        try:
            yield
        finally:
            self._builder_again()
            if region is not None:
                # The tape records the operation with this region as a whole.
                self._unrecorded.update(y for each in region.operations[before:] for y in each.outputs)

    def _enclosed_region(self) -> tuple[Builder | None, int]:
        """Return the builder of the current region inside the tape's graph, and its number of operations."""
        region = current()
        if region is None or region is self._builder or self._builder is None:
            return None, 0
        return (region, len(region.operations)) if region.is_inside(self._builder) else (None, 0)

    def _builder_again(self) -> None:
        self._recording = True
        start_recording(self)

    def reset(self) -> None:
        """Forget everything, as if the block began here.

        Raises ValueError when the tape does not record.
        """
        self._stop()
        self._forget()
        self._builder_again()


def computed(
    tape: TapeRecording, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], outputs: Sequence[Any]
) -> None:
    """Record an operation as `TapeRecording.computed` does, without the C extension."""
    if tape._builder is not None:
        return
    tracked = tape._tracked
    is_tracked = False
    for x in inputs:
        if type(x) is not EagerTensor and id(x) not in tracked:
            tape._accessed((x,))
        if id(x) in tracked:
            is_tracked = True
    if is_tracked:
        tape._records.append(EagerRecord(op, inputs, attrs, outputs, site()))  # type: ignore[union-attr]
        for y in outputs:
            kind = y._kind or abstract_value_of(y) if type(y) is EagerTensor else None
            if carries_gradient(y) if kind is None else kind.carries_gradient:
                tracked.add(id(y))


if native is not None:
    native.register(record=EagerRecord, own_files=own_files, carries_gradient=carries_gradient)
computed_fast = native.tape_computed if native else computed
keep_fast = native.tape_keep if native else None


def _with_a_value(x: EagerTensor, builder: Builder) -> Any:
    """Return the value of a watched eager tensor in the graph; make one, since constants cannot be watched."""
    found = builder.stand_in(x)
    if found is None:
        found = identity(x)
        builder.root.stand_ins[id(x._array)] = x._array, found
    return found


def warn(*message: str) -> None:
    """Log a warning of a tape."""
    import logging  # imported late, since the import is slow

    logging.getLogger("agc").warning(*message)
