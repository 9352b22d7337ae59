"""Rules of linear algebra. Floats are multiplied at full precision on every device."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..rule_registry import lowers
from .padding import known

Array = Any


@lowers("matmul")
def _(site: Any, a: Array, b: Array) -> Array:
    attrs = site.attrs
    left = _turned(a, attrs["transpose_a"] or attrs["adjoint_a"], attrs["adjoint_a"])
    right = _turned(b, attrs["transpose_b"] or attrs["adjoint_b"], attrs["adjoint_b"])
    return jnp.matmul(left, right)


def _turned(x: Array, transposes: bool, conjugates: bool) -> Array:
    turned = jnp.swapaxes(x, -1, -2) if transposes else x
    return jnp.conj(turned) if conjugates else turned


@lowers("tensordot")
def _(site: Any, a: Array, b: Array) -> Array:
    return jnp.tensordot(a, b, (site.attrs["axes_a"], site.attrs["axes_b"]))


@lowers("einsum")
def _(site: Any, inputs: Sequence[Array]) -> Array:
    return jnp.einsum(site.attrs["equation"], *inputs)


def _solvable(site: Any, result: Array, *given: Array) -> Array:
    """Demand that finite matrices give a finite result: JAX returns NaN or infinity where LAPACK fails."""
    is_odd = [jnp.any(~jnp.isfinite(x)) for x in given]
    site.demand(functools.reduce(jnp.logical_or, is_odd, jnp.all(jnp.isfinite(result))))
    return result


@lowers("cholesky")
def _(site: Any, x: Array) -> Array:
    return _solvable(site, jnp.linalg.cholesky(x, symmetrize_input=False), x)


@lowers("inv")
def _(site: Any, x: Array) -> Array:
    inverse = _solvable(site, jnp.linalg.inv(x), x)
    return _turned(inverse, True, True) if site.attrs["adjoint"] else inverse


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
    sign = jnp.where(is_singular, 0, 1 - 2 * (swaps % 2)).astype(x.dtype)  # NaN has no sign, as in LAPACK
    return [sign, jnp.where(is_singular, x.dtype.type(-np.inf), jnp.sum(jnp.log(jnp.abs(pivoted)), -1))]


@lowers("solve")
def _(site: Any, matrix: Array, rhs: Array) -> Array:
    whole = _turned(matrix, True, True) if site.attrs["adjoint"] else jnp.asarray(matrix)
    return _solvable(site, jnp.linalg.solve(whole, rhs), whole, rhs)


@lowers("triangular_solve")
def _(site: Any, matrix: Array, rhs: Array) -> Array:
    half = jnp.tril(matrix) if site.attrs["lower"] else jnp.triu(matrix)
    half = half.reshape((1,) * (rhs.ndim - half.ndim) + half.shape)
    whole = _turned(half, True, True) if site.attrs["adjoint"] else half
    right = jnp.reshape(rhs, (1,) * (half.ndim - rhs.ndim) + rhs.shape)
    return _solvable(site, jnp.linalg.solve(whole, right), whole, right)


@lowers("lu")
def _(site: Any, x: Array) -> list[Array]:
    packed, _, order = lax.linalg.lu(jnp.asarray(x))
    site.demand(jnp.diagonal(packed, 0, -2, -1) != 0)
    return [packed, order]


@lowers("eigh")
def _(site: Any, x: Array) -> list[Array]:
    values, vectors = jnp.linalg.eigh(x, symmetrize_input=False)
    return [_solvable(site, values, x).astype(x.dtype), vectors]


@lowers("qr")
def _(site: Any, x: Array) -> list[Array]:
    return list(jnp.linalg.qr(x, "complete" if site.attrs["full_matrices"] else "reduced"))


@lowers("svd")
def _(site: Any, x: Array) -> Any:
    if not site.attrs["compute_uv"]:
        return [_solvable(site, jnp.linalg.svd(x, compute_uv=False))]
    left, values, right = jnp.linalg.svd(x, site.attrs["full_matrices"])
    return [_solvable(site, values), left, _turned(right, True, True)]


@lowers("diag")
def _(site: Any, diagonal: Array) -> Array:
    return _with_diagonal(jnp.zeros(site.shape, diagonal.dtype), diagonal, site.attrs["k"])


@lowers("set_diag")
def _(site: Any, matrix: Array, diagonal: Array) -> Array:
    return _with_diagonal(jnp.asarray(matrix), diagonal, site.attrs["k"])


def _with_diagonal(matrix: Array, diagonal: Array, k: int) -> Array:
    """Return matrices with their k-th diagonal replaced."""
    places = np.arange(diagonal.shape[-1])
    return matrix.at[..., places + max(-k, 0), places + max(k, 0)].set(diagonal)


@lowers("axes_last")
def _(site: Any, x: Array, axes: Array) -> Array:
    reduced = [int(axis) % x.ndim for axis in np.ravel(known(axes, "axes"))]
    kept = [dim for dim in range(x.ndim) if dim not in reduced]
    return jnp.transpose(x, [*kept, *reduced]).reshape(site.shape)


@lowers("axes_back")
def _(site: Any, flat: Array, axes: Array, shape: Array) -> Array:
    sizes = site.shape
    reduced = [int(axis) % len(sizes) for axis in np.ravel(known(axes, "axes"))]
    order = [*[dim for dim in range(len(sizes)) if dim not in reduced], *reduced]
    return jnp.transpose(jnp.reshape(flat, [sizes[dim] for dim in order]), np.argsort(order).tolist())


@lowers("band_within")
def _(site: Any, x: Array, lower: Array, upper: Array) -> Array:
    rows, columns = (np.arange(size) for size in x.shape[-2:])
    distance = columns[None, :] - rows[:, None]
    lower, upper = (jnp.asarray(number).reshape(()) for number in (lower, upper))
    inside = ((lower < 0) | (-distance <= lower)) & ((upper < 0) | (distance <= upper))
    return jnp.where(inside, x, x.dtype.type(0))


@lowers("complex_transform")
def _(site: Any, x: Array, lengths: Array) -> Array:
    return _transformed(site, jnp.fft.fftn, x, lengths)


@lowers("complex_inverse")
def _(site: Any, x: Array, lengths: Array) -> Array:
    return _transformed(site, jnp.fft.ifftn, x, lengths)


@lowers("real_transform")
def _(site: Any, x: Array, lengths: Array) -> Array:
    return _transformed(site, jnp.fft.rfftn, x, lengths)


@lowers("real_inverse")
def _(site: Any, x: Array, lengths: Array) -> Array:
    return _transformed(site, jnp.fft.irfftn, x, lengths)


def _transformed(site: Any, transform: Any, x: Array, lengths: Array) -> Array:
    if 0 in site.shape or not x.size:
        return jnp.zeros(site.shape, site.dtype)
    wanted = np.ravel(known(lengths, "lengths")).tolist() or None
    return transform(x, wanted, site.attrs["axes"])
