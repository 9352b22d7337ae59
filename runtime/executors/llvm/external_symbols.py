"""Addresses of the functions of Python and NumPy that compiled code calls."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from .call.cpython_layout import NEW_ARRAY, numpy_functions
from .call.layout_check import unknown_layout
from .codegen.instrumentation import symbols
from .llvm_engine import known_as

_OF_PYTHON = (
    "Py_DecRef", "Py_IncRef", "PyDict_New", "PyDict_SetItem", "PyErr_CheckSignals", "PyErr_Clear",
    "PyEval_RestoreThread", "PyEval_SaveThread", "PyList_New", "PyList_SetItem", "PyLong_AsLongLong",
    "PyLong_FromVoidPtr", "PyMem_RawCalloc", "PyMem_RawFree", "PyMem_RawMalloc", "PyMem_RawRealloc",
    "PyObject_CallOneArg", "PyObject_GetAttr", "PyObject_SetAttr", "PyObject_Vectorcall", "PyTuple_New",
    "PyTuple_SetItem", "PyType_GenericAlloc",
)  # fmt: skip


@functools.cache
def declare() -> None:
    """Register the addresses with LLVM, before any code is loaded: a symbol that is unresolved then stays so."""
    for name in _OF_PYTHON:
        if function := getattr(ctypes.pythonapi, name, None):
            known_as(name, address_of(function))
    for name, address in symbols():
        known_as(name, address)
    if unknown_layout() is None:
        known_as("PyArray_New", numpy_functions()[NEW_ARRAY] or 0)


def address_of(function: Any) -> int:
    """Return the address of a ctypes function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
