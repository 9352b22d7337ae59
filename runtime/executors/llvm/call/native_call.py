"""Calls of native kernels by the C extension native_call.c, and by ctypes where that is not installed.

    kernel_entry(…)([array, …])   →   (array, …)
    fast_path(…)                  →   calls of a `Function` with tensors, arrays, objects and nests, without Python code

The extension is built when the package is installed, if there is a C compiler. Without it results are the same, and a
call takes some microseconds more. `AGC_NATIVE_CALLS=0` in the environment has the same effect.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.abstract_value import kind_for
from ....core.argument_pattern import ArgumentPattern
from ....core.fast_path_guard import busy
from ....core.tensor import EagerTensor
from ....core.variable import Variable
from ....ir.value_types import TensorType
from ..arena import kept_arrays
from .ctypes_entry import CtypesEntry, sizes_of
from .kernel import INTERRUPTED

if TYPE_CHECKING:
    from .kernel import Kernel

_OFF = "AGC_NATIVE_CALLS=0 is set"


@functools.cache
def extension() -> Any:
    """Return the extension module, or the reason why it cannot be used, as text."""
    if os.environ.get("AGC_NATIVE_CALLS") == "0":
        return _OFF
    try:
        from . import _native_call  # type: ignore[attr-defined]

        _native_call.register(EagerTensor, busy, INTERRUPTED)
    except (ImportError, TypeError) as error:
        import logging  # takes longer to import than a call takes

        logging.getLogger("agc").info(
            "Native code is called through ctypes, with the same results in more time: %s", error
        )
        return str(error)
    return _native_call


def is_available() -> bool:
    """Return whether native code is called by the extension."""
    return type(extension()) is not str


def kernel_entry(kernel: Kernel, mismatch: Callable[[Any], Any], failed: Callable[[Any], Any]) -> Any:
    """Return the function from the list of input arrays to the tuple of result arrays.

    It calls `mismatch` with arrays that the kernel cannot read, and `failed` when a check in the kernel fails.
    """
    if not is_available():
        return CtypesEntry(kernel, mismatch, failed)
    inputs = tuple([_array_spec(spec) for spec in kernel.inputs])
    results = tuple([(*_array_spec(spec), *_kept(kernel, i)) for i, spec in enumerate(kernel.results)])
    return extension().Kernel(kernel.address, kernel.is_long, inputs, results, mismatch, failed, kernel)


def _array_spec(spec: TensorType) -> tuple[np.dtype[Any], tuple[int, ...]]:
    return np.dtype(spec.dtype.numpy_dtype), sizes_of(spec)


def _kept(kernel: Kernel, number: int) -> tuple[int, int]:
    """Return the index of the array that a later call may use for a result, and how many are kept.

    That is the result itself, or the array that a variable had before.
    """
    outputs = len(kernel.results) - len(kernel.assigned)
    donor = len(kernel.inputs) + number if number < outputs else kernel.assigned[number - outputs]
    return donor, kept_arrays(kernel.results[number])


def fast_path(
    kernel: Kernel,
    arguments: Sequence[ArgumentPattern],
    names: Sequence[str],
    variables: Sequence[Variable],
    result: ArgumentPattern,
    failed: Callable[..., Any],
) -> Any:
    """Return the fast path of calls that match `arguments`, of which the last ones are named `names`.

    `result` has the structure of the result, with the outputs as tensors. `failed` handles calls that fail in the
    kernel.
    """
    outputs = len(kernel.results) - len(kernel.assigned)
    first = len(kernel.inputs) - len(variables)
    new = {position: outputs + number for number, position in enumerate(kernel.assigned)}
    assigned = tuple([new.get(first + i, -1) for i in range(len(variables))])
    kinds = tuple([kind_for(spec.dtype, sizes_of(spec)) for spec in kernel.results[:outputs]])
    patterns, variables = tuple(arguments), tuple(variables)
    return extension().FastPath(
        kernel.code, patterns, tuple(names), variables, assigned, kinds, result, failed
    )


def fast_call(paths: Sequence[Any], fallback: Callable[..., Any]) -> Callable[..., Any]:
    """Return a callable that tries fast paths in order, and calls `fallback` if none of them matches."""
    made: Callable[..., Any] = extension().FastCall(tuple(paths), fallback)
    return made
