"""Leave-one-out products: the product of all other elements, a factor in the gradient of a product.

[2, 0, 3]  →  [0, 6, 0]         computed without division, because of zeros
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import shapes
from ...ir.value_types import TensorType
from ..arrays.concat_split import join
from ..arrays.gather_ops import gather
from ..arrays.reshape import reshape, transpose
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Name, op
from ..framework.op_families import NUMERIC, Array, require_dtype
from ..math.elementwise import conj
from .scans import back_through_products, cumprod


@op
def product_of_others(x: Input, axis: Axes, name: Name = None) -> TensorType:
    """Return for each element the product of the other elements that `reduce_prod` multiplies it with.

    >>> product_of_others([2, 0, 3], None).numpy().tolist()
    [0, 6, 0]
    """
    require_dtype(x, NUMERIC, "product_of_others")
    shapes.reduced(x.shape, axis, False)
    return TensorType(x.dtype, x.shape)


@product_of_others.kernel
def _(x: Array, axis: Axes) -> Array:
    x = np.asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else tuple(one % x.ndim for one in axis)
    kept = [i for i in range(x.ndim) if i not in axes]
    flat = np.moveaxis(x, kept, range(len(kept))).reshape(*(x.shape[i] for i in kept), -1)
    before, after = np.ones_like(flat), np.ones_like(flat)
    np.multiply.accumulate(flat[..., :-1], -1, out=before[..., 1:])
    np.multiply.accumulate(flat[..., :0:-1], -1, out=after[..., -2::-1])
    rest = [x.shape[i] for i in range(x.ndim) if i in axes]
    products = (before * after).reshape(*(x.shape[i] for i in kept), *rest)
    return np.moveaxis(products, range(len(kept)), kept)


@product_of_others.gradient
def _(dy: Any, y: Any, x: Any, axis: Axes) -> Any:
    """Differentiate the product of the preceding and the product of the following elements."""
    flat, one = _in_one_axis(x, axis)
    grad, _ = _in_one_axis(dy, axis)
    before, after = cumprod(flat, one, True), cumprod(flat, one, True, True)
    found = back_through_products(grad * conj(after), flat, one, True, False)
    found += back_through_products(grad * conj(before), flat, one, True, True)
    return _as_before(found, x, axis)


def _in_one_axis(x: Any, axis: Axes) -> tuple[Any, int]:
    """Merge the axes of a tensor into one; return the tensor and the index of that axis."""
    if axis is None:
        return reshape(x, [-1]), 0
    if len(axis) == 1:
        return x, axis[0]
    order = _last(x, axis)
    kept = len(order) - len(axis)
    turned = transpose(x, order)
    return reshape(turned, join([shape_of(turned)[:kept], [-1]], 0)), kept


def _as_before(flat: Any, x: Any, axis: Axes) -> Any:
    if axis is None or len(axis) == 1:
        return reshape(flat, shape_of(x))
    order = _last(x, axis)
    turned = reshape(flat, gather(shape_of(x), order))
    return transpose(turned, [order.index(i) for i in range(len(order))])


def _last(x: Any, axis: tuple[int, ...]) -> list[int]:
    """Return an order of all axes in which these are the last."""
    if x.shape.rank is None:
        raise LookupError(
            "reduce_prod along several axes has no second gradient for a tensor of unknown rank"
        )
    chosen = [one % x.shape.rank for one in axis]
    return [*(i for i in range(x.shape.rank) if i not in chosen), *chosen]
