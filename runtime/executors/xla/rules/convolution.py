"""Rules of convolutions. JAX has the forward one; the other two are its transposes, as it is linear in both tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ....ops.nn.conv_kernel import parts
from ....ops.nn.window_geometry import sliding
from ..rule_registry import NotLoweredError, lowers

Array = Any


@lowers("conv")
def _(site: Any, x: Array, filter: Array) -> Array:
    if site.is_empty or 0 in x.shape or not filter.size:
        return jnp.zeros(site.shape, site.dtype)
    return _convolution(site, x.shape, filter.shape)(x, filter).astype(site.dtype)


@lowers("conv_backprop_input")
def _(site: Any, sizes: Array, filter: Array, dy: Array) -> Array:
    whole = _convolution(site, site.shape, filter.shape)
    return _transposed(site, lambda x: whole(x, filter), filter, dy)


@lowers("conv_backprop_filter")
def _(site: Any, x: Array, sizes: Array, dy: Array) -> Array:
    whole = _convolution(site, x.shape, site.shape)
    return _transposed(site, lambda filter: whole(x, filter), x, dy)


def _transposed(site: Any, linear: Callable[[Array], Array], other: Array, dy: Array) -> Array:
    """Return the cotangent of the operand of `linear`, a convolution with the other operand.

    A cotangent of another shape than the result's, or of integers, is an error.
    """
    if dy.dtype.kind in "iu":
        raise NotLoweredError("JAX transposes convolutions of floats only")
    wanted = jax.eval_shape(linear, jax.ShapeDtypeStruct(site.shape, other.dtype)).shape
    if dy.shape != wanted:
        raise ValueError(f"the gradient has the shape {dy.shape}, and the result {wanted}")
    if not other.size or not dy.size:
        return jnp.zeros(site.shape, site.dtype)
    like = jax.ShapeDtypeStruct(site.shape, _accurate(other))
    (found,) = jax.linear_transpose(linear, like)(dy.astype(like.dtype))
    return found.astype(site.dtype)


def _accurate(x: Array) -> Any:
    """Return the dtype in which products are added up."""
    return jnp.float32 if x.dtype.itemsize == 2 else x.dtype


def _convolution(
    site: Any, full: tuple[int, ...], window: tuple[int, ...]
) -> Callable[[Array, Array], Array]:
    """Return the convolution of tensors of these shapes as a function of both."""
    attrs, n = site.attrs, len(site.attrs["strides"])
    first = attrs["data_format"].startswith("NC")
    batch, sizes, channels = parts(full, n, attrs["data_format"])
    slide = sliding(
        sizes, window[:-2], attrs["strides"], attrs["dilations"], attrs["padding"], attrs["explicit_paddings"]
    )
    spatial = "".join("DHWXYZ"[i] for i in range(n))
    layout = f"NC{spatial}" if first else f"N{spatial}C"
    rest = full[len(batch) :]
    outer = math.prod(batch)

    def convolve(x: Array, filter: Array) -> Array:
        found = lax.conv_general_dilated(
            jnp.reshape(x, (outer, *rest)).astype(_accurate(x)),
            filter.astype(_accurate(x)),
            attrs["strides"],
            list(zip(slide.before, slide.after, strict=True)),
            rhs_dilation=attrs["dilations"],
            dimension_numbers=(layout, f"{spatial}IO", layout),
            feature_group_count=max(channels // max(window[-2], 1), 1),
        )
        return found.reshape((*batch, *found.shape[1:]))

    return convolve
