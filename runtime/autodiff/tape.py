"""`GradientTape`: record the operations of a `with` block, and differentiate them.

    with GradientTape() as tape:
        loss = reduce_mean(square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)

`tape_recording.py` describes which operations are recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import nest
from ..composite.indexed_slices import IndexedSlices
from ..core import late_binding
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor
from ..core.variable import Variable
from ..ir.builder import recording_by
from ..ops.arrays.concat_split import join
from ..ops.arrays.creation import ones_like, zeros
from ..ops.arrays.shape_ops import shape
from ..ops.framework.eager_calls import native
from .backprop import gradients
from .tape_plans import Differentiate, planned_gradients
from .tape_recording import TapeRecording, warn
from .tape_records import Record, is_continuous, key_of
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


@export("autodiff.GradientTape", "GradientTape")
class GradientTape(TapeRecording):
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
        super().__init__(watch_accessed_variables)
        self._persistent = persistent

    @property
    def is_persistent(self) -> bool:
        """True if `gradient` may be called several times."""
        return self._persistent

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
        sought = [x if type(x) is Variable and id(x) in tracked else self._sought(x, seeds) for x in flat]
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
        y = known(differentiable(self._as_tensor(target), "target"))
        from .jacobian import jacobian_of_records  # few programs compute Jacobians

        found = self._rows(jacobian_of_records, records, y, flat, y.shape)
        filled_rows = [
            zeros(join([shape(y), shape(x)], 0), x.dtype)
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
        y, x = known(differentiable(self._as_tensor(target), "target")), differentiable(source, "source")
        if not (y.shape[:1].is_compatible_with(x.shape[:1]) and y.shape.rank and x.shape.rank):
            raise ValueError(
                f"Need first dimension of target shape ({y.shape}) and source shape ({x.shape}) to match."
            )
        from .jacobian import batch_jacobian_of_records

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

    def _as_tensor(self, target: Any) -> Any:
        """Return a target; for IndexedSlices, whose rows may add up, the tensor that the tape then records."""
        if not isinstance(target, IndexedSlices):
            return target
        if self._recording:
            return convert_to_tensor(target)
        self._builder_again()
        try:
            return convert_to_tensor(target)
        finally:
            self._stop()

    def _read(self, targets: Any) -> None:
        """Watch the trainable variables among the targets, since using a variable as a target reads it."""
        for y in () if type(targets) is EagerTensor else nest.flatten(targets):
            if isinstance(y, Variable) and y.trainable and self._watch_accessed_variables:
                if is_continuous(y.dtype):
                    self._watch(y)
                else:
                    self._variables[id(y._here)] = y._here

    def _sought(self, source: Any, seeds: Iterable[tuple[Any, Any]] = ()) -> Any:
        """Return a source as it is in the records; if the tape does not watch it, a tensor that is in no record.

        A source that is a target itself needs no watching, unless the other targets depend on it.
        """
        x = known(source)
        if key_of(x) in self._tracked or (any(y is x for y, _ in seeds) and not self._is_read(x, seeds)):
            return x
        return EagerTensor(None)

    def _is_read(self, x: Any, seeds: Iterable[tuple[Any, Any]]) -> bool:
        """Return whether the computation of the targets, as far as the tape has recorded it, reads a tensor."""
        reached = {key_of(y) for y, _ in seeds}
        for record in reversed(self._records or ()):
            if not reached.isdisjoint(record.output_keys()):
                keys = set(record.input_keys())
                if key_of(x) in keys:
                    return True
                reached |= keys & self._tracked
        return False

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
                warn(
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


if native is not None:
    native.register(tape=GradientTape)  # the extension records on tapes of this very class
