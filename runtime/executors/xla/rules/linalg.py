"""Rules of factorizations, and of what is computed from them."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..rule_registry import lowers

Array = Any


def _solvable(site: Any, result: Array, *given: Array) -> Array:
    """Demand that finite matrices give a finite result: JAX returns NaN or infinity where LAPACK fails."""
    is_odd = [jnp.any(~jnp.isfinite(x)) for x in given]
    site.demand(functools.reduce(jnp.logical_or, is_odd, jnp.all(jnp.isfinite(result))))
    return result


@lowers("cholesky")
def _(site: Any, x: Array) -> Array:
    return _solvable(site, jnp.linalg.cholesky(x, symmetrize_input=False), x)


@lowers("det")
def _(site: Any, x: Array) -> Array:
    return jnp.linalg.det(x)


@lowers("slogdet")
def _(site: Any, x: Array) -> list[Array]:
    if x.dtype.kind == "c":
        return list(jnp.linalg.slogdet(x))
    packed, pivots, _ = lax.linalg.lu(jnp.asarray(x))
    pivoted = jnp.diagonal(packed, 0, -2, -1)
    swaps = jnp.sum(pivots != jnp.arange(pivots.shape[-1]), -1) + jnp.sum(pivoted < 0, -1)
    is_singular = jnp.any(pivoted == 0, -1)
    sign = jnp.where(is_singular, 0, 1 - 2 * (swaps % 2)).astype(x.dtype)
    size = jnp.where(is_singular, x.dtype.type(-np.inf), jnp.sum(jnp.log(jnp.abs(pivoted)), -1))
    return [jnp.where(jnp.isnan(size), size, sign), size]


@lowers("lu")
def _(site: Any, x: Array) -> list[Array]:
    packed, _, order = lax.linalg.lu(jnp.asarray(x))
    site.demand((jnp.diagonal(packed, 0, -2, -1) != 0) & ~jnp.any(jnp.isnan(x)))
    return [packed, order]


@lowers("eigh")
def _(site: Any, x: Array) -> list[Array]:
    site.demand(~jnp.isnan(jnp.tril(x)))
    values, vectors = jnp.linalg.eigh(x, symmetrize_input=False)
    return [_solvable(site, values, x).astype(x.dtype), vectors]


@lowers("qr")
def _(site: Any, x: Array) -> list[Array]:
    return list(jnp.linalg.qr(x, "complete" if site.attrs["full_matrices"] else "reduced"))


@lowers("svd")
def _(site: Any, x: Array) -> Any:
    is_finite = jnp.all(jnp.isfinite(x), (-2, -1))
    matrix = jnp.where(is_finite[..., None, None], x, x.dtype.type(0))
    nan = np.array(np.nan, x.dtype).real
    if not site.attrs["compute_uv"]:
        values = _solvable(site, jnp.linalg.svd(matrix, compute_uv=False))
        return [jnp.where(is_finite[..., None], values, nan)]
    left, values, right = jnp.linalg.svd(matrix, site.attrs["full_matrices"])
    found = [_solvable(site, values)[..., None], left, jnp.conj(jnp.swapaxes(right, -1, -2))]
    values, left, right = (jnp.where(is_finite[..., None, None], part, part * nan) for part in found)
    return [values[..., 0], left, right]


@lowers("set_diag")
def _(site: Any, matrix: Array, diagonal: Array) -> Array:
    k, places = site.attrs["k"], np.arange(diagonal.shape[-1])
    return jnp.asarray(matrix).at[..., places + max(-k, 0), places + max(k, 0)].set(diagonal)


@lowers("band_within")
def _(site: Any, x: Array, lower: Array, upper: Array) -> Array:
    rows, columns = (np.arange(size) for size in x.shape[-2:])
    distance = columns[None, :] - rows[:, None]
    lower, upper = (jnp.asarray(number).reshape(()) for number in (lower, upper))
    site.demand((lower <= len(rows)) & (upper <= len(columns)))
    inside = ((lower < 0) | (-distance <= lower)) & ((upper < 0) | (distance <= upper))
    return jnp.where(inside, x, x.dtype.type(0))
