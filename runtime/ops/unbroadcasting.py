"""The other direction of broadcasting: what came to be repeated is added up again, as gradients need it.

>>> unbroadcast([[1., 2.], [3., 4.]], [2]).numpy().tolist()
[4.0, 6.0]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import shapes
from ..ir.specs import Spec
from ..tensor import Tensor
from .declare import Input, Ints, Name, op
from .extents import shape as shape_of
from .families import NUMERIC, Array, demand
from .shaping import broadcast_to
from .static import checked_dims, dims


@op
def unbroadcast(x: Input, shape: Ints, name: Name = None) -> Spec:
    """`x` added up along the axes that broadcasting to its shape would have repeated in a tensor of this `shape`.

    Raises ValueError where `shape` does not broadcast to that of `x`.

    >>> unbroadcast([[1., 2.], [3., 4.]], [2, 1]).numpy().tolist()
    [[3.0], [7.0]]
    """
    demand(x, NUMERIC, "unbroadcast")
    sizes = dims(shape)
    _check(x.shape, sizes)
    return Spec(x.dtype, sizes)


def _check(whole: shapes.Dims, part: shapes.Dims) -> None:
    if whole is not None and part is not None and not shapes.compatible(shapes.broadcast(whole, part), whole):
        raise ValueError(f"the shape {shapes.show(part)} does not broadcast to {shapes.show(whole)}")


@unbroadcast.kernel
def _(x: Array, shape: Array) -> Array:
    sizes = checked_dims(shape)
    _check(np.shape(x), sizes)
    outer = np.ndim(x) - len(sizes)
    repeated = [outer + i for i, size in enumerate(sizes) if size == 1 and x.shape[outer + i] != 1]
    return np.sum(x, (*range(outer), *repeated), x.dtype).reshape(sizes)


@unbroadcast.gradient
def _(dy: Any, y: Any, x: Any, shape: Any) -> Any:
    return broadcast_to(dy, shape_of(x)), None


def like(gradient: Any, x: Tensor) -> Any:
    """A gradient in the shape of `x`, which was broadcast before it was computed with.

    >>> like([1., 2.], np.float32(5)).numpy().tolist()
    3.0
    """
    one, other = (getattr(value, "shape", shapes.TensorShape(None)) for value in (gradient, x))
    known = shapes.as_dims(one), shapes.as_dims(other)
    if known[0] == known[1] and shapes.is_static(known[0]):
        return gradient
    return unbroadcast(gradient, shape_of(x))
