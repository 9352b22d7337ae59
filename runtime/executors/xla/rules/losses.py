"""Rules of losses, masks and counts whose kernels check labels, or sizes that are tensors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..rule_registry import lowers
from .padding import known

Array = Any


@lowers("sparse_softmax_cross_entropy")
def _(site: Any, labels: Array, logits: Array) -> Array:
    labels = jnp.asarray(labels)
    site.demand((labels >= 0) & (labels < logits.shape[-1]))
    wide = logits.astype(np.result_type(logits.dtype, np.float32))
    logs = jax.nn.log_softmax(wide, -1)
    return -jnp.take_along_axis(logs, labels[..., None], -1, mode="clip")[..., 0]


@lowers("one_hot")
def _(site: Any, indices: Array, depth: Array, on_value: Array, off_value: Array) -> Array:
    axis, count = site.attrs["axis"], int(known(depth, "depth"))
    places = jnp.expand_dims(indices, axis)
    numbers = np.arange(count).reshape(-1, *(1,) * (places.ndim - 1 - axis % places.ndim))
    return jnp.where(places == numbers, on_value, off_value)


@lowers("histogram_fixed_width")
def _(site: Any, values: Array, value_range: Array, nbins: Array) -> Array:
    count = int(known(nbins, "number of bins"))
    low, high = (jnp.asarray(value_range)[i].astype(np.float64) for i in range(2))
    flat = jnp.reshape(values, -1).astype(np.float64)
    site.demand(low < high)
    site.demand(~jnp.isnan(flat))
    bins = jnp.clip((flat - low) / ((high - low) / count), 0, count - 1).astype(np.int64)
    return jnp.zeros(count, np.int64).at[bins].add(1)


@lowers("invert_permutation")
def _(site: Any, x: Array) -> Array:
    size = x.shape[0]
    wide = jnp.asarray(x).astype(np.int64)
    numbers = jnp.arange(size, dtype=np.int64)
    found = jnp.full(size, -1, np.int64).at[jnp.where(wide < 0, size, wide)].set(numbers, mode="drop")
    site.demand(found >= 0)  # every number is there, and so only once
    return found
