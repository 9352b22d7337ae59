"""`x[key] = value` on arrays of JAX, which cannot be changed: `x = x.at[key].set(value)`. A `jax.Ref` can be."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def with_item(target: Any, key: Any, value: Any) -> Any:
    """Return the array with the item replaced; the value gets its dtype, as in NumPy. A reference is changed itself.

    >>> with_item(jnp.zeros(3), 1, 5)
    Array([0., 5., 0.], dtype=float32)
    """
    if isinstance(target, jax.Ref):
        target[key] = value
        return target
    return target.at[key].set(jnp.asarray(value).astype(target.dtype))
