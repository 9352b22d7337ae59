"""Scans: running sums and products.

>>> cumsum([[1, 2], [3, 4]], axis=1).numpy().tolist()
[[1, 3], [3, 7]]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import shapes
from ...core.export import export
from ...ir import batching
from ...ir.graph import Operand
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Axis
from ..framework.op import Input, Name, Same, op
from ..framework.op_families import NUMERIC, Array, require_dtype
from ..math.elementwise import conj


def scanned_spec(x: Operand, axis: int, what: str) -> TensorType:
    require_dtype(x, NUMERIC, what)
    if x.shape is not None:
        shapes.normal_axis(axis, len(x.shape))
    return TensorType(x.dtype, x.shape)


def scanned(ufunc: np.ufunc, start: float, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    if reverse:
        x = np.flip(x, axis)
    sums = ufunc.accumulate(x, axis, x.dtype)
    if exclusive and sums.shape[axis]:
        sums = np.roll(sums, 1, axis)
        np.moveaxis(sums, axis, 0)[0] = start
    return np.flip(sums, axis) if reverse else sums


@export("math.cumsum", "cumsum")
@op(batch=batching.along_axis)
def cumsum(
    x: Input, axis: Axis = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> TensorType:
    """Return running sums along `axis`; without the element itself if `exclusive`, from the end if `reverse`.

    >>> cumsum([1, 2, 3]).numpy().tolist(), cumsum([1, 2, 3], exclusive=True, reverse=True).numpy().tolist()
    ([1, 3, 6], [5, 3, 0])
    """
    return scanned_spec(x, axis, "cumsum")


cumsum.kernel(lambda x, axis, exclusive, reverse: scanned(np.add, 0, x, axis, exclusive, reverse))
cumsum.gradient(lambda dy, y, x, axis, exclusive, reverse: cumsum(dy, axis, exclusive, not reverse))


@export("math.cumprod")
@op(batch=batching.along_axis)
def cumprod(
    x: Input, axis: Axis = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> TensorType:
    """Return running products along `axis`; without the element itself if `exclusive`, from the end if `reverse`.

    >>> cumprod([2, 3, 4]).numpy().tolist(), cumprod([2, 3, 4], exclusive=True).numpy().tolist()
    ([2, 6, 24], [1, 2, 6])
    """
    return scanned_spec(x, axis, "cumprod")


cumprod.kernel(lambda x, axis, exclusive, reverse: scanned(np.multiply, 1, x, axis, exclusive, reverse))


@cumprod.gradient
def _(dy: Any, y: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    return back_through_products(dy, x, axis, exclusive, reverse)


def back_through_products(dy: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return the cotangent for `cumprod`, computed without division because of zeros.

    For element i, it is the product of the preceding elements times a sum over the results from i on. A
    recurrence from the end computes these sums: `dy[i] + x[i + 1] * (dy[i + 1] + x[i + 2] * (...))`.
    """
    after = shifted(dy, axis, not reverse) if exclusive else dy
    sums = recurrence(after, shifted(conj(x), axis, not reverse), axis, not reverse)
    return conj(cumprod(x, axis, True, reverse)) * sums


@op(traits=LENIENT)
def recurrence(x: Same, factors: Same, axis: Axis, reverse: bool = False, name: Name = None) -> TensorType:
    """Compute the scan `y[i] = x[i] + factors[i] * y[i - 1]`, from the end if `reverse`.

    >>> recurrence([1., 1., 1.], [9., 2., 3.], 0).numpy().tolist()
    [1.0, 3.0, 10.0]
    """
    if not shapes.compatible(x.shape, factors.shape):
        raise ValueError(
            f"recurrence: factors of shape {shapes.show(factors.shape)} do not fit {shapes.show(x.shape)}"
        )
    return scanned_spec(x, axis, "recurrence")


@recurrence.kernel
def _(x: Array, factors: Array, axis: int, reverse: bool) -> Array:
    result = np.empty_like(x)
    steps, by, running = (np.moveaxis(array, axis, 0) for array in (x, factors, result))
    numbers = range(len(steps))
    before = None
    for i in reversed(numbers) if reverse else numbers:
        running[i] = steps[i] if before is None else steps[i] + by[i] * running[before]
        before = i
    return result


@recurrence.gradient
def _(dy: Any, y: Any, x: Any, factors: Any, axis: int, reverse: bool) -> Any:
    back = recurrence(dy, shifted(conj(factors), axis, not reverse), axis, not reverse)
    return back, lambda: back * conj(shifted(y, axis, reverse))


@op
def shifted(x: Input, axis: Axis, reverse: bool = False, name: Name = None) -> TensorType:
    """Shift the elements by one along `axis`, filling with 0; towards the beginning if `reverse`.

    >>> shifted([1, 2, 3], 0).numpy().tolist(), shifted([1, 2, 3], 0, reverse=True).numpy().tolist()
    ([0, 1, 2], [2, 3, 0])
    """
    return scanned_spec(x, axis, "shifted")


@shifted.kernel
def _(x: Array, axis: int, reverse: bool) -> Array:
    result = np.zeros_like(x)
    old, new = np.moveaxis(x, axis, 0), np.moveaxis(result, axis, 0)
    if reverse:
        new[:-1] = old[1:]
    else:
        new[1:] = old[:-1]
    return result


shifted.gradient(lambda dy, y, x, axis, reverse: shifted(dy, axis, not reverse))
