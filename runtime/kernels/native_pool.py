"""The C extension with the thread pool, and with products that its threads share, for plans and compiled code.

extension()      native_products.c, which includes native_pool.h; None where it was not built
with_blas()      the same, once it has the addresses of BLAS
addresses()      those of the functions that compiled code calls
"""

from __future__ import annotations

import functools
from typing import Any

from . import blas, blas_limit


@functools.cache
def extension() -> Any:
    """Return the extension module, or None if it was not built."""
    try:
        from . import _native_products as native  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        return None
    return native


@functools.cache
def with_blas() -> Any:
    """Return the extension module, which can multiply from now on, or None if it was not built."""
    native, functions = extension(), [blas.find(dtype) for dtype in blas.LETTERS]
    if native is None or functions[0] is None:
        return None
    bits = functions[0].bits
    usable = [
        found if found is not None and found.bits == bits else blas.Gemm("", 0, bits) for found in functions
    ]
    native.bind(
        *(found.address for found in usable), *(found.vector for found in usable[:2]),
        bits, *blas_limit.addresses(),
    )  # fmt: skip
    if blas_limit.can_limit():
        blas_limit.share(addresses()["begin_limit"], addresses()["end_limit"])
    return native


@functools.cache
def addresses() -> dict[str, int]:
    """Return the addresses of the extension's functions by their names."""
    native = extension()
    return {} if native is None else native.addresses()
