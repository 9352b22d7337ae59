"""The representation of dtypes in LLVM: in registers, in memory, and as constants.

bool        i1; a byte in memory
int32 …     i32 …
float32 …   half, float, double
complex64   a `ComplexPair` of floats, adjacent in memory
bfloat16    i16: the bits, which are moved and converted; float32 computes
float8 …    i8: the bits, which are only moved; kernels compute with them
"""

from __future__ import annotations

import functools
import sys
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .... import dtypes

Register: TypeAlias = Any
"""An LLVM value in a register."""


class ComplexPair(NamedTuple):
    """A complex number in registers."""

    re: Register
    im: Register


Element: TypeAlias = Any
"""An element of a tensor during computation: a register, or a `ComplexPair` of registers."""

COMPILED = frozenset({*dtypes.ALL} - {dtypes.string})
"""Dtypes that LLVM computes with."""

STORED = COMPILED | frozenset(dtypes.NARROW_FLOATS)
"""Dtypes that native code keeps in memory. Those not in `COMPILED` are only moved, or converted."""

CONVERTED = COMPILED | {dtypes.bfloat16}
"""Dtypes of casts."""


@functools.cache
def ir() -> Any:
    """Return the module `llvmlite.ir`."""
    from llvmlite import ir

    return ir


@functools.cache
def integer(bits: int) -> Any:
    """Return the integer type of `bits` bits."""
    return ir().IntType(bits)


@functools.lru_cache(4096, typed=True)
def word(value: int) -> Any:
    """Return a 64-bit constant. Constants are cached, since making and printing them again is slow."""
    return ir().Constant(integer(64), value)


@functools.cache
def pointer() -> Any:
    """Return the pointer type."""
    return ir().PointerType()


def constant_at(module: Any, name: str, value: Any) -> Register:
    """Return the address of a constant of the module; define it if necessary."""
    made = module.globals.get(name)
    if made is None:
        made = ir().GlobalVariable(module, value.type, name)
        made.initializer, made.global_constant, made.linkage = value, True, "internal"
        made.type = pointer()
    return made


def null() -> Any:
    """Return the null pointer."""
    return ir().Constant(pointer(), None)


_FLOATS = {2: "HalfType", 4: "FloatType", 8: "DoubleType"}


def register_type(dtype: dtypes.DType) -> Any:
    """Return the type of an element in a register; for complex numbers, the type of a part."""
    if dtype.is_bool:
        return integer(1)
    return memory_type(dtype)


def memory_type(dtype: dtypes.DType) -> Any:
    """Return the type of an element in memory; for complex numbers, the type of a part."""
    if dtype.kind == "c":
        dtype = dtype.real_dtype
    if dtype.kind == "f" and dtype in COMPILED:
        return getattr(ir(), _FLOATS[dtype.size])()
    return integer(8 * dtype.size)


def constant(dtype: dtypes.DType, value: Any) -> Element:
    """Return a number as a constant element."""
    if dtype.kind == "c":
        number = dtype.numpy_dtype.type(value)
        return ComplexPair(_float(dtype.real_dtype, number.real), _float(dtype.real_dtype, number.imag))
    if dtype not in COMPILED:
        bits = np.asarray(value, dtype.numpy_dtype).tobytes()
        return ir().Constant(memory_type(dtype), int.from_bytes(bits, sys.byteorder))
    if dtype.kind == "f":
        return _float(dtype, value)
    if dtype.is_bool:
        return ir().Constant(integer(1), int(bool(value)))
    return ir().Constant(register_type(dtype), int(value))


def _float(dtype: dtypes.DType, value: Any) -> Register:
    return ir().Constant(register_type(dtype), float(dtype.numpy_dtype.type(value)))
