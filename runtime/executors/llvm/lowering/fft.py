"""Lower Fourier transforms to the loops of NumPy's pocketfft, in the axis order of `np.fft`, with identical results.

fft2d x     fft along the last axis, then along the second-to-last
irfft2d z   ifft along the first axis, then irfft along the last

For rows that are not contiguous, the loop gets the strides. For single precision NumPy's dtype resolution
selects a forward transform in double precision, followed by rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, LazyValue
from ..codegen.llvm_types import Register, integer, ir, null, pointer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .fill import shape_of
from .pocketfft import TransformLoop, find
from .reshape import known
from .softmax import as_dtype

_PARTS = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
_WHOLES = {part: whole for whole, part in _PARTS.items()}


def _along(region: Region, node: LazyValue, name: str, axis: int, size: int) -> LazyValue:
    """Return the transform `name` along an axis with rows of `size` elements; `rfft` gives half the spectrum."""
    if not node.size or size < 1:
        raise RefusedError("transforms of empty tensors are not compiled")
    is_back = name in ("ifft", "irfft")
    name = f"{name}_n_odd" if name == "rfft" and size % 2 else f"{name}_n_even" if name == "rfft" else name
    loop = find(name, node.dtype, is_back)
    if loop is None:
        raise RefusedError("NumPy's Fourier transforms are not found")
    real = _PARTS.get(node.dtype, node.dtype)
    factor = np.array(1 / real.numpy.type(size) if is_back else 1, _PARTS.get(loop.given, loop.given).numpy)
    out = size // 2 + 1 if name.startswith("rfft") else size
    given = region.stored(as_dtype(region, node, loop.given))
    result = Buffer.new(region.e, loop.made, (*node.shape[:axis], out, *node.shape[axis + 1 :]))
    _call(region.e, loop, given, result, axis, factor)
    return as_dtype(region, result, real if name == "irfft" else _WHOLES[real])


def _call(e: Emitter, loop: TransformLoop, node: Buffer, result: Buffer, axis: int, factor: Any) -> None:
    """Emit one call if rows are contiguous, else one call for each slice that contains the whole axis."""
    parts, stride = math.prod(node.shape[:axis]), math.prod(node.shape[axis + 1 :])
    sizes = node.shape[axis], result.shape[axis]
    widths = node.dtype.size, result.dtype.size
    if stride == 1:
        rows, parts, steps = parts, 1, (sizes[0] * widths[0], 0, sizes[1] * widths[1], *widths)
    else:
        rows, steps = stride, (widths[0], 0, widths[1], stride * widths[0], stride * widths[1])
    counts, strides = (
        e.module.host.constant(e, np.array(numbers, np.int64)) for numbers in ((rows, *sizes), steps)
    )
    memory = e.slot(pointer(), 3)

    def put(coordinate: int, address: Register) -> None:
        e.b.store(address, e.b.gep(memory, [e.word(coordinate)], inbounds=True, source_etype=pointer()))

    put(1, e.module.host.constant(e, factor))
    with e.nest([parts], parallel=False, inner=node.size // parts) as (part,):
        for position, (buffer, size, width) in enumerate(zip((node, result), sizes, widths, strict=True)):
            offset = e.times(part, size * stride * width)
            put(2 * position, e.b.gep(buffer.address, [offset], inbounds=True, source_etype=integer(8)))
        symbol = _symbol(f"agc_{loop.name}", loop.address)
        e.call(symbol, ir().VoidType(), memory, counts, strides, _data(e, loop))


def _data(e: Emitter, loop: TransformLoop) -> Register:
    """Return the data pointer of the loop."""
    if not loop.data:
        return null()
    name = _symbol(f"agc_{loop.name}_data", loop.data)
    made = e.module.globals.get(name)
    if made is None:
        made = ir().GlobalVariable(e.module, integer(8), name)
        made.type = pointer()
    return made


def _symbol(name: str, address: int) -> str:
    """Register the address of a symbol with LLVM, and return the name."""
    import llvmlite.binding

    llvmlite.binding.add_symbol(name, address)
    return name


def _axes(operation: Operation, node: LazyValue) -> list[int]:
    return [axis % len(node.shape) for axis in operation.attrs["axes"]]


@lowers("complex_transform", "complex_inverse")
def _(region: Region, operation: Operation, node: LazyValue, lengths: LazyValue) -> LazyValue:
    name, shape = "fft" if operation.type == "complex_transform" else "ifft", shape_of(operation)
    for axis in reversed(_axes(operation, node)):
        node = _along(region, node, name, axis, shape[axis])
    return node


@lowers("real_transform")
def _(region: Region, operation: Operation, node: LazyValue, lengths: LazyValue) -> LazyValue:
    shape, fft_length = shape_of(operation), known(operation, 1)
    *others, last = _axes(operation, node)
    node = _along(region, node, "rfft", last, int(fft_length[-1]) if fft_length.size else node.shape[last])
    for axis in reversed(others):
        node = _along(region, node, "fft", axis, shape[axis])
    return node


@lowers("real_inverse")
def _(region: Region, operation: Operation, node: LazyValue, lengths: LazyValue) -> LazyValue:
    shape = shape_of(operation)
    *others, last = _axes(operation, node)
    for axis in others:
        node = _along(region, node, "ifft", axis, shape[axis])
    return _along(region, node, "irfft", last, shape[last])
