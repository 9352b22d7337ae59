"""Addresses of the functions of Python, of the thread pool and of BLAS that compiled code calls."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from ...kernels import blas, native_pool
from .availability import has_cycles
from .llvm_engine import known_as

_OF_PYTHON = (
    "Py_DecRef", "PyErr_CheckSignals", "PyEval_RestoreThread", "PyEval_SaveThread", "PyLong_AsLongLong",
    "PyLong_FromVoidPtr", "PyMem_RawCalloc", "PyMem_RawFree", "PyMem_RawMalloc", "PyMem_RawRealloc",
    "PyObject_CallOneArg",
)  # fmt: skip


def names() -> list[str]:
    """Return the names that compiled code may call."""
    return [*_OF_PYTHON, *_of_extension(), *_of_blas()]


@functools.cache
def declare() -> None:
    """Register the addresses with LLVM, before any code is loaded: a symbol that is unresolved then stays so."""
    for name in _OF_PYTHON:
        if function := getattr(ctypes.pythonapi, name, None):
            known_as(name, address_of(function))
    if not has_cycles():
        known_as("clock_gettime", address_of(ctypes.CDLL(None).clock_gettime))
    for name, address in {**_of_extension(), **_of_blas()}.items():
        known_as(name, address)


def _of_extension() -> dict[str, int]:
    return {f"agc_{name}": address for name, address in native_pool.addresses().items()}


def _of_blas() -> dict[str, int]:
    found = map(blas.find, blas.LETTERS)
    return {gemm.symbol: gemm.address for gemm in found if gemm is not None}


def address_of(function: Any) -> int:
    """Return the address of a ctypes function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
