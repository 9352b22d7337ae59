"""`ForwardAccumulator`: forward-mode differentiation, which computes Jacobian-vector products.

    with ForwardAccumulator(x, direction) as acc:
        y = f(x)
    acc.jvp(y)                      # the derivative of y when x moves in that direction

The JVP is computed from the VJP. The VJP is linear in the cotangent u of the target, `u -> J^T u`. So the gradient of
`<J^T u, direction>` with respect to u is `J direction`, for any u.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import nest
from ..core.export import export
from ..ir.builder import recorders, recording_by
from ..ops.arrays.creation import zeros_like
from ..ops.math.arithmetic import multiply
from ..ops.math.elementwise import conj
from ..ops.reduce.reductions import reduce_sum
from .backprop import gradients
from .sparse_gradients import dense
from .tape import GradientTape
from .tape_plans import Targets, planned_gradients
from .tape_records import Key, Record
from .targets import UnconnectedGradients, choice, filled, known, like_source, tensor_in


@export("autodiff.ForwardAccumulator")
class ForwardAccumulator(GradientTape):
    """Record operations, for their derivatives along one direction.

    Args:
        primals: tensors and variables, in a nest.
        tangents: the direction, of the same structure and shapes.

    Raises ValueError when a shape differs, and for a primal that is given twice.

    >>> from agc.runtime import constant
    >>> x = constant([1.0, 2.0])
    >>> with ForwardAccumulator(x, constant([1.0, 10.0])) as acc:
    ...     y = x * x
    >>> acc.jvp(y).numpy().tolist()
    [2.0, 40.0]
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        super().__init__(persistent=True, watch_accessed_variables=False)
        nest.assert_same_structure(primals, tangents)
        self._around: list[Any] = []
        self._primals = nest.flatten(primals)
        self._tangents = nest.flatten(tangents)
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if not primal.shape.is_compatible_with(tangent.shape) or primal.dtype is not tangent.dtype:
                raise ValueError(
                    f"a tangent of shape {tangent.shape} and dtype {tangent.dtype.name} for a primal of shape "
                    f"{primal.shape} and dtype {primal.dtype.name}"
                )
        if len(set(map(id, self._primals))) < len(self._primals):
            raise ValueError(
                "a tensor is among the primals twice: give it once, with the sum of its tangents"
            )

    def __enter__(self) -> ForwardAccumulator:
        self._around = [recorder for recorder in recorders() if isinstance(recorder, GradientTape)]
        self._start()
        self.watch(self._primals)
        return self

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Return the derivatives of results along the direction; None for those that do not depend on the primals."""
        unconnected = choice(unconnected_gradients)
        others = [recorder for recorder in recorders() if recorder is not self]
        others += [tape for tape in self._around if tape not in others and tape.still_records]
        # Outer tapes record the derivatives as if they were computed in the block.
        with recording_by(others):
            flat = [self._along(y, unconnected) for y in nest.flatten(primals)]
        return nest.pack_sequence_as(primals, flat)

    def _along(self, y: Any, unconnected: UnconnectedGradients) -> Any:
        """Return the derivative of a tensor, or of those in a composite tensor, in the form of `y`."""

        def derivative(x: Any) -> Any:
            return filled(self._derivative(known(x)), x, unconnected)

        return like_source(y, nest.map_structure(derivative, tensor_in(y)))

    def _derivative(self, y: Any) -> Any:
        records, targets = self._records or [], [(y, *self._tangents)]
        sources = [known(x) for x in self._primals]
        found = planned_gradients(records, targets, sources, self._watched, jvp_of_records)
        return (jvp_of_records(records, targets, sources, self._watched) if found is None else found)[0]


def jvp_of_records(
    records: Sequence[Record], targets: Targets, sources: Sequence[Any], since: Mapping[Key, int]
) -> list[Any]:
    """Return the derivative of the target, which its tuple has before the direction of each source; or None."""
    ((y, *tangents),) = targets
    with GradientTape(watch_accessed_variables=False) as tape:
        direction = zeros_like(y)
        tape.watch(direction)
        grads = gradients(records, [(y, direction)], sources, since)
        pairs = [(g, t) for g, t in zip(grads, tangents, strict=True) if g is not None]
        if not pairs:
            return [None]
        products = [reduce_sum(multiply(dense(grad), conj(tangent))) for grad, tangent in pairs]
    found = tape.gradient(products, direction)
    return [zeros_like(y) if found is None else found]
