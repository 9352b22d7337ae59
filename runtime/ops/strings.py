"""Tensors of strings, which are bytes: join, as_string, length, and letters' case.

>>> join(["loss: ", as_string(0.25, precision=2)])
<tf.Tensor: shape=(), dtype=string, numpy=b'loss: 0.25'>
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, shapes
from ..ir.specs import Spec
from .declare import Input, Inputs, Name, Op, op
from .static import listed

Array = Any


def _each(function: Callable[..., Any], *arrays: Array, dtype: Any = object) -> Array:
    """The array of `function`'s results on corresponding elements."""
    operands = np.broadcast_arrays(*arrays)
    result = np.empty(operands[0].shape, dtype)
    for index in np.ndindex(result.shape):
        result[index] = function(*(operand[index] for operand in operands))
    return result


def _check_strings(*operands: Any) -> None:
    for operand in operands:
        if operand.dtype is not dtypes.string:
            raise TypeError(f"strings are needed, but the dtype is {operand.dtype.name}")


@op(name="string_join")
def join(inputs: Inputs, separator: str = "", name: Name = None) -> Spec:
    """The strings of all inputs put together, element by element; scalars go with every element.

    >>> join([["a", "b"], "c"], separator="-")
    <tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a-c', b'b-c'], dtype=object)>
    """
    _check_strings(*inputs)
    known = [given.shape for given in inputs if given.shape != ()]
    shape: shapes.Dims = known[0] if known else ()
    for other in known[1:]:
        if not shapes.compatible(shape, other):
            raise ValueError(f"Input shapes do not match: {listed(shape or ())} vs. {listed(other)}")
        shape = shapes.merge(shape, other)
    return Spec(dtypes.string, shape)


@join.kernel
def _(inputs: list[Array], separator: str) -> Array:
    between = separator.encode()
    return _each(lambda *parts: between.join(parts), *inputs) if inputs else np.array(b"", object)


@op
def as_string(
    input: Input,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: Name = None,
) -> Spec:
    """Numbers as text, as C's printf writes them: `%f`, `%e` when scientific, `%g` when shortest.

    >>> as_string([1.5, 2.0], precision=1)
    <tf.Tensor: shape=(2,), dtype=string, numpy=array([b'1.5', b'2.0'], dtype=object)>
    """
    if len(fill) > 1:
        raise ValueError(f"Fill string must be one or fewer characters, got {fill!r}")
    return Spec(dtypes.string, input.shape)


@as_string.kernel
def _(input: Array, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> Array:
    kind = input.dtype.kind
    if kind == "O":
        return input
    field = fill + (str(width) if width > 0 else "")
    if kind == "b":
        return _each(lambda item: str(item).lower().encode(), input)
    digits = f".{precision}" if precision >= 0 else ""
    letter = "d" if kind in "iu" else "e" if scientific else "g" if shortest else "f"
    form = f"%{field}{digits if kind not in 'iu' else ''}{letter}"
    if kind == "c":
        return _each(lambda item: f"({form % item.real},{form % item.imag})".encode(), input)
    return _each(lambda item: (form % item).encode(), input)


@op(name="string_length")
def length(input: Input, unit: str = "BYTE", name: Name = None) -> Spec:
    """The number of bytes of each string, or of characters with unit "UTF8_CHAR".

    >>> length(["abc", "é"])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 2], dtype=int32)>
    """
    _check_strings(input)
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(
            f"Value for attr 'unit' of {unit!r} is not in the list of allowed values: BYTE, UTF8_CHAR"
        )
    return Spec(dtypes.int32, input.shape)


@length.kernel
def _(input: Array, unit: str) -> Array:
    def characters(item: bytes) -> int:
        return sum(byte & 0xC0 != 0x80 for byte in item)  # not those that continue a character

    return _each(len if unit == "BYTE" else characters, input, dtype=np.int32)


def _mapped(name: str, change: Callable[[bytes], bytes], manual: str) -> Op:
    """A row of the table below: an operation that changes every string by itself."""

    def rule(input: Input, name: Name = None) -> Spec:
        _check_strings(input)
        return Spec(dtypes.string, input.shape)

    def kernel(input: Array) -> Array:
        return _each(change, input)

    rule.__name__, rule.__qualname__, rule.__doc__ = name, name, manual
    declared = op(name=f"string_{name}")(rule)
    declared.kernel(kernel)
    return declared


lower = _mapped(
    "lower",
    bytes.lower,
    """The letters of ASCII in lower case.

    >>> lower("ABc")
    <tf.Tensor: shape=(), dtype=string, numpy=b'abc'>
    """,
)
upper = _mapped(
    "upper",
    bytes.upper,
    """The letters of ASCII in upper case.

    >>> upper("aBc")
    <tf.Tensor: shape=(), dtype=string, numpy=b'ABC'>
    """,
)
strip = _mapped(
    "strip",
    bytes.strip,
    """Strings without the blanks at both ends.

    >>> strip(" a b ")
    <tf.Tensor: shape=(), dtype=string, numpy=b'a b'>
    """,
)
