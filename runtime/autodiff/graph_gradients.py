"""`gradients(ys, xs)`: derivatives of values of a graph that is being built, without a tape.

@function
def slope(x):
    y = x * x
    return gradients(y, x)          # [2 * x]
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from .. import nest
from ..core.export import export
from ..core.tensor import EagerTensor
from ..ir.builder import Builder, current
from ..ir.captured_tensors import expose_captured
from .backprop import gradients as swept
from .jacobian import jacobian
from .sparse_gradients import dense
from .tape_records import GraphRecord, Record
from .targets import UnconnectedGradients, choice, filled, known, seeded


@export("autodiff.gradients", "gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Return the derivatives of the sum of `ys` with respect to each of `xs`, as a list; only in a graph.

    Args:
        ys, xs: a tensor, or several; `xs` may be variables.
        grad_ys: factors of the derivatives of each of `ys`; None means ones.
        stop_gradients: tensors that count as constants.
        unconnected_gradients: "zero" returns zeros instead of None if `ys` do not depend on one of `xs`.
        gate_gradients, aggregation_method: accepted for compatibility.

    Raises RuntimeError outside of graphs: there, a GradientTape has to record first.

    >>> import agc.runtime as tf
    >>> @tf.function
    ... def slope(x):
    ...     return tf.gradients(x ** 3, x)
    >>> slope(tf.constant(2.0))[0].numpy()
    np.float32(12.0)
    """
    builder = current()
    if builder is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    sources = nest.flatten(xs)
    stops = [] if stop_gradients is None else nest.flatten(stop_gradients)
    records = _records(builder, [x for x in (*sources, *stops) if type(x) is EagerTensor])
    found = swept(records, seeded(ys, grad_ys), list(map(known, sources)), stops=list(map(known, stops)))
    unconnected = choice(unconnected_gradients)
    return [filled(grad, x, unconnected) for grad, x in zip(found, sources, strict=True)]


def _records(builder: Builder | None, captured: Sequence[EagerTensor]) -> list[Record]:
    """Return records of all operations of the graph and of those around it, which read the tensors `captured`."""
    if builder is None:
        return []
    for operation in builder.operations:
        if operation.regions and captured:
            expose_captured(operation, captured)
    own: list[Record] = [GraphRecord(operation, builder) for operation in builder.operations]
    return _records(builder.parent, captured) + own


@export("autodiff.hessians", "hessians")
def hessians(
    ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None, name: str = "hessians"
) -> list[Any]:
    """Return the second derivatives of the sum of `ys` by each of `xs`; only in a graph.

    Each has the shape of x followed by the shape of x.

    Raises RuntimeError outside of graphs, ValueError where `ys` do not depend on one of `xs`.

    >>> import agc.runtime as tf
    >>> tf.function(lambda x: tf.hessians(tf.reduce_sum(x ** 3), x))(tf.constant([1.0, 2.0]))[0].numpy().tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    found = []
    for x in nest.flatten(xs):
        (slope,) = gradients(ys, x)
        if slope is None:
            raise ValueError(f"the ys do not depend on {x}")
        found += jacobian(functools.partial(_second, x), dense(slope), [x])
    return found


def _second(x: Any, slope: Any, seed: Any) -> list[Any]:
    return gradients(slope, x, grad_ys=seed, unconnected_gradients="zero")
