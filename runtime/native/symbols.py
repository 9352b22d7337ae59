"""Where functions of Python and NumPy stand that compiled code calls."""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import Any

from .emit.metering import symbols
from .engine import known_as

_OF_PYTHON = (
    "Py_DecRef", "Py_IncRef", "PyDict_New", "PyDict_SetItem", "PyErr_CheckSignals", "PyErr_Clear",
    "PyEval_RestoreThread", "PyEval_SaveThread", "PyList_New", "PyList_SetItem", "PyLong_AsLongLong",
    "PyLong_FromVoidPtr", "PyMem_RawCalloc", "PyMem_RawFree", "PyMem_RawMalloc", "PyMem_RawRealloc",
    "PyObject_CallOneArg", "PyObject_GetAttr", "PyObject_SetAttr", "PyObject_Vectorcall", "PyTuple_New",
    "PyTuple_SetItem", "PyType_GenericAlloc",
)  # fmt: skip


@functools.cache
def declare() -> None:
    """Tell LLVM where they are, before any code is loaded: what is missing then stays so."""
    for name in _OF_PYTHON:
        known_as(name, address_of(getattr(ctypes.pythonapi, name)))
    for name, address in symbols():
        known_as(name, address)
    unpack = ctypes.pythonapi.PyCapsule_GetPointer
    unpack.restype, unpack.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    _multiarray_umath: Any = importlib.import_module("numpy._core._multiarray_umath")

    table = ctypes.cast(unpack(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    known_as("PyArray_New", table[93] or 0)


def address_of(function: Any) -> int:
    """Where a function of ctypes begins."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
