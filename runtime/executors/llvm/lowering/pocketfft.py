"""Find the inner loops of NumPy's FFT ufuncs in memory.

    loop(addresses of input, factor, output;  counts: rows, input size, output size of a row;  steps in bytes;  data)

A loop is used only if the ufunc has the memory layout of NumPy's header files, and the loop's result equals that of
`np.fft`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import Any, NamedTuple

import numpy as np

from .... import dtypes

_OF_UFUNC = (
    ("nin", ctypes.c_int),
    ("nout", ctypes.c_int),
    ("nargs", ctypes.c_int),
    ("identity", ctypes.c_int),
    ("functions", ctypes.POINTER(ctypes.c_void_p)),
    ("data", ctypes.POINTER(ctypes.c_void_p)),
    ("ntypes", ctypes.c_int),
    ("reserved", ctypes.c_int),
    ("name", ctypes.c_char_p),
    ("types", ctypes.POINTER(ctypes.c_byte)),
)


class _Ufunc(ctypes.Structure):
    """The fields of NumPy's PyUFuncObject after the object header."""

    _fields_ = _OF_UFUNC


class TransformLoop(NamedTuple):
    """An inner loop: its address, its data pointer, which may be null, and the dtypes of its operand and result."""

    name: str
    address: int
    data: int
    given: dtypes.DType
    made: dtypes.DType


@functools.cache
def find(name: str, dtype: dtypes.DType, has_factor: bool) -> TransformLoop | None:
    """Return the loop that NumPy selects for operands of a dtype; None if it is not found.

    The factor is a float of this precision, or else the integer 1.
    """
    try:
        module: Any = importlib.import_module("numpy.fft._pocketfft_umath")
        ufunc = getattr(module, name)
        real = np.zeros(0, dtype.numpy).real.dtype
        result_type = real if name == "irfft" else np.result_type(real, 1j)
        chosen = ufunc.resolve_dtypes((dtype.numpy, real if has_factor else int, result_type))
    except (ImportError, AttributeError, TypeError):
        return None
    structure = _Ufunc.from_address(id(ufunc) + object.__basicsize__)
    types = [tuple(np.dtype(code).num for code in each.replace("->", "")) for each in ufunc.types]
    if (structure.nin, structure.nout, structure.ntypes) != (2, 1, len(types)):
        return None
    loop_types = tuple(structure.types[i] for i in range(3 * len(types)))
    wanted = tuple(one.num for one in chosen)
    if loop_types != sum(types, ()) or wanted not in types:
        return None
    position, data = types.index(wanted), structure.data
    given, made = (dtypes.as_dtype(chosen[i]) for i in (0, 2))
    address, more = structure.functions[position] or 0, (data[position] if data else None) or 0
    loop = TransformLoop(f"{name}_{given.name}", address, more, given, made)
    return loop if _transforms(loop, ufunc, chosen[1]) else None


def _transforms(loop: TransformLoop, ufunc: Any, real: np.dtype[Any]) -> bool:
    """Return whether a loop computes the same as the ufunc for two rows."""
    given, made = loop.given.numpy, loop.made.numpy
    sizes = (6, 4) if ufunc.__name__.startswith("rfft") else (4, 6) if made.kind == "f" else (6, 6)
    rows = np.arange(1, 2 * sizes[0] + 1).reshape(2, -1).astype(given) ** 2
    factor, found = np.array(0.5, real), np.zeros((2, sizes[1]), made)
    expected = np.zeros_like(found)
    ufunc(rows, factor, axes=[(1,), (), (1,)], out=expected)
    addresses = (ctypes.c_void_p * 3)(rows.ctypes.data, factor.ctypes.data, found.ctypes.data)
    counts = (ctypes.c_ssize_t * 3)(2, *sizes)
    steps = (ctypes.c_ssize_t * 5)(rows.strides[0], 0, found.strides[0], given.itemsize, made.itemsize)
    run = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 4)(loop.address)
    run(addresses, counts, steps, loop.data)
    return bool((found == expected).all())
