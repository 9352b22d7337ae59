"""Functions that kernels call for which XLA has a better way: loops, selections, LAPACK, and searches by trial."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import solve_triangular

from ...kernels import fourier
from ...kernels.joins import concatenated, stacked
from ...kernels.loops import iterate, scan
from ...kernels.matrix_products import multiply
from ...kernels.orders import row_order
from ...kernels.random import permutations
from ...kernels.rows import add_weighted, combine_rows
from ...kernels.special_functions import bessel, incomplete_gamma_beta
from ...kernels.special_functions.gamma import digamma, log_gamma
from ...kernels.special_functions.piecewise import piecewise
from ...kernels.special_functions.tables import looked_up
from ...kernels.thread_pool import run_all
from ...kernels.tiles import are_many_rows, is_one_tile
from ...ops.arrays.select_kernel import selected
from ...ops.framework.static_values import checked_dims
from ...ops.linalg import matrix_functions
from ...ops.linalg.inverse_and_det import are_all, by_columns, decomposed, lapack, solved_by_blas
from ...ops.reduce.short_axis_kernels import is_short, reduced_faster
from .kernel_array import DEMAND, NumpyFunction, bare, wrapped
from .numpy_namespace import rebound, substitute


def _iterated(going: Any, step: Any, state: Any) -> Any:
    start = tuple(map(jnp.asarray, bare(state)))
    found = lax.while_loop(
        lambda state: jnp.any(bare(going(*wrapped(state)))), lambda state: bare(step(*wrapped(state))), start
    )
    return wrapped(found)


def _scanned(step: Any, state: Any, rows: Any, backward: bool = False) -> Any:
    first, given = jax.tree.map(jnp.asarray, bare((state, rows)))

    def advance(state: Any, row: Any) -> Any:
        return bare(step(wrapped(state), *wrapped(row)))

    return wrapped(lax.scan(advance, first, given, reverse=backward)[1])


def _converged(step: Any, total: Any, *state: Any) -> Any:
    def after(moving: Any, n: Any, *state: Any) -> Any:
        moving, *state = step(n, *state)
        return (moving & (n < 100_000), n + 1, *state)

    start = (np.ones(total.shape, bool), 1, total, *state)
    return _iterated(lambda moving, *_: moving, after, start)[2]


def _selected(arguments: Any, pieces: Any, otherwise: float = np.nan) -> Any:
    """Return the values of `piecewise`. Each formula is evaluated for all elements; the others are NaN there."""
    arguments = list(map(jnp.asarray, bare(list(arguments))))
    free: Any
    result, free = jnp.full(jnp.broadcast_shapes(*map(jnp.shape, arguments)), otherwise), np.True_
    for condition, formula in pieces:
        here = jnp.logical_and(free, bare(condition))
        found = formula(*(wrapped(jnp.where(here, argument, np.nan)) for argument in arguments))
        result = jnp.where(here, bare(found), result)
        free = jnp.logical_and(free, ~here)
    return wrapped(result)


def _add_weighted(result: Any, positions: Any, rows: Any, sources: Any, weights: Any) -> None:
    total, x, factors = jnp.asarray(bare(result)), jnp.asarray(bare(rows)), jnp.asarray(bare(weights))
    result.assign(total.at[:, bare(positions)].add(x[:, bare(sources)] * factors[:, None]))


def _windows(x: Any, window_shape: Any, axis: Any) -> Any:
    """Return the windows that slide over these axes, as new last axes."""
    sizes, axes = np.atleast_1d(window_shape), np.atleast_1d(axis)
    found, rank = jnp.asarray(bare(x)), x.ndim
    for dim, size in zip(axes.tolist(), sizes.tolist(), strict=True):
        places = np.arange(found.shape[dim] - size + 1)[:, None] + np.arange(size)
        found = jnp.moveaxis(jnp.take(found, places, dim), dim % rank + 1, -1)
    return wrapped(found)


def _finite(compute: Any, *arrays: Any) -> Any:
    """Call a function of linear algebra; NaN and infinity from finite matrices are failures of LAPACK."""
    found = compute(*arrays)
    results = found if isinstance(found, (tuple, list)) else (found,)
    is_odd = [jnp.any(~jnp.isfinite(bare(x))) for x in arrays]
    for result in results:
        DEMAND.get()(functools.reduce(jnp.logical_or, is_odd, jnp.all(jnp.isfinite(bare(result)))))
    return found


def _of_finite(name: str) -> Any:
    """Return a function of `numpy.linalg` that refuses NaN and infinity, and the dtypes that LAPACK refuses."""

    def compute(matrix: Any, *args: Any, **options: Any) -> Any:
        DEMAND.get()(jnp.all(jnp.isfinite(bare(matrix))))
        if matrix.dtype.kind not in "fc" or matrix.dtype.itemsize < 4:
            raise TypeError(f"array type {matrix.dtype} is unsupported in linalg")
        found = getattr(jnp.linalg, name)(bare(matrix), *args, **options)
        return wrapped(tuple(found) if isinstance(found, tuple) else found)

    return compute


def _root(matrix: Any) -> Any:
    """Return the square root by eigenvectors, and demand that it is one; the plan has other ways."""
    a = bare(matrix)
    values, vectors = jnp.linalg.eig(a)
    root = vectors * jnp.sqrt(values) @ jnp.linalg.inv(vectors)
    DEMAND.get()(jnp.allclose(root @ root, a, rtol=1e-6, atol=1e-6 * jnp.max(jnp.abs(a), initial=1e-300)))
    return wrapped(root)


def _logarithm(matrix: Any) -> Any:
    """Return the logarithm by eigenvectors, and demand that these are well-conditioned; the plan has other ways."""
    a = bare(matrix)
    values, vectors = jnp.linalg.eig(a)
    DEMAND.get()((jnp.linalg.cond(vectors) < 1e4) & (jnp.linalg.matrix_rank(a) == len(a)))
    return wrapped(vectors * jnp.log(values) @ jnp.linalg.inv(vectors))


def _run_in_turn(*works: Any) -> None:
    """Call functions one after the other: JAX traces on one thread."""
    for work in works:
        work()


def _permuted(index: Any, keys: Any, top: Any, rounds: int) -> Any:
    """Return the images of `index` under a permutation of 0, 1, … `top`, by cycle walking of all at once."""
    size = jnp.ceil(jnp.log2(jnp.maximum(bare(top), 1).astype(np.float64))).astype(np.uint64)
    half = wrapped(jnp.maximum(size + size % 2, 16) // 2)
    encipher = rebound(permutations.enciphered)
    drawn = rebound(permutations.round_keys)(keys.astype(np.int64).view(np.uint64).T, half, rounds)
    last = top.astype(np.uint64)
    first = encipher(index.astype(np.uint64), drawn, half)

    def walk(number: Any) -> Any:
        return (wrapped(jnp.where(bare(number > last), bare(encipher(number, drawn, half)), bare(number))),)

    return _iterated(lambda number: number > last, walk, (first,))[0].astype(np.int64)


for _own, _other in (
    (is_short, lambda x, axis: False),  # XLA itself orders loops
    (reduced_faster, lambda ufunc, x, axis, keepdims: None),
    (is_one_tile, lambda *arrays: True),
    (are_many_rows, lambda x, axis: False),
    (run_all, _run_in_turn),
    (multiply, NumpyFunction(np.matmul, jnp.matmul)),
    (selected, NumpyFunction(np.where, jnp.where)),
    (concatenated, NumpyFunction(concatenated, jnp.concatenate)),
    (stacked, NumpyFunction(stacked, jnp.stack)),
    (combine_rows, lambda ufunc, result, places, rows: ufunc.at(result, places, rows)),
    (add_weighted, _add_weighted),
    (
        row_order,
        NumpyFunction(
            row_order, lambda rows: jnp.lexsort(rows.T[::-1]) if rows.shape[1] else jnp.arange(len(rows))
        ),
    ),
    (are_all, lambda flags: False),
    (lapack, _finite),
    (decomposed, _finite),
    (
        by_columns,
        NumpyFunction(by_columns, lambda half, rhs, is_lower: solve_triangular(half, rhs, lower=is_lower)),
    ),
    (solved_by_blas, lambda half, rhs, is_lower: None),
    (np.linalg.eig, _of_finite("eig")),
    (np.linalg.norm, _of_finite("norm")),
    (np.linalg.svd, _of_finite("svd")),
    (fourier.fftn, NumpyFunction(fourier.fftn, jnp.fft.fftn)),
    (fourier.ifftn, NumpyFunction(fourier.ifftn, jnp.fft.ifftn)),
    (fourier.rfftn, NumpyFunction(fourier.rfftn, jnp.fft.rfftn)),
    (fourier.irfftn, NumpyFunction(fourier.irfftn, jnp.fft.irfftn)),
    (iterate, _iterated),
    (scan, _scanned),
    (piecewise, _selected),
    (looked_up, lambda table, x: None),
    (bessel.terms_needed, lambda z, divisors: len(divisors) + 1),
    (incomplete_gamma_beta._converged, _converged),
    (digamma, NumpyFunction(digamma, jax.scipy.special.digamma)),
    (log_gamma, NumpyFunction(log_gamma, jax.scipy.special.gammaln)),
    (checked_dims, lambda shape: tuple(np.ravel(bare(shape)).tolist())),  # JAX refuses other shapes
    (matrix_functions._root, _root),
    (matrix_functions._logarithm, _logarithm),
    (permutations.permuted, _permuted),
    (np.lib.stride_tricks.sliding_window_view, _windows),
    (np.ascontiguousarray, NumpyFunction(np.ascontiguousarray, jnp.asarray)),
):
    substitute(_own, _other)
