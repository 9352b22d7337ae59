"""Kernels as functions that compiled code can call: they read and write arrays at the addresses that they are given.

Whoever has let go of Python's lock gets it for the call. What a kernel raises is not handed on: the run fails, and the
plan runs the same inputs, which raises it again with the user's line.
"""

from __future__ import annotations

import _thread
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ..execute.kernels import kernel_of
from ..execute.results import returns_many
from ..ir.graph import Constant, Operation, Value
from .emit.emitter import FAILED


def as_function(operation: Operation) -> Any:
    """The kernel of an operation, for addresses of its inputs that are no constants, and of its results."""
    compute, op = kernel_of(operation), operation.op
    is_one = len(operation.outputs) == 1 and not returns_many(op)
    readers = [_reader(operand) for operand in operation.inputs if isinstance(operand, Value)]
    writers = [_reader(value) for value in operation.outputs]
    known = [operand.value if isinstance(operand, Constant) else None for operand in operation.inputs]
    places = [i for i, operand in enumerate(operation.inputs) if isinstance(operand, Value)]

    def run(*addresses: int) -> int:
        try:
            inputs: list[Any] = list(known)
            for i, read, address in zip(places, readers, addresses, strict=False):
                inputs[i] = read(address)
            with np.errstate(all="ignore"):
                found = compute(*op.grouped(inputs), **operation.attrs)
            results = [found] if is_one else found
            for write, address, result in zip(writers, addresses[len(places) :], results, strict=True):
                array = np.asarray(result)
                target = write(address)
                if array.shape != target.shape or array.dtype != target.dtype:
                    return FAILED
                target[...] = array
        except KeyboardInterrupt:
            _thread.interrupt_main()
            return FAILED
        except Exception:
            return FAILED
        return 0

    count = len(readers) + len(writers)
    return ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * count)(run)


def _reader(value: Value) -> Callable[[int], Any]:
    """Gives the array at an address."""
    dtype, shape = value.dtype.numpy, tuple(size or 0 for size in value.shape or ())
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = ctypes.c_char * size

    def read(address: int) -> Any:
        if not size:
            return np.zeros(shape, dtype)
        return np.ndarray(shape, dtype, memory.from_address(address))

    return read
