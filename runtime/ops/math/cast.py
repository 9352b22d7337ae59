"""Conversion of dtypes: by value (`cast`), by value with saturation, or by reinterpreting the bits.

>>> cast([1.8, -1.8], "int32").numpy().tolist()
[1, -1]
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.tensor import Tensor
from ...core.type_spec import MeetsCompositeError
from ...ir import batching
from ...ir.facts import DeclaredFacts
from ...ir.traits import ANY_SHAPE, CHEAP, ELEMENTWISE, TOTAL
from ...ir.value_types import TensorType
from ..framework import composite_dispatch, intervals
from ..framework.attribute_parsers import DType
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Name, Same, Tensors, op
from ..framework.op_errors import PythonTypeError
from ..framework.op_families import CURVED, EVERY, NUMERIC, Array, require_dtype
from ..framework.static_values import known_elements


@export("cast")
@cached_dispatch
@composite_dispatch.elementwise_on(1)
def cast(x: TensorLike, dtype: Any, name: Name = None) -> Tensor:
    """Cast `x` to `dtype`: fractions are truncated, the imaginary part is dropped, nonzero is True.

    Integers that do not fit wrap around. The result for floats that do not fit depends on the processor.

    >>> cast([0., 2.], bool)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    wanted = dtype if type(dtype) is dtypes.DType else dtypes.as_dtype(dtype)
    if isinstance(x, Tensor):
        return x if x.dtype is wanted else cast_op(x, wanted, name)
    try:
        composite_dispatch.meet_rows(x)
        x = x if is_tensor_like(x) else convert_to_tensor(x)
        return convert_to_tensor(x) if x.dtype is wanted else cast_op(x, wanted, name)
    except MeetsCompositeError as met:
        return composite_dispatch.apply(cast, (x, wanted, name), met)  # type: ignore[no-any-return]


@op(name="cast", traits=ELEMENTWISE | TOTAL | CHEAP, interval=intervals.unchanged, element_operands=1)
def cast_op(x: Input, dtype: DType, name: Name = None) -> TensorType:
    """Cast to a different dtype; see `cast`.

    >>> cast_op(300, "uint8").numpy().tolist()
    44
    """
    if dtypes.string in (x.dtype, dtype) and x.dtype is not dtype:
        raise errors.UnimplementedError(f"Cast {x.dtype.name} to {dtype.name} is not supported")
    return TensorType(dtype, x.shape)


@cast_op.kernel
def convert(x: Array, dtype: dtypes.DType) -> Array:
    """Compute `cast`: its NumPy kernel."""
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    if x.dtype.kind == "f" and dtype.kind in "iu" and dtype.size < 8:
        # as on x86, which has conversions to 32 and 64 bits only: narrower ones keep the low bits
        x = x.astype(np.int64 if dtype is dtypes.uint32 else np.int32)
    return x.astype(dtype.numpy_dtype)


@cast_op.elements
def _(x: Any, dtype: dtypes.DType) -> Any:
    known = known_elements(x)
    if known is None or not dtype.is_integer:
        return None
    return tuple(n if n is not None and dtype.min <= n <= dtype.max else None for n in known)


@cast_op.specialize
def _(specs: list[TensorType], dtype: dtypes.DType) -> Any:
    """Return NumPy's own conversion, if `convert` does nothing else."""
    own = specs[0].dtype.kind
    is_special = (own == "c" and dtype.kind not in "cb") or (own == "f" and dtype.kind in "iu")
    return None if is_special else operator.methodcaller("astype", dtype.numpy_dtype)


cast_op.gradient(lambda dy, y, x, dtype: cast(dy, x.dtype) if dtype in CURVED and x.dtype in CURVED else None)


@export("saturate_cast")
@op(element_operands=1)
def saturate_cast(value: Input, dtype: DType, name: Name = None) -> TensorType:
    """Cast `value` to `dtype`; values out of its range become the nearest value within.

    >>> saturate_cast([-1., 300., 7.9], "uint8").numpy().tolist()
    [0, 255, 7]
    """
    if value.dtype not in NUMERIC or dtype not in NUMERIC:
        raise PythonTypeError(f"saturate_cast converts numbers, not {value.dtype.name} to {dtype.name}")
    return TensorType(dtype, value.shape)


@saturate_cast.kernel
def _(value: Array, dtype: dtypes.DType) -> Array:
    own = dtypes.of_array(value)
    if own.is_complex and not dtype.is_complex:
        value, own = value.real, dtypes.as_dtype(value.real.dtype)
    if own.is_complex or dtype.is_complex:
        return convert(value, dtype)
    low, high = limits(own, dtype)
    return convert(np.minimum(np.maximum(value, low), high), dtype)


@saturate_cast.gradient
def _(dy: Any, y: Any, value: Any, dtype: dtypes.DType) -> Any:
    if dtype not in CURVED or value.dtype not in CURVED:
        return None
    if value.dtype.is_complex or dtype.is_complex or dtype.size >= value.dtype.size:
        return cast(dy, value.dtype)
    inside = (value >= dtype.min) & (value <= dtype.max)
    return cast(dy * cast(inside, dtype), value.dtype)


def limits(own: dtypes.DType, wanted: dtypes.DType) -> tuple[Any, Any]:
    """Return the range of `wanted`, as numbers of `own` within that range."""
    low, high = max(map(_plain, (own.min, wanted.min))), min(map(_plain, (own.max, wanted.max)))
    kind = own.numpy_dtype.type
    low, high = kind(low), kind(high)
    if own.is_floating and wanted.is_integer:  # the largest integer may have been rounded up
        low = np.nextafter(low, kind(0)) if int(low) < wanted.min else low
        high = np.nextafter(high, kind(0)) if int(high) > wanted.max else high
    return low, high


def _plain(limit: Any) -> Any:
    """Return the limit as a Python number, which compares with integers of any size."""
    return limit if isinstance(limit, int) else float(limit)


@export("bitcast")
@op(element_operands=1)
def bitcast(input: Input, type: DType, name: Name = None) -> TensorType:
    """Reinterpret the bits of `input` as elements of `type`.

    Smaller elements add a new last axis; larger elements remove the last axis.

    >>> bitcast([1., 2.], "int32").numpy().tolist()
    [1065353216, 1073741824]
    """
    require_dtype(input, NUMERIC, "bitcast")
    if type not in NUMERIC:
        raise TypeError(f"bitcast gives numbers, not {type.name}")
    return TensorType(type, _bitcast_shape(input.shape, input.dtype.size, type.size))


def _bitcast_shape(shape: shapes.Dims, own: int, wanted: int) -> shapes.Dims:
    if shape is None or own == wanted:
        return shape
    if own > wanted:
        return (*shape, own // wanted)
    if not shape or shape[-1] not in (None, wanted // own):
        raise ValueError(
            f"Cannot bitcast: the last dimension of {shapes.show(shape)} must be {wanted // own}"
        )
    return shape[:-1]


@bitcast.kernel
def _(input: Array, type: dtypes.DType) -> Array:
    own, wanted = input.dtype.itemsize, type.size
    if own == wanted:
        return input.view(type.numpy_dtype)
    shape = _bitcast_shape(input.shape, own, wanted)
    return np.ascontiguousarray(input).view(type.numpy_dtype).reshape(shape)


bitcast.no_gradient("the bits of a number are discrete")


_UNCHANGED: DeclaredFacts = {
    "traits": TOTAL | ANY_SHAPE | CHEAP, "scalar": {"biuf": "{0}"}, "interval": intervals.unchanged,
    "batch": batching.unchanged, "element_operands": 1,
}  # fmt: skip


@export("identity")
@op(expression="{0}", **_UNCHANGED)
def identity(input: Input, name: Name = None) -> TensorType:
    """Return `input` unchanged.

    >>> identity([1, 2]).numpy().tolist()
    [1, 2]
    """
    require_dtype(input, EVERY, "identity")
    return input.spec  # type: ignore[no-any-return]


identity.kernel(lambda input: input)
identity.gradient(lambda dy, y, input: dy)


@export("stop_gradient")
@op(expression="{0}", **_UNCHANGED)
def stop_gradient(input: Input, name: Name = None) -> TensorType:
    """Return `input` unchanged; gradients treat the result as a constant.

    >>> stop_gradient([1., 2.]).numpy().tolist()
    [1.0, 2.0]
    """
    require_dtype(input, EVERY, "stop_gradient")
    return input.spec  # type: ignore[no-any-return]


stop_gradient.kernel(lambda input: input)
stop_gradient.no_gradient("its purpose is to stop gradients")


@op(traits=TOTAL | ANY_SHAPE, batch=lambda batch: batch.call(*(each.tensor for each in batch.arguments)))
def optimization_barrier(input: Input, after: Tensors, name: Name = None) -> TensorType:
    """Return `input` unchanged; operations on the result are not merged with operations on `input`.

    So they are computed again, after the tensors `after`, and their results need no memory until then.

    >>> optimization_barrier([1., 2.], []).numpy().tolist()
    [1.0, 2.0]
    """
    require_dtype(input, EVERY, "optimization_barrier")
    return input.spec  # type: ignore[no-any-return]


optimization_barrier.kernel(lambda input, after: input)
optimization_barrier.gradient(lambda dy, y, input, *after: (dy, *[None] * len(after)))


@export("complex")
@cached_dispatch
@dispatching_composites("complex", element_operands=2)
def complex(real: TensorLike, imag: TensorLike, name: Name = None) -> Tensor:
    """Return complex numbers from their parts.

    >>> complex([1., 2.], [3., 4.]).numpy().tolist()
    [(1+3j), (2+4j)]
    """
    real, imag = convert_to_tensor(real), convert_to_tensor(imag)
    if real.dtype is not imag.dtype or real.dtype not in _PARTS:
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {real.dtype.name} {imag.dtype.name}. "
            "They must be consistent, and one of float32, float64"
        )
    return of_parts(real, imag, name)  # type: ignore[no-any-return]


_PARTS = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


@op(name="complex", traits=TOTAL, element_operands=2)
def of_parts(real: Same, imag: Same, name: Name = None) -> TensorType:
    """Return complex numbers from their parts, which have one dtype.

    >>> of_parts([1.], [2.]).numpy().tolist()
    [(1+2j)]
    """
    require_dtype(real, frozenset(_PARTS), "complex")
    return TensorType(_PARTS[real.dtype], shapes.broadcast(real.shape, imag.shape))


@of_parts.kernel
def _(real: Array, imag: Array) -> Array:
    kind = np.result_type(real.dtype, np.complex64)
    out = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), kind)
    out.real, out.imag = real, imag
    return out
