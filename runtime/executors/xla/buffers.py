"""The arrays of JAX whose memory arrays of NumPy show: programs take them without a conversion.

(result,) = program(v._array)          an array of JAX
v._array = np.asarray(result)          the same memory on a CPU, read-only
program(owner(v._array))               the array of JAX again
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .library import wide

ARRAY = type(jnp.zeros(()))
"""The class of arrays of JAX."""


def owner(array: Any) -> Any:
    """Return the array of JAX whose memory this is, if it may replace `array` as an argument; else `array`.

    >>> import numpy as np
    >>> x = jnp.arange(3)
    >>> owner(np.asarray(x)) is x, owner(np.ones(2))
    (True, array([1., 1.]))
    """
    base = array.base
    if type(base) is not memoryview:
        return array
    found = base.obj
    if type(found) is not ARRAY or found.is_deleted() or found.committed:
        return array
    kind = found.aval
    is_equal = kind.shape == array.shape and kind.dtype == array.dtype and not kind.weak_type
    return found if is_equal else array


def moved(array: Any) -> Any:
    """Return an array of JAX with the same elements: the one whose memory `array` shows, or a copy."""
    found = owner(array)
    if type(found) is ARRAY:
        return found
    with wide():
        return jax.device_put(array, may_alias=False).block_until_ready()
