"""Targets and sources of gradients: what users pass, and what tapes have in their records.

gradient((y, z), {"w": w}, output_gradients=None)      targets (y, ones) and (z, ones), source w
"""

from __future__ import annotations

import enum
from typing import Any

from .. import nest
from ..core.conversion import convert_to_tensor, variable_of
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from ..ir.builder import current
from ..ops.arrays.creation import ones_like, zeros
from ..ops.arrays.shape_ops import shape
from .sparse_gradients import dense
from .tape_records import is_continuous

PLAIN = frozenset({EagerTensor, Variable})
"""The classes of sources that are differentiated themselves."""


@export("autodiff.UnconnectedGradients", "UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """The result for a source that the target does not depend on: None, or zeros.

    >>> import agc.runtime as tf
    >>> x, y = tf.constant(1.0), tf.constant(2.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch([x, y])
    ...     z = x * 3.0
    >>> tape.gradient(z, y, unconnected_gradients=UnconnectedGradients.ZERO).numpy()
    np.float32(0.0)
    """

    NONE = "none"
    ZERO = "zero"


def choice(value: Any) -> UnconnectedGradients:
    if type(value) is UnconnectedGradients:
        return value
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}") from None


def known(x: Any) -> Any:
    """Return a tensor or variable as it is in the records: its value in the graph, or in this replica, if any."""
    if isinstance(x, Variable):
        return x._here
    builder = current()
    if builder is not None and type(x) is EagerTensor:
        stand_in = builder.stand_in(x)
        return x if stand_in is None else stand_in
    return x


def seeded(target: Any, output_gradients: Any) -> list[tuple[Any, Any]]:
    """Return pairs of the targets and their cotangents."""
    targets = [target] if type(target) is EagerTensor else nest.flatten(target)
    given = [None] * len(targets) if output_gradients is None else nest.flatten(output_gradients)
    if len(given) != len(targets):
        raise ValueError(f"{len(given)} output_gradients for {len(targets)} targets")
    pairs = []
    for y, dy in zip(targets, given, strict=True):
        y = known(y if type(y) in PLAIN else differentiable(y, "target"))
        if not is_continuous(y.dtype):
            continue
        pairs.append((y, ones_like(y) if dy is None else _as_gradient(dy, y)))
    return pairs


def _as_gradient(dy: Any, y: Any) -> Any:
    return convert_to_tensor(dy, None if isinstance(dy, (Tensor, Variable)) else y.dtype)


def tensor_in(x: Any) -> Any:
    """Return the differentiable tensor or variable of a composite tensor or of an object that acts as a variable.

    A composite tensor with several of them, such as a linear operator, gives a list.
    """
    return x._differentiated if nest.is_composite(x) else variable_of(x)


def tensors_in(structure: Any) -> Any:
    """Return a nest with `tensor_in` of each part."""
    if structure is None or type(structure) in PLAIN:
        return structure
    return nest.map_structure(tensor_in, structure)


def like_source(source: Any, grad: Any) -> Any:
    """Return a gradient in the form of the source."""
    if grad is None or not nest.is_composite(source):
        return grad
    return source._with_differentiated(list(map(dense, grad)) if isinstance(grad, list) else dense(grad))


def differentiable(x: Any, what: str) -> Any:
    x = variable_of(x)
    if not isinstance(x, (Tensor, Variable)):
        raise TypeError(
            f"The {what} of a gradient must be tensors or variables, in a list or other nested structure, not {x!r}"
        )
    return x


def filled(grad: Any, x: Any, unconnected: UnconnectedGradients) -> Any:
    if grad is not None or unconnected is UnconnectedGradients.NONE:
        return grad
    return zeros(shape(x), x.dtype)
