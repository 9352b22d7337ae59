"""Rules of operations that rearrange elements: the shapes of their results are known."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..numpy_namespace import traced
from ..rule_registry import lowers
from ..symbolic_sizes import is_sizes
from .padding import known

Array = Any


@lowers("reshape")
def _(site: Any, tensor: Array, shape: Array) -> Array:
    sizes = site.operation.outputs[0].shape
    is_static = sizes is not None and None not in sizes
    return jnp.reshape(tensor, sizes if is_static else known(shape, "shape").tolist())


@lowers("range")
def _(site: Any, *bounds: Array) -> Array:
    if any(map(is_sizes, bounds)):
        start, stop, step = (np.asarray(bound).item() for bound in bounds)
        return jnp.arange(start, stop, step, dtype=site.dtype)
    return traced(site, *bounds)


@lowers("zeros", "ones")
def _(site: Any, shape: Array) -> Array:
    return getattr(jnp, site.operation.type)(site.shape, site.dtype)
