"""`GradientTape`: record the operations of a `with` block, and differentiate them.

    with GradientTape() as tape:
        loss = reduce_mean(square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)

A tape of eager code records eager operations. A tape that is made while a graph is being built records the operations
of that graph. Trainable variables are watched when they are read, other tensors after a call of `watch`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from .. import nest
from ..core import late_binding
from ..core.abstract_value import abstract_value_of
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from ..ir.builder import Builder, current, recording_by, start_recording, stop_recording
from ..ir.graph import Operation, Value
from ..ir.op_def import OpDef
from ..ir.source_location import own_files, site
from ..ops.arrays.concat_split import join
from ..ops.arrays.creation import ones_like, zeros
from ..ops.arrays.shape_ops import shape
from ..ops.framework.eager_calls import native
from ..ops.math.cast import identity
from .backprop import gradients
from .jacobian import batch_jacobian_of_records, jacobian_of_records
from .tape_plans import Differentiate, planned_gradients
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
from .targets import (
    PLAIN,
    UnconnectedGradients,
    choice,
    differentiable,
    filled,
    known,
    like_source,
    seeded,
    tensor_in,
    tensors_in,
)

_ROWS_PER_RUN = 8
"""The number of rows of a Jacobian whose backward passes count as one run of a tape without a plan."""


class _TapeState:
    """The slots of a tape that the C extension reads."""

    __slots__ = (
        "__dict__", "__weakref__", "_alive", "_builder", "_records", "_tracked", "_variables",
        "_watch_accessed_variables", "_watched",
    )  # fmt: skip


@export("autodiff.GradientTape", "GradientTape")
class GradientTape(_TapeState):
    """Record operations, to differentiate what they compute.

    Args:
        persistent: whether `gradient` may be called more than once; the tape then keeps its records.
        watch_accessed_variables: whether trainable variables are watched when they are read.

    >>> from agc.runtime import constant
    >>> x = constant(3.0)
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._records: list[Record] | None = None  # from `__enter__` until the gradients were computed
        self._tracked: set[Key] = set()
        self._watched: dict[Key, int] = {}  # keys, and the first record in which each counts
        self._alive: list[Any] = []  # keys are identities, so the objects are kept alive
        self._variables: dict[int, Variable] = {}
        self._builder: Builder | None = None
        self._recording = self._entered = False

    def __enter__(self) -> GradientTape:
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
            self.keep(GraphRecord(operation, builder))

    @property
    def is_in_graph(self) -> bool:
        """True if the tape records the operations of a graph."""
        return self._builder is not None

    @property
    def is_persistent(self) -> bool:
        """True if `gradient` may be called several times."""
        return self._persistent

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
                _warn(
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
        try:
            yield
        finally:
            self._builder_again()

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

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """Return the derivatives of the sum of all tensors in `target`, in the structure of `sources`.

        Args:
            target: a tensor, or a nest of them.
            sources: tensors and variables, in a nest. Those that the target does not depend on get None.
            output_gradients: factors of the derivatives of each target, in the structure of `target`; None means ones.
            unconnected_gradients: "zero" returns zeros instead of None.

        Raises RuntimeError when the tape was used before and is not persistent.
        """
        records = self._to_be_used()
        unconnected = choice(unconnected_gradients)
        is_list = type(sources) is list and PLAIN.issuperset(map(type, sources))
        given = sources if is_list else nest.flatten(sources)
        parts = given if PLAIN.issuperset(map(type, given)) else list(map(tensor_in, given))
        flat = given if parts is given else [differentiable(part, "source") for part in nest.flatten(parts)]
        self._read(target)
        seeds = seeded(tensors_in(target), tensors_in(output_gradients))
        tracked = self._tracked
        sought = [x if type(x) is Variable and id(x) in tracked else self._sought(x) for x in flat]
        found = planned_gradients(records, seeds, sought, self._watched)
        if found is None:
            found = gradients(records, seeds, sought, self._watched)
        self._used()
        grads = found
        if unconnected is UnconnectedGradients.ZERO:
            grads = [filled(grad, x, unconnected) for grad, x in zip(found, flat, strict=True)]
        if parts is not given:
            grads = list(map(like_source, given, nest.pack_sequence_as(parts, grads)))
        return grads if is_list else nest.pack_sequence_as(sources, grads)

    def explain(self, target: Any, source: Any) -> str:
        """Explain why the gradient of a target is None or zero: the operations on the path, and where it is cut.

        The tape stays unchanged: call this before `gradient`, or on a persistent tape. Raises RuntimeError after that.

        >>> from agc.runtime import constant, stop_gradient
        >>> x = constant(3.0)
        >>> with GradientTape() as tape:
        ...     y = x * x
        >>> print(tape.explain(y, x).partition(": ")[2])
        the tape does not watch the tensor. Fix: call tape.watch(tensor) before computing with it; ...
        """
        if self._records is None:
            raise RuntimeError("explain() comes before gradient(), unless the tape is persistent")
        with recording_by([]):
            y, x = known(tensor_in(target)), known(tensor_in(source))
            explain = late_binding.gradient_explanation
            if explain.out_of_reach(y) or explain.out_of_reach(x):
                return (
                    f"{explain.heading(y, x)} is None: a tensor of the graph of another function has no value "
                    "outside of it. Fix: return it from that function, and use the result of the call"
                )
            watched = self._watch_accessed_variables
            unwatched = "" if key_of(x) in self._tracked else explain.why_unwatched(x, watched)
            return explain.explained(self._records, (y, ones_like(y)), x, unwatched, self._watched)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the derivatives of each element of `target`, in the structure of `sources`.

        The shape of each is that of the target followed by that of the source. `parallel_iterations` and
        `experimental_use_pfor` are accepted for compatibility. Raises as `gradient` does.

        >>> from agc.runtime import constant
        >>> x = constant([1.0, 2.0])
        >>> with GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        records = self._to_be_used()
        unconnected = choice(unconnected_gradients)
        flat = [differentiable(source, "source") for source in nest.flatten(sources)]
        y = known(differentiable(target, "target"))
        found = self._rows(jacobian_of_records, records, y, flat, y.shape)
        filled_rows = [
            zeros(join([shape(target), shape(x)], 0), x.dtype)
            if rows is None and unconnected is UnconnectedGradients.ZERO
            else rows
            for rows, x in zip(found, flat, strict=True)
        ]
        return nest.pack_sequence_as(sources, filled_rows)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the Jacobian of each row of `target` by the row of `source` with the same index: shape [b, *y, *x].

        >>> from agc.runtime import constant
        >>> x = constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy().tolist()
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]

        Raises ValueError when the first dimensions differ; otherwise as `gradient` does.
        """
        records = self._to_be_used()
        unconnected = choice(unconnected_gradients)
        y, x = known(differentiable(target, "target")), differentiable(source, "source")
        if not (y.shape[:1].is_compatible_with(x.shape[:1]) and y.shape.rank and x.shape.rank):
            raise ValueError(
                f"Need first dimension of target shape ({y.shape}) and source shape ({x.shape}) to match."
            )
        (found,) = self._rows(batch_jacobian_of_records, records, y, [x], y.shape[1:])
        if found is None and unconnected is UnconnectedGradients.ZERO:
            return zeros(join([shape(y), shape(x)[1:]], 0), x.dtype)
        return found

    def _rows(
        self, differentiate: Differentiate, records: list[Record], y: Any, sources: list[Any], rows: Any
    ) -> list[Any]:
        """Return the Jacobians of a target, which has elements of the shape `rows` to differentiate one by one."""
        arguments = records, [(y,)], [self._sought(source) for source in sources], self._watched
        sweeps = 1 + (rows.num_elements() or 0) // _ROWS_PER_RUN
        found = planned_gradients(*arguments, differentiate, sweeps)
        if found is None:
            found = differentiate(*arguments)
        self._used()
        return found

    def _read(self, targets: Any) -> None:
        """Watch the trainable variables among the targets, since using a variable as a target reads it."""
        for y in () if type(targets) is EagerTensor else nest.flatten(targets):
            if isinstance(y, Variable) and y.trainable and self._watch_accessed_variables:
                if is_continuous(y.dtype):
                    self._watch(y)
                else:
                    self._variables[id(y._here)] = y._here

    def _sought(self, source: Any) -> Any:
        """Return a source as it is in the records; if the tape does not watch it, a tensor that is in no record."""
        x = known(source)
        return x if key_of(x) in self._tracked else EagerTensor(None)

    def _to_be_used(self) -> list[Record]:
        """Return the records for one use. Raise RuntimeError if they were used before."""
        if self._records is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
                if self._entered
                else "this GradientTape was never entered: compute what is to be differentiated in `with tape:`"
            )
        if self._recording:
            if self._persistent:
                _warn(
                    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                    "efficient than calling it outside: the operations of the gradient are recorded as well. Do so "
                    "only to compute derivatives of higher order."
                )
            else:
                self._stop()
        return self._records

    def _used(self) -> None:
        if not self._persistent:
            self._records = None


def computed(
    tape: GradientTape, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], outputs: Sequence[Any]
) -> None:
    """Record an operation as `GradientTape.computed` does, without the C extension."""
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
    native.register(
        tape=GradientTape, record=EagerRecord, own_files=own_files, carries_gradient=carries_gradient
    )
computed_fast = native.tape_computed if native else computed
keep_fast = native.tape_keep if native else None


def _with_a_value(x: EagerTensor, builder: Builder) -> Any:
    """Return the value of a watched eager tensor in the graph; make one, since constants cannot be watched."""
    found = builder.stand_in(x)
    if found is None:
        found = identity(x)
        builder.root.stand_ins[id(x._array)] = x._array, found
    return found


def _warn(*message: str) -> None:
    import logging  # imported late, since the import is slow

    logging.getLogger("agc").warning(*message)
