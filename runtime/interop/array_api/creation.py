"""Creation functions: `asarray`, `zeros`, `arange`, …

>>> arange(5, 0, -2)
<tf.Tensor: shape=(3,), dtype=int32, numpy=array([5, 3, 1], dtype=int32)>
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.tensor import Tensor
from ...dtypes import DType
from ...ops.arrays import creation, ranges, reshape, tile_and_repeat
from ...ops.arrays.shape_ops import shape as shape_of
from ...ops.math.cast import cast
from .. import dlpack
from ..numpy_dispatch import linalg as numpy_linalg
from .data_types import ANY, DEFAULTS, rank_of, read_dtype, refuse_device, tensor_of
from .promotion import together


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return an array of numbers, nested sequences, buffers or arrays; tensors are immutable and never copied.

    Raises ValueError for `copy=False` of any other object.
    """
    refuse_device(device)
    wanted = None if dtype is None else read_dtype(dtype)
    if isinstance(obj, Tensor):
        if copy is False and wanted not in (None, obj.dtype):
            raise ValueError(f"asarray cannot make {wanted} of {obj.dtype} without a copy")
        return obj if wanted is None else cast(obj, wanted)
    if copy is False:
        raise ValueError(f"asarray copies {type(obj).__name__}: pass copy=None")
    if isinstance(obj, memoryview | bytearray):
        obj = np.asarray(obj)
    if isinstance(obj, np.ndarray | np.generic):
        found = convert_to_tensor(obj)
        return found if wanted is None else cast(found, wanted)
    if wanted is None and isinstance(obj, complex | list | tuple):
        wanted = _complex_default(obj)
    return convert_to_tensor(obj, wanted)


def _complex_default(obj: Any) -> DType | None:
    """Return complex64 for Python's complex numbers, where TensorFlow has complex128; None for other objects."""
    if isinstance(obj, list | tuple):
        return next((found for found in map(_complex_default, obj) if found is not None), None)
    return DEFAULTS["complex floating"] if type(obj) is complex else None


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return an array of another library. The memory is shared if it is read-only, unless `copy` is true."""
    refuse_device(device)
    found = dlpack.from_dlpack(x)
    return convert_to_tensor(np.array(found)) if copy else found


def _filled(shape: Any, value: Any, dtype: DType) -> Tensor:
    return creation.fill(_sizes(shape), cast(value, dtype))


def _sizes(shape: Any) -> Any:
    return [shape] if isinstance(shape, int) else shape


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return zeros, by default of float32."""
    refuse_device(device)
    return creation.zeros(_sizes(shape), dtypes.float32 if dtype is None else read_dtype(dtype))


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return ones, by default of float32."""
    refuse_device(device)
    return creation.ones(_sizes(shape), dtypes.float32 if dtype is None else read_dtype(dtype))


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return zeros, since there is no uninitialized memory."""
    return zeros(shape, dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return an array filled with one number, by default with the default dtype of its kind."""
    refuse_device(device)
    return _filled(shape, asarray(fill_value, dtype=dtype), dtype_for(fill_value, dtype))


def dtype_for(number: Any, dtype: Any) -> DType:
    """Return `dtype` if it is given, else the default dtype of a number."""
    return asarray(number).dtype if dtype is None else read_dtype(dtype)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return zeros of the shape of `x`."""
    refuse_device(device)
    return creation.zeros_like(x, dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return ones of the shape of `x`."""
    refuse_device(device)
    return creation.ones_like(x, dtype)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return zeros of the shape of `x`."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return an array filled with one number, of the shape of `x`."""
    refuse_device(device)
    tensor = convert_to_tensor(x)
    wanted = tensor.dtype if dtype is None else read_dtype(dtype)
    return _filled(shape_of(tensor), asarray(fill_value, dtype=wanted), wanted)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """Return the numbers from `start` to `stop`, exclusive; int32 for integers, float32 for others."""
    refuse_device(device)
    start, stop = (0, start) if stop is None else (start, stop)
    if any(isinstance(each, Tensor) for each in (start, stop, step)):
        return ranges.range(start, stop, step, dtype)
    whole = all(isinstance(each, int) for each in (start, stop, step))
    wanted = read_dtype(dtype or (dtypes.int32 if whole else dtypes.float32))
    return convert_to_tensor(np.arange(start, stop, step, dtype=wanted.numpy_dtype))


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Tensor:
    """Return `num` numbers at equal distances, with or without `stop`; float32 or complex64 by default."""
    refuse_device(device)
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    wanted = read_dtype(dtype or (dtypes.complex64 if is_complex else dtypes.float32))
    if not isinstance(start, Tensor) and not isinstance(stop, Tensor):
        return convert_to_tensor(np.linspace(start, stop, num, endpoint).astype(wanted.numpy_dtype))
    first, last = cast(start, wanted), cast(stop, wanted)
    return first + (last - first) * np.linspace(0, 1, num, endpoint).astype(wanted.numpy_dtype)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """Return matrices with ones on a diagonal, the `k`th above the main one."""
    refuse_device(device)
    wanted = dtypes.float32 if dtype is None else read_dtype(dtype)
    rows, columns = ranges.range(n_rows), ranges.range(n_rows if n_cols is None else n_cols)
    return cast(reshape.expand_dims(rows + k, 1) == columns, wanted)


def tril(x: Any, /, *, k: int = 0) -> Tensor:
    """Return the matrices with zeros above their `k`th diagonal."""
    return numpy_linalg.tril(_matrices(x, "tril"), k)


def triu(x: Any, /, *, k: int = 0) -> Tensor:
    """Return the matrices with zeros below their `k`th diagonal."""
    return numpy_linalg.triu(_matrices(x, "triu"), k)


def _matrices(x: Any, function: str) -> Tensor:
    tensor = tensor_of(x, ANY, function)
    if rank_of(tensor, function) < 2:
        raise ValueError(f"{function} takes matrices, not an array of {tensor.shape.rank} dimensions")
    return tensor


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, in Cartesian order (xy) or matrix order (ij)."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    if not arrays:
        return ()
    tensors = (
        together(arrays, ANY, "meshgrid") if len(arrays) > 1 else [tensor_of(arrays[0], ANY, "meshgrid")]
    )
    return tuple(tile_and_repeat.meshgrid(*tensors, indexing=indexing))
