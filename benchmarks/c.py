"""The limit: C, compiled for this machine, and called from Python by the cheapest way there is.

All figures are of calls from Python, so this one is, too: of a built-in function that takes nothing and makes no
object, which costs some 30 ns more than a call from C.

`work` gets the arrays, of which the last is the result, and the sizes.
"""

from __future__ import annotations

import ctypes
import itertools
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

COMMAND = ("gcc", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC")
"""With what makes loops fast: vectorized functions of libmvec and threads, where a program asks for them."""

_CALLED = """
void work(void **arrays, const long *sizes);
extern char _Py_NoneStruct;
void Py_IncRef(void *);
void **work_arrays;
const long *work_sizes;

void *called(void *module, void *nothing) {
    work(work_arrays, work_sizes);
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}
"""
"""What Python calls with the least that a call can cost: it takes nothing, and gives None."""

_TAKES_NOTHING = 4  # METH_NOARGS


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_folder = tempfile.TemporaryDirectory()
_numbers = itertools.count(1)


class Program:
    """A compiled program with its data: `call` is a built-in function that runs it, and called it gives its result."""

    def __init__(self, text: str, arrays: Sequence[np.ndarray[Any, Any]], sizes: Sequence[int]) -> None:
        base = pathlib.Path(_folder.name, f"program_{next(_numbers)}")
        base.with_suffix(".c").write_text(_CALLED + text)
        subprocess.run([*COMMAND, f"{base}.c", "-o", f"{base}.so", "-lm"], check=True)
        library = ctypes.CDLL(f"{base}.so")
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        lengths = (ctypes.c_long * len(sizes))(*sizes)
        ctypes.c_void_p.in_dll(library, "work_arrays").value = ctypes.addressof(pointers)
        ctypes.c_void_p.in_dll(library, "work_sizes").value = ctypes.addressof(lengths)
        method = _Method(b"work", ctypes.cast(library.called, ctypes.c_void_p), _TAKES_NOTHING, None)
        needed = (method, library, arrays, pointers, lengths)  # as long as the function lives
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        self.call: Callable[[], None] = make(ctypes.addressof(method), needed, None)
        self._result = arrays[-1]

    def __call__(self) -> np.ndarray[Any, Any]:
        self.call()
        return self._result
