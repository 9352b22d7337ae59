"""Matrix products of kernels, for which BLAS uses one thread; the parts of large ones run on threads that sleep.

    multiply(a, b)   ==>   np.matmul(a, b)                                 small
                           native.multiply(a, b, None, 2)                  float32 and float64
                           np.matmul(a, b), while BLAS uses one thread     other products, and without the extension

OpenBLAS shares every product of more than a quarter of a million multiplications among all processors. Its
threads busy-wait for each other, and for more work after the product. If another program needs a processor, a
product takes as long as the scheduler's time slice, a hundred times its own time.

The parts depend on the sizes alone, and so does the result.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import thread_counts
from ..core.shapes import Dims, num_elements
from . import blas_limit, native_pool

_SHARED = 1 << 18
"""The number of multiplications up to which OpenBLAS itself uses one thread."""

BIG = 1 << 24
"""The number of multiplications from which a product that is not divided is worth all threads of BLAS."""


def may_be_shared(left: Dims, result: Dims) -> bool:
    """Return whether OpenBLAS may share a product among its threads, from the shapes of the first factor and result."""
    first, second = num_elements(left), num_elements(result and result[-1:])
    return first is None or second is None or first * second > _SHARED


def multiply(a: Any, b: Any, out: Any = None) -> Any:
    """Return the product of matrices, or of batches of them, as `np.matmul` does."""
    if a.size * b.shape[-1] <= _SHARED:
        return np.matmul(a, b, out=out)
    if (wide := _wider(a, b)) is not None:
        product, dtype = multiply(a.astype(wide), b.astype(wide)), np.result_type(a, b)
        product = (product if dtype.kind == "f" else product.astype(np.int64)).astype(dtype)
        return product if out is None else np.add(product, 0, out=out)
    native = _native()
    if native is not None:
        found = native.multiply(a, b, out, threads())
        if found is not None:
            return found
    if a.size * b.shape[-1] > BIG:
        return np.matmul(a, b, out=out)
    return blas_limit.run(np.matmul, a, b, out)


def _wider(a: Any, b: Any) -> Any:
    """Return a dtype of BLAS for elements that BLAS does not take, if it gives their product; else None.

    It is float32 for float16, and float64 for integers whose products and sums it represents.
    """
    dtype = np.result_type(a, b)
    if dtype == np.float16:
        return np.float32
    if dtype.kind not in "iu" or not a.size * b.size:
        return None
    limits = [max(-int(x.min()), int(x.max())) for x in (a, b)]
    return np.float64 if math.prod(limits) * a.shape[-1] < 1 << 53 else None


def contract(a: Any, b: Any, axes_a: Sequence[int], axes_b: Sequence[int]) -> Any:
    """Return the sums of products over pairs of axes, as `np.tensordot` does."""
    left, right = [axis % a.ndim for axis in axes_a], [axis % b.ndim for axis in axes_b]
    sizes = [a.shape[axis] for axis in left]
    if sizes != [b.shape[axis] for axis in right]:
        raise ValueError(f"shape-mismatch for sum over the axes {left} of {a.shape} and {right} of {b.shape}")
    rows = [axis for axis in range(a.ndim) if axis not in left]
    columns = [axis for axis in range(b.ndim) if axis not in right]
    shape = [*(a.shape[axis] for axis in rows), *(b.shape[axis] for axis in columns)]
    count, height, width = (math.prod(part) for part in (sizes, shape[: len(rows)], shape[len(rows) :]))
    found = multiply(
        a.transpose([*rows, *left]).reshape(height, count),
        b.transpose([*right, *columns]).reshape(count, width),
    )
    return found.reshape(shape)


def threads() -> int:
    """Return the maximum threads of a product, without system calls."""
    return thread_counts.counts["intra"] or _processors()


_processors = functools.cache(thread_counts.processors)


@functools.cache
def _native() -> Any:
    """Return the extension module; None if it was not built, or if the threads of BLAS cannot be limited."""
    return native_pool.with_blas() if blas_limit.can_limit() else None
