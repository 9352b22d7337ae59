"""Kernels as callbacks of native code: they read and write arrays at given addresses.

    compute(sizes, inputs…, results…)    returns 0 or an error code     `sizes` are the dynamic sizes of inputs
    compute(sizes, inputs…)              for results of dynamic size: their sizes are appended to `sizes`,
    hand_over(results…)                  and the results are copied once there is memory for them

A caller that has released the GIL takes it for the call. An error of a kernel is not propagated: the run
fails, and the plan runs the same inputs. The plan raises the error again with the line of user code.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from ... import dtypes
from ...core.fp_errors import SILENCE, begin, end
from ...ir.graph import Constant, Operation, Value
from ...ops.framework.kernel_lookup import kernel_of
from ...ops.framework.kernel_results import returns_many
from .call.kernel import FAILED

Sizes: TypeAlias = tuple[int | None, ...]
"""A shape, with None for dynamic sizes."""


class Callback:
    """The kernel of an operation, for non-constant inputs of these shapes."""

    def __init__(self, operation: Operation, shapes: Sequence[Sizes]) -> None:
        self._op, self._attrs = operation.op, operation.attrs
        self._compute = kernel_of(operation)
        self._is_one = len(operation.outputs) == 1 and not returns_many(operation.op)
        self._known = [
            operand.value if isinstance(operand, Constant) else None for operand in operation.inputs
        ]
        self._places = [i for i, operand in enumerate(operation.inputs) if isinstance(operand, Value)]
        self._given = [
            (operation.inputs[i].dtype, shape) for i, shape in zip(self._places, shapes, strict=True)
        ]
        self._made = [(value.dtype, tuple(value.shape or ())) for value in operation.outputs]
        self._counted = sum(shape.count(None) for shape in shapes)
        self._is_apart = any(None in shape for _, shape in self._made)
        self._waiting = threading.local()

    def functions(self) -> Iterator[tuple[str, Callable[[int], int]]]:
        """Yield the names and functions to call. Each function takes the address of an array of its arguments."""
        count = len(self._given) + (0 if self._is_apart else len(self._made))
        yield "compute", _guarded(self.compute, 1 + count)
        if self._is_apart:
            yield "hand_over", _guarded(self.hand_over, len(self._made))

    def compute(self, sizes: int, *addresses: int) -> None:
        """Run the kernel."""
        position, inputs = 0, list(self._known)
        for i, (dtype, shape), address in zip(self._places, self._given, addresses, strict=False):
            count = shape.count(None)
            if count:
                found = iter(_array(sizes + 8 * position, (count,), dtypes.int64).tolist())
                shape = tuple(next(found) if size is None else size for size in shape)
                position += count
            inputs[i] = _array(address, shape, dtype)
        before = begin(SILENCE)
        try:
            made = self._compute(*self._op.grouped(inputs), **self._attrs)
        finally:
            end(before)
        results = [np.asarray(result) for result in ([made] if self._is_one else made)]
        for array, (dtype, wanted) in zip(results, self._made, strict=True):
            _demand_like(array, dtype, wanted)
        if not self._is_apart:
            self._put(results, addresses[len(self._given) :])
            return
        self._waiting.results = results
        found = [
            size
            for array, (_, wanted) in zip(results, self._made, strict=True)
            for size, known in zip(array.shape, wanted, strict=True)
            if known is None
        ]
        _array(sizes + 8 * self._counted, (len(found),), dtypes.int64)[:] = found

    def hand_over(self, *addresses: int) -> None:
        """Copy the results of this thread's last `compute`."""
        results, self._waiting.results = self._waiting.results, None
        self._put(results, addresses)

    def _put(self, results: Sequence[Any], addresses: Sequence[int]) -> None:
        for array, (dtype, _), address in zip(results, self._made, addresses, strict=True):
            _array(address, array.shape, dtype)[...] = array


def _guarded(run: Callable[..., None], count: int) -> Callable[[int], int]:
    """Return a function that returns 0, or FAILED for an error. Interrupts propagate."""
    arguments = ctypes.c_size_t * count

    def guarded(address: int) -> int:
        try:
            run(*arguments.from_address(address))
        except Exception:  # of any kernel: the plan, which runs next, raises it again
            return FAILED
        return 0

    return guarded


def _demand_like(array: Any, dtype: dtypes.DType, shape: Sizes) -> None:
    """Raise ValueError for a result whose type differs from the operation's inferred type."""
    is_like = array.dtype == dtype.numpy_dtype and array.ndim == len(shape)
    if not is_like or (
        array.shape != shape
        and any(size not in (None, own) for size, own in zip(shape, array.shape, strict=True))
    ):
        raise ValueError(f"{array.dtype}{array.shape} is not {dtype.name}{shape}")


def _array(address: int, shape: Sequence[Any], dtype: dtypes.DType) -> Any:
    """Return the array at an address, without a copy."""
    size = math.prod(shape) * dtype.size
    if not size:
        return np.zeros(shape, dtype.numpy_dtype)
    memory: Any = (ctypes.c_char * size).from_address(address)
    return np.ndarray(shape, dtype.numpy_dtype, memory)
