"""Running sums and products.

>>> cumsum([[1, 2], [3, 4]], axis=1).numpy().tolist()
[[1, 3], [3, 7]]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import shapes
from ..ir.graph import Operand
from ..ir.specs import Spec
from .attributes import Axis
from .declare import Input, Name, op
from .elementwise import conj
from .families import NUMERIC, Array, demand


def scanned_spec(x: Operand, axis: int, what: str) -> Spec:
    demand(x, NUMERIC, what)
    if x.shape is not None:
        shapes.normal_axis(axis, len(x.shape))
    return Spec(x.dtype, x.shape)


def scanned(ufunc: np.ufunc, start: float, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    if reverse:
        x = np.flip(x, axis)
    sums = ufunc.accumulate(x, axis, x.dtype)
    if exclusive and sums.shape[axis]:
        sums = np.roll(sums, 1, axis)
        np.moveaxis(sums, axis, 0)[0] = start
    return np.flip(sums, axis) if reverse else sums


@op
def cumsum(
    x: Input, axis: Axis = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> Spec:
    """Running sums along `axis`; without the element itself if `exclusive`, from the end if `reverse`.

    >>> cumsum([1, 2, 3]).numpy().tolist(), cumsum([1, 2, 3], exclusive=True, reverse=True).numpy().tolist()
    ([1, 3, 6], [5, 3, 0])
    """
    return scanned_spec(x, axis, "cumsum")


@cumsum.kernel
def _(x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    return scanned(np.add, 0, x, axis, exclusive, reverse)


@cumsum.gradient
def _(dy: Any, y: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    return cumsum(dy, axis, exclusive, not reverse)


@op
def cumprod(
    x: Input, axis: Axis = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> Spec:
    """Running products along `axis`; without the element itself if `exclusive`, from the end if `reverse`.

    >>> cumprod([2, 3, 4]).numpy().tolist(), cumprod([2, 3, 4], exclusive=True).numpy().tolist()
    ([2, 6, 24], [1, 2, 6])
    """
    return scanned_spec(x, axis, "cumprod")


@cumprod.kernel
def _(x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    return scanned(np.multiply, 1, x, axis, exclusive, reverse)


@cumprod.gradient
def _(dy: Any, y: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    return cumsum(dy * conj(y), axis, exclusive, not reverse) / conj(x)
